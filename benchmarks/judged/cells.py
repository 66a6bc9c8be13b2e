"""Gene programs of blood cells: a consensus against as many runs of scikit-learn's NMF.

``judged/cells.py`` writes ``results/cells.json``. Replicates of both sides have the same
data (genes chosen and scaled by `atomstream.cells`, or simulated counts) and are clustered and
filtered in the same way; those of scikit-learn see all cells, ours a bootstrap of nine tenths, or
these nine tenths as they are. On the blood cells other runs of scikit-learn's, with other seeds,
show how far these agree with one another.
"""

import time

import numpy as np
import scipy.sparse as sp
from anndata import AnnData
from benchmark_records import DATA, save
from consensus import counts
from sklearn.decomposition import NMF

from atomstream import ConsensusNMF, align, cells
from atomstream.fields.consensus.agreement import Consensus

SETS = {
    "pbmc68k_reduced_counts.npz": 300,
    "pbmc_facs_counts.npz": 2000,
}  # genes that are learned from
RANK, SIMULATED, REPLICATES = 8, 20, 100
LARGE, HUGE = 20, 5  # runs of scikit-learn on the simulated counts, and on ten times as many
LOSSES = {
    "squared": {"solver": "cd"},
    "kl": {"solver": "mu", "beta_loss": "kullback-leibler"},
}


def read(path, n_genes):
    """Return cells x genes, scaled, dense."""
    stored = np.load(path)
    parts = (stored["data"], stored["indices"], stored["indptr"])
    data = AnnData(sp.csr_matrix(parts, shape=stored["shape"]).astype(np.float32))
    genes = cells.overdispersed(data, n_genes)
    return sp.vstack(list(cells.batches(data, genes))).toarray()


def ours(X, loss, rank, bootstrap):
    """Return the consensus of replicates, and process seconds."""
    settings = {"loss": loss, "bootstrap": bootstrap, "random_state": 0}
    ConsensusNMF([rank], n_replicates=2, n_epochs=1, **settings).fit(X[:5000])  # compiles
    start = time.process_time()
    model = ConsensusNMF([rank], n_replicates=REPLICATES, **settings).fit(X)
    return model.consensus(rank), time.process_time() - start


def peers(X, loss, rank, seeds):
    """Return the consensus of runs of scikit-learn's NMF, and process seconds of one run."""
    found, importances = [], []
    start = time.process_time()
    for seed in seeds:
        peer = NMF(rank, init="random", random_state=seed, tol=1e-4, max_iter=1000, **LOSSES[loss])
        codes = peer.fit_transform(X)
        found.append(peer.components_)
        importances.append(codes.sum(axis=0) * np.linalg.norm(peer.components_, axis=1))
    seconds = (time.process_time() - start) / len(seeds)
    shares = np.array(importances) / np.sum(importances, axis=1, keepdims=True)
    return Consensus.of(np.array(found), shares, by_sum=loss == "kl"), seconds


def matched(other, mine):
    """Return the cosines of matched programs, and the stability on both sides."""
    pairs = align(other.atoms, mine.atoms)
    order = np.argsort(pairs.similarity)
    return {
        "cosines": pairs.similarity[order].tolist(),
        "stability": mine.share[pairs.order][order].tolist(),
        "sklearn_stability": other.share[order].tolist(),
    }


def compared(name, X, loss, rank, n_runs):
    """Return the figures of one set of cells under one loss."""
    other, each = peers(X, loss, rank, range(n_runs))
    rivals = {
        "bootstrap": ours(X, loss, rank, True),
        "starts alone": ours(X, loss, rank, False),
    }
    if n_runs == REPLICATES:
        again, every = peers(X, loss, rank, range(n_runs, 2 * n_runs))
        rivals["scikit-learn, other seeds"] = again, every * REPLICATES
    return {
        "cells": name,
        "shape": X.shape,
        "loss": loss,
        "rank": rank,
        "sklearn_seconds": each * REPLICATES,
        "sklearn_runs": n_runs,
        "matched": {
            rival: {"seconds": seconds} | matched(other, mine)
            for rival, (mine, seconds) in rivals.items()
        },
    }


def cases():
    """Yield the name, data, loss, rank and runs of scikit-learn of each comparison."""
    for name, n_genes in SETS.items():
        X = read(DATA / "blood_cells" / name, n_genes)
        yield name, X, "squared", RANK, REPLICATES
        if len(X) < 1000:
            yield name, X, "kl", RANK, REPLICATES
    yield "simulated", counts(rank=SIMULATED), "squared", SIMULATED, LARGE
    yield "simulated", counts(200_000, rank=SIMULATED), "squared", SIMULATED, HUGE


def main():
    """Compare on all sets and losses, and write the figures."""
    figures = {"replicates": REPLICATES, "cases": []}
    for case in cases():
        figures["cases"].append(compared(*case))
        print(figures["cases"][-1], flush=True)
        save("cells", figures)


if __name__ == "__main__":
    main()
