"""Learning topics from files as a run: words counted once, batches of counts, checkpoints."""

from __future__ import annotations

from itertools import chain
from typing import Any

from atomstream.estimators.topics import TopicModel
from atomstream.exceptions import InputError
from atomstream.io.documents import open_documents
from atomstream.runs.folder import RunFolder
from atomstream.runs.session import Session
from atomstream.runs.settings import TextSettings

__all__ = ["TextRun"]


class TextRun(Session):
    """A topic model, the counts it learns from, and what is kept beside it for the report.

    Parameters
    ----------
    folder : RunFolder
    settings : TextSettings
    """

    model: TopicModel

    def __init__(self, folder: RunFolder, settings: TextSettings) -> None:
        super().__init__(folder, settings)
        self.sources = open_documents(
            settings.inputs, settings.per, settings.field, settings.column
        )
        self._counts: Any = None

    @property
    def counts(self) -> Any:
        """The counted documents, read when they are first needed."""
        if self._counts is None:
            documents = _Chained(self.sources)
            try:
                fresh = not hasattr(self.model, "vocabulary_")
                self._counts = self.model.begin(documents) if fresh else self.model.count(documents)
            except InputError:
                raise
            except ValueError as error:
                raise InputError(f"{self.sources[0].name}: {error}") from None
        return self._counts

    @property
    def position(self) -> tuple[int, int]:
        """Passes that are complete, and documents of the next one."""
        size = self.settings.batch_size
        passes, batches = divmod(
            self.model.n_steps_ if self.learned else 0, -(-self.counts.shape[0] // size)
        )
        return passes, batches * size

    @property
    def complete(self) -> bool:
        """Whether all passes were made."""
        return self.position[0] >= self.settings.epochs

    def notes(self) -> dict[str, Any]:
        """Return all that a file keeps besides the model."""
        return super().notes() | {"position": self.position, "n_documents": self.counts.shape[0]}

    def restore(self, model: TopicModel, notes: dict[str, Any]) -> None:
        """Go on from a file."""
        super().restore(model, notes)
        self.model = model.set_params(n_epochs=self.settings.epochs)

    def advance(self) -> None:
        """Make the passes that are left."""
        self.model.fit_counts(self.counts)


class _Chained:
    """The documents of several files, one after the other, as often as they are asked for."""

    def __init__(self, sources: Any) -> None:
        self._sources = sources

    def __iter__(self) -> Any:
        """Yield all documents."""
        return chain.from_iterable(self._sources)
