"""Subspaces by their bases: the nearest orthonormal one, and the geometric median of several."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def median_subspace(bases: NDArray) -> tuple[NDArray, int]:
    """Return a basis of the geometric median of subspaces, and which subspace is nearest.

    The basis is turned as that of the nearest one.

    Parameters
    ----------
    bases : ndarray of shape (n_subspaces, n, r)
        Orthonormal columns.

    References
    ----------
    Yang, Braverman, Zhao, Wang, appendix B: the leading eigenvectors of the median of the
    projectors.
    """
    weights = _median_weights(bases)
    nearest = int(np.argmax(weights))
    stacked = np.concatenate(
        [np.sqrt(w) * basis for w, basis in zip(weights, bases, strict=True)], axis=1
    )
    median = np.linalg.svd(stacked, full_matrices=False)[0][:, : bases.shape[2]]
    # Of all bases of the median subspace the one that is closest to the nearest basis, so that
    # atoms keep their order and sign.
    return median @ orthonormal(median.T @ bases[nearest]), nearest


def _median_weights(bases: NDArray) -> NDArray:
    """Return the weights of projectors in their geometric median (Weiszfeld's iteration)."""
    r = bases.shape[2]
    shared = np.array([[np.linalg.norm(one.T @ other) ** 2 for other in bases] for one in bases])
    # Weiszfeld iterations: a geometric median is the mean with weights of one over the distances.
    weights = np.full(len(bases), 1 / len(bases))
    for _ in range(200):
        # |sum w P - P_l|^2 from the inner products of the projectors.
        distances = np.sqrt(
            np.maximum(weights @ shared @ weights - 2 * shared @ weights + r, 1e-12)
        )
        new = (1 / distances) / (1 / distances).sum()
        if np.abs(new - weights).max() < 1e-10:
            break
        weights = new
    return weights


def orthonormal(matrix: NDArray) -> NDArray:
    """Return the nearest matrix with orthonormal columns."""
    # The polar factor from a small eigenproblem; where columns nearly depend on each other its
    # square root loses half of the digits, so a singular value decomposition is taken.
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    if values[0] > 1e-8 * values[-1]:
        return matrix @ (vectors / np.sqrt(values)) @ vectors.T
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ right
