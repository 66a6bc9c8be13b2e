"""Why a number of atoms was chosen, and what the data are, in words."""

from typing import Any, NamedTuple

import numpy as np

from atomstream.base import counted

CERTAIN = 2.0  # standard errors
STEADY = 0.7  # mean stability below which the reason says what to change
UNEVEN = 1.5  # times the variance of Poisson counts, from which it is named
TRY = (
    "Try square roots of the shares of rows, np.sqrt(X / X.sum(axis=1, keepdims=True)), under the "
    "squared loss, or a loss for counts that vary more: loss='hellinger'."
)


class Evidence(NamedTuple):
    """What a choice does not hold, and its reason tells.

    Attributes
    ----------
    kind : str
        What the data are, in words.
    min_share, min_cosine : float
        Of ``Judging``.
    bootstrap : bool
        Whether replicates are bootstraps.
    lead : float
        How much smaller the error of the rank chosen is than that of the means of the columns, in
        standard errors.
    """

    kind: str
    min_share: float
    min_cosine: float
    bootstrap: bool
    lead: float


def reason(choice: Any, evidence: Evidence) -> str:
    """Return why a `RankChoice` is as it is; a verdict that doubts it comes first."""
    chosen = [_rule(choice, evidence), _errors(choice), _spread(choice)]
    judged = [
        choice.verdict.sentence,
        _hidden_entries(choice, evidence.lead),
        _doubts(choice, evidence),
    ]
    good = choice.structured and evidence.lead > CERTAIN
    advice = _advice(float(choice.stability[choice.ranks == choice.rank][0]), evidence.bootstrap)
    parts = [*chosen, *judged, advice] if good else [*judged, *chosen]
    return " ".join(part for part in parts if part)


def _rule(choice: Any, evidence: Evidence) -> str:
    """Return what each rule chooses, and which one was taken for which kind of data."""
    come_back = choice.by_reproducibility
    found = f"{come_back} is the largest number" if come_back else "there is no number"
    return (
        f"For {evidence.kind} the rule is {choice.rule}: errors on hidden entries choose "
        f"{choice.by_error}, and {found} all of whose atoms come back in "
        f"{evidence.min_share:.0%} of the replicates at a cosine of {evidence.min_cosine:g} and "
        "which predicts hidden entries no worse than smaller numbers do; "
        f"{choice.rank} is chosen."
    )


def _errors(choice: Any) -> str:
    """Return why errors on hidden entries choose what they do."""
    ranks, rank = choice.ranks, choice.by_error
    at, best = int(np.flatnonzero(ranks == rank)[0]), int(ranks[choice.error.argmin()])
    share = f"{choice.stability[at]:.0%} of the replicates have its atoms on average"
    if rank == best:
        why = f"{rank} has the smallest error on hidden entries of all, and {share}"
    else:
        why = (
            f"{rank} predicts hidden entries as well as {best}, the best: the difference is "
            f"chance, or atoms worth little; and {share}"
        )
    if len(ranks) > 1 and at == len(ranks) - 1:
        why += "; it is the largest that was tried, so try larger ones"
    elif len(ranks) > 1 and at == 0 and rank > 1:
        why += "; it is the smallest that was tried, so try smaller ones"
    return f"{why}."


def _spread(choice: Any) -> str:
    """Return how firm the choice is."""
    if len(choice.ranks) == 1:
        return ""
    low, high = (int(end) for end in choice.spread)
    number = f"between {low} and {high}" if low < high else f"{low}"
    return f"In nine of ten resamples of the rows and replicates the number is {number}."


def _hidden_entries(choice: Any, lead: float) -> str:
    """Return what predicts hidden entries best, and by how much."""
    error = float(choice.error[choice.ranks == choice.rank][0])
    atoms, against = counted(choice.rank, "atom"), f"{choice.baseline:.3g}"
    if lead > CERTAIN:
        return (
            f"Hidden entries are predicted better by {atoms} than by the means of the columns "
            f"(error {error:.3g} against {against})."
        )
    if lead < -CERTAIN:
        every = choice.error.min() > choice.baseline
        rival = "any number of atoms that was tried" if every and len(choice.ranks) > 1 else atoms
        return (
            f"Hidden entries are predicted better by the means of the columns than by {rival} "
            f"(error {against} against {error:.3g} with {atoms})."
        )
    return (
        f"Hidden entries are predicted no better by {atoms} than by the means of the columns but "
        f"for chance (error {error:.3g} against {against})."
    )


def _doubts(choice: Any, evidence: Evidence) -> str:
    """Return what keeps the atoms from being trusted, and what to try."""
    if choice.structured is False:
        if choice.rank == 1:
            return ""
        return (
            f"So the {choice.rank} atoms chosen here describe noise or the sizes of rows; if you "
            "expect structure, give more rows."
        )
    if evidence.lead > CERTAIN:
        return ""
    uneven, nonnegative = choice.verdict.dispersion, choice.verdict.nonnegative
    varies = ""
    if uneven is not None and uneven > UNEVEN:
        varies = f"Counts vary {uneven:.1f} times as much as Poisson counts of one profile would. "
    return varies + (TRY if nonnegative else "Try more rows, fewer atoms or a ridge.")


def _advice(stability: float, bootstrap: bool) -> str:
    """Return what to change where few replicates have the atoms."""
    if stability >= STEADY:
        return ""
    change = "take more rows, more replicates or fewer atoms"
    if bootstrap:
        change = (
            "take ConsensusNMF(bootstrap=False) (--no-bootstrap), which keeps atoms that few rows "
            "carry, or more rows or more replicates"
        )
    return f"Atoms that few replicates have should not be trusted: {change}."
