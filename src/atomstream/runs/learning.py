"""Learning as a run: the feed goes into the model, and what happens is kept on disk."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from atomstream.callbacks import History, _Callback
from atomstream.exceptions import InputError
from atomstream.readers import Feed, Position, Source
from atomstream.readers.feed import Piece
from atomstream.runs.folder import RunFolder
from atomstream.runs.holdout import Holdout
from atomstream.runs.settings import Settings

__all__ = ["Learning", "Outcome"]

PAUSE = 60.0  # seconds between checkpoints unless told otherwise,
MOST_WARNINGS = 20
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
        self._feed = Feed(self.sources, self.settings.batch_size)
        self._reason: str | None = None

    # -- what a checkpoint holds ----------------------------------------------------------------------------------

    def notes(self) -> dict[str, Any]:
        """Return all that a file keeps besides the model."""
        return {
            "position": list(self.position),
            "horizon": self.horizon,
            "seconds": self.seconds,
            "n_missing": self.n_missing,
            "n_entries": self.n_entries,
            "warnings": self.warnings,
            "n_samples": np.array(self.history.n_samples, np.int64),
            "objective": np.array(self.history.objective, np.float64),
            "every": self.history.every,
            "holdout": self.holdout.notes(),
            "settings": self.settings.decisive(),
            "names": self.sources[0].names,
            "shape": None if self.sources[0].shape is None else list(self.sources[0].shape),
        }

    def restore(self, model: Any, notes: dict[str, Any]) -> None:
        """Go on from a file.

        Raises
        ------
        InputError
            Where the settings that decide what is learned are no longer those of the file.
        """
        if notes["settings"] != self.settings.decisive():
            raise InputError(
                f"The settings of {self.folder.path} were changed after it had begun; bring run.toml back, or begin "
                f"another run with: atomstream learn --config {self.folder.path}/run.toml --out ANOTHER_RUN"
            )
        self.model = model
        self.position = Position(*notes["position"])
        for name in ("horizon", "seconds", "n_missing", "n_entries", "warnings"):
            setattr(self, name, notes[name])
        self.history.n_samples, self.history.objective = notes["n_samples"].tolist(), notes["objective"].tolist()
        self.history.every = notes["every"]
        self.holdout.restore(notes["holdout"])

    def save(self) -> None:
        """Write a checkpoint."""
        self.folder.save(self.model, self.notes(), self.settings.keep)

    # -- learning -------------------------------------------------------------------------------------------------

    def stop(self, reason: str) -> None:
        """End after the step in flight; may be called at any moment."""
        self._reason = reason
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
        keeper = _Keeper(self, max_time)
        try:
            complete = self._passes(keeper, bar)
        finally:
            if hasattr(self.model, "state_"):
                keeper.save()
        if not hasattr(self.model, "state_") and complete:
            raise InputError(f"{self.sources[0].name} has no rows to learn from.")
        return Outcome(complete, self._reason)

    def _passes(self, keeper: _Keeper, bar: Callable[[str], Any]) -> bool:
        """Make the passes that are left; return whether all are done. A live stream has one, without end."""
        while self.position.epoch < self.settings.epochs:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("default")
                try:
                    self._pass(keeper, bar)
                finally:
                    told = {str(item.message) for item in caught} - set(self.warnings)
                    self.warnings = [*self.warnings, *sorted(told)][:MOST_WARNINGS]
            if self._reason is not None:
                return False
            if self._feed.live:
                break
            if self.position.epoch == 0 and hasattr(self.model, "clock_"):
                self.horizon = self.model.clock_.mass
            self.position = Position(self.position.epoch + 1)
        return True

    def _pass(self, keeper: _Keeper, bar: Callable[[str], Any]) -> None:
        """Learn from what is left of a pass."""
        first = self.position.epoch == 0
        text = (
            "learning" if self.settings.epochs == 1 else f"pass {self.position.epoch + 1} of {self.settings.epochs}"
        )
        self.model.set_callbacks(keeper, bar(text))
        try:
            self.model.fit_stream(self._rows(keeper, first), n_batches=self._n_batches(), horizon=self.horizon)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            before, sentence = self.position, str(error).replace("missing=True", "--missing")
            raise InputError(
                f"{sentence.rstrip('.')} (among the {self.settings.batch_size} rows from row {before.row} of "
                f"{self.sources[before.source].name} on)."
            ) from None

    def _rows(self, keeper: _Keeper, first: bool) -> Iterator[Any]:
        """Yield the rows to learn from, batch by batch."""
        for piece in self._feed.batches(self.position):
            X = self.holdout.split(piece.X, piece.ids, first_pass=first)
            if first:
                self._count(piece)
            keeper.after = piece.after
            if X.shape[0]:
                yield X
            else:
                self.position = piece.after

    def _count(self, piece: Piece) -> None:
        self.n_entries += int(np.prod(piece.X.shape))
        if self.settings.missing:
            self.n_missing += int(np.isnan(piece.X.data if sp.issparse(piece.X) else piece.X).sum())

    def _n_batches(self) -> int | None:
        n_rows = self._feed.n_rows
        if n_rows is None:
            return None
        done = sum(source.n_rows or 0 for source in self.sources[: self.position.source]) + self.position.row
        return -(-(n_rows - done) // self.settings.batch_size)


class _Keeper(_Callback):
    """Writes checkpoints when they are due, and stops at the end of a step when asked to."""

    def __init__(self, learning: Learning, max_time: float | None) -> None:
        self._learning = learning
        self._began = self._last = time.monotonic()
        self._deadline = float("inf") if max_time is None else self._began + max_time
        self._cost, self._before = 0.0, learning.seconds
        self.after = learning.position

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Note where the stream stands after a step."""
        if context.task_name != "batch":
            return False
        learning, now = self._learning, time.monotonic()
        learning.position = self.after
        learning.history.note(estimator)
        every = learning.settings.checkpoint_every
        if now - self._last >= (max(PAUSE, COST * self._cost) if every is None else every):
            self.save()
        if now >= self._deadline and learning._reason is None:
            learning.stop("max-time")
        return learning._reason is not None

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
        self._last = time.monotonic()
        self._cost = self._last - began
