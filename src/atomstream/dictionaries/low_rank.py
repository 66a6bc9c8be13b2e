"""A matrix kept as a product of two thin ones for as long as that is smaller."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from atomstream.base.saved_fields import array

LARGE = 2**18  # entries; smaller arrays stay in cache, where NumPy's passes cost little


class LowRank:
    """The matrix ``left.T @ right``; a sum with as many terms as rows becomes an array.

    Parameters
    ----------
    left : ndarray of shape (n_terms, n_rows)
    right : ndarray of shape (n_terms, n_columns)
    """

    SAVED = (array("left", "k r"), array("right", "k d"))
    __array_priority__ = 1.0  # numbers on the left leave the product to us

    def __init__(self, left: NDArray, right: NDArray) -> None:
        self.left, self.right = left, right

    @classmethod
    def empty(cls, n_rows: int, n_columns: int) -> LowRank:
        """Return a matrix of zeros, as a product without terms."""
        return cls(np.zeros((0, n_rows)), np.zeros((0, n_columns)))

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix."""
        return self.left.shape[1], self.right.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries."""
        return np.result_type(self.left, self.right)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray:
        return np.asarray(self.left.T @ self.right, dtype=dtype)

    def __mul__(self, scale: float | NDArray) -> LowRank:
        """Return the product times a number, a number for each column, or a column of numbers."""
        if np.ndim(scale) == 1:
            return LowRank(self.left, self.right * scale)
        return LowRank(self.left * np.transpose(scale), self.right)

    __rmul__ = __mul__

    def __add__(self, other: Sums) -> Sums:
        # Factors are kept while they are thinner than the sum is wide.
        if isinstance(other, LowRank) and len(self.left) + len(other.left) < self.shape[0]:
            return LowRank(
                np.concatenate([self.left, other.left]),
                np.concatenate([self.right, other.right], dtype=np.float64),
            )
        return np.asarray(self) + np.asarray(other)

    def __radd__(self, other: Sums) -> Sums:
        return self + other


Sums: TypeAlias = "NDArray | LowRank"  # of a batch, or averages of them


def blend(old: Sums, keep: float, new: Sums, share: float) -> Sums:
    """Return ``keep * old + share * new`` of arrays or products; arrays in one pass."""
    if isinstance(old, LowRank) or isinstance(new, LowRank):
        return keep * old + share * new
    if new.size < LARGE:
        return keep * old + share * np.asarray(new, dtype=np.float64)
    from atomstream._kernels.sums import blend as compiled

    total = np.empty(old.shape)
    compiled(
        total.reshape(-1),
        np.ascontiguousarray(old).reshape(-1),
        keep,
        np.ascontiguousarray(new).reshape(-1),
        share,
    )
    return total
