"""What a model was like along the stream: points that thin themselves, and their file.

A file of a history holds one JSON object in each line, one for each point, in the order of the
stream; `FIELDS` names their keys. What is not known is null. A run that is complete adds an object
for each birth, death, split or merge of an atom: the keys of `lives.Event`, with ``event`` for its
kind.
"""

import json
import math
import time
import warnings
from collections.abc import Iterator, Mapping
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.dictionaries.base import Dictionary
from atomstream.watch import DriftDetector, loss_of, stationarity

# The keys of a point, and what they are.
FIELDS: Mapping[str, str] = {
    "step": "number of batches learned from",
    "n_samples": "number of samples learned from",
    "seconds": "time since learning began, without the pauses of a run that was stopped",
    "objective": "mean objective of the samples of the newest batch, before the update",
    "held_out": "mean objective of rows that are not learned from, at every 32nd point",
    "violation": "stationarity of the atoms, judged by the newest batch alone",
    "memory": "effective number of samples that the memory stands for, (sum w)^2 / sum w^2",
    "moved": "change of the atoms by the newest batch, over their norm",
    "n_reseeded": "number of atoms that were given a new start so far",
    "dependence": "batches that count as one independent batch, from the loss of neighbours",
    "drift": "how near an alarm of `atomstream.watch.drift` is, from 0 to 1; above 1 there is one",
    "n_alarms": "number of alarms so far",
    "n_changeovers": "times that `schedule='adaptive'` has left the past behind so far",
    "usage": "share of each atom in the codes of the newest batch, times its length",
}
LOOKS = 32  # points for each look at rows held out
NUMBERS = tuple(name for name in FIELDS if name != "usage")
MOST_BYTES = 1 << 23  # of all snapshots of a model together
FULL = np.iinfo(np.int16).max  # entries are kept as shares of the largest one of their atom


