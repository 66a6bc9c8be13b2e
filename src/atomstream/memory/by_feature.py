r"""Gram matrices of the codes for every feature: what weights of entries and missing ones need.

Where entry f of row i weighs :math:`m_{if}`, feature f has Gram and cross sums of its own,

.. math:: A_f = \sum_i w_i m_{if} h_i^\top h_i, \quad b_f = \sum_i w_i m_{if} x_{if} h_i^\top ,

and the past costs :math:`\sum_f \tfrac12 d_f^\top A_f d_f - b_f^\top d_f` plus a constant, for
every dictionary. Where r^2 d numbers are too many, blocks of features share a matrix: with
:math:`M_i` the largest weight of a block, an entry counts as :math:`M_i`, and its value as the mean
of x and of the reconstruction at hand, with weights m and M - m. That lies above what is minimised
and touches it at the dictionary that the codes were made with.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_BYTES = 1 << 26  # of the matrices; features share them where more would be needed
CHUNK = 1 << 20  # products of codes at a time


def block_size(n_components: int, n_features: int) -> int:
    """Return how many features share a matrix."""
    least = max(1, -(-8 * n_components**2 * n_features // MAX_BYTES))
    return features_per_block(-(-n_features // least), n_features)


def features_per_block(n_blocks: int, n_features: int) -> int:
    """Return how many features share one of so many matrices."""
    return -(-n_features // n_blocks)


def feature_sums(
    X: NDArray, entries: NDArray, codes: NDArray, weights: NDArray, reconstruction: NDArray
) -> tuple[NDArray, NDArray, NDArray]:
    """Return what samples add.

    Parameters
    ----------
    X, entries : ndarray of shape (n_samples, n_features)
        Samples, and what their entries weigh, from 0 to 1.
    codes : ndarray of shape (n_samples, n_components)
    weights : ndarray of shape (n_samples,)
    reconstruction : ndarray of shape (n_samples, n_features)
        At the dictionary that the codes were made with.

    Returns
    -------
    grams : ndarray of shape (n_blocks, n_components, n_components)
    cross : ndarray of shape (n_components, n_features)
    constants : ndarray of shape (n_samples,)
        What the loss of each sample holds besides the dictionary.
    """
    h, m, n_features = codes.astype(np.float64), entries.astype(np.float64), X.shape[1]
    size = block_size(h.shape[1], n_features)
    seen, shares = m * X, m
    constants = 0.5 * (seen * X).sum(axis=1)
    if size > 1:
        shares = np.maximum.reduceat(m, np.arange(0, n_features, size), axis=1)
        filled = (np.repeat(shares, size, axis=1)[:, :n_features] - m) * reconstruction
        seen = seen + filled
        constants += 0.5 * (filled * reconstruction).sum(axis=1)
    cross = (h * weights[:, None]).T @ seen
    return code_products(h, weights[:, None] * shares), cross, constants


def code_products(codes: NDArray, weights: NDArray) -> NDArray:
    """Return the Gram matrix of codes under each column of weights, (n_columns, r, r)."""
    n_components = codes.shape[1]
    sums, size = np.zeros((weights.shape[1], n_components**2)), max(1, CHUNK // n_components**2)
    for start in range(0, len(codes), size):
        some = codes[start : start + size]
        pairs = (some[:, :, None] * some[:, None, :]).reshape(len(some), -1)
        sums += weights[start : start + size].T @ pairs
    return sums.reshape(-1, n_components, n_components)


def blended(one: Any, keep: float, other: Any, share: float) -> NDArray | None:
    """Return the matrices of two holders of ``gram`` and ``grams``, each times a number, summed.

    One without ``grams`` has its ``gram`` for every feature. None comes back where nothing that
    counts has ``grams``.
    """
    if other.grams is None and (one.grams is None or not keep):
        return None
    if not keep:
        return np.asarray(share * other.grams)
    first, second = (it.gram[None] if it.grams is None else it.grams for it in (one, other))
    return np.asarray(keep * first + share * second)


def times(grams: NDArray, atoms: NDArray) -> NDArray:
    """Return the product of every feature's matrix and its entries of the atoms."""
    size = features_per_block(len(grams), atoms.shape[1])
    if size == 1:
        return np.ascontiguousarray(np.matmul(grams, atoms.T[:, :, None])[:, :, 0].T)
    parts = [gram @ atoms[:, k * size : (k + 1) * size] for k, gram in enumerate(grams)]
    return np.concatenate(parts, axis=1)


def energies(grams: NDArray, atoms: NDArray) -> NDArray:
    """Return the sum over features of the matrix' diagonal times the square of the atom."""
    size = features_per_block(len(grams), atoms.shape[1])
    diagonals = np.repeat(np.einsum("fjj->jf", grams), size, axis=1)[:, : atoms.shape[1]]
    return np.einsum("jf,jf,jf->j", diagonals, atoms, atoms)
