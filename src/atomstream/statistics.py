"""What a batch adds to the memory: pure functions of batch, codes and dictionary, whose results add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

from atomstream.coders import Codes
from atomstream.dictionaries import Dictionary
from atomstream.losses import squared_norms
from atomstream.memory import Aggregates, GramDelta
from atomstream.objective import Objective
from atomstream.state import Batch

__all__ = ["GramSums", "Statistics"]


class Statistics(Protocol):
    """Knows what to measure, and the memory that goes with it."""

    def start(self, n_components: int, n_features: int) -> Any:
        """Return an empty memory of the right kind and size."""
        ...

    def measure(self, batch: Batch, codes: Codes, dictionary: Any, objective: Objective) -> Any:
        """Return what the batch adds; pure."""
        ...


@dataclass(frozen=True)
class GramSums:
    r"""The sums that determine the squared loss of all past samples at their codes, for every dictionary.

    Missing entries are completed with the reconstruction at hand. For a row x seen on the features M this majorises
    what is minimised, with equality at the dictionary D it was coded with,

    .. math:: \tfrac12 \|M(x - hD')\|^2 \le \tfrac12 \|Mx + (1 - M)hD - hD'\|^2 \quad \text{for every } D',

    so an update that does not raise the surrogate stays one.

    References
    ----------
    Lyu, Needell, Balzano, eq. (3): the A and B of the scheme, here for rows and summed over the batch.
    """

    needs: ClassVar[dict[str, tuple[str, ...]]] = {"loss": ("quadratic",)}

    def start(self, n_components: int, n_features: int) -> Aggregates:
        """Return an empty memory."""
        return Aggregates(n_components, n_features)

    def measure(self, batch: Batch, codes: Codes, dictionary: Dictionary, objective: Objective) -> GramDelta:
        """Return what the batch adds.

        Raises
        ------
        ValueError
            If a sum is not finite: data too large for their type.
        """
        h, unit = codes.values, 1.0
        weighted = h
        if batch.weights is not None:
            unit = float(batch.weights.max())  # tiny or huge weights must not leave the range of float32
            weighted = h * (batch.weights / unit)[:, None].astype(h.dtype)
        gram = unit * (h.T @ weighted).astype(np.float64)
        X = batch.X if batch.mask is None else batch.complete(dictionary.decode(h))
        cross = (X.T @ weighted).T if sp.issparse(X) else weighted.T @ X
        cross = unit * np.asarray(cross, dtype=np.float64)
        constants = 0.5 * (batch.energy if X is batch.X else squared_norms(X)) + objective.codes.net(h)
        constant = float(constants.sum() if batch.weights is None else constants @ batch.weights)
        fit = float(0.5 * np.vdot(gram, dictionary.gram()) - np.vdot(cross, dictionary.atoms()))
        usage = unit * np.abs(weighted).sum(axis=0, dtype=np.float64)
        if not np.isfinite(constant + fit):
            raise ValueError(
                f"Sums over the batch are not finite in {h.dtype}; rescale the data or give them as float64."
            )
        return GramDelta(gram, cross, constant, usage, constant + fit, batch.mass)
