"""Codes under the sum of absolute errors: from vertex to vertex of a linear program."""

import numpy as np

from atomstream._kernels.compile import kernel, part
from atomstream._kernels.support import copy

RIGHT = 1e-9  # what a multiplier may be beyond its bounds
# Directions and slopes that are shorter, relative to what they are made of, are none.
MIN_LENGTH = 1e-10


@kernel
def descend(codes, certified, samples, observed, atoms, penalty, most):  # type: ignore[no-untyped-def]
    """Minimise |x - h D|_1 + l1 h over low <= h <= high, row by row.

    A row moves along the projected gradient until an entry of the error or a distance to a bound
    becomes zero where the slope turns, and keeps it at zero from there on. Where it can move no
    more, the constraint with the worst multiplier is let go; with none left the code is optimal.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes inside the bounds; overwritten. All arrays are float64.
    certified : ndarray of bool of shape (n_samples,)
        Overwritten: whether all multipliers show that the code is optimal.
    samples : ndarray of shape (n_samples, n_features)
    observed : ndarray of bool of shape (n_samples, n_features)
    atoms : ndarray of shape (n_components, n_features)
        Of sums about one, so that the multipliers of all constraints have one scale.
    penalty : (l1, low, high)
        Each of shape (n_components,).
    most : int
        Moves that a row may make.
    """
    lengths = np.zeros(atoms.shape[1])
    for k in range(len(atoms)):
        lengths += atoms[k] * atoms[k]
    lengths = np.sqrt(lengths)
    for i in range(len(codes)):
        certified[i] = _descend(codes[i], samples[i], observed[i], atoms, lengths, penalty, most)


@part
def _descend(h, x, observed, atoms, lengths, penalty, most):  # type: ignore[no-untyped-def]
    """Minimise one row in place; return whether its optimality is certified."""
    r, d = atoms.shape
    l1, low, high = penalty
    error = x - h @ atoms
    side, pull = np.empty(d), np.empty(d)  # side: of zero each entry of the error is on
    for f in range(d):
        side[f] = 1.0 if error[f] >= 0 else -1.0
    active = np.empty(r, np.int64)  # entries of the error below d, then bounds of codes
    inactive = np.ones(d + r, np.bool_)
    basis, triangle = np.zeros((r, r)), np.zeros((r, r))  # normals of constraints, orthogonalised
    n_active = np.int64(0)  # a literal would be compiled for apart
    for _ in range(most):
        for f in range(d):
            pull[f] = side[f] if observed[f] and inactive[f] else 0.0
        slope = l1 - atoms @ pull
        size = np.sqrt(slope @ slope) + 1e-300
        inner = basis[:n_active] @ slope
        step = inner @ basis[:n_active] - slope
        step -= (basis[:n_active] @ step) @ basis[:n_active]  # once more, against rounding
        if n_active == r or np.sqrt(step @ step) <= MIN_LENGTH * size:
            worst = _worst_multiplier(triangle, inner, active[:n_active], h, (low, high), d)
            if worst < 0:
                return True
            _release(worst, active[:n_active], inactive, side, inner[worst], d)
            n_active -= 1
            for place in range(worst, n_active):
                _append(active[place], atoms, basis, triangle, place)
            continue
        rate = step @ atoms
        stop, length = _line_search(
            (h, step), (error, rate, side, slope @ step), observed, inactive, lengths, (low, high)
        )
        if stop < 0:
            return False
        _move((h, step), (error, rate, side), observed, inactive, (stop, length), (low, high))
        _append(stop, atoms, basis, triangle, n_active)
        active[n_active] = stop
        inactive[stop] = False
        n_active += 1
    return False


@part
def _move(path, line, observed, inactive, end, bounds):  # type: ignore[no-untyped-def]
    """Follow a step to its end, where one more constraint holds; errors may change sides."""
    (h, step), (error, rate, side), (stop, length) = path, line, end
    d = len(error)
    for f in range(d):
        if observed[f] and inactive[f]:
            error[f] -= length * rate[f]
            if f != stop and error[f] * side[f] < 0:
                side[f] = -side[f]
    h += length * step
    if stop < d:
        error[stop] = 0.0
    else:  # exactly on the bound, whatever rounding left
        h[stop - d] = (bounds[0] if step[stop - d] < 0 else bounds[1])[stop - d]


@part
def _line_search(path, line, observed, inactive, lengths, bounds):  # type: ignore[no-untyped-def]
    """Return the constraint where the slope along a step turns, and how far away it is."""
    (h, step), (error, rate, side, slope), (low, high) = path, line, bounds
    r, d = len(h), len(error)
    wall, at = -1, np.inf
    # Shorter rates are rounding: a bound whose normal depends on the active ones is no wall.
    least = MIN_LENGTH * np.sqrt(step @ step)
    for k in range(r):
        if not inactive[d + k] or abs(step[k]) <= least:
            continue
        room = ((low[k] if step[k] < 0 else high[k]) - h[k]) / step[k]
        if room < at:
            wall, at = d + k, max(room, 0.0)
    times = np.full(d, np.inf)
    for f in range(d):
        if observed[f] and inactive[f] and rate[f] * side[f] > least * lengths[f]:
            times[f] = max(error[f] / rate[f], 0.0)
    for f in np.argsort(times):
        if times[f] >= at:
            break
        slope += 2 * abs(rate[f])
        if slope >= 0:
            return f, times[f]
    return wall, at


@part
def _worst_multiplier(triangle, inner, active, h, bounds, n_entries):  # type: ignore[no-untyped-def]
    """Solve for the multipliers, into ``inner``; return which is worst, -1 where all are right."""
    low, high = bounds
    n_active, worst, excess = len(active), -1, RIGHT
    for j in range(n_active - 1, -1, -1):
        for i in range(j + 1, n_active):
            inner[j] -= triangle[j, i] * inner[i]
        inner[j] /= triangle[j, j]
    for j in range(n_active):
        wrong, k = abs(inner[j]) - 1, active[j] - n_entries
        if k >= 0:
            wrong = -inner[j] if h[k] - low[k] < high[k] - h[k] else inner[j]
        if wrong > excess:
            worst, excess = j, wrong
    return worst


@part
def _release(worst, active, inactive, side, multiplier, n_entries):  # type: ignore[no-untyped-def]
    """Let a constraint go; an entry of the error leaves zero to the side that costs less."""
    left = active[worst]
    inactive[left] = True
    if left < n_entries:
        side[left] = 1.0 if multiplier > 0 else -1.0
    for place in range(worst, len(active) - 1):
        active[place] = active[place + 1]


@part
def _append(constraint, atoms, basis, triangle, place):  # type: ignore[no-untyped-def]
    """Orthogonalise the normal of a constraint to those before it."""
    r, d = atoms.shape
    normal = np.zeros(r)
    if constraint < d:
        copy(normal, atoms[:, constraint])
    else:
        normal[constraint - d] = 1.0
    triangle[:place, place] = 0.0
    for _ in range(2):  # the second time against rounding
        inner = basis[:place] @ normal
        normal -= inner @ basis[:place]
        for j in range(place):
            triangle[j, place] += inner[j]
    length = np.sqrt(normal @ normal)
    triangle[place, place] = length
    copy(basis[place], normal / length)
