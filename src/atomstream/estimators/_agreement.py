"""What the replicates of a rank agree on, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from atomstream.dictionaries.clusters import cluster, unit

INTERVAL_PERCENT = 95.0  # of intervals, in percent


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
    cosine : ndarray of shape (n_components,)
        Mean cosine of the partners in all replicates.
    importance : ndarray of shape (n_components,)
        Share of each atom in codes times lengths: medians over replicates, scaled to sum one.
    intervals, importance_intervals : tuple of two ndarrays
        Lower and upper ends of percentile intervals of 95 % over the atoms of a cluster. Where
        nothing can be negative the lower end is moved down to the mirror image of the upper one.
    labels : ndarray of int of shape (n_replicates, n_components)
        The consensus atom of each atom of each replicate; -1 where it stands alone.
    similarities : ndarray of shape (n_replicates,)
        Mean cosine of the consensus atoms with their partners in each replicate.
    silhouette, cophenetic : float
        How well the clusters are apart, and how well a tree describes the distances.
    """

    atoms: NDArray
    share: NDArray
    cosine: NDArray
    importance: NDArray
    intervals: tuple[NDArray, NDArray]
    importance_intervals: tuple[NDArray, NDArray]
    labels: NDArray
    similarities: NDArray
    silhouette: float
    cophenetic: float

    @classmethod
    def of(cls, found: NDArray, importances: NDArray, *, by_sum: bool = False) -> Self:
        """Cluster the atoms of replicates, and take medians and percentiles of each cluster.

        Parameters
        ----------
        found : ndarray of shape (n_replicates, n_components, n_features)
        importances : ndarray of shape (n_replicates, n_components)
        by_sum : bool, default=False
            Whether atoms have sum one, and not Euclidean length one.
        """
        clusters = cluster(found)
        members = [clusters.labels == k for k in range(found.shape[1])]
        size = _of_sum_one if by_sum else unit
        atoms = size(clusters.atoms)
        signed = found.astype(np.float64) * clusters.signs[:, :, None]
        least = 0.0 if found.min() >= 0 else -np.inf
        entries = [
            _interval(size(signed[inside]), atoms[k], least) for k, inside in enumerate(members)
        ]
        importance = np.array([np.median(importances[inside]) for inside in members])
        shares = [
            _interval(importances[inside], importance[k], 0.0) for k, inside in enumerate(members)
        ]
        order = np.argsort(-importance, kind="stable")
        place = np.append(np.argsort(order), -1)  # of a former number; -1 stays
        low, high = np.array(entries).transpose(1, 0, 2)[:, order].astype(found.dtype)
        rarest, most = np.array(shares).T[:, order]
        return cls(
            atoms[order].astype(found.dtype),
            clusters.share[order],
            clusters.cosine[order],
            importance[order] / max(importance.sum(), np.finfo(float).tiny),
            (low, high),
            (rarest, most),
            place[clusters.labels],
            clusters.similarities,
            clusters.silhouette,
            clusters.cophenetic,
        )


def _interval(values: NDArray, middle: NDArray, least: float) -> NDArray:
    """Return the percentiles of rows, (2, ...); the middle always lies between.

    What is zero in truth and cannot be negative is estimated too large in most replicates. So the
    lower end lies at least as far from the middle as the upper one, as far as the bound allows.
    """
    low, high = np.percentile(
        values, [50 - INTERVAL_PERCENT / 2, 50 + INTERVAL_PERCENT / 2], axis=0
    )
    high = np.maximum(high, middle)
    if np.isfinite(least):
        low = np.minimum(low, np.maximum(2 * middle - high, least))
    return np.array([np.minimum(low, middle), high])


def _of_sum_one(rows: NDArray) -> NDArray:
    totals = rows.sum(axis=-1, keepdims=True)
    return np.divide(rows, totals, out=np.zeros_like(rows), where=totals > 0)
