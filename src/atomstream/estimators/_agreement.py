"""What replicates agree on, and the number of atoms chosen by that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base.matrices import unit
from atomstream.dictionaries.clusters import cluster
from atomstream.estimators._ensemble import Ensemble

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


LITTLE = 0.05  # of what an atom lowers the error by on average: an atom worth less is not counted
STEADIER = 0.05  # difference of stabilities that counts
CERTAIN = 2.0  # standard errors


@dataclass(frozen=True)
class RankChoice:
    """Numbers of atoms compared, and the one chosen; ``atomstream.plots.rank`` draws it.

    Attributes
    ----------
    rank : int
        The number chosen.
    reason : str
        Why, in a sentence.
    structured : bool
        Whether any rank predicts hidden entries better than the means of the columns do.
    ranks : ndarray of int of shape (n_ranks,)
    error : ndarray of shape (n_ranks,)
        Error on hidden entries: mean squared error under the squared loss, else the mean loss.
    error_se : ndarray of shape (n_ranks,)
        Its standard error over rows.
    stability : ndarray of shape (n_ranks,)
        Mean over the consensus atoms of the share of replicates that have the atom, to a cosine of
        0.9.
    silhouette, cophenetic : ndarray of shape (n_ranks,)
        How well the clusters of atoms are apart, and how well a tree describes their distances; NaN
        where they are not defined.
    errors, similarities : ndarray of shape (n_ranks, n_replicates)
        Of each replicate: the error, NaN where no row was there to judge it by, and the mean cosine
        of the consensus atoms with their partners in it.
    baseline : float
        Error of the means of the columns.
    """

    rank: int
    reason: str
    structured: bool
    ranks: NDArray
    error: NDArray
    error_se: NDArray
    stability: NDArray
    silhouette: NDArray
    cophenetic: NDArray
    errors: NDArray
    similarities: NDArray
    baseline: float

    @property
    def table(self) -> list[dict[str, Any]]:
        """One row per rank: rank, stability, error, error_se, silhouette, cophenetic, chosen."""
        names = ("stability", "error", "error_se", "silhouette", "cophenetic")
        columns = [getattr(self, name) for name in names]
        return [
            {"rank": int(rank), **dict(zip(names, map(float, row), strict=True))}
            | {"chosen": bool(rank == self.rank)}
            for rank, *row in zip(self.ranks, *columns, strict=True)
        ]


def compare(ensemble: Ensemble, agreed: Sequence[Consensus]) -> RankChoice:
    """Judge the ranks of an ensemble by hidden entries and by what their replicates agree on."""
    ranks = np.array(ensemble.ranks)
    baseline, n_observed = ensemble.baseline()
    if len(baseline) < 2:
        raise ValueError(
            f"Ranks are judged by rows that replicates leave out: {len(baseline)} of n_samples = "
            f"{len(ensemble.places)}; give more rows, more replicates or a larger "
            "holdout."
        )
    judged = [ensemble.errors(index) for index in range(len(ranks))]
    rows = np.array([by_row for by_row, _ in judged]) / n_observed.mean()
    baseline = baseline / n_observed.mean()
    stability = np.array([consensus.share.mean() for consensus in agreed])
    rank, structured, reason = choose(ranks, rows, stability, baseline)
    return RankChoice(
        rank=rank,
        reason=reason,
        structured=structured,
        ranks=ranks,
        error=rows.mean(axis=1),
        error_se=rows.std(axis=1, ddof=1) / np.sqrt(rows.shape[1]),
        stability=stability,
        silhouette=np.array([consensus.silhouette for consensus in agreed]),
        cophenetic=np.array([consensus.cophenetic for consensus in agreed]),
        errors=np.array([by_replicate for _, by_replicate in judged]),
        similarities=np.array([consensus.similarities for consensus in agreed]),
        baseline=float(baseline.mean()),
    )


def choose(
    ranks: NDArray, errors: NDArray, stability: NDArray, baseline: NDArray
) -> tuple[int, bool, str]:
    """Choose a number of atoms.

    Those count as good whose error is at most one standard error of the difference above the
    smallest, or whose missing atoms would each lower it by less than a twentieth of what an atom
    lowers it by on average. Of these the smallest is taken whose stability is at most 0.05 below
    that of the steadiest.

    Parameters
    ----------
    ranks : ndarray of int of shape (n_ranks,)
        Rising.
    errors : ndarray of shape (n_ranks, n_rows)
        On the same rows for all, so that differences count by their own standard error.
    stability : ndarray of shape (n_ranks,)
    baseline : ndarray of shape (n_rows,)
        Errors of the means of the columns.

    Returns
    -------
    rank : int
    structured : bool
        Whether the error of the rank is below that of the means by two standard errors: where
        columns are independent no rank is, but by a chance of at most one in forty.
    reason : str

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), "Classification and regression trees", section 3.4.3,
    the one-standard-error rule, here for paired differences.
    """
    best = int(errors.mean(axis=1).argmin())
    behind, spread = _differences(errors - errors[best])
    gained = max(float((baseline - errors[best]).mean()), 0.0)
    fewer = np.maximum(ranks[best] - ranks, 0)
    good = behind <= np.maximum(spread, LITTLE * gained / ranks[best] * fewer)
    steady = good & (stability >= stability[good].max() - STEADIER)
    chosen = int(np.flatnonzero(steady)[0])
    ahead, doubt = _differences(baseline - errors[chosen])
    structured = bool(ahead > CERTAIN * doubt)
    return int(ranks[chosen]), structured, _reason(ranks, chosen, best, good, stability, structured)


def _differences(values: NDArray) -> tuple[Any, Any]:
    """Return means over rows, and their standard errors."""
    n_rows = max(values.shape[-1], 2)
    return values.mean(axis=-1), values.std(axis=-1) / np.sqrt(n_rows - 1)


def _reason(
    ranks: NDArray, chosen: int, best: int, good: NDArray, stability: NDArray, structured: bool
) -> str:
    rank = int(ranks[chosen])
    if not structured:
        meaning = "" if rank == 1 else f", so the {rank} atoms here mean nothing"
        return (
            "The data show no structure: no rank predicts hidden entries better than the means of "
            f"the columns do{meaning}."
        )
    share = f"{stability[chosen]:.0%} of the replicates have its atoms on average"
    if chosen == best:
        why = f"{rank} has the smallest error on hidden entries, and {share}"
    else:
        why = (
            f"{rank} predicts hidden entries as well as {int(ranks[best])}, the best: the "
            f"difference is chance, or atoms worth little; and {share}"
        )
    if len(ranks) > 1 and chosen == len(ranks) - 1:
        why += "; it is the largest that was tried, so try larger ones"
    elif len(ranks) > 1 and chosen == 0 and rank > 1:
        why += "; it is the smallest that was tried, so try smaller ones"
    if stability[chosen] < 0.7:
        why += "; atoms that few replicates have should not be trusted"
    return why[0].upper() + why[1:] + "."
