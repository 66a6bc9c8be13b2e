"""The report of a run on documents: the words of each topic as bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from atomstream.runs.record import Record
from atomstream.runs.reporting import how
from atomstream.viz import plots
from atomstream.viz.report import Section

__all__ = ["TITLE", "facts", "quality", "sections", "top_atoms"]

TITLE = "Topics"

N_WORDS = 6  # of a topic in tables


def facts(record: Record) -> dict[str, Any]:
    """Return the run in a few lines."""
    model = record.model
    told: dict[str, Any] = {
        "model": f"TopicModel, {len(model.components_)} topics of {model.components_.shape[1]:,} features, "
        f"words by {model.vectorizer}",
        "documents": f"{model.learner_.n_samples_seen_:,} in {model.n_steps_:,} steps, passes included",
    }
    if record.settings is not None:
        epochs, done = record.settings.epochs, record.notes["position"][0]
        told["state"] = "complete" if record.complete else f"{done} of {epochs} passes complete"
        told["time"] = f"{record.notes['seconds']:.1f} s"
    told["objective"] = f"{record.objective:.6g} per document, recent batches before their update"
    return told


def quality(record: Record) -> dict[str, float]:
    """Return nothing: no documents are held out."""
    return {}


def top_atoms(record: Record, n_atoms: int = 20) -> list[tuple[int, float, float, str]]:
    """Return number, share of all words, what its six likeliest words make of it, and these, of the top topics."""
    return [
        (topic, share, sum(of for _, of in words), ", ".join(word for word, _ in words))
        for topic, share, words in plots.topics_data(record.model, n_atoms, N_WORDS)
    ]


def sections(record: Record) -> list[Section]:
    """Return the chapters of the report."""
    model = record.model
    n_drawn = len(model.components_)
    bars = Section(
        "topics",
        "Topics",
        f"All {n_drawn} topics, the one that explains most words first; bars are the shares of its eight likeliest "
        "words."
        + (
            " A word names all words that share its feature."
            if model.vectorizer == "hashing"
            else ""
        ),
        plots.topics(model, n_topics=n_drawn),
        chapter="What was learned",
    )
    rows = [
        (topic, 100 * share, 100 * ten, words)
        for topic, share, ten, words in top_atoms(record, n_drawn)
    ]
    columns = ["topic", "share of all words, %", "six words make, %", "six likeliest words"]
    table = Section("words", "Their words", columns=columns, rows=rows)
    return [bars, table, *_how_well(record), *_from_what(record), *how(record)]


def _how_well(record: Record) -> list[Section]:
    if not record.history.n_samples:
        return []
    told = "Mean divergence of the documents of each batch before it was learned from."
    return [
        Section("objective", "Learning", told, plots.objective(record.history), chapter="How well")
    ]


def _from_what(record: Record) -> list[Section]:
    if record.settings is None:
        return []
    settings, inputs = record.settings, list(record.settings.inputs)
    told: dict[str, Any] = {
        "inputs": ", ".join(inputs[:5])
        + (f" and {len(inputs) - 5} more" if len(inputs) > 5 else ""),
        "documents": f"{record.notes['n_documents']:,}",
        "a document is": f"a {settings.per} of text files, {settings.field!r} of JSON lines, "
        + ("the column of tables" if settings.column is None else f"{settings.column!r} of tables"),
        "stop words": settings.stop_words,
    }
    words = record.model.vocabulary_.names
    if words is not None:
        told["features with a word"] = f"{int(np.sum(words != '')):,}"
    return [Section("inputs", "", facts=told, chapter="From what")]
