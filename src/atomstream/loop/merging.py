"""Learning of slots apart from each other, from one state, and its merge into the next state.

A round begins with one state. Each slot either takes steps of its own and returns the state that it
ends with, or codes its rows with the dictionary as it is and returns the sum of their deltas. The
former are averaged, the latter added and absorbed as one batch; one update follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomstream.base import threads
from atomstream.loop.online import Algorithm, Progress, absorb, learn
from atomstream.memory import Delta, State, Usage
from atomstream.problem import Batch, Clock

SWEEPS = 3  # updates after a merge: measured, one is a little worse and ten are no better


@dataclass(frozen=True)
class SerialResult:
    """What a slot learned that was alone in its round, as serial learning does.

    Attributes
    ----------
    learned : dict
        Attributes of the model, by their names.
    latest : array or sparse array, optional
        The rows of its last batch.
    objective : float
        NaN: there are no slots to compare.
    """

    learned: dict[str, Any]
    latest: Any = None
    objective: float = float("nan")


@dataclass(frozen=True)
class SlotResult:
    """What one slot learned in a round.

    Attributes
    ----------
    n_rows : int
        Rows it was given.
    clock : Clock
        After its steps; as it was where the dictionary was frozen.
    state : State, optional
        After its steps, every row of which counted for those of all slots.
    delta : Delta, optional
        Sum over its rows, coded with the frozen dictionary.
    latest : Batch, optional
        Its last batch, every row counted once, where it was asked for.
    objective : float
        Mean objective of its last batch.
    """

    n_rows: int
    clock: Clock
    state: State | None = None
    delta: Delta | None = None
    latest: Batch | None = None
    objective: float = float("nan")


def slot_result(
    learner: Any, batches: Iterable[Batch], *, frozen: bool = False, keep_latest: bool = False
) -> SlotResult:
    """Learn from the rows of a slot; atoms that nothing uses are left to the merge.

    Parameters
    ----------
    learner : Learner
        Of the slot alone: its state and its clock go on.
    batches : iterable of Batch
        Where the slot takes steps, every row weighs as much as those of all slots.
    frozen : bool, default=False
        Whether the dictionary stays as it is, and the rows are only measured.
    keep_latest : bool, default=False
        Whether the last batch comes back: what atoms that nothing uses are replaced by.
    """
    first, whole, latest, objective = learner.clock.n_samples, None, None, np.nan

    def note(progress: Progress) -> bool:
        """Add up what batches measure, and keep what the last one came to."""
        nonlocal whole, latest, objective
        if frozen:
            whole = progress.delta if whole is None else whole + progress.delta
        latest = progress.batch if keep_latest else None
        objective = float(progress.delta.objective / progress.delta.mass)
        return False

    algorithm, clock = learner.algorithm.without_reseeding(), learner.clock
    with threads(learner.n_jobs):
        learn(batches, learner.state, algorithm, clock, learner.rng, note, frozen=frozen)
    n_rows, state = clock.n_samples - first, None if frozen else learner.state
    return SlotResult(n_rows, clock, state, whole, latest, objective)


def check_additive(algorithm: Any, *, frozen: bool) -> None:
    """Refuse an algorithm whose parts of a round cannot be merged.

    Raises
    ------
    ValueError
        With the reason of the memory, or of the algorithm.
    """
    if frozen and not isinstance(algorithm, Algorithm):
        raise ValueError(
            "This model learns row by row, and what rows add to its sums depends on those before; "
            "take rounds of mode='local'."
        )
    if not frozen:
        start = algorithm.statistics.start
        loss = algorithm.objective.loss
        # The smallest memories tell whether those of this kind can be merged at all.
        start(1, 1, loss).merge(start(1, 1, loss), 0.5)


@dataclass(frozen=True)
class Merged:
    """The outcome of a round, its dictionary not yet improved.

    Attributes
    ----------
    state, clock : State, Clock
    latest : Batch, optional
        The last batch of the first slot.
    objective : float
        Mean of the objectives of the last batches; NaN where no slot learned anything.
    """

    state: State
    clock: Clock
    latest: Batch | None
    objective: float


def merged(algorithm: Any, state: State, clock: Clock, results: Iterable[SlotResult]) -> Merged:
    """Return the outcome of a round; of the parts that came, little more than one is held.

    Parameters
    ----------
    algorithm : Algorithm
        Or another that steps as it does.
    state, clock : State, Clock
        From which all slots began; left as they are.
    results : iterable of SlotResult
        In the order of the slots, on which the last bits of sums depend.
    """
    after, average, delta, latest = copy(clock), _Average(), None, None
    known: list[float] = []
    for result in results:
        after.n_samples += result.n_rows
        latest = result.latest if latest is None else latest
        known += [result.objective] * bool(np.isfinite(result.objective))
        if result.state is not None:
            average.add(result.state, result.clock, result.n_rows)
        elif result.delta is not None:
            delta = result.delta if delta is None else delta + result.delta
    if not known:  # rows without any observed entry teach nothing
        return Merged(state, after, None, np.nan)
    if delta is not None:
        # A round may be repeated from the state that it began with.
        state = state.snapshot()
        absorb(delta, state, after)
    else:
        state = average.state(algorithm)
        after.mass, after.weight, after.step = average.mass, average.weight, average.step
    return Merged(state, after, latest, float(np.mean(known)))


class _Average:
    """The average of states by their rows, added in their order."""

    def __init__(self) -> None:
        self._memory: Any = None
        self._dictionaries: list[Any] = []
        self._rows: list[int] = []
        self._usages: list[Usage] = []
        self.mass = self.weight = 0.0
        self.step = 0

    def add(self, state: State, clock: Clock, n_rows: int) -> None:
        """Take in the state that a slot ended with."""
        self._rows.append(n_rows)
        # A running mean: the average and the newest memory are all that is held of memories.
        share = n_rows / sum(self._rows)
        if self._memory is None:
            self._memory = copy(state.memory)
        else:
            self._memory.merge(state.memory, share)
        # Dictionaries wait until the end: how they are averaged may depend on the merged memory.
        self._dictionaries.append(state.dictionary)
        self._usages.append(state.usage)
        self.mass += share * (clock.mass - self.mass)
        self.weight += share * (clock.weight - self.weight)
        # Slots run side by side: a round takes as many steps as its longest slot.
        self.step = max(self.step, clock.step)

    def state(self, algorithm: Any) -> State:
        """Return the average."""
        shares = np.array(self._rows, dtype=float) / sum(self._rows)
        usage = Usage(len(self._usages[0].mean))
        usage.mean = shares @ [each.mean for each in self._usages]
        # Rows counted for those of all slots, so the average of sums is the sum.
        usage.newest = shares @ [each.newest for each in self._usages]
        # An atom that any slot has used is not idle.
        usage.idle = np.min([each.idle for each in self._usages], axis=0)
        dictionary = algorithm.updater.average_dictionaries(
            self._dictionaries, shares, self._memory
        )
        return State(dictionary, self._memory, usage)
