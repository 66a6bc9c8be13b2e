"""Atoms that data sets share and atoms of each alone, beside integrative factorization in batch.

``judged/shared_atoms.py`` writes ``results/shared-atoms-planted.json`` and
``results/shared-atoms-cells.json``.

Rivals are written here and run to their ends (a sweep gains less than 1e-7); the best of
``STARTS`` starts counts:

- *batch, the same problem*: what `BatchNMF` minimises, by sweeps over all codes and atoms in turn.
  The ratio of our objective to it is asked to be at most 1.02.
- *iNMF* (Yang, Michailidis 2016): sum over data sets of |X - H (W + V)|^2 + lambda |H V|^2, with
  as many codes per row as ours. It has n_shared + n_own deviations of each data set where ours has
  n_own atoms, so more numbers to learn with. Its objective is another one: what is compared is the
  error, on the rows learned from and on rows held out (codes found with atoms fixed).

The cells are sorted ones; two batches are made of them: in the second each gene has a log-normal
factor of .5, counts have half the depth, and one kind is left out. *Kinds*: silhouette of the
kinds, by cosine. *Mixed*: of the 30 nearest cells the share from the other batch, over that which
chance gives, among kinds that are in both. Ours and the plain factorization take counts of cells
under Kullback-Leibler, as they are and with each gene of each batch over its mean there; iNMF takes
them over the mean, or over the root mean square as its software does; principal components take
logarithms, and standardised within each batch where that is said.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import time
import warnings

import numpy as np
import scipy.sparse as sp
from benchmark_records import DATA, save
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from sklearn.neighbors import NearestNeighbors

from atomstream import BatchNMF, OnlineNMF

STARTS, MOST_SWEEPS, GAIN = 2, 2000, 1e-7
SEEDS = (1, 2, 3)  # of the batches; the numbers of atoms were chosen on those of seed 0
LAMBDAS = (1.0, 5.0)  # the last is the default of the software for cells
GENES, SHARED, OWN = 1000, 14, 2


def codes_of(X, atoms, extra=0.0, H=None, sweeps=1):
    """Sweep over nonnegative codes; ``extra`` is added to the Gram matrix of the atoms."""
    gram, products = atoms @ atoms.T + extra, X @ atoms.T
    H = np.full((len(X), len(atoms)), 0.1) if H is None else H
    for _ in range(sweeps):
        for k in range(len(atoms)):
            if gram[k, k] > 0:
                H[:, k] = np.maximum(H[:, k] + (products[:, k] - H @ gram[k]) / gram[k, k], 0)
    return H


def integrated(parts, rank, weight, rng):
    """Return W, each V and the objective of iNMF after sweeps over all blocks, from one start."""
    d = parts[0].shape[1]
    W = rng.random((rank, d)) * np.sqrt(np.mean([X.mean() for X in parts]) / rank)
    V = [0.1 * W * rng.random(W.shape) for _ in parts]
    H, before = [None] * len(parts), np.inf
    for _ in range(MOST_SWEEPS):
        grams, crosses, value = [], [], 0.0
        for g, X in enumerate(parts):
            H[g] = codes_of(X, W + V[g], weight * V[g] @ V[g].T, H[g])
            grams.append(H[g].T @ H[g])
            crosses.append(H[g].T @ X)
        for k in range(rank):
            for g, A in enumerate(grams):
                if A[k, k] > 0:
                    slope = crosses[g][k] - A[k] @ (W + V[g]) - weight * A[k] @ V[g]
                    V[g][k] = np.maximum(V[g][k] + slope / ((1 + weight) * A[k, k]), 0)
            total = sum(A[k, k] for A in grams)
            slope = sum(crosses[g][k] - A[k] @ (W + V[g]) for g, A in enumerate(grams))
            W[k] = np.maximum(W[k] + slope / max(total, 1e-300), 0)
        for g, X in enumerate(parts):
            value += (X**2).sum() - 2 * (crosses[g] * (W + V[g])).sum()
            value += (grams[g] * ((W + V[g]) @ (W + V[g]).T + weight * V[g] @ V[g].T)).sum()
        if before - value <= GAIN * value:
            break
        before = value
    return value, W, V


def masked(parts, n_shared, n_own, rng):
    """Return shared and own atoms and the objective of our problem, by the same sweeps in batch."""
    d, scale = parts[0].shape[1], np.sqrt(np.mean([X.mean() for X in parts]))
    W = scale * rng.random((n_shared, d))
    V = [scale * rng.random((n_own, d)) for _ in parts]
    H, before = [None] * len(parts), np.inf
    for _ in range(MOST_SWEEPS):
        H = [codes_of(X, np.vstack([W, V[g]]), H=H[g]) for g, X in enumerate(parts)]
        grams, crosses = [h.T @ h for h in H], [h.T @ X for h, X in zip(H, parts, strict=True)]
        for k in range(n_shared):
            total = sum(A[k, k] for A in grams)
            slope = sum(crosses[g][k] - A[k] @ np.vstack([W, V[g]]) for g, A in enumerate(grams))
            W[k] = np.maximum(W[k] + slope / max(total, 1e-300), 0)
        for g, A in enumerate(grams):
            for k in range(n_shared, n_shared + n_own):
                slope = crosses[g][k] - A[k] @ np.vstack([W, V[g]])
                V[g][k - n_shared] = np.maximum(
                    V[g][k - n_shared] + slope / max(A[k, k], 1e-300), 0
                )
        value = 0.0
        for g, X in enumerate(parts):
            D = np.vstack([W, V[g]])
            value += (X**2).sum() - 2 * (crosses[g] * D).sum() + (grams[g] * (D @ D.T)).sum()
        if before - value <= GAIN * value:
            break
        before = value
    return value, W, V


def best(method, *arguments):
    """Return the best of several starts, and process seconds of all."""
    began = time.process_time()
    found = [method(*arguments, np.random.default_rng(seed)) for seed in range(STARTS)]
    return min(found, key=lambda each: each[0]), time.process_time() - began


def share_left(X, atoms, extra=0.0):
    """Return the share of the sum of squares that is left at optimal codes."""
    H = codes_of(X, atoms, extra, sweeps=300)
    return float(((X - H @ atoms) ** 2).sum() / (X**2).sum())


def errors(parts, dictionaries, extras=None):
    """Return the share that is left in each data set, averaged."""
    extras = extras or [0.0] * len(parts)
    return float(
        np.mean([share_left(*each) for each in zip(parts, dictionaries, extras, strict=True)])
    )


def ours(parts, n_shared, n_own, seed=0):
    """Return the model learned from data sets in a random order of the rows."""
    names = np.repeat(np.arange(len(parts)), [len(X) for X in parts])
    return BatchNMF(n_shared, n_own, random_state=seed).fit(np.concatenate(parts), batch=names)


def errors_of_all(parts, others, n_shared, n_own):
    """Return errors on rows learned from and held out, the ratio of objectives, and seconds."""
    rank, found = n_shared + n_own, {}
    for weight in LAMBDAS:
        (_, W, V), seconds = best(integrated, parts, rank, weight)
        atoms, extras = [W + v for v in V], [weight * v @ v.T for v in V]
        both = errors(parts, atoms, extras), errors(others, atoms, extras)
        found[f"iNMF, lambda {weight:g}"] = {
            "learned": both[0],
            "held out": both[1],
            "seconds": seconds,
        }
    (value, W, V), seconds = best(masked, parts, n_shared, n_own)
    atoms = [np.vstack([W, v]) for v in V]
    found["batch, the same problem"] = {
        "learned": errors(parts, atoms),
        "held out": errors(others, atoms),
        "seconds": seconds,
    }
    began, runs = time.process_time(), [ours(parts, n_shared, n_own, seed) for seed in range(3)]
    seconds = (time.process_time() - began) / len(runs)
    names = np.repeat(np.arange(len(parts)), [len(X) for X in parts])
    rows = np.concatenate(parts)
    ratios = [-2 * len(rows) * model.score(rows, batch=names) / value for model in runs]
    model = runs[0]
    atoms = [np.vstack([model.shared_components_, own]) for own in model.own_components_.values()]
    found["ours"] = {
        "learned": errors(parts, atoms),
        "held out": errors(others, atoms),
        "seconds": seconds,
        "objective over batch": ratios,
    }
    plain = OnlineNMF(rank, random_state=0).fit(rows)
    atoms = [plain.components_] * len(parts)
    found["plain, as many codes"] = {
        "learned": errors(parts, atoms),
        "held out": errors(others, atoms),
    }
    return found


def planted(seed, n_own=2, noise=0.05, n_rows=1600):
    """Return two data sets that share four atoms and have some of their own, and these atoms."""
    rng = np.random.default_rng(seed)
    atoms = [rng.gamma(0.3, 1, (size, 40)) for size in (4, n_own, n_own)]
    shared, *own = (each / np.linalg.norm(each, axis=1)[:, None] for each in atoms)
    parts = []
    for each in own:
        D = np.vstack([shared, each])
        shape = (n_rows, len(D))
        X = (rng.exponential(1, shape) * (rng.random(shape) < 0.6)) @ D
        parts.append(np.maximum(X + noise * X.mean() * rng.standard_normal(X.shape), 0))
    return parts, shared, own


def least_cosine(found, planted):
    """Return the cosine of the worst found of the planted atoms."""
    units = [rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (planted, found)]
    return float((units[0] @ units[1].T).max(axis=1).min())


def planted_figures():
    """Return cosines of planted atoms over ten seeds, and what own atoms take where none are."""
    found = {}
    for noise in (0.05, 0.5):
        cosines, taken = [], []
        for seed in range(10):
            parts, shared, own = planted(seed, noise=noise)
            model = ours(parts, 4, 2, seed)
            pairs = [
                (model.shared_components_, shared),
                *zip(model.own_components_.values(), own, strict=True),
            ]
            cosines.append(min(least_cosine(*pair) for pair in pairs))
            taken.append(
                float(2 * ours(planted(seed, 0, noise)[0], 4, 1, seed).importance_[4:].max())
            )
        found[f"noise {noise}"] = {
            "cosines": cosines,
            "share of an own atom that nothing needs": taken,
        }
    return found


def two_batches(seed=0):
    """Return counts over their sum of cells of two batches, their kinds and batches."""
    stored = np.load(DATA / "blood_cells" / "pbmc_facs_counts.npz", allow_pickle=True)
    counts = sp.csr_matrix(
        (stored["data"], stored["indices"], stored["indptr"]), shape=stored["shape"]
    )
    kinds, rng = stored["celltype"], np.random.default_rng(seed)
    batch = rng.integers(0, 2, len(kinds))
    left_out = np.unique(kinds)[rng.integers(len(np.unique(kinds)))]
    keep = (batch == 0) | (kinds != left_out)
    counts, kinds, batch = counts[np.flatnonzero(keep)], kinds[keep], batch[keep]
    total, squares = counts.mean(axis=0).A1, counts.power(2).mean(axis=0).A1
    spread = np.where(total > 0.01, (squares - total**2) / np.maximum(total, 1e-12), 0)
    X = counts[:, np.sort(np.argsort(-spread)[:GENES])].toarray().astype(float)
    factor = np.exp(0.5 * rng.standard_normal(X.shape[1]))
    X[batch == 1] = rng.poisson(0.5 * factor * X[batch == 1])
    depth = np.maximum(X.sum(axis=1, keepdims=True), 1)
    return 1000 * X / depth, kinds, batch, str(left_out)


def judged(codes, kinds, batch):
    """Return the silhouette of the kinds, and how well batches are mixed."""
    codes = codes / np.maximum(np.linalg.norm(codes, axis=1, keepdims=True), 1e-12)
    both = [kind for kind in np.unique(kinds) if len(np.unique(batch[kinds == kind])) == 2]
    rows = np.isin(kinds, both)
    near = (
        NearestNeighbors(n_neighbors=31).fit(codes[rows]).kneighbors(return_distance=True)[1][:, 1:]
    )
    other = (batch[rows][near] != batch[rows][:, None]).mean(axis=1)
    # Chance: the share of the other batch within the kind, for a perfect embedding.
    expected = np.array(
        [
            np.mean(batch[kinds == kind] != own)
            for kind, own in zip(kinds[rows], batch[rows], strict=True)
        ]
    )
    return {
        "kinds": float(silhouette_score(codes, kinds, metric="cosine")),
        "mixed": float(other.mean() / expected.mean()),
    }


def by_batch(X, batch, how):
    """Return features of each batch over their mean, or root mean square, times that of all."""
    out = np.empty_like(X)
    for each in np.unique(batch):
        own, all_rows = how(X[batch == each]), how(X)
        out[batch == each] = X[batch == each] * np.where(
            own > 0, all_rows / np.maximum(own, 1e-12), 0
        )
    return out


def centred(X, batch):
    """Return standardised features of each batch."""
    out = np.empty_like(X)
    for each in np.unique(batch):
        rows = X[batch == each]
        out[batch == each] = (rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-9)
    return out


def mean(rows):
    """Return the mean of each feature."""
    return rows.mean(axis=0)


def size(rows):
    """Return the root mean square of each feature."""
    return np.sqrt((rows**2).mean(axis=0))


def embeddings(counts, batch):
    """Yield the name and the codes of each method."""
    rank, log = SHARED + OWN, np.log1p(counts)
    principal = PCA(rank, random_state=0)
    yield "principal components, centred by batch", principal.fit_transform(centred(log, batch))
    yield "principal components", principal.fit_transform(log)
    scaled = by_batch(counts, batch, size) / np.maximum(size(counts), 1e-9)
    for how, rows in (("size by batch", scaled), ("mean by batch", by_batch(counts, batch, mean))):
        parts = [rows[batch == each] for each in (0, 1)]
        for weight in LAMBDAS:
            (_, W, V), _ = best(integrated, parts, rank, weight)
            H = np.empty((len(rows), rank))
            for g, part in enumerate(parts):
                H[batch == g] = codes_of(part, W + V[g], weight * V[g] @ V[g].T, sweeps=300)
            yield f"iNMF, lambda {weight:g}, {how}", H * W.sum(axis=1)
    for how, rows in (("raw", counts), ("mean by batch", by_batch(counts, batch, mean))):
        X = 1000 * rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-9)
        plain = OnlineNMF(rank, loss="kl", random_state=0).fit(X)
        yield f"plain, {how}", plain.transform(X)
        model = BatchNMF(SHARED, OWN, loss="kl", random_state=0).fit(X, batch=batch)
        yield f"shared codes of ours, {how}", model.transform(X, batch=batch)[:, :SHARED]


def main():
    """Compare on planted atoms and on cells, and leave the records."""
    warnings.simplefilter("ignore")
    parts, *_ = planted(0)
    halves = [X[:800] for X in parts], [X[800:] for X in parts]
    found = {"atoms": planted_figures(), "errors": errors_of_all(*halves, 4, 2)}
    print(found, flush=True)
    save("shared-atoms-planted", found)
    found = {"seeds": {}}
    for seed in SEEDS:
        X, kinds, batch, left_out = two_batches(seed)
        figures = {name: judged(codes, kinds, batch) for name, codes in embeddings(X, batch)}
        found["seeds"][str(seed)] = {"left out": left_out, "methods": figures}
        print(seed, found["seeds"][str(seed)], flush=True)
    rows = by_batch(X, batch, size) / np.maximum(size(X), 1e-9)
    half = np.random.default_rng(0).random(len(rows)) < 0.5
    split = [[rows[(batch == each) & part] for each in (0, 1)] for part in (half, ~half)]
    found["errors"] = errors_of_all(*split, SHARED, OWN)
    print(found["errors"], flush=True)
    save("shared-atoms-cells", found)


if __name__ == "__main__":
    main()
