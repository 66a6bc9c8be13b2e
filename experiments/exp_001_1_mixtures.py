"""Experiments 001-1 and 001-8: atoms and representatives on Gaussian mixtures (figure 3).

Agarwal, Peng and Milenkovic (2019): mixtures of five Gaussians cut off at 3 sigma, means from U[0,
20]^m, covariance I (well separated) or 2.5 I (overlapping), 2,500 samples, 150 representatives,
lambda = 0.2 / sqrt(m), one pass. The paper does not give m. In 50 dimensions nothing overlaps,
whatever the covariance; so 2, 3 and 5 dimensions are here too. A cluster is covered if an atom lies
no further from its mean than the cluster's own samples; a representative is inside its own cluster
if its label is that of most representatives of its atom. Atoms of online MF are in the unit ball:
they are stretched to the mean norm of the samples before they are judged or drawn. The simple rival
is k-means on the samples, ten starts.

How often a row takes the place of a representative is counted, and the slope of the surrogate at
the end is measured: the norm of A D - B over that of B. Where the slope is zero the atoms are as
good as without hulls, and no row can improve them.

Leaves ``results/001-1.png`` and ``results/001-1.json``.
"""

from __future__ import annotations

import numpy as np
from convex_baselines import (
    METHODS,
    N_REPRESENTATIVES,
    accuracies,
    accuracy,
    learn,
    mixture,
    strength,
)
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from atomstream import OnlineConvexMF

N_SAMPLES, N_CLUSTERS, N_SEEDS, N_BATCH_SEEDS = 2500, 5, 20, 2
MIXTURES = [(50, 1.0), (50, 2.5), (2, 2.5), (3, 2.5), (5, 2.5)]  # dimensions, variance
FEWER = 15  # representatives, where 150 are never exchanged
ONLINE = ("online R_u", "online R_r")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")


