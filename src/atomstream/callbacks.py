"""Watching a model learn: callbacks in scikit-learn's protocol, for ``model.set_callbacks(...)``.

Anything scikit-learn 1.9 ships (``ProgressBar``, ``ScoringMonitor``) works as well.
"""

from __future__ import annotations

import time
from typing import Any

__all__ = ["History", "LearningBar"]


class _Callback:
    """The hooks of scikit-learn's ``FitCallback``, each doing nothing."""

    def setup(self, estimator: Any, context: Any) -> None:
        """Prepare for a fit."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Clean up after a fit, however it ended."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Take note that a task begins."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool | None:
        """Take note that a task has ended; true stops the fit."""


class History(_Callback):
    """Remember the objective along the stream.

    Parameters
    ----------
    max_points : int, default=2000
        When more have come, every second point is dropped, so memory does not grow with the stream.

    Attributes
    ----------
    n_samples : list of int
        Samples met when a point was taken.
    objective : list of float
        Mean objective of the batch that had just come, before the update it caused.
    """

    def __init__(self, max_points: int = 2000) -> None:
        self.max_points = max_points
        self.n_samples: list[int] = []
        self.objective: list[float] = []
        self._every = 1

    def setup(self, estimator: Any, context: Any) -> None:
        """Forget earlier fits."""
        self.n_samples, self.objective, self._every = [], [], 1

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Take a point after each batch that is due."""
        if context.task_name != "batch" or (estimator.n_steps_ - 1) % self._every:
            return
        self.n_samples.append(estimator.n_samples_seen_)
        self.objective.append(estimator.batch_objective_)
        if len(self.n_samples) > self.max_points:
            self.n_samples, self.objective = self.n_samples[::2], self.objective[::2]
            self._every *= 2


class LearningBar(_Callback):
    """A progress bar with samples per second and the running objective.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to draw; by default standard error.
    memory : float, default=0.95
        How much of the running objective stays at each step; the rest is the newest batch's.
    """

    def __init__(self, console: Any = None, memory: float = 0.95) -> None:
        self.console = console
        self.memory = memory
        self._bar: Any = None

    def setup(self, estimator: Any, context: Any) -> None:
        """Open the bar; its length is known when the number of batches is."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("learning"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("batches  {task.fields[rate]:,.0f} samples/s  objective {task.fields[objective]:.4g}"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=self.console or Console(stderr=True))
        self._task = self._bar.add_task("learning", total=context.max_subtasks, rate=0.0, objective=float("nan"))
        self._began, self._met, self._running = time.monotonic(), None, None
        self._bar.start()

    def teardown(self, estimator: Any, context: Any) -> None:
        """Leave the bar as it stands."""
        self._bar.stop()
        self._bar = None  # it holds locks: without it the model can be copied and saved

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Advance by one batch."""
        if context.task_name != "batch":
            return
        newest = estimator.batch_objective_
        self._running = newest if self._running is None else self.memory * self._running + (1 - self.memory) * newest
        if self._met is None:  # compiling, at the first batch, is not learning speed
            self._began, self._met = time.monotonic(), estimator.n_samples_seen_
        elapsed = max(time.monotonic() - self._began, 1e-9)
        rate = (estimator.n_samples_seen_ - self._met) / elapsed
        self._bar.update(self._task, advance=1, rate=rate, objective=self._running)
