"""Callbacks that send the history of a fit to where teams keep theirs.

Each is a `History` that hands every point it takes to MLflow, TensorBoard or Weights & Biases: the
numbers that are known, under the names of `atomstream.watch.history.FIELDS`, at the step of the
batch.
"""

import math
import time
from abc import abstractmethod
from pathlib import Path
from typing import Any

from atomstream.base import library
from atomstream.watch import NUMBERS, History

__all__ = ["MLflowLogger", "TensorBoardLogger", "WandbLogger"]


class _Logger(History):
    """A history whose points are sent on as they are taken."""

    def __init__(self, prefix: str, max_points: int) -> None:
        super().__init__(max_points)
        self.prefix = prefix

    @abstractmethod
    def send(self, figures: dict[str, float], step: int) -> None:
        """Send the figures of a step."""

    def _take(self, learner: Any, before: Any) -> None:
        super()._take(learner, before)
        figures = {name: float(self.points[name][-1]) for name in NUMBERS if name != "step"}
        known = {f"{self.prefix}{k}": v for k, v in figures.items() if math.isfinite(v)}
        self.send(known, self.points["step"][-1])


class MLflowLogger(_Logger):
    """A history that is sent to the active run of MLflow; without one, MLflow begins one.

    Parameters
    ----------
    prefix : str, default=""
        In front of the names of the figures, such as "atoms/".
    max_points : int, default=2000
        As in `History`: of a longer stream only some steps are sent.

    Raises
    ------
    MissingLibraryError
        Where MLflow is not installed.
    """

    def __init__(self, prefix: str = "", max_points: int = 2000) -> None:
        super().__init__(prefix, max_points)
        library("mlflow", "MLflow's runs")

    def send(self, figures: dict[str, float], step: int) -> None:
        """Send the figures of a step."""
        library("mlflow", "MLflow's runs").log_metrics(figures, step=step)


class WandbLogger(_Logger):
    """A history that is sent to a run of Weights & Biases.

    Parameters
    ----------
    run : wandb.Run
        As ``wandb.init`` returns it.
    prefix : str, default=""
        In front of the names of the figures.
    max_points : int, default=2000
        As in `History`.
    """

    def __init__(self, run: Any, prefix: str = "", max_points: int = 2000) -> None:
        super().__init__(prefix, max_points)
        self.run = run

    def send(self, figures: dict[str, float], step: int) -> None:
        """Send the figures of a step."""
        self.run.log(figures, step=step, commit=True)


class TensorBoardLogger(_Logger):
    """A history written as an event file for TensorBoard, without TensorFlow or PyTorch.

    Parameters
    ----------
    folder : path
        What ``tensorboard --logdir`` is given, or a folder in it.
    prefix : str, default=""
        In front of the names of the figures.
    max_points : int, default=2000
        As in `History`.

    Raises
    ------
    MissingLibraryError
        Where TensorBoard is not installed.
    """

    def __init__(self, folder: str | Path, prefix: str = "", max_points: int = 2000) -> None:
        super().__init__(prefix, max_points)
        self.folder = Path(folder)
        self._writer: Any = None
        self._summaries = library("tensorboard.compat.proto.summary_pb2", "Event files").Summary
        self._events = library("tensorboard.compat.proto.event_pb2", "Event files").Event

    def setup(self, estimator: object, context: Any) -> None:
        """Open the file."""
        super().setup(estimator, context)
        writers = library("tensorboard.summary.writer.event_file_writer", "Event files")
        self._writer = writers.EventFileWriter(str(self.folder))

    def teardown(self, estimator: object, context: Any) -> None:
        """Close the file; it has a thread of its own, without which a model can be copied."""
        self._writer.close()
        self._writer = None

    def send(self, figures: dict[str, float], step: int) -> None:
        """Write the figures of a step."""
        values = [self._summaries.Value(tag=k, simple_value=v) for k, v in figures.items()]
        summary = self._summaries(value=values)
        self._writer.add_event(self._events(step=step, wall_time=time.time(), summary=summary))
