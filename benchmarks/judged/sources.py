"""Sources of air: the least Q of twenty starts, and the time it takes, for 3 to 10 factors.

``judged/sources.py`` writes the record ``sources-fits``; numbers of factors may be named
(by default all of them). With ``--esat PYTHON``, a Python that has esat installed (of the
U.S. EPA, Apache-2.0, ``pip install esat``; its pins of other packages need an environment of its
own), it has the figures of that too.

The data are St Louis (418 hours, 12 species) and Baton Rouge (307, 40) with uncertainties as they
are given and no species called weak or bad, so Q is the same number for all. Every method makes
twenty starts on one thread; seconds are those of the processor, of all twenty.

ours
    `find_sources`, on seeds that served for no tuning.
ours, their atoms
    The same fits, but from the random atoms of the multiplicative updates.
multiplicative
    Weighted multiplicative updates, which are LS-NMF (Wang, Kossenkov, Ochs 2006): 4,000 rounds,
    then a thousand at a time until these lower Q by less than 1e-5 of it, 40,000 at most.
esat
    Its LS-NMF in Rust with its defaults (a start stops where a hundred rounds lower Q by less than
    .1, or after 20,000), and "longer" with 1e-3 and 200,000.

The last columns say how many of twenty block bootstraps return the factor that returns least, and
the one that returns most.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import entry_weights as weights  # first, for it limits the threads
import numpy as np
from benchmark_records import DATA, save

from atomstream import OnlineNMF, bootstrap_sources, find_sources, sources

SITES = {"StLouis": "Mass", "BatonRouge": "TNMOC"}  # with the total, which is left out
NUMBERS, N_STARTS, N_BOOTSTRAPS = [*map(str, range(3, 11))], weights.N_RUNS, 20
NEAR = 1.01  # times the least Q
ESAT = """
import json, sys, time
from importlib.metadata import version
import numpy as np
from esat.model.sa import SA
given = np.load(sys.argv[1])  # in the order of columns, without which the release goes astray
found = {"version": version("esat")}
for name, limits in (("defaults", {}), ("longer", {"max_iter": 200_000, "converge_delta": 1e-3})):
    ends, began = [], time.process_time()
    for seed in range(int(sys.argv[3])):
        model = SA(given["V"], given["U"], int(sys.argv[2]), seed=seed, parallel=False)
        model.initialize()
        model.train(**limits)
        ends.append(float((((given["V"] - model.W @ model.H) / given["U"]) ** 2).sum()))
    found[name] = ends, time.process_time() - began
print(json.dumps(found))
"""


def table_of(site):
    """Return the measurements of a site, all species strong."""
    files = [DATA / f"air/{site}-{kind}.csv" for kind in ("con", "unc")]
    species = sources.read(*files, total=SITES[site]).species
    return sources.read(*files, total=SITES[site], kinds=dict.fromkeys(species, "strong"))


def summary(ends, seconds):
    """Return the least and the median Q of starts, how many come near it, and all seconds."""
    ends = np.asarray(ends)
    return {
        "least": float(ends.min()),
        "median": float(np.median(ends)),
        "near": float((ends <= NEAR * ends.min()).mean()),
        "seconds": float(seconds),
    }


def esat(python, X, W, n_factors):
    """Return what starts of esat come to, by its limits, and its version."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "given.npz"
        np.savez(place, V=np.asfortranarray(X), U=np.asfortranarray(1 / np.sqrt(W)))
        command = [python, "-c", ESAT, str(place), str(n_factors), str(N_STARTS)]
        env = os.environ | {"RAYON_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    found = json.loads(done.stdout.splitlines()[-1])
    return found.pop("version"), {f"esat, {name}": summary(*each) for name, each in found.items()}


def from_their_atoms(X, W, n_factors):
    """Return Q of fits that begin with the random atoms of the multiplicative updates."""
    ends = []
    for atoms in weights.starts(X, n_factors, N_STARTS)[1]:
        unit = atoms / np.linalg.norm(atoms, axis=1, keepdims=True)
        model = OnlineNMF(n_factors, init=unit, random_state=0).fit(X, entry_weight=W)
        codes = model.transform(X, entry_weight=W)
        ends.append(float(weights.value(X, W, codes, model.components_, "squared")))
    return ends


def case(table, n_factors):
    """Return the figures of ours and of multiplicative updates for one number of factors."""
    X, W = table.problem()
    seeds, began = range(weights.FIRST_SEED, weights.FIRST_SEED + N_STARTS), time.process_time()
    fits = [find_sources(table, n_factors, n_starts=1, random_state=seed) for seed in seeds]
    found = {"ours": summary([each.q_true for each in fits], time.process_time() - began)}
    began = time.process_time()
    ends = from_their_atoms(X, W, n_factors)
    found["ours, their atoms"] = summary(ends, time.process_time() - began)
    began = time.process_time()
    ends, n_rounds, _ = weights.to_the_end(X, W, n_factors, "squared", N_STARTS)
    found["multiplicative"] = summary(ends, time.process_time() - began)
    best = min(fits, key=lambda each: each.q_true)
    mapped = bootstrap_sources(best, N_BOOTSTRAPS, random_state=weights.FIRST_SEED).mapped
    return {
        "methods": found,
        "rounds": [int(np.median(n_rounds)), int(n_rounds.max())],
        "expected": best.q_expected,
        "mapped": [float(mapped.min() / N_BOOTSTRAPS), float(mapped.max() / N_BOOTSTRAPS)],
    }


def main(numbers, python=None):
    """Run all cases, and write the record after each."""
    warnings.simplefilter("ignore")
    results, began = {"esat": None, "sites": {site: {} for site in SITES}}, time.perf_counter()
    for site in SITES:
        table = table_of(site)
        find_sources(table, 3, n_starts=1, random_state=0)  # compiles
        for number in numbers:
            found = case(table, int(number))
            if python:
                results["esat"], theirs = esat(python, *table.problem(), int(number))
                found["methods"] |= theirs
            results["sites"][site][number] = found
            print(site, number, found, flush=True)
            save("sources-fits", results, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    named = sys.argv[1:]
    other = named.pop(named.index("--esat") + 1) if "--esat" in named else None
    main([name for name in named if name != "--esat"] or NUMBERS, other)
