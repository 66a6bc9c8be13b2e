"""Factors of a chain, learned from the steps of a walk."""

from collections.abc import Iterable
from copy import copy
from dataclasses import KW_ONLY, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Choice, RandomSource, checked_array, generator
from atomstream.base.saved_fields import array, count, number, one_of, part
from atomstream.base.states import StateIndex
from atomstream.estimators._calls import Transaction
from atomstream.estimators._estimator import Estimator, estimator
from atomstream.estimators.registry import Start
from atomstream.fields.walks.parameters import SCALINGS
from atomstream.fields.walks.states import check_weights_of
from atomstream.fields.walks.update import HebbianFactor, Moves, Steps, orthonormal


def rarity(numbers: NDArray, weights: NDArray, before: NDArray, min_visits: float) -> NDArray:
    """Return how many times rarer each visited state is than the average one, so far.

    Visits are counted as they happen, so that it does not matter where a walk is cut.

    Parameters
    ----------
    numbers : ndarray of int of shape (n,)
        States in the order of the visits.
    weights : ndarray of shape (n,)
        Weights of the visits.
    before : ndarray of shape (n_states,)
        Visits of each state before these.
    min_visits : float
        States visited less often count as visited so often.

    Returns
    -------
    ndarray of shape (2, n)
        Mean number of visits over that of the state, and the number of states visited so far.
    """
    # Stable, so that the visits of a state stay in the order of time.
    order = np.argsort(numbers, kind="stable")
    state, weight = numbers[order], weights[order]
    first = np.r_[True, state[1:] != state[:-1]]
    summed = np.cumsum(weight)
    # The sum at the first visit of each state, without that visit, is what other states had.
    others = (summed - weight)[first][np.cumsum(first) - 1]
    visits, new = np.empty(len(order)), np.empty(len(order))
    visits[order] = before[state] + summed - others
    new[order] = first & (before[state] == 0)
    n_states = np.count_nonzero(before) + np.cumsum(new)
    total = before.sum() + np.cumsum(weights)
    return np.array([total / n_states / np.maximum(visits, min_visits), n_states])


def scaled(moves: Moves, tails: NDArray, heads: NDArray) -> Moves:
    """Return transitions with weights divided by the root of the frequencies of their two ends.

    Both weights and masses are also divided by the mean frequency, so that steps are as long as
    those of states that are visited alike.

    Parameters
    ----------
    moves : Moves
    tails, heads : ndarray of shape (2, n)
        What `rarity` returns of the origins and of the destinations.
    """
    rare, n_states = np.sqrt(tails * heads)
    return moves._replace(weights=moves.weights * rare, masses=moves.masses / n_states)


AUTO = Steps(gain=0.05, longest=0.5, horizon=80.0, power=0.6, recency=2.0)
FIRST = 1024  # transitions, or as many as there are states, at which the average is first looked at


