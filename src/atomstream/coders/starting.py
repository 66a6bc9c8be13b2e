"""Starts of the search for codes: weighted least squares, one matrix product for all."""

import numpy as np
from numpy.typing import NDArray

from atomstream.losses import Loss
from atomstream.losses.majorisers import majoriser_curvature
from atomstream.problem.products import Products

RIDGE = 1e-6  # of the least squares, relative to the mean square of the atoms
# Of an even code that every starting entry has at least: what is zero stays zero.
MIN_START_SHARE = 0.02
FILLED = 4  # rounds of least squares and filling in, where entries are missing


def least_squares(atoms: NDArray, loss: Loss) -> NDArray:
    """Return the matrix, (n_features, n_components), of the weighted least-squares codes.

    A feature's weight is the curvature of the majoriser at the mean of the atoms: a property of the
    dictionary, so that a code does not depend on the other rows of a batch.
    """
    rows = atoms.astype(np.float64, copy=False)
    middle = rows.mean(axis=0, keepdims=True)
    # Curvatures grow as a power of 1 / y: a feature that no atom has would weigh without bound.
    middle = np.maximum(middle, 1e-3 * middle.mean() + np.finfo(np.float64).tiny)
    weights = np.ones_like(middle)
    if loss.exponents is not None:
        plus, minus = loss.split(middle, middle)
        weights = weights * majoriser_curvature(loss.exponents, plus, minus, middle)
    weighted = rows * (weights / weights.max())
    gram = weighted @ rows.T
    # Atoms may be alike; the ridge is far below what codes are then refined to.
    gram[np.diag_indices_from(gram)] += RIDGE * gram.trace() / len(gram) + np.finfo(np.float64).tiny
    return (weighted.T @ np.linalg.inv(gram)).astype(atoms.dtype)


def starting_codes(block: Products, projector: NDArray) -> NDArray:
    """Return the least-squares codes, no entry below a small share of an even code."""
    samples, atoms = block.sums()
    sizes = np.broadcast_to(atoms.sum(axis=1, keepdims=True), samples.shape)
    # Atoms without any entry here explain nothing, however large their code.
    even = np.divide(samples, sizes, out=np.zeros_like(samples), where=sizes > 0)
    # The codes, all alike, under which atoms and sample have the same sum.
    codes = np.repeat(even, atoms.shape[1], axis=1)
    for _ in range(1 if block.is_complete else FILLED):
        codes = np.maximum(block.project(projector, codes), MIN_START_SHARE * even)
    return codes
