"""Losses that large errors do not rule: Huber's, the sum of absolute errors, the length of the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.losses.base import _double, _Entrywise, _General

__all__ = ["L1", "L2", "Huber"]


@dataclass(frozen=True)
class Huber(_Entrywise):
    r"""Half the squared error up to delta, then linear: :math:`\tfrac12 e^2`, :math:`\delta |e| - \tfrac12\delta^2`.

    Parameters
    ----------
    delta : float, default=1.0
        In the units of the data; above 0.
    """

    delta: float = 1.0
    smoothness: ClassVar[float | None] = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.delta < np.inf:
            raise ValueError(f"Huber needs delta to be a number above 0, got {self.delta!r}.")

    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return the loss of each entry."""
        error = np.abs(x - y)
        small = np.minimum(error, self.delta)
        return small * (error - 0.5 * small)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the error y - x, clipped to [-delta, delta]."""
        return np.clip(Y - X, -self.delta, self.delta)

    def curvature(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return 1 up to delta and 0 beyond."""
        return (np.abs(Y - X) <= self.delta).astype(Y.dtype)


@dataclass(frozen=True)
class L1(_Entrywise):
    r"""The sum of absolute errors, :math:`\|x - y\|_1`."""

    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return the absolute error of each entry."""
        return np.abs(x - y)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the sign of y - x: a subgradient, 0 where both are equal."""
        return np.sign(Y - X)


@dataclass(frozen=True)
class L2(_General):
    r"""The length of the error, :math:`\|x - y\|_2`, not squared: robust against whole rows that are wrong."""

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the length of the error of each row, in float64."""
        return np.linalg.norm(_double(X) - _double(Y), axis=1)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the error y - x at length one: a subgradient, 0 where both are equal."""
        error = Y - X
        lengths: Any = np.linalg.norm(error, axis=1, keepdims=True)
        return np.divide(error, lengths, out=np.zeros_like(error), where=lengths > 0)
