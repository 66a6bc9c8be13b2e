"""How topic models are looked at: the words of each topic as bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.io.documents import open_documents
from atomstream.runs.record import Record
from atomstream.runs.task import Table
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.report import Section

N_WORDS = 6  # of a topic in tables
DOCUMENTS = 4096  # coded at a time


class TextView(common.CommonView):
    """Topics: distributions over words."""

    learned_from = "texts"
    of = "document"
    title = "Topics"

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model, n_seen = record.model, record.learner.n_samples_seen_
        n_topics, n_features = model.components_.shape
        kind = f"{counted(n_topics, 'topic')} of {counted(n_features, 'feature')}"
        return {
            "model": f"TopicModel, {kind}, words by {model.vectorizer}",
            "documents": f"{n_seen:,} in {counted(model.n_steps_, 'step')}, passes included",
        }

    def table(self, record: Record, most: int = 20) -> Table:
        """Return the share of all words, the share of the likeliest six, and these, of topics."""
        rows = [
            (topic, share, sum(of for _, of in words), ", ".join(word for word, _ in words))
            for topic, share, words in plots.topics_data(record.model, most, N_WORDS)
        ]
        heads = {
            "code_share": "share of all words",
            "top six_share": "share of the topic that its six likeliest words make up",
            "features": "six likeliest words",
        }
        return Table("atom", heads, rows)

    def learned(self, record: Record) -> list[Section]:
        """Return the words of each topic."""
        model, n_topics = record.model, len(record.model.components_)
        caption = (
            f"All {counted(n_topics, 'topic')}, the one that explains most words first; bars are "
            "the shares of its eight likeliest words."
        )
        if model.vectorizer == "hashing":
            caption += " A word stands for all words that share its feature."
        figure = plots.topics(model, n_topics=n_topics)
        table = replace(self.table(record, n_topics), name="topic")
        return [
            Section("topics", "Topics", caption, figure),
            common.table_section("words", "Their words", table),
        ]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the documents."""
        settings, words = record.settings, record.model.vocabulary_.names
        column = "the column" if settings.column is None else f"{settings.column!r}"
        facts = {
            "inputs": common.inputs(record),
            "documents": f"{record.notes['n_documents']:,}",
            "a document is": f"a {settings.per} of text files, {settings.field!r} of JSON lines, "
            f"{column} of tables",
            "stop words": settings.stop_words,
        }
        if words is not None:
            facts["features with a word"] = f"{int(np.sum(words != '')):,}"
        return facts

    def encode(self, record: Record, inputs: Sequence[str]) -> tuple[int, Iterator[NDArray]]:
        """Return the number of topics, and the codes of all documents, block by block."""
        known = record.settings
        how = (known.per, known.field, known.column) if known else ("line", "text", None)
        documents = chain.from_iterable(open_documents(tuple(inputs), *how))

        def codes() -> Iterator[NDArray]:
            while block := list(islice(documents, DOCUMENTS)):
                yield record.model.transform(block)

        return len(record.model.components_), codes()
