"""How dictionaries of series are looked at: atoms as curves, what was observed and predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.runs.record import Record
from atomstream.runs.task import Table, View
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.report import Section

__all__ = ["SeriesView"]

MOST_SERIES = 12  # drawn over time


class SeriesView(View):
    """Dictionaries of what series do together over a window of time."""

    learned_from = "series"
    title = "Patterns over time"
    quality_on = "the table learned from"

    def facts(self, record: Record) -> dict[str, Any]:
        """Return the run in a few lines."""
        model, notes = record.model, record.notes
        n, window, d = model.atoms_.shape
        facts: dict[str, Any] = {
            "model": f"SeriesDictionary, {n} atoms of {window} times x {d} series",
            "rows": f"{model.n_rows_:,}, in {model.n_steps_:,} steps of the learner",
        }
        if "n_missing" in notes:
            facts["missing entries"] = f"{notes['n_missing']:,} of {notes['n_times'] * d:,}"
        return facts | common.progress(record, "tables") | common.objective(record, "window")

    def quality(self, record: Record) -> dict[str, float]:
        """Return the errors that were measured while learning."""
        return dict(record.notes.get("figures", {}))

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy, and the largest series of atoms."""
        model, names, rows = record.model, _names(record), []
        atoms = model.atoms_
        energy = common.energy_shares(model.learner_)
        for atom in np.argsort(-model.importance_, kind="stable")[:most]:
            curves = atoms[atom]
            top = np.argsort(-curves.mean(axis=0), kind="stable")[:3]
            text = ", ".join(
                f"{names[i]} {_trend(curves[:, i])}" for i in top if curves[:, i].any()
            )
            rows.append((int(atom), float(model.importance_[atom]), float(energy[atom]), text))
        heads = {"code_share": "share of the code", "energy_share": "share of the energy"}
        return Table("atom", heads | {"features": "largest series"}, rows)

    def sections(self, record: Record) -> list[Section]:
        """Return the sections of the report."""
        model, names, table = record.model, _names(record), self.table(record)
        n_atoms = len(model.atoms_)
        caption = (
            f"{min(24, n_atoms)} of {n_atoms} atoms, most important first, with the share of each "
            f"in all codes: what the series do together in a window, {_units(record)}."
        )
        figure = plots.series_atoms(model, names=names)
        title = f"The {len(table.rows)} most important atoms"
        found = [
            Section("atoms", "Atoms", caption, figure, chapter="What was learned"),
            common.table_section("importance", title, table),
        ]
        if model.initial_atoms_ is not None:
            caption = (
                "The atoms that the online phase moved most: dotted after the initialisation, "
                "solid as they are now. The change is one minus the cosine between the two."
            )
            figure = plots.series_change(model, names=names)
            title = "Before and after the online phase"
            found.append(Section("change", title, caption, figure))
        found += self._how_well(record, names) + _from_what(record)
        return found + common.how(record)

    def _how_well(self, record: Record, names: list[str]) -> list[Section]:
        notes = record.notes
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
                "cut where they leave the picture. Errors are in the units that were learned."
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
        figures = {name: f"{value:.4g}" for name, value in self.quality(record).items()}
        course = Section("course", title, caption, figure, chapter="How well", facts=figures)
        return [course, *common.learning(record, "windows")]


def _trend(curve: NDArray) -> str:
    """Return how a curve goes from its first to its last value."""
    change = curve[-1] - curve[0]
    return "level" if abs(change) < 0.1 * curve.max() else "up" if change > 0 else "down"


def _names(record: Record) -> list[str]:
    """Return the names of the series, or their numbers from 1."""
    known = record.notes.get("series", record.model.form_.names)
    n_series = record.model.atoms_.shape[2]
    return [str(i + 1) for i in range(n_series)] if known is None else [str(n) for n in known]


def _units(record: Record) -> str:
    settings = record.settings
    steps = [] if settings is None else ["logarithm"] * settings.log + ["scaling"] * settings.scale
    return f"after {' and '.join(steps)}" if steps else "in the units of the table"


def _from_what(record: Record) -> list[Section]:
    settings, notes = record.settings, record.notes
    if settings is None or "n_times" not in notes:
        return []
    average = getattr(settings, "average", 1)  # of forecasts alone
    steps = [f"trailing mean of {average}"] * (average > 1)
    steps += ["logarithm of one plus the value"] * settings.log
    if "ahead" in notes:
        scale = f"divided by the largest value of its first {record.model._n_init} rows"
    else:
        scale = "scaled by its range in the table"
    steps += [f"each series {scale}"] * settings.scale
    facts = {
        "input": settings.inputs[0],
        "times": f"{notes['n_times']:,}, last {notes['labels'][-1]}",
        "series": ", ".join(_names(record)[:20]),
        "prepared by": ", ".join(steps) or "nothing",
    }
    return [Section("inputs", "", facts=facts, chapter="From what")]
