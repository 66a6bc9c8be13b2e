"""Experiment 001-4: eigenimages of the four methods, and how sharp they are (figure 5).

8,000 handwritten digits, values in [0, 1], lambda = 0.1, 150 representatives, one pass of the
online methods, batch cvxMF until a round gains less than a ten-thousandth of the error, five seeds
each (batch with 100 atoms two here, since one takes minutes, and five under ``batch``). The paper
calls its set of eigenimages overcomplete and does not give its size: here are 10, 30, 50 and 100
atoms. With 150 representatives an atom of many is made of few digits, so R_r has another run, of
one seed, with 15 representatives for each atom; it takes as long as batch.

Sharpness is the energy of the differences of neighbouring pixels over the energy of the pixels, as
a share of that of the digits themselves: an average of many digits is blurred and has less. Signs
and scales of atoms do not enter. It is given as the mean over all atoms, and over the nine most
used, which are shown; beside it the error, since a digit as it is would be sharpest.

Leaves ``results/001-4.png`` and ``results/001-4.json``, which are written after each number of
atoms, so that a run that is stopped leaves the smaller ones. With the argument ``batch`` only batch
runs, five seeds with 100 atoms: ``results/001-4-batch.json``, written after each seed.
"""

from __future__ import annotations

import sys

import numpy as np
from convex_baselines import METHODS, N_REPRESENTATIVES, codes_of, learn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save

SIZES, N_SHOWN, SIZE, ALPHA, N_SEEDS, PER_ATOM = (10, 30, 50, 100), 9, 28, 0.1, 5, 15
MANY = f"online R_r, {PER_ATOM} an atom"
# With ten atoms, 15 for each are the 150 of the others.
SEEDS = {"cvxMF": {100: 2}, MANY: {10: 0, 30: 1, 50: 1, 100: 0}}


def sharpness(images: np.ndarray) -> np.ndarray:
    """Return the energy of the differences of neighbours over that of the values, per image."""
    pixels = images.reshape(-1, SIZE, SIZE)
    slopes = (np.diff(pixels, axis=1) ** 2).sum(axis=(1, 2)) + (np.diff(pixels, axis=2) ** 2).sum(
        axis=(1, 2)
    )
    return slopes / (pixels**2).sum(axis=(1, 2))


def by_use(codes: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """Return the atoms by their shares of the codes, largest first, mostly positive."""
    order = np.argsort(-np.abs(codes).sum(axis=0) * np.linalg.norm(atoms, axis=1))
    return atoms[order] * np.where(atoms[order].sum(axis=1, keepdims=True) < 0, -1, 1)


def measured(X: np.ndarray, name: str, n_atoms: int, seed: int) -> tuple[dict, np.ndarray]:
    """Return the figures of one run, and its atoms, the most used first."""
    kept = {"n_representatives": PER_ATOM * n_atoms} if name == MANY else {}
    method = "online R_r" if name == MANY else name
    atoms, weights, _ = learn(method, X, n_atoms, ALPHA, seed, **kept)
    codes = codes_of(X, atoms, ALPHA)
    ordered = by_use(codes, atoms)
    sharp = sharpness(ordered) / sharpness(X).mean()
    found = {
        "all atoms": sharp.mean(),
        "nine most used": sharp[:N_SHOWN].mean(),
        "error": np.linalg.norm(X - codes @ atoms) / len(X),
    }
    if weights is not None:
        found["samples per atom"] = (1 / (weights**2).sum(axis=1)).mean()
    return {key: float(value) for key, value in found.items()}, ordered


def draw(axes: Axes, atoms: np.ndarray, name: str, told: dict[str, float]) -> None:
    """Draw nine atoms in three rows; negative values are blue, positive ones red."""
    # The brightest hundredth is cut off: one bright pixel would leave the rest of an atom faint.
    scale = np.quantile(np.abs(atoms), 0.99, axis=1)[:, None]
    tiles = (atoms / scale).clip(-1, 1).reshape(3, 3, SIZE, SIZE)
    image = np.pad(tiles, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=np.nan)
    axes.imshow(image.swapaxes(1, 2).reshape(3 * SIZE + 6, -1), cmap="RdBu_r", vmin=-1, vmax=1)
    axes.set(xticks=[], yticks=[], title=name)
    axes.set_xlabel(f"sharpness {told['all atoms']:.2f} (these {told['nine most used']:.2f})")


def drawn(shown: dict[int, dict[str, tuple[np.ndarray, dict]]], names: list[str]) -> Figure:
    """Draw a row of panels for each number of atoms."""
    figure = Figure(figsize=(13, 2.9 * len(shown)), layout="constrained")
    grid = figure.subplots(len(shown), len(names), squeeze=False)
    for row, (n_atoms, tiles) in zip(grid, shown.items(), strict=True):
        for axes, name in zip(row, names, strict=True):
            if name in tiles:
                atoms, told = tiles[name]
                draw(axes, atoms, name, told)
            else:
                axes.set_axis_off()
        row[0].set_ylabel(f"{n_atoms} atoms")
    return figure


def digits() -> np.ndarray:
    """Return the digits, a row each."""
    X = np.load(DATA / "mnist" / "mnist_8000.npz")["images"]
    return X.reshape(len(X), -1) / 255.0


def batch_alone(X: np.ndarray) -> None:
    """Run batch, which takes longest, and write its numbers after each seed."""
    told: dict = {}
    rows = told["100"] = {}
    for seed in range(N_SEEDS):
        for key, value in measured(X, "cvxMF", 100, seed)[0].items():
            rows.setdefault(key, []).append(value)
        print(rows, flush=True)
        save("001-4-batch", told)


def main(X: np.ndarray) -> None:
    """Learn, measure, draw, write the numbers."""
    names = [*METHODS[:3], MANY, METHODS[3]]
    told: dict = {"samples": len(X), "representatives": N_REPRESENTATIVES}
    shown: dict = {}
    for n_atoms in SIZES:
        found, shown[n_atoms] = {}, {}
        for name in names:
            n_seeds = SEEDS.get(name, {}).get(n_atoms, N_SEEDS)
            runs = [measured(X, name, n_atoms, seed) for seed in range(n_seeds)]
            if runs:
                found[name] = {key: [run[key] for run, _ in runs] for key in runs[0][0]}
                shown[n_atoms][name] = runs[0][1][:N_SHOWN], runs[0][0]
                print(n_atoms, name, found[name], flush=True)
        told[str(n_atoms)] = found
        save_figure(drawn(shown, names), "001-4", 80)
        save("001-4", told)


if __name__ == "__main__":
    (batch_alone if "batch" in sys.argv else main)(digits())
