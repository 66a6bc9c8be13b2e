"""Factor and partition a chain that is only met step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from atomstream.core.checks import check_arrays, check_count, generator
from atomstream.diagnostics import mixing_time
from atomstream.domains.walks.label_index import StateIndex, check_weights_of
from atomstream.estimators._saved import Saved
from atomstream.estimators._views import view
from atomstream.estimators._walk_factors import WalkFactors
from atomstream.updates.hebbian import HebbianFactor, Steps
from atomstream.updates.subspaces import median_subspace, orthonormal

__all__ = ["RandomWalkFactorization"]

AUTO = Steps(gain=0.05, longest=0.5, horizon=80.0, power=0.6, recency=2.0)
FIRST = 1024  # transitions, or as many as there are states, at which the average is first looked at


class RandomWalkFactorization(Saved, BaseEstimator):
    r"""A low-dimensional representation of the states of a chain, from the steps of a walk.

    Finds the leading singular vectors U and V of the joint distribution F of the two ends of a
    transition, by one Hebbian step per transition, in memory of m r for m states: the transitions
    themselves are forgotten.

    Parameters
    ----------
    n_components : int, default=10
        r, the rank; at most the number of states.
    n_states : int, optional
        m, where states are the numbers 0 ... m - 1. Without it states may be anything hashable, and
        new ones are taken in as they come.
    tau : int, default=1
        Only every tau-th transition of a walk is learned from, so that they depend less on each
        other; the default uses all, which averaging makes up for.
    step : "auto" or float, default="auto"
        Length of a step, fixed; "auto" decreases it with the root of the transitions per state, and
        measures it by the mean squared length of the rows met.
    averaging : bool, default=True
        Whether the result is the average of all iterates (the t-th weighted by t squared) instead
        of the last one.
    min_visits : float, default=10
        States visited less often are embedded nearer to the origin, as if they had been visited so
        often: their directions are known badly.
    tol : float, default=0.0
        `fit_stream` ends when the squared sine of the largest angle between the averages after t /
        2 and after t transitions is at most this.
    init : ndarray of shape (2 * n_states, n_components), optional
        The start [U; V], whose columns are made orthonormal; by default random.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    states_ : sequence
        What the states are called, in the order of the rows.
    left_, right_ : ndarray of shape (n_states, n_components)
        U and V, orthonormal columns, largest singular value first.
    singular_values_ : ndarray of shape (n_components,)
        Estimated along the way.
    stationary_ : ndarray of shape (n_states,)
        Share of each state in all that was visited, whatever tau.
    embedding_ : ndarray of shape (n_states, n_components)
        Rows of V over the frequencies of their states.
    n_steps_ : int
        Transitions learned from.
    n_reorthonormalized_ : int
        How often the factors had drifted and were made orthonormal again.
    change_ : float
        The squared sine that ``tol`` is compared with; nan before 2,048 transitions, and two per
        state.

    References
    ----------
    Yang, Braverman, Zhao, Wang, "Online factorization and partition of complex networks by random
    walk", eqs. (5), (10), (11) and section 3.3. docs/algorithms/random-walks.md.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import RandomWalkFactorization
    >>> from atomstream.samplers import RandomWalk
    >>> blocks = np.kron([[9.0, 1.0], [1.0, 9.0]], np.ones((4, 4)))
    >>> rng = np.random.default_rng(0)
    >>> states, _ = RandomWalk(blocks).run(rng, np.array([0]), 20_000)
    >>> model = RandomWalkFactorization(2, random_state=0).fit(states)
    >>> labels = model.partition()
    >>> places = [model.states_.index(state) for state in range(8)]
    >>> [int(label == labels[places[0]]) for label in labels[places]]
    [1, 1, 1, 1, 0, 0, 0, 0]
    """

    LEARNED = (
        "factor_",
        "index_",
        "visits_",
        "last_",
        "n_visits_",
        "change_",
        "partition_",
        "_look",
        "_basis",
    )

    factor_: HebbianFactor
    index_: StateIndex
    visits_: NDArray
    last_: int
    n_visits_: int
    change_: float
    _look: int
    _basis: NDArray | None

    states_ = view("index_.labels", "What the states are called, in the order of the rows.")
    left_ = view("factors_.left", "Left singular vectors, (n_states, n_components).")
    right_ = view("factors_.right", "Right singular vectors, (n_states, n_components).")
    singular_values_ = view(
        "factors_.values", "Estimated singular values of the joint distribution, (n_components,)."
    )
    stationary_ = view("factors_.stationary", "Share of each state in all visits, (n_states,).")
    n_reorthonormalized_ = view(
        "factor_.n_reorthonormalized", "How often the factors were made orthonormal again."
    )

    def __init__(
        self,
        n_components: int = 10,
        *,
        n_states: int | None = None,
        tau: int = 1,
        step: Any = "auto",
        averaging: bool = True,
        min_visits: float = 10,
        tol: float = 0.0,
        init: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_states = n_states
        self.tau = tau
        self.step = step
        self.averaging = averaging
        self.min_visits = min_visits
        self.tol = tol
        self.init = init
        self.random_state = random_state

    # -- learning

    def fit(self, states: Any, y: Any = None) -> Self:
        """Learn anew from one walk.

        Parameters
        ----------
        states : array-like of shape (n_visits,)
            In the order of the walk.
        y : ignored
        """
        fresh = type(self)(**self.get_params(deep=False)).partial_fit(states)
        self.__dict__.pop("partition_", None)
        self.__dict__.update(fresh.__dict__)
        return self

    def partial_fit(self, states: Any, y: Any = None) -> Self:
        """Learn from the next states of the walk, of which the first follows the last one met.

        Parameters
        ----------
        states : array-like of shape (n_visits,)
        y : ignored
        """
        self.check()
        index, numbers = self._numbers(states)
        if not len(numbers):
            raise ValueError("states is empty; give at least one.")
        self._take(index)
        begin = self.n_visits_
        walk = numbers if begin == 0 else np.concatenate([[self.last_], numbers])
        first = begin if begin else 1  # place in the walk of the first transition's end
        ends = np.arange(first, begin + len(numbers))
        kept = np.flatnonzero(ends % self.tau == 0)
        self.visits_ += np.bincount(numbers, minlength=len(index))
        self.last_, self.n_visits_ = int(numbers[-1]), begin + len(numbers)
        self._advance(walk[kept], walk[kept + 1], np.ones(len(kept)))
        return self

    def partial_fit_transitions(self, origins: Any, destinations: Any, weights: Any = None) -> Self:
        """Learn from transitions that do not follow each other, such as trips.

        Parameters
        ----------
        origins, destinations : array-like of shape (n_transitions,)
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
        self._take(index)
        for side, ends in enumerate((tails, heads)):
            self.visits_[side] += np.bincount(ends, weights, minlength=len(index))
        self._advance(tails, heads, weights)
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

    # -- what was learned

    @property
    def n_steps_(self) -> int:
        """Transitions learned from."""
        check_is_fitted(self)
        return int(self.factor_.numbers[0])

    @property
    def embedding_(self) -> NDArray:
        """Points of the states, (n_states, n_components); see `embedding`."""
        return self.embedding("right")

    def embedding(self, side: str = "right") -> NDArray:
        """Return a point for each state: states of one block of a lumpable chain have one point.

        Parameters
        ----------
        side : {"right", "left", "both"}, default="right"
            By where they are come to from, by where they lead, or both side by side: for chains
            that are not reversible these differ.

        Returns
        -------
        ndarray of shape (n_states, n_components), or (n_states, 2 * n_components)
        """
        return self.factors_.embedding(side)

    def partition(
        self, n_clusters: int | None = None, *, side: str = "right", random_state: Any = 0
    ) -> NDArray:
        """Partition the states by k-means on their points, each weighted by its visits.

        Parameters
        ----------
        n_clusters : int, optional
            By default ``n_components``.
        side : {"right", "left", "both"}, default="right"
            As in `embedding`.
        random_state : int, RandomState or None, default=0

        Returns
        -------
        ndarray of int of shape (n_states,)
            -1 for states that were never visited.

        Warns
        -----
        UserWarning
            Where states that were declared were never visited.
        """
        n_clusters = self.factors_.left.shape[1] if n_clusters is None else n_clusters
        labels = self.factors_.partition(n_clusters, side, random_state, declared=self.index_.fixed)
        self.partition_ = labels
        return labels.copy()

    def predict(self, states: Any) -> NDArray:
        """Return the cluster of each state by the last `partition`, int of shape (n,).

        It is -1 for states not visited.

        Parameters
        ----------
        states : array-like of shape (n,)
        """
        if "partition_" not in self.__dict__:
            raise ValueError("predict needs a partition; call partition first.")
        numbers = self.index_.find(states)
        known = np.minimum(numbers, len(self.partition_) - 1)
        return np.where(
            (numbers >= 0) & (numbers < len(self.partition_)), self.partition_[known], -1
        )

    def suggest_tau(self, P: Any = None, accuracy: float = 0.1) -> int:
        """Return how many steps apart transitions are nearly independent.

        Parameters
        ----------
        P : array-like of shape (n_states, n_states), optional
            The transition probabilities, where they are known: then exactly
            (`atomstream.diagnostics.mixing_time`). Without them the second largest eigenvalue is
            taken from what was learned.
        accuracy : float, default=0.1
            Distance from the stationary law that is left.
        """
        if P is not None:
            return mixing_time(P, accuracy)
        return self.factors_.mixing_time(accuracy)

    @classmethod
    def median_of(cls, models: Sequence[RandomWalkFactorization]) -> Self:
        """Return the geometric median of independent runs on the same states.

        It is near to most of them, whatever the others do.

        Parameters
        ----------
        models : sequence of fitted RandomWalkFactorization
            With one rank, and with one list of states.

        Returns
        -------
        RandomWalkFactorization
            With the visits of all runs; it goes on from the median.

        References
        ----------
        Yang, Braverman, Zhao, Wang, appendix B: the median of the projectors, by Weiszfeld's
        iteration.
        """
        models = list(models)
        if not models or any(list(model.states_) != list(models[0].states_) for model in models):
            raise ValueError("median_of needs models that know the same states in the same order.")
        if len({model.n_components for model in models}) > 1:
            raise ValueError("median_of needs models of one rank.")
        made = cls(**models[0].get_params(deep=False))
        bases = np.array(
            [np.concatenate([model.left_, model.right_]) / np.sqrt(2) for model in models]
        )
        # Turned as the run that is nearest, whose energy tells the singular values.
        median, nearest = median_subspace(bases)
        made.factor_ = HebbianFactor(median)
        total = sum(float(model.factor_.numbers[2]) for model in models)
        n_steps = sum(model.n_steps_ for model in models)
        made.factor_.numbers = np.array([n_steps, models[nearest].factor_.numbers[1], total, total])
        made.factor_.P = made.factor_.Q * total
        made.factor_.energy = np.diag(models[nearest].singular_values_) * total / 2
        made.index_ = models[nearest].index_
        made.visits_ = np.sum([model.visits_ for model in models], axis=0)
        made.last_, made.n_visits_, made.change_ = -1, 0, float("nan")
        made._look, made._basis = 2 * max(n_steps, *(model._look for model in models)), None
        return made

    # -- the engine room

    @property
    def factors_(self) -> WalkFactors:
        """Singular vectors and values, and what follows from them."""
        check_is_fitted(self)
        factor, m = self.factor_, len(self.index_)
        if m < factor.Q.shape[1]:
            raise ValueError(
                f"n_components={factor.Q.shape[1]} is more than the {m} states that were met."
            )
        W = factor.average() if self.averaging and factor.numbers[2] > 0 else factor.iterate()
        sides = [orthonormal(half[:m]) for half in np.split(W, 2)]
        turned, values, back = np.linalg.svd(2 * factor.energy / max(factor.numbers[3], 1e-300))
        left, right = sides[0] @ turned, sides[1] @ back.T
        return WalkFactors(left, values, right, self.visits_, self.min_visits)

    def _advance(self, tails: NDArray, heads: NDArray, weights: NDArray) -> None:
        """Make the steps, looking back at the average whenever twice as many were made."""
        factor, done = self.factor_, 0
        while done < len(tails):
            left = max(self._look - int(factor.numbers[0]), 1)
            part = slice(done, done + left)
            factor.advance(tails[part], heads[part], weights[part], self._steps())
            done = min(part.stop, len(tails))
            if factor.numbers[0] >= self._look:
                basis = orthonormal(factor.average())
                if self._basis is not None:
                    before = np.zeros_like(basis)
                    for new, old in zip(np.split(before, 2), np.split(self._basis, 2), strict=True):
                        new[: len(old)] = old
                    cosines = np.linalg.svd(before.T @ basis, compute_uv=False)
                    self.change_ = float(max(1 - cosines.min() ** 2, 0))
                self._basis, self._look = basis, 2 * self._look

    def _steps(self) -> Steps:
        if self.step == "auto":
            return AUTO
        return Steps(float(self.step), 0.0, 0.0, 0.0, AUTO.recency)

    def _numbers(self, states: Any) -> tuple[StateIndex, NDArray]:
        """Return an index that knows these states, and their numbers; nothing changes yet."""
        index = self.__dict__.get("index_") or StateIndex.of(self.n_states)
        return index.extended(states)

    def _take(self, index: StateIndex) -> None:
        """Make room for the states of an index."""
        m, r = len(index), self.n_components
        if "factor_" not in self.__dict__:
            size = max(m, r)  # as many rows as there are columns at least
            rng = generator(self.random_state)
            start = (
                rng.standard_normal((2 * size, r))
                if self.init is None
                else np.asarray(self.init, np.float64)
            )
            self.factor_ = HebbianFactor(np.linalg.qr(start)[0])
            self.visits_ = np.zeros((2, m))
            self.last_, self.n_visits_, self.change_ = -1, 0, float("nan")
            self._look, self._basis = max(FIRST, m), None
        if m > self.factor_.n_states:
            self.factor_.fold()
            self.factor_.grow(max(m, 5 * self.factor_.n_states // 4))
        if m > self.visits_.shape[1]:
            self.visits_ = np.pad(self.visits_, ((0, 0), (0, m - self.visits_.shape[1])))
        self.index_ = index
        self.__dict__.pop("partition_", None)

    def check(self) -> None:
        """Refuse settings out of range."""
        for name in ("n_components", "tau"):
            check_count(name, getattr(self, name))
        if self.n_states is not None and self.n_components > len(StateIndex.of(self.n_states)):
            raise ValueError(
                f"n_components={self.n_components} is more than n_states={self.n_states}."
            )
        auto = isinstance(self.step, str) and self.step == "auto"
        if not auto and not (_is_number(self.step) and self.step > 0):
            raise ValueError(f"step must be 'auto' or a number above 0, got {self.step!r}.")
        for name in ("min_visits", "tol"):
            value = getattr(self, name)
            if not (_is_number(value) and value >= 0):
                raise ValueError(f"{name} must be a number of at least 0, got {value!r}.")
        if "factor_" in vars(self) and self.factor_.Q.shape[1] != self.n_components:
            raise ValueError(
                f"n_components is {self.n_components} and the model has learned "
                f"{self.factor_.Q.shape[1]}; call fit."
            )
        if self.init is not None:
            self._check_init()

    def _check_init(self) -> None:
        """Refuse a start of another shape."""
        shape = None if self.n_states is None else (2 * self.n_states, self.n_components)
        given = np.asarray(self.init)
        good = shape is not None and given.shape == shape and given.dtype.kind in "fiu"
        if not good or not (np.abs(given) < 1e100).all():
            raise ValueError(
                "init must be finite, of shape (2 * n_states, n_components) with n_states given, "
                f"got shape {np.shape(self.init)}."
            )

    def _validate_learned(self) -> None:
        factor, index = self.factor_, self.index_
        if type(factor) is not HebbianFactor or type(index) is not StateIndex:
            raise ValueError("parts of other kinds")
        factor.validate()
        index.validate()
        check_arrays(self, {"visits_": (2, len(index))})
        counts = (self.n_visits_, self._look, self.last_ + 1)
        good = all(isinstance(count, int) and count >= 0 for count in counts)
        good &= factor.n_states >= len(index) > self.last_ and factor.numbers[0] < self._look
        good &= (self.last_ == -1) == (self.n_visits_ == 0) and isinstance(self.change_, float)
        good &= self.visits_.dtype == np.float64 and bool(np.isfinite(self.visits_).all())
        good &= bool((self.visits_ >= 0).all()) and self.visits_.sum() > 0
        basis, labels = self._basis, getattr(self, "partition_", None)
        if basis is not None:
            check_arrays(self, {"_basis": (len(basis), factor.Q.shape[1])})
            good &= basis.dtype == np.float64 and bool(np.isfinite(basis).all())
            good &= len(basis) <= len(factor.Q) and len(basis) % 2 == 0
        if labels is not None:
            good &= labels.shape == (len(index),) and labels.dtype.kind == "i"
            good &= bool((labels >= -1).all())
        if not good:
            raise ValueError("visits or counters that do not fit together")

    def __sklearn_is_fitted__(self) -> bool:
        return "factor_" in self.__dict__


def _is_number(value: Any) -> bool:
    """Return whether a setting is a finite real number."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and bool(np.isfinite(float(value)))