def stretched(atoms: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return atoms that point where the samples are, at the samples' mean norm."""
    signs = np.sign(atoms @ X.mean(axis=0))[:, None]
    return (
        signs
        * atoms
        * np.linalg.norm(X, axis=1).mean()
        / np.linalg.norm(atoms, axis=1, keepdims=True)
    )


def n_covered(atoms: np.ndarray, X: np.ndarray, labels: np.ndarray, means: np.ndarray) -> int:
    """Return how many clusters have an atom as near to their mean as their samples are."""
    reach = [np.linalg.norm(X[labels == j] - mean, axis=1).max() for j, mean in enumerate(means)]
    distances = np.linalg.norm(atoms[:, None] - means, axis=2).min(axis=0)
    return int((distances <= reach).sum())


def kept(name: str, weights: np.ndarray, model: object) -> tuple[np.ndarray, np.ndarray]:
    """Return which samples stand for which atom: the heaviest ones where all of them do."""
    if model is None:
        heaviest = np.argsort(-weights.max(axis=0))[:N_REPRESENTATIVES]
        return heaviest, weights[:, heaviest].argmax(axis=0)
    own = model.representatives_
    return np.concatenate([part.ids for part in own]), np.repeat(
        np.arange(len(own)), [len(part.ids) for part in own]
    )


def inside(rows: np.ndarray, atom: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of representatives whose label is that of most of their atom's."""
    right = [np.bincount(labels[rows[atom == j]]).max() for j in np.unique(atom)]
    return float(sum(right)) / len(rows)


def slope(model: OnlineConvexMF) -> float:
    """Return the relative slope of the surrogate at the atoms."""
    gram, cross = model.memory_.gram, model.memory_.cross
    return float(np.linalg.norm(gram @ model.components_ - cross) / np.linalg.norm(cross))


def trial(
    name: str,
    n_features: int,
    variance: float,
    seed: int,
    n_kept: int,
    shares: tuple[float, ...] | None = None,
) -> dict:
    """Return what one method reaches on one mixture, and what to draw of it."""
    X, labels, means = mixture(N_SAMPLES, variance, seed, n_features, N_CLUSTERS, shares)
    alpha, settings = strength(n_features), {}
    if name in ONLINE:
        settings["n_representatives"] = n_kept
    atoms, weights, model = learn(name, X, N_CLUSTERS, alpha, seed, **settings)
    told = {"accuracy": accuracies(X, labels, atoms, alpha)}
    shown = {"atoms": atoms if weights is not None else stretched(atoms, X)}
    told["covered"] = n_covered(shown["atoms"], X, labels, means)
    if weights is not None:
        shown["rows"], shown["of"] = kept(name, weights, model)
        told["inside"] = inside(shown["rows"], shown["of"], labels)
    if name in ONLINE:
        told |= {"swaps": model.n_swaps_, "slope": slope(model)}
    return {"told": told, "shown": shown}


def rival(n_features: int, variance: float) -> dict:
    """Return the summary over seeds of k-means."""
    told = []
    for seed in range(N_SEEDS):
        X, labels, means = mixture(N_SAMPLES, variance, seed, n_features, N_CLUSTERS)
        model = KMeans(N_CLUSTERS, n_init=10, random_state=seed).fit(X)
        right = {"nearest atom": accuracy(labels, model.labels_)}
        covered = n_covered(model.cluster_centers_, X, labels, means)
        told.append({"told": {"covered": covered, "accuracy": right}})
    return table(told)


def table(trials: list[dict]) -> dict:
    """Return the summary over seeds of one method."""
    told = [trial["told"] for trial in trials]
    found = {
        "seeds": len(told),
        "seeds with all clusters covered": sum(t["covered"] == N_CLUSTERS for t in told),
        "accuracy": {
            way: float(np.mean([t["accuracy"][way] for t in told])) for way in told[0]["accuracy"]
        },
    }
    if "inside" in told[0]:
        found["representatives in their cluster"] = float(np.mean([t["inside"] for t in told]))
    if "swaps" in told[0]:
        found["swaps"] = float(np.mean([t["swaps"] for t in told]))
        found["largest slope"] = max(t["slope"] for t in told)
    return found


def draw(grid: np.ndarray, n_features: int, variance: float, shown: dict[str, dict]) -> None:
    """Draw samples by two coordinates, per method with its atoms and representatives."""
    X, labels, _ = mixture(N_SAMPLES, variance, 0, n_features, N_CLUSTERS)
    plane = PCA(2).fit(X)
    places = plane.transform(X)
    for axes, part in zip(grid, shown.values(), strict=True):
        panel(axes, places, labels, part)
        atoms = plane.transform(part["atoms"])
        axes.scatter(
            *atoms.T, marker="D", s=42, c=COLOURS, edgecolors="k", linewidths=1.2, zorder=3
        )
        axes.set(xticks=[], yticks=[])


def panel(axes: Axes, places: np.ndarray, labels: np.ndarray, part: dict) -> None:
    """Draw samples in greys of their clusters, representatives as crosses."""
    greys = np.array([f"{0.35 + 0.12 * j:.2f}" for j in range(N_CLUSTERS)])
    axes.scatter(*places.T, s=3, alpha=0.35, c=greys[labels])
    if "rows" in part:
        colours = np.array(COLOURS)[part["of"]]
        axes.scatter(*places[part["rows"]].T, marker="x", s=14, linewidths=0.8, c=colours)


def main() -> None:
    """Try all methods on all mixtures, draw the first ones, write the table."""
    told: dict[str, dict] = {}
    figure = Figure(figsize=(13, 13), layout="constrained")
    drawn = [(m, variance) for m, variance in MIXTURES if (m, variance) != (50, 2.5)]
    grid = dict(zip(drawn, figure.subplots(len(drawn), len(METHODS)), strict=True))
    for mix in MIXTURES:
        kind = f"m = {mix[0]}, variance {mix[1]:g}"
        told[kind], shown = {"k-means": rival(*mix)}, {}
        for name in METHODS:
            seeds = N_BATCH_SEEDS if name == "cvxMF" else N_SEEDS
            trials = [trial(name, *mix, seed, N_REPRESENTATIVES) for seed in range(seeds)]
            told[kind][name], shown[name] = table(trials), trials[0]["shown"]
            if name in ONLINE and mix[0] < 50:
                few = [trial(name, *mix, seed, FEWER)["told"]["swaps"] for seed in range(seeds)]
                told[kind][name]["swaps with 15 representatives"] = float(np.mean(few))
            print(kind, name, told[kind][name], flush=True)
        if mix in grid:
            draw(grid[mix], *mix, shown)
            grid[mix][0].set_ylabel(kind)
            for axes, name in zip(grid[mix], METHODS, strict=True):
                swaps = f", {told[kind][name]['swaps']:.0f} swaps" if name in ONLINE else ""
                axes.set_title(name + swaps)
    save_figure(figure, "001-1", 75)
    save("001-1", told)


if __name__ == "__main__":
    main()
