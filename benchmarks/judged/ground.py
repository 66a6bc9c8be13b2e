"""Chains, tensors, short texts and wide dictionaries against bare loops and peers, pair by pair.

``judged/ground.py`` writes a record of each part (``results/ground-texts.json``, ...);
names of parts run these alone (``texts``, ``motifs``, ``pivots``, ``words``, ``cubes``, ``wide``).
One thread. Contenders take turns, in an order that changes sides; what counts is processor time,
and of each pair the ratio. TensorLy and scikit-learn are the peers; bare loops are compiled here.
Tensors are raced against alternating least squares (ALS) of the experiments, too, and the goal of a
race is where HALS ends. Of short texts every tenth is held out, and judges atoms under exact codes;
nothing is chosen by it.
"""

# ruff: noqa: NPY002 - compiled loops draw from the legacy source, and so do the thesis's tensors

from __future__ import annotations

import csv
import gzip
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from typing import Any

os.environ |= dict.fromkeys(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"], "1")

import networkx as nx
import numpy as np
import scipy.sparse as sp
from benchmark_records import DATA, save
from numba import njit
from tensor_baselines import als

from atomstream import OnlineNMF, TopicModel, online_parafac
from atomstream.fields.networks import motifs as shapes
from atomstream.fields.networks.network import Network
from atomstream.fields.tensors.loadings import khatri_rao
from atomstream.samplers import MotifGlauber, MotifPivot

PAIRS = 7
COMPILED = {"nogil": True, "fastmath": True, "error_model": "numpy"}


def seconds(run: Callable[[], Any]) -> float:
    """Return the processor time of a call."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


def paired(ours: Callable[[], Any], other: Callable[[], Any], pairs: int = PAIRS) -> dict[str, Any]:
    """Return median seconds of two contenders in turns, and the median of the ratios."""
    ours(), other()  # compiles, and warms up
    found = []
    for turn in range(pairs):
        if turn % 2:
            found.append((seconds(ours), seconds(other)))
        else:
            late = seconds(other)
            found.append((seconds(ours), late))
    mine, theirs = (statistics.median(part) for part in zip(*found, strict=True))
    ratio = statistics.median(one / two for one, two in found)
    return {"seconds": mine, "other, seconds": theirs, "times as fast": 1 / ratio}


# -- short texts


def texts() -> dict[str, Any]:
    """Learn 15 topics of 8,973 headlines with 32,768 hashed features, in batches of 256.

    Timed are whole passes over the same batches by ``partial_fit``, of new models and of models
    that have made a pass; judged are atoms after each of six passes. ``NMF`` makes 200 rounds.
    """
    from sklearn.decomposition import NMF, MiniBatchNMF
    from sklearn.feature_extraction.text import HashingVectorizer

    with gzip.open(DATA / "headlines" / "abc_headlines_2003.csv.gz", "rt") as file:
        headlines = [row["headline_text"] for row in csv.DictReader(file)]
    hashing = HashingVectorizer(n_features=2**15, alternate_sign=False, norm=None)
    X = sp.csr_array(hashing.transform(headlines))
    kept = np.arange(X.shape[0]) % 10 < 9
    held, X = X[~kept], X[kept]
    batches = [sp.csr_matrix(X[start : start + 256]) for start in range(0, X.shape[0], 256)]
    loss = {"beta_loss": "kullback-leibler", "init": "random", "random_state": 0}
    makers = {
        "ours": lambda: OnlineNMF(15, loss="kl", random_state=0),
        "scikit-learn's MiniBatchNMF": lambda: MiniBatchNMF(15, **loss),
    }
    found = {name: passes(make, batches, held) for name, make in makers.items()}
    whole = NMF(15, solver="mu", max_iter=200, tol=0, **loss)
    spent = seconds(lambda: whole.fit(sp.csr_matrix(X)))
    topics = TopicModel(15, random_state=0).fit_stream(headlines[:1000])
    counted = statistics.median(seconds(lambda: topics.fit_stream(headlines)) for _ in range(3))
    return {
        "contenders": found,
        "NMF, 200 rounds": {"seconds": spent, **left(whole.components_, X, held)},
        "TopicModel, words counted too, documents per second": len(headlines) / counted,
    }


def passes(make: Callable[[], Any], batches: list[Any], held: Any, turns: int = 3) -> Any:
    """Return documents per second of the first pass and of later ones, and losses by passes."""
    X, speeds, losses = sp.vstack(batches), [], []
    learn_batches(make(), batches)  # compiles
    for _ in range(turns):
        model, times = make(), []
        losses = []
        for _ in range(6):
            times.append(seconds(partial(learn_batches, model, batches)))
            losses.append(left(model.components_, X, held))
        speeds.append((X.shape[0] / times[0], X.shape[0] / statistics.median(times[1:])))
    first, later = (statistics.median(part) for part in zip(*speeds, strict=True))
    return {"first pass": first, "later passes": later, "losses": losses}


def learn_batches(model: Any, batches: list[Any]) -> None:
    """Make a step on each batch."""
    for batch in batches:
        model.partial_fit(batch)


def left(atoms: np.ndarray, X: Any, held: Any) -> dict[str, float]:
    """Return divergences of held-out documents at exact codes: of words in X, and of all words.

    What an atom has of a word that X lacks is left of its start. No entry is below 1e-9 of the mean
    of its atom.
    """
    atoms = np.maximum(atoms, 1e-9 * atoms.mean(axis=1, keepdims=True))
    known, found = np.flatnonzero(X.sum(axis=0)), {}
    for name, words in (("known words", known), ("all words", np.arange(X.shape[1]))):
        judge = OnlineNMF.from_components(atoms[:, words], loss="kl")
        found[name] = -judge.score(sp.csr_array(held[:, words]))
    return found


# -- chains


@njit(**COMPILED)
def bare_glauber(weights, state, n):  # type: ignore[no-untyped-def]
    """Move a path over a matrix of weights: sums along rows, and a search in them."""
    size, last = len(weights), len(state) - 1
    sums = np.empty(size)
    for _ in range(n):
        node, total = int(np.random.random() * len(state)), 0.0
        if node == 0 or node == last:
            row = weights[state[1] if node == 0 else state[last - 1]]
            for v in range(size):
                total += row[v]
                sums[v] = total
        else:
            row, other = weights[state[node - 1]], weights[state[node + 1]]
            for v in range(size):
                total += row[v] * other[v]
                sums[v] = total
        state[node] = np.searchsorted(sums, np.random.random() * total, side="right")


@njit(**COMPILED)
def bare_pivot(indptr, indices, state, n, known, patches):  # type: ignore[no-untyped-def]
    """Walk the root by degrees and grow the path by plain steps; look up patches in a matrix."""
    k = len(state)
    for t in range(n):
        root = state[0]
        degree = indptr[root + 1] - indptr[root]
        other = indices[indptr[root] + int(np.random.random() * degree)]
        if np.random.random() * (indptr[other + 1] - indptr[other]) < degree:
            state[0] = other
        for j in range(1, k):
            begin, end = indptr[state[j - 1]], indptr[state[j - 1] + 1]
            state[j] = indices[begin + int(np.random.random() * (end - begin))]
        if len(patches):
            for a in range(k):
                for b in range(k):
                    patches[t % len(patches), a * k + b] = known[state[a], state[b]]


def mover(chain: Any, n: int, *, at_once: int, patches: bool = False) -> Callable[[], Any]:
    """Return what makes n moves, so many states of which are kept at a time (0: the last one)."""
    rng = np.random.default_rng(0)
    place = [chain.init(rng)]

    def move() -> None:
        """Move."""
        if not at_once:
            place[0] = chain.run(rng, place[0], 1, n)[1]
            return
        for _ in range(n // at_once):
            states, place[0] = chain.run(rng, place[0], at_once)
            if patches:
                chain.patches(states)

    return move


def motifs() -> dict[str, Any]:
    """Move paths over a dense network of 211 nodes."""
    rng, n = np.random.default_rng(0), 500_000
    weights = np.triu(rng.random((211, 211)) * (rng.random((211, 211)) < 0.9), 1)
    weights += weights.T
    found = {}
    for k in (3, 5, 7):
        chain = MotifGlauber(weights, shapes.path(k))
        state = chain.init(rng)
        found[f"path of {k}"] = paired(
            mover(chain, n, at_once=0), lambda state=state: bare_glauber(weights, state, n)
        )
    return found


def pivots() -> dict[str, Any]:
    """Grow paths of 21 nodes in a graph of 4,000: the exact chain, against an approximate one."""
    graph = Network.of(nx.powerlaw_cluster_graph(4000, 22, 0.5, seed=0))
    indptr, indices, n = graph.out.indptr, graph.out.indices, 100_000
    known, state = graph.out.toarray().astype(np.float32), np.zeros(21, np.int64)
    chain, none = MotifPivot(graph, shapes.path(21)), np.empty((0, 441))
    patches = np.empty((10_000, 441))

    def bare(rows: Any) -> Callable[[], Any]:
        """Return what makes the bare moves."""
        return lambda: bare_pivot(indptr, indices, state, n, known, rows)

    return {
        "last state kept": paired(mover(chain, n, at_once=0), bare(none)),
        "every state kept": paired(mover(chain, n, at_once=10_000), bare(none)),
        "with patches": paired(mover(chain, n, at_once=10_000, patches=True), bare(patches)),
    }


# -- tensors


def word_counts(seed: int = 0) -> np.ndarray:
    """Return counts of 5,000 words in 40 times 26 groups, of rank 10; 5 % are not 0."""
    rng, shape = np.random.default_rng(seed), (40, 5000, 26)
    parts = [rng.dirichlet(np.full(n, a), 10) for n, a in zip(shape, (0.3, 0.02, 0.2), strict=True)]
    shares = rng.dirichlet(np.full(10, 2.0))
    mean = 600_000 * np.einsum("r,ri,rj,rk->ijk", shares, *parts, optimize=True)
    return rng.poisson(mean + 60_000 / mean.size).astype(float)


def synthetic(seed: int) -> np.ndarray:
    """Return the tensor of the thesis, 100 x 100 x 100 of rank 50."""
    rng = np.random.RandomState(seed)
    factors = [rng.rand(100, 50) for _ in range(3)]
    return 0.01 * np.einsum("ir,jr,kr->ijk", *factors, optimize=True)


def error(X: np.ndarray, cp: Any) -> float:
    """Return the relative error of a CP tensor."""
    weights, (first, *others) = cp
    rest = (first * weights) @ khatri_rao(others).T - X.reshape(len(X), -1)
    return float(np.linalg.norm(rest) / np.linalg.norm(X))


def quickest(
    X: np.ndarray, sides: dict[str, list[Callable[[], Any]]], goal: float
) -> dict[str, float | None]:
    """Return of each side, in turns, the processor time of its quickest effort to an error."""
    took: dict[str, list[float]] = {side: [] for side in sides}
    for turn, efforts in enumerate(zip_longest(*sides.values())):
        for side, run in list(zip(sides, efforts, strict=True))[:: -1 if turn % 2 else 1]:
            if run is None:
                continue
            begin = time.process_time()
            cp = run()
            spent = time.process_time() - begin
            if error(X, cp) <= goal:
                took[side].append(spent)
    return {side: min(times, default=None) for side, times in took.items()}


def race(tensor: Callable[[int], np.ndarray], rank: int, above: float, efforts: Any) -> Any:
    """Return seconds to come so near to where 100 rounds of TensorLy's HALS end, by seeds.

    ``efforts`` are numbers of rounds of HALS and of ALS, whose least squares are solved to 1e-8 or
    to 1e-2, and pairs of passes and sweeps of ours.
    """
    from tensorly.decomposition import non_negative_parafac_hals as hals

    rounds, als_rounds, ours = efforts
    found = {}
    for seed in range(1, 6):
        X = tensor(seed)

        def one(n: int, X: Any = X, seed: int = seed) -> Any:
            return hals(X, rank, n_iter_max=n, init="random", random_state=seed, tol=0)

        def two(passes: int, sweeps: int, X: Any = X, seed: int = seed) -> Any:
            return online_parafac(X, rank, n_epochs=passes, n_polish=sweeps, random_state=seed)

        two(1, 1)
        sides = {
            "seconds": [partial(two, *pair) for pair in ours],
            "HALS, seconds": [partial(one, n) for n in rounds],
            "ALS, seconds": [
                partial(als, X, rank, n, seed, tol) for n in als_rounds for tol in (1e-8, 1e-2)
            ],
        }
        found[seed] = quickest(X, sides, (1 + above) * error(X, one(100)))
        print(seed, found[seed], flush=True)
    shares = {}
    for rival in ("HALS", "ALS"):
        pairs = [(part["seconds"], part[f"{rival}, seconds"]) for part in found.values()]
        ratios = [one / two for one, two in pairs if one is not None and two is not None]
        shares[f"of {rival}'s time, where both arrive"] = statistics.median(ratios)
    return {"seeds": found, **shares}


def words() -> Any:
    """Race on word counts, to half a percent above HALS's end."""
    ours = [(1, 5), (1, 10), (1, 20), (2, 5), (2, 10), (3, 5), (3, 10), (3, 30)]
    return race(word_counts, 10, 0.005, ((5, 7, 10, 12, 15, 20, 30), (7, 10, 12, 15, 20), ours))


def cubes() -> Any:
    """Race on the cubes of the thesis, to one percent above HALS's end."""
    ours = [(n, 0) for n in (4, 5, 6, 7, 8, 9, 10, 12, 15)]
    return race(synthetic, 5, 0.01, ((30, 40, 50, 60, 70, 80), (5, 8, 10, 15, 20), ours))


# -- wide dictionaries


def wide() -> Any:
    """Learn 100 atoms of 30,000 features, against the three products of a step, once each."""
    rng, d, r, size = np.random.default_rng(0), 30_000, 100, 256
    codes = rng.exponential(size=(8 * size, r)) * (rng.random((8 * size, r)) < 0.1)
    X = codes.astype(np.float32) @ rng.random((r, d), dtype=np.float32)
    X += 0.1 * rng.random(X.shape, dtype=np.float32)
    batches = [X[start : start + size] for start in range(0, len(X), size)]
    model = OnlineNMF(r, random_state=0).fit_stream(batches)
    atoms, h = model.components_, model.transform(batches[0])
    gram = h.T @ h

    def bare() -> None:
        """Multiply."""
        for batch in batches:
            batch @ atoms.T, h.T @ batch, gram @ atoms

    return paired(lambda: model.fit_stream(batches), bare, 5)


PARTS = {part.__name__: part for part in (texts, motifs, pivots, words, cubes, wide)}


def main() -> None:
    """Run the parts named, or all, and write the numbers."""
    for name in sys.argv[1:] or PARTS:
        began = time.perf_counter()
        measured = PARTS[name]()
        print(name, json.dumps(measured, indent=1), flush=True)
        save(f"ground-{name}", measured, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
