"""Compiled twin of `atomstream.updates.block_coordinate.plain_sweep`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from atomstream._kernels.compile import inlined, kernel

Penalty = tuple[float, float, float, float, float, float]
BLOCK_ATOMS, LARGER_BLOCK_ATOMS = 16, 64  # atoms whose gradients are computed by one matrix product
MANY_ATOMS = 512  # atoms from which on blocks are the larger ones


def sweep(
    atoms: NDArray, gram: NDArray, cross: NDArray, penalty: Penalty, damping: float, fixed: int
) -> None:
    """Minimise the surrogate over each atom in turn, in place.

    Parameters
    ----------
    atoms, gram, cross, damping, fixed
        As in `atomstream.updates.block_coordinate.plain_sweep`; products are formed in the type of
        the atoms.
    penalty : (l1, l2, low, high, radius, total)
        The penalty: its elastic penalty, and the `Shape` of its set.
    """
    gram = gram.astype(atoms.dtype, copy=False)
    size = BLOCK_ATOMS if len(atoms) < MANY_ATOMS else LARGER_BLOCK_ATOMS
    for start in range(fixed, len(atoms), size):
        rows = slice(start, min(start + size, len(atoms)))
        descent = cross[rows].astype(atoms.dtype, copy=False) - gram[rows] @ atoms
        _sweep_block(atoms[rows], np.ascontiguousarray(gram[rows, rows]), descent, damping, penalty)


@kernel
def _sweep_block(atoms, gram, descent, damping, penalty):  # type: ignore[no-untyped-def]
    """Minimise over the atoms of a block in turn; ``descent``, B - AD on its rows, follows."""
    n_atoms, n_features = atoms.shape
    moved = np.empty(n_features, atoms.dtype)
    for j in range(n_atoms):
        if gram[j, j] <= 0:
            continue
        curvature = gram[j, j] + damping
        for f in range(n_features):
            moved[f] = atoms[j, f] + (descent[j, f] - damping * atoms[j, f]) / curvature
        _prox(moved, 1 / curvature, penalty)
        for f in range(n_features):
            change = moved[f] - atoms[j, f]
            atoms[j, f] = moved[f]
            moved[f] = change
        for k in range(j + 1, n_atoms):
            for f in range(n_features):
                descent[k, f] -= gram[k, j] * moved[f]


@inlined
def _prox(row, step, penalty):  # type: ignore[no-untyped-def]
    """Replace a row by its proximal point, as ``prox`` of the sets does."""
    l1, l2, low, high, radius, total = penalty
    threshold = step * l1 if total == 0 else 0.0
    size = 0.0
    for f in range(row.size):
        shrunk = max(row[f] - threshold, 0.0) + min(row[f] + threshold, 0.0)
        shrunk /= 1 + step * l2
        if total == 0:
            shrunk = min(max(shrunk, low), high)
        row[f] = shrunk
        size += shrunk * shrunk
    if size > radius * radius:
        shrink = radius / np.sqrt(size)
        for f in range(row.size):
            row[f] *= shrink
    if total > 0:
        _on_simplex(row, total)


@inlined
def _on_simplex(row, total):  # type: ignore[no-untyped-def]
    """Project a row on the simplex: entries below the level that the others set leave in turn.

    References
    ----------
    Michelot (1986), "A finite algorithm for finding the projection of a point onto the canonical
    simplex of R^n". Without sorting, which takes long to compile.
    """
    top, level, kept, count = row[0], -np.inf, -1, 0
    for f in range(row.size):
        top = max(top, row[f])
    while count != kept:
        kept, count, mass = count, 0, -total
        for f in range(row.size):
            if row[f] - top > level:
                count += 1
                mass += row[f] - top
        level = mass / count
    for f in range(row.size):
        row[f] = max(row[f] - top - level, 0.0)
