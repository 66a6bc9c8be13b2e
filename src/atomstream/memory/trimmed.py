"""Averages under a trimmed loss: entries beyond the threshold count as missing."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from atomstream.base import dense
from atomstream.base.saved_fields import number
from atomstream.coders import Codes
from atomstream.dictionaries.base import Dictionary
from atomstream.losses import Loss, Squared
from atomstream.memory import Aggregates, GramDelta, GramSums, Statistics
from atomstream.problem import Batch, Needs, Objective


@dataclass(frozen=True, kw_only=True)
class TrimmedDelta(GramDelta):
    """Sums over the samples of a batch, as of the squared loss, and how much was trimmed.

    Attributes
    ----------
    trimmed : float
        Sum over the samples of weight times share of the observed entries beyond the threshold.
    """

    trimmed: float


class TrimmedAggregates(Aggregates):
    """Averages of the squared loss on entries within the threshold.

    Attributes
    ----------
    outlier_share : float
        Average share of observed entries beyond the threshold.
    """

    SAVED: ClassVar[Any] = (*Aggregates.SAVED, number("outlier_share", at_least=0))
    outlier_share: float = 0.0

    def absorb(self, delta: Any, weight: float) -> None:
        """Move every average towards the batch's by its weight."""
        super().absorb(delta, weight)
        self.outlier_share += weight * (delta.trimmed / delta.mass - self.outlier_share)

    def merge(self, other: Self, share: float) -> None:
        """Move every average towards another memory's by its share of the mass."""
        super().merge(other, share)
        self.outlier_share += share * (other.outlier_share - self.outlier_share)


@dataclass(frozen=True)
class TrimmedSums(Statistics[TrimmedDelta, TrimmedAggregates]):
    r"""Measures what determines a surrogate of the trimmed loss for every dictionary.

    With M the entries of a row within the threshold t at its code and the dictionary at hand,

    .. math:: \tfrac12 \sum_j \min(e_j^2, t^2) \le \tfrac12 \|M(x - hD')\|^2
              + \tfrac12 t^2 |\bar M| \quad \text{for every } D',

    with equality at the dictionary at hand. So trimmed entries are missing ones, with a Gram
    matrix for each feature as in `GramSums`, and cost a constant.
    """

    needs: ClassVar[Needs] = {"loss": ("trims",)}

    def start(self, n_components: int, n_features: int, loss: Loss) -> TrimmedAggregates:
        """Return an empty memory."""
        return TrimmedAggregates(n_components, n_features)

    def measure(
        self, batch: Batch, codes: Codes, dictionary: Dictionary, objective: Objective
    ) -> TrimmedDelta:
        """Return what the batch adds."""
        loss: Any = objective.loss.at(dictionary)
        X = dense(batch.X)
        errors = np.abs(X - dictionary.decode(codes.values))
        limits = loss.thresholds(errors, batch.mask)
        seen = np.ones(X.shape, bool) if batch.mask is None else batch.mask
        kept = seen & (errors <= limits)
        weights = batch.row_weights
        squared = replace(objective, loss=Squared())
        rest = Batch(X, batch.weights, kept)
        delta = GramSums(by_feature=True).measure(rest, codes, dictionary, squared)
        n_seen, n_kept = seen.sum(axis=1), kept.sum(axis=1)
        # Rows of which nothing is left add their constant alone.
        cost = 0.5 * limits[:, 0].astype(np.float64) ** 2 * (n_seen - n_kept)
        lost = (n_kept == 0) & (n_seen > 0)
        cost[lost] += squared.codes.value(codes.values[lost])
        constant = float(cost @ weights)
        share = (n_seen - n_kept) / np.maximum(n_seen, 1)
        values = vars(delta) | {
            "constant": delta.constant + constant,
            "objective": delta.objective + constant,
            "mass": batch.mass,
        }
        return TrimmedDelta(**values, trimmed=float(share @ weights))
