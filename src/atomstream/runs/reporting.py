"""The report of a run: what was learned, how well, from what, and how."""

from __future__ import annotations

import platform
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp

import atomstream
from atomstream.runs.folder import RunFolder
from atomstream.runs.record import Record
from atomstream.viz import plots
from atomstream.viz.report import Section

__all__ = ["TITLE", "facts", "how", "quality", "sections", "top_atoms"]

TITLE = "Atoms"

MOST_LISTED = 20


def facts(record: Record) -> dict[str, Any]:
    """Return the run in a few lines."""
    model = record.model
    told: dict[str, Any] = {
        "model": f"{type(model).__name__}, {len(model.components_)} atoms of {model.n_features_in_} features",
        "samples": f"{model.n_samples_seen_:,} in {model.n_steps_:,} steps",
    }
    if record.settings is not None:
        epochs, done = record.settings.epochs, record.notes["position"][0]
        told["state"] = "complete" if record.complete else f"{done} of {epochs} passes complete"
        if record.complete is None:
            told["state"] = "open: goes on with what comes on standard input"
        told["time"] = f"{record.notes['seconds']:.1f} s"
    told["objective"] = f"{record.objective:.6g} per sample, recent batches before their update"
    return told


def quality(record: Record) -> dict[str, float]:
    """Return figures on the rows held out, empty where there are none."""
    model, rows = record.model, record.held_out
    if rows is None or not rows.shape[0]:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = rows.data if sp.issparse(rows) else rows
        energy = 0.5 * float(np.nansum(values.astype(float) ** 2)) / rows.shape[0]
        return {
            "unexplained share of the energy": -model.score(rows) / energy if energy else 0.0,
            "mean objective": model.objective(rows),
            "stationarity": model.stationarity(rows),
            "surrogate": model.surrogate(),
            "surrogate gap": model.surrogate_gap(rows),
        }


def top_atoms(record: Record, n_atoms: int = MOST_LISTED) -> list[tuple[int, float, float, str]]:
    """Return number, shares of code and energy, and largest features or samples of the most important atoms."""
    model = record.model
    strength = model.memory_.atom_energy(model.state_.dictionary)
    energy = strength / max(strength.sum(), np.finfo(float).tiny)
    listed, names = [], record.names
    for atom in np.argsort(-model.importance_, kind="stable")[:n_atoms]:
        row = model.components_[atom]
        top = np.argsort(-np.abs(row), kind="stable")[:4]
        features = (
            ", ".join(f"{names[i]} {row[i]:.2g}" for i in top if row[i])
            if names is not None
            else ""
        )
        if hasattr(model, "explain"):
            features = ", ".join(
                f"{part.share:.0%} of row {part.id}" for part in model.explain(int(atom))
            )
        listed.append((int(atom), float(model.importance_[atom]), float(energy[atom]), features))
    return listed


def sections(record: Record) -> list[Section]:
    """Return the chapters of the report."""
    return [*_learned(record), *_how_well(record), *_from_what(record), *how(record)]


def _learned(record: Record) -> list[Section]:
    model = record.model
    named = record.names is not None
    if record.shape is not None:
        figure, kind = plots.atoms(model, record.shape), "patches"
    elif named or model.n_features_in_ <= plots.FEW:
        figure, kind = plots.bars(model, record.names), "the features that weigh most in each"
    else:
        figure, kind = plots.curves(model), "curves over the features"
    told_of = ["made of"] if hasattr(model, "explain") else ["largest features"] if named else []
    columns = ["atom", "share of the code, %", "share of the energy, %", *told_of]
    rows = [
        (atom, 100 * code, 100 * energy, *([features] if told_of else []))
        for atom, code, energy, features in top_atoms(record)
    ]
    unused = int((model.importance_ == 0).sum())
    n_drawn = len(model.components_) if record.shape is not None else len(figure.axes)
    told = (
        f"{min(n_drawn, len(model.components_))} of {len(model.components_)} atoms as {kind}, most important first "
        "(the order of the table), with the share of each in all codes."
    )
    return [
        Section("atoms", "Atoms", told, figure, chapter="What was learned"),
        Section(
            "importance",
            f"The {len(rows)} most important of {len(model.components_)} atoms",
            f"{unused} atoms were never used." if unused else "",
            columns=columns,
            rows=rows,
        ),
    ]


def _how_well(record: Record) -> list[Section]:
    found: list[Section] = []
    rows, chapter = record.held_out, "How well"
    if rows is not None and rows.shape[0]:
        told = "Rows that were not learned from, from the smallest relative error to the largest."
        figure = plots.triples(record.model, rows, record.shape, names=record.names)
        found.append(Section("held_out", "Held-out rows", told, figure, chapter=chapter))
        figures = {name: f"{value:.4g}" for name, value in quality(record).items()}
        caption = (
            f"On {rows.shape[0]} rows that were not learned from. Stationarity is 0 at a critical point; the "
            "surrogate gap tends to 0, up to the sampling error of these rows."
        )
        found.append(Section("quality", "Figures", caption, facts=figures))
        chapter = ""
    history = record.history
    if history.n_samples:
        told = "Mean objective of each batch before it was learned from; it varies with the samples of the batch."
        found.append(
            Section("objective", "Learning", told, plots.objective(history), chapter=chapter)
        )
    return found


def _from_what(record: Record) -> list[Section]:
    if record.settings is None:
        return []
    notes, inputs = record.notes, list(record.settings.inputs)
    missing = notes["n_missing"] / max(notes["n_entries"], 1)
    told = {
        "inputs": ", ".join(inputs[:5])
        + (f" and {len(inputs) - 5} more" if len(inputs) > 5 else ""),
        "rows learned from": f"{record.model.n_samples_seen_:,}, passes included",
        "rows held out": f"{0 if record.held_out is None else record.held_out.shape[0]:,}, never learned from",
        "missing entries": f"{100 * missing:.2f} %" if record.settings.missing else "none allowed",
    }
    return [Section("inputs", "", facts=told, chapter="From what")]


def how(record: Record) -> list[Section]:
    """Return the chapter on settings, versions, time and warnings, of any kind of run."""
    learner = getattr(record.model, "learner_", record.model)
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    versions = {"atomstream": atomstream.__version__, "Python": platform.python_version()}
    versions |= {name: version(name) for name in packages}
    told: dict[str, Any] = {"settings": repr(record.model).replace("\n", " ")}
    told["versions"] = ", ".join(f"{name} {number}" for name, number in versions.items())
    if record.settings is not None:
        seconds = record.notes["seconds"]
        n_seen = getattr(learner, "n_samples_seen_", None) or learner.n_steps_
        told["time"] = (
            f"{seconds:.1f} s, reading and compiling included; {n_seen / max(seconds, 1e-9):,.0f} a second"
        )
        events = [event["event"] for event in RunFolder(record.path).events()]
        told["sessions"] = f"{1 + events.count('resume')}"
    if hasattr(learner, "n_reseeded_"):
        told["re-seeded atoms"] = learner.n_reseeded_
    told["warnings"] = "; ".join(record.notes.get("warnings", [])) or "none"
    return [Section("how", "", facts=told, chapter="How")]
