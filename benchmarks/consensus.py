"""Consensus of replicates on planted data: rank, atoms, intervals, and data without structure.

``python benchmarks/consensus.py`` writes ``results/consensus-*.json``; names of parts run these
alone (``choices``, ``rival``, ``intervals``, ``speed``). Planted data have 5 atoms of 40
features and 600 rows: atoms of equal or unequal energy, and atoms that overlap (a part common to
all). Noise is centred Gaussian with a standard deviation of 0.1, 0.2 and 0.4 times that of the
signal, cut at zero, which leaves a mean where the signal is zero; one more kind has uniform noise
that is not centred. Intervals are judged on Poisson counts of the same signals, too.

The simple rival that chooses a number is parallel analysis (Horn 1965): eigenvalues of the
correlations of the columns above the 95th percentile of those of columns that were permuted, twenty
times.
"""

import sys
import time
from itertools import product

import numpy as np
from benchmark_records import save
from sklearn.decomposition import NMF

from atomstream import ConsensusNMF, align

KINDS = ("equal", "unequal", "overlapping", "uniform noise")
NOISES = (0.1, 0.2, 0.4)
RANKS = range(3, 9)
PEERS = {"squared": {"solver": "cd"}, "kl": {"solver": "mu", "beta_loss": "kullback-leibler"}}
SEEDS, REPLICATES = 20, 10  # to choose the rank
MANY, COVERED = 100, 4  # replicates for intervals, and seeds
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


def intervals():
    """Return how many true entries intervals hold, under each noise and under Poisson counts.

    Counts, 10 for a signal of 1, have no noise with a mean.
    """
    found = []
    for kind, noise in (*product(KINDS, NOISES), *product(KINDS[:3], ["Poisson"])):
        coverage = []
        for seed in range(COVERED):
            X, parts = planted(kind, 0.0 if noise == "Poisson" else noise, seed)
            if noise == "Poisson":
                X = np.random.default_rng(seed).poisson(10 * X) / 10
            model = ConsensusNMF([RANK], n_replicates=MANY, bootstrap=True, random_state=seed)
            model.fit(X)
            lead = parts if noise == "Poisson" else limit(kind, noise, seed, parts)
            coverage.append([*covered(model, parts, parts), *covered(model, parts, lead)])
        names = ("zeros", "others", "limit_zeros", "limit_others")
        found.append({"kind": kind, "noise": noise})
        found[-1] |= dict(zip(names, np.mean(coverage, axis=0).tolist(), strict=True))
    return found


def unrelated(seed):
    """Return data whose columns are those of planted data, each in an order of its own."""
    X, _ = planted(KINDS[seed % 3], NOISES[seed % 3], seed)
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.permutation(column) for column in X.T])


def parallel_analysis(X, seed):
    """Return how many eigenvalues of the correlations are above those of permuted columns."""
    rng, rows = np.random.default_rng(seed), (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    permuted = [rng.permuted(rows, axis=0) for _ in range(20)]
    values = [np.linalg.eigvalsh(each.T @ each)[::-1] for each in (rows, *permuted)]
    above = values[0] > np.percentile(values[1:], 95, axis=0)
    return int(np.argmin([*above, False]))


def rival():
    """Return how often parallel analysis is right, and how often it finds what is not there."""
    found, began = [], time.process_time()
    for kind, noise in product(KINDS, NOISES):
        ranks = [parallel_analysis(planted(kind, noise, seed)[0], seed) for seed in range(SEEDS)]
        found.append({"kind": kind, "noise": noise, "ranks": ranks})
        found[-1]["right"] = sum(rank == RANK for rank in ranks)
    structured = sum(parallel_analysis(unrelated(seed), seed) > 0 for seed in range(2 * SEEDS))
    seconds = (time.process_time() - began) / (len(found) * SEEDS + 2 * SEEDS)
    return {"planted": found, "structured": structured, "seconds": seconds}


def covered(model, parts, truth):
    """Return the shares of the true entries in their intervals: where planted is zero, and others.

    Parameters
    ----------
    model : ConsensusNMF
    parts, truth : ndarray of shape (n_atoms, n_features)
        What was planted; what the intervals should hold, in the same order.
    """
    order = align(parts, model).order
    low, high = (end[order] for end in model.intervals_)
    held = (low <= truth) & (truth <= high)
    return [
        float(held[parts == 0].mean() if (parts == 0).any() else 1),
        float(held[parts > 0].mean()),
    ]


def judged(kind, noise):
    """Return what came out for the seeds of one kind of data."""
    ranks, cosines, seconds = [], [], 0.0
    for seed in range(SEEDS):
        X, parts = planted(kind, noise, seed)
        start = time.process_time()
        model = ConsensusNMF(RANKS, n_replicates=REPLICATES, random_state=seed).fit(X)
        seconds += time.process_time() - start
        ranks.append(model.n_components_)
        cosines.append(align(parts, model.consensus(RANK).atoms).similarity.min())
    return {
        "kind": kind,
        "noise": noise,
        "ranks": ranks,
        "right": sum(rank == RANK for rank in ranks),
        "worst_cosine": float(min(cosines)),
        "cosine_above_95": sum(bool(cosine >= 0.95) for cosine in cosines),
        "seconds": seconds / SEEDS,
    }


def choices():
    """Return what came out for all kinds of data and noise, and for data without structure."""
    found = [judged(kind, noise) for kind, noise in product(KINDS, NOISES)]
    return {
        "seeds": SEEDS,
        "replicates": REPLICATES,
        "planted": found,
        "independent": independent(),
    }


def independent():
    """Return how many of many data sets without structure were said to have some."""
    found = [
        ConsensusNMF(RANKS, n_replicates=REPLICATES, random_state=seed).fit(unrelated(seed)).choice_
        for seed in range(2 * SEEDS)
    ]
    said = [choice.structured for choice in found]
    none, some = said.count(False), said.count(True)
    return {"seeds": 2 * SEEDS, "structured": some, "none": none}


def counts(n_rows=20_000, n_genes=2_000, rank=20):
    """Return counts of 20 programs, columns scaled to a standard deviation of one."""
    rng = np.random.default_rng(0)
    programs = rng.gamma(0.3, 1, (rank, n_genes))
    means = rng.gamma(0.3, 1, (n_rows, rank)) @ programs
    means *= 0.23 * n_genes / means.sum(axis=1, keepdims=True)
    X = rng.poisson(means).astype(np.float32)
    del means
    X /= X.std(axis=0) + 1e-9
    return X


def speed():
    """Return seconds under both losses, with one pass and with the default ones."""
    return [timed(*case) for case in (("squared", 1, 3), ("squared", None, 3), ("kl", None, 2))]


def timed(loss, n_epochs, n_peers):
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


PARTS = {part.__name__: part for part in (choices, rival, intervals, speed)}


def main():
    """Run the parts named, or all, and write their figures."""
    for name in sys.argv[1:] or PARTS:
        began = time.perf_counter()
        save(f"consensus-{name}", PARTS[name](), seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
