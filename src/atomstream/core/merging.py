"""Learning of slots apart from each other, from one state, and its merge into the next state.

A round begins with one state. Each slot either takes steps of its own and returns the state that it
ends with, or codes its rows with the dictionary as it is and returns the sum of their deltas. The
former are averaged, the latter added and absorbed as one batch; one update follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from atomstream.coders import Codes
from atomstream.core.batch import Batch
from atomstream.core.clock import Clock
from atomstream.core.method import Method, absorb
from atomstream.core.state import State
from atomstream.memory.base import Delta
from atomstream.memory.usage import Usage
from atomstream.updates.base import Explained

__all__ = ["Alone", "Part", "check_additive", "improve", "merged"]

SWEEPS = 3  # updates after a merge: measured, one is a little worse and ten are no better


@dataclass(frozen=True)
class Alone:
    """What a slot learned that was alone in its round, as serial learning does.

    Attributes
    ----------
    learned : dict
        Attributes of the model, by their names.
    latest : array or sparse array, optional
        The rows of its last batch.
    """

    learned: dict[str, Any]
    latest: Any = None


@dataclass(frozen=True)
class Part:
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


def check_additive(method: Any, *, frozen: bool) -> None:
    """Refuse a method whose parts of a round cannot be merged.

    Raises
    ------
    ValueError
        With the reason of the memory, or of the method.
    """
    if frozen and not isinstance(method, Method):
        raise ValueError(
            "This model learns row by row, and what rows add to its sums depends on those before; "
            "take rounds of mode='local'."
        )
    if not frozen:
        start = method.statistics.start
        loss = method.objective.loss
        start(1, 1, loss).merge(start(1, 1, loss), 0.5)


def merged(method: Any, state: State, clock: Clock, parts: Sequence[Part]) -> tuple[State, Clock]:
    """Return the state and the clock after a round, the dictionary not yet improved.

    Parameters
    ----------
    method : Method
        Or another that steps as it does.
    state, clock : State, Clock
        From which all slots began; left as they are.
    parts : sequence of Part
        In the order of the slots, on which the last bits of sums depend.
    """
    clock = copy(clock)
    n_samples = clock.n_samples + sum(part.n_rows for part in parts)
    deltas = [part.delta for part in parts if part.delta is not None]
    if deltas:
        state = state.snapshot()
        absorb(reduce(add, deltas), state, clock)
    else:
        shares = np.array([part.n_rows for part in parts], dtype=float)
        shares /= shares.sum()
        state = _average(method, [part.state for part in parts if part.state is not None], shares)
        clock.mass = float(shares @ [part.clock.mass for part in parts])
        clock.step = max(part.clock.step for part in parts)
        clock.weight = float(shares @ [part.clock.weight for part in parts])
    clock.n_samples = n_samples
    return state, clock


def improve(
    method: Any, state: State, clock: Clock, latest: Batch, rng: np.random.Generator
) -> tuple[Codes, int]:
    """Update the dictionary after a merge, and give atoms that nothing uses a new start.

    Returns
    -------
    codes : Codes
        Of the latest batch, by the dictionary before the update.
    n_reseeded : int
        How many atoms were replaced.
    """
    codes = method.coder.encode(latest, state.dictionary, method.objective, clock.tolerance)
    # Updaters that cross-fit judge by codes found on other features; without codes they take the
    # step that promises not to raise the surrogate.
    shown = [Explained(latest, codes)] if method.updater.folds == 1 else []
    for _ in range(SWEEPS - 1):
        method.updater.update(state, method.objective, clock)
    method.updater.update(state, method.objective, clock, shown)
    return codes, int(method.reseed(latest, codes, state, rng))


def _average(method: Any, states: Sequence[State], shares: np.ndarray) -> State:
    """Return the average of states by their shares, added in their order."""
    first, mass = states[0].snapshot(), shares[0]
    for state, share in zip(states[1:], shares[1:], strict=True):
        mass += share
        first.memory.merge(state.memory, share / mass)
    usage = Usage(len(first.usage.total))
    # Rows counted for those of all slots, so the average of what atoms were used is their sum.
    usage.total = np.sum([w * s.usage.total for w, s in zip(shares, states, strict=True)], axis=0)
    usage.idle = np.min([state.usage.idle for state in states], axis=0)
    dictionaries = [state.dictionary for state in states]
    return State(method.updater.joined(dictionaries, shares, first.memory), first.memory, usage)
