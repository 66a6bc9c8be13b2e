"""Plots of dictionaries of rows: atoms, reconstructions, and the course of learning."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Matrix, as_known, checked_array, in_order, library, order_for, plural
from atomstream.looks import canvas
from atomstream.watch import History

MAX_BARS = 32  # most features that are drawn as bars
TINY = 1e-12
DECADE = 10


def atoms_data(
    model: Any, shape: tuple[int, ...] | None = None, order: str = "importance"
) -> tuple[NDArray, NDArray]:
    """Return what `atoms` draws: atoms as images, and shares of the code.

    Parameters
    ----------
    model : fitted estimator
    shape : tuple of int, optional
        (height, width) or (height, width, n_channels) of a patch; needed.
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.

    Returns
    -------
    images : ndarray of shape (n_components, *shape)
        Each is scaled to [0, 1] by its own extremes.
    shares : ndarray of shape (n_components,)
    """
    if shape is None:
        raise TypeError(
            "plots.atoms needs shape, the (height, width) of patches; model.plot() draws the atoms "
            f"of {type(model).__name__} in their own way."
        )
    n_features = _atoms(model).shape[1]
    if np.prod(shape) != n_features:
        raise ValueError(
            f"shape={shape!r} has {np.prod(shape)} entries, the atoms have {n_features}."
        )
    # All of them: patches are small enough.
    drawn = canvas.shown(model, None, order)
    rows = _atoms(model)[drawn]
    low, high = rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)
    flat = (rows - low) / np.where(high > low, high - low, 1)
    return flat.reshape(-1, *shape), model.importance_[drawn]


def atoms(
    model: Any,
    shape: tuple[int, ...] | None = None,
    *,
    n_columns: int = 10,
    order: str = "importance",
) -> canvas.Figure:
    """Draw the atoms in a grid, with their numbers and shares of the code.

    Parameters
    ----------
    model : fitted estimator
    shape : tuple of int, optional
        (height, width) or (height, width, n_channels) of a patch; needed.
    n_columns : int, default=10
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.
    """
    images, shares = atoms_data(model, shape, order)
    n_columns = min(n_columns, len(images))
    grid, figure = canvas.cells(-(-len(images) // n_columns), n_columns, 0.9, 1.08)
    drawn = zip(grid.flat, canvas.shown(model, None, order), images, shares, strict=False)
    for axes, atom, image, share in drawn:
        axes.imshow(image, cmap=canvas.IMAGE, vmin=0, vmax=1, interpolation="nearest")
        # There is no room for a word.
        axes.set_title(f"{atom}: {100 * share:.1f} %", y=-0.28, fontsize=canvas.TICK)
    return figure


def curves_data(
    model: Any, n_atoms: int = 20, order: str = "importance"
) -> tuple[NDArray, NDArray]:
    """Return what `curves` draws: the most important atoms, and their shares of the code."""
    drawn = canvas.shown(model, n_atoms, order)
    return _atoms(model)[drawn], model.importance_[drawn]


def curves(
    model: Any, *, n_atoms: int = 20, n_columns: int = 4, order: str = "importance"
) -> canvas.Figure:
    """Draw the most important atoms as curves over the features.

    Parameters
    ----------
    model : fitted estimator
    n_atoms : int, default=20
    n_columns : int, default=4
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.
    """
    rows, shares = curves_data(model, n_atoms, order)
    grid, figure = canvas.panels(len(rows), n_columns, 2.6, 1.5)
    numbers = canvas.shown(model, n_atoms, order)
    for axes, atom, row, share in zip(grid, numbers, rows, shares, strict=True):
        axes.plot(row, color=canvas.BLUE, linewidth=1)
        axes.set_title(canvas.heading(atom, share), fontsize=canvas.TEXT)
        axes.margins(x=0)
    figure.supxlabel("feature, from 0", fontsize=canvas.TEXT)
    return figure


def bars_data(
    model: Any,
    names: Sequence[str] | None = None,
    n_atoms: int = 12,
    n_features: int = 8,
    order: str = "importance",
) -> list[tuple[list[str], NDArray, float]]:
    """Return what `bars` draws.

    For each atom: the names of its largest features, their values, and its importance.
    """
    names = getattr(model, "feature_names_in_", None) if names is None else names
    drawn = []
    for atom in canvas.shown(model, n_atoms, order):
        row = _atoms(model)[atom]
        # Signed entries count by their size.
        top = np.argsort(-np.abs(row), kind="stable")[:n_features]
        labels = [str(place + 1) if names is None else str(names[place]) for place in top]
        drawn.append((labels, row[top], float(model.importance_[atom])))
    return drawn


def bars(
    model: Any,
    names: Sequence[str] | None = None,
    *,
    n_atoms: int = 12,
    n_features: int = 8,
    n_columns: int = 3,
    order: str = "importance",
) -> canvas.Figure:
    """Draw the most important atoms as bars: their largest features by name.

    Parameters
    ----------
    model : fitted estimator
    names : sequence of str, optional
        Names of the features; by default those that the model knows, or numbers from 1.
    n_atoms : int, default=12
    n_features : int, default=8
        Number of features of each atom.
    n_columns : int, default=3
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.
    """
    drawn = bars_data(model, names, n_atoms, n_features, order)
    grid, figure = canvas.panels(len(drawn), n_columns, 3.4, 0.35 + 0.19 * len(drawn[0][0]))
    numbers = canvas.shown(model, n_atoms, order)
    for axes, atom, (labels, values, share) in zip(grid, numbers, drawn, strict=True):
        colours = [canvas.BLUE if value >= 0 else canvas.ORANGE for value in values]
        canvas.named_bars(axes, values, labels, color=colours)
        axes.set_title(canvas.heading(atom, share), fontsize=canvas.TEXT)
    return figure


def triples_data(model: Any, rows: Matrix, n_rows: int = 6) -> tuple[NDArray, NDArray, NDArray]:
    """Return what `triples` draws: samples, reconstructions, errors, best explained first."""
    # The best and the worst are chosen among ten times as many as are drawn.
    rows = in_order(rows, order_for(model, rows))[: 10 * n_rows]
    X = checked_array(rows, "rows").astype(float)
    X_hat = model.inverse_transform(model.transform(as_known(model, X)))
    X, X_hat = X.reshape(len(X), -1), X_hat.reshape(len(X), -1)  # tensors: over their entries
    errors, energy = np.nansum((X_hat - X) ** 2, axis=1), np.nansum(X**2, axis=1)
    order = np.argsort(errors / np.maximum(energy, TINY), kind="stable")
    # A row of zeros is explained by anything.
    order = order[energy[order] > 0] if (energy > 0).any() else order
    places = np.linspace(0, len(order) - 1, min(n_rows, len(order)))
    drawn = order[np.unique(places.round().astype(int))]
    return X[drawn], X_hat[drawn], X_hat[drawn] - X[drawn]


def triples(
    model: Any,
    rows: Matrix,
    shape: tuple[int, ...] | None = None,
    *,
    names: Sequence[str] | None = None,
    n_rows: int = 6,
) -> canvas.Figure:
    """Draw samples, their reconstructions and the errors, from the best explained to the worst.

    Parameters
    ----------
    model : fitted estimator
    rows : array or sparse array of shape (n_samples, n_features)
        Preferably rows that were not learned from.
    shape : tuple of int, optional
        Shape of a sample as an image; without it samples are drawn over the features.
    names : sequence of str, optional
        Names of the features; written if there are few.
    n_rows : int, default=6
    """
    X, X_hat, error = triples_data(model, rows, n_rows)
    if shape is not None:
        return _image_triples(X, X_hat, error, shape)
    grid, figure = canvas.panels(len(X), 2, 5.2, 1.5)
    few = X.shape[1] <= MAX_BARS
    for axes, sample, rebuilt in zip(grid, X, X_hat, strict=True):
        if few:
            axes.bar(range(len(sample)), np.nan_to_num(sample), color="0.8", label="sample")
            axes.plot(rebuilt, "o", color=canvas.ORANGE, markersize=4, label="reconstruction")
        else:
            axes.plot(sample, color="0.3", linewidth=1.6, label="sample")
            axes.plot(rebuilt, color=canvas.ORANGE, linewidth=0.9, label="reconstruction")
            axes.margins(x=0)
        if few and names is not None:
            listed = [canvas.plain(name, 10) for name in names]
            axes.set_xticks(range(len(sample)), listed, rotation=90 * (len(names) > 6))
    known = grid[0].get_legend_handles_labels()
    figure.legend(*known, ncols=2, frameon=False, fontsize=canvas.TEXT, loc="outside upper center")
    return figure


def _image_triples(
    X: NDArray, X_hat: NDArray, error: NDArray, shape: tuple[int, ...]
) -> canvas.Figure:
    figure = canvas.empty(1.2 * len(X) + 0.6, 4.0)
    grid = figure.subplots(3, len(X), squeeze=False)
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
    for column, (sample, rebuilt, lacking) in enumerate(zip(X, X_hat, error, strict=True)):
        low, high = np.nanmin(sample), np.nanmax(sample)
        span = max(high - low, TINY)
        for axes, image in zip(grid[:, column], (sample, rebuilt), strict=False):
            # Sample and reconstruction on the scale of the sample, so that they can be compared.
            clipped = np.clip((image - low) / span, 0, 1).reshape(shape)
            axes.imshow(clipped, cmap=canvas.IMAGE, vmin=0, vmax=1)
        flat = lacking.reshape(shape)
        if len(shape) == 3:  # draw the channel with the largest error, with its sign
            worst = np.abs(flat).argmax(axis=2)[:, :, None]
            flat = np.take_along_axis(flat, worst, axis=2)[:, :, 0]
        grid[2, column].imshow(flat, cmap=canvas.SIGNED, vmin=-span / 2, vmax=span / 2)
    for axes, title in zip(grid[:, 0], ("sample", "reconstruction", "error"), strict=True):
        axes.set_ylabel(title, fontsize=canvas.TEXT)
    return figure


def mask(found: NDArray) -> canvas.Figure:
    """Draw which entries are marked, a sample in each line."""
    figure = canvas.empty(6.4, 2.8)
    axes = figure.subplots()
    axes.imshow(found, cmap="gray_r", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    canvas.labelled(axes, xlabel="feature", ylabel="row")
    return figure


def objective_data(history: History) -> tuple[NDArray, NDArray, NDArray]:
    """Return what `objective` draws: samples seen, objectives, means of the last sixth.

    The first point is left out where there are more: a start that was made from the first batch
    explains that batch better than any other.
    """
    n_samples, values = np.asarray(history.n_samples), np.asarray(history.objective)
    # The first batch made the start: its objective is of atoms that nobody has learned.
    if len(values) > 1:
        n_samples, values = n_samples[1:], values[1:]
    newest = np.append(np.diff(n_samples) > 0, True)  # of rounds over the same samples, the last
    n_samples, values = n_samples[newest], values[newest]
    # Sums up to each place: a mean over any stretch is then one difference.
    total = np.concatenate([[0.0], np.cumsum(values)])
    last = np.arange(1, len(values) + 1)
    first = last - (1 + last // 6)  # the window grows with the stream: the axis is logarithmic
    first = np.maximum(first, 0)
    return n_samples, values, (total[last] - total[first]) / (last - first)


def objective(history: History, *, unit: str = "sample") -> canvas.Figure:
    """Draw the objective against the number of samples seen.

    The axis of the objective is logarithmic where it spans more than a decade.

    Parameters
    ----------
    history : atomstream.watch.callbacks.History
    unit : str, default="sample"
        What a sample is called: "row", "patch".
    """
    n_samples, values, smooth = objective_data(history)
    figure = canvas.empty(7, 3.6)
    axes = figure.subplots()
    axes.plot(n_samples, values, color="0.75", linewidth=0.8, label="batch, before its update")
    axes.plot(n_samples, smooth, color=canvas.BLUE, linewidth=2, label="mean of the last sixth")
    axes.set_xscale("log")
    ticker = library("matplotlib.ticker", "Pictures")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    canvas.labelled(axes, xlabel=f"{plural(unit)} seen", ylabel=f"mean objective per {unit}")
    if values.max() > DECADE * values.min() > 0:
        axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=canvas.TEXT)
    return figure


def _atoms(model: Any) -> NDArray:
    """Return the atoms as rows; tensors are flattened."""
    return model.components_.reshape(len(model.components_), -1)
