"""Gene programs of blood cells: a consensus against as many runs of scikit-learn's NMF.

``python benchmarks/cells.py FOLDER`` with the folder of the data writes ``cells.json``. Replicates
of both sides have the same data (genes chosen and scaled by `atomstream.cells`) and are clustered
and filtered in the same way; those of scikit-learn see all cells, ours a bootstrap of nine tenths.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import sklearn
from anndata import AnnData
from sklearn.decomposition import NMF

from atomstream import ConsensusNMF, align, cells
from atomstream.estimators._agreement import Consensus

HERE = Path(__file__).parent
SETS = {
    "pbmc68k_reduced_counts.npz": 300,
    "pbmc_facs_counts.npz": 2000,
}  # genes that are learned from
RANK, REPLICATES = 8, 100
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


def ours(X, loss):
    """Return the consensus of replicates, and process seconds."""
    ConsensusNMF([RANK], n_replicates=2, n_epochs=1, loss=loss, random_state=0).fit(X)  # compiles
    start = time.process_time()
    model = ConsensusNMF([RANK], n_replicates=REPLICATES, loss=loss, random_state=0).fit(X)
    return model.consensus(RANK), time.process_time() - start


def peers(X, loss, n_runs):
    """Return the consensus of runs of scikit-learn's NMF, and process seconds of one run."""
    found, importances = [], []
    start = time.process_time()
    for seed in range(n_runs):
        peer = NMF(RANK, init="random", random_state=seed, tol=1e-4, max_iter=1000, **LOSSES[loss])
        codes = peer.fit_transform(X)
        found.append(peer.components_)
        importances.append(codes.sum(axis=0) * np.linalg.norm(peer.components_, axis=1))
    seconds = (time.process_time() - start) / n_runs
    shares = np.array(importances) / np.sum(importances, axis=1, keepdims=True)
    return Consensus.of(np.array(found), shares, by_sum=loss == "kl"), seconds


def compared(path, n_genes, loss, n_runs):
    """Return the figures of one set of cells under one loss."""
    X = read(path, n_genes)
    mine, seconds = ours(X, loss)
    other, each = peers(X, loss, n_runs)
    matched = align(other.atoms, mine.atoms)
    return {
        "cells": path.name,
        "shape": X.shape,
        "loss": loss,
        "seconds": seconds,
        "sklearn_seconds": each * REPLICATES,
        "sklearn_runs": n_runs,
        "ratio": each * REPLICATES / seconds,
        "cosines": np.sort(matched.similarity).tolist(),
        "stability": mine.share[matched.order].tolist(),
        "sklearn_stability": other.share.tolist(),
    }


def main(folder):
    """Compare on all sets and losses, and write the figures."""
    figures = {"sklearn": sklearn.__version__, "rank": RANK, "replicates": REPLICATES, "cases": []}
    for name, n_genes in SETS.items():
        for loss, n_runs in (("squared", REPLICATES), ("kl", 20)):
            found = compared(folder / "blood_cells" / name, n_genes, loss, n_runs)
            figures["cases"].append(found)
            print(found, flush=True)
            (HERE / "cells.json").write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
