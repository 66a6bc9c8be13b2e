"""How cost grows: seconds and memory of the main models, one quantity at a time.

``python benchmarks/cost.py nmf convex cp network`` writes ``results/cost-{model}.json`` of each.
Seconds are those of the processor, one thread, the median of three; of two threads those of the
clock. Memory is what the resident peak rises by while a process of its own learns, after it has
learned a little. Theory's exponents are fitted in the same way to counted operations and numbers
(`counted`), at the same values.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import gc
import json
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from benchmark_records import save
from memory import status

from atomstream import NetworkDictionary, OnlineConvexMF, OnlineCPDictionary, OnlineNMF
from atomstream.cluster import Shards
from atomstream.fields.networks import Network

TURNS, POOL = 3, 4096
SWEEPS = 3  # of coordinate descent for a code, about
CHUNK = 128  # rows that the convex model walks over together
MEGABYTE = 2**20


def doubled(first, n_values=5):
    """Return numbers, each twice the one before."""
    return [first * 2**k for k in range(n_values)]


# What is measured: sizes where nothing else is said, and the values of each quantity. Memory has
# sizes of its own, for what a small model holds is less than what a process rounds up to.
MODELS = {
    "nmf": {
        "base": {"n": 32_768, "d": 144, "r": 64, "batch": 256, "density": 1.0},
        "seconds": {
            "n": doubled(8_192),
            "d": doubled(72, 6),
            "r": doubled(8, 6),
            "batch": doubled(32, 6),
            "density": doubled(1 / 64),
        },
        "large": {"n": 2_048, "d": 4_096, "r": 128},
        "memory": {
            "n": doubled(2_048),
            "d": doubled(1_024),
            "r": doubled(16),
            "batch": doubled(128),
        },
        "sparse": {"d": 2_048, "r": 16},
    },
    "convex": {
        "base": {"n": 4_096, "d": 128, "r": 8, "N": 128, "batch": 128, "density": 1.0},
        "seconds": {
            "n": doubled(2_048),
            "d": doubled(64),
            "r": doubled(2),
            "N": doubled(32),
            "density": doubled(1 / 64),
        },
        "large": {"n": 1_024, "d": 8_192, "N": 128},
        "memory": {"n": doubled(512), "d": doubled(4_096), "r": doubled(2), "N": doubled(64)},
        "sparse": {"d": 4_096, "n": 2_048},
    },
    "cp": {
        "base": {"n": 16_384, "d": 2_048, "r": 16, "batch": 64, "density": 1.0},
        "seconds": {
            "n": doubled(4_096),
            "d": doubled(512),
            "r": doubled(8),
            "batch": doubled(16),
            "density": doubled(1 / 64),
        },
        "large": {"n": 512, "d": 16_384, "r": 64, "batch": 64},
        "memory": {
            "n": doubled(256),
            "d": doubled(8_192),
            "r": doubled(16),
            "batch": doubled(32),
        },
        "sparse": {},
    },
    "network": {
        "base": {"n": 131_072, "k": 8, "r": 16, "batch": 1_024, "nodes": 2_048, "density": 16},
        "seconds": {
            "n": doubled(32_768),
            "k": [4, 6, 8, 11, 16],  # d = k^2 features: a factor of about two
            "r": doubled(4),
            "nodes": doubled(512),
            "density": doubled(4),
        },
        "large": {"n": 4_096, "k": 16, "r": 64},
        "memory": {
            "n": doubled(2_048),
            "k": [11, 16, 23, 32, 45],
            "r": doubled(16),
            "nodes": doubled(2_048),
            "density": doubled(8),
        },
        "sparse": {},
    },
}


def features(size):
    """Return the number of features."""
    return size["k"] ** 2 if "k" in size else size["d"]


def counted(name, size):
    """Return multiplications of a run, and numbers that are held: theory's part.

    Coding takes the products of a row with all atoms and sweeps over its code, the sums another
    product, and each update of the atoms a product of A with them (online NMF; papers 000, 1.1).
    """
    n, r, b, d = size["n"], size["r"], size["batch"], features(size)
    shown = d * (size["density"] if "d" in size else 1)
    rows, steps = n * (2 * r * shown + (SWEEPS + 1) * r**2), n / b
    held = 3 * r * d + 5 * r**2 + b * (2 * r + d)
    if name == "convex":
        N = size["N"]
        # Products with representatives and with rows of the same chunk; hulls have N / r each.
        rows = n * (shown * (N + CHUNK + 2 * r + N**2 / CHUNK) + 4 * r * N + N**2 / r + r**2)
        return rows, d * (N + 2 * r + CHUNK) + r * N**2 + 2 * N**2
    if name == "cp":
        # Three modes, each with a product of the sums of the data and the other loadings.
        return rows + steps * 3 * 2 * r * d, 3 * r * d + b * r
    chain = 0
    if name == "network":
        # A copy of a motif grows node by node, and all pairs of its nodes are looked up. Edges are
        # held in both directions, by tail and by head, each with the other end and a weight.
        chain = n * (size["k"] + d)
        held += 4 * size["nodes"] * size["density"]
    return rows + steps * 2 * r**2 * d + chain, held


def modes(d):
    """Return three sizes, nearly the same, whose product is a power of two."""
    power = d.bit_length() - 1
    return tuple(2 ** ((power + k) // 3) for k in range(3))


def batches(name, size, rng):
    """Yield batches of mixtures of ten random parts, or of rows with few entries."""
    d, b = size["d"], size["batch"]
    n_pool = max(POOL // max(d // 1024, 1), b)
    if size["density"] < 1:
        X = sp.random_array((n_pool, d), density=size["density"], format="csr", rng=rng)
    else:
        X = rng.random((n_pool, 10)) ** 4 @ rng.random((10, d)) + 0.1 * rng.random((n_pool, d))
    if name == "cp" and size["density"] == 1:
        X = X.reshape(n_pool, *modes(d))
    for first in range(0, size["n"], b):
        some = X[first % n_pool : first % n_pool + b]
        if name == "cp" and size["density"] < 1:
            some = some.tocoo()
            coords = (some.row, *np.unravel_index(some.col, modes(d)))
            some = sp.coo_array((some.data, coords), shape=(b, *modes(d)))
        yield some


def network(size, rng):
    """Return a network of a given number of nodes and mean degree, on a ring to be connected."""
    n, n_edges = size["nodes"], size["nodes"] * (size["density"] - 2) // 2
    ring = np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])
    pairs = np.unique(np.concatenate([ring, rng.integers(0, n, (n_edges, 2))]), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    matrix = sp.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n)).tocsr()
    return Network.of(matrix.maximum(matrix.T))


def learning(name, size, n_jobs=1):
    """Return a function that learns; what it learns from is there already."""
    rng, common = np.random.default_rng(0), {"random_state": 0}
    if name == "network":
        common |= {"batch_size": size["batch"], "n_batches": size["n"] // size["batch"]}
        graph = network(size, rng)
        return lambda: NetworkDictionary(f"path:{size['k']}", size["r"], **common).fit(graph)
    stream = list(batches(name, size, rng))
    if name == "convex":
        model = OnlineConvexMF(size["r"], n_representatives=size["N"], **common)
    else:
        kind = OnlineNMF if name == "nmf" else OnlineCPDictionary
        model = kind(size["r"], n_jobs=n_jobs, **common)
    return lambda: type(model)(**model.get_params(deep=False)).fit_stream(stream)


def sizes(name, quantity, value, large):
    """Return all sizes where one quantity has some value."""
    known = MODELS[name]
    size = known["base"] | (known["large"] if large else {})
    return size | (known["sparse"] if quantity == "density" else {}) | {quantity: value}


def seconds(learn, clock=time.process_time):
    """Return the median of some runs; the first one of all loads what is compiled."""
    times = []
    learn()
    for _ in range(TURNS):
        began = clock()
        learn()
        times.append(clock() - began)
    return statistics.median(times)


def megabytes(name, size):
    """Return by how much the peak of this process rises while it learns."""
    small = {"n": size["batch"] * 2, "r": 4, **({"k": 4} if "k" in size else {"d": 64})}
    if size.get("N"):
        small |= {"n": 256, "N": 16}
    learning(name, size | small)()
    learn = learning(name, size)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew at what is there now
    before = status("VmRSS")
    learn()
    return status("VmHWM") - before


def apart(name, size):
    """Return the megabytes that a process of its own measures."""
    command = [sys.executable, __file__, "--measure", name, json.dumps(size)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(told.splitlines()[-1])


def exponent(values, costs):
    """Return the power of the values that fits costs best, by least squares of logarithms."""
    costs = np.maximum(costs, 1e-9)
    return float(np.polyfit(np.log(values), np.log(costs), 1)[0])


def curve(name, quantity, values, large, measure):
    """Return what is measured at the values, and its exponent beside theory's."""
    all_sizes = [sizes(name, quantity, value, large) for value in values]
    costs = [measure(size) for size in all_sizes]
    theory = [counted(name, size)[large] for size in all_sizes]
    found = {"values": values, "costs": costs, "fitted": exponent(values, costs)}
    found["theory"] = exponent(values, theory)
    print(name, quantity, found, flush=True)
    return found


