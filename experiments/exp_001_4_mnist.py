"""Experiment 001-4: eigenimages of the four methods, and how sharp they are (figure 5).

3,000 handwritten digits, values in [0, 1], 10 atoms, 150 representatives, lambda = 0.1, one pass
for the online methods. Shown are the 9 most used atoms of each. Sharpness is the energy of the
differences of neighbouring pixels over the energy of the pixels, as a share of that of the digits
themselves: an average of many digits is blurred and has less. Signs and scales of atoms do not
enter.

Leaves ``results/001-4.png`` and ``results/001-4.json``.
"""

from __future__ import annotations

import numpy as np
from convex_baselines import METHODS, codes_of, l2_error, learn
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save

N_SAMPLES, N_ATOMS, N_SHOWN, SIZE, ALPHA, N_SEEDS = 3000, 10, 9, 28, 0.1, 5


def sharpness(images: np.ndarray) -> np.ndarray:
    """Return the energy of the differences of neighbours over that of the values, per image."""
    pixels = images.reshape(-1, SIZE, SIZE)
    slopes = (np.diff(pixels, axis=1) ** 2).sum(axis=(1, 2)) + (np.diff(pixels, axis=2) ** 2).sum(
        axis=(1, 2)
    )
    return slopes / (pixels**2).sum(axis=(1, 2))


def by_use(X: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """Return the atoms by their shares of the codes, largest first, mostly positive."""
    order = np.argsort(
        -np.abs(codes_of(X, atoms, ALPHA)).sum(axis=0) * np.linalg.norm(atoms, axis=1)
    )
    chosen = atoms[order[:N_SHOWN]]
    return chosen * np.where(chosen.sum(axis=1, keepdims=True) < 0, -1, 1)


def mosaic(atoms: np.ndarray) -> np.ndarray:
    """Return nine atoms in three rows as one picture, each scaled by its largest value."""
    tiles = (atoms / np.abs(atoms).max(axis=1, keepdims=True)).reshape(3, 3, SIZE, SIZE)
    return (
        np.pad(tiles, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=1)
        .swapaxes(1, 2)
        .reshape(3 * SIZE + 6, -1)
    )


def main() -> None:
    """Learn, measure, draw, write the numbers."""
    X = (
        np.load(DATA / "mnist" / "mnist_8000.npz")["images"][:N_SAMPLES].reshape(N_SAMPLES, -1)
        / 255.0
    )
    plain, told = float(sharpness(X).mean()), {}
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(METHODS)), METHODS, strict=True):
        found = []
        for seed in range(1 if name == "cvxMF" else N_SEEDS):
            atoms, weights, _ = learn(name, X, N_ATOMS, ALPHA, seed)
            share = float(sharpness(by_use(X, atoms)).mean()) / plain
            n_used = None if weights is None else float(1 / (weights**2).sum(axis=1).mean())
            found.append((share, l2_error(X, atoms, ALPHA), n_used))
            if seed == 0:
                axes.imshow(mosaic(by_use(X, atoms)), cmap="gray", vmin=0, vmax=1)
                axes.set(xticks=[], yticks=[], xlabel=f"sharpness {share:.2f}", title=name)
        told[name] = {
            "sharpness": [values[0] for values in found],
            "error": [values[1] for values in found],
            "samples per atom (inverse of the mean sum of squared shares)": [
                values[2] for values in found
            ],
        }
        print(name, told[name], flush=True)
    save_figure(figure, "001-4", 80)
    save("001-4", told)


if __name__ == "__main__":
    main()
