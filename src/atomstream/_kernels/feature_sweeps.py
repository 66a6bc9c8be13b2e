"""Sweeps over atoms whose features have Gram matrices of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from atomstream._kernels.compile import inlined, kernel

Form = tuple[float, float, float, float, float, float]
BISECTIONS = 80
MIN_CURVATURE = 1e-9  # of an atom's largest: in features that were hardly seen it stays in place


def sweep_by_feature(
    atoms: NDArray,
    grams: NDArray,
    cross: NDArray,
    penalty: Form,
    damping: float,
    free: NDArray,
    n_sweeps: int,
) -> None:
    """Minimise the surrogate over each atom in turn, in place.

    Parameters
    ----------
    atoms : ndarray of float64 of shape (n_components, n_features)
    grams : ndarray of shape (n_blocks, n_components, n_components)
        As in `atomstream.memory.by_feature`.
    cross : ndarray of shape (n_components, n_features)
    penalty : (l1, l2, low, high, radius, total)
    damping : float
    free : ndarray of int
        The atoms that may change.
    n_sweeps : int
    """
    columns, goal = np.ascontiguousarray(atoms.T), np.ascontiguousarray(cross.T, np.float64)
    size = -(-len(columns) // len(grams))
    if penalty[4] < np.inf or penalty[5] > 0:
        _sweep_tied(columns, grams, goal, penalty, damping, free, (n_sweeps, size))
    else:
        _sweep_columns(columns, grams, goal, penalty[:4], damping, free, (n_sweeps, size))
    atoms[:] = columns.T


@kernel
def _sweep_columns(columns, grams, cross, penalty, damping, free, limits):  # type: ignore[no-untyped-def]
    """Sweep feature by feature: their problems have nothing in common."""
    (l1, l2, low, high), (n_sweeps, size) = penalty, limits
    for f in range(len(columns)):
        column, gram = columns[f], grams[f // size]
        for _ in range(n_sweeps):
            moved = 0.0
            for j in free:
                curvature = gram[j, j] + damping + l2
                if gram[j, j] <= 0:
                    continue
                slope = cross[f, j] + gram[j, j] * column[j]
                for k in range(column.size):
                    slope -= gram[j, k] * column[k]
                best = (max(slope - l1, 0.0) + min(slope + l1, 0.0)) / curvature
                best = min(max(best, low), high)
                moved += abs(best - column[j])
                column[j] = best
            if moved == 0:
                break


@kernel
def _sweep_tied(columns, grams, cross, penalty, damping, free, limits):  # type: ignore[no-untyped-def]
    """Sweep atom by atom, each on a ball or a simplex, where features have curvatures apart."""
    n_sweeps, size = limits
    n_features = len(columns)
    slope, curvature = np.empty(n_features), np.empty(n_features)
    for _ in range(n_sweeps):
        for j in free:
            top = 0.0
            for f in range(n_features):
                column, gram = columns[f], grams[f // size]
                curvature[f] = gram[j, j] + damping
                top = max(top, gram[j, j])
                slope[f] = cross[f, j] + gram[j, j] * column[j]
                for k in range(column.size):
                    slope[f] -= gram[j, k] * column[k]
            if top <= 0:
                continue
            for f in range(n_features):
                lacking = max(MIN_CURVATURE * (top + damping) - curvature[f], 0.0)
                curvature[f] += lacking
                slope[f] += lacking * columns[f, j]
            _minimise(slope, curvature, penalty)
            for f in range(n_features):
                columns[f, j] = slope[f]


@inlined
def _minimise(slope, curvature, penalty):  # type: ignore[no-untyped-def]
    """Replace ``slope`` s by the minimiser of c u^2 / 2 - s u + penalty on a ball or a simplex.

    The multiplier of the constraint is found by bisection: the size of the minimiser falls with it.
    """
    l1, l2, _, _, radius, total = penalty
    above, below = 0.0, 0.0
    for f in range(slope.size):
        c = curvature[f] + l2
        if total > 0:
            below = max(below, abs(slope[f]) + total * c)
        else:
            slope[f] = max(slope[f] - l1, 0.0) + min(slope[f] + l1, 0.0)
            below = max(below, abs(slope[f]))
    if total > 0:
        above = -below
    else:
        below *= np.sqrt(slope.size) / radius
        if _size(slope, curvature, penalty, 0.0) <= radius:
            below = 0.0
    for _ in range(BISECTIONS):
        if above >= below:
            break
        middle = 0.5 * (above + below)
        if _size(slope, curvature, penalty, middle) > (total if total > 0 else radius):
            above = middle
        else:
            below = middle
    found = 0.0
    for f in range(slope.size):
        slope[f] = _entry(slope[f], curvature[f], penalty, below)
        found += slope[f]
    if total > 0:
        for f in range(slope.size):
            slope[f] *= total / found if found > 0 else 1.0


@inlined
def _size(slope, curvature, penalty, multiplier):  # type: ignore[no-untyped-def]
    """Return the sum of the entries on a simplex, the length in a ball."""
    total, squares = 0.0, 0.0
    for f in range(slope.size):
        entry = _entry(slope[f], curvature[f], penalty, multiplier)
        total += entry
        squares += entry * entry
    return total if penalty[5] > 0 else np.sqrt(squares)


@inlined
def _entry(slope, curvature, penalty, multiplier):  # type: ignore[no-untyped-def]
    """Return the entry of the minimiser at a multiplier of the constraint."""
    _, l2, low, high, _, total = penalty
    if total > 0:
        return max((slope - multiplier) / (curvature + l2), 0.0)
    return min(max(slope / (curvature + l2 + multiplier), low), high)
