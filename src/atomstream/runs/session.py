"""A run of a model that holds a learner: pieces between checkpoints, an end whenever one is asked for."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from atomstream.callbacks import Callback, History
from atomstream.exceptions import InputError
from atomstream.runs.folder import RunFolder
from atomstream.runs.learning import COST, PAUSE, Outcome

__all__ = ["Session"]


class Session(ABC):
    """A model, and what is kept beside it for the report; a kind of run adds its inputs and how to advance.

    Parameters
    ----------
    folder : RunFolder
    settings : RunSettings
        With ``new_model``, ``checkpoint_every`` and ``keep``.
    """

    def __init__(self, folder: RunFolder, settings: Any) -> None:
        self.folder, self.settings = folder, settings
        self.model: Any = settings.new_model()
        self.history = History()
        self.seconds = 0.0
        self.warnings: list[str] = []
        self._reason: str | None = None

    @property
    def learned(self) -> bool:
        """Whether there is a dictionary yet."""
        return bool(self.model.__sklearn_is_fitted__())

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether all that was asked for was learned."""

    @abstractmethod
    def advance(self) -> None:
        """Learn on until all is learned, or a callback ends it."""

    def notes(self) -> dict[str, Any]:
        """Return all that a file keeps besides the model."""
        return {
            "seconds": self.seconds,
            "warnings": np.array(self.warnings, object),
            "n_samples": np.array(self.history.n_samples, np.int64),
            "objective": np.array(self.history.objective, np.float64),
            "every": self.history.every,
            "settings": np.array(self.settings.decisive(), object),
        }

    def restore(self, model: Any, notes: dict[str, Any]) -> None:
        """Go on from a file.

        Raises
        ------
        InputError
            Where settings that decide what is learned are not those of the file.
        """
        if not set(notes["settings"]) <= set(self.settings.decisive()):
            raise InputError(
                f"The settings of {self.folder.path} were changed after it had begun; bring run.toml back, or begin "
                f"another run with: atomstream {self.settings.COMMAND} --config {self.folder.path}/run.toml "
                "--out ANOTHER_RUN"
            )
        self.model = model
        self.seconds, self.warnings = notes["seconds"], list(notes["warnings"])
        self.history.n_samples, self.history.objective = (
            notes["n_samples"].tolist(),
            notes["objective"].tolist(),
        )
        self.history.every = notes["every"]

    def stop(self, reason: str) -> None:
        """End after the batch in flight; may be called at any moment."""
        self._reason = self._reason or reason

    def run(self, bar: Callable[[str], Any], max_time: float | None = None) -> Outcome:
        """Learn until all is done, or something stops it; the state is on disk afterwards.

        Parameters
        ----------
        bar : callable
            Makes the callback that shows the progress.
        max_time : float, optional
            Seconds.
        """
        deadline = float("inf") if max_time is None else time.monotonic() + max_time
        cost, every = 0.0, self.settings.checkpoint_every
        while not self.complete and self._reason is None:
            began = time.monotonic()
            pause = max(PAUSE, COST * cost) if every is None else every
            self._learn(bar, min(began + pause, deadline))
            ended = time.monotonic()
            self.seconds += ended - began
            if ended >= deadline:
                self.stop("max-time")
            self.folder.save(self.model, self.notes(), self.settings.keep)
            self.folder.log("checkpoint", step=self.model.n_steps_, objective=self.history.recent)
            cost = time.monotonic() - ended
        return Outcome(self.complete, None if self.complete else self._reason)

    def _learn(self, bar: Callable[[str], Any], until: float) -> None:
        """Learn from at least one batch, and stop where a checkpoint is due or an end is asked for."""
        self.model.set_callbacks(bar("learning"), _Watch(self, until))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("default")
            try:
                self.advance()
            except ValueError as error:
                raise InputError(str(error)) from None
            finally:
                self.model.set_callbacks()
        for message in heard:
            if str(message.message) not in self.warnings:
                self.warnings = [*self.warnings, str(message.message)]

    def due(self, until: float) -> bool:
        """Return whether learning should pause now."""
        return self._reason is not None or time.monotonic() >= until


class _Watch(Callback):
    """Notes the objective of each batch, and pauses learning where that is due."""

    def __init__(self, run: Session, until: float) -> None:
        self._run, self._until = run, until

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool | None:
        """Look after each batch."""
        if context.task_name != "batch":
            return None
        self._run.history.note(estimator)
        return self._run.due(self._until)
