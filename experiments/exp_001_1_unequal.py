"""Experiment 001-1, unequal: atoms and clusters where some clusters are much smaller than others.

The mixtures of `exp_001_1_mixtures` have five clusters of one size. Here they have 40, 30, 15, 10
and 5 % of 2,500 samples, in 2 dimensions (variance 2.5) and in 10 (variance 9). Ten seeds of R_r,
R_u and online MF with 150 representatives; the simple rivals are k-means on the samples (ten
starts), and the means that the samples were drawn around, which bound every rule of the nearest
point up to chance. Accuracy of the best pairing of groups and clusters, and the share of the seeds
in which every cluster has an atom as near to its mean as its own samples are. Leaves
``results/001-1-unequal.png`` and ``results/001-1-unequal.json``.
"""

from __future__ import annotations

import numpy as np
from convex_baselines import METHODS, N_REPRESENTATIVES, accuracy, mixture, nearest
from exp_001_1_mixtures import COLOURS, N_CLUSTERS, N_SAMPLES, n_covered, table, trial
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

SHARES, N_SEEDS = (0.4, 0.3, 0.15, 0.1, 0.05), 10
MIXTURES = [(2, 2.5), (10, 9.0)]  # dimensions, variance


def drawn(n_features: int, variance: float, seed: int) -> tuple[np.ndarray, ...]:
    """Return samples, labels and means of a mixture."""
    return mixture(N_SAMPLES, variance, seed, n_features, N_CLUSTERS, SHARES)


def rivals(n_features: int, variance: float) -> dict[str, float]:
    """Return what k-means and the true means reach, on average over the seeds."""
    found = []
    for seed in range(N_SEEDS):
        X, labels, means = drawn(n_features, variance, seed)
        model = KMeans(N_CLUSTERS, n_init=10, random_state=seed).fit(X)
        covered = n_covered(model.cluster_centers_, X, labels, means) == N_CLUSTERS
        near = accuracy(labels, nearest(X, means))
        found.append((accuracy(labels, model.labels_), covered, near))
    names = ("k-means", "k-means, all covered", "nearest true mean")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


def main() -> None:
    """Try all methods on both mixtures, draw the first seed, write the table."""
    numbers: dict = {"shares": SHARES, "seeds": N_SEEDS, "mixtures": {}}
    figure = Figure(figsize=(11, 7), layout="constrained")
    for row, mix in zip(figure.subplots(len(MIXTURES), 3), MIXTURES, strict=True):
        kind = f"m = {mix[0]}, variance {mix[1]:g}"
        numbers["mixtures"][kind] = rivals(*mix)
        X, labels, _ = drawn(*mix, 0)
        plane = PCA(2).fit(X)
        for axes, name in zip(row, METHODS[1:], strict=True):
            runs = [trial(name, *mix, seed, N_REPRESENTATIVES, SHARES) for seed in range(N_SEEDS)]
            numbers["mixtures"][kind][name] = table(runs)
            print(kind, name, numbers["mixtures"][kind][name], flush=True)
            axes.scatter(*plane.transform(X).T, s=3, alpha=0.4, c=np.array(COLOURS)[labels])
            atoms = plane.transform(runs[0]["shown"]["atoms"])
            axes.scatter(*atoms.T, marker="D", s=45, c="k", edgecolors="w")
            axes.set(xticks=[], yticks=[], title=name)
        row[0].set_ylabel(kind)
    save_figure(figure, "001-1-unequal", 75)
    save("001-1-unequal", numbers)


if __name__ == "__main__":
    main()
