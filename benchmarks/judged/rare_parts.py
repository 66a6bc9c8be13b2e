"""Rare parts: programs of few cells in a consensus, and the numbers of parts that rules choose.

``judged/rare_parts.py`` writes ``results/rare-parts-*.json``; names of parts run these
alone (``programs``, ``divergence``, ``genomes``).

*Programs.* Two sets of 50 runs of scikit-learn's NMF share the programs that have a partner in the
other set at a cosine of .95. What is asked is how near the consensus comes to each of them. Cells
are draws of 974 of the sorted ones (the first served to tune), the small set, simulated counts, and
simulated cells whose kinds are from 30 to 1 in a hundred; documents are a draw of the BBC's. The
same is asked under the Kullback-Leibler loss (*divergence*), where replicates are bootstraps unless
starts alone are asked for.

*Genomes.* Each has 96 kinds of mutations. A set draws its signatures from the COSMIC catalogue,
without artefacts of sequencing, so that no two have a cosine of .8. A signature is active in a
share of the genomes that is drawn for it, in amounts that are log-normal around its share of the
set; a genome has a log-normal number of mutations, and counts are Poisson, where noise is asked for
after a factor for each entry that is normal around 1. Shares are even, or as in the genomes of a
melanoma, where two signatures make nine tenths of all. In the sets called mixed each signature has
a presence of .05 to .9, by which three to eight are drawn for a genome, flat signatures (3, 5, 40)
come first in the odd seeds, and a genome has 500 to 50,000 mutations. A part is a hit where a
planted signature, matched one-to-one, has a cosine of at least .9. Seeds 0 and 1 served to tune.
"""

import csv
import sys
import time
from itertools import product

import numpy as np
import scipy.sparse as sp
from anndata import AnnData
from benchmark_records import DATA, save
from cells import peers, read
from consensus import counts

from atomstream import ConsensusNMF, align, cells

N_CELLS, RUNS, SHARED = 974, 50, 0.95
WAYS = (RUNS, None), (2 * RUNS, None), (2 * RUNS, True)  # replicates, and ``bootstrap``
# Of the catalogue, what COSMIC calls possible artefacts of sequencing.
ARTEFACTS = {27, 43, *range(45, 61), 95}
FLAT = ("SBS3", "SBS5", "SBS40")  # begin the names of signatures like many others
APART, HIT, PRECISE = 0.8, 0.9, 0.9  # cosines, and the share of hits that is asked for
MELANOMA = np.array([0.742, 0.147, *0.036 * 0.78 ** np.arange(13)])  # shares of 15 signatures
# Genomes, signatures, shares, median number of mutations, numbers that are tried.
SETS = {
    "melanoma, 107 genomes": (107, 15, MELANOMA, 20_000, range(2, 13)),
    "even, 200 genomes, 5": (200, 5, np.ones(5), 3_000, range(2, 9)),
    "even, 200 genomes, 10": (200, 10, np.ones(10), 3_000, range(5, 14)),
    "mixed, 200 genomes, 5": (200, 5, np.ones(5), 5_000, range(2, 9)),
    "mixed, 200 genomes, 10": (200, 10, np.ones(10), 5_000, range(5, 14)),
}
NOISES, SEEDS, N_REPLICATES = (0.0, 0.05), (2, 3), 20


def sorted_cells(seed):
    """Return a draw of the sorted cells, scaled, on 2,000 genes."""
    stored = np.load(DATA / "blood_cells" / "pbmc_facs_counts.npz")
    parts = (stored["data"], stored["indices"], stored["indptr"])
    rows = np.sort(np.random.default_rng(seed).permutation(stored["shape"][0])[:N_CELLS])
    data = AnnData(sp.csr_matrix(parts, shape=stored["shape"]).astype(np.float32)[rows])
    return sp.vstack(list(cells.batches(data, cells.overdispersed(data, 2000)))).toarray()


