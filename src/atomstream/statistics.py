"""What a batch adds to the memory: pure functions of batch, codes and dictionary, whose results add up."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from atomstream.coders import Codes
from atomstream.dictionaries import Rows
from atomstream.memory import Aggregates
from atomstream.objective import Objective

if TYPE_CHECKING:
    from atomstream.learner import Batch

__all__ = ["GramDelta", "GramSums"]


@dataclass(frozen=True)
class GramDelta:
    """Sums over the samples i of a batch, each with its weight w_i; deltas of shards add up to that of the union.

    Attributes
    ----------
    gram : ndarray of shape (n_components, n_components)
        Sum of w_i h_i' h_i.
    cross : ndarray of shape (n_components, n_features)
        Sum of w_i h_i' x_i.
    constant : float
        Sum of w_i (|x_i|^2 / 2 + penalty of h_i): what the surrogate holds besides the dictionary.
    usage : ndarray of shape (n_components,)
        Sum of w_i |h_i|.
    objective : float
        Sum of w_i times the objective of sample i at its code and the dictionary it was coded with.
    mass : float
        Sum of w_i.
    """

    gram: NDArray
    cross: NDArray
    constant: float
    usage: NDArray
    objective: float
    mass: float

    def __add__(self, other: GramDelta) -> GramDelta:
        return GramDelta(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class GramSums:
    """The sums that determine the squared loss of all past samples at their codes, for every dictionary.

    References
    ----------
    Lyu, Needell, Balzano, eq. (3): the A and B of the scheme, here for rows and summed over the batch.
    """

    def start(self, n_components: int, n_features: int) -> Aggregates:
        """Return an empty memory of the right kind and size."""
        return Aggregates(n_components, n_features)

    def measure(self, batch: Batch, codes: Codes, dictionary: Rows, objective: Objective) -> GramDelta:
        """Return what the batch adds."""
        h = codes.values
        weighted = h if batch.weights is None else h * batch.weights[:, None].astype(h.dtype)
        gram = (h.T @ weighted).astype(np.float64)
        cross = np.asarray((batch.X.T @ weighted).T, dtype=np.float64)
        constants = 0.5 * batch.energy + objective.codes.value(h)
        constant = float(constants.sum() if batch.weights is None else constants @ batch.weights)
        fit = 0.5 * np.vdot(gram, dictionary.gram()) - np.vdot(cross, dictionary.atoms())
        usage = np.abs(weighted).sum(axis=0, dtype=np.float64)
        return GramDelta(gram, cross, constant, usage, constant + float(fit), batch.mass)
