"""Experiment 001-7: what the representatives cost falls along the stream (Lemma 2 of the paper).

The gap of step t is the surrogate at the atoms, which are in the hulls of their representatives,
minus the least value over atoms in the hull of everything that they may ever be made of: for R_u
all samples, for R_r with known labels those of their own cluster. The lemma bounds its mean by a
multiple of t^(-2 / (m + 2)). Samples are drawn again and again from 400 of a mixture of three
Gaussians in m = 10 or 20 dimensions, so that the hulls are known; 30 representatives, lambda = 0.2
/ sqrt(m), 5 streams. In a few dimensions the gap is soon zero. The bound's constant is not known:
its line starts where the mean gap does.

And what fewer representatives cost in error: 2,500 samples of five Gaussians in 20 and 50
dimensions, one pass, the error of all samples at lasso codes above that of the five means of the
clusters, which are in the hull of all samples, for 10 to 640 representatives.

Leaves ``results/001-7.png`` and ``results/001-7.json``.
"""

from __future__ import annotations

import numpy as np
from convex_baselines import Stopwatch, l2_error, learn, mixture, strength
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import save_figure
from records import save

from atomstream import OnlineConvexMF
from atomstream.fields.convex.hulls import Hulls
from atomstream.fields.convex.update import nearest_in_hulls

N_POINTS, N_CLUSTERS, N_REPRESENTATIVES, N_SEEDS = 400, 3, 30, 5
STEPS = tuple(32 * 2**e for e in range(8))
KEPT = tuple(10 * 2**e for e in range(7))
FREE = ("online R_u", "online R_r")
KINDS = {"R_u": "random", "R_r, known labels": "labels"}


def surrogate(atoms: np.ndarray, gram: np.ndarray, cross: np.ndarray) -> float:
    """Return the part of the surrogate that depends on the atoms."""
    return 0.5 * float(np.sum((gram @ atoms) * atoms)) - float(np.sum(atoms * cross))


def least(atoms: np.ndarray, gram: np.ndarray, cross: np.ndarray, hulls: Hulls) -> float:
    """Return the least surrogate over atoms in hulls, by cycles of exact projections."""
    atoms, before = atoms.copy(), np.inf
    while (value := surrogate(atoms, gram, cross)) < before - 1e-9 * abs(value):
        before = value
        for j in np.flatnonzero(np.diag(gram) > 0):
            aim = atoms[j] - (gram[j] @ atoms - cross[j]) / gram[j, j]
            atoms[j] = nearest(hulls, j, aim)
    return value


def nearest(hulls: Hulls, atom: int, aim: np.ndarray) -> np.ndarray:
    """Return the point of an atom's hull that is nearest to a row."""
    own = hulls.samples[hulls.region(atom)]
    weights, places = np.full((1, len(own)), 1 / len(own)), np.arange(len(own))
    return nearest_in_hulls(Hulls(own, weights, None, places, places), aim[None])[0]


def whole_hulls(X: np.ndarray, labels: np.ndarray | None) -> Hulls:
    """Return the hulls of all samples: of each cluster for its atom, or of all for every atom."""
    rows = np.arange(len(X)) if labels is None else np.argsort(labels, kind="stable")
    sizes = None if labels is None else np.bincount(labels)
    return Hulls(X[rows], np.full((N_CLUSTERS, len(X)), 1 / len(X)), sizes, rows, rows)


def gaps(kind: str, n_features: int, seed: int) -> list[float]:
    """Return the gaps of one stream at the steps."""
    X, labels, _ = mixture(N_POINTS, 1.0, seed, n_features, N_CLUSTERS)
    rows = np.random.default_rng(seed).integers(N_POINTS, size=STEPS[-1])
    model = OnlineConvexMF(
        N_CLUSTERS,
        n_representatives=N_REPRESENTATIVES,
        assignment=KINDS[kind],
        alpha=strength(n_features),
        random_state=seed,
    )
    known, found, done = kind != "R_u", [], 0
    hulls = whole_hulls(X, labels if known else None)
    for step in STEPS:
        model.partial_fit(X[rows[done:step]], labels[rows[done:step]] if known else None)
        memory, atoms, done = model.memory_, model.components_, step
        found.append(
            surrogate(atoms, memory.gram, memory.cross)
            - least(atoms, memory.gram, memory.cross, hulls)
        )
    return found


def price(n_features: int) -> dict[str, dict[str, list[float]]]:
    """Return errors above that of the clusters' means, and seconds, by kind, for all KEPT."""
    found = {kind: np.zeros((2, N_SEEDS, len(KEPT))) for kind in FREE}
    alpha = strength(n_features)
    for seed in range(N_SEEDS):
        X, labels, _ = mixture(2500, 1.0, seed, n_features)
        means = np.array([X[labels == label].mean(axis=0) for label in np.unique(labels)])
        least_error = l2_error(X, means, alpha)
        for kind in FREE:
            for place, n_kept in enumerate(KEPT):
                with Stopwatch() as watch:
                    atoms = learn(kind, X, len(means), alpha, seed, n_representatives=n_kept)[0]
                error = l2_error(X, atoms, alpha) / least_error - 1
                found[kind][:, seed, place] = error, watch.seconds
    return {
        kind: dict(zip(("error above", "seconds"), values.mean(axis=1).tolist(), strict=True))
        for kind, values in found.items()
    }


def draw_prices(axes: Axes, prices: dict[int, dict]) -> None:
    """Draw the error against the number of representatives."""
    for n_features, style in zip(prices, ("--", "-"), strict=True):
        for kind, colour in zip(FREE, ("#0072B2", "#D55E00"), strict=True):
            above = 100 * np.maximum(prices[n_features][kind]["error above"], 1e-5)
            label = f"{kind}, m = {n_features}"
            axes.plot(KEPT, above, f"o{style}", markersize=3, color=colour, label=label)
    axes.set(xscale="log", yscale="log", xlabel="representatives", title="error")
    axes.set_ylabel("error above the means of the clusters, %")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8)


def main() -> None:
    """Measure gaps and errors, draw, write the numbers."""
    told: dict[str, dict] = {"steps": STEPS, "representatives": KEPT}
    figure = Figure(figsize=(13, 4), layout="constrained")
    *panels, last = figure.subplots(1, 3)
    for axes, n_features in zip(panels, (10, 20), strict=True):
        for kind in KINDS:
            found = np.array([gaps(kind, n_features, seed) for seed in range(N_SEEDS)])
            mean = found.mean(axis=0)
            slope = float(np.polyfit(np.log(STEPS), np.log(np.maximum(mean, 1e-12)), 1)[0])
            told[f"{kind}, m = {n_features}"] = {"mean gap": mean, "exponent": slope}
            (line,) = axes.plot(STEPS, mean, "o-", markersize=3, label=f"{kind}: t^{slope:.2f}")
            bound = mean[0] * (np.array(STEPS) / STEPS[0]) ** (-2 / (n_features + 2))
            axes.plot(STEPS, bound, ":", linewidth=1, color=line.get_color())
            print(kind, n_features, slope, mean, flush=True)
        axes.set(xscale="log", yscale="log", xlabel="samples", title=f"gap, m = {n_features}")
        axes.plot([], [], ":", color="0.4", label=f"t^(-2/{n_features + 2})")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8, loc="lower left")
    panels[0].set_ylabel("mean gap of the surrogate")
    told["prices"] = {n_features: price(n_features) for n_features in (20, 50)}
    draw_prices(last, told["prices"])
    save_figure(figure, "001-7", 85)
    save("001-7", told)


if __name__ == "__main__":
    main()