def programs():
    """Return how near consensuses come to the programs that runs of scikit-learn's share."""
    cases = [(f"sorted cells, draw {seed}", sorted_cells(seed), 8) for seed in range(3)]
    cases += [("small set", small_set(), 8), ("simulated counts", counts(900, 600, 12), 12)]
    cases += [("unequal kinds", unequal(1), 12), ("documents", documents(), 10)]
    return [compared(*case) for case in cases]


def divergence():
    """Return the same under the Kullback-Leibler loss, for two sets on which it takes minutes."""
    cases = ("small set", small_set(), 8), ("documents", documents(), 10)
    return [compared(*case, "kl", ((RUNS, False), (RUNS, True))) for case in cases]


def small_set():
    """Return the small set of cells, scaled, on 300 genes."""
    return read(DATA / "blood_cells" / "pbmc68k_reduced_counts.npz", 300)


def unequal(seed, n_cells=1200, n_genes=800, n_kinds=12):
    """Return counts of cells, columns scaled to a deviation of one, whose kinds get rare."""
    rng = np.random.default_rng([seed, 77])
    parts = rng.gamma(0.3, 1, (n_kinds, n_genes))
    parts /= parts.sum(axis=1, keepdims=True)
    shares = np.geomspace(0.3, 0.01, n_kinds)
    kind = rng.choice(n_kinds, n_cells, p=shares / shares.sum())
    usages = rng.gamma(0.3, 0.3, (n_cells, n_kinds)) * (rng.random((n_cells, n_kinds)) < 0.2)
    usages[np.arange(n_cells), kind] += rng.gamma(4, 0.25, n_cells)
    means = 2000 * (usages @ parts) / usages.sum(axis=1, keepdims=True)
    X = rng.poisson(means).astype(np.float32)
    return X / (X.std(axis=0) + 1e-9)


def documents(n_terms=1500, n_documents=1200):
    """Return a draw of documents, terms weighed by how few have them, of length one."""
    stored = np.load(DATA / "bbc_news" / "bbc_counts.npz", allow_pickle=True)
    parts = (stored["data"], stored["indices"], stored["indptr"])
    terms = sp.csc_array(parts, shape=stored["shape"]).T.tocsr().astype(np.float32)
    held = np.asarray((terms > 0).sum(axis=0)).ravel()
    most = np.argsort(-held)[:n_terms]
    X = terms[:, most].toarray() * np.log(terms.shape[0] / held[most])
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    return X[np.random.default_rng(0).permutation(len(X))[:n_documents]].astype(np.float32)


def compared(name, X, rank, loss="squared", ways=WAYS):
    """Return the figures of one set of cells, for numbers of replicates and ``bootstrap``."""
    one, _ = peers(X, loss, rank, range(RUNS))
    two, _ = peers(X, loss, rank, range(RUNS, 2 * RUNS))
    common = align(one.atoms, two.atoms).similarity >= SHARED
    found = {"cells": name, "shape": X.shape, "rank": rank, "shared": int(common.sum())}
    for n_replicates, bootstrap in ways:
        start = time.process_time()
        settings = {"loss": loss, "bootstrap": bootstrap, "random_state": 0}
        model = ConsensusNMF(rank, n_replicates=n_replicates, **settings).fit(X)
        near = align(one.atoms, model).similarity[common]
        kind = "bootstrap" if bootstrap else "starts"
        found[f"{kind}, {n_replicates}"] = {
            "cosines": np.sort(near).tolist(),
            "stability": float(model.stability_.mean()),
            "seconds": time.process_time() - start,
        }
    print(found, flush=True)
    return found


def catalogue():
    """Return the signatures that are no artefacts, (n_signatures, 96), and which are flat."""
    with (DATA / "signatures" / "COSMIC_v3.4_SBS_GRCh37.txt").open() as file:
        heads, *rows = csv.reader(file, delimiter="\t")
    known = np.array([row[1:] for row in rows], float).T
    numbers = [int("".join(filter(str.isdigit, head[3:6]))) for head in heads[1:]]
    kept = [number not in ARTEFACTS for number in numbers]
    flat = np.array([head.rstrip("abcd") in FLAT for head in heads[1:]])
    return known[kept], flat[kept]


