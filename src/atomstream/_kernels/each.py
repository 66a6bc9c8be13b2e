"""Coding problems that have a Gram matrix of their own, row by row."""

from __future__ import annotations

import numpy as np

from atomstream._kernels import active_set, simplex
from atomstream._kernels.compile import kernel


@kernel
def on_intervals(codes, grams, samples, penalty, accuracy, limits):  # type: ignore[no-untyped-def]
    """Minimise h G h' / 2 - h c + l1 |h|_1 + l2 |h|^2 / 2 over low <= h <= high, row by row.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes inside the bounds; overwritten. All arrays are float64.
    grams : ndarray of shape (n_samples, n_components, n_components)
    samples : (linear, energy)
        The rows c, and what rounding is measured against.
    penalty : (l1, l2, low, high)
    accuracy, limits
        As in `active_set.encode`.
    """
    linear, energy = samples
    residual, none = np.empty(1), np.zeros(codes.shape[1])
    for i in range(len(codes)):
        bound = (np.sqrt(np.diag(grams[i])), none, 0.0, 0.0)
        one = slice(i, i + 1)
        problem = (grams[i], penalty, bound)
        active_set.encode(
            codes[one], residual, (linear[one], energy[one]), problem, accuracy, limits
        )


@kernel
def on_simplex(codes, grams, samples, penalty, accuracy, limits):  # type: ignore[no-untyped-def]
    """Minimise the same over nonnegative rows of one sum, in place; ``penalty`` is (l1, l2, total).

    Parameters
    ----------
    codes, grams, samples, accuracy, limits
        As in `on_intervals`; the limits are those of `simplex.encode`.
    """
    linear, energy = samples
    residual = np.empty(1)
    for i in range(len(codes)):
        one = slice(i, i + 1)
        problem = (grams[i], penalty)
        simplex.encode(codes[one], residual, (linear[one], energy[one]), problem, accuracy, limits)
