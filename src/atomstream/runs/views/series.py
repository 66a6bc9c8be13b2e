"""How dictionaries of series are looked at: atoms as curves, what was observed and predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.runs.record import Record
from atomstream.runs.samples import SHOWN
from atomstream.runs.task import Table
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.cards import Picture, curves
from atomstream.viz.report import Section

MOST_SERIES = 12  # drawn over time


class SeriesView(common.CommonView):
    """Dictionaries of what series do together over a window of time."""

    learned_from = "series"
    of = "window"
    samples = (
        "windows, half of which their neighbour shares; the curves of the series that are named "
        "are solid, dashed and dotted in that order"
    )
    title = "Patterns over time"
    quality_on = "the table learned from"

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

        return common.atoms_table(record, most, "largest series", largest)

    def atoms(self, record: Record) -> NDArray:
        """Return the atoms as windows, (n_atoms, window, n_series)."""
        atoms: NDArray = record.model.atoms_
        return atoms

    def drawn(self, record: Record, values: NDArray) -> list[Picture]:
        """Return windows as curves: of many series those that weigh most in the atom."""
        if values.ndim < 3 or values.shape[2] <= SHOWN:
            return [curves(window) for window in values]
        sizes = np.abs(record.model.atoms_).mean(axis=1)
        tops = np.argsort(-sizes, axis=1, kind="stable")[:, :SHOWN]
        return [curves(window[:, top]) for window, top in zip(values, tops, strict=True)]

    def learned(self, record: Record) -> list[Section]:
        """Return the atoms as curves, their shares, and how the online phase moved them."""
        model, names, table = record.model, _names(record), self.table(record)
        n_atoms = len(model.atoms_)
        caption = (
            f"{min(24, n_atoms)} of {counted(n_atoms, 'atom')}, most important first, with the "
            "importance of each: what the series do together in a window, "
            f"{_units_of_atoms(record)}."
        )
        found = [
            Section("atoms", "Atoms", caption, plots.series_atoms(model, names=names)),
            common.importance(record, table),
        ]
        if model.initial_atoms_ is not None:
            title = "Before and after the online phase"
            caption = (
                "The atoms that the online phase moved most: dotted after the initialisation, "
                "solid as they are now. The change is one minus the cosine between the two."
            )
            figure = plots.series_change(model, names=names)
            found.append(Section("change", title, caption, figure))
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
        figure = plots.series_forecast(
            notes["observed"][:, some],
            notes["predicted"][:, some],
            None if ahead is None else ahead[:, :, some],
            names=names[some],
            labels=labels,
        )
        figures = common.rounded(self.quality(record))
        return [Section("course", title, caption, figure, facts=figures)]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the table, and how it was prepared."""
        settings, notes = record.settings, record.notes
        if "n_times" not in notes:
            return {}
        average = getattr(settings, "average", 1)  # of forecasts alone
        steps = [f"trailing mean of {average}"] * (average > 1)
        steps += ["logarithm of one plus the value"] * settings.log
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
    change = curve[-1] - curve[0]
    return "level" if abs(change) < 0.1 * curve.max() else "up" if change > 0 else "down"


def _names(record: Record) -> list[str]:
    """Return the names of the series, or their numbers from 1."""
    known = record.notes.get("series", record.model.form_.names)
    n_series = record.model.atoms_.shape[2]
    return [str(i + 1) for i in range(n_series)] if known is None else [str(n) for n in known]


def _units_of_atoms(record: Record) -> str:
    """Return in which units the atoms are."""
    if not record.model.center:
        return _units(record)
    return f"{_units(record)}, each series relative to its offset and in its own scale"


def _units(record: Record) -> str:
    """Return in which units values and errors are: what was done to the table."""
    settings = record.settings
    if settings is None:
        return "in the units that were learned"
    steps = ["trailing means"] * (getattr(settings, "average", 1) > 1)
    steps += ["logarithm"] * settings.log + ["scaling"] * settings.scale
    return f"after {' and '.join(steps)}" if steps else "in the units of the table"
