"""Plots of series: atoms as curves over a window, observations, predictions and forecasts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atomstream.viz.plots.canvas import (
    Weighed,
    heading,
    most_important,
    ordered,
    panels,
    plain,
)
from atomstream.viz.plots.style import BLUE, COLORS, ORANGE, TEXT, TICK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from atomstream.domains.series.frames import Form

__all__ = [
    "series_atoms",
    "series_atoms_data",
    "series_change",
    "series_change_data",
    "series_forecast",
    "series_forecast_data",
]

LISTED = 24  # most names in a legend


class SeriesAtoms(Weighed, Protocol):
    """A fitted dictionary of series."""

    @property
    def atoms_(self) -> NDArray:
        """Atoms of shape (n_atoms, window, n_series)."""

    @property
    def initial_atoms_(self) -> NDArray | None:
        """Atoms before the online phase, if there were any."""

    @property
    def form_(self) -> Form:
        """The form of the tables learned from."""


def series_atoms_data(
    model: SeriesAtoms, n_atoms: int = 24, order: str = "importance"
) -> tuple[NDArray, NDArray]:
    """Return what `series_atoms` draws: the most important atoms, and their shares.

    The atoms are of shape (n, window, n_series).
    """
    drawn = _drawn(model, n_atoms, order)
    return model.atoms_[drawn], model.importance_[drawn]


def _drawn(model: SeriesAtoms, n_atoms: int, order: str) -> NDArray:
    return ordered(most_important(model, n_atoms), lambda: model.atoms_, order)


def series_atoms(
    model: SeriesAtoms,
    *,
    names: Sequence[str] | None = None,
    n_atoms: int = 24,
    n_columns: int = 6,
    order: str = "importance",
) -> Figure:
    """Draw the most important atoms, with their numbers and shares of the code.

    The curves of all series of an atom share one panel.

    Parameters
    ----------
    model : fitted SeriesDictionary
    names : sequence of str, optional
        Names of the series; by default those that the model knows.
    n_atoms : int, default=24
    n_columns : int, default=6
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.
    """
    atoms, shares = series_atoms_data(model, n_atoms, order)
    grid, figure = panels(len(atoms), n_columns, 1.9, 1.45)
    for axes, number, curves, share in zip(
        grid, _drawn(model, n_atoms, order), atoms, shares, strict=True
    ):
        for curve, style in zip(curves.T, _styles(atoms.shape[2]), strict=True):
            axes.plot(range(1, len(curve) + 1), curve, linewidth=1.2, **style)
        axes.set_title(heading(number, share), fontsize=TEXT)
        _quiet(axes, atoms.shape[1])
    _legend(figure, grid[0].lines, _known(model, names))
    return figure


def series_change_data(model: SeriesAtoms, n_atoms: int = 12) -> tuple[NDArray, NDArray, NDArray]:
    """Return what `series_change` draws: atoms before and after the online phase, and changes.

    The change is one minus the cosine between the atom before and after. The atoms that changed
    most come first.
    """
    if model.initial_atoms_ is None:
        raise ValueError(
            "The model was not initialised: there are no atoms before the online phase."
        )
    before, after = model.initial_atoms_, model.atoms_
    order, moved = _moved(before, after, n_atoms)
    return before[order], after[order], moved


def _moved(before: NDArray, after: NDArray, n_atoms: int) -> tuple[NDArray, NDArray]:
    """Return the numbers of the atoms that changed most, and their changes."""
    lengths = np.linalg.norm(before, axis=(1, 2)) * np.linalg.norm(after, axis=(1, 2))
    moved = 1 - (before * after).sum(axis=(1, 2)) / np.where(lengths > 0, lengths, 1)
    order = np.argsort(-moved, kind="stable")[:n_atoms]
    return order, moved[order]


def series_change(
    model: SeriesAtoms, *, names: Sequence[str] | None = None, n_atoms: int = 12, n_columns: int = 6
) -> Figure:
    """Draw the atoms that the online phase changed most: dotted before it, solid after it.

    Parameters
    ----------
    model : fitted SeriesDictionary
    names : sequence of str, optional
    n_atoms : int, default=12
    n_columns : int, default=6
    """
    before, after, moved = series_change_data(model, n_atoms)
    grid, figure = panels(len(after), n_columns, 1.9, 1.45)
    order, _ = _moved(np.asarray(model.initial_atoms_), model.atoms_, n_atoms)
    for axes, atom, old, new, share in zip(grid, order, before, after, moved, strict=True):
        for was, now, style in zip(old.T, new.T, _styles(after.shape[2]), strict=True):
            place = range(1, len(now) + 1)
            axes.plot(place, now, linewidth=1.2, **style)
            axes.plot(place, was, linewidth=0.9, alpha=0.7, **style | {"linestyle": ":"})
        axes.set_title(f"atom {atom}: {100 * share:.0f} % changed", fontsize=TEXT)
        _quiet(axes, after.shape[1])
    _legend(figure, grid[0].lines[::2], _known(model, names))
    return figure


def series_forecast_data(
    observed: ArrayLike, predicted: ArrayLike, ahead: ArrayLike | None = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Return what `series_forecast` draws: values, predictions and forecasts.

    All of them cover the rows and the horizon.

    Returns
    -------
    observed, predicted : ndarray of shape (n_rows + horizon, n_series)
        NaN after the rows.
    ahead : ndarray of shape (n_bounds, n_rows + horizon, n_series)
        NaN on the rows; empty without a forecast.
    """
    observed, predicted = (np.asarray(part, dtype=float) for part in (observed, predicted))
    ahead = np.empty((0, 0, observed.shape[1])) if ahead is None else np.asarray(ahead, dtype=float)
    after = np.full((ahead.shape[1], observed.shape[1]), np.nan)
    before = np.full((len(ahead), *observed.shape), np.nan)
    drawn = np.vstack([observed, after]), np.vstack([predicted, after])
    return *drawn, np.concatenate([before, ahead], axis=1)