class Trace:
    """A record of a learner along the stream: at most so many points.

    Parameters
    ----------
    max_points : int, default=2000
        When there are more, every second one is dropped, so memory does not grow with the stream.
    held_out : array-like or sparse of shape (n_rows, n_features), optional
        Rows that are not learned from, for models of rows.

    Attributes
    ----------
    snapshots : Snapshots
        The atoms at a few moments of the stream.
    overlap : int
        Batches in a row that share samples, such as the windows of a series; 1 where none do. Only
        one of so many is judged for an alarm.
    """

    def __init__(self, max_points: int = 2000, held_out: Any = None) -> None:
        self.max_points, self.held_out, self.overlap = max_points, held_out, 1
        self.snapshots = Snapshots()
        self.clear()

    def clear(self) -> None:
        """Forget all points."""
        self.every = 1
        self.points: dict[str, list[Any]] = {name: [] for name in FIELDS}
        self.detector = DriftDetector()
        self.snapshots.clear()
        self.n_alarms = 0
        self._squares = self._seconds = 0.0  # of weights; of sessions before
        self._began = time.monotonic()
        self._n_samples = 0
        self._before: tuple[Dictionary, NDArray] | None = None  # atoms and usage at the last look

    @property
    def n_samples(self) -> list[int]:
        """Number of samples learned from when a point was taken."""
        return self.points["n_samples"]

    @property
    def objective(self) -> list[float]:
        """Mean objective of the newest batch, before the update of the dictionary."""
        return self.points["objective"]

    @property
    def seconds(self) -> float:
        """Time since learning began."""
        return self._seconds + time.monotonic() - self._began

    @property
    def recent(self) -> float:
        """Mean of the objectives of the last sixth of the points."""
        values = self.objective[-(1 + len(self.objective) // 6) :]
        return sum(values) / max(len(values), 1)

    def note(self, learner: Any) -> None:
        """Look at a learner after a batch, and take a point if one is due at this step."""
        n_samples, objective = learner.n_samples_seen_, learner.batch_objective_
        clock = getattr(learner, "clock_", None)
        if clock is not None:
            # The sum of squared weights follows the clock: all old weights shrink by the same
            # factor.
            kept, n_new = 1 - clock.weight, max(n_samples - self._n_samples, 1)
            self._squares = kept**2 * self._squares + clock.weight**2 / n_new
        self._n_samples = n_samples
        # Batches that share samples have objectives that hang together: one of so many is news.
        if learner.n_steps_ % self.overlap == 0:
            self.n_alarms += self.detector.update(loss_of(objective))
        before = self._before
        self.look(learner)
        # The atoms after this batch, which `look` has just kept.
        if self._before is not None and self.snapshots.due(learner.n_steps_):
            self.snapshots.take(self._before[0].atoms(), learner.n_steps_, n_samples)
        if (learner.n_steps_ - 1) % self.every == 0:
            self._take(learner, before)

    def look(self, learner: Any) -> None:
        """Keep what the next batch may change; costs nothing, for arrays are never written into."""
        state = getattr(learner, "state_", None)
        self._before = None if state is None else (copy(state.dictionary), state.usage.newest)

    def _take(self, learner: Any, before: tuple[Dictionary, NDArray] | None) -> None:
        again = self.detector.correlation
        known = {
            "step": learner.n_steps_,
            "n_samples": learner.n_samples_seen_,
            "seconds": round(self.seconds, 3),
            "objective": learner.batch_objective_,
            "held_out": self._judged(learner),
            "violation": _violation(learner),
            "memory": 1 / self._squares if self._squares else math.nan,
            "n_reseeded": getattr(learner, "n_reseeded_", 0),
            "dependence": (1 + again) / (1 - again),
            "drift": self.detector.statistic,
            "n_alarms": self.n_alarms,
            "n_changeovers": changeovers(learner),
            **_compared(before, self._before),
        }
        for name, values in self.points.items():
            values.append(known[name])
        # Every second point goes, so that the record spans the whole stream at any length.
        if len(self.n_samples) > self.max_points:
            self.points = {name: values[::2] for name, values in self.points.items()}
            self.every *= 2

    def _judged(self, learner: Any) -> float:
        """Return the mean objective of the rows held out, if it is time to look at them."""
        rows, place = self.held_out, (learner.n_steps_ - 1) // self.every
        # Coding the rows costs as much as a batch: not at every point.
        if rows is None or place % LOOKS or 0 in np.shape(rows)[:1]:
            return math.nan
        with warnings.catch_warnings(action="ignore"):
            return float(learner.objective(rows))

    # -- kept beside a model, and in a file

    def saved(self) -> dict[str, Any]:
        """Return all of it, as numbers and arrays."""
        width = max(map(len, self.points["usage"]), default=0)
        # Atoms may have been added on the way: shorter rows end in NaN.
        usage = np.full((len(self.n_samples), width), np.nan)
        for row, shares in zip(usage, self.points["usage"], strict=True):
            row[: len(shares)] = shares
        points = {name: np.array(self.points[name], np.float64) for name in NUMBERS}
        return {
            **points,
            "usage": usage,
            "every": self.every,
            "alarms": self.n_alarms,
            "squares": self._squares,
            "seen": self._n_samples,
            "elapsed": self.seconds,
            "detector": np.array(self.detector.state),
            "snapshots": self.snapshots.saved(),
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on from what `saved` returned.

        Raises
        ------
        ValueError, KeyError, TypeError
            Where it does not fit together.
        """
        # What follows may fail half way through a damaged file: then nothing of before is mixed
        # with it.
        self.clear()
        n_points = len(saved["n_samples"])
        for name in NUMBERS:
            # Counts come back as int, so that a log of a resumed run reads like that of any other.
            whole = name in ("step", "n_samples", "n_reseeded", "n_alarms", "n_changeovers")
            values = np.asarray(saved[name], np.float64)
            if values.shape != (n_points,):
                raise ValueError(f"a history of {n_points} points and {name} of {values.shape}")
            self.points[name] = [int(x) if whole else x for x in values.tolist()]
        usage = np.asarray(saved["usage"], np.float64)
        if usage.shape[:1] != (n_points,) or usage.ndim != 2:
            raise ValueError(f"a history of {n_points} points and usage of {usage.shape}")
        self.points["usage"] = [row[~np.isnan(row)].tolist() for row in usage]
        self.every, self.n_alarms = int(saved["every"]), int(saved["alarms"])
        self._squares, self._seconds = float(saved["squares"]), float(saved["elapsed"])
        self._n_samples = int(saved["seen"])
        self.detector.state = np.asarray(saved["detector"], np.float64).tolist()
        self.snapshots.restore(saved["snapshots"])

    def lines(self, first: int = 0) -> Iterator[str]:
        """Yield the points from one on as lines of JSON."""
        for place in range(first, len(self.n_samples)):
            point = {name: _plain(values[place]) for name, values in self.points.items()}
            yield json.dumps(point) + "\n"


def read_history(path: str | Path) -> Trace:
    """Read the file of a history; a line that is cut or damaged is left out.

    Parameters
    ----------
    path : path
        Such as ``run/history.jsonl``.
    """
    trace = Trace()
    for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            point = json.loads(line)
            values = {name: point[name] for name in FIELDS}
        # The writer may be in the middle of the last line.
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        for name, value in values.items():
            trace.points[name].append(math.nan if value is None else value)
    return trace


def alarms_of(history: Trace, count: str = "n_alarms") -> list[int]:
    """Return the numbers of samples seen at the points by which a count had risen, in order."""
    # NaN, where a number was not known, counts as none.
    counts = np.nan_to_num(history.points[count])
    places = np.flatnonzero(np.diff(counts, prepend=0) > 0)
    return [int(history.n_samples[place]) for place in places]


def changeovers(learner: Any) -> int:
    """Return how often the adaptive schedule of a learner has left the past behind."""
    twin = getattr(getattr(learner, "_learner", None), "reactive", None)
    return 0 if twin is None else int(twin.n_taken)


def _violation(learner: Any) -> float:
    """Return the stationarity judged by the newest batch; NaN where that is not known."""
    progress, algorithm = getattr(learner, "_progress", None), getattr(learner, "algorithm_", None)
    fixed = getattr(getattr(algorithm, "updater", None), "fixed", None)
    # A learner that is not of this package may have none of these.
    if progress is None or algorithm is None or fixed is None:
        return math.nan
    try:
        return stationarity(progress.delta, learner.state_.dictionary, algorithm.objective, fixed)
    except (TypeError, AttributeError):  # what the memory is measured by has no gradient
        return math.nan


def _compared(
    before: tuple[Dictionary, NDArray] | None, now: tuple[Dictionary, NDArray] | None
) -> dict[str, Any]:
    """Return what a batch has changed, as far as that is known."""
    if now is None:
        return {"moved": math.nan, "usage": []}
    if before is None or before[0].shape != now[0].shape:
        return {"moved": math.nan, "usage": _shares(now[1])}
    atoms = np.asarray(now[0].atoms())
    # Relative to the atoms, so that curves of different data can be compared.
    size = float(np.linalg.norm(atoms)) or math.nan
    moved = float(np.linalg.norm(atoms - before[0].atoms())) / size
    return {"moved": moved, "usage": _shares(now[1])}


def _shares(totals: NDArray) -> list[float]:
    return [round(share, 6) for share in (totals / (totals.sum() or 1.0)).tolist()]


def _plain(value: Any) -> Any:
    # JSON has no NaN.
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Snapshots:
    """Atoms of a model along the stream, at steps that are evenly spaced.

    When there are more than ``most``, every second one is dropped. Atoms are kept without their
    lengths, in 16 bits an entry: enough for cosines, within 1e-4, and for pictures. Of a dictionary
    so large that three do not fit into 8 MB none is kept.

    Parameters
    ----------
    most : int, default=16

    Attributes
    ----------
    n_samples : list of int
        Number of samples learned from at each snapshot.
    steps : list of int
        Number of batches.
    """

    def __init__(self, most: int = 16) -> None:
        self.most = most
        self.clear()

    def clear(self) -> None:
        """Forget all snapshots."""
        self.every = 1
        self.n_samples: list[int] = []
        self.steps: list[int] = []
        self._kept: list[NDArray] = []

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def atoms(self) -> list[NDArray]:
        """Snapshots of shape (n_components, n_features), the largest entry of an atom 1 or -1."""
        return [kept.astype(np.float64) / FULL for kept in self._kept]

    def due(self, step: int) -> bool:
        """Return whether one is to be taken at this step, from 1."""
        return (step - 1) % self.every == 0

    def take(self, atoms: NDArray, step: int, n_samples: int) -> None:
        """Take a snapshot; atoms of another shape than before begin anew."""
        flat = np.asarray(atoms).reshape(len(atoms), -1)
        # Large atoms are kept at fewer moments, and very large ones at none.
        most = min(self.most, MOST_BYTES // (2 * max(flat.size, 1)))
        if self._kept and self._kept[0].shape != flat.shape:
            self.clear()
        # Thinning needs a first, a last, and one in between.
        if most < 3:
            return
        largest = np.abs(flat).max(axis=1, keepdims=True)
        # Only directions are compared, so two bytes an entry are enough.
        shares = np.divide(flat, largest, out=np.zeros(flat.shape), where=largest > 0)
        self._kept.append(np.round(FULL * shares).astype(np.int16))
        self.steps.append(int(step))
        self.n_samples.append(int(n_samples))
        if len(self) > most:
            self._kept, self.steps = self._kept[::2], self.steps[::2]
            self.n_samples = self.n_samples[::2]
            self.every *= 2

    def saved(self) -> dict[str, Any]:
        """Return all of it, as numbers and arrays."""
        kept = np.array(self._kept) if self._kept else np.zeros((0, 0, 0), np.int16)
        return {
            "atoms": kept,
            "steps": np.array(self.steps, np.int64),
            "n_samples": np.array(self.n_samples, np.int64),
            "every": self.every,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on from what `saved` returned.

        Raises
        ------
        ValueError, KeyError, TypeError
            Where it does not fit together.
        """
        kept = np.asarray(saved["atoms"])
        steps, n_samples = (np.asarray(saved[name]) for name in ("steps", "n_samples"))
        good = kept.ndim == 3 and kept.dtype == np.int16
        if not good or not len(kept) == len(steps) == len(n_samples) or saved["every"] < 1:
            raise ValueError(f"snapshots of {kept.shape} at {steps.shape} steps")
        self._kept, self.every = list(kept), int(saved["every"])
        self.steps, self.n_samples = steps.astype(int).tolist(), n_samples.astype(int).tolist()
