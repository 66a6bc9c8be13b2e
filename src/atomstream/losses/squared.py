"""Squared losses: the Euclidean distance, and that of Mahalanobis."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import Matrix, checked_array
from atomstream.dictionaries.base import Dictionary
from atomstream.dictionaries.low_rank import LARGE
from atomstream.losses.base import Loss, _double


@dataclass(frozen=True)
class Squared(Loss):
    r"""Half the squared Euclidean distance, :math:`\tfrac12 \|x - y\|_2^2`."""

    quadratic: ClassVar[bool] = True
    smoothness: ClassVar[float | None] = 1.0
    exponents: ClassVar[tuple[float, float] | None] = (2.0, 1.0)

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return half the squared distance of each row, in float64."""
        error = X - Y
        return 0.5 * np.einsum("ij,ij->i", error, error).astype(np.float64)

    def sparse_value(self, X: sp.csr_array, codes: NDArray, dictionary: Dictionary) -> NDArray:
        """Return half the squared distance from products alone, in float64: terms nearly cancel."""
        X, codes = X.astype(np.float64), codes.astype(np.float64)
        # |x - h D|^2 / 2 = |x|^2 / 2 - <h, D x> + h G h / 2, which rounding may leave below zero.
        linear = np.einsum("ij,ij->i", codes, dictionary.correlate(X))
        quadratic = np.einsum("ij,ij->i", codes @ dictionary.gram(), codes)
        return np.maximum(0.5 * squared_norms(X) - linear + 0.5 * quadratic, 0)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return ``Y - X``."""
        return Y - X

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return ``Y`` and ``X``, negative entries of which belong to the first part."""
        return Y + np.maximum(-X, 0), np.maximum(X, 0)

    def curvature(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return ones."""
        return np.ones_like(Y)


@dataclass(frozen=True, eq=False)
class Mahalanobis(Loss):
    r"""Half the squared distance in a metric, :math:`\tfrac12 (x - y) A (x - y)^\top`.

    Parameters
    ----------
    A : array-like of shape (n_features, n_features)
        Symmetric and without negative eigenvalues.

    Raises
    ------
    ValueError
        For a matrix that is no metric.
    """

    A: Any

    def __post_init__(self) -> None:
        matrix = np.array(checked_array(self.A, "A"), dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise ValueError(
                f"Mahalanobis needs a finite square matrix A, got one of shape {matrix.shape}."
            )
        if not np.allclose(matrix, matrix.T):
            raise ValueError("Mahalanobis needs a symmetric matrix A; give (A + A.T) / 2.")
        eigenvalues = np.linalg.eigvalsh(matrix)
        # Zero eigenvalues come out slightly negative by rounding.
        if len(eigenvalues) and eigenvalues[0] < -1e-10 * max(eigenvalues[-1], 0):
            raise ValueError(
                "Mahalanobis needs A without negative eigenvalues, "
                f"the smallest is {eigenvalues[0]:.3g}."
            )
        # Parts are frozen, and this one is hashed by its matrix.
        matrix.flags.writeable = False
        object.__setattr__(self, "A", matrix)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mahalanobis) and np.array_equal(self.A, other.A)

    def __hash__(self) -> int:
        return hash(self.A.tobytes())

    @cached_property
    def smoothness(self) -> float:
        """The largest eigenvalue of A."""
        return float(np.linalg.eigvalsh(self.A)[-1])

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the loss of each row, in float64."""
        error = _double(X) - _double(Y)
        return np.maximum(0.5 * np.einsum("ij,ij->i", error @ self.A, error), 0)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return ``(Y - X) A``."""
        return (Y - X) @ self.A.astype(np.result_type(X, Y), copy=False)


def squared_norms(X: Matrix) -> NDArray:
    """Return the squared Euclidean length of each row, float64 of shape (n_samples,)."""
    if sp.issparse(X):
        return np.asarray(abs(X.astype(np.float64)).power(2).sum(axis=1)).ravel()
    if X.size < LARGE or X.dtype == np.float64:
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)
    from atomstream._kernels.sums import squared_norms as compiled

    norms = np.empty(len(X))
    compiled(norms, X)
    return norms
