"""Coordinate descent on the codes of many rows under one Gram matrix."""

from __future__ import annotations

import numpy as np

from atomstream._kernels.compile import kernel


@kernel
def descend(codes, residual, gram, linear, l1, l2, low, high, tolerance, max_sweeps):  # type: ignore[no-untyped-def]
    """Minimise h G h' / 2 - h c + l1 |h|_1 + l2 |h|^2 / 2 over low <= h <= high for each row c, in place.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes inside the bounds; overwritten.
    residual : ndarray of shape (n_samples,)
        Receives the largest violation of each row, relative to the largest entry of its ``linear``.
    gram, linear : ndarray
        Products of atoms with atoms and of samples with atoms.
    l1, l2, low, high, tolerance : float
        Of the type of ``gram``.
    max_sweeps : int
    """
    # Longer than the house rule: split, the algorithm would hide behind its bookkeeping.
    n_samples, n_components = linear.shape
    zero = np.zeros(1, gram.dtype)[0]  # of the type of the data: a literal would turn float32 into float64
    gradient = np.empty(n_components, gram.dtype)
    working = np.empty(n_components, np.int64)
    curvature = np.empty(n_components, gram.dtype)
    inverse = np.zeros(n_components, gram.dtype)
    for k in range(n_components):
        curvature[k] = gram[k, k] + l2
        if curvature[k] > 0:  # a zero atom keeps its starting code: the objective does not depend on it
            inverse[k] = 1 / curvature[k]
    for i in range(n_samples):
        h = codes[i]
        scale = zero
        for k in range(n_components):
            scale = max(scale, abs(linear[i, k]))
        threshold = tolerance * scale
        sweeps = 0
        while True:
            for k in range(n_components):
                gradient[k] = l2 * h[k] - linear[i, k]
            for k in range(n_components):
                if h[k] != 0:
                    for j in range(n_components):
                        gradient[j] += h[k] * gram[k, j]
            worst, n_working = zero, 0
            for k in range(n_components):
                best = _minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high, zero)
                violation = abs(best - h[k]) * curvature[k]
                worst = max(worst, violation)
                if h[k] != 0 or violation > 0:
                    working[n_working] = k
                    n_working += 1
            if worst <= threshold or sweeps >= max_sweeps:
                residual[i] = worst / scale if scale > 0 else 0.0
                break
            while sweeps < max_sweeps:
                sweeps += 1
                worst = zero
                n_kept = 0
                for a in range(n_working):
                    k = working[a]
                    best = _minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high, zero)
                    change = best - h[k]
                    if change != 0:
                        worst = max(worst, abs(change) * curvature[k])
                        h[k] = best
                        for j in range(n_components):
                            gradient[j] += change * gram[k, j]
                        gradient[k] += change * l2
                    if best != 0:  # entries at zero leave until the next look at all of them
                        working[n_kept] = k
                        n_kept += 1
                n_working = n_kept
                if worst <= threshold / 2:
                    break


@kernel
def _minimiser(z, l1, inverse, low, high, zero):  # type: ignore[no-untyped-def]
    """Return the minimiser of c u^2 / 2 - z u + l1 |u| over the bounds, with ``inverse`` = 1/c."""
    shrunk = max(z - l1, zero) + min(z + l1, zero)
    return min(max(shrunk * inverse, low), high)
