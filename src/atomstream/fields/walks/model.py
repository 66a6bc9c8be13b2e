"""Factor and partition a chain of which only steps are seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import RandomSource
from atomstream.estimators._estimator import view
from atomstream.fields.walks.learning import WalkLearning
from atomstream.fields.walks.parameters import WALK
from atomstream.fields.walks.states import WalkFactors
from atomstream.fields.walks.theorem import WalkTheorem
from atomstream.fields.walks.update import HebbianFactor, median_subspace, orthonormal


class RandomWalkFactorization(WalkTheorem, WalkLearning):
    r"""A low-dimensional representation of the states of a chain, from the steps of a walk.

    Finds the leading singular vectors U and V of the joint distribution F of the two ends of a
    transition, by one Hebbian step per transition, in memory of m r for m states: the transitions
    themselves are forgotten.

    Parameters
    ----------
    n_components : int, default=10
        The rank r, at most the number of states.
    n_states : int, optional
        The number m of states, if these are the numbers 0 ... m - 1. Without it states may be
        anything hashable, and new ones are added as they come.
    tau : int, default=1
        Only every tau-th transition of a walk is learned from, so that they depend less on each
        other; the default uses all, which averaging makes up for.
    step : "auto" or float, default="auto"
        Length of a step, fixed; "auto" decreases it with the root of the transitions per state, and
        measures it by the mean squared length of the rows seen.
    averaging : bool, default=True
        Whether the result is the average of all iterates (the t-th weighted by t squared) instead
        of the last one.
    scaling : {"none", "stationary"}, default="none"
        What is factorized: F itself, or :math:`D^{-1/2} F D^{-1/2}`, where D holds the frequencies
        of the states (as origins on the left, as destinations on the right), counted along the way.
        Busy states then no longer hide how the others belong together: on maps the parts become
        more contiguous. Its largest singular value is 1.
    min_visits : float, default=10
        States visited less often are embedded nearer to the origin, as if they had been visited so
        often: their directions are known badly. The scaling counts them as visited so often too.
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
        U and V of what is factorized, orthonormal columns, largest singular value first.
    singular_values_ : ndarray of shape (n_components,)
        Estimated along the way.
    stationary_ : ndarray of shape (n_states,)
        Share of each state in all that was visited, regardless of tau.
    embedding_ : ndarray of shape (n_states, n_components)
        Rows of V over the frequencies of their states, or over their roots where F is scaled.
    n_steps_ : int
        Transitions learned from.
    n_reorthonormalized_ : int
        How often the factors had drifted and were made orthonormal again.
    change_ : float
        The squared sine that ``tol`` is compared with; nan before 2,048 transitions, and two per
        state.

    References
    ----------
    Yang, Braverman, Zhao, Wang, "Online factorization and partition of complex networks from
    random walks", eqs. (5), (10), (11) and section 3.3. docs/algorithms/random-walks.md.

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

    ACCEPTS = ("one_d_array", "categorical", "string")
    PARAMETERS: ClassVar = WALK
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
        self, n_clusters: int | None = None, *, side: str = "right", random_state: RandomSource = 0
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

    def _served(self, data: Any, params: Any) -> NDArray:
        """Return the clusters of states, in a column where a frame holds them."""
        return self.predict(data.iloc[:, 0] if hasattr(data, "iloc") else data)

    def predict(self, states: object) -> NDArray:
        """Return the cluster of each state by the last `partition`, int of shape (n,).

        It is -1 for states not visited.

        Parameters
        ----------
        states : array-like of shape (n,)
        """
        if "partition_" not in self.__dict__:
            raise ValueError("predict needs a partition; call partition first.")
        numbers = self.index_.find(states)
        # States that came after the partition have no cluster yet.
        known = np.minimum(numbers, len(self.partition_) - 1)
        return np.where(
            (numbers >= 0) & (numbers < len(self.partition_)), self.partition_[known], -1
        )

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
        # As if this basis had been the iterate all along: the average is P over the sum of the
        # weights.
        made.factor_.P = made.factor_.Q * total
        # Half, for `factors_` doubles it: W holds both factors over the root of 2.
        made.factor_.energy = np.diag(models[nearest].singular_values_) * total / 2
        made.index_ = models[nearest].index_
        made.visits_ = np.sum([model.visits_ for model in models], axis=0)
        made._scaling = models[nearest]._scaling
        made.last_, made.n_visits_, made.change_ = -1, 0, float("nan")
        made._look, made._basis = 2 * max(n_steps, *(model._look for model in models)), None
        return made

    @property
    def factors_(self) -> WalkFactors:
        """Singular vectors and values, and what follows from them."""
        check_is_fitted(self)
        factor, m = self.factor_, len(self.index_)
        if m < factor.Q.shape[1]:
            raise ValueError(
                f"n_components={factor.Q.shape[1]} is more than the {m} states that were seen."
            )
        W = factor.average() if self.averaging and factor.numbers[2] > 0 else factor.iterate()
        # Rows beyond m are room for states that have not come.
        sides = [orthonormal(half[:m]) for half in np.split(W, 2)]
        # The update finds a subspace; the small problem turns its basis into singular vectors.
        turned, values, back = np.linalg.svd(2 * factor.energy / max(factor.numbers[3], 1e-300))
        left, right = sides[0] @ turned, sides[1] @ back.T
        power = 0.5 if self._scaling == "stationary" else 1.0
        return WalkFactors(left, values, right, self.visits_, self.min_visits, power)
