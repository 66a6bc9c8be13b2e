"""Mutational signatures: a published example, simulated genomes, and samples refitted.

``judged/signatures.py`` writes ``results/signatures-*.json``; ``published`` and
``refit`` run these alone, ``genomes 5 0.05 2`` the cell of 5 signatures, noise .05 and seed 2, and
``genomes 5 0.05 2 1000`` the same of 1,000 genomes: the record keeps the cells that it has.

*Genomes.* Signatures are drawn from the catalogue so that no two have a cosine of .8; in odd seeds
SBS3, SBS5 and SBS40a, which are flat, come first. A genome has three to eight of them, drawn by
presences whose logarithms are uniform between .05 and .9, in shares that are uniform on the
simplex, and a log-normal number of mutations (median 5,000, deviation 1) between 500 and 50,000.
Counts are Poisson; noise is relative, normal and per entry, after which counts are rounded. A hit
is a planted signature whose partner, one to one, has a cosine of .9; F1 is 2 hits / (found +
planted).

*Rivals* know the number of signatures: 15 runs of scikit-learn's NMF (Kullback-Leibler,
multiplicative updates, random starts, at most 2,000) on Poisson resamples, clustered as ours are;
and the mean of three single runs.
"""

import sys
import time

import numpy as np
from benchmark_records import BENCHMARKS, DATA, save
from scipy.optimize import nnls
from sklearn.decomposition import NMF

from atomstream import align, extract_signatures, signatures
from atomstream.fields.consensus.agreement import Consensus

FOLDER = DATA / "signatures"
FLAT = ("SBS3", "SBS5", "SBS40a")
APART, HIT = 0.8, 0.9
RANKS = {5: range(2, 10), 10: range(5, 15), 20: range(14, 25), 30: range(22, 35)}
N_REPLICATES, N_RUNS, N_SINGLE = 30, 15, 3
CELLS = [(n, noise, seed) for n in (5, 10) for noise in (0.0, 0.05) for seed in range(4)]
THRESHOLDS = (0.01, 0.001)  # cosines that a signature may cost where it is taken out


def known():
    """Return the catalogue."""
    return signatures.read(FOLDER / "COSMIC_v3.4_SBS_GRCh37.txt")


def drawn(catalogue, n_signatures, seed, rng):
    """Return places of signatures of the catalogue that are apart."""
    order = [catalogue.names.index(name) for name in FLAT] if seed % 2 else []
    order += [int(place) for place in rng.permutation(len(catalogue.names))]
    rows = catalogue.values / np.linalg.norm(catalogue.values, axis=1, keepdims=True)
    chosen = []
    for place in order:
        if len(chosen) < n_signatures and (rows[chosen] @ rows[place] < APART).all():
            chosen.append(place)
    return chosen


def simulated(n_signatures, noise, seed, n_genomes=200):
    """Return counts as a table, exposures to all of the catalogue, and the places planted."""
    rng, catalogue = np.random.default_rng([seed, n_signatures, n_genomes]), known()
    chosen = drawn(catalogue, n_signatures, seed, rng)
    presence = np.exp(rng.uniform(np.log(0.05), np.log(0.9), n_signatures))
    exposures = np.zeros((n_genomes, len(catalogue.names)))
    for row in exposures:
        n_active = min(int(rng.integers(3, 9)), n_signatures)
        active = rng.choice(chosen, n_active, replace=False, p=presence / presence.sum())
        row[active] = rng.dirichlet(np.ones(n_active))
    exposures *= np.clip(rng.lognormal(np.log(5000), 1, (n_genomes, 1)), 500, 50_000)
    counts = rng.poisson(exposures @ catalogue.values)
    counts = np.rint(counts * np.maximum(1 + noise * rng.standard_normal(counts.shape), 0))
    names = [f"genome {number}" for number in range(n_genomes)]
    return signatures.ChannelTable(counts, names, catalogue.channels), exposures, chosen


def scores(atoms, planted):
    """Return hits, precision, recall and F1 of atoms."""
    few, many = (atoms, planted) if len(atoms) < len(planted) else (planted, atoms)
    hits = int((align(few, many).similarity >= HIT).sum())
    f1 = 2 * hits / (len(atoms) + len(planted))
    return {"precision": hits / len(atoms), "recall": hits / len(planted), "f1": f1}


def factors(counts, n_signatures, seed):
    """Return the atoms and the usage of one run of scikit-learn's."""
    settings = {"beta_loss": "kullback-leibler", "solver": "mu", "init": "random"}
    model = NMF(n_signatures, max_iter=2000, tol=1e-6, random_state=seed, **settings)
    codes = model.fit_transform(counts)
    sums = model.components_.sum(axis=1)
    return model.components_ / sums[:, None], codes.sum(axis=0) * sums


