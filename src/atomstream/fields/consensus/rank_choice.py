"""Numbers of atoms compared, and the one chosen: by hidden entries, or by what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import counted
from atomstream.base.saved_fields import array, part
from atomstream.fields.consensus.agreement import Consensus
from atomstream.fields.consensus.clusters import SAME
from atomstream.fields.consensus.ensemble import Ensemble
from atomstream.fields.consensus.rank_reason import Evidence, reason
from atomstream.fields.consensus.structure import Verdict

LITTLE = 0.05  # of what an atom lowers the error by on average: an atom worth less is not counted
STEADIER = 0.05  # difference of stabilities that counts
N_RESAMPLES = 199  # of rows and replicates
NINE_OF_TEN = 5, 95  # the per cent of them between which the numbers lie that are told
SPREAD = 2**32 + 1  # a stream of numbers of its own, so that nothing that is learned changes


@dataclass(frozen=True)
class RankChoice:
    """Numbers of atoms compared, and the one chosen; ``atomstream.plots.rank`` draws it.

    Attributes
    ----------
    rank : int
        The number chosen.
    reason : str
        Why, in a sentence.
    structured : bool or None
        Whether the columns go together by more than the sizes of the rows; None where that is open
        or cannot be judged (`verdict`). It says nothing of how well atoms predict (`predicts`).
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
    verdict : Verdict or None
        By what structure was judged; None in models that were saved before there were verdicts.
    spread : ndarray of int of shape (2,) or None
        The least and the largest number in nine of ten resamples of rows and replicates; None as
        above.
    """

    SAVED: ClassVar = (
        *("rank", "reason", "structured", "rule", "by_error", "by_reproducibility", "ranks"),
        *("error", "error_se", "stability", "weakest", "silhouette", "cophenetic", "errors"),
        *("similarities", "baseline", part("verdict", Verdict, optional=True)),
        array("spread", "2", "i", optional=True),
    )

    rank: int
    reason: str
    structured: bool | None
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
    verdict: Verdict | None = None
    spread: NDArray | None = None

    @property
    def predicts(self) -> bool:
        """Whether the rank chosen has a smaller error than the means of the columns."""
        return bool(self.error[self.ranks == self.rank][0] < self.baseline)

    @property
    def doubt(self) -> str | None:
        """What keeps the atoms from being trusted, in a sentence, if anything does."""
        if self.verdict is not None and not self.structured:
            return self.verdict.sentence
        if self.predicts:
            return None
        atoms = counted(self.rank, "atom")
        return f"The means of the columns predict hidden entries no worse than {atoms}."

    @property
    def facts(self) -> dict[str, Any]:
        """The choice without the measures of replicates, for machines."""
        spread = None if self.spread is None else self.spread.tolist()
        found = {"reason": self.reason, "structured": self.structured, "spread": spread}
        return found | {"ranks": self.table}

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
    by_error = choose(ranks, rows, stability, baseline)
    come_back = reproducible(ranks, weakest >= judging.min_share, rows)
    rule, kind = judging.taken(ensemble)
    rank = _taken(rule, by_error, come_back)
    verdict = ensemble.verdict()
    ahead, doubt = _differences(baseline - rows[ranks == rank][0])
    found = RankChoice(
        rank=rank,
        reason="",
        structured=verdict.structured,
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
        verdict=verdict,
        spread=_spread(ensemble, agreed, rows, baseline, rule, judging),
    )
    lead = float(ahead / doubt) if doubt else float(np.sign(ahead) * np.inf)
    shares = judging.min_share, judging.min_cosine
    evidence = Evidence(kind, *shares, ensemble.draws.bootstrap, lead)
    return replace(found, reason=reason(found, evidence))


def _taken(rule: str, by_error: int, come_back: int | None) -> int:
    """Return the number that a rule takes: where none comes back, the one by error."""
    return come_back if rule == "reproducibility" and come_back is not None else by_error


def _spread(
    ensemble: Ensemble,
    agreed: Sequence[Consensus],
    rows: NDArray,
    baseline: NDArray,
    rule: str,
    judging: Judging,
) -> NDArray:
    """Return the least and the largest number of nine of ten resamples of rows and replicates."""
    draws, ranks = ensemble.draws, np.array(ensemble.ranks)
    rng = np.random.default_rng([draws.seed, SPREAD])
    blocks = ensemble.places[ensemble.judged()] // draws.block_size
    members = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
    chosen = []
    for _ in range(N_RESAMPLES):
        drawn = np.concatenate([members[i] for i in rng.integers(len(members), size=len(members))])
        # Some replicates may have had no rows; of every rank the same ones.
        n_replicates = len(agreed[0].cosines)
        some = rng.integers(n_replicates, size=n_replicates)
        stability = np.array([(each.cosines[some] >= SAME).mean() for each in agreed])
        weakest = np.array([each.weakest(judging.min_cosine, some) for each in agreed])
        by_error = choose(ranks, rows[:, drawn], stability, baseline[drawn])
        come_back = reproducible(ranks, weakest >= judging.min_share, rows[:, drawn])
        chosen.append(_taken(rule, by_error, come_back))
    return np.percentile(chosen, NINE_OF_TEN, method="nearest").astype(np.int64)


def choose(ranks: NDArray, errors: NDArray, stability: NDArray, baseline: NDArray) -> int:
    """Return the number of atoms that errors on hidden entries choose.

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
    return int(ranks[steady][0])


def _differences(values: NDArray) -> tuple[Any, Any]:
    """Return means over rows, and their standard errors."""
    n_rows = max(values.shape[-1], 2)
    return values.mean(axis=-1), values.std(axis=-1) / np.sqrt(n_rows - 1)


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
