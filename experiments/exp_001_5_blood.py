"""Experiment 001-5: sorted blood cells, clusters and representatives by type (figure 6).

2,800 cells of ten sorted kinds (Zheng et al. 2017), counts scaled to 10,000 per cell, log(1 + x),
the 1,000 genes of largest variance, centred or not at all: rows stay sparse. Ten atoms, 150
representatives, lambda = 0.2 / sqrt(m). Accuracy is told against the ten kinds, and against the
five groups that the sorted kinds make (six kinds of T cells are one group and hard to tell apart).
A representative is inside its cluster if its kind is that of most of its atom's. The simple rival
is k-means on the same rows, ten starts. The figure shows
an embedding of the cells (t-SNE of 30 principal components), coloured by kind and by atom.

Leaves ``results/001-5.png`` and ``results/001-5.json``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from convex_baselines import METHODS, accuracies, accuracy, learn, nearest, strength
from exp_001_1_mixtures import inside
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

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
) -> tuple[dict, dict]:
    """Return what a method reaches with ten and with five atoms, and what to draw of the ten."""
    told, shown, dense = {}, {}, X.toarray()
    for truth, labels in (("kinds", kinds), ("groups", groups)):
        names, places = np.unique(labels, return_inverse=True)
        online = name.startswith("online")
        atoms, _, model = learn(name, X if online else dense, len(names), strength(N_GENES), seed)
        told[truth] = accuracies(dense, labels, atoms, strength(N_GENES))
        if hasattr(model, "representatives_"):
            parts = [part.ids for part in model.representatives_]
            rows = np.concatenate(parts)
            of = np.repeat(np.arange(len(names)), [len(part) for part in parts])
            told[truth]["representatives inside"] = inside(rows, of, places)
            if truth == "kinds":
                shown = {"rows": rows, "of": of, "atom": nearest(dense, atoms)}
    return told, shown


def by_means(X: sp.csr_array, labels: np.ndarray) -> float:
    """Return the accuracy of k-means, the mean over seeds."""
    n, rows = len(np.unique(labels)), X.toarray()
    models = (KMeans(n, n_init=10, random_state=seed).fit(rows) for seed in range(N_SEEDS))
    return float(np.mean([accuracy(labels, model.labels_) for model in models]))


def embedded(X: sp.csr_array) -> np.ndarray:
    """Return places of the cells in the plane."""
    return TSNE(random_state=0, n_jobs=1).fit_transform(
        PCA(30, random_state=0).fit_transform(X.toarray())
    )


def matched(atom: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Return atoms renumbered: each by the kind that it is paired with."""
    table = np.zeros((atom.max() + 1, kinds.max() + 1))
    np.add.at(table, (atom, kinds), 1)
    rows, columns = linear_sum_assignment(-table)
    order = np.full(len(table), -1)
    order[rows] = columns
    return order


def draw(places: np.ndarray, kinds: np.ndarray, shown: dict[str, dict]) -> Figure:
    """Draw the embedding by kind, and per method by atom, and the kinds of representatives."""
    names, kind = np.unique(kinds, return_inverse=True)
    colours = np.array(colormaps["tab10"].colors)
    figure = Figure(figsize=(16, 10.6), layout="constrained")
    (plain, *clouds), (empty, *tables) = figure.subplots(2, 3, height_ratios=(1.15, 1))
    for number, name in enumerate(names):
        here = kind == number
        plain.scatter(*places[here].T, s=7, color=colours[number], label=name)
    plain.set_title("cells by kind")
    empty.legend(*plain.get_legend_handles_labels(), loc="center", markerscale=3, frameon=False)
    empty.axis("off")
    for cloud, table, (method, part) in zip(clouds, tables, shown.items(), strict=True):
        order = matched(part["atom"], kind)
        cloud.scatter(*places.T, s=7, alpha=0.3, c=colours[order[part["atom"]]])
        cloud.scatter(
            *places[part["rows"]].T,
            s=38,
            c=colours[order[part["of"]]],
            edgecolors="k",
            linewidths=0.9,
        )
        cloud.set_title(f"{method}: nearest atom, and representatives (ringed)")
        counts = np.zeros((len(names), len(names)))
        np.add.at(counts, (order[part["of"]], kind[part["rows"]]), 1)
        draw_counts(table, counts, names)
        table.set_title(f"{method}: representatives")
    for axes in (plain, *clouds):
        axes.set(xticks=[], yticks=[])
    return figure


def draw_counts(axes: Axes, counts: np.ndarray, names: np.ndarray) -> None:
    """Draw how many representatives of each atom are of which kind."""
    axes.imshow(counts, cmap="Blues")
    for i, j in np.argwhere(counts > 0):
        colour = "w" if counts[i, j] > 15 else "k"
        axes.text(j, i, f"{counts[i, j]:.0f}", ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=8)
    axes.set(yticks=range(len(counts)), ylabel="atom, in the order of the kinds")


def main() -> None:
    """Learn with all methods, draw the representatives of two, write the numbers."""
    X, kinds, groups = cells()
    told, shown = {}, {}
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
        if trials[0][1]:
            shown[name] = trials[0][1]
        print(name, told[name], flush=True)
    told["k-means"] = {"kinds": by_means(X, kinds), "groups": by_means(X, groups)}
    save_figure(draw(embedded(X), kinds, shown), "001-5", 75)
    save("001-5", told)


if __name__ == "__main__":
    main()
