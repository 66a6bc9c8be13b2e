"""What a wrong reconstruction costs: one frozen class per divergence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Loss", "Squared"]


class Loss(Protocol):
    """What coders and statistics know of a loss.

    Attributes
    ----------
    quadratic : bool
        Whether the loss depends on data and dictionary through products alone (squared loss): then codes and
        dictionary need the Gram matrix of the atoms and the correlations with the data, nothing else.
    smoothness : float or None
        Lipschitz constant of the gradient with respect to the reconstruction; None if there is none.
    """

    quadratic: ClassVar[bool]
    smoothness: ClassVar[float | None]

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the loss of each row ``Y`` as a reconstruction of the row ``X``, summed over features."""
        ...

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the gradient with respect to ``Y``."""
        ...


@dataclass(frozen=True)
class Squared:
    r"""Half the squared Euclidean distance, :math:`\tfrac12 \|x - y\|_2^2`."""

    quadratic: ClassVar[bool] = True
    smoothness: ClassVar[float] = 1.0

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return half the squared distance of each row, in float64."""
        error = X - Y
        return 0.5 * np.einsum("ij,ij->i", error, error).astype(np.float64)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return ``Y - X``."""
        return Y - X
