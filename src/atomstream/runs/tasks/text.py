"""Runs on documents: words counted once, then passes over batches of counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from atomstream.core.checks import counted
from atomstream.estimators.topics import TopicModel
from atomstream.io.documents import open_documents
from atomstream.runs.settings import SCHEDULES, Settings, checkpoints, option
from atomstream.runs.task import Pace, Task, named, watched


@dataclass(frozen=True)
class TextSettings(checkpoints, Settings):
    """Settings of a run on documents."""

    TASK = "text"
    COMMAND = "text topics"

    per: str = option(
        "line", "What a document is in .txt and .md files: line or file.", choices=("line", "file")
    )
    field: str = option("text", "Field of JSON lines (.jsonl) that holds the text.")
    column: str | None = option(None, "Column of tables (.csv, .tsv) that holds the text.")
    topics: int = option(20, "Number of topics.", least=1, sets="n_components")
    vectorizer: str = option(
        "hashing", "How words become features: hashing, counts or tfidf.", sets="vectorizer"
    )
    features: int = option(
        2**15, "Features of the hash, or the most words to keep.", least=1, sets="n_features"
    )
    stop_words: str = option("english", "english or none.", choices=("english", "none"))
    min_df: int = option(
        1,
        "For counts and tfidf: documents in which a word must occur at least.",
        least=1,
        sets="min_df",
    )
    alpha: float = option(0.0, "Strength of the l1 penalty on the codes.", least=0, sets="alpha")
    schedule: str = option("power", SCHEDULES, sets="schedule")
    batch_size: int = option(256, "Documents per step.", least=1, sets="batch_size")
    epochs: int = option(10, "Passes over the documents.", least=1, free=True, sets="n_epochs")

    def check(self) -> None:
        """Raise ValueError for settings that the model refuses."""
        if not self.inputs:
            raise ValueError("No documents were given; name files of texts, JSON lines or tables.")
        super().check()

    def new_model(self) -> TopicModel:
        """Return the model that will learn."""
        stop_words = None if self.stop_words == "none" else self.stop_words
        return TopicModel(**self.parameters(), stop_words=stop_words)


class TextTask(Task):
    """A topic model, and the counted documents it learns from."""

    settings_type = TextSettings
    summary = "Learn topics from documents."
    help = (
        "FILES are texts (a document per line, or --per file), folders of them, JSON lines, or "
        "tables with a header; also with .gz."
    )
    argument = "files"
    many = True
    unit = "document"
    model: TopicModel

    def __init__(self, settings: TextSettings) -> None:
        super().__init__(settings)
        self.sources = open_documents(
            settings.inputs, settings.per, settings.field, settings.column
        )

    @cached_property
    def counts(self) -> Any:
        """The counted documents; a new model learns its vocabulary from them."""
        documents = _Chained(self.sources)
        with named(self.sources[0].name):
            fresh = not hasattr(self.model, "vocabulary_")
            return self.model.begin(documents) if fresh else self.model.count(documents)

    @property
    def position(self) -> tuple[int, ...]:
        """Passes completed, and documents of the next one."""
        size = self.settings.batch_size
        passes, batches = divmod(self._n_steps, -(-self.counts.shape[0] // size))
        return passes, batches * size

    def notes(self) -> dict[str, Any]:
        """Return what a checkpoint keeps beside the model."""
        return super().notes() | {"n_documents": self.counts.shape[0]}

    def advance(self, pace: Pace) -> None:
        """Make the passes that are left."""
        counts = self.counts  # counted before the bar of learning is shown
        with watched(self.model, pace):
            self.model.fit_counts(counts)

    def results(self) -> dict[str, Any]:
        """Return what the run came to."""
        return {
            "topics": self.settings.topics,
            "documents": self.counts.shape[0],
            "steps": self._n_steps,
        }

    def headline(self) -> str:
        """Return what the run came to in a few words."""
        documents = counted(self.counts.shape[0], "document")
        return f"{counted(self.settings.topics, 'topic')} from {documents}"


class _Chained:
    """The documents of several files, one after the other, as often as they are read."""

    def __init__(self, sources: Any) -> None:
        self._sources = sources

    def __iter__(self) -> Any:
        """Yield all documents."""
        return chain.from_iterable(self._sources)
