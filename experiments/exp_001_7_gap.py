"""Experiment 001-7: what the representatives cost falls along the stream (Lemma 2 of the paper).

The gap of step t is the surrogate at the atoms, which are in the hulls of their representatives,
minus the least value over atoms in the hull of everything that they may ever be made of: for R_u
all samples, for R_r with known labels those of their own cluster. The lemma bounds its mean by a
multiple of t^(-2 / (m + 2)). Samples are drawn again and again from 400 of a mixture of three
Gaussians in m = 10 or 20 dimensions, so that the hulls are known; 30 representatives, lambda = 0.2
/ sqrt(m), 5 streams. In a few dimensions the gap is soon zero. The bound's constant is not known:
its line starts where the mean gap does.

Leaves ``results/001-7.png`` and ``results/001-7.json``.
"""

from __future__ import annotations

import numpy as np
from convex_baselines import mixture, strength
from matplotlib.figure import Figure
from pictures import save_figure
from records import save

from atomstream import OnlineConvexMF
from atomstream.dictionaries.hulls import Hulls

N_POINTS, N_CLUSTERS, N_REPRESENTATIVES, N_SEEDS = 400, 3, 30, 5
STEPS = tuple(32 * 2**e for e in range(8))
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
    return Hulls(own, np.full((1, len(own)), 1 / len(own)), None, own[:, 0], own[:, 0]).project(
        aim[None]
    )[0]


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


def main() -> None:
    """Measure both kinds in two dimensions and ten, draw, write the numbers."""
    told: dict[str, dict] = {"steps": STEPS}
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, n_features in zip(figure.subplots(1, 2), (10, 20), strict=True):
        for kind in KINDS:
            found = np.array([gaps(kind, n_features, seed) for seed in range(N_SEEDS)])
            mean = found.mean(axis=0)
            slope = float(np.polyfit(np.log(STEPS), np.log(np.maximum(mean, 1e-12)), 1)[0])
            told[f"{kind}, m = {n_features}"] = {"mean gap": mean.tolist(), "exponent": slope}
            (line,) = axes.plot(STEPS, mean, "o-", markersize=3, label=f"{kind}: t^{slope:.2f}")
            bound = mean[0] * (np.array(STEPS) / STEPS[0]) ** (-2 / (n_features + 2))
            axes.plot(STEPS, bound, ":", linewidth=1, color=line.get_color())
            print(kind, n_features, slope, mean, flush=True)
        axes.set(xscale="log", yscale="log", xlabel="samples", title=f"m = {n_features}")
        axes.plot([], [], ":", color="0.4", label=f"t^(-2/{n_features + 2})")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8, loc="lower left")
    figure.axes[0].set_ylabel("mean gap of the surrogate")
    save_figure(figure, "001-7", 90)
    save("001-7", told)


if __name__ == "__main__":
    main()
