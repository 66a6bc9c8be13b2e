"""Exact codes of many rows under one Gram matrix, by block principal pivoting, eight rows abreast.

Greedy coordinate descent guesses which entries are free to move. Then, round by round, every row
solves for its free entries at once, and what came out infeasible changes sides. The systems of
eight rows are solved together, entry by entry, so that the vectors of the processor run across
rows.
"""

import numpy as np

from atomstream._kernels.certificate import duality_gap, minimiser
from atomstream._kernels.compile import inlined, kernel
from atomstream._kernels.descent import FIRST_SHARE, pick
from atomstream._kernels.lanes import LANES, TILE, lack, spread, tile
from atomstream._kernels.support import combine, fresh_gradient, noise, scales

MAX_FREE = 128  # free entries of a row; larger systems fill vectors by themselves
SPARE = 3  # rounds in which all infeasible entries change sides though their number does not fall
ROUGH = 1e-4  # a gap that greedy descent may reach by itself
GAIN_SHARE = 0.1  # entries become free if their gain is at least this part of the largest
FREED_FACTOR = 2  # times the free entries, and a few, may become free in a round
HALVINGS = 10  # of the distance to the largest gain, until they are no more
ALONE = 0.999  # the same for one at a time
DEPENDENT = 1e-11  # of an atom's square must be new for its entry to be free beside others
# Sides of an entry: at zero, at its lower or upper bound, or free: above zero, below, anywhere.
ZERO, LOW, HIGH, PLUS, MINUS, FREE = 0, 1, 2, 3, 4, 5


@kernel
def encode(codes, residual, samples, problem, gap, limits):  # type: ignore[no-untyped-def]
    """Minimise h G h' / 2 - h c + l1 |h|_1 + l2 |h|^2 / 2 over low <= h <= high for each row c.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes inside the bounds; overwritten. All arrays are float64.
    residual : ndarray of shape (n_samples,)
        Receives the certified duality gaps; infinity where the rounds did not end, and NaN where
        too many entries are free, both with the code that greedy descent ended at.
    samples : (linear, energy)
        Products of samples with atoms, and of samples with themselves.
    problem : (gram, penalty, bound)
        Products of atoms with atoms; (l1, l2, low, high); `DualBound`.
    gap : float
        A row whose code has this certified gap is left.
    limits : (n_rounds, rounding)
        Rounds, and relative rounding of ``linear``.

    References
    ----------
    Portugal, Judice, Vicente (1994), "A comparison of block pivoting and interior-point algorithms
    for linear least squares problems with nonnegative variables"; Kim, Park (2011), "Fast
    nonnegative matrix factorization: an active-set-like method and comparisons".
    """
    (linear, energy), (gram, penalty, bound) = samples, problem
    n, r = codes.shape
    most, model = min(r, MAX_FREE), (gram, penalty, scales(gram, penalty[1]))
    # Of each row: the sides; the number of free entries, the fewest infeasible ones, spare rounds.
    sides, counts = np.zeros((n, r), np.int8), np.zeros((n, 3), np.int64)
    work = (np.empty(r), np.empty(r), np.empty(r), np.empty(r, np.int64))
    point, rows, n_rows = (np.empty(r), np.empty(r)), np.empty(n, np.int64), 0
    lines = np.empty(((most + TILE) * (most + TILE + 1), LANES))
    free = np.zeros((most + 1, LANES), np.int64), np.zeros(LANES, np.int64)
    for i in range(n):
        h, gradient, residual[i] = codes[i], point[1], np.inf
        if energy[i] == 0 and penalty[2] <= 0 <= penalty[3]:
            h[:], residual[i] = 0.0, 0.0
            continue
        sample = (linear[i], energy[i], limits[1])
        fresh_gradient(h, gradient, sample, model, work)
        pick(h, gradient, sample, model, FIRST_SHARE)
        if gap >= ROUGH:
            certified = duality_gap(h, gradient, sample, penalty, bound)
            if certified <= gap:
                residual[i] = certified
                continue
        counts[i, 0], counts[i, 1] = _first_sides(h, sides[i], penalty), r + 1
        rows[n_rows] = i
        n_rows += counts[i, 0] <= most
        residual[i] = np.inf if counts[i, 0] <= most else np.nan
    for _ in range(limits[0]):
        if n_rows == 0:
            break
        place, goal = (lines, free, point, work), (bound, gap, limits[1])
        state = (codes, residual, sides, counts)
        n_rows = _round(rows[:n_rows], state, samples, model, goal, place)


