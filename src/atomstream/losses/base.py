"""The interface of a loss, and what losses that are sums over entries share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base.parameters import Part
from atomstream.dictionaries.base import Dictionary

CACHE = 1 << 15  # numbers that stay in the cache between one operation and the next
# Numbers that are dense at a time where sparse data must meet their reconstruction.
DENSE_NUMBERS = 1 << 20


class Loss(Part, ABC):
    """A loss d(x, y) of a reconstruction y of x: frozen, without data.

    A loss of your own inherits from this class, or from `Entrywise`, and defines ``value`` (there
    ``entries``) and ``gradient``; all else has a default, which the attributes below name. With no
    more than that projected subgradient steps learn with it; ``exponents`` and ``split`` give it a
    majoriser, whose updates end lower in less time.

    Attributes
    ----------
    quadratic : bool, default=False
        Whether the loss depends on data and dictionary through products alone (squared loss): then
        codes and dictionary need the Gram matrix of the atoms and the correlations with the data,
        nothing else.
    reconstruction : {"real", "positive"}, default="real"
        What entries of the reconstruction must be.
    zeros : {"floor", "refuse"}, default="floor"
        What happens to zeros in data where the loss is infinite at them.
    robust : bool, default=False
        Whether it is meant for data with outliers. Learning is then cross-fitted, for no loss keeps
        atoms from copying outliers that the codes have seen (`atomstream.updates.Majorise`).
    trims : bool, default=False
        Whether entries beyond a threshold count as missing.
    piecewise_linear : bool, default=False
        Whether it is the sum of absolute errors, so that exact codes solve a linear program.
    precision : float, default=0.0
        Share of the objective below which no code can be told from an exact one.
    """

    quadratic: ClassVar[bool] = False
    reconstruction: ClassVar[str] = "real"
    robust: ClassVar[bool] = False
    zeros: str = "floor"
    trims: ClassVar[bool] = False
    piecewise_linear: ClassVar[bool] = False
    precision: ClassVar[float] = 0.0

    def at(self, dictionary: Dictionary) -> Loss:
        """Return the loss with what travels with a dictionary, such as a robust scale."""
        return self

    @property
    def fixed(self) -> bool:
        """Whether all batches are judged alike; a running scale makes a loss that moves."""
        return not self.trims

    @property
    def smoothness(self) -> float | None:
        """Lipschitz constant of the gradient in the reconstruction; None, the default: unknown."""
        return None

    @property
    def convex(self) -> bool:
        """True, the default, where it is convex in the reconstruction, as theorems need."""
        return True

    @property
    def data(self) -> str:
        """Domain of the data: "real" (the default), "nonnegative" or "positive"."""
        return "real"

    @property
    def slope_at_zero(self) -> float | None:
        """The number s with d(0, y) = s y, so that zeros need sums only; None: there is none."""
        return None

    @property
    def ratio_power(self) -> float | None:
        """The power a of a gradient s (1 - (x/y)^a) with s the slope at zero; None for others."""
        return None

    @property
    def exponents(self) -> tuple[float, float] | None:
        """Powers p > q of the majoriser, which needs ``split``; None: there is none."""
        return None

    @property
    def has_kinks(self) -> bool:
        """True where no second derivative is known."""
        # Any point will do: a second derivative is known everywhere or nowhere.
        one = np.ones((1, 1))
        return self.curvature(one, one) is None

    @abstractmethod
    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the loss of each row ``Y`` as a reconstruction of ``X``, in float64."""

    def sparse_value(self, X: sp.csr_array, codes: NDArray, dictionary: Dictionary) -> NDArray:
        """Return the loss of each sparse row at its code, a block of rows at a time."""
        values, size = np.empty(X.shape[0]), max(1, DENSE_NUMBERS // X.shape[1])
        for start in range(0, len(values), size):
            rows = slice(start, start + size)
            values[rows] = self.value(X[rows].toarray(), dictionary.decode(codes[rows]))
        return values

    @abstractmethod
    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the gradient with respect to ``Y``, or a subgradient where there is a kink."""

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return two nonnegative parts of the gradient, ``plus - minus``, for nonnegative data.

        A part that is the same everywhere may be a number. Only losses with ``exponents`` have it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no majoriser.")

    def curvature(self, X: NDArray, Y: NDArray) -> NDArray | None:
        """Return the second derivative, entry by entry; None, the default: it is not known."""
        return None


class Entrywise(Loss):
    """A sum over entries: one formula for an entry, in float64, and its first derivative."""

    @abstractmethod
    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return d(x, y) entry by entry."""

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the loss of each row, in float64, a few rows at a time."""
        values, size = np.empty(len(X)), max(1, CACHE // max(X.shape[1], 1))
        for start in range(0, len(values), size):
            rows = slice(start, start + size)
            values[rows] = self.entries(_double(X[rows]), _double(Y[rows])).sum(axis=1)
        return values


def _double(array: NDArray) -> NDArray:
    return np.asarray(array, dtype=np.float64)
