"""A million cells from a backed file: time, peak memory and bytes read of a consensus.

``judged/million_cells.py FILE`` makes the file unless it is there, lets children of this
process learn from it, and writes what they measured as ``results/million-cells.json``.
"""

import json
import pickle
import subprocess
import sys
import time
from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse as sp
from benchmark_records import save

from atomstream import ConsensusNMF, align, cells

CELLS, GENES, PROGRAMS = 1_000_000, 2_000, 20
DEPTH, BLOCK = 200, 10_000  # counts of a cell, and cells that are made at a time
RUNS = {"three ranks": ((15, 20, 25), 10), "one rank": ((20,), 2)}  # ranks and replicates


def programs():
    """Return the programs that the counts are made of, each of sum one."""
    drawn = np.random.default_rng(0).gamma(0.3, 1, (PROGRAMS, GENES))
    return drawn / drawn.sum(axis=1, keepdims=True)


def counts(number, n_cells, atoms):
    """Return a block of counts, sparse; cells use a few programs each."""
    rng = np.random.default_rng([1, number])
    usages = rng.gamma(0.3, 1, (n_cells, len(atoms)))
    usages *= DEPTH / usages.sum(axis=1, keepdims=True)
    return sp.csr_matrix(rng.poisson(usages @ atoms).astype(np.float32))


def make(path, n_cells=CELLS):
    """Write the counts as AnnData, block by block."""
    atoms = programs()
    with h5py.File(path, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        for name, prefix, size in (("obs", "cell", n_cells), ("var", "gene", GENES)):
            names = [f"{prefix}{i}" for i in range(size)]
            anndata.io.write_elem(file, name, pd.DataFrame(index=names))
        anndata.io.write_elem(file, "X", counts(0, BLOCK, atoms))
        stored = anndata.io.sparse_dataset(file["X"])
        for number in range(1, n_cells // BLOCK):
            stored.append(counts(number, BLOCK, atoms))


def of_process(file, name):
    """Return a number that Linux keeps of this process, the one after this name."""
    rows = Path("/proc/self", file).read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith(name))


def peak():
    """Return the largest resident size so far, in MB; ru_maxrss would know that of the parent."""
    return of_process("status", "VmHWM") * 1024 / 1e6


def n_read():
    """Return how many MB this process has read."""
    return of_process("io", "rchar") / 1e6


def learned(path, run):
    """Learn from a file, and return what that took; of a process that has done nothing else."""
    ranks, n_replicates = RUNS[run]
    rng = np.random.default_rng(0)
    ConsensusNMF([3], n_replicates=2, random_state=0).fit(rng.random((60, 9)))  # imports, compiles
    before, already, start, wall = peak(), n_read(), time.process_time(), time.perf_counter()
    data = cells.read(path)
    genes = cells.overdispersed(data, GENES)
    chosen = n_read() - already
    model = ConsensusNMF(ranks, n_replicates=n_replicates, random_state=0)
    model.fit_stream(cells.batches(data, genes, batch_size=512))
    learning = {"peak_mb": peak(), "read_mb": n_read() - already - chosen}
    matched = align(programs()[:, genes.places] / genes.deviation, model.consensus(PROGRAMS).atoms)
    seconds = time.process_time() - start
    model_mb = len(pickle.dumps(model)) / 1e6
    return learning | {
        "run": run,
        "cells": data.n_obs,
        "file_mb": Path(path).stat().st_size / 1e6,
        "ranks": ranks,
        "replicates": n_replicates,
        "before_mb": before,
        "model_mb": model_mb,
        "beyond_mb": learning["peak_mb"] - before - model_mb,
        "genes_read_mb": chosen,
        "chosen": model.n_components_,
        "seconds": seconds,
        "wall_seconds": time.perf_counter() - wall,
        "worst_cosine": float(matched.similarity.min()),
        "stability": model.consensus(PROGRAMS).share.tolist(),
    }


def main(path):
    """Make all runs, each in a process of its own, and write their figures."""
    if not Path(path).exists():
        make(path)
    found = []
    for run in RUNS:
        command = [sys.executable, __file__, str(path), run]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(json.loads(answer.stdout))
        print(found[-1], flush=True)
    save("million-cells", found)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(learned(*sys.argv[1:])))
    else:
        main(sys.argv[1])
