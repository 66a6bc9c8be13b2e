"""States of a chain: the numbers of their labels, and their singular vectors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import (
    RandomSource,
    check_count,
    checked_array,
    complete_array,
    is_missing,
    without_mask,
)
from atomstream.exceptions import NetworkWarning

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


def check_weights_of(weights: object, n: int) -> NDArray:
    """Return weights of transitions, ones by default."""
    if weights is None:
        return np.ones(n)
    weights = checked_array(weights, "weights", np.float64)
    if weights.shape != (n,) or not ((weights > 0) & (weights <= 1e12)).all():
        raise ValueError(f"weights must be {n} numbers above 0 and at most 1e12.")
    return weights


TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class WalkFactors:
    """Singular vectors and values of the joint distribution of the two ends of a transition.

    Attributes
    ----------
    left, right : ndarray of shape (n_states, n_components)
        Orthonormal columns, largest singular value first.
    values : ndarray of shape (n_components,)
    visits : ndarray of shape (2, n_states)
        How often each state began and ended a transition.
    min_visits : float
        States visited less often count as visited so often where their points are scaled.
    power : float
        Rows are divided by the frequencies of their states to this power: 1 for the singular
        vectors of F, 1/2 for those of D^-1/2 F D^-1/2.
    """

    left: NDArray
    values: NDArray
    right: NDArray
    visits: NDArray
    min_visits: float
    power: float

    @property
    def stationary(self) -> NDArray:
        """Share of each state in all visits, (n_states,)."""
        return self.visits.sum(axis=0) / self.visits.sum()

    def embedding(self, side: str) -> NDArray:
        """Return a point for each state; see `RandomWalkFactorization.embedding`."""
        if side not in ("right", "left", "both"):
            raise ValueError(f"side={side!r} is unknown; known are both, left, right.")
        parts = []
        for name, vectors, visits in zip(
            ("left", "right"), (self.left, self.right), self.visits, strict=True
        ):
            if side in (name, "both"):
                # With a floor: over their own tiny shares, the points of rare states would lie far
                # out by chance.
                shares = np.maximum(visits, self.min_visits) / visits.sum()
                parts.append(vectors / np.maximum(shares, TINY)[:, None] ** self.power)
        return np.hstack(parts)

    def partition(
        self, n_clusters: int, side: str, random_state: RandomSource, *, declared: bool
    ) -> NDArray:
        """Partition the states by k-means on their points, each weighted by its visits.

        Parameters
        ----------
        n_clusters : int
        side, random_state
            As in `RandomWalkFactorization.partition`.
        declared : bool
            Whether the states were declared, so that those never visited deserve a warning.

        Returns
        -------
        ndarray of int of shape (n_states,)
            -1 for states that were never visited.
        """
        from sklearn.cluster import KMeans

        points, visits = self.embedding(side), self.visits.sum(axis=0)
        # A state that was never visited has no place near any other.
        visited = visits > 0
        n_visited = int(visited.sum())
        if declared and n_visited < len(visits):
            warnings.warn(
                f"{len(visits) - n_visited} of {len(visits)} states were never visited: the walk "
                "is too short or stays in one component; they belong to no cluster.",
                NetworkWarning,
                stacklevel=3,
            )
        check_count("n_clusters", n_clusters, 1, n_visited)
        means = KMeans(n_clusters, n_init=10, random_state=random_state)
        labels = np.full(len(points), -1)
        labels[visited] = means.fit(points[visited], sample_weight=visits[visited]).labels_
        return labels

    def mixing_time(self, accuracy: float) -> int:
        """Return after how many steps the chain has forgotten where it was, up to ``accuracy``."""
        least = max(self.min_visits / self.visits.sum(), TINY)
        shares = np.maximum(self.stationary, least)
        # P is nearly D^-1 U S V', and has the nonzero eigenvalues of S V' D^-1 U. With the scaled
        # U and V it is D^-1/2 U S V' D^1/2, where D drops out.
        left = self.left / shares[:, None] ** (2 * self.power - 1)
        small = (self.values[:, None] * self.right.T) @ left
        sizes = np.sort(np.abs(np.linalg.eigvals(small)))
        # The largest eigenvalue is 1; the second one is how slowly the chain forgets.
        second = float(sizes[-2]) if len(sizes) > 1 else 0.0
        if second >= 1:
            raise ValueError(
                "The chain does not mix, as far as was learned: it has several components or a "
                "period."
            )
        return 1 if second <= accuracy else int(np.ceil(np.log(accuracy) / np.log(second)))
