"""Consensus of replicates on planted data: rank, atoms, intervals, and data without structure.

``python benchmarks/consensus.py [SEEDS]`` writes ``results/consensus.json``. Planted data have 5
atoms of 40 features and 600 rows: atoms of equal or unequal energy, and atoms that overlap (a part
common to all). Noise is centred Gaussian with a standard deviation of 0.1, 0.2 and 0.4 times that
of the signal, cut at zero, which leaves a mean where the signal is zero; one more kind has uniform
noise that is not centred. Intervals are judged on Poisson counts of the same signals, too.
"""

import sys
import time

import numpy as np
from benchmark_records import save
from sklearn.decomposition import NMF

from atomstream import ConsensusNMF, align

KINDS = ("equal", "unequal", "overlapping", "uniform noise")
NOISES = (0.1, 0.2, 0.4)
RANKS = range(3, 9)
PEERS = {"squared": {"solver": "cd"}, "kl": {"solver": "mu", "beta_loss": "kullback-leibler"}}
REPLICATES, MANY, COVERED = 10, 100, 4  # to choose the rank, for intervals, and seeds for these
RANK, ROWS, FEATURES = 5, 600, 40
MANY_ROWS = 20_000  # of a law, for the atoms that it leads to


def planted(kind, noise, seed):
    """Return data, and the atoms planted in them."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    parts = rng.random((RANK, FEATURES)) * (rng.random((RANK, FEATURES)) < 0.4)
    usages = drawn(rng, ROWS)
    if kind == "overlapping":
        parts += 0.5 * rng.random(FEATURES) * (rng.random(FEATURES) < 0.4)
    parts /= np.linalg.norm(parts, axis=1, keepdims=True)
    return observed(rng, kind, noise, usages, parts), parts


def drawn(rng, n_rows):
    """Return codes of so many rows."""
    return rng.exponential(size=(n_rows, RANK)) * (rng.random((n_rows, RANK)) < 0.7)


def observed(rng, kind, noise, usages, parts):
    """Return rows of these codes with noise."""
    if kind == "unequal":
        usages = usages * np.array([1, 0.8, 0.6, 0.5, 0.4])
    signal = usages @ parts
    spread = noise * signal.std()
    if kind == "uniform noise":
        return signal + np.sqrt(12) * spread * rng.random(signal.shape)
    return np.maximum(signal + spread * rng.standard_normal(signal.shape), 0)


def limit(kind, noise, seed, parts):
    """Return the atoms that rows of this law lead to: a batch NMF of many, from the planted ones.

    They are not the planted atoms, because noise that is cut at zero has a mean there.
    """
    rng = np.random.default_rng([seed, len(KINDS)])
    X = observed(rng, kind, noise, drawn(rng, MANY_ROWS), parts)
    codes = np.maximum(X @ np.linalg.pinv(parts), 1e-3)
    batch = NMF(RANK, init="custom", max_iter=2000, tol=1e-7)
    batch.fit(X, W=codes, H=np.maximum(parts, 1e-6))
    return batch.components_ / np.linalg.norm(batch.components_, axis=1, keepdims=True)


def counted(kind, seeds=COVERED):
    """Return the coverage of intervals under noise without a mean: counts, 10 for a signal of 1."""
    coverage = []
    for seed in range(seeds):
        signal, parts = planted(kind, 0.0, seed)
        counts = np.random.default_rng(seed).poisson(10 * signal)
        model = ConsensusNMF([RANK], n_replicates=MANY, random_state=seed).fit(counts / 10)
        coverage.append(covered(model, parts))
    zeros, others = np.mean(coverage, axis=0)
    return {"kind": kind, "coverage_of_zeros": zeros, "coverage_of_others": others}


def independent(seed):
    """Return data whose columns are those of planted data, each in an order of its own."""
    X, _ = planted(KINDS[seed % 3], NOISES[seed % 3], seed)
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.permutation(column) for column in X.T])


def covered(model, parts, truth=None):
    """Return the shares of the true entries in their intervals: where planted is zero, and others.

    The truth is what was planted, unless atoms in the same order are given.
    """
    truth = parts if truth is None else truth
    order = align(parts, model).order
    low, high = (end[order] for end in model.intervals_)
    held = (low <= truth) & (truth <= high)
    return [
        float(held[parts == 0].mean() if (parts == 0).any() else 1),
        float(held[parts > 0].mean()),
    ]


def judged(kind, noise, seeds):
    """Return what came out for the seeds of one kind of data."""
    ranks, cosines, coverage, seconds = [], [], [], 0.0
    for seed in range(seeds):
        X, parts = planted(kind, noise, seed)
        start = time.process_time()
        model = ConsensusNMF(RANKS, n_replicates=REPLICATES, random_state=seed).fit(X)
        seconds += time.process_time() - start
        ranks.append(model.n_components_)
        cosines.append(align(parts, model.consensus(RANK).atoms).similarity.min())
        if seed < COVERED:
            many = ConsensusNMF([RANK], n_replicates=MANY, random_state=seed).fit(X)
            lead = limit(kind, noise, seed, parts)
            coverage.append([*covered(many, parts), *covered(many, parts, lead)])
    zeros, others, limit_zeros, limit_others = np.mean(coverage, axis=0)
    return {
        "kind": kind,
        "noise": noise,
        "ranks": ranks,
        "right": sum(rank == RANK for rank in ranks),
        "worst_cosine": float(min(cosines)),
        "cosine_above_95": sum(bool(cosine >= 0.95) for cosine in cosines),
        "coverage_of_zeros": zeros,
        "coverage_of_others": others,
        "coverage_of_limit": [limit_zeros, limit_others],
        "seconds": seconds / seeds,
    }


def counts(n_rows=20_000, n_genes=2_000, rank=20):
    """Return counts of 20 programs, columns scaled to a standard deviation of one."""
    rng = np.random.default_rng(0)
    programs = rng.gamma(0.3, 1, (rank, n_genes))
    means = rng.gamma(0.3, 1, (n_rows, rank)) @ programs
    means *= 0.23 * n_genes / means.sum(axis=1, keepdims=True)
    X = rng.poisson(means).astype(np.float32)
    return X / (X.std(axis=0) + 1e-9)


def speed(loss, n_epochs, n_peers):
    """Return process seconds of 100 replicates, and of as many runs of scikit-learn's NMF.

    Those of scikit-learn are extrapolated from a few runs.
    """
    X, rank = counts(), 20
    settings = {"loss": loss, "n_epochs": n_epochs, "random_state": 0}
    ConsensusNMF([rank], n_replicates=2, **settings).fit(X[:2000])  # compiles
    start = time.process_time()
    model = ConsensusNMF([rank], n_replicates=MANY, **settings).fit(X)
    ours = time.process_time() - start
    seconds, cosines = [], []
    for seed in range(n_peers):
        peer = NMF(rank, init="random", random_state=seed, max_iter=1000, **PEERS[loss])
        start = time.process_time()
        peer.fit(X)
        seconds.append(time.process_time() - start)
        cosines.append(np.sort(align(peer.components_, model).similarity))
    peers, n_rows = MANY * float(np.mean(seconds)), model.n_samples_seen_
    return {
        "loss": loss,
        "passes": n_rows / len(X),
        "seconds": ours,
        "sklearn_seconds": peers,
        "runs": n_peers,
        "ratio": peers / ours,
        "worst_cosine": float(np.min(cosines)),
        "median_cosine": float(np.median(cosines)),
        "stability": float(model.stability_.mean()),
    }


def main(seeds):
    """Judge all kinds of data and write the figures."""
    figures = {"seeds": seeds, "replicates": REPLICATES, "planted": []}
    for kind in KINDS:
        for noise in NOISES:
            figures["planted"].append(judged(kind, noise, seeds))
            save("consensus", figures)
    figures["counts"] = [counted(kind) for kind in KINDS[:3]]
    claimed = [
        ConsensusNMF(RANKS, n_replicates=REPLICATES, random_state=seed)
        .fit(independent(seed))
        .choice_
        for seed in range(2 * seeds)
    ]
    structured = sum(choice.structured for choice in claimed)
    figures["independent"] = {"seeds": 2 * seeds, "structured": structured}
    cases = (("squared", 1, 3), ("squared", None, 3), ("kl", None, 2))
    figures["speed"] = [speed(*case) for case in cases]
    save("consensus", figures)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