@estimator
class WalkLearning(Estimator):
    """A factorization that learns from transitions, one Hebbian step for each."""

    n_components: int = 10
    _: KW_ONLY
    n_states: int | None = None
    tau: int = 1
    step: str | float = "auto"
    averaging: bool = True
    scaling: str = "none"
    min_visits: float = 10
    tol: float = 0.0
    init: Start = None
    random_state: RandomSource = None

    LEARNED = (
        *(part("factor_", HebbianFactor), part("index_", StateIndex)),
        array("visits_", "2 n", np.float64, at_least=0, finite=True),
        *(count("last_", -1), count("n_visits_"), number("change_")),
        array("partition_", "n", "i", at_least=-1, optional=True),
        *(one_of("_scaling", SCALINGS), count("_look")),
        array("_basis", "2k r", np.float64, finite=True, optional=True),
    )

    factor_: HebbianFactor = field(init=False)
    index_: StateIndex = field(init=False)
    visits_: NDArray = field(init=False)
    last_: int = field(init=False)
    n_visits_: int = field(init=False)
    change_: float = field(init=False)
    _scaling: str = field(init=False)
    _look: int = field(init=False)
    _basis: NDArray | None = field(init=False)

    def fit(self, states: object, y: object = None) -> Self:
        """Learn from scratch, from one walk.

        Parameters
        ----------
        states : array-like of shape (n_visits,)
            In the order of the walk.
        y : ignored
        """
        with Transaction(self, anew=True):
            fresh = type(self)(**self.get_params(deep=False)).partial_fit(states)
            self.__dict__.pop("partition_", None)
            self.__dict__.update(fresh.__dict__)
        return self

    def partial_fit(self, states: object, y: object = None) -> Self:
        """Learn from the next states of the walk, of which the first follows the last one.

        Parameters
        ----------
        states : array-like of shape (n_visits,)
        y : ignored
        """
        self.check()
        index, numbers = self._numbers(states)
        if not len(numbers):
            raise ValueError("states is empty; give at least one.")
        with Transaction(self) as transaction:
            self._take(index)
            begin = self.n_visits_
            walk = numbers if begin == 0 else np.concatenate([[self.last_], numbers])
            first = begin if begin else 1  # place in the walk of the first transition's end
            ends = np.arange(first, begin + len(numbers))
            # By the place in the whole walk: pieces of any length keep the same transitions.
            kept = np.flatnonzero(ends % self.tau == 0)
            ones, before = np.ones(len(walk)), self.visits_[0].copy()
            if begin:  # its visit was counted with the piece before, and is the first here
                before[self.last_] -= 1
            rare = self._rarity(walk, ones, before)
            moves = Moves(walk[kept], walk[kept + 1], ones[kept], ones[kept])
            self._advance(scaled(moves, rare[:, kept], rare[:, kept + 1]), transaction)
            self.visits_ = self.visits_ + np.bincount(numbers, minlength=len(index))
            self.last_, self.n_visits_ = int(numbers[-1]), begin + len(numbers)
        return self

    def partial_fit_transitions(
        self, origins: object, destinations: object, weights: object = None
    ) -> Self:
        """Learn from transitions that do not follow each other, such as trips.

        Parameters
        ----------
        origins, destinations : array-like of shape (n_transitions,)
            States at which the transitions begin and end.
        weights : array-like of shape (n_transitions,), optional
            Above 0, at most 1e12; steps are so much longer.
        """
        self.check()
        index, tails = self._numbers(origins)
        index, heads = index.extended(destinations)
        if len(tails) != len(heads) or not len(tails):
            raise ValueError(
                f"origins and destinations must be as many and at least one, got {len(tails)} and "
                f"{len(heads)}."
            )
        weights = check_weights_of(weights, len(tails))
        with Transaction(self) as transaction:
            self._take(index)
            sides = (tails, heads)
            rare = [
                self._rarity(ends, weights, visits)
                for ends, visits in zip(sides, self.visits_, strict=True)
            ]
            self._advance(scaled(Moves(tails, heads, weights, weights), *rare), transaction)
            self.visits_ = self.visits_ + [
                np.bincount(ends, weights, minlength=len(index)) for ends in sides
            ]
        return self

    def begin_walk(self) -> Self:
        """Take the next state as the first of another walk."""
        if "factor_" in self.__dict__:
            self.last_, self.n_visits_ = -1, 0
        return self

    def fit_stream(self, batches: Iterable[Any]) -> Self:
        """Go on learning from pieces of the walk until they end, or ``tol`` is reached.

        Parameters
        ----------
        batches : iterable of array-likes of shape (n_visits,)
        """
        for states in batches:
            if self.partial_fit(states).change_ <= self.tol:
                break
        return self

    # -- steps

    def _advance(self, moves: Moves, transaction: Transaction) -> None:
        """Make the steps, looking back at the average whenever twice as many were made."""
        factor, done = copy(self.factor_), 0
        rows = np.unique(np.concatenate([moves.origins, moves.destinations + factor.n_states]))
        for shared in (factor.Q, factor.P):
            transaction.keep(shared, rows)
        self.factor_ = factor
        while done < len(moves.origins):
            left = max(self._look - int(factor.numbers[0]), 1)
            factor.advance(moves.part(slice(done, done + left)), self._steps())
            done = min(done + left, len(moves.origins))
            if factor.numbers[0] >= self._look:
                basis = orthonormal(factor.average())
                if self._basis is not None:
                    before = np.zeros_like(basis)
                    for new, old in zip(np.split(before, 2), np.split(self._basis, 2), strict=True):
                        new[: len(old)] = old
                    cosines = np.linalg.svd(before.T @ basis, compute_uv=False)
                    self.change_ = float(max(1 - cosines.min() ** 2, 0))
                self._basis, self._look = basis, 2 * self._look

    def _rarity(self, numbers: NDArray, weights: NDArray, before: NDArray) -> NDArray:
        """Return what `rarity` does, or ones where the joint distribution is not scaled."""
        if self.scaling == "none":
            return np.ones((2, len(numbers)))
        return rarity(numbers, weights, before, self.min_visits)

    def _steps(self) -> Steps:
        if self.step == "auto":
            return AUTO
        return Steps(float(self.step), 0.0, 0.0, 0.0, AUTO.recency)

    def _choices(self) -> dict[str, Choice]:
        """Return the length of the steps."""
        if self.step != "auto":
            return {"step": Choice.given(self.step)}
        return {"step": Choice("falling", "they must fall for the factors to come to rest")}

    def _numbers(self, states: object) -> tuple[StateIndex, NDArray]:
        """Return an index that knows these states, and their numbers; nothing changes yet."""
        index = self.__dict__.get("index_") or StateIndex.of(self.n_states)
        return index.extended(states)

    def _take(self, index: StateIndex) -> None:
        """Make room for the states of an index."""
        m, r = len(index), self.n_components
        if "factor_" not in self.__dict__:
            size = max(m, r)  # as many rows as there are columns at least
            rng = generator(self.random_state)
            if self.init is None:
                start = rng.standard_normal((2 * size, r))
            else:
                start = checked_array(self.init, "init", np.float64)
            self.factor_ = HebbianFactor(np.linalg.qr(start)[0])
            self.visits_ = np.zeros((2, m))
            self.last_, self.n_visits_, self.change_ = -1, 0, float("nan")
            self._look, self._basis = max(FIRST, m), None
            self._scaling = self.scaling
        if m > self.factor_.n_states:
            self.factor_ = copy(self.factor_)
            self.factor_.fold()
            self.factor_.grow(max(m, 5 * self.factor_.n_states // 4))
        if m > self.visits_.shape[1]:
            self.visits_ = np.pad(self.visits_, ((0, 0), (0, m - self.visits_.shape[1])))
        self.index_ = index
        self.__dict__.pop("partition_", None)

    def check(self) -> None:
        """Refuse settings out of range."""
        self._validate_params()
        if self.n_states is not None and self.n_components > len(StateIndex.of(self.n_states)):
            raise ValueError(
                f"n_components={self.n_components} is more than n_states={self.n_states}."
            )
        if "factor_" in vars(self):
            self._refuse_change(n_components=self.factor_.Q.shape[1], scaling=self._scaling)
        if self.init is not None:
            self._check_init()

    def _check_init(self) -> None:
        """Refuse a start of another shape."""
        shape = None if self.n_states is None else (2 * self.n_states, self.n_components)
        given = checked_array(self.init, "init")
        good = shape is not None and given.shape == shape and given.dtype.kind in "fiu"
        if not good or not (np.abs(given) < 1e100).all():
            raise ValueError(
                "init must be finite, of shape (2 * n_states, n_components) with n_states given, "
                f"got shape {given.shape}."
            )

    def _sizes(self) -> dict[str, int]:
        return {"n": len(self.index_), "r": self.factor_.Q.shape[1]}

    def _validate_learned(self) -> None:
        super()._validate_learned()
        factor, n_known = self.factor_, len(self.index_)
        good = factor.n_states >= n_known > self.last_ and factor.numbers[0] < self._look
        good &= (self.last_ == -1) == (self.n_visits_ == 0) and self.visits_.sum() > 0
        if not good or (self._basis is not None and len(self._basis) > len(factor.Q)):
            raise ValueError("visits or counters that do not fit together")

    def __sklearn_is_fitted__(self) -> bool:
        return "factor_" in self.__dict__
