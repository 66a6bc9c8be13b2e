"""What is minimised, without data: a loss, a penalty on the codes, a penalty on the atoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.dictionaries import Rows
from atomstream.losses import Loss
from atomstream.penalties import Penalty

__all__ = ["Objective"]


@dataclass(frozen=True)
class Objective:
    r"""The expected value of :math:`\min_h\, d(x, hD) + P_{codes}(h)`, with :math:`P_{atoms}` on the rows of D.

    For the squared loss on codes with ``l1 = alpha`` and ``l2 = ridge`` this is, per sample,

    .. math:: \tfrac12 \|x - hD\|_2^2 + \alpha \|h\|_1 + \tfrac{ridge}{2} \|h\|_2^2,

    half of eq. (25) of Lyu, Needell and Balzano with :math:`\alpha = \lambda/2` and ridge :math:`= \kappa_2/2`.
    """

    loss: Loss
    codes: Penalty
    atoms: Penalty

    def losses(self, X: Any, codes: NDArray, dictionary: Rows) -> NDArray:
        """Return the loss of each sample at these codes, float64 of shape (n_samples,)."""
        if sp.issparse(X):
            return _squared_by_products(X, codes, dictionary)
        return self.loss.value(X, dictionary.decode(codes))

    def values(self, X: Any, codes: NDArray, dictionary: Rows) -> NDArray:
        """Return the objective of each sample at these codes, float64 of shape (n_samples,)."""
        return self.losses(X, codes, dictionary) + self.codes.value(codes)


def squared_norms(X: Any) -> NDArray:
    """Return the squared Euclidean length of each row, float64 of shape (n_samples,)."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X).astype(np.float64)


def _squared_by_products(X: Any, codes: NDArray, dictionary: Rows) -> NDArray:
    """Return the squared loss of sparse rows from products alone; float64, for the terms nearly cancel."""
    atoms, codes = dictionary.atoms().astype(np.float64), codes.astype(np.float64)
    linear = np.einsum("ij,ij->i", codes, np.asarray(X.astype(np.float64) @ atoms.T))
    quadratic = np.einsum("ij,ij->i", codes @ (atoms @ atoms.T), codes)
    return np.maximum(0.5 * squared_norms(X.astype(np.float64)) - linear + 0.5 * quadratic, 0)
