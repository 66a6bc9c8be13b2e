"""The last digits of a code under the sum of absolute errors: vertices of a linear program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from atomstream.core.products import Products
from atomstream.penalties.base import Penalty, kernel_form

__all__ = ["has_vertices", "to_vertices"]

MOVES = 50  # times the number of atoms: what a row may take; most need a few times that number


def has_vertices(penalty: Penalty) -> bool:
    """Return whether the best code is a vertex: no squared penalty, no simplex."""
    _, l2, _, _, _, total = kernel_form(penalty)
    return not l2 and not total


def to_vertices(block: Products, codes: NDArray, penalty: Penalty) -> tuple[NDArray, NDArray]:
    """Return the codes of least absolute error, and where that is certified.

    Parameters
    ----------
    block : Products
        The samples, in float64.
    codes : ndarray of shape (n_samples, n_components)
        Inside the set; not changed.
    penalty : Penalty
        One of which `has_vertices` is true.
    """
    from atomstream._kernels.vertices import descend

    l1, _, low, high, _, _ = kernel_form(penalty)
    X, observed, atoms = block.entries()
    found, certified = codes.copy(), np.zeros(len(codes), bool)
    descend(found, certified, X, observed, atoms, (l1, low, high), MOVES * codes.shape[1])
    return found, certified
