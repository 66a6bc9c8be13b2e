"""Learning from a network as a run: batches along the chain, checkpoints, an end whenever one is asked for."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.callbacks import Callback, History
from atomstream.exceptions import InputError
from atomstream.models.network import NetworkDictionary
from atomstream.readers.source import fingerprint
from atomstream.runs.folder import RunFolder
from atomstream.runs.learning import COST, PAUSE, Outcome
from atomstream.runs.record import Record
from atomstream.runs.settings import NetworkSettings
from atomstream.samplers import Network

__all__ = ["EdgeFile", "NetworkRun", "read_network"]


class EdgeFile:
    """A file that holds a network.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = str(path)

    def fingerprint(self) -> str:
        """Return what changes when the content does."""
        return fingerprint([self.path])


def read_network(path: str | Path) -> Network:
    """Return the network in a file.

    Raises
    ------
    InputError
        Where there is none.
    """
    try:
        return Network.of(Path(path))
    except FileNotFoundError:
        raise InputError(f"There is no {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error}).") from None
    except (ValueError, EOFError) as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from None


def network_of(record: Record) -> Network:
    """Return the network that a run has learned from.

    Raises
    ------
    InputError
        Where it cannot be read any more, or has changed since.
    """
    edges = EdgeFile(record.settings.inputs[0])
    network = read_network(edges.path)
    RunFolder(record.path).check_inputs([edges])
    return network


class NetworkRun:
    """A network dictionary, what it learns from, and what is kept beside it for the report.

    Parameters
    ----------
    folder : RunFolder
    settings : NetworkSettings
    """

    def __init__(self, folder: RunFolder, settings: NetworkSettings) -> None:
        self.folder, self.settings = folder, settings
        self.sources = [EdgeFile(settings.inputs[0])]
        self.network = read_network(settings.inputs[0])
        self.model: NetworkDictionary = settings.new_model()
        self.history = History()
        self.seconds = 0.0
        self.warnings: list[str] = []
        self._reason: str | None = None

    @property
    def learned(self) -> bool:
        """Whether there is a dictionary yet."""
        return self.model.__sklearn_is_fitted__()

    @property
    def complete(self) -> bool:
        """Whether all batches were learned from."""
        return self.learned and self.model.n_steps_ >= self.settings.batches

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

    def restore(self, model: NetworkDictionary, notes: dict[str, Any]) -> None:
        """Go on from a file.

        Raises
        ------
        InputError
            Where settings that decide what is learned are not those of the file.
        """
        if not set(notes["settings"]) <= set(self.settings.decisive()):
            raise InputError(
                f"The settings of {self.folder.path} were changed after it had begun; bring run.toml back, or begin "
                f"another run with: atomstream network learn --config {self.folder.path}/run.toml --out ANOTHER_RUN"
            )
        self.model = model.set_params(n_batches=self.settings.batches)
        self.seconds, self.warnings = notes["seconds"], list(notes["warnings"])
        self.history.n_samples, self.history.objective = notes["n_samples"].tolist(), notes["objective"].tolist()
        self.history.every = notes["every"]

    def stop(self, reason: str) -> None:
        """End after the batch in flight; may be called at any moment."""
        self._reason = self._reason or reason

    def run(self, bar: Callable[[str], Any], max_time: float | None = None) -> Outcome:
        """Learn until all batches are done, or something stops it; the state is on disk afterwards.

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
        watch = _Watch(self, until)
        self.model.set_callbacks(bar("learning"), watch)
        left = max(1, self.settings.batches - (self.model.n_steps_ if self.learned else 0))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("default")
            try:
                self.model.partial_fit(self.network, n_batches=left)
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

    def __init__(self, run: NetworkRun, until: float) -> None:
        self._run, self._until = run, until

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool | None:
        """Look after each batch."""
        if context.task_name != "batch":
            return None
        self._run.history.note(estimator)
        return self._run.due(self._until)
