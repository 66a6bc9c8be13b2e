"""Loadings of CP dictionaries: starts, bounds, critical points."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike
from atomstream.estimators._validation import check_lengths, check_matrix
from atomstream.fields.tensors.loadings import Loadings, ModeSets, mode_problem, rank_one
from atomstream.penalties.base import TINY
from atomstream.problem import Batch
from atomstream.updates.reseeding import starting_atoms


def starting_loadings(
    init: Any,
    batch: Batch,
    sizes: Sequence[int],
    n_components: int,
    parts: ModeSets,
    rng: np.random.Generator,
) -> list[NDArray]:
    """Return the transposes of starting loadings, not yet in their sets.

    Parameters
    ----------
    init : {None, "random", "samples"} or list of arrays of shape (I_k, n_components)
        As in `OnlineCPDictionary`.
    batch : Batch
        The first one.
    sizes : sequence of int
        I_1, ..., I_n.
    n_components : int
    parts : ModeSets
    rng : Generator

    Returns
    -------
    list of ndarray of shape (n_components, I_k)
    """
    r: int = n_components
    if init is None or (isinstance(init, str) and init == "random"):
        draw = rng.random if parts.nonnegative else rng.standard_normal
        sets: Any = parts.sets
        return [part.normalize(draw((r, size))) for part, size in zip(sets, sizes, strict=True)]
    if isinstance(init, str):
        near = [
            rank_one(row.reshape(tuple(sizes)), parts)
            for row in starting_atoms(batch, r, "samples", parts, rng)
        ]
        return [np.stack(columns) for columns in zip(*near, strict=True)]
    if len(init) != len(sizes):
        raise ValueError(
            f"init must hold a matrix for each of {len(sizes)} modes, got {len(init)}."
        )
    rows = [check_matrix(U).T for U in init]
    for U, size in zip(rows, sizes, strict=True):
        if U.shape != (r, size):
            raise ValueError(
                f"init must hold matrices of shape (I_k, {r}), {(size, r)} here, got {U.T.shape}."
            )
        check_lengths("init", np.abs(U).max(axis=1))
    return rows


def nearest_loadings(atoms: NDArray, sizes: Sequence[int], parts: Any) -> list[NDArray]:
    """Return the loadings of the rank-one tensors nearest to atoms given as rows."""
    found = [rank_one(row.reshape(sizes), parts) for row in atoms]
    return [np.stack(columns, axis=1) for columns in zip(*found, strict=True)]


def loadings_stationarity(delta: Any, dictionary: Loadings, sets: Any, fixed: int) -> float:
    """Return how far loadings are from a critical point; see `OnlineCPDictionary.stationarity`.

    Parameters
    ----------
    delta : GramDelta
        Sums over samples at their optimal codes.
    dictionary : Loadings
    sets : tuple of Penalty
        One per mode.
    fixed : int
        Number of the first atoms that never change.
    """
    off = size = 0.0
    for mode, part in enumerate(sets):
        gram, cross = mode_problem(dictionary, delta.gram / delta.mass, delta.cross, mode)
        rows = dictionary.matrices[mode].T.astype(np.float64)
        slope = gram @ rows - cross / delta.mass
        moved = part.prox(rows - slope / max(float(np.linalg.eigvalsh(gram)[-1]), TINY), 0.0)
        off += float(((rows - moved)[fixed:] ** 2).sum())
        size += float((rows**2).sum())
    return float(np.sqrt(off / max(size, TINY)))


def check_loadings(components: Sequence[ArrayLike]) -> list[NDArray]:
    """Return loading matrices, refusing those of different ranks and atoms out of all bounds."""
    matrices = [check_matrix(matrix) for matrix in components]
    ranks = {matrix.shape[1] for matrix in matrices}
    if len(ranks) != 1:
        raise ValueError(
            f"components must be matrices with one number of columns, got {sorted(ranks)}."
        )
    with np.errstate(over="ignore"):
        # No entry of a rank-one atom is larger than the product of its loadings' largest.
        largest = np.prod([np.abs(matrix).max(axis=0) for matrix in matrices], axis=0, dtype=float)
    check_lengths("components", largest)
    return matrices


def batch_norm(batch: Batch, n_components: int, n_modes: int) -> float:
    """Return the bound (4.83): a share of the norm for each mode and one for the samples."""
    energy = batch.energy.sum() if batch.weights is None else batch.energy @ batch.weights
    # A batch of zeros bounds nothing: any radius above 0 will do.
    return math.sqrt(n_components) * float(energy) ** (0.5 / (n_modes + 1)) or 1.0
