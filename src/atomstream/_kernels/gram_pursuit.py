"""Matching pursuit of many rows by the products of the atoms alone, all entries observed."""

import numpy as np

from atomstream._kernels.cholesky import append, drop, solve_transposed
from atomstream._kernels.compile import inlined, kernel
from atomstream._kernels.support import combine, copy

DEPENDENT = 1e-6  # part of an atom's square that must be new for it to join the others
NOTHING = 1e-7  # of the length of a sample: what the atoms explain of the remainder ends here
CHUNK = 64  # atoms among which one is looked for one by one


@kernel
def pursue(codes, linear, energy, gram, limits):  # type: ignore[no-untyped-def]
    """Add the atom that explains most of the remainder, and fit all anew, until there are enough.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Overwritten.
    linear : ndarray of shape (n_samples, n_components)
        Products of samples and atoms.
    energy : ndarray of shape (n_samples,)
        Squared lengths of the samples.
    gram : ndarray of shape (n_components, n_components)
        Products of the atoms, of the type of ``linear``.
    limits : (most, nonnegative, renewed)
        Atoms that a row may take; whether codes have no negative entry; whether the remainder is
        computed anew after each atom, or atoms are taken by their products with the sample.

    References
    ----------
    Rubinstein, Zibulevsky, Elad (2008), "Efficient implementation of the K-SVD algorithm using
    batch orthogonal matching pursuit". Nonnegative codes: atoms whose entry would become negative
    leave, as in Lawson and Hanson (1974), chapter 23.
    """
    (most, nonnegative, renewed), r = limits, len(gram)
    scales, slope, weights = np.zeros_like(gram[0]), np.empty_like(gram[0]), np.empty_like(gram[0])
    scale, vectors = np.empty_like(scales), (np.empty(most), np.empty(most), np.empty(most))
    face = (np.empty((most, most)), np.empty(most, np.int64), vectors)
    values = vectors[2]
    for k in range(r):
        if gram[k, k] > 0:
            scales[k] = 1 / np.sqrt(gram[k, k])
    for i in range(len(codes)):
        copy(slope, linear[i])
        copy(scale, scales)
        size, enough = 0, NOTHING * np.sqrt(energy[i])
        for _ in range(2 * most):
            pick, gain = _largest(slope, scale, nonnegative)
            if gain <= enough:
                break
            scale[pick] = 0.0  # no atom is looked at twice: there is an end
            if not _join(pick, face, size, gram):
                continue
            size = _fit(face, size + 1, size, linear[i], nonnegative)
            if size == most:
                break
            if renewed:
                for a in range(size):
                    weights[a] = -values[a]
                copy(slope, linear[i])
                combine(slope, gram, face[1], weights, size)
        codes[i] = 0.0
        for a in range(size):
            codes[i, face[1][a]] = values[a]


@inlined
def _largest(slope, scale, nonnegative):  # type: ignore[no-untyped-def]
    """Return the atom that explains most of the remainder, and how much."""
    best, where = np.int64(0), 0
    for start in range(0, slope.size, CHUNK):
        top = np.int64(0)
        for k in range(start, min(start + CHUNK, slope.size)):
            # Positive floats are ordered as their bits are, negative ones come out negative.
            part = slope[k] * scale[k]
            top = max(top, np.float64(part if nonnegative else abs(part)).view(np.int64))
        if top > best:
            best, where = top, start
    gain = np.int64(best).view(np.float64)
    for k in range(where, min(where + CHUNK, slope.size)):
        part = slope[k] * scale[k]
        if np.float64(part if nonnegative else abs(part)) == gain:
            return k, gain
    return 0, 0.0


@inlined
def _join(pick, face, size, gram):  # type: ignore[no-untyped-def]
    """Append an atom to factor and support; return whether it is independent of those there."""
    factor, support, (_, _, values) = face
    for b in range(size):
        factor[size, b] = gram[pick, support[b]]
    least = DEPENDENT * gram[pick, pick]
    if append(factor, size, np.float64(gram[pick, pick]), least) <= least:
        return False
    support[size], values[size] = pick, 0.0
    return True


@inlined
def _fit(face, size, n_known, linear, nonnegative):  # type: ignore[no-untyped-def]
    """Fit the atoms of the support anew; those whose entry reaches zero leave. Return its size.

    Half solved, with the factor alone, are the first ``n_known`` entries; they stay as they were.
    """
    factor, support, (half, goal, values) = face
    while size > 0:
        for a in range(n_known, size):
            row, total = factor[a], np.float64(linear[support[a]])
            for b in range(a):
                total -= row[b] * half[b]
            half[a] = total * row[a]
        copy(goal[:size], half)
        solve_transposed(factor, size, goal)
        length, blocked = 1.0, -1
        if nonnegative:
            for a in range(size):
                if goal[a] < 0 and values[a] <= length * (values[a] - goal[a]):
                    length, blocked = values[a] / (values[a] - goal[a]), a
        for a in range(size):
            values[a] += length * (goal[a] - values[a])
        if blocked < 0:
            break
        drop(factor, size, blocked)
        size -= 1
        n_known = blocked
        for a in range(blocked, size):
            support[a], values[a] = support[a + 1], values[a + 1]
    return size
