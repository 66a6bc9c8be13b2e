"""An order of atoms in which neighbours are alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_TREE_ATOMS = 300  # atoms whose tree is turned so that neighbouring leaves are as near as can be


def by_similarity(atoms: ArrayLike) -> NDArray:
    """Return the numbers of atoms in an order in which neighbours are alike.

    It is that of the leaves of a tree: average linkage of one minus the cosines, or minus their
    absolute values where atoms have both signs, for an atom and its opposite are one.

    Parameters
    ----------
    atoms : array-like of shape (n_atoms, ...)

    Returns
    -------
    ndarray of int of shape (n_atoms,)
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    rows = np.nan_to_num(np.asarray(atoms, np.float64))
    rows = rows.reshape(len(rows), -1)
    if len(rows) < 3:
        return np.arange(len(rows))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    cosines = rows @ rows.T
    cosines = np.abs(cosines) if (rows < 0).any() else cosines
    distances = np.clip(1 - cosines, 0, 2)[np.triu_indices(len(rows), 1)]
    tree = linkage(distances, "average", optimal_ordering=len(rows) <= MAX_TREE_ATOMS)
    order: NDArray = leaves_list(tree)
    return order
