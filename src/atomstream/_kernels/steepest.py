"""Exact codes of many rows under one Gram matrix, entry by entry, by the steepest edge.

The entry that becomes free next is the one that lowers the objective most when all free entries are
solved for with it, not the one with the largest slope: where atoms are alike that takes far
fewer steps. What each atom adds to the free ones is known from the orthogonal rows of their
triangular factor, which are kept over all atoms.
"""

import numpy as np

from atomstream._kernels.certificate import duality_gap
from atomstream._kernels.cholesky import solve_transposed
from atomstream._kernels.compile import inlined, kernel
from atomstream._kernels.support import combine, copy, fresh_gradient, noise, scales

DEPENDENT = 1e-10  # of an atom's square must be new for its entry to be free beside others
TURNS = 3  # the first with a raised l1; the others where rounding has kept a code from its gap


@kernel
def encode(codes, residual, samples, problem, gap, limits):  # type: ignore[no-untyped-def]
    """Minimise h G h' / 2 - h c + l1 |h|_1 + l2 |h|^2 / 2 over low <= h <= high for each row c.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes inside the bounds; overwritten. All arrays are float64.
    residual : ndarray of shape (n_samples,)
        Receives the certified duality gaps; infinity where the steps did not end, with the code
        that it began with.
    samples : (linear, energy)
        Products of samples with atoms, and of samples with themselves.
    problem : (gram, penalty, bound)
        Products of atoms with atoms; (l1, l2, low, high), both bounds 0 or infinite; `DualBound`.
    gap : float
        A row whose code has this certified gap is left.
    limits : (n_steps, rounding, raised)
        Entries that may come and go, relative rounding of ``linear``, and the l1 of the first turn,
        for samples of length one, where that is larger.

    References
    ----------
    Lawson, Hanson (1974), chapter 23, for the way; Goldfarb, Reid (1977), "A practicable
    steepest-edge simplex algorithm", and Rebollo-Neira, Lowe (2002), "Optimized orthogonal matching
    pursuit approach", for the choice.
    """
    (linear, energy), (gram, penalty, bound) = samples, problem
    r, (curvature, _, root) = len(gram), scales(gram, penalty[1])
    lines, marks, most = np.empty((8, r)), np.empty((3, r), np.int64), min(r, limits[0])
    h, slope, rest, side, given = lines[0], lines[1], lines[2], lines[3], marks[0]
    face = (marks[1], lines[4], np.empty((most, r)), np.empty((most, most)), side)
    work = (lines[5], lines[6], lines[7], marks[2])
    for i in range(len(codes)):
        sample, residual[i] = (linear[i], energy[i], limits[1]), np.inf
        copy(h, codes[i])
        for turn in range(TURNS):
            l1 = penalty[0] if turn > 0 else max(penalty[0], limits[2] * np.sqrt(energy[i]))
            model = (gram, (l1, penalty[1], penalty[2], penalty[3]), (curvature, root))
            n_given = _begin(h, slope, rest, side, given, sample, curvature)
            size, at, new, waits = np.int64(0), np.int64(0), np.int64(-1), np.int64(0)
            for _ in range(limits[0]):
                if at < n_given:
                    new = given[at]
                    at += 1
                    if rest[new] <= DEPENDENT * curvature[new]:
                        h[new], new = 0.0, np.int64(-1)
                if new >= 0 and waits == 0:
                    size = _free(new, slope, rest, model, face, size, work)
                    new = new if h[new] == 0 else np.int64(-1)
                if at < n_given:
                    continue
                gone = _walk(h, new, waits, face, size, work)
                if gone >= 0:
                    left = np.int64(face[0][gone])
                    size = _bind(gone, slope, rest, face, size)
                    if left == new or (waits and rest[new] <= DEPENDENT * curvature[new]):
                        break
                    new, waits = (new if waits else np.int64(-1)), np.int64(0)
                    continue
                new = np.int64(-1) if waits else _choose(slope, rest, side, sample, model)
                if new < 0:
                    break
                waits = np.int64(rest[new] <= DEPENDENT * curvature[new])
            fresh_gradient(h, slope, sample, model, work)
            certified = np.inf if new >= 0 else duality_gap(h, slope, sample, penalty, bound)
            if certified <= gap:
                residual[i] = certified
                copy(codes[i], h)
            if new >= 0 or certified <= gap:
                break


@inlined
def _begin(h, slope, rest, side, given, sample, curvature):  # type: ignore[no-untyped-def]
    """Write the state of a code of zeros; list the entries that are not, and return their number.

    ``slope`` is that of the fit, downhill; ``rest`` what of each atom's square the free ones do not
    explain, infinite for those themselves.
    """
    n_given, length = np.int64(0), 0.0
    for k in range(h.size):
        slope[k], rest[k], side[k] = sample[0][k], curvature[k], 0.0
        length += abs(h[k])
    for k in range(h.size if length > 0 else 0):
        side[k], given[n_given] = 1.0 if h[k] > 0 else -1.0, k
        n_given += h[k] != 0
    return n_given


