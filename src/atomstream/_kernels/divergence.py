"""Sweeps over codes under Kullback-Leibler, entry by entry."""

import numpy as np

from atomstream._kernels.compile import inlined, kernel

MIN_FITTED = 1e-100  # what stands for 0 in a reconstruction: its square is still a number
LONG_FALL = 0.1  # of an entry: a fall by more may go too far, and is looked at again
MAX_STEPS = 3  # steps of an entry at most


@kernel
def sweep(codes, stored, atoms, totals, still, fitted):  # type: ignore[no-untyped-def]
    r"""Minimise the divergence of each row over each entry of its code in turn, in place.

    With the other entries as they are, the slope over entry k is :math:`a - p` with the sum a of
    the atom, by the weights of the entries, and :math:`p = \sum_j x_j d_{kj} / y_j`, of derivative
    :math:`-q`. The reciprocal of p is concave in the entry, so the pole :math:`p^2 / (q\,(\delta +
    p/q))`, which has its value and its derivative at 0, is a bound: the step :math:`\delta = (p -
    a)\,p / (q a)` to where it equals a never goes beyond the minimum upwards. Downwards it may, but
    by less than Newton's, and a step upwards follows where it was a long one.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Not below zero. All arrays are float64.
    stored : (indptr, indices, values)
        Of the samples, zeros left out.
    atoms : ndarray of shape (n_components, n_features)
    totals : ndarray of shape (n_samples or 1, n_components)
        Sums of the atoms by the weights of the entries of each sample, or of all samples.
    still : ndarray of bool of shape (n_samples or 1, n_components)
        Entries that stay, of each sample or of all samples.
    fitted : ndarray of shape (indptr[-1] - indptr[0],)
        Receives the reconstruction of the stored values.
    """
    indptr, indices, values = stored
    n_components, n_features = atoms.shape
    own = np.empty((n_components, n_features))
    for i in range(len(codes)):
        first, size = indptr[i], indptr[i + 1] - indptr[i]
        x, code = values[first : first + size], codes[i]
        y = fitted[first - indptr[0] : first - indptr[0] + size]
        there = atoms
        if size < n_features:
            there = own
            for k in range(n_components):
                for f in range(size):
                    own[k, f] = atoms[k, indices[first + f]]
        _reconstruct(code, there, y)
        for k in range(n_components):
            row, total = there[k], totals[i % len(totals), k]
            if still[i % len(still), k] or total <= 0:
                continue
            for _ in range(MAX_STEPS):
                pull, curvature = 0.0, 0.0
                for f in range(size):
                    share = row[f] / y[f]
                    ratio = x[f] * share
                    pull += ratio
                    curvature += ratio * share
                entry = code[k]
                # The slope is the total less a sum of poles; the pole of the same value and slope
                # is met where it says, which is never beyond the minimum on the way up.
                goal = 0.0
                if curvature > 0:
                    goal = max(entry + (pull - total) / curvature * (pull / total), 0.0)
                move = goal - entry
                code[k] = goal
                for f in range(size):
                    y[f] = max(y[f] + move * row[f], MIN_FITTED)
                if -move <= LONG_FALL * entry:
                    break


@inlined
def _reconstruct(code, atoms, y):  # type: ignore[no-untyped-def]
    """Write the reconstruction of one row on the features at the beginning of the atoms."""
    y[:] = 0.0
    for k in range(len(code)):
        row, entry = atoms[k], code[k]
        if entry > 0:
            for f in range(y.size):
                y[f] += entry * row[f]
    for f in range(y.size):
        y[f] = max(y[f], MIN_FITTED)
