"""How long a run takes, and how much memory: a few steps are made, and the rest is counted."""

import cProfile
import pstats
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import atomstream
from atomstream.base import counted
from atomstream.io.source import size_of
from atomstream.runs.task import Task, Work
from atomstream.watch import Callback, Learner

LONG, SHORT = 3.0, 1.0  # seconds of steps that are timed, and of those that are profiled
MIN_STEPS = 4  # whatever they take
# What the folders of the package do in a step.
PARTS = {"coders": "coding", "memory": "sums", "updates": "atoms", "io": "reading"}


@dataclass(frozen=True)
class Estimate:
    """What a run would take.

    Attributes
    ----------
    work : Work
    seconds : float
        Of learning, as a run prints them; kernels that were compiled for the estimate do not count.
    memory : float or None
        Bytes at the peak, those of mapped files included; None where the system does not tell.
    shares : dict
        Shares of the time of a step, the largest first; empty where no step was left to look at.
    n_measured : int
        Samples that were learned to find out.
    """

    work: Work
    seconds: float
    memory: float | None
    shares: dict[str, float]
    n_measured: int

    @property
    def n_steps(self) -> int:
        """Number of batches in all passes."""
        return self.work.n_passes * -(-self.work.n_samples // self.work.batch_size)

    def facts(self) -> dict[str, Any]:
        """Return all of it by name, for machines."""
        known = self.work._asdict() | {"n_steps": self.n_steps} | vars(self)
        return {name: value for name, value in known.items() if name != "work"}

    def sentences(self, unit: str) -> str:
        """Return it in words."""
        work, about = self.work, "" if self.work.is_told else "about "
        passes = counted(work.n_passes, "pass", "passes")
        rounds = f" and up to {counted(work.n_rounds, 'round')}" if work.n_rounds else ""
        memory = f" and {size_of(self.memory)} of memory" if self.memory else ""
        pages = f", {size_of(work.mapped)} of it pages of files" if memory and work.mapped else ""
        shares = ", ".join(f"{part} {share:.0%}" for part, share in self.shares.items())
        return (
            f"{about}{counted(work.n_samples, unit)} of {counted(work.n_features, 'column')}, "
            f"{passes}{rounds}: {counted(self.n_steps, 'step')} of {work.batch_size}\n"
            f"about {_time(self.seconds)}{memory}{pages}"
            + (f"\na step: {shares}" if shares else "")
        )


class _Probe:
    """A pace that asks to come back after some steps.

    Parameters
    ----------
    seconds : float
        That the steps after the first may take.
    clock : callable
        Returns the time.

    Attributes
    ----------
    points : list of (float, int)
        The time after each step, and how many samples have come by then.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._most, self._clock, self._n_samples = seconds, clock, 0
        self.points = list[tuple[float, int]]()

    def bar(self, text: str) -> Callback:
        """Show nothing."""
        return Callback()

    def note(self, learner: Learner) -> None:
        """Keep how many samples have come."""
        self._n_samples = learner.n_samples_seen_

    def due(self) -> bool:
        """Return whether enough steps are measured; for the first one kernels are loaded."""
        self.points.append((self._clock(), self._n_samples))
        return len(self.points) > MIN_STEPS and self.points[-1][0] - self.points[0][0] > self._most

    rest = due


def estimate(task: Task) -> Estimate:
    """Return what a run would take, after a few seconds of it; the task is of no use afterwards.

    Parameters
    ----------
    task : Task
        At its beginning.

    Raises
    ------
    InputError
        Where inputs do not tell how much there is to learn.
    """
    work, began = task.work(), time.perf_counter()
    from numba.core import event  # as learning itself would load it

    compiled = event.TimingListener()

    def clock() -> float:
        """Return the time without that in which kernels are compiled, which is done once."""
        return time.perf_counter() - (compiled.duration if compiled.done else 0.0)

    with event.install_listener("numba:compile", compiled):
        task.advance(probe := _Probe(LONG, clock))
        task.notes()  # what is kept beside the model is found at each checkpoint
        seconds = clock() - began
        # The first steps have dense codes of poor atoms: later ones tell what the others take.
        (then, before), (now, n_seen) = probe.points[len(probe.points) // 2], probe.points[-1]
        if task.complete:
            return Estimate(work, seconds, _peak(), {}, n_seen)
        rate, left = (now - then) / max(n_seen - before, 1), work.n_passes * work.n_samples - n_seen
        seconds += rate * max(left, 0)
        if work.n_rounds:
            probe = _Probe(SHORT, clock)
            while len(probe.points) <= MIN_STEPS:  # the steps above may have ended with a pass
                task.settle(probe)  # type: ignore[attr-defined]
            span, n_steps = probe.points[-1][0] - probe.points[0][0], len(probe.points) - 1
            seconds += work.n_rounds * -(-work.n_samples // work.batch_size) * span / n_steps
        # Pages of mapped files that have not come yet.
        memory = _peak(work.mapped * (1 - min(n_seen / work.n_samples, 1)))
        profile = cProfile.Profile()
        profile.runcall(task.advance, _Probe(SHORT, clock))
    return Estimate(work, seconds, memory, _shares(profile), n_seen)


def _time(seconds: float) -> str:
    """Return a time in words."""
    size, unit = (3600, "h") if seconds >= 7200 else (60, "min") if seconds >= 120 else (1, "s")
    return f"{seconds / size:.{0 if seconds >= 10 * size else 1}f} {unit}"


def _peak(more: float = 0.0) -> float | None:
    """Return the most bytes that this process has had in memory, and more; None if not told."""
    try:
        import resource
    except ImportError:  # on Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) + more


def _shares(profile: cProfile.Profile) -> dict[str, float]:
    """Return which share of the time is spent in which parts, the largest first."""
    stats: Any = pstats.Stats(profile)
    spent = dict.fromkeys(PARTS.values(), 0.0)
    for (file, *_), (*_, callers) in stats.stats.items():
        for (caller, *_), (*_, seconds) in callers.items():
            # Only where a part is entered: within it others may be called.
            if (part := _part(file)) is not None and _part(caller) is None:
                spent[part] += seconds
    whole = max(stats.total_tt, sum(spent.values()))
    return {part: spent[part] / whole for part in sorted(spent, key=lambda part: -spent[part])}


def _part(file: str) -> str | None:
    """Return what the functions of a file do in a step; None where they only call others."""
    home = Path(atomstream.__file__).parent
    return PARTS.get(Path(file).parts[len(home.parts)]) if file.startswith(str(home)) else None
