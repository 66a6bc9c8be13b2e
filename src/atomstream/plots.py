"""Pictures of what was learned; matplotlib is imported inside the functions and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["atoms", "atoms_data", "objective", "objective_data", "reconstruction", "reconstruction_data"]

BLUE = "#0072B2"  # of the Okabe-Ito palette, safe for colour-blind eyes


def atoms_data(model: Any, shape: tuple[int, ...]) -> tuple[NDArray, NDArray]:
    """Return what `atoms` draws: the atoms as images, most important first, and their shares of the code.

    Parameters
    ----------
    model : fitted estimator
    shape : tuple of int
        (height, width) or (height, width, n_channels) of a patch.

    Returns
    -------
    images : ndarray of shape (n_components, *shape)
        Each scaled to [0, 1] by its own extremes.
    shares : ndarray of shape (n_components,)
    """
    n_features = model.components_.shape[1]
    if np.prod(shape) != n_features:
        raise ValueError(f"shape={shape!r} has {np.prod(shape)} entries, the atoms have {n_features}.")
    order = np.argsort(-model.importance_, kind="stable")
    rows = model.components_[order]
    low, high = rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)
    flat = (rows - low) / np.where(high > low, high - low, 1)
    return flat.reshape(-1, *shape), model.importance_[order]


def atoms(model: Any, shape: tuple[int, ...], *, n_columns: int = 10) -> Any:
    """Draw the atoms as a grid sorted by importance, the share of each in the codes below it.

    Parameters
    ----------
    model : fitted estimator
    shape : tuple of int
        (height, width) or (height, width, n_channels) of a patch.
    n_columns : int, default=10

    Returns
    -------
    matplotlib.figure.Figure
    """
    images, shares = atoms_data(model, shape)
    n_rows = -(-len(images) // n_columns)
    figure = _figure(0.9 * n_columns, 1.08 * n_rows)
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for axes, image, share in zip(grid.flat, images, shares, strict=False):
        axes.imshow(image, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axes.set_title(f"{100 * share:.1f} %", y=-0.28, fontsize=7)
    return figure


def reconstruction_data(image: Any, approximation: Any) -> tuple[NDArray, NDArray, NDArray]:
    """Return what `reconstruction` draws: the image, its reconstruction clipped to the image's range, the error."""
    image = np.asarray(image, dtype=float)
    approximation = np.clip(np.asarray(approximation, dtype=float), image.min(), image.max())
    return image, approximation, approximation - image


def reconstruction(image: Any, approximation: Any) -> Any:
    """Draw an image, its reconstruction and the error side by side.

    Parameters
    ----------
    image, approximation : array of shape (height, width) or (height, width, 3)

    Returns
    -------
    matplotlib.figure.Figure
    """
    image, approximation, error = reconstruction_data(image, approximation)
    error = error if error.ndim == 2 else error.mean(axis=2)
    figure = _figure(12, 12 / 3 * image.shape[0] / image.shape[1] + 0.6)
    left, middle, right = figure.subplots(1, 3)
    shown = {"cmap": "gray", "vmin": image.min(), "vmax": image.max()}
    left.imshow(image, **shown)
    middle.imshow(approximation, **shown)
    bound = float(np.quantile(np.abs(error), 0.995)) or 1.0
    drawn = right.imshow(error, cmap="RdBu_r", vmin=-bound, vmax=bound)
    figure.colorbar(drawn, ax=right, fraction=0.04, pad=0.02)
    for axes, title in ((left, "original"), (middle, "reconstruction"), (right, "error")):
        axes.set_title(title, fontsize=11)
        axes.axis("off")
    return figure


def objective_data(history: Any) -> tuple[NDArray, NDArray, NDArray]:
    """Return what `objective` draws: samples seen, the objective of each batch, and the mean of the last sixth."""
    n_samples, values = np.asarray(history.n_samples), np.asarray(history.objective)
    total = np.concatenate([[0.0], np.cumsum(values)])
    last = np.arange(1, len(values) + 1)
    first = last - (1 + last // 6)  # a window that grows with the stream, as the axis is logarithmic
    first = np.maximum(first, 0)
    return n_samples, values, (total[last] - total[first]) / (last - first)


def objective(history: Any) -> Any:
    """Draw the objective against samples seen.

    Parameters
    ----------
    history : atomstream.callbacks.History

    Returns
    -------
    matplotlib.figure.Figure
    """
    n_samples, values, smooth = objective_data(history)
    figure = _figure(7, 3.6)
    axes = figure.subplots()
    axes.plot(n_samples, values, color="0.75", linewidth=0.8, label="batch, before its update")
    axes.plot(n_samples, smooth, color=BLUE, linewidth=2, label="mean of the last sixth")
    axes.set(xscale="log", xlabel="samples seen", ylabel="mean objective per sample")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
