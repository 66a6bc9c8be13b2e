"""Orthogonal matching pursuit of many rows, each on the features that were observed."""

import numpy as np

from atomstream._kernels.cholesky import append, solve
from atomstream._kernels.compile import inlined, kernel
from atomstream._kernels.support import copy

DEPENDENT = 1e-8  # part of an atom's square that must be new for it to join the others


@kernel
def pursue(codes, samples, mask, products, atoms, goals, most):  # type: ignore[no-untyped-def]
    """Add the atom that is lacking most and refit, until the squared error meets the row's goal.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Overwritten. All arrays but ``mask`` are float64.
    samples : ndarray of shape (n_samples, n_features)
        0 where an entry was not observed.
    mask : ndarray of bool of shape (n_samples, n_features), or of shape (0, n_features) where all
    were observed
    products : (linear, squares, gram)
        Inner products of samples and atoms, and the squared lengths of the atoms on the features
        observed in each row, both (n_samples, n_components), the latter without rows where all were
        observed; and the inner products of the atoms, (n_components, n_components).
    atoms : (rows, columns)
        The dictionary, and its transpose: loops run along both.
    goals : ndarray of shape (n_samples,)
    most : int
        Atoms that a row may take.
    """
    (linear, squares, gram), (rows, columns) = products, atoms
    n_components, n_features = rows.shape
    face = (np.empty((most, most)), np.empty(most, np.int64), np.empty(most))
    met = np.empty((most, n_components))  # products of the atoms taken with all, where observed
    slope, scale = np.empty(n_components), np.empty(n_components)
    known, listed, rest = np.ones(n_features), np.arange(n_features), np.empty(n_features)
    view, sign = (listed, 0), -1.0
    _scales(scale, np.diag(gram))
    for i in range(len(samples)):
        sample, error, size = samples[i], 0.0, 0
        if len(mask):
            _scales(scale, squares[i])
            view, sign = _listed(listed, known, mask[i])
        for f in range(n_features):
            error += sample[f] * sample[f]
        copy(slope, linear[i])
        enough = max(goals[i], DEPENDENT * DEPENDENT * error)
        while size < most and error > enough:
            pick = _lacking(slope, scale)
            _products(met[size], pick, gram, columns, view, sign)
            if scale[pick] == 0 or not _join(pick, face, size, met):
                break
            size += 1
            error = _refit(face, size, (linear[i], slope), (sample, rest, known), met, rows)
        codes[i] = 0.0
        for b in range(size):
            codes[i, face[1][b]] = face[2][b]


@inlined
def _lacking(slope, scale):  # type: ignore[no-untyped-def]
    """Return the atom whose part of the remainder is largest."""
    pick, most = 0, -1.0
    for k in range(slope.size):
        part = abs(slope[k]) * scale[k]
        if part > most:
            pick, most = k, part
    return pick


@inlined
def _listed(listed, known, observed):  # type: ignore[no-untyped-def]
    """List the features that are fewer: those observed (sign 1), or the others (sign -1)."""
    n_seen = 0
    for f in range(known.size):
        known[f] = 1.0 if observed[f] else 0.0
        n_seen += observed[f]
    seen_are_fewer, n = 2 * n_seen < known.size, 0
    for f in range(known.size):
        listed[n] = f
        n += observed[f] == seen_are_fewer
        if n == known.size:
            break
    return (listed, n), 1.0 if seen_are_fewer else -1.0


@inlined
def _products(met, pick, gram, columns, view, sign):  # type: ignore[no-untyped-def]
    """Write the products of an atom with all on the features observed, by those that are fewer."""
    listed, n = view
    if sign < 0:
        copy(met, gram[pick])
    else:
        met[:] = 0.0
    for a in range(n):
        row = columns[listed[a]]
        value = sign * row[pick]
        for k in range(met.size):
            met[k] += value * row[k]


@inlined
def _join(pick, face, size, met):  # type: ignore[no-untyped-def]
    """Append an atom to factor and support; return whether it is independent of those there."""
    factor, support, _ = face
    for b in range(size):
        factor[size, b] = met[b, pick]
    square = met[size, pick]
    if append(factor, size, square, DEPENDENT * square) <= DEPENDENT * square:
        return False
    support[size] = pick
    return True


@inlined
def _refit(face, size, products, samples, met, rows):  # type: ignore[no-untyped-def]
    """Fit the atoms of the support anew; write the slope, return the squared error."""
    (factor, support, values), (linear, slope), (sample, rest, known) = face, products, samples
    for b in range(size):
        values[b] = linear[support[b]]
    solve(factor, size, values)
    copy(rest, sample)
    copy(slope, linear)
    for b in range(size):
        value, row, shared = values[b], rows[support[b]], met[b]
        for f in range(rest.size):
            rest[f] -= value * row[f]
        for k in range(slope.size):
            slope[k] -= value * shared[k]
    error = 0.0
    for f in range(rest.size):
        error += known[f] * rest[f] * rest[f]
    return error


@inlined
def _scales(scale, squares):  # type: ignore[no-untyped-def]
    """Write one over the lengths of the atoms; 0 where nothing is left of them."""
    for k in range(scale.size):
        scale[k] = 1 / np.sqrt(squares[k]) if squares[k] > DEPENDENT else 0.0