@inlined
def _round(rows, state, samples, model, goal, place):  # type: ignore[no-untyped-def]
    """Solve for the free entries of all rows; return how many go on, which are put first."""
    (codes, residual, sides, counts), (lines, free, point, work) = state, place
    kept = 0
    _by_size(rows, counts)
    for first in range(0, len(rows), LANES):
        group = rows[first : first + LANES]
        width = _gather(lines, free, group, (sides, samples[0]), model)
        _solve(lines, width)
        for lane in range(len(group)):
            i = group[lane]
            sample = (samples[0][i], samples[1][i], goal[2])
            found = lines[width * width :, lane], free[0][:, lane], free[1][lane]
            _place(point, found, sides[i], sample, model, work)
            if _exchange(point, found, sides[i], counts[i], sample, model, work[1]):
                certified = duality_gap(point[0], point[1], sample, model[1], goal[0])
                if certified <= goal[1]:
                    residual[i] = certified
                    for k in range(codes.shape[1]):
                        codes[i, k] = point[0][k]
            elif counts[i, 0] <= len(free[0]) - 1:
                rows[kept] = i
                kept += 1
            else:
                residual[i] = np.nan
    return kept


@inlined
def _first_sides(h, side, penalty):  # type: ignore[no-untyped-def]
    """Write the sides that the entries of a code are on; return how many are free."""
    l1, _, low, high = penalty
    size = 0
    for k in range(h.size):
        if h[k] == 0 and (l1 > 0 or low == 0 or high == 0):
            side[k] = ZERO
        elif h[k] <= low:
            side[k] = LOW
        elif h[k] >= high:
            side[k] = HIGH
        else:
            side[k] = (PLUS if h[k] > 0 else MINUS) if l1 > 0 else FREE
            size += 1
    return size


@inlined
def _by_size(rows, counts):  # type: ignore[no-untyped-def]
    """Sort rows by their free entries: eight rows abreast cost as much as the largest of them."""
    for a in range(1, len(rows)):
        row, b = rows[a], a
        while b > 0 and counts[rows[b - 1], 0] > counts[row, 0]:
            rows[b] = rows[b - 1]
            b -= 1
        rows[b] = row


