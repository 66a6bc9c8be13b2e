"""Swaps of representatives in convex factorization: which one, if any, a new row replaces.

Names are those of `atomstream.fields.convex.kernel_weights`.
"""

import numpy as np

from atomstream._kernels.compile import part
from atomstream._kernels.support import copy
from atomstream.fields.convex.kernel_weights import NONE, invert_face, settle, slope_of, surrogate

SAFE = 1 - 1e-6  # of a bound, for rounding


@part
def offer(W, V, problem, regions, atom, faces, tol):  # type: ignore[no-untyped-def]
    """Let the row in the last column take the place of a representative where that helps most.

    Returns
    -------
    int
        The place it takes, with W and V as they are then (the last column's weight at that place);
        -1 for none.
    """
    (A, C, K), (places, starts, shared) = problem, regions
    k, last = len(W), len(K) - 1
    first, behind = (0, k) if shared else (atom, atom + 1)  # the atoms that may use the row
    helps = False
    for j in range(first, behind):
        if A[j, j] > 0:
            inner = 0.0
            for n in places[starts[j] : starts[j + 1]]:
                inner += W[j, n] * slope_of(j, n, V, A, C)
            helps = helps or slope_of(j, last, V, A, C) < inner - tol
    if not helps:
        return -1
    old = places[starts[first] : starts[first + 1]].copy()
    wider = _with_last(places, starts, first, behind, last)
    relaxed, lifted = W.copy(), V.copy()
    settle(relaxed, lifted, problem, wider, faces, tol)
    if not relaxed[:, last].any():
        return -1
    for place in old:
        if not relaxed[:, place].any():
            _take(W, V, relaxed, lifted, place, last)
            faces[2][first:behind] = 0
            return place
    chosen = _search((W, V), (relaxed, lifted), problem, (wider, (first, behind)), old, faces, tol)
    faces[2][first:behind] = 0
    return chosen


@part
def _search(now, optimum, problem, region, old, faces, tol):  # type: ignore[no-untyped-def]
    """Try the places of a full support, best first, until a bound rules out all others."""
    (W, V), (relaxed, lifted), (A, C, K), (wider, atoms) = now, optimum, problem, region
    last, (first, behind) = len(K) - 1, atoms
    lowest, best, chosen = surrogate(relaxed, lifted, A, C), surrogate(W, V, A, C) - tol, -1
    bounds = _bounds(relaxed, A, K, wider, atoms, old, faces)
    best_W, best_V, trial, moved = W.copy(), V.copy(), relaxed.copy(), lifted.copy()
    for _ in range(len(old)):
        turn = int(bounds.argmin())
        if lowest + bounds[turn] >= best:
            break
        bounds[turn] = np.inf
        place = old[turn]
        _copy(trial, relaxed)
        _copy(moved, lifted)
        for j in range(first, behind):
            rest = 1 - trial[j, place]
            trial[j, place] = 0.0
            if rest <= NONE:
                trial[j, last] = rest = 1.0
            moved[j] = 0.0
            for n in range(last + 1):
                trial[j, n] /= rest
                for c in range(last + 1 if trial[j, n] != 0 else 0):
                    moved[j, c] += trial[j, n] * K[n, c]
        settle(trial, moved, problem, _without(wider, atoms, place), faces, tol)
        value = surrogate(trial, moved, A, C)
        if value < best:
            best, chosen = value, place
            _copy(best_W, trial)
            _copy(best_V, moved)
    if chosen >= 0:
        _take(W, V, best_W, best_V, chosen, last)
    return chosen


@part
def _bounds(relaxed, A, K, wider, atoms, old, faces):  # type: ignore[no-untyped-def]
    """Return a lower bound on the rise of the objective when a representative leaves.

    Let atom j alone lose column l, whose weight is w. At the minimum no feasible move goes
    downhill, so the objective rises by at least half the quadratic form of A at the move, and by at
    least that with the other atoms where they would like best to be: half of s |d|^2, with 1/s the
    entry of the inverse of A and d the move of the atom. The shortest move of the atom that takes w
    off its column is known in closed form from the inverse of the products of all its columns; of
    atoms that do not use them all nothing is said.
    """
    first, behind = atoms
    bounds = np.zeros(len(old))
    if len(A) > 1:
        stiffness = np.linalg.inv(A + 1e-12 * np.trace(A) * np.eye(len(A)))
    else:
        stiffness = 1 / A
    for j in range(first, behind):
        if A[j, j] <= 0:
            continue
        invert_face(j, relaxed, K, wider[0][wider[1][j] : wider[1][j + 1]], faces)
        inverse, support, size = faces[0][j], faces[1][j], faces[2][j]
        if size < max(2, wider[1][j + 1] - wider[1][j]):
            continue
        sums = np.zeros(size)
        for a in range(size):
            for b in range(size):
                sums[a] += inverse[a, b]
        whole = sums.sum()
        for a in range(size):
            for turn in range(len(old)):
                if old[turn] == support[a]:
                    spread = inverse[a, a] - sums[a] * sums[a] / whole
                    rise = (
                        0.5 * relaxed[j, support[a]] ** 2 / (max(spread, 1e-300) * stiffness[j, j])
                    )
                    bounds[turn] = max(bounds[turn], SAFE * rise)
    return bounds


@part
def _copy(target, source):  # type: ignore[no-untyped-def]
    """Copy a matrix."""
    for i in range(len(target)):
        copy(target[i], source[i])


@part
def _take(W, V, better_W, better_V, place, last):  # type: ignore[no-untyped-def]
    """Put better weights in place, those of the last column at ``place``."""
    _copy(W, better_W)
    _copy(V, better_V)
    for j in range(len(W)):
        W[j, place] = better_W[j, last]
        W[j, last] = 0.0


@part
def _with_last(places, starts, first, behind, last):  # type: ignore[no-untyped-def]
    """Return the regions with the last column added to those of some atoms."""
    k = len(starts) - 1
    wider, starts_wider = np.empty(len(places) + k, np.int64), np.empty(k + 1, np.int64)
    size = 0
    for j in range(k):
        starts_wider[j] = size
        for n in places[starts[j] : starts[j + 1]]:
            wider[size] = n
            size += 1
        if first <= j < behind:
            wider[size] = last
            size += 1
    starts_wider[k] = size
    return wider[:size], starts_wider


@part
def _without(regions, atoms, place):  # type: ignore[no-untyped-def]
    """Return the regions with one column taken out of those of some atoms."""
    places, starts = regions
    k = len(starts) - 1
    fewer, starts_fewer = np.empty(len(places), np.int64), np.empty(k + 1, np.int64)
    size = 0
    for j in range(k):
        starts_fewer[j] = size
        for n in places[starts[j] : starts[j + 1]]:
            if n != place or not atoms[0] <= j < atoms[1]:
                fewer[size] = n
                size += 1
    starts_fewer[k] = size
    return fewer[:size], starts_fewer
