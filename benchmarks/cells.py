"""Gene programs of blood cells: a consensus against as many runs of scikit-learn's NMF.

``python benchmarks/cells.py FOLDER FILE`` with the folder of the data writes
``results/cells.json``.
Replicates of both sides have the same data (genes chosen and scaled by `atomstream.cells`, or
simulated counts) and are clustered and filtered in the same way; those of scikit-learn see all
cells, ours a bootstrap of nine tenths. A million cells in FILE, which is made where it is not
there, show time, memory and bytes read.
"""

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from anndata import AnnData
from benchmark_records import save
from consensus import counts
from million_cells import measured
from sklearn.decomposition import NMF

from atomstream import ConsensusNMF, align, cells
from atomstream.estimators._agreement import Consensus

SETS = {
    "pbmc68k_reduced_counts.npz": 300,
    "pbmc_facs_counts.npz": 2000,
}  # genes that are learned from
RANK, SIMULATED, REPLICATES = 8, 20, 100
LARGE = 20  # runs of scikit-learn on the simulated counts
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


def ours(X, loss, rank):
    """Return the consensus of replicates, and process seconds."""
    ConsensusNMF([rank], n_replicates=2, n_epochs=1, loss=loss, random_state=0).fit(X)  # compiles
    start = time.process_time()
    model = ConsensusNMF([rank], n_replicates=REPLICATES, loss=loss, random_state=0).fit(X)
    return model.consensus(rank), time.process_time() - start


def peers(X, loss, rank, n_runs):
    """Return the consensus of runs of scikit-learn's NMF, and process seconds of one run."""
    found, importances = [], []
    start = time.process_time()
    for seed in range(n_runs):
        peer = NMF(rank, init="random", random_state=seed, tol=1e-4, max_iter=1000, **LOSSES[loss])
        codes = peer.fit_transform(X)
        found.append(peer.components_)
        importances.append(codes.sum(axis=0) * np.linalg.norm(peer.components_, axis=1))
    seconds = (time.process_time() - start) / n_runs
    shares = np.array(importances) / np.sum(importances, axis=1, keepdims=True)
    return Consensus.of(np.array(found), shares, by_sum=loss == "kl"), seconds


def compared(name, X, loss, rank, n_runs):
    """Return the figures of one set of cells under one loss."""
    mine, seconds = ours(X, loss, rank)
    other, each = peers(X, loss, rank, n_runs)
    matched = align(other.atoms, mine.atoms)
    order = np.argsort(matched.similarity)
    return {
        "cells": name,
        "shape": X.shape,
        "loss": loss,
        "rank": rank,
        "seconds": seconds,
        "sklearn_seconds": each * REPLICATES,
        "sklearn_runs": n_runs,
        "ratio": each * REPLICATES / seconds,
        "cosines": matched.similarity[order].tolist(),
        "stability": mine.share[matched.order][order].tolist(),
        "sklearn_stability": other.share[order].tolist(),
    }


def cases(folder):
    """Yield the name, data, loss, rank and runs of scikit-learn of each comparison."""
    for name, n_genes in SETS.items():
        X = read(folder / "blood_cells" / name, n_genes)
        yield name, X, "squared", RANK, REPLICATES
        if len(X) < 1000:
            yield name, X, "kl", RANK, REPLICATES
    yield "simulated", counts(rank=SIMULATED), "squared", SIMULATED, LARGE


def main(folder, path):
    """Compare on all sets and losses, measure a million cells, and write the figures."""
    figures = {"replicates": REPLICATES, "cases": [], "million": measured(path)}
    for case in cases(folder):
        figures["cases"].append(compared(*case))
        print(figures["cases"][-1], flush=True)
        save("cells", figures)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
