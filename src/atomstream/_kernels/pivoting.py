"""Exact codes of many rows under one Gram matrix, by block principal pivoting, eight rows abreast.

Sweeps of coordinate descent guess which entries are free. Then, round by round, all rows solve for
their free entries at once, and what came out infeasible changes sides. The systems of eight rows
are factored together, entry by entry, so that the processor's vectors run across rows.
"""

from __future__ import annotations

import numpy as np

from atomstream._kernels.certificate import duality_gap, minimiser
from atomstream._kernels.compile import inlined, kernel
from atomstream._kernels.lanes import LANES, lack, scale, spread
from atomstream._kernels.support import combine, noise, scales

MOST = 128  # free entries of a row; larger systems fill vectors by themselves
N_ROUNDS = 12
SPARE = 3  # rounds in which all infeasible entries change sides though their number does not fall
DEPENDENT = 1e-11  # squared pivot, relative: atoms too much alike for this way


@kernel
def encode(codes, residual, samples, problem, gap, limits):  # type: ignore[no-untyped-def]
    """Minimise h G h' / 2 - h c + l1 |h|_1 + l2 |h|^2 / 2 over low <= h <= high for each row c.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes inside the bounds; overwritten. All arrays are float64.
    residual : ndarray of shape (n_samples,)
        Receives the certified duality gaps; infinity where rounds did not end, with the code that
        the sweeps ended at.
    samples : (linear, energy)
        Products of samples with atoms, and of samples with themselves.
    problem : (gram, penalty, bound)
        Products of atoms with atoms; (l1, l2, low, high); `DualBound`.
    gap : float
        A row whose code has this certified gap is left.
    limits : (n_sweeps, n_rounds, rounding)
    """
    (linear, energy), (gram, penalty, bound) = samples, problem
    n, r = codes.shape
    model = (gram, penalty, scales(gram, penalty[1]))
    side, count = np.zeros((n, r), np.int8), np.zeros((n, 3), np.int64)
    gradient, work = np.empty((LANES, r)), (np.empty(r), np.empty(r, np.int64))
    rows, n_rows = np.empty(n, np.int64), 0
    most = min(r, MOST)
    factor = np.empty(((most + 1) * (most + 2) // 2, LANES))
    listed, size = np.zeros((most + 1, LANES), np.int64), np.zeros(LANES, np.int64)
    point, sound = np.empty((LANES, r)), np.empty(LANES, np.bool_)
    for i in range(n):
        residual[i] = np.inf
        if energy[i] == 0 and penalty[2] <= 0 <= penalty[3]:
            codes[i], residual[i] = 0.0, 0.0
            continue
        sample = (linear[i], energy[i], limits[2])
        slope = gradient[0]
        _gradient(codes[i], slope, sample, model, work)
        _sweep(codes[i], slope, model, limits[0])
        count[i, 0], count[i, 1], count[i, 2] = _sides(codes[i], side[i], penalty), r + 1, SPARE
        rows[n_rows] = i
        n_rows += count[i, 0] <= most
    for _ in range(limits[1]):
        if n_rows == 0:
            break
        _by_size(rows, n_rows, count)
        kept = 0
        for first in range(0, n_rows, LANES):
            last = min(first + LANES, n_rows)
            width = count[rows[last - 1], 0]
            _gather(factor, listed, size, (rows, first, last), (codes, side, linear), model, width)
            _factor(factor, width, sound)
            _solve(factor, width)
            for lane in range(last - first):
                i = rows[first + lane]
                sample = (linear[i], energy[i], limits[2])
                if not sound[lane]:
                    continue
                done = _judge(
                    (point[lane], codes[i], gradient[lane]), side[i], count[i], sample,
                    (listed, size, factor, lane, width), model, work
                )
                if done:
                    found = duality_gap(point[lane], gradient[lane], sample, penalty, bound)
                    if found <= gap:
                        codes[i], residual[i] = point[lane], found
                    continue
                rows[kept] = i
                kept += count[i, 0] <= most
        n_rows = kept


@inlined
def _gradient(h, gradient, sample, model, work):  # type: ignore[no-untyped-def]
    values, index = work
    size = 0
    for k in range(h.size):
        gradient[k] = model[1][1] * h[k] - sample[0][k]
        if h[k] != 0:
            index[size], values[size] = k, h[k]
            size += 1
    combine(gradient, model[0], index, values, size)


@inlined
def _sweep(h, gradient, model, n_sweeps):  # type: ignore[no-untyped-def]
    gram, (l1, l2, low, high), (curvature, inverse, _) = model
    for _ in range(n_sweeps):
        for k in range(h.size):
            best = minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high)
            change = best - h[k]
            if change != 0:
                row = gram[k]
                for j in range(h.size):
                    gradient[j] += change * row[j]
                gradient[k] += change * l2
                h[k] = best


@inlined
def _sides(h, side, penalty):  # type: ignore[no-untyped-def]
    """Say which entries are free (1 and -1: by their sign; 2: where l1 has no kink)."""
    l1, _, low, high = penalty
    size = 0
    for k in range(h.size):
        free = h[k] != 0 and low < h[k] < high
        side[k] = 0
        if free:
            side[k] = 2 if l1 == 0 else (1 if h[k] > 0 else -1)
        size += free
    return size


@inlined
def _by_size(rows, n_rows, count):  # type: ignore[no-untyped-def]
    """Sort rows by the number of their free entries: rows abreast cost as much as the largest."""
    for a in range(1, n_rows):
        row = rows[a]
        b = a
        while b > 0 and (count[rows[b - 1], 0] > count[row, 0]):
            rows[b] = rows[b - 1]
            b -= 1
        rows[b] = row


@inlined
def _gather(factor, listed, size, group, state, model, width):  # type: ignore[no-untyped-def]
    """Write the systems of a group of rows side by side, the right-hand sides as their last rows."""
    (rows, first, last), (codes, side, linear) = group, state
    gram, (l1, l2, _, _), _ = model
    for lane in range(LANES):
        n = 0
        if first + lane < last:
            i = rows[first + lane]
            for k in range(side.shape[1]):
                if side[i, k] != 0:
                    listed[n, lane] = k
                    n += 1
        size[lane] = n
        at = 0
        for a in range(n):
            row = gram[listed[a, lane]]
            for b in range(a):
                factor[at + b, lane] = row[listed[b, lane]]
            at += a
            factor[at, lane] = row[listed[a, lane]] + l2
            at += 1
        for a in range(n, width):
            for b in range(a):
                factor[at + b, lane] = 0.0
            at += a
            factor[at, lane] = 1.0
            at += 1
        for a in range(width):
            factor[at + a, lane] = 0.0
        if n > 0:
            i = rows[first + lane]
            for a in range(n):
                k = listed[a, lane]
                sign = side[i, k]
                value = linear[i, k]
                if sign != 2:
                    value -= l1 * sign
                factor[at + a, lane] = value


@inlined
def _factor(factor, width, sound):  # type: ignore[no-untyped-def]
    """Factor eight systems by Cholesky, 1 / L[c, c] on the diagonal; the last row is solved for."""
    for lane in range(LANES):
        sound[lane] = True
    row = 0
    for a in range(width + 1):
        at = 0
        for c in range(a):
            lack(factor, row, at, c)
            scale(factor, row + c, at + c, 0)
            at += c + 1
        if a < width:
            least = factor[row + a].copy()
            lack(factor, row, row, a)
            for lane in range(LANES):
                pivot = factor[row + a, lane]
                if pivot <= DEPENDENT * least[lane]:
                    sound[lane] = False
                    pivot = 1.0
                factor[row + a, lane] = 1 / np.sqrt(pivot)
        row += a + 1


@inlined
def _solve(factor, width):  # type: ignore[no-untyped-def]
    """Solve the transposed systems in place, in the last row."""
    last = width * (width + 1) // 2
    for c in range(width - 1, -1, -1):
        at = c * (c + 1) // 2
        scale(factor, last + c, at + c, 0)
        spread(factor, last, at, c)


@inlined
def _judge(place, side, count, sample, group, model, work):  # type: ignore[no-untyped-def]
    """Let infeasible entries change sides; return whether there was none."""
    (h, start, gradient), (listed, size, factor, lane, width) = place, group
    gram, (l1, l2, low, high), (curvature, inverse, root) = model
    level, n, wrong, last_wrong = noise(sample), size[lane], 0, -1
    last = width * (width + 1) // 2
    values, index = work
    for k in range(h.size):
        gradient[k] = -sample[0][k]
        h[k] = 0.0
    for a in range(n):
        k = listed[a, lane]
        index[a], values[a] = k, factor[last + a, lane]
        h[k] = values[a]
    combine(gradient, gram, index, values, n)
    for a in range(n):
        k = listed[a, lane]
        gradient[k] += l2 * h[k]
    for k in range(h.size):
        if side[k] != 0:
            bad = (h[k] < 0 and side[k] > 0) or (h[k] > 0 and side[k] == -1)
        else:
            best = minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high)
            bad = abs(best - h[k]) * root[k] > level
        if bad:
            wrong += 1
            last_wrong = k
    if wrong == 0:
        return True
    if wrong < count[1]:
        count[1], count[2] = wrong, SPARE
        all_ = True
    elif count[2] > 0:
        count[2] -= 1
        all_ = True
    else:
        all_ = False
    for k in range(h.size):
        if not all_ and k != last_wrong:
            continue
        if side[k] != 0:
            if (h[k] < 0 and side[k] > 0) or (h[k] > 0 and side[k] == -1):
                side[k] = 0
                count[0] -= 1
        else:
            best = minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high)
            if abs(best - h[k]) * root[k] > level:
                side[k] = 1 if best > h[k] else -1
                count[0] += 1
    return False
