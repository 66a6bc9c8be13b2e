"""What a batch adds to the memory: pure functions of batch, codes and dictionary, whose results add up."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.coders import Codes
from atomstream.dictionaries import Dictionary
from atomstream.memory import Aggregates
from atomstream.objective import Objective

if TYPE_CHECKING:
    from atomstream.learner import Batch

__all__ = ["Delta", "GramDelta", "GramSums", "Statistics"]


class Delta(Protocol):
    """What the loop knows of a delta: sums over the samples of a batch, each by its weight.

    Attributes
    ----------
    usage : ndarray of shape (n_components,)
        Sum of weights times absolute codes.
    objective : float
        Sum of weights times the objective of each sample at its code and the dictionary it was coded with.
    mass : float
        Sum of weights.
    """

    usage: NDArray
    objective: float
    mass: float

    def __add__(self, other: Self) -> Self: ...

    def gradient(self, dictionary: Any) -> NDArray:
        """Return the gradient of the mean loss with respect to the atoms, at the measured codes."""
        ...

    def smoothness(self) -> float:
        """Return a Lipschitz constant of that gradient."""
        ...


class Statistics(Protocol):
    """Knows what to measure, and the memory that goes with it."""

    def start(self, n_components: int, n_features: int) -> Any:
        """Return an empty memory of the right kind and size."""
        ...

    def measure(self, batch: Batch, codes: Codes, dictionary: Any, objective: Objective) -> Any:
        """Return what the batch adds; pure."""
        ...


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

    def gradient(self, dictionary: Dictionary) -> NDArray:
        """Return (A D - B) / mass."""
        return (self.gram @ dictionary.atoms().astype(np.float64) - self.cross) / self.mass

    def smoothness(self) -> float:
        """Return the largest eigenvalue of A / mass."""
        return float(np.linalg.eigvalsh(self.gram)[-1]) / self.mass


@dataclass(frozen=True)
class GramSums:
    """The sums that determine the squared loss of all past samples at their codes, for every dictionary.

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
        cross = (batch.X.T @ weighted).T if sp.issparse(batch.X) else weighted.T @ batch.X
        cross = unit * np.asarray(cross, dtype=np.float64)
        constants = 0.5 * batch.energy + objective.codes.net(h)
        constant = float(constants.sum() if batch.weights is None else constants @ batch.weights)
        fit = float(0.5 * np.vdot(gram, dictionary.gram()) - np.vdot(cross, dictionary.atoms()))
        usage = unit * np.abs(weighted).sum(axis=0, dtype=np.float64)
        if not np.isfinite(constant + fit):
            raise ValueError(
                f"Sums over the batch are not finite in {h.dtype}; rescale the data or give them as float64."
            )
        return GramDelta(gram, cross, constant, usage, constant + fit, batch.mass)
