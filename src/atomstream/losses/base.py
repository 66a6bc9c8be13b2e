"""What the rest of the library knows of a loss, and what losses that are sums over entries share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.dictionaries.base import Dictionary

__all__ = ["Entrywise", "General", "Loss"]

BLOCK = 1 << 20  # numbers that are dense at a time where sparse data must meet their reconstruction


class Loss(Protocol):
    """What coders and statistics know of a loss d(x, y) of a reconstruction y of x.

    Attributes
    ----------
    quadratic : bool
        Whether the loss depends on data and dictionary through products alone (squared loss): then
        codes and dictionary need the Gram matrix of the atoms and the correlations with the data,
        nothing else.
    smoothness : float or None
        Lipschitz constant of the gradient with respect to the reconstruction; None if there is
        none.
    convex : bool
        Whether it is convex in the reconstruction; only then do the theorems on convergence hold.
    data : {"real", "nonnegative", "positive"}
        What entries of the data may be.
    reconstruction : {"real", "positive"}
        What entries of the reconstruction must be.
    slope_at_zero, ratio_power : float or None
        Where the gradient is slope * (1 - (x/y)^power) and d(0, y) = slope * y: entries of the data
        that are zero then ask for the sum of the reconstruction only, never for its entries.
    exponents : (float, float) or None
        p > q where the loss has a power majoriser for nonnegative data
        (`atomstream.losses.majorisers`) and a method ``split``; None where it has none.
    """

    quadratic: ClassVar[bool]
    smoothness: ClassVar[Any]
    convex: ClassVar[Any]
    data: ClassVar[Any]
    reconstruction: ClassVar[Any]
    slope_at_zero: ClassVar[Any]
    ratio_power: ClassVar[Any]
    exponents: ClassVar[Any]

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the loss of each row ``Y`` as a reconstruction of the row ``X``, summed over features."""
        ...

    def sparse_value(self, X: Any, codes: NDArray, dictionary: Dictionary) -> NDArray:
        """Return the loss of each sparse row at its code without ever forming the whole reconstruction."""
        ...

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the gradient with respect to ``Y``, or a subgradient where there is a kink."""
        ...

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return two parts without negative entries whose difference is the gradient, of nonnegative ``X`` and ``Y``.

        A part that is the same everywhere may be a number. Only losses with ``exponents`` have it.
        """
        ...


class General(ABC):
    """Sparse rows by blocks of dense ones, for losses of which no more is known."""

    quadratic: ClassVar[bool] = False
    smoothness: ClassVar[Any] = None
    convex: ClassVar[Any] = True
    data: ClassVar[Any] = "real"
    reconstruction: ClassVar[Any] = "real"
    slope_at_zero: ClassVar[Any] = None
    ratio_power: ClassVar[Any] = None
    exponents: ClassVar[Any] = None

    @abstractmethod
    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the loss of each row, in float64."""

    def sparse_value(self, X: Any, codes: NDArray, dictionary: Dictionary) -> NDArray:
        """Return the loss of each sparse row at its code, a block of rows at a time."""
        values, size = np.empty(X.shape[0]), max(1, BLOCK // X.shape[1])
        for start in range(0, len(values), size):
            rows = slice(start, start + size)
            values[rows] = self.value(X[rows].toarray(), dictionary.decode(codes[rows]))
        return values


class Entrywise(General):
    """A sum over entries: one formula for an entry, in float64, and its first derivative."""

    @abstractmethod
    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return d(x, y) entry by entry."""

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the loss of each row, in float64."""
        return self.entries(_double(X), _double(Y)).sum(axis=1)

    def sparse_value(self, X: Any, codes: NDArray, dictionary: Dictionary) -> NDArray:
        """Return the loss of each sparse row at its code, from its nonzero entries where zeros ask for sums."""
        if self.slope_at_zero is None:
            return super().sparse_value(X, codes, dictionary)
        X = sp.csr_array(X, dtype=np.float64)
        codes, atoms = _double(codes), _double(dictionary.atoms())
        y = reconstruct_at(X, codes, atoms)
        found = self.entries(X.data, y) - self.slope_at_zero * y
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        zeros = self.slope_at_zero * (codes @ atoms.sum(axis=1))
        return zeros + np.bincount(rows, weights=found, minlength=X.shape[0])


def reconstruct_at(X: Any, codes: NDArray, atoms: NDArray) -> NDArray:
    """Return the reconstruction at the stored entries of sparse rows, in their order, (n_stored,)."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    y, columns = np.empty(len(rows), codes.dtype), np.ascontiguousarray(atoms.T)
    size = max(1, BLOCK // max(codes.shape[1], 1))
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        y[part] = np.einsum("ij,ij->i", codes[rows[part]], columns[X.indices[part]])
    return y


def _double(array: NDArray) -> NDArray:
    return np.asarray(array, dtype=np.float64)
