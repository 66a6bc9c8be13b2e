"""Dictionaries of series: atoms as curves, what was observed and predicted."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, checked_array, counted
from atomstream.looks import FileCoder, Look, Record, Section, Table, canvas, report
from atomstream.looks.canvas import BLUE, COLORS, ORANGE, TEXT, heading, panels, plain, shown
from atomstream.looks.cards import Picture, curves
from atomstream.looks.samples import SHOWN

MOST_SERIES = 12  # drawn over time
SIDES = ("left", "center", "right")  # of three labels, so that neighbours do not touch
LISTED = 24  # most names in a legend


class SeriesLook(Look):
    """The look of dictionaries of what series do together over a window of time."""

    files = FileCoder("series")
    of = "window"
    samples = (
        "windows, half of which their neighbour shares; the curves of the series that are named "
        "are solid, dashed and dotted in that order"
    )
    title = "Patterns over time"
    quality_on = "the table learned from"

    def plot(self, model: Any, **options: Any) -> canvas.Figure:
        """Draw the atoms as curves."""
        return series_atoms(model, **options)

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model, notes = record.model, record.notes
        n, window, d = model.atoms_.shape
        facts = {
            "model": f"SeriesDictionary, {counted(n, 'atom')} of {window} times x {d} series",
            "rows": f"{model.n_rows_:,}, in {counted(model.n_steps_, 'step')} of the learner",
        }
        if "n_missing" in notes:
            facts["missing entries"] = f"{notes['n_missing']:,} of {notes['n_times'] * d:,}"
        return facts

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy, and the largest series of atoms."""
        names, atoms = _names(record), record.model.atoms_

        def largest(atom: int) -> str:
            top = np.argsort(-atoms[atom].mean(axis=0), kind="stable")[:3]
            curves = ((names[i], atoms[atom, :, i]) for i in top)
            return ", ".join(f"{name} {_trend(curve)}" for name, curve in curves if curve.any())

        return report.atoms_table(record, most, "largest series", largest)

    def small(self, values: NDArray) -> list[Picture]:
        """Return windows as curves."""
        return [curves(window) for window in values]

    def drawn(self, record: Record, values: NDArray) -> list[Picture]:
        """Return windows as curves: of many series those that weigh most in the atom."""
        if values.ndim < 3 or values.shape[2] <= SHOWN:
            return self.small(values)
        sizes = np.abs(record.model.atoms_).mean(axis=1)
        tops = np.argsort(-sizes, axis=1, kind="stable")[:, :SHOWN]
        return [curves(window[:, top]) for window, top in zip(values, tops, strict=True)]

    def options(self, record: Record) -> dict[str, Any]:
        """Return the names of the series."""
        return {"names": _names(record)}

    def caption(self, record: Record) -> str:
        """Return what the picture of the atoms shows, and in which units."""
        n_atoms, units = len(record.model.atoms_), _units(record)
        if record.model.center:
            units += ", each series relative to its offset and in its own scale"
        return (
            f"{min(24, n_atoms)} of {counted(n_atoms, 'atom')}, most important first, with the "
            f"importance of each: what the series do together in a window, {units}."
        )

    def learned(self, record: Record) -> list[Section]:
        """Return the atoms as curves, their shares, and how the online phase moved them."""
        found = super().learned(record)
        # A model that was fitted row by row from the start has no phase before.
        if record.model.initial_atoms_ is not None:
            caption = (
                "The atoms that the online phase moved most: dotted after the initialisation, "
                "solid as they are now. The change is one minus the cosine between the two."
            )
            figure = series_change(record.model, **self.options(record))
            found.append(Section("change", "Before and after the online phase", caption, figure))
        return found

    def judged(self, record: Record) -> list[Section]:
        """Return what was observed beside what was rebuilt or predicted."""
        notes, names = record.notes, _names(record)
        if "observed" not in notes:
            return []
        ahead, labels = notes.get("ahead"), [*notes["labels"]][-len(notes["observed"]) :]
        if ahead is None:
            title = "Observed and rebuilt"
            caption = (
                "The last rows as observed and as rebuilt from the atoms; dots mark missing "
                "entries that were filled. The error below is in-sample: it is measured on entries "
                "that the model learned from. Filled entries may be further off."
            )
        else:
            # One axis of times: the forecast goes on where observations end.
            labels += [*notes["ahead_labels"]]
            title = "Observed and predicted"
            coverage = 100 * record.settings.coverage
            caption = (
                "The last rows as observed, and as predicted one step ahead by a model that had "
                f"seen earlier rows only; then the forecast with bands of {coverage:g} %. The "
                f"bands hold one step ahead, are widened by the square root of the step, and are "
                f"cut where they leave the picture. Errors are {_units(record)}."
            )
        if len(names) > MOST_SERIES:
            caption += f" {MOST_SERIES} of {len(names)} series are shown."
        some = slice(None, MOST_SERIES)
        figure = series_forecast(
            notes["observed"][:, some],
            notes["predicted"][:, some],
            None if ahead is None else ahead[:, :, some],
            names=names[some],
            labels=labels,
        )
        figures = report.rounded(self.quality(record))
        return [Section("course", title, caption, figure, facts=figures)]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the table, and how it was prepared."""
        settings, notes = record.settings, record.notes
        if "n_times" not in notes:
            return {}
        average = getattr(settings, "average", 1)  # of forecasts alone
        steps = [f"trailing mean of {average}"] * (average > 1)
        steps += ["logarithm of one plus the value"] * settings.log
        # Only forecasts have rows ahead, and scale without moving the zero.
        if "ahead" in notes:
            scale = f"divided by the largest value of its first {record.model._n_init} rows"
        else:
            scale = "scaled by its range in the table"
        steps += [f"each series {scale}"] * settings.scale
        return {
            "input": settings.inputs[0],
            "times": f"{notes['n_times']:,}, last {notes['labels'][-1]}",
            "series": ", ".join(_names(record)[:20]),
            "prepared by": ", ".join(steps) or "nothing",
        }


def _trend(curve: NDArray) -> str:
    """Return how a curve goes from its first to its last value."""
    # A tenth of the height of the curve is no trend.
    change = curve[-1] - curve[0]
    return "level" if abs(change) < 0.1 * curve.max() else "up" if change > 0 else "down"


def _names(record: Record) -> list[str]:
    """Return the names of the series, or their numbers from 1."""
    known = record.notes.get("series", record.model.form_.names)
    n_series = record.model.atoms_.shape[2]
    return [str(i + 1) for i in range(n_series)] if known is None else [str(n) for n in known]


def _units(record: Record) -> str:
    """Return in which units values and errors are: what was done to the table."""
    settings = record.settings
    if settings is None:
        return "in the units that were learned"
    steps = ["trailing means"] * (getattr(settings, "average", 1) > 1)
    steps += ["logarithm"] * settings.log + ["scaling"] * settings.scale
    return f"after {' and '.join(steps)}" if steps else "in the units of the table"


def series_atoms_data(
    model: Any, n_atoms: int = 24, order: str = "importance"
) -> tuple[NDArray, NDArray]:
    """Return what `series_atoms` draws: the most important atoms, and their shares.

    The atoms are of shape (n, window, n_series).
    """
    drawn = shown(model, n_atoms, order)
    return model.atoms_[drawn], model.importance_[drawn]


def series_atoms(
    model: Any,
    *,
    names: Sequence[str] | None = None,
    n_atoms: int = 24,
    n_columns: int = 6,
    order: str = "importance",
) -> canvas.Figure:
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
    numbers = shown(model, n_atoms, order)
    for axes, number, atom, share in zip(grid, numbers, atoms, shares, strict=True):
        for curve, style in zip(atom.T, _styles(atoms.shape[2]), strict=True):
            axes.plot(range(1, len(curve) + 1), curve, linewidth=1.2, **style)
        axes.set_title(heading(number, share), fontsize=TEXT)
        _quiet(axes, atoms.shape[1])
    _legend(figure, grid[0].lines, model, names)
    return figure


def series_change_data(model: Any, n_atoms: int = 12) -> tuple[NDArray, NDArray, NDArray]:
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
    # Cosines of whole windows: an atom may be scaled without having changed.
    lengths = np.linalg.norm(before, axis=(1, 2)) * np.linalg.norm(after, axis=(1, 2))
    moved = 1 - (before * after).sum(axis=(1, 2)) / np.where(lengths > 0, lengths, 1)
    order = np.argsort(-moved, kind="stable")[:n_atoms]
    return order, moved[order]


def series_change(
    model: Any, *, names: Sequence[str] | None = None, n_atoms: int = 12, n_columns: int = 6
) -> canvas.Figure:
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
    _legend(figure, grid[0].lines[::2], model, names)
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
    observed = checked_array(observed, "observed", float)
    predicted = checked_array(predicted, "predicted", float)
    none = np.empty((0, 0, observed.shape[1]))
    ahead = none if ahead is None else checked_array(ahead, "ahead", float)
    # Holes beside each other's part, so that all curves stand on one axis.
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
) -> canvas.Figure:
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
        # Value, low and high: a forecast without bands has one part.
        if len(ahead) == 3:
            ends = ahead[1:, :, i]
            axes.fill_between(places, *ends, color=ORANGE, alpha=0.25, linewidth=0)
            lines = np.concatenate([observed[:, i], predicted[:, i], ahead[0][:, i]])
            axes.set_ylim(*_limits(lines, ahead[:, :, i]))
        axes.set_title(plain(str(name), 30), fontsize=TEXT)
        axes.margins(x=0.01)
        if labels is not None:
            ticks = np.unique(np.linspace(0, len(places) - 1, 3).round().astype(int))
            axes.set_xticks(ticks, [plain(str(labels[place])) for place in ticks])
            for text, side in zip(axes.get_xticklabels(), SIDES, strict=False):
                text.set_horizontalalignment(side)
    figure.legend(
        handles=grid[0].lines, frameon=False, fontsize=TEXT, ncols=3, loc="outside upper center"
    )
    return figure


def _limits(lines: NDArray, band: NDArray) -> tuple[float, float]:
    """Return limits that show the lines, and the band as far as it leaves the lines visible."""
    low, high = np.nanmin(lines), np.nanmax(lines)
    span = (high - low) or 1.0
    # At most as far again as the lines reach: a wide band far ahead would press them flat.
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


def _quiet(axes: canvas.Axes, window: int) -> None:
    axes.set(ylim=(0, None), yticks=[], xticks=[1, window])
    axes.margins(x=0.02)


def _legend(
    figure: canvas.Figure, lines: Sequence[Any], model: Any, names: Sequence[str] | None
) -> None:
    """Add a legend if the series have names and are not too many."""
    names = model.form_.names if names is None else names
    if names is not None and len(lines) <= LISTED:
        texts = [plain(str(name)) for name in names]
        style: dict[str, Any] = {"frameon": False, "fontsize": 8, "loc": "outside lower center"}
        figure.legend(lines, texts, ncols=min(6, len(texts)), **style)


canvas.say_reads((series_atoms, series_atoms_data), "atoms_", "a SeriesDictionary")
canvas.say_reads((series_change, series_change_data), "initial_atoms_", "a SeriesDictionary")
