"""The last digits of a code under the sum of absolute errors: vertices of a linear program."""

import numpy as np
from numpy.typing import NDArray

from atomstream.penalties.base import Penalty, kernel_form
from atomstream.problem.products import DenseProducts

MOVES = 50  # times the number of atoms: what a row may take; most need a few times that number


def has_vertices(penalty: Penalty) -> bool:
    """Return whether the best code is a vertex: no squared penalty, no simplex."""
    _, l2, _, _, _, total = kernel_form(penalty)
    return not l2 and not total


def to_vertices(block: DenseProducts, codes: NDArray, penalty: Penalty) -> tuple[NDArray, NDArray]:
    """Return the codes of least absolute error, and where that is certified.

    Parameters
    ----------
    block : DenseProducts
        The samples, in float64.
    codes : ndarray of shape (n_samples, n_components)
        Inside the set; not changed.
    penalty : Penalty
        One of which `has_vertices` is true.
    """
    from atomstream._kernels.vertices import descend

    l1, _, low, high, _, _ = kernel_form(penalty)
    X, observed, atoms = block.entries()
    # The kernel wants atoms of one sum, so that one tolerance fits the multipliers of all.
    sizes = atoms.sum(axis=1)
    # An atom of zeros may take any code: its size does not matter.
    sizes[sizes == 0] = 1
    found, certified = codes * sizes, np.zeros(len(codes), bool)
    scaled = (l1 / sizes, low * sizes, high * sizes)
    most = MOVES * codes.shape[1]
    descend(found, certified, X, observed, atoms / sizes[:, None], scaled, most)
    return np.clip(found / sizes, low, high), certified
