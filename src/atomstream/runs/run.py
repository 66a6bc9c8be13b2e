"""The one engine of runs: advance a task, keep checkpoints, stop when asked, resume exactly."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.base import compiling, signals_handled
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file
from atomstream.io.source import guesses_of
from atomstream.runs import RunFolder, Task, forward_warnings
from atomstream.watch import Callback, History, Learner, changeovers, history_of, lives_of

PAUSE = 60.0  # seconds between checkpoints unless told otherwise,
COST = 50.0  # and at least this many times as long as the last one took: under 2 % of the time
TELL = 2.0  # seconds between looks at a run that are made possible
MOST_WARNINGS = 20


@dataclass(frozen=True)
class Outcome:
    """How a session of a run ended.

    Attributes
    ----------
    complete : bool
        Whether all that was asked for is done.
    reason : str or None
        What ended it early.
    nothing_left : bool
        Whether it had been complete before.
    """

    complete: bool
    reason: str | None = None
    nothing_left: bool = False


class Run:
    """A task in its folder: what is kept on disk, how long it has taken, what it has warned of.

    Parameters
    ----------
    folder : RunFolder
    task : Task

    Attributes
    ----------
    history : History
        The objective of each batch before its update.
    seconds : float
        Time spent learning, in all sessions.
    warnings : list of str
    on_warning : callable
        Called with each new warning.
    on_guesses : callable
        Called with what was guessed of the inputs of a new run, as soon as something was learned.
    listeners : list of callable
        Called with the facts of each alarm, as `atomstream.runs.alarms.alarm_facts` returns them.
    metrics : path or None
        File of metrics for a collector, written anew every two seconds.
    """

    def __init__(self, folder: RunFolder, task: Task) -> None:
        self.folder, self.task = folder, task
        self.history = History()
        self.seconds = 0.0
        self.warnings: list[str] = []
        self.on_warning: Callable[[str], None] = lambda _: None
        self.on_guesses: Callable[[dict[str, dict[str, str]]], None] = lambda _: None
        self.listeners: list[Callable[[dict[str, int]], None]] = []
        self.metrics: Path | None = None
        self.reason: str | None = None
        self.finishing = False
        self._finished = False
        self._results: dict[str, Any] = {}

    # -- what a checkpoint holds

    def notes(self) -> dict[str, Any]:
        """Return all that a file keeps beside the model."""
        return {
            "seconds": self.seconds,
            "warnings": np.array(self.warnings, object),
            "history": self.history.saved(),
            # Only those that decide what is learned: goals and threads may be others on resume.
            "settings": np.array(self.task.settings.decisive(), object),
            **self.task.notes(),
            "finished": self._finished,
            **self._results,
        }

    def restore(self, model: Any, notes: dict[str, Any]) -> None:
        """Go on from a file.

        Raises
        ------
        InputError
            Where settings that decide what is learned are not those of the file.
        """
        settings = self.task.settings
        # A subset, not the same: a later release may know more settings, whose defaults then hold.
        if not set(notes["settings"]) <= set(settings.decisive(whole=True)):
            raise InputError(
                f"The settings of {self.folder.path} were changed after it had begun; bring "
                f"run.toml back, or begin another run with: atomstream {settings.command()} "
                f"--config {self.folder.path}/run.toml --out ANOTHER_RUN"
            )
        self.task.restore(model, notes)
        self.seconds, self.warnings = notes["seconds"], list(notes["warnings"])
        self._finished = notes["finished"]
        self.history = history_of(notes)
        # So that the next batch is compared with the atoms as they were when the run stopped.
        self.history.look(self.learner)

    @property
    def learner(self) -> Any:
        """The dictionary estimator inside the model, or the model itself."""
        return getattr(self.task.model, "learner_", self.task.model)

    # -- learning

    def stop(self, reason: str) -> None:
        """End after the step in flight; may be called at any moment."""
        # The first reason stays: a signal may come while the time is already over.
        self.reason = self.reason or reason
        self.task.stop()

    def run(self, bar: Callable[[str], Callback], max_time: float | None = None) -> Outcome:
        """Learn until all is done, or something stops it; the state is on disk afterwards.

        Parameters
        ----------
        bar : callable
            Makes the callback that shows progress, from the name of what is under way.
        max_time : float, optional
            Seconds.
        """
        # A kill may have come between the last checkpoint and the model of the run.
        if self.task.complete and self._finished:
            self.folder.publish()
            return Outcome(complete=True, nothing_left=True)
        # A complete run that is asked for more has results of its shorter self.
        self._finished = False
        pace = _Pace(self, bar, max_time)
        try:
            # What a live stream has brought is learned even where a stop came before it.
            waits = self.task.live
            while not self.task.complete and (self.reason is None or waits):
                before, waits = self.task.position, False
                # Around the learning alone: an error of ours should show where it comes from.
                with explained(self.task, self._keep_warning):
                    self.task.advance(pace)
                # An advance that moved nothing would go on for ever.
                if not pace.rest() and not self.task.complete and self.task.position == before:
                    raise InputError(f"{self.task.sources[0].name} has nothing to learn from.")
        finally:
            # Also where an error ends the run: all batches before the bad one are kept, and need
            # not be learned again once the input is mended.
            if self.task.learned and not self.task.complete and self.task.position != pace.saved:
                pace.save()
        if self.task.complete:
            self._finish(pace)
        self.folder.log.write("end", complete=self.task.complete, reason=self.reason)
        return Outcome(self.task.complete, None if self.task.complete else self.reason)

    def _finish(self, pace: _Pace) -> None:
        """Write the results, then the last checkpoint.

        Where the settings do not suit what was learned, nothing is saved, so that a new run is
        refused; whatever else goes wrong, resume can write the results.
        """
        self.finishing = True
        try:
            with explained(self.task, self._keep_warning):
                self._results = self.task.finish(self.folder.path)
        except InputError:
            raise
        # Learning is done and may have taken days: it is kept, and a resume writes the results
        # alone.
        except BaseException:
            # Results first, then a checkpoint that says so: a kill in between has them written
            # again.
            pace.save()
            raise
        finally:
            self.finishing = False
        self._finished = True
        notes = pace.save()
        self.folder.log.write_events(lives_of(self.history, notes).events)

    def tell_alarm(self) -> None:
        """Write an alarm of the newest batch to the log, and tell all who listen."""
        from atomstream.runs.alarms import alarm_facts

        facts = alarm_facts(self.history, self.learner)
        self.folder.log.write("alarm", **facts)
        for listener in self.listeners:
            listener(facts)

    def write_metrics(self) -> None:
        """Write the file of metrics, where one is wanted; learning goes on where it cannot be."""
        # Nobody reads metrics of a model that does not exist yet.
        if self.metrics is None or not self.task.learned:
            return
        from atomstream.runs.alarms import metrics_text

        text = metrics_text(self.history, self.learner, self.folder.path.resolve().name)
        try:
            with whole_file(self.metrics) as file:
                file.write(text.encode())
        except OSError as error:
            self._keep_warning(f"{self.metrics} could not be written: {error.strerror}.")

    def _keep_warning(self, sentence: str) -> None:
        """Keep a warning for the report, if there is room."""
        if sentence not in self.warnings and len(self.warnings) < MOST_WARNINGS:
            self.warnings = [*self.warnings, sentence]
            self.on_warning(sentence)


@contextmanager
def explained(task: Task, warn: Callable[[str], None]) -> Iterator[None]:
    """Hand warnings on, and turn what a model complains about into a sentence."""
    with forward_warnings(lambda sentence: warn(task.in_flags(sentence))):
        try:
            yield
        # One already, in the words of the command line.
        except InputError:
            raise
        except ValueError as error:
            raise InputError(task.explained(error)) from None


class _Pace:
    """Writes checkpoints when they are due, and ends learning when its time is over."""

    def __init__(self, run: Run, bar: Callable[[str], Callback], max_time: float | None) -> None:
        self._run, self.bar = run, bar
        self._began = self._last = time.monotonic()
        self._deadline = float("inf") if max_time is None else self._began + max_time
        # Time of this session is added to that of the sessions before at each save only.
        self._cost, self._before = 0.0, run.seconds
        self.saved: Any = None
        self._told = self._began
        self._guesses = (
            {} if run.task.learned else guesses_of(run.task.sources)
        )  # that are still to be told
        self._changeovers = changeovers(run.learner) if run.task.learned else 0

    def note(self, learner: Learner) -> None:
        """Take in the last batch, and write the history now and then for those who watch."""
        # Asked each time: rows are kept out as the stream brings them.
        self._tell_guesses()
        history, task = self._run.history, self._run.task
        history.held_out, history.overlap = task.held_out, task.overlap
        n_alarms = history.n_alarms
        history.note(learner)
        if history.n_alarms > n_alarms:
            self._run.tell_alarm()
        self._changeovers, before = changeovers(learner), self._changeovers
        if self._changeovers != before:  # the adaptive schedule has left the past behind
            steps, n_samples = learner.n_steps_, learner.n_samples_seen_
            self._run.folder.log.write("changeover", step=steps, n_samples=n_samples)
        if time.monotonic() - self._told >= TELL:
            self._tell()

    def _tell_guesses(self) -> None:
        """Tell once what was guessed; before anything is learned an error may be all there is."""
        if self._guesses and self._run.task.learned:
            self._run.folder.log.write("guesses", inputs=self._guesses)
            self._run.on_guesses(self._guesses)
            self._guesses = {}

    def _tell(self) -> None:
        self._run.folder.log.write_history(self._run.history)
        self._run.write_metrics()
        self._told = time.monotonic()

    def due(self) -> bool:
        """Return whether a checkpoint or an end is due."""
        if time.monotonic() >= self._deadline:
            self._run.stop("max-time")
        return self._run.reason is not None or self._checkpoint_due()

    def rest(self) -> bool:
        """Keep a checkpoint if one is due, and return whether to stop."""
        task = self._run.task
        self._tell_guesses()
        # Several rests may come at one place, as on a stream that waits.
        if self._checkpoint_due() and task.learned and task.position != self.saved:
            self.save()
        self.due()
        return self._run.reason is not None

    def _checkpoint_due(self) -> bool:
        every = self._run.task.settings.checkpoint_every
        # Large models take long to write: they are written less often, which leaves time to learn.
        pause = max(PAUSE, COST * self._cost) if every is None else every
        return time.monotonic() - self._last >= pause

    def save(self) -> dict[str, Any]:
        """Write a checkpoint, note what it took, and return what it holds beside the model."""
        run, began = self._run, time.monotonic()
        run.seconds = self._before + began - self._began
        run.folder.save(run.task.model, notes := run.notes(), run.task.settings.keep)
        mean = run.history.recent if run.history.objective else None
        at = {"step": run.task.model.n_steps_, "objective": mean, "position": [*run.task.position]}
        run.folder.log.write("checkpoint", **at, **run.task.tallies())
        self._tell()
        # Counted from the end of the write: on a slow disk checkpoints would follow at once.
        self._last, self.saved = time.monotonic(), run.task.position
        self._cost = self._last - began
        return notes


class StoppedAtOnce(KeyboardInterrupt):
    """A signal came where no step is in flight: while kernels compile, or results are written."""


@contextmanager
def stopped_by_signals(run: Run) -> Iterator[None]:
    """End cleanly at the first Ctrl-C or SIGTERM; a second one ends at once."""
    before: dict[int, Any] = {}

    def stop(number: int, _frame: object) -> None:
        """Stop the run, and let the next signal end the process."""
        run.stop(signal.Signals(number).name)
        # The second signal finds the handlers of before, and ends the process even where a step
        # hangs.
        for known, handler in before.items():
            signal.signal(known, handler)
        # What a live stream has brought cannot be read again: it is learned once kernels are there.
        # No step is in flight that could be finished first, and compilers cannot be told to stop.
        if run.finishing or (compiling() and not run.task.live):
            raise StoppedAtOnce

    with signals_handled(stop, [signal.SIGINT, signal.SIGTERM], before):
        yield
