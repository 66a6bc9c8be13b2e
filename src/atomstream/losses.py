"""What a wrong reconstruction costs: one frozen class per divergence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.dictionaries import Dictionary

__all__ = ["Loss", "Squared", "squared_norms"]


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

    def sparse_value(self, X: Any, codes: NDArray, dictionary: Dictionary) -> NDArray:
        """Return the loss of each sparse row at its code without forming the reconstruction."""
        ...

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the gradient with respect to ``Y``."""
        ...


@dataclass(frozen=True)
class Squared:
    r"""Half the squared Euclidean distance, :math:`\tfrac12 \|x - y\|_2^2`."""

    quadratic: ClassVar[bool] = True
    smoothness: ClassVar[float | None] = 1.0

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return half the squared distance of each row, in float64."""
        error = X - Y
        return 0.5 * np.einsum("ij,ij->i", error, error).astype(np.float64)

    def sparse_value(self, X: Any, codes: NDArray, dictionary: Dictionary) -> NDArray:
        """Return half the squared distance from products alone; in float64, for the terms nearly cancel."""
        X, codes = X.astype(np.float64), codes.astype(np.float64)
        atoms = dictionary.atoms().astype(np.float64)
        linear = np.einsum("ij,ij->i", codes, np.asarray(X @ atoms.T))
        quadratic = np.einsum("ij,ij->i", codes @ (atoms @ atoms.T), codes)
        return np.maximum(0.5 * squared_norms(X) - linear + 0.5 * quadratic, 0)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return ``Y - X``."""
        return Y - X


def squared_norms(X: Any) -> NDArray:
    """Return the squared Euclidean length of each row, float64 of shape (n_samples,)."""
    if sp.issparse(X):
        return np.asarray(abs(X.astype(np.float64)).power(2).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)
