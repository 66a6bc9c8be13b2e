"""Learning as a run: the feed goes into the model, and what happens is kept on disk."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.callbacks import History
from atomstream.exceptions import InputError
from atomstream.io.feed import Feed, Piece, Position
from atomstream.io.source import Source
from atomstream.runs.folder import RunFolder
from atomstream.runs.holdout import Holdout
from atomstream.runs.settings import Settings

__all__ = ["Learning", "Outcome"]

PAUSE = 60.0  # seconds between checkpoints unless told otherwise,
MOST_WARNINGS = 20
WORDS = {
    "say missing=True": "say --missing",
    "use OnlineDictionaryLearning": "use --model dictionary",
    "OnlineNMF": "--model nmf",
}
COST = 50.0  # and at least this many times as long as the last one took: under 2 % of the time


@dataclass(frozen=True)
class Outcome:
    """How a session of a run ended.

    Attributes
    ----------
    complete : bool
        Whether all passes are done.
    reason : str or None
        What ended it early.
    """

    complete: bool
    reason: str | None = None


@dataclass
class Learning:
    """A model, where it stands in its inputs, and what is kept beside it for the report.

    Parameters
    ----------
    folder : RunFolder
    settings : Settings
    sources : list of Source
    """

    folder: RunFolder
    settings: Settings
    sources: list[Source]
    model: Any = field(init=False)
    position: Position = field(init=False, default=Position())
    horizon: float = field(init=False, default=float("inf"))
    seconds: float = field(init=False, default=0.0)
    n_missing: int = field(init=False, default=0)
    n_entries: int = field(init=False, default=0)
    warnings: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.model = self.settings.new_model()
        self.history = History()
        self.holdout = Holdout(self.settings.holdout, self.settings.seed)
        self.names = next((source.names for source in self.sources if source.names), None)
        self._feed = Feed(self.sources, self.settings.batch_size)
        self._reason: str | None = None

    # -- what a checkpoint holds
    # ----------------------------------------------------------------------------------

    def notes(self) -> dict[str, Any]:
        """Return all that a file keeps besides the model."""
        return {
            "position": list(self.position),
            "horizon": self.horizon,
            "seconds": self.seconds,
            "n_missing": self.n_missing,
            "n_entries": self.n_entries,
            "warnings": np.array(self.warnings, object),
            "n_samples": np.array(self.history.n_samples, np.int64),
            "objective": np.array(self.history.objective, np.float64),
            "every": self.history.every,
            "holdout": self.holdout.notes(),
            "settings": np.array(self.settings.decisive(), object),
            "names": None if self.names is None else np.array(self.names, object),
            "shape": None if self.sources[0].shape is None else list(self.sources[0].shape),
        }

    def restore(self, model: Any, notes: dict[str, Any]) -> None:
        """Go on from a file.

        Raises
        ------
        InputError
            Where the settings that decide what is learned, or the columns of a stream, are not
            those of the file.
        """
        if not set(notes["settings"]) <= set(self.settings.decisive()):
            raise InputError(
                f"The settings of {self.folder.path} were changed after it had begun; bring run.toml back, or begin "
                f"another run with: atomstream learn --config {self.folder.path}/run.toml --out ANOTHER_RUN"
            )
        names = None if notes["names"] is None else list(notes["names"])
        if None not in (names, self.names) and names != self.names:
            raise InputError(
                f"{self.sources[0].name} names its columns otherwise than what was learned from before."
            )
        self.names = names
        self.model = model.set_params(n_jobs=self.settings.jobs)
        self.position = Position(*notes["position"])
        for name in ("horizon", "seconds", "n_missing", "n_entries"):
            setattr(self, name, notes[name])
        self.warnings = list(notes["warnings"])
        self.history.n_samples, self.history.objective = (
            notes["n_samples"].tolist(),
            notes["objective"].tolist(),
        )
        self.history.every = notes["every"]
        self.holdout.restore(notes["holdout"])

    def save(self) -> None:
        """Write a checkpoint."""
        self.folder.save(self.model, self.notes(), self.settings.keep)

    # -- learning
    #
    #
    #
    #
    #
    # -------------------------------------------------------------------------------------------------

    @property
    def learned(self) -> bool:
        """Whether there is a dictionary yet."""
        return hasattr(self.model, "state_")

    def stop(self, reason: str) -> None:
        """End after the step in flight; may be called at any moment."""
        self._reason = self._reason or reason
        self._feed.stop()

    def run(self, bar: Callable[[str], Any], max_time: float | None = None) -> Outcome:
        """Learn until all passes are done, or something stops it; the state is on disk afterwards.

        Parameters
        ----------
        bar : callable
            Makes the callback that shows the progress of a pass from what the pass is called.
        max_time : float, optional
            Seconds.
        """
        pace = self._feed.idle = _Pace(self, max_time)
        try:
            complete = self._passes(pace, bar)
        finally:
            if self.learned:
                pace.save()
        if not self.learned and complete:
            few = len(getattr(self.model, "_buffer", ())) > 0
            name = self.sources[0].name
            raise InputError(
                f"{name} has fewer rows than representatives={self.settings.representatives}."
                if few
                else f"{name} has no rows to learn from."
            )
        return Outcome(complete, self._reason)

    def _passes(self, pace: _Pace, bar: Callable[[str], Any]) -> bool:
        """Make the passes that are left; return whether all are done. A live stream has one, without end."""
        while self.position.epoch < self.settings.epochs:
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                warnings.showwarning = self._hear  # type: ignore[assignment]
                self._pass(pace, bar)
            if self._reason is not None:
                return False
            if self._feed.live:
                break
            if self.position.epoch == 0 and self.learned:
                self.horizon = self.model.clock_.mass
            self.position = Position(self.position.epoch + 1)
        return True

    def _pass(self, pace: _Pace, bar: Callable[[str], Any]) -> None:
        """Learn from what is left of a pass."""
        epoch, epochs = self.position.epoch, self.settings.epochs
        self.model.set_callbacks(
            bar("learning" if epochs == 1 else f"pass {epoch + 1} of {epochs}")
        )
        try:
            self.model.fit_stream(
                self._rows(pace), n_batches=self._n_batches(), horizon=self.horizon
            )
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(self._explained(str(error))) from None

    def _rows(self, pace: _Pace) -> Iterator[Any]:
        """Yield the rows to learn from, batch by batch; what is asked for the next has learned from the last.

        So all that a checkpoint holds besides the model changes here, after the step; an error
        within a step, which puts the model back, finds all of it as it was before.
        """
        for piece in self._feed.batches(self.position):
            held = self.holdout.choose(piece.X, piece.ids)
            self._piece, self._learned_rows = piece, np.flatnonzero(~held)
            if not held.all():
                yield piece.X[~held] if held.any() else piece.X
                if self.learned:
                    self.history.note(self.model)
            self._commit(piece, held)
            pace()
            if self._reason is not None and not self._feed.live:
                return

    def _hear(self, message: Warning | str, *_: Any) -> None:
        """Keep a warning for the report, if there is room."""
        if str(message) not in self.warnings and len(self.warnings) < MOST_WARNINGS:
            self.warnings = [*self.warnings, str(message)]

    def _commit(self, piece: Piece, held: NDArray) -> None:
        """Take note of a batch that has been learned."""
        if self.position.epoch == 0:
            self.n_entries += int(np.prod(piece.X.shape))
            if self.settings.missing:
                self.n_missing += int(
                    np.isnan(piece.X.data if sp.issparse(piece.X) else piece.X).sum()
                )
            if held.any():
                self.holdout.keep(piece.X[held], piece.ids[held])
        self.position = piece.after

    def _explained(self, sentence: str) -> str:
        """Return what the model complains about in the words of the command line, with the row of the input."""
        for words, option in WORDS.items():
            sentence = sentence.replace(words, option)
        name, row = self.sources[self.position.source].name, self.position.row
        found = re.search(r"first in row (\d+)", sentence)
        if found and self._piece.after.source == self.position.source:
            return sentence.replace(
                found[0], f"first in row {row + self._learned_rows[int(found[1])]} of {name}"
            )
        return f"{sentence.rstrip('.')} (among the {self.settings.batch_size} rows from row {row} of {name} on)."

    def _n_batches(self) -> int | None:
        n_rows = self._feed.n_rows
        if n_rows is None:
            return None
        done = (
            sum(source.n_rows or 0 for source in self.sources[: self.position.source])
            + self.position.row
        )
        return -(-(n_rows - done) // self.settings.batch_size)


class _Pace:
    """Writes checkpoints when they are due, and ends learning when its time is over.

    Called after each step, and now and then while a stream is silent.
    """

    def __init__(self, learning: Learning, max_time: float | None) -> None:
        self._learning = learning
        self._began = self._last = time.monotonic()
        self._deadline = float("inf") if max_time is None else self._began + max_time
        self._cost, self._before, self._saved = 0.0, learning.seconds, learning.position

    def __call__(self) -> None:
        learning, now = self._learning, time.monotonic()
        every = learning.settings.checkpoint_every
        due = now - self._last >= (max(PAUSE, COST * self._cost) if every is None else every)
        if due and learning.learned and learning.position != self._saved:
            self.save()
        if now >= self._deadline:
            learning.stop("max-time")

    def save(self) -> None:
        """Write a checkpoint and note what it took."""
        learning, began = self._learning, time.monotonic()
        learning.seconds = self._before + began - self._began
        learning.save()
        learning.folder.log(
            "checkpoint",
            step=learning.model.n_steps_,
            samples=learning.model.n_samples_seen_,
            objective=learning.model.batch_objective_,
            position=list(learning.position),
        )
        self._last, self._saved = time.monotonic(), learning.position
        self._cost = self._last - began