def simulated(kind, noise, seed):
    """Return counts, (n_genomes, 96), and the signatures that were planted."""
    n_rows, n_parts, shares, median, _ = SETS[kind]
    rng = np.random.default_rng([seed, n_parts, n_rows])
    parts = np.zeros((0, 96))
    known, flat = catalogue()
    order = rng.permutation(len(known))
    if kind.startswith("mixed") and seed % 2:
        order = order[np.argsort(~flat[order], kind="stable")]
    for candidate in known[order]:
        others = parts / np.maximum(np.linalg.norm(parts, axis=1, keepdims=True), 1e-12)
        cosines = others @ candidate / np.linalg.norm(candidate)
        if len(parts) < n_parts and (cosines < APART).all():
            parts = np.vstack([parts, candidate])
    usages, totals = (mixed if kind.startswith("mixed") else presences)(rng, n_rows, shares)
    means = median * totals * usages @ parts
    means *= np.maximum(1 + noise * rng.standard_normal(means.shape), 0)
    return rng.poisson(means).astype(float), parts


def presences(rng, n_rows, shares):
    """Return usages of sum one, and numbers of mutations over their median."""
    active = rng.random((n_rows, len(shares))) < rng.uniform(0.2, 0.9, len(shares))
    active[:, shares > 0.1 * shares.sum()] |= len(set(shares)) > 1  # the large ones are in all
    usages = active * rng.lognormal(0, 0.7, active.shape) * shares
    usages /= np.maximum(usages.sum(axis=1, keepdims=True), 1e-12)
    return usages, rng.lognormal(0, 0.8, (n_rows, 1))


def mixed(rng, n_rows, shares):
    """Return the same where three to eight signatures are drawn for each genome."""
    presence = rng.uniform(0.05, 0.9, len(shares))
    order = np.argsort(-presence / rng.exponential(size=(n_rows, len(shares))), axis=1)
    active = np.argsort(order, axis=1) < rng.integers(3, 9, (n_rows, 1))
    usages = active * rng.lognormal(0, 0.7, active.shape)
    totals = np.clip(rng.lognormal(0, np.log(10) / 2, (n_rows, 1)), 0.1, 10)
    return usages / usages.sum(axis=1, keepdims=True), totals


def hits(model, rank, parts):
    """Return how many parts of a rank are planted signatures."""
    atoms = model.consensus(rank).atoms
    few, many = (atoms, parts) if rank < len(parts) else (parts, atoms)
    return int((align(few, many).similarity >= HIT).sum())


def judged(kind, noise, seed):
    """Return what both rules choose for one set of genomes, and the hits of all numbers."""
    X, parts = simulated(kind, noise, seed)
    start = time.process_time()
    model = ConsensusNMF(SETS[kind][-1], n_replicates=N_REPLICATES, loss="kl", random_state=seed)
    choice = model.fit(X[X.sum(axis=1) > 0]).choice_
    found = {int(rank): hits(model, int(rank), parts) for rank in choice.ranks}
    precise = [n for rank, n in found.items() if n >= PRECISE * rank]
    chosen = {"chosen": choice.rank, "by_error": choice.by_error}
    figures = {
        "set": kind,
        "noise": noise,
        "seed": seed,
        "planted": len(parts),
        **chosen,
        "hits": {name: found[rank] for name, rank in chosen.items()},
        "best": max(precise, default=0),  # hits of the best number whose parts are hits
        "weakest": choice.weakest.tolist(),
        "found": list(found.values()),
        "seconds": time.process_time() - start,
    }
    print(figures, flush=True)
    return figures


def genomes():
    """Return what both rules choose for all sets of genomes."""
    return [judged(*case) for case in product(SETS, NOISES, SEEDS)]


PARTS = {part.__name__: part for part in (programs, divergence, genomes)}


def main():
    """Run the parts named, or all, and write their figures."""
    for name in sys.argv[1:] or PARTS:
        began = time.perf_counter()
        save(f"rare-parts-{name}", PARTS[name](), seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
