"""Experiment 001-6: clustering accuracy on small labelled sets (the paper's supplement).

Ionosphere, glass and ecoli of the UCI repository, and iris, wine and digits that come with
scikit-learn; features scaled to [0, 1], as many atoms as classes, lambda = 0.2 / sqrt(m), as many
representatives as half of the samples but at most 150, five passes for the online methods, ten
seeds. Classes are not used in learning. The simple rival is k-means on the features, ten starts.

Leaves ``results/001-6.png`` and ``results/001-6.json``.
"""

from __future__ import annotations

import numpy as np
from convex_baselines import METHODS, N_REPRESENTATIVES, accuracies, accuracy, learn, strength
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import minmax_scale

N_SEEDS, N_PASSES = 10, 5


def sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return features in [0, 1] and classes of all sets."""
    found = {}
    for name in ("ionosphere", "glass", "ecoli"):
        table = np.loadtxt(DATA / "uci" / f"{name}.csv", delimiter=",", dtype=str)
        found[name] = (table[:, :-1].astype(float), table[:, -1])
    for name, load in (("iris", load_iris), ("wine", load_wine), ("digits", load_digits)):
        found[name] = load(return_X_y=True)
    return {name: (minmax_scale(X), labels) for name, (X, labels) in found.items()}


def mean_accuracies(name: str, X: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return the accuracies of a method, means over seeds."""
    n, alpha = len(np.unique(labels)), strength(X.shape[1])
    settings = {"n_representatives": min(N_REPRESENTATIVES, len(X) // 2), "n_epochs": N_PASSES}
    learned = (learn(name, X, n, alpha, seed, **settings)[0] for seed in range(N_SEEDS))
    found = [accuracies(X, labels, atoms, alpha) for atoms in learned]
    return {way: float(np.mean([one[way] for one in found])) for way in found[0]}


def by_means(X: np.ndarray, labels: np.ndarray) -> float:
    """Return the accuracy of k-means on the features, the mean over seeds."""
    n = len(np.unique(labels))
    models = (KMeans(n, n_init=10, random_state=seed).fit(X) for seed in range(N_SEEDS))
    return float(np.mean([accuracy(labels, model.labels_) for model in models]))


def main() -> None:
    """Cluster all sets with all methods, draw, write the numbers."""
    told: dict[str, dict] = {}
    for dataset, (X, labels) in sets().items():
        told[dataset] = {name: mean_accuracies(name, X, labels) for name in METHODS}
        told[dataset]["k-means"] = by_means(X, labels)
        print(dataset, told[dataset], flush=True)
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    for axes, way in zip(
        figure.subplots(1, 3, sharey=True),
        ("largest code", "nearest atom", "k-means of codes"),
        strict=True,
    ):
        for place, name in enumerate(METHODS):
            values = [told[dataset][name][way] for dataset in told]
            axes.bar(np.arange(len(told)) + 0.2 * (place - 1.5), values, 0.2, label=name)
        axes.set_xticks(range(len(told)), told, rotation=30)
        axes.set(title=way, ylim=(0, 1))
    figure.axes[0].set_ylabel("accuracy")
    figure.axes[2].legend(fontsize=7)
    save_figure(figure, "001-6", 80)
    save("001-6", told)


if __name__ == "__main__":
    main()
