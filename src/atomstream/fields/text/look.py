"""Topic models: the words of each topic as bars, and their shares over time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted
from atomstream.exceptions import InputError
from atomstream.fields.text.documents import DocumentFile, DocumentOptions, open_documents
from atomstream.fields.text.topic_shares import TopicsOverTime
from atomstream.io.inputs import CHECKED
from atomstream.io.outputs import Labels
from atomstream.looks import Encoded, Record, Table, canvas, report
from atomstream.looks.canvas import BLUE, TEXT, TICK, Figure, empty, panels, plain, shown
from atomstream.looks.cards import Picture, Term
from atomstream.looks.look import MAX_THUMBNAILS, FileCoder, Look
from atomstream.looks.samples import UsageOverTime, Users

OVER_TIME, BEST = "topics_over_time.csv", "top_documents.csv"
N_WORDS = 6  # of a topic in tables
N_RELEVANT = 10  # words of a topic, for each weight of relevance
MIN_SHARE = 1e-6  # share of a topic below which it does not hold a word
TINY = 1e-300
DOCUMENTS = 4096  # coded at a time


class TextCoder(FileCoder):
    """Codes documents by the shares of their topics."""

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Encoded:
        """Return the shares of the topics in each document, NaN where none of its words is known.

        Empty documents keep their place, so that every document has a row.
        """
        known = record.settings
        wanted = DocumentOptions() if known is None else known.document_options()
        unless = frozenset(CHECKED) - record.reading.keys()
        table = replace(wanted.table, where_used=unless, **record.reading)
        wanted = replace(wanted, labels=tuple(ids), known=wanted.labels, empty=True, table=table)
        files, model = open_documents(inputs, wanted), record.model
        names = [file.row_names for file in files]
        # One table of codes has one set of columns.
        if any(named != names[0] for named in names):
            raise InputError(
                f"Documents of {files[0].name} are named by {', '.join(names[0]) or 'nothing'}, "
                "those of other inputs by other columns; they must agree."
            )
        return Encoded(len(model.components_), _shares(model, files), names[0], "topic")


class TextLook(Look):
    """The look of topics: distributions over words."""

    files = TextCoder("texts", has_ids=True, reads_tables=True)
    of = "document"
    title = "Topics"

    def plot(self, model: Any, **options: Any) -> Figure:
        """Draw the words of each topic as bars."""
        return topics(model, **options)

    def thumbnails(self, model: Any) -> str:
        """Return the words of the most important topics as HTML."""
        return "".join(
            f"<div>topic {topic} ({100 * share:.1f} %): "
            f"{escape(', '.join(word for word, _ in words))}</div>"
            for topic, share, words in topics_data(model, MAX_THUMBNAILS)
        )

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model, n_seen = record.model, record.learner.n_samples_seen_
        n_topics, n_features = model.components_.shape
        kind = f"{counted(n_topics, 'topic')} of {counted(n_features, 'feature')}"
        facts = {
            "model": f"TopicModel, {kind}, words by {model.vectorizer}",
            "documents": f"{n_seen:,} in {counted(model.n_steps_, 'step')}, passes included",
        }
        if "coherence" in record.notes:
            coherence = np.asarray(record.notes["coherence"])
            facts["coherence"] = (
                f"{np.nanmean(coherence):.3f} on average, {np.nanmin(coherence):.3f} to "
                f"{np.nanmax(coherence):.3f} (NPMI of ten words in documents learned from)"
            )
        return facts

    def table(self, record: Record, most: int = 20) -> Table:
        """Return the share of all words, the share of the likeliest six, and these, of topics."""
        rows = [
            (topic, share, sum(of for _, of in words), ", ".join(word for word, _ in words))
            for topic, share, words in topics_data(record.model, most, N_WORDS)
        ]
        heads = {"code_share": "share of words", "top six_share": "its six words"}
        return Table("topic", heads | {"features": "six likeliest words"}, rows)

    def drawn(self, record: Record, values: NDArray) -> list[Picture]:
        """Return nothing: topics are looked at by their words."""
        return []

    def terms(self, record: Record) -> list[list[Term]]:
        """Return the words of each topic that are relevant to it, whatever the weight of that."""
        model = record.model
        topics = np.asarray(model.components_, np.float64)
        # Rows of a dictionary need no sum of one; topics are distributions.
        topics = topics / np.maximum(topics.sum(axis=1, keepdims=True), TINY)
        # How often each word is said at all, by the shares of the topics: what lift is measured
        # against.
        overall = np.maximum(model.importance_ @ topics, TINY)
        return [_relevant(topic, topic / overall, model.vocabulary_.word) for topic in topics]

    def users(self, record: Record) -> Users | None:
        """Return the documents that the run has kept, and the shares of the topics in them."""
        notes = record.notes
        if "document_shares" not in notes:
            return None
        texts, shares = notes["document_texts"], notes["document_shares"]
        return Users(
            shares,
            lambda i: f"document {notes['document_places'][i]}",
            "Samples are documents learned from, cut after 300 characters; those listed have many "
            "words of their topics.",
            text=texts.tolist().__getitem__,
        )

    def usage(self, record: Record) -> UsageOverTime | None:
        """Return the shares of the topics by date, where documents have dates."""
        notes = record.notes
        if "time_shares" not in notes:
            return super().usage(record)
        return UsageOverTime(notes["time_starts"].tolist(), np.nan_to_num(notes["time_shares"]), [])

    def learned(self, record: Record) -> list[report.Section]:
        """Return the words of each topic."""
        model, n_topics = record.model, len(record.model.components_)
        caption = (
            f"All {counted(n_topics, 'topic')}, the one that explains most words first; bars are "
            "the shares of its eight likeliest words."
        )
        if model.vectorizer == "hashing":
            caption += " A word stands for all words that share its feature."
        figure = self.plot(model, n_topics=n_topics)
        table = self.table(record, n_topics)
        return [
            report.Section("topics", "Topics", caption, figure),
            report.table_section("words", "Their words", table),
            *_over_time(record),
        ]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the documents."""
        settings, words = record.settings, record.model.vocabulary_.names
        column = "the column" if settings.column is None else f"{settings.column!r}"
        facts = {
            "inputs": report.inputs(record),
            "documents": f"{record.notes['n_documents']:,}",
            "a document is": f"a {settings.per} of text files, "
            f"{(settings.column or settings.field)!r} of JSON lines, {column} of tables",
            "stop words": ", ".join(settings.stop_words),
        }
        if words is not None:
            facts["features with a word"] = f"{int(np.sum(words != '')):,}"
        return facts


