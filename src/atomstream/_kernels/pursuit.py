"""Orthogonal matching pursuit of many rows, complete or each on the features observed in it."""

from __future__ import annotations

import numpy as np

from atomstream._kernels.cholesky import append, solve
from atomstream._kernels.compile import inlined, kernel

DEPENDENT = 1e-8  # part of an atom's square that must be new for it to join the others


@kernel
def pursue(codes, samples, mask, atoms, goals, most):  # type: ignore[no-untyped-def]
    """Add the atom that is lacking most and refit, until the squared error meets the row's goal.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Overwritten. All arrays but ``mask`` are float64.
    samples : ndarray of shape (n_samples, n_features)
    mask : ndarray of bool of shape (n_samples, n_features), or of shape (0, n_features) where all
    were observed
    atoms : ndarray of shape (n_features, n_components)
        The dictionary, transposed: loops run along atoms.
    goals : ndarray of shape (n_samples,)
    most : int
        Atoms that a row may take.
    """
    n_features, n_components = atoms.shape
    face = (np.empty((most, most)), np.empty(most, np.int64), np.empty(most))
    linear, slope, scale = np.empty(n_components), np.empty(n_components), np.empty(n_components)
    seen, rest = np.arange(n_features), np.empty(n_features)
    n_seen = n_features
    _scales(scale, atoms, seen, n_seen)
    for i in range(len(samples)):
        sample = samples[i]
        if len(mask):
            n_seen = 0
            for f in range(n_features):
                seen[n_seen] = f
                n_seen += mask[i, f]
            _scales(scale, atoms, seen, n_seen)
        error = 0.0
        for a in range(n_seen):
            rest[seen[a]] = sample[seen[a]]
            error += sample[seen[a]] ** 2
        _correlate(linear, atoms, rest, seen, n_seen)
        slope[:] = linear
        size, enough = 0, max(goals[i], DEPENDENT * DEPENDENT * error)
        while size < most and error > enough:
            pick = int(np.argmax(np.abs(slope) * scale))
            if not _join(pick, face, size, scale, atoms, (seen, n_seen)):
                break
            size += 1
            error = _refit(face, size, linear, sample, rest, atoms, (seen, n_seen))
            _correlate(slope, atoms, rest, seen, n_seen)
        codes[i] = 0.0
        for b in range(size):
            codes[i, face[1][b]] = face[2][b]


@kernel
def pursue_complete(codes, linear, energies, gram, goals, most):  # type: ignore[no-untyped-def]
    """Do the same for complete rows, by their products with the atoms alone.

    Errors are differences of squares: exact to rounding of the squared length of a row.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Overwritten. All arrays are float64.
    linear : ndarray of shape (n_samples, n_components)
        Inner products of rows and atoms.
    energies : ndarray of shape (n_samples,)
        Squared lengths of the rows.
    gram : ndarray of shape (n_components, n_components)
        Inner products of the atoms.
    goals, most
        As in `pursue`.
    """
    n_components = len(gram)
    factor, support, values = np.empty((most, most)), np.empty(most, np.int64), np.empty(most)
    slope, scale = np.empty(n_components), np.empty(n_components)
    for k in range(n_components):
        scale[k] = 1 / np.sqrt(gram[k, k]) if gram[k, k] > DEPENDENT else 0.0
    for i in range(len(codes)):
        codes[i] = 0.0
        slope[:] = linear[i]
        size, error = 0, energies[i]
        while size < most and error > goals[i]:
            pick = 0
            for k in range(1, n_components):
                if abs(slope[k]) * scale[k] > abs(slope[pick]) * scale[pick]:
                    pick = k
            square = gram[pick, pick]
            for b in range(size):
                factor[size, b] = gram[pick, support[b]]
            least = DEPENDENT * square
            if scale[pick] == 0 or append(factor, size, square, least) <= least:
                break
            support[size] = pick
            size += 1
            for b in range(size):
                values[b] = linear[i, support[b]]
            solve(factor, size, values)
            error, slope[:] = energies[i], linear[i]
            for b in range(size):
                value, row = values[b], gram[support[b]]
                error -= value * linear[i, support[b]]
                for k in range(n_components):
                    slope[k] -= value * row[k]
        for b in range(size):
            codes[i, support[b]] = values[b]


@inlined
def _join(pick, face, size, scale, atoms, view):  # type: ignore[no-untyped-def]
    """Append an atom to factor and support; return whether it is independent of those there."""
    (factor, support, _), (seen, n_seen) = face, view
    for b in range(size):
        factor[size, b] = 0.0
        for a in range(n_seen):
            factor[size, b] += atoms[seen[a], pick] * atoms[seen[a], support[b]]
    square = 1 / max(scale[pick] ** 2, DEPENDENT * DEPENDENT)
    if scale[pick] == 0 or append(factor, size, square, DEPENDENT * square) <= DEPENDENT * square:
        return False
    support[size] = pick
    return True


@inlined
def _refit(face, size, linear, sample, rest, atoms, view):  # type: ignore[no-untyped-def]
    """Fit the atoms of the support anew; write the remainder, return its squared length."""
    (factor, support, values), (seen, n_seen) = face, view
    for b in range(size):
        values[b] = linear[support[b]]
    solve(factor, size, values)
    error = 0.0
    for a in range(n_seen):
        value = sample[seen[a]]
        for b in range(size):
            value -= values[b] * atoms[seen[a], support[b]]
        rest[seen[a]] = value
        error += value * value
    return error


@inlined
def _correlate(products, atoms, sample, seen, n_seen):  # type: ignore[no-untyped-def]
    """Write the inner products of the atoms with a sample over the features seen."""
    products[:] = 0.0
    for a in range(n_seen):
        row, value = atoms[seen[a]], sample[seen[a]]
        for k in range(products.size):
            products[k] += value * row[k]


@inlined
def _scales(scale, atoms, seen, n_seen):  # type: ignore[no-untyped-def]
    """Write one over the lengths of the atoms on the features seen; 0 where nothing is left."""
    scale[:] = 0.0
    for a in range(n_seen):
        row = atoms[seen[a]]
        for k in range(scale.size):
            scale[k] += row[k] * row[k]
    for k in range(scale.size):
        scale[k] = 1 / np.sqrt(scale[k]) if scale[k] > DEPENDENT else 0.0
