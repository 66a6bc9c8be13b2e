"""The report of a run on series: atoms as curves, what was observed and predicted, before and after."""

from __future__ import annotations

from typing import Any

import numpy as np

from atomstream.runs.record import Record
from atomstream.runs.reporting import how
from atomstream.runs.series_settings import ForecastSettings
from atomstream.viz import plots
from atomstream.viz.report import Section

__all__ = ["TITLE", "facts", "quality", "sections", "top_atoms"]

TITLE = "Patterns over time"

MOST_SERIES = 12  # drawn over time


def facts(record: Record) -> dict[str, Any]:
    """Return the run in a few lines."""
    model, notes = record.model, record.notes
    n, window, d = model.atoms_.shape
    told: dict[str, Any] = {
        "model": f"SeriesDictionary, {n} atoms of {window} times x {d} series",
        "rows": f"{model.n_rows_:,}, in {model.n_steps_:,} steps of the learner",
    }
    if "seconds" in notes:
        told["missing entries"] = f"{notes['n_missing']:,} of {notes['n_times'] * d:,}"
        told["time"] = f"{notes['seconds']:.1f} s"
    told["objective"] = f"{record.objective:.6g} per window, recent batches before their update"
    return told


def quality(record: Record) -> dict[str, float]:
    """Return the errors that were measured while learning."""
    return dict(record.notes.get("figures", {}))


def top_atoms(record: Record, n_atoms: int = 20) -> list[tuple[int, float, float, str]]:
    """Return number, share of the code, share of the energy, and the largest series of the most important atoms."""
    model = record.model
    learner, names = model.learner_, _names(record)
    strength = learner.memory_.atom_energy(learner.state_.dictionary)
    energy = strength / max(strength.sum(), np.finfo(float).tiny)
    listed = []
    for atom in np.argsort(-model.importance_, kind="stable")[:n_atoms]:
        curves = model.atoms_[atom]
        top = np.argsort(-curves.mean(axis=0), kind="stable")[:3]
        told = ", ".join(f"{names[i]} {_course(curves[:, i])}" for i in top if curves[:, i].any())
        listed.append((int(atom), float(model.importance_[atom]), float(energy[atom]), told))
    return listed


def _course(curve: Any) -> str:
    """Say how a curve goes from its first to its last value."""
    change = curve[-1] - curve[0]
    return "level" if abs(change) < 0.1 * curve.max() else "up" if change > 0 else "down"


def _names(record: Record) -> list[str]:
    """Return the names of the series, or their numbers from 1."""
    known = record.notes.get("series", record.model.form_.names)
    return (
        [str(i + 1) for i in range(record.model.atoms_.shape[2])]
        if known is None
        else [str(n) for n in known]
    )


def sections(record: Record) -> list[Section]:
    """Return the chapters of the report."""
    model, names = record.model, _names(record)
    n_drawn = min(24, len(model.atoms_))
    told = (
        f"{n_drawn} of {len(model.atoms_)} atoms, most important first, with the share of each in all codes: what "
        "the series do together in a window, in the units that were learned (after logarithm and scale)."
    )
    figure = plots.series_atoms(model, names=names)
    found = [Section("atoms", "Atoms", told, figure, chapter="What was learned")]
    rows = [
        (atom, 100 * code, 100 * energy, text) for atom, code, energy, text in top_atoms(record)
    ]
    columns = ["atom", "share of the code, %", "share of the energy, %", "largest series"]
    found.append(
        Section("importance", f"The {len(rows)} most important atoms", columns=columns, rows=rows)
    )
    if model.initial_atoms_ is not None:
        told = (
            "The atoms that the online phase moved most: dotted after the initialisation, full as they are now; "
            "changed is one minus the cosine between the two."
        )
        figure = plots.series_change(model, names=names)
        found.append(Section("change", "Before and after the online phase", told, figure))
    return [*found, *_how_well(record, names), *_from_what(record), *how(record)]


def _how_well(record: Record, names: list[str]) -> list[Section]:
    notes, chapter = record.notes, "How well"
    if "observed" not in notes:
        return []
    ahead, labels = notes.get("ahead"), [*notes["labels"]][-len(notes["observed"]) :]
    if ahead is None:
        told = (
            "Observed, and rebuilt from the atoms, with dots where a missing entry was filled; the last rows. The "
            "error below is in-sample: it is measured on entries that were learned from; filled ones may be further "
            "off."
        )
    else:
        labels += [*notes["ahead_labels"]]
        told = (
            "Observed, and predicted one step ahead by the model of the moment, which had seen earlier rows only; "
            f"then the forecast, with bands of {100 * record.settings.coverage:g} % one step ahead, widened by the "
            "square root of the step and cut where they leave the picture. Errors below are in the units that were "
            "learned."
        )
    if len(names) > MOST_SERIES:
        told += f" {MOST_SERIES} of {len(names)} series."
    some = slice(None, MOST_SERIES)
    figure = plots.series_forecast(
        notes["observed"][:, some],
        notes["predicted"][:, some],
        None if ahead is None else ahead[:, :, some],
        names=names[some],
        labels=labels,
    )
    title = "Observed and rebuilt" if ahead is None else "Observed and predicted"
    figures = {name: f"{value:.4g}" for name, value in quality(record).items()}
    found = [Section("course", title, told, figure, chapter=chapter, facts=figures)]
    if record.history.n_samples:
        told = "Mean objective of each batch of windows before it was learned from."
        found.append(Section("objective", "Learning", told, plots.objective(record.history)))
    return found


def _from_what(record: Record) -> list[Section]:
    if record.settings is None:
        return []
    settings, notes = record.settings, record.notes
    told = {
        "input": settings.inputs[0],
        "times": f"{notes['n_times']:,}, last {notes['labels'][-1]}",
    }
    told["series"] = ", ".join(_names(record)[:20])
    average = getattr(settings, "average", 1)
    steps = [f"trailing mean of {average}"] * (average > 1)
    steps += ["logarithm of one plus the value"] * settings.log
    first = f"divided by the largest value of its first {record.model._n_init} rows"
    forecasts = isinstance(settings, ForecastSettings)
    steps += [
        f"each series {first if forecasts else 'scaled by its range in the table'}"
    ] * settings.scale
    told["prepared by"] = ", ".join(steps) or "nothing"
    return [Section("inputs", "", facts=told, chapter="From what")]
