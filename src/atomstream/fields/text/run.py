"""Runs on documents: words counted once, then passes over batches of counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted, of_sum_one
from atomstream.base.parameters import one_of
from atomstream.exceptions import InputError
from atomstream.fields.text.documents import DocumentFile, DocumentOptions, dates_of, open_documents
from atomstream.fields.text.look import BEST, OVER_TIME
from atomstream.fields.text.model import TopicModel, settles
from atomstream.fields.text.topic_shares import UNITS, TopicsOverTime, fitting, npmi, typical
from atomstream.io import existing, naming_source, whole_text, write_table
from atomstream.io.input_options import AUTO, ORDERS, RAISE, SKIP, TableOptions
from atomstream.runs.reading import text_reading
from atomstream.runs.settings import Settings, checkpoints, option, sets
from atomstream.runs.task import AfterBatch, Pace, Task, callbacks_set, pace_set

MOST_SPANS = 100_000
MOST_DATES = 10_000  # of a pass, evenly spaced, that are kept for the lives of topics
BLOCK_TEXTS = 4096  # documents whose shares are found at a time
LOOKED_AT = 20_000  # documents among which those that use a topic most are found
N_TYPICAL, LONGEST_TEXT = 4, 300  # documents kept of each topic, and characters of each
N_COHERENT = 10  # words of a topic whose coherence is measured


@dataclass(frozen=True)
class TextSettings(checkpoints, text_reading, Settings):
    """Settings of a run on documents."""

    TASK = "text"

    per: str = option(
        "line", "Document of a text: line, paragraph or file.", one_of("line", "paragraph", "file")
    )
    field: str = option("text", "Field of JSON lines (.jsonl) that holds the text.")
    column: str | None = option(
        None,
        "Column of tables (.csv, .tsv), or field of JSON lines, that holds the text.",
        also="text",
    )
    date: str | None = option(
        None,
        "Column or field that holds the date of a document, such as 2003-02-19: gives topics over "
        "time.",
        free=True,
    )
    dates: str = option(
        AUTO,
        "What comes first in dates such as 4/12/2020: day-first or month-first.",
        one_of(*ORDERS),
        free=True,
    )
    freq: str | None = option(
        None,
        "Spans of topics over time: day, week, month or year.",
        one_of(*UNITS),
        free=True,
        shown="the longest of which there are 8 or more",
    )
    shuffle: bool = option(
        True,
        "Learn documents in mixed order. Without it they come by --date, or as they stand, and "
        "births and deaths of topics have dates.",
    )
    na: tuple[str, ...] = option(
        (), "Text that stands for no document; may be repeated.", whole=True
    )
    on_bad_line: str = option(
        RAISE,
        "raise: an empty document ends the run; skip: it is left out and counted.",
        one_of(RAISE, SKIP),
    )
    id: tuple[str, ...] = option(
        (),
        "Column or field that names a document, kept beside its shares; may be repeated.",
        whole=True,
        free=True,
    )
    topics: int = sets(TopicModel, "n_components")
    vectorizer: str = sets(TopicModel, "vectorizer")
    features: int = sets(TopicModel, "n_features")
    stop_words: tuple[str, ...] = option(
        ("english",),
        "Words that do not count: english for all of that language, words (mr,said), files of "
        "words (.txt), several of these (english,mr,said), or none.",
    )
    min_df: int = sets(TopicModel, "min_df")
    ngrams: int = sets(TopicModel, "ngrams")
    alpha: float = sets(TopicModel, "alpha")
    schedule: str = sets(TopicModel, "schedule")
    batch_size: int = sets(TopicModel, "batch_size")
    epochs: int | None = sets(
        TopicModel, "n_epochs", free=True, shown="10, and then rounds until topics settle"
    )

    def check(self) -> None:
        """Raise ValueError for settings that the model refuses."""
        if not self.inputs:
            raise ValueError("No documents were given; name files of texts, JSON lines or tables.")
        if self.freq is not None and self.date is None:
            raise ValueError(f"--freq {self.freq} needs --date, the column of the dates.")
        if self.dates != AUTO and self.date is None:
            raise ValueError(f"--dates {self.dates} needs --date, the column of the dates.")
        super().check()

    def document_options(self) -> DocumentOptions:
        """Return how documents are to be read."""
        beside = (*self.id, *([] if self.date is None else [self.date]))
        table = TableOptions(**self.reading())
        return DocumentOptions(self.per, self.field, self.column, beside, table=table)

    def new_model(self) -> TopicModel:
        """Return the model that will learn."""
        return TopicModel(**self.parameters(), stop_words=_stop_words(self.stop_words))


class TextTask(Task):
    """A topic model, and the counted documents it learns from."""

    settings_type = TextSettings
    help = (
        "FILES are texts (a document per line, or --per file), folders of them, JSON lines, or "
        "tables with a header; also with .gz. With --date the folder of the run has "
        "topics_over_time.csv."
    )
    argument = "files"
    many = True
    unit = "document"
    noted = ("n_documents",)
    omitted = (
        ("documents", "_n_skipped", "empty (--on-bad-line skip)"),
        ("documents", "_n_undated", "without a date: not in the topics over time"),
    )
    reported: ClassVar = {
        "topics": "settings.topics",
        "documents": "n_documents",
        "steps": "_n_steps",
    }
    model: TopicModel
    sources: Sequence[DocumentFile]

    def __init__(self, settings: TextSettings) -> None:
        super().__init__(settings)
        self.sources = open_documents(settings.inputs, settings.document_options())
        for source in self.sources:
            source.check_lines()

    @cached_property
    def counts(self) -> Any:
        """The counted documents; a new model learns its vocabulary from them."""
        documents = _Chained(self.sources)
        with naming_source(self.sources[0].name):
            # A resumed model has its vocabulary; another one would give words other columns.
            fresh = not hasattr(self.model, "vocabulary_")
            return self.model.begin(documents) if fresh else self.model.count(documents)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.counts.shape[0])

    @cached_property
    def dates(self) -> NDArray:
        """When each document was written; NaT where that is not said."""
        dates = dates_of(self.sources, self.settings.date, self.settings.dates)
        # Some without a date are left out; none at all is a wrong name of a column.
        if np.isnat(dates).all():
            name, column = self.sources[0].name, self.settings.date
            raise InputError(f"{name} has no dates in {column!r}.")
        return dates

    @cached_property
    def order(self) -> NDArray:
        """The order of the documents by their dates, those without a date last, or as they are."""
        if self.settings.date is None:
            return np.arange(self.n_documents)
        return np.argsort(self.dates, kind="stable")

    @classmethod
    def finished(cls, settings: Any, model: Any, notes: dict[str, Any]) -> bool | None:
        """Return whether all passes, and the rounds after them, are complete."""
        if settles(settings.epochs):
            return bool(getattr(model, "settled_", False))
        return bool(notes["position"][0] >= settings.epochs)

    @property
    def position(self) -> tuple[int, ...]:
        """Passes completed, and documents of the next one."""
        size = self.settings.batch_size
        passes, batches = divmod(self._n_steps, -(-self.n_documents // size))
        return passes, batches * size

    def advance(self, pace: Pace) -> None:
        """Make the passes that are left."""
        counts = self.counts  # counted before the bar of learning is shown
        if self.settings.date is not None:
            # Asked for its errors alone.
            self._freq()  # dates that cannot be read are told before anything is learned
        with pace_set(self.model, pace):
            shuffle = self.settings.shuffle
            # In the order of dates, births and deaths of topics can be given a date.
            self.model.fit_counts(counts if shuffle else counts[self.order], shuffle=shuffle)
        # A copy settles: the model of the task is whole after each round.
        rests = AfterBatch(lambda _: pace.rest())
        with callbacks_set(self.model, pace.bar("settling"), rests):
            self.model.settle_counts(counts)

    def _freq(self) -> str:
        """Return the spans of topics over time, as `TopicsOverTime` calls them."""
        known = self.dates[~np.isnat(self.dates)]
        freq = self.settings.freq or fitting(known)
        # A single wrong year may lie centuries away, and each span in between would be a row.
        n_spans = int(np.ptp(known.astype(f"datetime64[{UNITS[freq]}]").astype(np.int64))) + 1
        if n_spans > MOST_SPANS:
            raise InputError(
                f"The dates reach from {known.min()} to {known.max()}, {n_spans:,} spans; correct "
                "them, or choose longer spans with --freq."
            )
        return freq

    def finish(self, folder: Path) -> dict[str, Any]:
        """Write the shares of the topics over time, and keep documents for the report."""
        kept = self._typical(folder)
        if self.settings.date is None:
            return kept
        shares, dated = of_sum_one(self._codes(np.arange(self.n_documents))), ~np.isnat(self.dates)
        found = TopicsOverTime.of(shares[dated], self.dates[dated], self._freq(), None)
        starts = found.starts.astype(str)
        rows = zip(starts.tolist(), found.n_documents.tolist(), found.shares.tolist(), strict=True)
        heads = ["start", "documents", *(f"topic_{number}" for number in range(shares.shape[1]))]
        lines = ([start, n, *(share if n else [None] * len(share))] for start, n, share in rows)
        write_table(folder / OVER_TIME, heads, lines)
        return {
            **kept,
            "time_starts": starts.astype(object),
            "time_shares": found.shares,
            "time_documents": found.n_documents,
            "n_undated": self._n_undated,
            **self._stream_dates(),
        }

    def _codes(self, documents: NDArray) -> NDArray:
        """Return the codes of some documents."""
        # A block at a time: codes of all documents fit in memory, what coding needs for them may
        # not.
        starts = range(0, len(documents), BLOCK_TEXTS)
        blocks = (self.counts[documents[first : first + BLOCK_TEXTS]] for first in starts)
        return np.concatenate([self.model.learner_.transform(block) for block in blocks])

    def _stream_dates(self) -> dict[str, Any]:
        """Return the dates along a pass, of so many documents, where these come in that order."""
        # Documents in mixed order have dates, but moments of the stream have none.
        if self.settings.shuffle:
            return {}
        some = np.unique(np.linspace(0, len(self.order) - 1, MOST_DATES).astype(np.int64))
        dates = self.dates[self.order[some]].astype("datetime64[D]")
        return {"stream_dates": dates.astype(str).astype(object)}

    def _typical(self, folder: Path) -> dict[str, Any]:
        """Write and return the best examples of each topic, of many that are evenly spaced."""
        n_documents = self.n_documents
        looked = np.unique(np.linspace(0, n_documents - 1, LOOKED_AT).astype(np.int64))
        codes = self._codes(looked)
        shares, columns = of_sum_one(codes), typical(codes, N_TYPICAL)
        best = np.unique(columns)
        # Texts were not kept while counting: they are read once more, and only the few that are
        # shown stay.
        wanted = set(looked[best].tolist())
        entries = chain.from_iterable(source.entries() for source in self.sources)
        texts = [entry.text for number, entry in enumerate(entries) if number in wanted]
        cut = [" ".join(text.split())[:LONGEST_TEXT] for text in texts]
        text_of = dict(zip(best.tolist(), cut, strict=True))
        lines = (
            [topic, place, int(looked[i]), float(shares[i, topic]), text_of[i]]
            for topic, column in enumerate(columns.T.tolist())
            for place, i in enumerate(column, 1)
        )
        write_table(folder / BEST, ["topic", "place", "document", "share", "text"], lines)
        words = np.argsort(-self.model.components_, axis=1, kind="stable")[:, :N_COHERENT]
        return {
            "coherence": npmi(self.counts[looked], words),
            "document_texts": np.array(cut, object),
            "document_places": looked[best],
            "document_shares": np.asarray(shares[best], np.float64),
        }

    @property
    def _n_skipped(self) -> int:
        return sum(source.n_skipped for source in self.sources)

    @property
    def _n_undated(self) -> int:
        return 0 if self.settings.date is None else int(np.isnat(self.dates).sum())

    def tallies(self) -> dict[str, int]:
        """Return how many documents were left out."""
        return {"skipped": self._n_skipped} if self.settings.on_bad_line == SKIP else {}

    def results(self) -> dict[str, Any]:
        """Return what the run came to."""
        return super().results() | self.tallies()

    def headline(self) -> str:
        """Return what the run came to in a few words."""
        documents = counted(self.n_documents, "document")
        return f"{counted(self.settings.topics, 'topic')} from {documents}"


def _stop_words(named: Sequence[str]) -> str | list[str] | None:
    """Return the stop words that are named: words, files of words, "english", or "none"."""
    if tuple(named) in (("english",), ("none",)):
        return "english" if "english" in named else None
    if len(named) == 1 and not named[0].endswith(".txt"):
        raise ValueError(
            f"stop_words is {named[0]!r:.60}, needed is english, none, words such as "
            "english,mr,said or mr,said, or a file of words (.txt)."
        )
    words: list[str] = []
    for name in named:
        # A word has no dot, for words are cut at it.
        words += whole_text(existing(name)).split() if name.endswith(".txt") else [name]
    return words


class _Chained:
    """The documents of several files, one after the other, as often as they are read."""

    def __init__(self, sources: Any) -> None:
        self._sources = sources

    def __iter__(self) -> Any:
        """Yield all documents."""
        return chain.from_iterable(self._sources)