def genomes(n_signatures, noise, seed, n_genomes=200):
    """Return what is found in one set of simulated genomes, and by the rivals."""
    table, _, chosen = simulated(n_signatures, noise, seed, n_genomes)
    planted, began = known().values[chosen], time.process_time()
    ranks = RANKS[n_signatures]
    model = extract_signatures(table, ranks, n_replicates=N_REPLICATES, random_state=seed)
    ours = {"chosen": model.choice_.rank, **scores(model.components_, planted)}
    ours |= {"at the true number": scores(model.consensus(n_signatures).atoms, planted)["f1"]}
    ours |= {"weakest": model.choice_.weakest, "seconds": time.process_time() - began}
    rng, began = np.random.default_rng(seed), time.process_time()
    runs = [factors(rng.poisson(table.values), n_signatures, run) for run in range(N_RUNS)]
    atoms, usage = (np.array(part) for part in zip(*runs, strict=True))
    oracle = scores(Consensus.of(atoms, usage, by_sum=True).atoms, planted)
    oracle |= {"seconds": time.process_time() - began}
    single = [factors(table.values, n_signatures, run)[0] for run in range(N_SINGLE)]
    alone = float(np.mean([scores(found, planted)["f1"] for found in single]))
    cell = {"signatures": n_signatures, "noise": noise, "seed": seed, "genomes": n_genomes}
    print(cell, ours, oracle, alone, flush=True)
    return cell | {"ours": ours, "oracle": oracle, "single": alone}


def published():
    """Return what is found in scenario 8, beside what was published and single runs."""
    table = signatures.read(FOLDER / "scenario_8_counts.txt.gz")
    theirs = signatures.read(FOLDER / "scenario_8_published_de_novo.txt").like(table)
    found = []
    for seed in range(3):
        began = time.process_time()
        model = extract_signatures(table, range(1, 7), n_replicates=100, random_state=seed)
        near = align(theirs.values, model.consensus(3).atoms).similarity
        figures = {"chosen": model.choice_.rank, "by_error": model.choice_.by_error}
        figures |= {"cosines": near, "weakest": model.choice_.weakest}
        figures |= {"seconds": time.process_time() - began}
        atoms, _ = factors(table.values, 3, seed)
        figures["single"] = align(theirs.values, atoms).similarity
        print(figures, flush=True)
        found.append(figures)
    return found


def without(x, catalogue, threshold):
    """Return least-squares exposures from which signatures were taken out one after the other."""
    places = np.flatnonzero(nnls(catalogue.T, x)[0])

    def cosine(chosen):
        made = nnls(catalogue[chosen].T, x)[0] @ catalogue[chosen]
        return made @ x / (np.linalg.norm(made) * np.linalg.norm(x))

    now = cosine(places)
    while len(places) > 1:
        tried = [cosine(np.delete(places, slot)) for slot in range(len(places))]
        best = int(np.argmax(tried))
        if now - tried[best] > threshold:
            break
        places, now = np.delete(places, best), tried[best]
    exposures = np.zeros(len(catalogue))
    exposures[places] = nnls(catalogue[places].T, x)[0]
    return exposures


def refit():
    """Return errors and false signatures of refitted genomes, with all and with the true ones."""
    found = []
    for noise in (0.0, 0.05):
        for seed in range(4):
            table, true, chosen = simulated(10, noise, seed, 100)
            for name, places in (("all", np.arange(true.shape[1])), ("true", np.array(chosen))):
                catalogue = known()
                names = [catalogue.names[place] for place in places]
                some = signatures.ChannelTable(catalogue.values[places], names, table.channels)
                ways = {
                    "refit": lambda s=some, t=table: signatures.refit(t, s).values,
                    "NNLS": lambda s=some, t=table: [nnls(s.values.T, x)[0] for x in t.values],
                }
                for threshold in THRESHOLDS:
                    ways[f"NNLS, backward {threshold}"] = lambda s=some, t=table, c=threshold: [
                        without(x, s.values, c) for x in t.values
                    ]
                case = {"catalogue": name, "noise": noise, "seed": seed}
                found += [case | lost(way, make, true[:, places]) for way, make in ways.items()]
    return found


def lost(way, make, true):
    """Return the error of exposures, and false and missed signatures per genome."""
    began = time.process_time()
    values = np.asarray(make())
    seconds = time.process_time() - began
    return {
        "way": way,
        "error": float((np.abs(values - true).sum(axis=1) / true.sum(axis=1)).mean()),
        "false": float(((values > 0) & (true == 0)).sum(axis=1).mean()),
        "missed": float(((values == 0) & (true > 0)).sum(axis=1).mean()),
        "milliseconds": 1000 * seconds / len(true),
    }


def add(cells):
    """Run cells of genomes, and keep them with those that the record has."""
    path = BENCHMARKS.folder / "signatures-genomes.json"
    kept = BENCHMARKS.load("signatures-genomes") if path.exists() else {"results": [], "seconds": 0}
    names = ("signatures", "noise", "seed", "genomes")
    by_cell = {tuple(each[name] for name in names): each for each in kept["results"]}
    began = time.perf_counter()
    for cell in cells:
        found = genomes(*cell)
        by_cell[tuple(found[name] for name in names)] = found
        seconds = kept["seconds"] + time.perf_counter() - began
        save("signatures-genomes", [by_cell[key] for key in sorted(by_cell)], seconds=seconds)


def main():
    """Run the parts named, or all."""
    asked = sys.argv[1:]
    for name, part in (("published", published), ("refit", refit)):
        if not asked or name in asked:
            began = time.perf_counter()
            save(f"signatures-{name}", part(), seconds=time.perf_counter() - began)
    if not asked or asked == ["genomes"]:
        add(CELLS)
    elif asked[0] == "genomes":
        n_signatures, noise, seed, *more = asked[1:]
        add([(int(n_signatures), float(noise), int(seed), *map(int, more))])


if __name__ == "__main__":
    main()
