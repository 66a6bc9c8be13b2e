"""Numbers of atoms compared, and the one chosen: by hidden entries, or by what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.estimators._agreement import Consensus
from atomstream.estimators._ensemble import Ensemble

LITTLE = 0.05  # of what an atom lowers the error by on average: an atom worth less is not counted
STEADIER = 0.05  # difference of stabilities that counts
CERTAIN = 2.0  # standard errors
STEADY = 0.7  # mean stability below which the reason says what to change


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
    rule : str
        What chose it: ``"error"`` or ``"reproducibility"``.
    by_error : int
        What errors on hidden entries choose.
    by_reproducibility : int or None
        The largest rank all of whose atoms come back, and whose error is not above that of a
        smaller one by more than chance; None where there is none.
    ranks : ndarray of int of shape (n_ranks,)
    error : ndarray of shape (n_ranks,)
        Error on hidden entries: mean squared error under the squared loss, else the mean loss.
    error_se : ndarray of shape (n_ranks,)
        Its standard error over rows.
    stability : ndarray of shape (n_ranks,)
        Mean over the consensus atoms of the share of replicates that have the atom, to a cosine of
        0.9.
    weakest : ndarray of shape (n_ranks,)
        Share of the replicates that have the atom that fewest of them have, to a cosine of
        ``min_cosine``.
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
    rule: str
    by_error: int
    by_reproducibility: int | None
    ranks: NDArray
    error: NDArray
    error_se: NDArray
    stability: NDArray
    weakest: NDArray
    silhouette: NDArray
    cophenetic: NDArray
    errors: NDArray
    similarities: NDArray
    baseline: float

    @property
    def table(self) -> list[dict[str, Any]]:
        """One row per rank: its number, the measures named below, and whether it was chosen."""
        names = ("stability", "weakest", "error", "error_se", "silhouette", "cophenetic")
        columns = [getattr(self, name) for name in names]
        return [
            {"rank": int(rank), **dict(zip(names, map(float, row), strict=True))}
            | {"chosen": bool(rank == self.rank)}
            for rank, *row in zip(self.ranks, *columns, strict=True)
        ]


class Judging(NamedTuple):
    """How numbers of atoms are chosen.

    Attributes
    ----------
    rule : str
        ``"error"``, ``"reproducibility"``, or ``"auto"``: the second for counts, of which
        replicates are bootstraps.
    min_share, min_cosine : float
        All atoms of a rank come back if so large a share of the replicates has each of them to so
        large a cosine.
    """

    rule: str = "auto"
    min_share: float = 0.7
    min_cosine: float = 0.9

    def taken(self, ensemble: Ensemble) -> tuple[str, str]:
        """Return the rule for the data of an ensemble, and what they are, in words."""
        values = ensemble.held.data if sp.issparse(ensemble.held) else ensemble.held
        kind = "measurements under the squared loss"
        if not ensemble.algorithm.objective.loss.quadratic:
            # Whole numbers under a divergence are taken for counts.
            whole = bool((values[np.isfinite(values)] % 1 == 0).all())
            kind = "counts" if whole else "measurements under a divergence"
        if kind == "counts" and not ensemble.draws.bootstrap:
            kind = "counts, of which replicates are no bootstraps"
        back = "reproducibility" if kind == "counts" else "error"
        return (back if self.rule == "auto" else self.rule), kind

    def told(self, rule: str, kind: str, by_error: int, come_back: int | None) -> str:
        """Return what each rule chooses, and which one was taken for which kind of data."""
        found = f"{come_back} is the largest number" if come_back else "there is no number"
        return (
            f"For {kind} the rule is {rule}: errors on hidden entries choose {by_error}, and "
            f"{found} all of whose atoms come back in {self.min_share:.0%} of the replicates at a "
            f"cosine of {self.min_cosine:g} and which predicts hidden entries no worse than "
            "smaller numbers do."
        )


def compare(
    ensemble: Ensemble, agreed: Sequence[Consensus], judging: Judging | None = None
) -> RankChoice:
    """Judge the ranks of an ensemble by hidden entries and by what their replicates agree on."""
    judging = Judging() if judging is None else judging
    ranks = np.array(ensemble.ranks)
    baseline, n_observed = ensemble.baseline()
    if len(baseline) < 2:
        raise ValueError(
            f"Ranks are judged by rows that replicates leave out: {len(baseline)} of n_samples = "
            f"{len(ensemble.places)}; give more rows, more replicates or a larger holdout."
        )
    judged = [ensemble.errors(index) for index in range(len(ranks))]
    rows = np.array([by_row for by_row, _ in judged]) / n_observed.mean()
    baseline = baseline / n_observed.mean()
    stability = np.array([consensus.share.mean() for consensus in agreed])
    weakest = np.array([consensus.weakest(judging.min_cosine) for consensus in agreed])
    by_error, _, reason = choose(ranks, rows, stability, baseline)
    come_back = reproducible(ranks, weakest >= judging.min_share, rows)
    rule, kind = judging.taken(ensemble)
    rank = come_back if rule == "reproducibility" and come_back is not None else by_error
    at = int(np.flatnonzero(ranks == rank)[0])
    ahead, doubt = _differences(baseline - rows[at])
    structured = bool(ahead > CERTAIN * doubt)
    if structured:
        told = judging.told(rule, kind, by_error, come_back)
        reason = f"{told} {reason}{_advice(stability[at], ensemble.draws.bootstrap)}"
    return RankChoice(
        rank=rank,
        reason=reason,
        structured=structured,
        rule=rule,
        by_error=by_error,
        by_reproducibility=come_back,
        ranks=ranks,
        error=rows.mean(axis=1),
        error_se=rows.std(axis=1, ddof=1) / np.sqrt(rows.shape[1]),
        stability=stability,
        weakest=weakest,
        silhouette=np.array([consensus.silhouette for consensus in agreed]),
        cophenetic=np.array([consensus.cophenetic for consensus in agreed]),
        errors=np.array([by_replicate for _, by_replicate in judged]),
        similarities=np.array([consensus.cosines.mean(axis=1) for consensus in agreed]),
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
    # Within one standard error of the difference, or worth too little to count.
    good = behind <= np.maximum(spread, LITTLE * gained / ranks[best] * fewer)
    # Among good ones only: a rank of one atom is steady and explains nothing.
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
    return why[0].upper() + why[1:] + "."


def reproducible(ranks: NDArray, back: NDArray, errors: NDArray) -> int | None:
    """Return the largest rank that comes back and does not predict hidden entries worse.

    Its error is at most one standard error of the difference above that of a smaller rank.
    Parts into which an atom is split may come back, for bootstraps share the noise of their rows.
    Entries that nobody has seen have other noise: with such parts their error rises. Ranks below
    the one of the smallest error lack atoms, which is no reason to leave them out.

    Parameters
    ----------
    ranks : ndarray of int of shape (n_ranks,)
        Rising.
    back : ndarray of bool of shape (n_ranks,)
        Whether enough replicates have all of the atoms.
    errors : ndarray of shape (n_ranks, n_rows)

    References
    ----------
    Alexandrov et al. (2013), "Deciphering signatures of mutational processes operative in human
    cancer", Cell Reports 3: the number of signatures by whether resampled counts give them back.
    """
    best = int(errors.mean(axis=1).argmin())
    behind, spread = _differences(errors - errors[best])
    back = back & ((ranks <= ranks[best]) | (behind <= spread))
    return int(ranks[back][-1]) if back.any() else None


def _advice(stability: float, bootstrap: bool) -> str:
    """Return what to change where few replicates have the atoms."""
    if stability >= STEADY:
        return ""
    change = "take more rows, more replicates or fewer atoms"
    if bootstrap:
        change = (
            "set bootstrap=False (--no-bootstrap) to keep atoms that few rows carry, or take more "
            "rows or more replicates"
        )
    return f" Atoms that few replicates have should not be trusted: {change}."
