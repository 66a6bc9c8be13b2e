"""Experiment 001-5: sorted blood cells, clusters and representatives by type (figure 6).

2,800 cells of ten sorted kinds (Zheng et al. 2017), counts scaled to 10,000 per cell, log(1 + x),
the 1,000 genes of largest variance, centred or not at all: rows stay sparse. Ten atoms, 150
representatives, lambda = 0.2 / sqrt(m). Accuracy is told against the ten kinds, and against the
five groups that the sorted kinds make (six kinds of T cells are one group and hard to tell apart).
A representative is inside its cluster if its kind is that of most of its atom's.

Leaves ``results/001-5.png`` and ``results/001-5.json``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from convex_baselines import METHODS, accuracies, learn, strength
from exp_001_1_mixtures import inside
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save

N_GENES, N_SEEDS = 1000, 5


def cells() -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Return expressions, kinds and groups of the cells."""
    stored = np.load(DATA / "blood_cells" / "pbmc_facs_counts.npz")
    X = sp.csr_array(
        (stored["data"], stored["indices"], stored["indptr"]),
        shape=tuple(stored["shape"]),
        dtype=float,
    )
    X = sp.csr_array(sp.diags_array(1e4 / X.sum(axis=1)) @ X).log1p()
    spread = np.asarray((X * X).mean(axis=0)) - np.asarray(X.mean(axis=0)) ** 2
    return X[:, np.sort(np.argsort(-spread)[:N_GENES])], stored["celltype"], stored["subpop"]


def trial(
    name: str, X: sp.csr_array, kinds: np.ndarray, groups: np.ndarray, seed: int
) -> tuple[dict, np.ndarray]:
    """Return what a method reaches with ten and with five atoms, and its representatives."""
    told, dense = {}, X.toarray()
    counts = np.zeros((0, 0))
    for truth, labels in (("kinds", kinds), ("groups", groups)):
        names, places = np.unique(labels, return_inverse=True)
        online = name.startswith("online")
        atoms, _, model = learn(name, X if online else dense, len(names), strength(N_GENES), seed)
        told[truth] = accuracies(dense, labels, atoms, strength(N_GENES))
        if hasattr(model, "representatives_"):
            rows = np.concatenate([part.ids for part in model.representatives_])
            of = np.repeat(
                np.arange(len(names)), [len(part.ids) for part in model.representatives_]
            )
            told[truth]["representatives inside"] = inside(rows, of, places)
            if truth == "kinds":
                counts = np.zeros((len(names), len(names)))
                np.add.at(counts, (of, places[rows]), 1)
    return told, counts


def draw(axes: Axes, counts: np.ndarray, names: np.ndarray) -> None:
    """Draw how many representatives of each atom are of which kind."""
    order = np.argsort(counts.argmax(axis=1), kind="stable")
    axes.imshow(counts[order], cmap="Blues")
    for i, j in np.argwhere(counts[order] > 0):
        told = counts[order][i, j]
        axes.text(
            j,
            i,
            f"{told:.0f}",
            ha="center",
            va="center",
            fontsize=7,
            color="w" if told > 15 else "k",
        )
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=8)
    axes.set(yticks=range(len(order)), ylabel="atom")


def main() -> None:
    """Learn with all methods, draw the representatives of two, write the numbers."""
    X, kinds, groups = cells()
    names, told = np.unique(kinds), {}
    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = dict(zip(("online R_u", "online R_r"), figure.subplots(1, 2), strict=True))
    for name in METHODS:
        trials = [
            trial(name, X, kinds, groups, seed) for seed in range(2 if name == "cvxMF" else N_SEEDS)
        ]
        told[name] = {
            truth: {
                way: float(np.mean([t[truth][way] for t, _ in trials]))
                for way in trials[0][0][truth]
            }
            for truth in ("kinds", "groups")
        }
        if name in axes:
            draw(axes[name], trials[0][1], names)
            axes[name].set_title(f"representatives, {name}")
        print(name, told[name], flush=True)
    save_figure(figure, "001-5", 80)
    save("001-5", told)


if __name__ == "__main__":
    main()
