"""Callbacks that follow a model while it learns, for ``model.set_callbacks(...)``.

They use scikit-learn's protocol, so the callbacks of scikit-learn 1.9 (``ProgressBar``,
``ScoringMonitor``) work as well.
"""

from __future__ import annotations

import logging
import math
import time
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from atomstream.base import check_count
from atomstream.watch.history import Trace

if TYPE_CHECKING:
    from rich.console import Console

    from atomstream.loop import Algorithm
    from atomstream.memory.state import State

log = logging.getLogger(__name__)


class TaskContext(Protocol):
    """A task of a fit, as scikit-learn describes it to callbacks."""

    @property
    def task_name(self) -> str:
        """Such as "batch"."""

    @property
    def max_subtasks(self) -> int | None:
        """Number of tasks in this one, where it is known."""


class Learner(Protocol):
    """An estimator that learns batch by batch."""

    _progress: Any

    @property
    def n_steps_(self) -> int:
        """Number of batches learned from."""

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learned from."""

    @property
    def batch_objective_(self) -> float:
        """Mean objective of the newest batch, before the update."""

    @property
    def algorithm_(self) -> Algorithm:
        """How it learns."""

    @property
    def state_(self) -> State:
        """Where it stands."""


class Callback:
    """The hooks of scikit-learn's ``FitCallback``, each doing nothing."""

    def setup(self, estimator: object, context: TaskContext) -> None:
        """Prepare for a fit."""

    def teardown(self, estimator: object, context: TaskContext) -> None:
        """Clean up after a fit, however it ended."""

    def on_fit_task_begin(self, estimator: object, context: TaskContext) -> None:
        """React to the beginning of a task."""

    def on_fit_task_end(self, estimator: Learner, context: TaskContext) -> bool | None:
        """React to the end of a task: here of a batch; returning true stops the fit."""
        # A fit as a whole is a task too, and ends after its last batch.
        return self.on_batch_end(estimator) if context.task_name == "batch" else None

    def on_batch_end(self, estimator: Learner) -> bool | None:
        """React to a batch that was learned from; returning true stops the fit."""


class History(Trace, Callback):
    """A record along the stream: the objective, and how atoms and memory change.

    Parameters
    ----------
    max_points : int, default=2000
        When there are more points, every second one is dropped, so memory does not grow with the
        stream.
    held_out : array-like or sparse of shape (n_rows, n_features), optional
        Rows that the model does not learn from; every 32nd point has their mean objective.

    Attributes
    ----------
    n_samples : list of int
        Number of samples learned from when a point was taken.
    objective : list of float
        Mean objective of the newest batch, before the update of the dictionary.
    points : dict of str to list
        Everything that is known about each point; `atomstream.watch.history.FIELDS` lists it.
    every : int
        Number of steps between points.
    """

    def setup(self, estimator: object, context: TaskContext) -> None:
        """Forget earlier fits."""
        self.clear()

    def on_batch_end(self, estimator: Learner) -> None:
        """Take a point after a batch, if one is due."""
        self.note(estimator)


@dataclass(eq=False)
class EarlyStopping(Callback):
    """Stop a fit when a metric no longer improves.

    Parameters
    ----------
    monitor : "recent", array-like of shape (n_rows, n_features) or callable, default="recent"
        What is watched: the mean objective of the batches since the last look, before their
        updates; the mean objective of rows that are not learned from; or a function of the model
        whose value should fall.
    patience : int, default=5
        So many looks in a row without a gain end the fit.
    min_delta : float, default=1e-3
        Share of the best value so far by which a look must lie below it to be a gain.
    every : int, default=10
        Steps between looks.

    Attributes
    ----------
    values : list of float
        What was seen, a value for each look.
    best : float
        The lowest of the values that were gains.
    stopped : bool
        Whether it ended the fit.

    Raises
    ------
    ValueError
        For numbers out of range, and for a name other than "recent".

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import OnlineNMF, callbacks
    >>> rng = np.random.default_rng(0)
    >>> atoms = rng.random((3, 8))
    >>> def rows():
    ...     return rng.random((50, 3)) @ atoms + 0.1 * rng.random((50, 8))
    >>> stopping = callbacks.EarlyStopping(monitor=rows())
    >>> model = OnlineNMF(3, random_state=0).set_callbacks(stopping)
    >>> model = model.fit_stream(rows() for _ in range(10**6))
    >>> stopping.stopped
    True
    """

    monitor: object = "recent"
    _: KW_ONLY
    patience: int = 5
    min_delta: float = 1e-3
    every: int = 10

    def __post_init__(self) -> None:
        if isinstance(self.monitor, str) and self.monitor != "recent":
            raise ValueError(
                f"monitor must be 'recent', rows that are held out, or a function of the model, "
                f"got {self.monitor!r}."
            )
        check_count("patience", self.patience)
        check_count("every", self.every)
        if not 0 <= self.min_delta < 1:
            raise ValueError(
                f"min_delta must be a share from 0 to below 1, got {self.min_delta!r}."
            )
        self._forget()

    def setup(self, estimator: object, context: TaskContext) -> None:
        """Forget earlier fits."""
        self._forget()

    def _forget(self) -> None:
        self.values: list[float] = []
        self.best, self.stopped = float("inf"), False
        self._recent: list[float] = []
        self._waited = 0

    def on_batch_end(self, estimator: Learner) -> bool:
        """Look after a batch, if it is time; return whether to stop."""
        self._recent.append(estimator.batch_objective_)
        if len(self._recent) < self.every:
            return False
        value = self._value(estimator)
        self._recent = []
        self.values.append(value)
        # Against an infinite best value shares mean nothing: the first finite one is a gain.
        gained = math.isfinite(value)
        if math.isfinite(self.best):
            gained = value < self.best - self.min_delta * abs(self.best)
        self.best, self._waited = (value, 0) if gained else (self.best, self._waited + 1)
        self.stopped = self._waited >= self.patience
        if self.stopped:
            text = "Stopped after step %d: no gain in %d looks, best value %.6g, last %.6g."
            log.info(text, estimator.n_steps_, self.patience, self.best, value)
        return self.stopped

    def _value(self, estimator: Any) -> float:
        if isinstance(self.monitor, str):
            return sum(self._recent) / len(self._recent)
        if callable(self.monitor):
            return float(self.monitor(estimator))
        return float(estimator.objective(self.monitor))