def series_forecast(
    observed: ArrayLike,
    predicted: ArrayLike,
    ahead: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    labels: Sequence[object] | None = None,
    n_columns: int = 3,
) -> Figure:
    """Draw the observations, predictions and forecasts (with bands) of each series.

    Parameters
    ----------
    observed, predicted : array of shape (n_rows, n_series)
        NaN where there is no value.
    ahead : array of shape (1, horizon, n_series) or (3, horizon, n_series), optional
        The forecast, and the lower and upper ends of its band.
    names : sequence of str, optional
        Names of the series.
    labels : sequence of str, optional
        Labels of the rows and of the forecasts.
    n_columns : int, default=3
    """
    observed, predicted, ahead = series_forecast_data(observed, predicted, ahead)
    names = [f"series {i + 1}" for i in range(observed.shape[1])] if names is None else names
    n_columns = 2 if observed.shape[1] == 4 else min(n_columns, observed.shape[1])
    grid, figure = panels(observed.shape[1], n_columns, 10.2 / n_columns, 1.9)
    places, filled = np.arange(len(observed)), np.isnan(observed) & ~np.isnan(predicted)
    said = "one step ahead" if len(ahead) else "reconstructed"
    for i, (axes, name) in enumerate(zip(grid, names, strict=True)):
        axes.plot(places, observed[:, i], color="0.35", linewidth=1.4, label="observed")
        axes.plot(places, predicted[:, i], color=BLUE, linewidth=1, label=said)
        if filled.any() and not len(ahead):
            here = filled[:, i]
            style = {"color": ORANGE, "markersize": 4, "label": "filled"}
            axes.plot(places[here], predicted[here, i], ".", **style)
        if len(ahead):
            axes.plot(places, ahead[0][:, i], color=ORANGE, linewidth=1.4, label="forecast")
        if len(ahead) == 3:
            axes.fill_between(
                places, ahead[1][:, i], ahead[2][:, i], color=ORANGE, alpha=0.25, linewidth=0
            )
            lines = np.concatenate([observed[:, i], predicted[:, i], ahead[0][:, i]])
            axes.set_ylim(*_limits(lines, ahead[:, :, i]))
        axes.set_title(plain(str(name), 30), fontsize=TEXT)
        axes.tick_params(labelsize=TICK)
        axes.margins(x=0.01)
        if labels is not None:
            shown = np.unique(np.linspace(0, len(places) - 1, 3).round().astype(int))
            axes.set_xticks(shown, [plain(str(labels[place])) for place in shown])
            for text, side in zip(
                axes.get_xticklabels(), ("left", "center", "right"), strict=False
            ):
                text.set_horizontalalignment(side)  # so that neighbours do not touch
    figure.legend(
        handles=grid[0].lines, frameon=False, fontsize=TEXT, ncols=3, loc="outside upper center"
    )
    return figure


def _limits(lines: NDArray, band: NDArray) -> tuple[float, float]:
    """Return limits that show the lines, and the band as far as it leaves the lines visible."""
    low, high = np.nanmin(lines), np.nanmax(lines)
    span = (high - low) or 1.0
    low = max(np.nanmin(band, initial=low), low - span)
    high = min(np.nanmax(band, initial=high), high + span)
    return low - 0.04 * (high - low), high + 0.04 * (high - low)


def _styles(n_series: int) -> list[dict[str, Any]]:
    """Return a colour and a dash for each series: seven colours, then again with other dashes."""
    dashes = ("-", "--", "-.")
    return [
        {"color": COLORS[i % len(COLORS)], "linestyle": dashes[i // len(COLORS) % len(dashes)]}
        for i in range(n_series)
    ]


def _quiet(axes: Axes, window: int) -> None:
    axes.set(ylim=(0, None), yticks=[], xticks=[1, window])
    axes.tick_params(labelsize=TICK)
    axes.margins(x=0.02)


def _known(model: SeriesAtoms, names: Sequence[str] | None) -> Any:
    return model.form_.names if names is None else names


def _legend(figure: Figure, lines: Sequence[Line2D], names: Sequence[str] | None) -> None:
    """Add a legend if the series have names and are not too many."""
    if names is not None and len(lines) <= LISTED:
        shown = [plain(str(name)) for name in names]
        style: dict[str, Any] = {"frameon": False, "fontsize": 8, "loc": "outside lower center"}
        figure.legend(lines, shown, ncols=min(6, len(shown)), **style)
