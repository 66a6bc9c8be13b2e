"""Hebbian steps on transitions per second: against the paper's dense form, and for many states.

``python benchmarks/walks.py`` writes ``results/walks.json``. One thread; contenders take turns. On
lumpable chains the simple rival counts all transitions and takes the SVD of the counts, which keeps
them all in memory; megabytes are those of our state and of the counts.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import scipy.sparse as sp
from benchmark_records import save
from scipy.sparse.linalg import svds
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from atomstream import RandomWalkFactorization

RANK, ROUNDS = 10, 5


def lumps(m: int, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return (a walk of n steps on m states in five blocks, the blocks)."""
    rng = np.random.default_rng(seed)
    block = rng.integers(0, 5, m)
    between = 0.6 * np.eye(5)[[1, 2, 3, 4, 0]] + 0.08
    chances, drawn = between.cumsum(axis=1), rng.random(n)
    walk = np.empty(n, np.int64)
    now = 0
    for t in range(n):
        now = min(int(np.searchsorted(chances[now], drawn[t])), 4)
        walk[t] = now
    members = [np.flatnonzero(block == b) for b in range(5)]
    for b in range(5):
        here = np.flatnonzero(walk == b)
        walk[here] = (
            rng.choice(members[b], len(here)) + 10 * m
        )  # marked, so that no block is taken for a state
    return walk - 10 * m, block


def dense(m: int, walk: np.ndarray, n: int) -> float:
    """Return seconds per transition of eq. (10) as it stands, W W'A W included, in NumPy."""
    rng = np.random.default_rng(0)
    W = np.linalg.qr(rng.standard_normal((2 * m, RANK)))[0]
    begin = time.perf_counter()
    for i, j in zip(walk[:n].tolist(), (m + walk[1 : n + 1]).tolist(), strict=True):
        AW = np.zeros_like(W)
        AW[i], AW[j] = W[j], W[i]
        W += 0.01 * (AW - W @ (W.T @ AW))
    return (time.perf_counter() - begin) / n


def ours(m: int, walk: np.ndarray) -> float:
    """Return seconds per transition of ``partial_fit``."""
    model = RandomWalkFactorization(RANK, n_states=m, random_state=0).partial_fit(walk[:5000])
    begin = time.perf_counter()
    model.partial_fit(walk)
    return (time.perf_counter() - begin) / len(walk)


def megabytes(model: RandomWalkFactorization) -> float:
    """Return the size of the state of a model."""
    arrays = [value for value in vars(model.factor_).values() if isinstance(value, np.ndarray)]
    return sum(a.nbytes for a in [*arrays, model.visits_, model._basis]) / 1e6


def per_transition(walks: dict[int, np.ndarray]) -> dict[str, float]:
    """Return microseconds of a transition, medians over rounds, by states."""
    rounds = [
        {
            **{str(m): ours(m, walk) for m, walk in walks.items()},
            "dense 2017": dense(2017, walks[2017], 2000),
        }
        for _ in range(ROUNDS)
    ]
    return {name: 1e6 * float(np.median([one[name] for one in rounds])) for name in rounds[0]}


def lumpable(m: int, n: int) -> dict[str, float]:
    """Return what ours, and counting and SVD, take and find on a lumpable chain."""
    walk, block = lumps(m, n)
    begin = time.perf_counter()
    model = RandomWalkFactorization(5, n_states=m, random_state=0).fit(walk)
    seconds = time.perf_counter() - begin
    labels = model.partition()
    begin = time.perf_counter()
    counts = sp.csr_array((np.ones(n - 1), (walk[:-1], walk[1:])), (m, m)) / (n - 1)
    _, values, right = svds(counts, 5)
    batch_seconds = time.perf_counter() - begin
    visits = np.maximum(counts.sum(axis=0), 1 / n)
    groups = KMeans(5, n_init=10, random_state=0)
    groups.fit(right.T * values / visits[:, None], sample_weight=visits)
    captured = np.trace(model.left_.T @ (counts @ model.right_)) / values.sum()
    stored = sum(part.nbytes for part in (counts.data, counts.indices, counts.indptr))
    return {
        "seconds": seconds,
        "captured, of what SVD of the counts captures": float(captured),
        "adjusted Rand index against the blocks": float(adjusted_rand_score(block, labels)),
        "re-orthonormalised": model.n_reorthonormalized_,
        "MB": megabytes(model),
        "MB of the counts": stored / 1e6,
        "seconds of counting and SVD": batch_seconds,
        "adjusted Rand index of k-means on its rows": float(
            adjusted_rand_score(block, groups.labels_)
        ),
    }


def main() -> None:
    """Measure everything and write the numbers."""
    rng = np.random.default_rng(0)
    walks = {m: rng.integers(0, m, 1_000_000) for m in (2000, 2017, 100_000)}
    measured: dict[str, Any] = {"microseconds per transition": per_transition(walks)}
    model = RandomWalkFactorization(4, n_states=2017, random_state=0).fit(walks[2017][:100_000])
    measured["state, MB, 2,017 states, rank 4"] = megabytes(model)
    for m, n in ((2000, 10_000_000), (100_000, 10_000_000)):
        measured[f"lumpable chain, {m:,} states, {n:,} transitions"] = lumpable(m, n)
        print(json.dumps(measured, indent=1), flush=True)
    save("walks", measured)


if __name__ == "__main__":
    main()