@inlined
def _gather(lines, free, group, state, model):  # type: ignore[no-untyped-def]
    """Write the systems of a group of rows side by side, right-hand sides last; return the width.

    Short systems are filled up with entries that come out zero.
    """
    (listed, sizes), (sides, linear) = free, state
    gram, (l1, l2, low, high), _ = model
    width = 0
    for lane in range(LANES):
        n = 0
        if lane < len(group):
            side = sides[group[lane]]
            for k in range(side.size):
                listed[n, lane] = k
                n += side[k] >= PLUS
        sizes[lane] = n
        width = max(width, n)
    width = TILE * ((width + TILE - 1) // TILE)
    end = width * width
    for lane in range(LANES):
        n = sizes[lane]
        for a in range(n):
            k, at = listed[a, lane], a * width
            row = gram[k]
            for b in range(a):
                lines[at + b, lane] = row[listed[b, lane]]
            lines[at + a, lane] = row[k] + l2
            side, value = sides[group[lane]], linear[group[lane], k]
            if side[k] != FREE:
                value -= l1 if side[k] == PLUS else -l1
            if low != 0 or high < np.inf:
                value -= _held(row, side, low, high)
            lines[end + a, lane] = value
        for a in range(n, width):
            for b in range(a):
                lines[a * width + b, lane] = 0.0
            lines[a * width + a, lane] = 1.0
            lines[end + a, lane] = 0.0
    return width


@inlined
def _held(row, side, low, high):  # type: ignore[no-untyped-def]
    """Return what entries at their bounds contribute to a product."""
    total = 0.0
    for k in range(row.size):
        if side[k] == LOW:
            total += row[k] * low
        elif side[k] == HIGH:
            total += row[k] * high
    return total


@inlined
def _solve(lines, width):  # type: ignore[no-untyped-def]
    """Solve eight systems by Cholesky; solutions replace the right-hand sides."""
    for row in range(0, width, TILE):
        for at in range(0, row + 1, TILE):
            tile(lines, row * width, at * width, at, width, DEPENDENT)
    end = width * width
    for c in range(width):
        lack(lines, end, c * width, c)
    for c in range(width - 1, -1, -1):
        spread(lines, end, c * width, c)


@inlined
def _place(point, found, side, sample, model, work):  # type: ignore[no-untyped-def]
    """Write the code that a solution stands for, and its gradient."""
    h, gradient = point
    (solution, listed, n), (gram, penalty, _), (values, _, _, index) = found, model, work
    for k in range(h.size):
        h[k] = 0.0
        gradient[k] = -sample[0][k]
    for a in range(n):
        index[a], values[a] = listed[a], solution[a]
    if penalty[2] != 0 or penalty[3] < np.inf:
        for k in range(h.size):
            if side[k] == LOW or side[k] == HIGH:
                index[n], values[n] = k, penalty[2] if side[k] == LOW else penalty[3]
                n += 1
    combine(gradient, gram, index, values, n)
    for a in range(n):
        h[index[a]] = values[a]
        gradient[index[a]] += penalty[1] * values[a]


@inlined
def _exchange(point, found, side, count, sample, model, gain):  # type: ignore[no-untyped-def]
    """Let infeasible entries change sides; return whether there was none.

    All do while their number falls, and a few rounds more; then one at a time becomes free.
    """
    (h, gradient), (_, (l1, _, low, high), (curvature, inverse, root)) = point, model
    level, (_, listed, n) = noise(sample), found
    top, wrong = np.int64(0), 0
    for k in range(h.size):
        best = minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high)
        gain[k] = abs(best - h[k]) * root[k]
    for a in range(n):
        k = listed[a]
        least, most = _segment(side[k], low, high)
        if h[k] == 0 and least <= 0 <= most:  # depends on others, so its slope is theirs, nearly
            side[k], gain[k] = ZERO, 0.0
            count[0] -= 1
            continue
        gain[k] = -max(least - h[k], h[k] - most, 0.0) * root[k]
        if -level <= gain[k] < 0:
            h[k] = min(max(h[k], least), most)
    for k in range(h.size):
        top = max(top, np.float64(gain[k]).view(np.int64))
        wrong += abs(gain[k]) > level
    if wrong == 0:
        return True
    if wrong < count[1]:
        count[1], count[2] = wrong, SPARE
    else:
        count[2] -= 1
    most = np.int64(top).view(np.float64)
    enough = max(level, (GAIN_SHARE if count[2] >= 0 else ALONE) * most)
    for _ in range(HALVINGS):
        freed = 0
        for k in range(h.size):
            freed += gain[k] > enough
        if freed <= FREED_FACTOR * (n + TILE):
            break
        enough = 0.5 * (enough + most)
    for k in range(h.size):
        if gain[k] < -level:
            count[0] -= 1
            least, _ = _segment(side[k], low, high)
            side[k] = _bound(side[k], h[k] < least, low, high)
        elif gain[k] > enough:
            count[0] += 1
            side[k] = _freed(side[k], gradient[k], l1, low, high)
    return False


@inlined
def _segment(side, low, high):  # type: ignore[no-untyped-def]
    """Return the bounds of a free entry: those of the set, and zero where l1 has its kink."""
    return (max(low, 0.0) if side == PLUS else low), (min(high, 0.0) if side == MINUS else high)


@inlined
def _bound(side, below, low, high):  # type: ignore[no-untyped-def]
    """Return the side that an entry comes to which has left its segment."""
    if below:
        return LOW if low != 0 and (side != PLUS or low > 0) else ZERO
    return HIGH if high != 0 and (side != MINUS or high < 0) else ZERO


@inlined
def _freed(side, slope, l1, low, high):  # type: ignore[no-untyped-def]
    """Return the side that an entry is on when it leaves zero or a bound."""
    if l1 == 0:
        return FREE
    if side == ZERO:
        return PLUS if slope < 0 else MINUS
    value = low if side == LOW else high
    return PLUS if value > 0 or (value == 0 and side == LOW) else MINUS