def _relevant(share: NDArray, lift: NDArray, word: Callable[[int], str]) -> list[Term]:
    """Return the words that are among the ten most relevant of a topic for some weight.

    Relevance is the sum of the logarithm of the share, with a weight, and that of the lift, with
    the rest of the weight (Sievert and Shirley, 2014, "LDAvis", eq. 1); 0.6 is their advice.
    """
    held = np.flatnonzero(share > MIN_SHARE)
    # A topic without any word above the bound still has its largest.
    held = held if len(held) else np.array([int(share.argmax())])
    logs = np.log(share[held]), np.log(lift[held])

    def ranked(weight: float) -> NDArray:
        return held[np.argsort(-(weight * logs[0] + (1 - weight) * logs[1]), kind="stable")]

    # For all weights at once: the page has a slider, and shows of these words what it asks for.
    chosen = {int(i) for weight in np.linspace(0, 1, 11) for i in ranked(weight)[:N_RELEVANT]}
    order = [int(i) for i in ranked(0.6) if int(i) in chosen]
    return [Term(word(i), float(share[i]), float(lift[i])) for i in order]


def _shares(model: Any, files: Sequence[DocumentFile]) -> Iterator[tuple[Labels, NDArray]]:
    """Yield what documents are called, and the shares of the topics in them."""
    entries = chain.from_iterable(file.entries() for file in files)
    while block := list(islice(entries, DOCUMENTS)):
        shares = model.topic_shares([entry.text for entry in block])
        # A document without any known word belongs to no topic.
        shares[~shares.any(axis=1)] = np.nan
        labels = zip(*(entry.labels for entry in block), strict=True)
        yield [np.array(part, object) for part in labels], shares


