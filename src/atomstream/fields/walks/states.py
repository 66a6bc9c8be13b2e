"""States of a chain by their singular vectors, and the weights of transitions between them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atomstream.base import (
    RandomSource,
    check_count,
    checked_array,
)
from atomstream.exceptions import NetworkWarning


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
