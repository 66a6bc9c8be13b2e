"""States by their labels: which number each has, in the order in which they came."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base.checks import check_count
from atomstream.base.matrices import complete_array, is_missing, without_mask

MAX_STATES = 2**40  # states


class StateIndex:
    """The numbers of states; it never changes, and extending it returns another one.

    Parameters
    ----------
    names : int or list
        The number of states, if they are numbers of a fixed range; or the labels, in the order of
        their numbers.
    """

    SAVED = ("names",)

    def __init__(self, names: int | list[Any]) -> None:
        self.names = names

    def check_saved(self, **sizes: int) -> None:
        """Refuse names read from a file that are no names, or that repeat."""
        known = isinstance(self.names, list) and len(set(self.names)) == len(self.names)
        if not known and not (isinstance(self.names, int) and self.names > 0):
            raise ValueError("expected a list of different names, or the number of states")

    @property
    def fixed(self) -> bool:
        """Whether the states are numbers of a fixed range."""
        return isinstance(self.names, int)

    @property
    def labels(self) -> Sequence[Any]:
        """Labels of the states, in the order of their numbers."""
        return range(self.names) if isinstance(self.names, int) else self.names

    @classmethod
    def of(cls, n_states: int | None) -> StateIndex:
        """Return the index of ``n_states`` numbered states, or an empty one that grows."""
        if n_states is None:
            return cls([])
        return cls(check_count("n_states", n_states, most=MAX_STATES))

    def __len__(self) -> int:
        return len(self.labels)

    def extended(self, states: object) -> tuple[StateIndex, NDArray]:
        """Return an index that also has these states, and their numbers, int64 of shape (n,).

        Raises
        ------
        ValueError
            For states outside of the fixed range, and for data that are no sequence of states.
        """
        if self.fixed:
            return self, self._in_range(states)
        distinct, places = _distinct(states)
        places_of = self._numbers
        # In the order in which they came: numbers never change once they are given.
        fresh = [state for state in distinct if state not in places_of]
        index = self
        # Without new states the same object, whose table of numbers is already made.
        if fresh:
            index = StateIndex([*self.labels, *fresh])
        numbers = np.array([index._numbers[state] for state in distinct], dtype=np.int64)
        return index, numbers[places]

    def find(self, states: object) -> NDArray:
        """Return the numbers of states, -1 for unknown ones."""
        distinct, places = _distinct(states)
        if self.fixed:
            # Labels of any kind may be asked for; those that are no number of the range are
            # unknown.
            known = [s if isinstance(s, int) and 0 <= s < len(self) else -1 for s in distinct]
            return np.array(known, dtype=np.int64)[places]
        numbers = [self._numbers.get(state, -1) for state in distinct]
        return np.array(numbers, dtype=np.int64)[places]

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        return {label: number for number, label in enumerate(self.labels)}

    def _in_range(self, states: object) -> NDArray:
        numbers = complete_array(states, "states")
        if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
            raise ValueError(
                f"states must be whole numbers below n_states={len(self)}, "
                f"got {numbers.dtype} of shape {numbers.shape}."
            )
        bad = np.flatnonzero((numbers < 0) | (numbers >= len(self)))
        if len(bad):
            raise ValueError(
                f"states must be from 0 to {len(self) - 1}, got {numbers[bad[0]]} at position "
                f"{bad[0]}."
            )
        return numbers.astype(np.int64)


def _distinct(states: Any) -> tuple[list[Any], NDArray]:
    """Return the distinct states in order of appearance, and the number of each state."""
    if isinstance(states, str | bytes) or not (
        hasattr(states, "__len__") or hasattr(states, "__iter__")
    ):
        raise ValueError(f"states must be a sequence of states, got {type(states).__name__}.")
    states = without_mask(states)
    array = states if isinstance(states, np.ndarray) else None
    if array is None and hasattr(states, "to_numpy"):
        array = states.to_numpy()
    if array is not None and array.ndim != 1:
        raise ValueError(f"states must have one axis, got shape {array.shape}.")
    # NumPy sorts these faster than Python could look at them one by one.
    if array is not None and array.dtype.kind in "iuSUb":
        values, first, places = np.unique(array, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return values[order].tolist(), rank[places]
    numbers: dict[Any, int] = {}
    try:
        places = np.array(
            [numbers.setdefault(_plain(state), len(numbers)) for state in states], dtype=np.int64
        )
    except TypeError:
        raise ValueError("states must be hashable: numbers, strings, or tuples of these.") from None
    return list(numbers), places


def _plain(state: Any) -> Any:
    """Return a state as a plain Python object; a missing one is refused."""
    state = state.item() if isinstance(state, np.generic) else state
    if is_missing(state):
        raise ValueError("states has a missing entry; leave such steps out.")
    return state