def _over_time(record: Record) -> list[report.Section]:
    """Return the picture of the shares over time, where documents have dates."""
    notes, settings = record.notes, record.settings
    if "time_shares" not in notes:
        return []
    starts = np.array([*notes["time_starts"]], "datetime64[D]")
    found = TopicsOverTime(starts, notes["time_shares"], notes["time_documents"])
    words = [", ".join(word for word, _ in listed) for listed in record.model.top_words(4)]
    unit = "" if len(starts) < 2 else f" {_span(starts)}"
    caption = (
        f"Mean share of each topic in the documents of each{unit}, by the dates in "
        f"{settings.date!r}; those that vary most, with their likeliest words. All of them are in "
        f"{OVER_TIME}."
    )
    if undated := notes.get("n_undated", 0):
        caption += f" {counted(undated, 'document')} without a date left out."
    return [report.Section("over_time", "Over time", caption, topics_over_time(found, words))]


def _span(starts: NDArray) -> str:
    """Return the name of a span, from where spans begin."""
    # The longest gap between neighbours: months and years differ in length.
    days = int(np.diff(starts).max().astype(int))
    return "day" if days == 1 else "week" if days == 7 else "month" if days < 32 else "year"


def topics_data(
    model: Any, n_topics: int = 20, n_words: int = 8, order: str = "importance"
) -> list[tuple[int, float, list[tuple[str, float]]]]:
    """Return what `topics` draws: numbers, shares of all words, and top words of topics.

    Words that a topic does not hold are left out, where others are there.
    """
    words = [
        [pair for place, pair in enumerate(listed) if pair[1] > MIN_SHARE or not place]
        for listed in model.top_words(n_words)
    ]
    drawn = shown(model, n_topics, order)
    return [(int(topic), float(model.importance_[topic]), words[topic]) for topic in drawn]


def topics(
    model: Any,
    *,
    n_topics: int = 20,
    n_words: int = 8,
    n_columns: int = 4,
    order: str = "importance",
) -> Figure:
    """Draw the most important topics: bars of the shares of their top words.

    Parameters
    ----------
    model : fitted TopicModel
    n_topics : int, default=20
    n_words : int, default=8
        Number of words of each topic.
    n_columns : int, default=4
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.
    """
    drawn = topics_data(model, n_topics, n_words, order)
    longest = max(len(words) for _, _, words in drawn)
    grid, figure = panels(len(drawn), n_columns, 2.6, 0.42 + 0.17 * longest)
    for axes, (topic, share, words) in zip(grid, drawn, strict=True):
        axes.barh(range(len(words)), [100 * of for _, of in words], color=BLUE, height=0.7)
        axes.set_yticks(range(len(words)), [plain(word, 16) for word, _ in words], fontsize=TEXT)
        axes.invert_yaxis()
        axes.set_title(f"topic {topic}: {100 * share:.1f} % of all words", fontsize=TEXT)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("% of the topic", fontsize=TEXT)
    return figure


def topics_over_time_data(
    over_time: TopicsOverTime, n_topics: int = 8
) -> tuple[NDArray, NDArray, NDArray]:
    """Return what `topics_over_time` draws: starts of bins, the topics that vary most, shares.

    Returns
    -------
    starts : ndarray of shape (n_bins,)
    topics : ndarray of int of shape (n_topics,)
    shares : ndarray of shape (n_bins, n_topics)
    """
    order = np.argsort(-np.nanstd(over_time.shares, axis=0), kind="stable")[:n_topics]
    return over_time.starts, order, over_time.shares[:, order]


def topics_over_time(
    over_time: TopicsOverTime, names: Sequence[str] | None = None, *, n_topics: int = 8
) -> Figure:
    """Draw the shares over time of the topics that vary most.

    Parameters
    ----------
    over_time : TopicsOverTime
    names : sequence of str, optional
        Names of all topics, for example a few top words of each.
    n_topics : int, default=8
    """
    starts, drawn, shares = topics_over_time_data(over_time, n_topics)
    figure = empty(7.5, 0.8 * len(drawn) + 0.6)
    grid = figure.subplots(len(drawn), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, topic, curve in zip(grid, drawn, shares.T, strict=True):
        axes.plot(starts, 100 * curve, color=BLUE, linewidth=1.2, marker=".", markersize=3)
        name = "" if names is None else f": {plain(names[topic], 70)}"
        axes.set_title(f"topic {topic}{name}", fontsize=TEXT, loc="left", pad=2)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=TICK)
    grid[-1].set_ylim(0, None)
    figure.supylabel("mean share of the documents, %", fontsize=TEXT)
    return figure


canvas.say_reads((topics, topics_data), "top_words", "a TopicModel")
