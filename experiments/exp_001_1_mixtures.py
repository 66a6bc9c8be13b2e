"""Experiments 001-1 and 001-8: atoms and representatives on Gaussian mixtures (figure 3).

Agarwal, Peng and Milenkovic (2019): mixtures of five Gaussians cut off at 3 sigma, means from U[0,
20]^50, covariance I (well separated) or 2.5 I (overlapping), 2,500 samples, 150 representatives,
lambda = 0.2 / sqrt(50), one pass. A cluster is covered if an atom lies no further from its mean
than the cluster's own samples; a representative is inside its own cluster if its label is that of
most representatives of its atom. Atoms of online MF are in the unit ball: they are stretched to the
mean norm of the samples before they are judged or drawn.

Leaves ``results/001-1.png`` and ``results/001-1.json``.
"""

from __future__ import annotations

import numpy as np
from convex_baselines import (
    METHODS,
    N_REPRESENTATIVES,
    accuracies,
    learn,
    mixture,
    strength,
)
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from sklearn.manifold import TSNE

N_SAMPLES, N_FEATURES, N_CLUSTERS, N_SEEDS = 2500, 50, 5, 20
VARIANCES = {"well separated": 1.0, "overlapping": 2.5}
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


def trial(name: str, variance: float, seed: int) -> dict:
    """Return what one method reaches on one mixture, and what to draw of it."""
    X, labels, means = mixture(N_SAMPLES, variance, seed, N_FEATURES, N_CLUSTERS)
    alpha = strength(N_FEATURES)
    atoms, weights, model = learn(name, X, N_CLUSTERS, alpha, seed)
    told = {"accuracy": accuracies(X, labels, atoms, alpha)}
    shown = {"atoms": atoms if weights is not None else stretched(atoms, X)}
    told["covered"] = n_covered(shown["atoms"], X, labels, means)
    if weights is not None:
        shown["rows"], shown["of"] = kept(name, weights, model)
        told["inside"] = inside(shown["rows"], shown["of"], labels)
    return {"told": told, "shown": shown}


def table(trials: list[dict]) -> dict:
    """Return the summary over seeds of one method."""
    told = [trial["told"] for trial in trials]
    found = {
        "seeds with all clusters covered": sum(t["covered"] == N_CLUSTERS for t in told),
        "clusters covered": float(np.mean([t["covered"] for t in told])),
        "accuracy": {
            way: float(np.mean([t["accuracy"][way] for t in told])) for way in told[0]["accuracy"]
        },
        "lowest accuracy": {
            way: float(min(t["accuracy"][way] for t in told)) for way in told[0]["accuracy"]
        },
    }
    if "inside" in told[0]:
        found["representatives in their cluster"] = float(np.mean([t["inside"] for t in told]))
        found["seeds with all representatives in it"] = sum(t["inside"] == 1 for t in told)
    return found


def draw(grid: np.ndarray, variance: float, shown: dict[str, dict]) -> None:
    """Draw one embedding of the samples and all atoms, per method its atoms and representatives."""
    X, labels, _ = mixture(N_SAMPLES, variance, 0, N_FEATURES, N_CLUSTERS)
    everything = np.concatenate([X, *(part["atoms"] for part in shown.values())])
    places = TSNE(random_state=0, n_jobs=1).fit_transform(everything)
    for turn, (axes, (name, part)) in enumerate(zip(grid, shown.items(), strict=True)):
        panel(axes, places[:N_SAMPLES], labels, part)
        atoms = places[N_SAMPLES + turn * N_CLUSTERS :][:N_CLUSTERS]
        axes.scatter(
            *atoms.T, marker="D", s=42, c=COLOURS, edgecolors="k", linewidths=1.2, zorder=3
        )
        axes.set(xticks=[], yticks=[], title=name)


def panel(axes: Axes, places: np.ndarray, labels: np.ndarray, part: dict) -> None:
    """Draw samples in pale colours of their clusters, representatives as crosses."""
    axes.scatter(
        *places.T, s=3, alpha=0.25, c=np.array([f"{0.35 + 0.12 * j:.2f}" for j in range(5)])[labels]
    )
    if "rows" in part:
        colours = np.array(COLOURS)[part["of"]]
        axes.scatter(*places[part["rows"]].T, marker="x", s=14, linewidths=0.8, c=colours)


def main() -> None:
    """Try all methods on all mixtures, draw the first ones, write the table."""
    told: dict[str, dict] = {}
    figure = Figure(figsize=(12, 6.2), layout="constrained")
    grid = figure.subplots(len(VARIANCES), len(METHODS))
    for row, (kind, variance) in enumerate(VARIANCES.items()):
        told[kind], shown = {}, {}
        for name in METHODS:
            trials = [trial(name, variance, seed) for seed in range(N_SEEDS)]
            told[kind][name], shown[name] = table(trials), trials[0]["shown"]
            print(kind, name, told[kind][name], flush=True)
        draw(grid[row], variance, shown)
        grid[row, 0].set_ylabel(kind)
    save_figure(figure, "001-1", 75)
    save("001-1", told)


if __name__ == "__main__":
    main()