def threads():
    """Return seconds of the clock with one thread and two, by rows of a batch."""
    found = {}
    for batch in (256, 1024):
        size = sizes("nmf", "batch", batch, False) | {"n": 65_536}
        runs = {n: seconds(learning("nmf", size, n), time.perf_counter) for n in (1, 2)}
        found[batch] = runs
    return found


class Rows:
    """Rows in memory as one shard."""

    version, name = "1", "rows"

    def __init__(self, X):
        self.X, self.n_rows = X, len(X)

    def read(self, first, last):
        """Yield some rows."""
        yield self.X[first:last]


def slots():
    """Return seconds of the processor of a pass in rounds, all slots in one process."""
    size = sizes("nmf", "n", 65_536, False)
    X, found = np.concatenate(list(batches("nmf", size, np.random.default_rng(0)))), {}
    for n_slots in (1, 2, 4, 8):
        found[n_slots] = seconds(
            lambda n=n_slots: OnlineNMF(size["r"], random_state=0).fit_stream(
                Shards([Rows(X)]), slots=n
            )
        )
    return found


def main(name):
    """Measure one model, and write its record."""
    known = MODELS[name]

    def timed(size):
        return seconds(learning(name, size))

    found = {
        "base": known["base"],
        "large": known["base"] | known["large"],
        "sparse": known["sparse"],
        "seconds": {q: curve(name, q, v, False, timed) for q, v in known["seconds"].items()},
        "megabytes": {
            q: curve(name, q, v, True, lambda size: apart(name, size))
            for q, v in known["memory"].items()
        },
    }
    if name == "nmf":
        found |= {"threads": threads(), "slots": slots()}
    save(f"cost-{name}", found)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "--measure":
        print(megabytes(sys.argv[2], json.loads(sys.argv[3])))
    else:
        for model in sys.argv[1:]:
            main(model)
