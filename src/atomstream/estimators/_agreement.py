"""What replicates agree on, with intervals: what other rows would make of it, what noise adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

from atomstream.base import of_sum_one, unit
from atomstream.dictionaries.clusters import cluster
from atomstream.dictionaries.rows import Rows
from atomstream.estimators._ensemble import Ensemble
from atomstream.estimators._hidden_entries import ACCURACY

PERCENT = 95.0  # of intervals
WIDER = 1.25
MIN_SHARE = 0.5  # of the replicates: fewer that have an atom say nothing of its entries
LOW_ROWS = 0.1  # share of the rows in which a column should hold least
# Mean of normal noise that is cut at zero, over its root mean square: 1 / sqrt(pi), and some room.
CUT = 0.7


def interval(values: NDArray, middle: NDArray, least: float) -> NDArray:
    """Return the ends of intervals around the middles of rows, (2, ...).

    Both ends are as far from the middle as the percentile that is farther from it, and a quarter
    more, as far as the bound allows. What is zero in truth and cannot be negative is estimated too
    large in most replicates, and what is large too small for that: one end alone would miss it. The
    quarter is what all replicates err by together; it was chosen on one half of simulated data.
    """
    ends = np.percentile(values, [50 - PERCENT / 2, 50 + PERCENT / 2], axis=0)
    reach = WIDER * np.abs(ends - middle).max(axis=0)
    return np.array([np.maximum(middle - reach, least), middle + reach])


def honest(agreed: Any, ensemble: Ensemble, index: int) -> Any:
    """Return a consensus without the intervals that mean nothing, and the others wide enough.

    Replicates that differ in their starts alone say nothing of other rows, and the few that have an
    atom look alike because they were chosen for that: there the ends are NaN. Lower ends are moved
    down by what noise may have added to atoms that cannot be negative.

    Parameters
    ----------
    agreed : Consensus
    ensemble : Ensemble
        The replicates that it was made from.
    index : int
        Of the rank.
    """
    unknown = (
        agreed.share < MIN_SHARE if ensemble.draws.bootstrap else np.ones(len(agreed.share), bool)
    )
    low, high = (end.copy() for end in agreed.intervals)
    shares = [np.where(unknown, np.nan, end) for end in agreed.importance_intervals]
    if not unknown.all() and (agreed.atoms >= 0).all():
        low = np.maximum(low - added_by_noise(agreed.atoms, ensemble, index), 0).astype(low.dtype)
    low[unknown] = high[unknown] = np.nan
    return replace(agreed, intervals=(low, high), importance_intervals=(shares[0], shares[1]))


def added_by_noise(atoms: NDArray, ensemble: Ensemble, index: int) -> NDArray:
    """Return by how much noise that is cut at zero may have raised each entry of the atoms.

    Where there is no signal such noise has a mean. All rows share it, so it is the same in every
    replicate, and no percentiles of these show it. Each column has a floor: what it holds on
    average in the rows in which the atoms put least into it, but no more than the noise can make of
    that. An atom takes up as much of a floor as of a constant that is rebuilt by the codes.

    Returns
    -------
    ndarray of shape (n_components, n_features)
    """
    learner = next(each for each in ensemble.learners[index] if each.__sklearn_is_fitted__())
    batch, algorithm = learner._to_batch(ensemble.held), learner.algorithm_
    codes: Any = algorithm.coder.encode(batch, Rows(atoms), algorithm.objective, ACCURACY).values
    X = batch.X if isinstance(batch.X, np.ndarray) else batch.X.toarray()
    made = codes @ atoms
    X = X if batch.mask is None else np.where(batch.mask, X, made)
    n_least = max(1, int(LOW_ROWS * len(X)))
    rows = np.argpartition(made, n_least - 1, axis=0)[:n_least]
    held, left = (np.take_along_axis(values, rows, axis=0) for values in (X, X - made))
    floor = np.minimum(held.mean(axis=0), CUT * np.sqrt(np.mean(left**2, axis=0)))
    constant, _ = scipy.optimize.nnls(codes.astype(np.float64), np.ones(len(codes)))
    return np.outer(constant, floor)


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

    def weakest(self, min_cosine: float) -> float:
        """Return the share of the replicates that have the atom that fewest of them have."""
        return float((self.cosines >= min_cosine).mean(axis=0).min())

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