@inlined
def _walk(h, new, waits, face, size, work):  # type: ignore[no-untyped-def]
    """Move to the minimiser on the support, or to the first zero; return the place that is at zero.

    Where the new entry ``waits``, since its atom depends on the free ones, mass moves to it from
    them instead, which leaves the fit as it is.
    """
    (support, share, rows, factor, side), goal = face, work[0]
    for a in range(size):
        goal[a] = rows[a, new] if waits else share[a]
    solve_transposed(factor, size, goal)
    length, gone = (np.inf if waits else 1.0), -1
    for a in range(size):
        k = support[a]
        if waits:
            goal[a] = h[k] - side[new] * goal[a]
        away = h[k] - goal[a]
        if away * side[k] > 0 and h[k] / away <= length:
            length, gone = h[k] / away, a
    for a in range(0 if length == np.inf else size):
        k = support[a]
        h[k] = goal[a] if gone < 0 else h[k] + length * (goal[a] - h[k])
    if gone >= 0:
        h[support[gone]] = 0.0
        if waits:
            h[new] = side[new] * length
    return gone


@inlined
def _choose(slope, rest, side, sample, model):  # type: ignore[no-untyped-def]
    """Return the entry whose freedom lowers the objective most, -1 if none does; note its side.

    Gains are compared as in `descent.pick`.
    """
    _, (l1, _, low, high), (curvature, root) = model
    unit, enough = 1 / sample[1] if sample[1] > 0 else 1.0, noise(sample)
    # Without l1 an atom that depends on the free ones has no slope of its own.
    least = DEPENDENT if l1 > 0 else np.inf
    above, below = l1 if high > 0 else np.inf, l1 if low < 0 else np.inf
    index_bits = np.int32(1)
    while index_bits < slope.size:
        index_bits = np.int32(2 * index_bits + 1)
    top = np.int32(0)
    for k in range(slope.size):
        slack = max(max(slope[k] - above, -slope[k] - below) - enough * root[k], 0.0)
        square = rest[k] if rest[k] > DEPENDENT * curvature[k] else least * curvature[k]
        gain = np.float32(slack * slack * unit / square)
        top = max(top, (gain.view(np.int32) & ~index_bits) | np.int32(k))
    if top <= index_bits:
        return np.int64(-1)
    new = np.int64(top & index_bits)
    side[new] = 1.0 if slope[new] > 0 else -1.0
    return new


@inlined
def _free(new, slope, rest, model, face, size, work):  # type: ignore[no-untyped-def]
    """Append an entry to the support; return its size."""
    gram, (l1, l2, _, _), _ = model
    (support, share, rows, factor, side), values, index = face, work[1], work[3]
    row = rows[size]
    copy(row, gram[new])
    row[new] += l2
    for b in range(size):
        factor[size, b] = rows[b, new]
        values[b], index[b] = -rows[b, new], b
    combine(row, rows, index, values, size)
    inverse = 1 / np.sqrt(row[new])
    value = (slope[new] - l1 * side[new]) * inverse
    support[size], share[size], factor[size, size] = new, value, inverse
    for j in range(row.size):
        row[j] *= inverse
        rest[j] -= row[j] * row[j]
        slope[j] -= row[j] * value
    rest[new] = np.inf
    return size + 1


@inlined
def _bind(gone, slope, rest, face, size):  # type: ignore[no-untyped-def]
    """Take the entry at a place of the support out of it; return its size."""
    support, share, rows, factor, _ = face
    rest[support[gone]] = 0.0
    for c in range(gone, size - 1):
        k = support[c] = support[c + 1]
        one, two = rows[c], rows[c + 1]
        length = np.sqrt(one[k] * one[k] + two[k] * two[k])
        cosine, sine = one[k] / length, two[k] / length
        for j in range(one.size):
            one[j], two[j] = cosine * one[j] + sine * two[j], cosine * two[j] - sine * one[j]
        share[c], share[c + 1] = (
            cosine * share[c] + sine * share[c + 1],
            cosine * share[c + 1] - sine * share[c],
        )
    last = rows[size - 1]
    for j in range(last.size):
        rest[j] += last[j] * last[j]
        slope[j] += last[j] * share[size - 1]
    for a in range(gone, size - 1):
        k = support[a]
        for b in range(a):
            factor[a, b] = rows[b, k]
        factor[a, a] = 1 / rows[a, k]
    return size - 1
