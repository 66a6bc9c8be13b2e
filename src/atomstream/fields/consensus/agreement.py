"""What replicates agree on."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import of_sum_one, unit
from atomstream.fields.consensus.clusters import cluster
from atomstream.fields.consensus.intervals import interval


@dataclass(frozen=True)
class Consensus:
    """The atoms that the replicates of a rank agree on, most important first.

    Attributes
    ----------
    atoms : ndarray of shape (n_components, n_features)
        Medians of the clusters: of Euclidean length one, or under divergences of sum one.
    share : ndarray of shape (n_components,)
        Share of the replicates that have the atom: of which the partner, one-to-one, is within a
        cosine of 0.9.
    cosines : ndarray of shape (n_replicates, n_components)
        Of each atom with its partner in each replicate.
    importance : ndarray of shape (n_components,)
        Share of each atom in codes times lengths: medians over replicates, scaled to sum one.
    intervals, importance_intervals : tuple of two ndarrays
        Lower and upper ends of percentile intervals of 95 % over the atoms of a cluster. Where
        nothing can be negative the lower end is moved down to the mirror image of the upper one.
        NaN where replicates tell nothing of it (`atomstream.ConsensusNMF.intervals_`).
    labels : ndarray of int of shape (n_replicates, n_components)
        The consensus atom of each atom of each replicate; -1 where it stands alone.
    silhouette, cophenetic : float
        How well the clusters are apart, and how well a tree describes the distances.
    """

    atoms: NDArray
    share: NDArray
    cosines: NDArray
    importance: NDArray
    intervals: tuple[NDArray, NDArray]
    importance_intervals: tuple[NDArray, NDArray]
    labels: NDArray
    silhouette: float
    cophenetic: float

    @property
    def cosine(self) -> NDArray:
        """Mean cosine of the partners in all replicates, (n_components,)."""
        return self.cosines.mean(axis=0)

    def weakest(self, min_cosine: float, replicates: Any = slice(None)) -> float:
        """Return the share of the replicates that have the atom that fewest of them have."""
        return float((self.cosines[replicates] >= min_cosine).mean(axis=0).min())

    @classmethod
    def of(
        cls,
        found: NDArray,
        importances: NDArray,
        voting: NDArray | None = None,
        *,
        by_sum: bool = False,
    ) -> Self:
        """Cluster the atoms of replicates, and take medians and percentiles of each cluster.

        Parameters
        ----------
        found : ndarray of shape (n_replicates, n_components, n_features)
        importances : ndarray of shape (n_replicates, n_components)
        voting : ndarray of bool of shape (n_replicates,), optional
            The replicates whose atoms are clustered, by default all.
        by_sum : bool, default=False
            Whether atoms have sum one, and not Euclidean length one.
        """
        clusters = cluster(found, voting)
        members = [clusters.labels == k for k in range(found.shape[1])]
        size = of_sum_one if by_sum else unit
        atoms = size(clusters.atoms)
        signed = found.astype(np.float64) * clusters.signs[:, :, None]
        least = 0.0 if found.min() >= 0 else -np.inf
        entries = [
            interval(size(signed[inside]), atoms[k], least) for k, inside in enumerate(members)
        ]
        importance = np.array([np.median(importances[inside]) for inside in members])
        shares = [
            interval(importances[inside], importance[k], 0.0) for k, inside in enumerate(members)
        ]
        order = np.argsort(-importance, kind="stable")
        # The inverse of the order: the new place of each former number.
        place = np.append(np.argsort(order), -1)  # of a former number; -1 stays
        low, high = np.array(entries).transpose(1, 0, 2)[:, order].astype(found.dtype)
        rarest, most = np.array(shares).T[:, order]
        return cls(
            atoms[order].astype(found.dtype),
            clusters.share[order],
            clusters.cosines[:, order],
            importance[order] / max(importance.sum(), np.finfo(float).tiny),
            (low, high),
            (rarest, most),
            place[clusters.labels],
            clusters.silhouette,
            clusters.cophenetic,
        )