@dataclass(eq=False)
class LearningBar(Callback):
    """A progress bar with samples per second and the running objective, for 80 columns or more.

    The numbers beside the bar count batches. The time left is shown if their number is known.
    Without a terminal or notebook, a line is printed now and then instead.

    Parameters
    ----------
    console : rich.console.Console, optional
        Console to draw on; by default standard error.
    memory : float, default=0.95
        Weight of the past in the running objective; the newest batch has the rest.
    text : str, default="learning"
        Text in front of the bar.
    every : float, default=10
        Seconds between lines if there is no terminal.
    unit : str, default="samples"
        What samples are called: "rows", "patches".
    """

    console: Console | None = None
    memory: float = 0.95
    _: KW_ONLY
    text: str = "learning"
    every: float = 10.0
    unit: str = "samples"

    def __post_init__(self) -> None:
        self._bar: Any = None

    def setup(self, estimator: object, context: TaskContext) -> None:
        """Open the bar."""
        from rich import progress
        from rich.console import Console
        from rich.table import Column

        console = self.console or Console(stderr=True)
        columns = (
            progress.TextColumn("{task.description}"),
            # What is left of the line: the figures must not be cut.
            progress.BarColumn(None, table_column=Column(ratio=1, min_width=4)),
            progress.MofNCompleteColumn(table_column=Column(no_wrap=True)),
            progress.TextColumn("{task.fields[state]}", table_column=Column(no_wrap=True)),
            progress.TimeRemainingColumn(table_column=Column(no_wrap=True)),
        )
        self._drawn = console.is_terminal or console.is_jupyter
        style: dict[str, Any] = {"disable": not self._drawn, "expand": True}
        self._bar = progress.Progress(*columns, console=console, **style)
        self._task = self._bar.add_task(self.text, total=context.max_subtasks, state="")
        self._start = self._last_line = time.monotonic()
        self._n_start: int | None = None
        self._running: float | None = None
        # Rich draws from here on in a thread of its own.
        self._bar.start()

    def teardown(self, estimator: object, context: TaskContext) -> None:
        """Stop the bar."""
        if self._drawn:  # Rich 13 ends even a bar that it never drew with an empty line
            with suppress(OSError):
                self._bar.stop()
        self._bar = None  # it holds locks: without it the model can be copied and saved

    def on_batch_end(self, estimator: Learner) -> None:
        """Advance by one batch."""
        newest, now = estimator.batch_objective_, time.monotonic()
        if self._running is None:
            self._running = newest
        else:
            self._running = self.memory * self._running + (1 - self.memory) * newest
        if self._n_start is None:  # do not count the first batch, which compiles the kernels
            self._start, self._n_start, self._last_line = now, estimator.n_samples_seen_, now
        rate = (estimator.n_samples_seen_ - self._n_start) / max(now - self._start, 1e-9)
        state = f"{rate:,.0f} {self.unit}/s  objective {self._running:.4g}"
        with suppress(OSError):  # the terminal may be gone; learning continues
            self._show(state, estimator.n_samples_seen_, now)

    def _show(self, state: str, n_samples: int, now: float) -> None:
        self._bar.update(self._task, advance=1, state=state, description=self.text)
        if not self._drawn and now - self._last_line >= self.every:
            self._last_line = now
            line = f"{self.text}: {n_samples:,} {self.unit}, {state}{self._left()}"
            self._bar.console.print(line, soft_wrap=True)

    def _left(self) -> str:
        seconds = self._bar.tasks[self._task].time_remaining
        return "" if seconds is None else f", {seconds:.0f} s left"


def history_of(notes: dict[str, Any]) -> History:
    """Return the history that notes hold, an empty one for a model without a run.

    Raises
    ------
    ValueError, KeyError, TypeError
        Where it does not fit together.
    """
    history = History()
    if "history" in notes:
        history.restore(notes["history"])
    return history
