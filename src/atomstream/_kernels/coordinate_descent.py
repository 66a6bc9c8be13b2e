"""Coordinate descent on the codes of many rows under one Gram matrix, with Newton steps where it is slow."""

from __future__ import annotations

import numpy as np

from atomstream._kernels.compile import kernel

SWEEPS = 25  # sweeps over a working set before a Newton step on the entries inside the bounds


@kernel
def descend(codes, residual, gram, linear, energy, net, tolerance, max_sweeps):  # type: ignore[no-untyped-def]
    """Minimise h G h' / 2 - h c + l1 |h|_1 + l2 |h|^2 / 2 over low <= h <= high for each row c, in place.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes inside the bounds; overwritten.
    residual : ndarray of shape (n_samples,)
        Receives the largest violation of each row in the units of `atomstream.coders.Codes`.
    gram, linear, energy : ndarray
        Products of atoms with atoms, of samples with atoms, of samples with themselves.
    net : (l1, l2, low, high)
        Penalty and bounds, of the type of ``gram``.
    tolerance : float
    max_sweeps : int
    """
    l1, l2, low, high = net
    n_samples, n_components = linear.shape
    zero = np.zeros(1, gram.dtype)[0]  # of the type of the data: a literal would turn float32 into float64
    gradient = np.empty(n_components, gram.dtype)
    working = np.empty(n_components, np.int64)
    factor = np.empty((n_components, n_components), gram.dtype)
    curvature = np.empty(n_components, gram.dtype)
    inverse = np.zeros(n_components, gram.dtype)
    shrink = np.zeros(n_components, gram.dtype)  # 1 / length of each atom
    floor = np.sqrt(np.finfo(gram.dtype).eps)
    for k in range(n_components):
        if gram[k, k] > 0:
            shrink[k] = 1 / np.sqrt(gram[k, k])
        curvature[k] = gram[k, k] + l2
        if curvature[k] > 0:  # a zero atom keeps its starting code: the objective does not depend on it
            inverse[k] = 1 / curvature[k]
    for i in range(n_samples):
        h = codes[i]
        sweeps = 0
        while True:
            _fresh_gradient(gradient, h, gram, linear[i], l2)
            worst, n_working, unexplained = zero, 0, energy[i]
            for k in range(n_components):
                unexplained += h[k] * (gradient[k] - linear[i, k] - l2 * h[k])
                best = _minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high, zero)
                violation = abs(best - h[k]) * curvature[k] * shrink[k]
                worst = max(worst, violation)
                if h[k] != 0 or violation > 0:
                    working[n_working] = k
                    n_working += 1
            if not np.isfinite(unexplained):  # max() drops NaN: a code that overflowed must not pass for optimal
                residual[i] = np.inf
                break
            scale = np.sqrt(max(unexplained, floor * energy[i]))
            threshold = tolerance * scale
            if worst <= threshold or sweeps >= max_sweeps:
                residual[i] = worst / scale if scale > 0 else 0.0
                break
            for _ in range(SWEEPS):
                sweeps += 1
                worst, n_kept = zero, 0
                for a in range(n_working):
                    k = working[a]
                    best = _minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high, zero)
                    change = best - h[k]
                    if change != 0:
                        worst = max(worst, abs(change) * curvature[k] * shrink[k])
                        h[k] = best
                        for j in range(n_components):
                            gradient[j] += change * gram[k, j]
                        gradient[k] += change * l2
                    if best != 0:  # entries at zero leave until the next look at all of them
                        working[n_kept] = k
                        n_kept += 1
                n_working = n_kept
                if worst <= threshold:
                    break
            else:
                _descend_face(h, gradient, gram, l1, l2, low, high, working[:n_working], factor)


@kernel
def _minimiser(z, l1, inverse, low, high, zero):  # type: ignore[no-untyped-def]
    """Return the minimiser of c u^2 / 2 - z u + l1 |u| over the bounds, with ``inverse`` = 1/c."""
    shrunk = max(z - l1, zero) + min(z + l1, zero)
    return min(max(shrunk * inverse, low), high)


@kernel
def _fresh_gradient(gradient, h, gram, linear, l2):  # type: ignore[no-untyped-def]
    """Compute the gradient of the smooth part anew: in float32 a running one drifts."""
    for j in range(h.size):
        gradient[j] = l2 * h[j] - linear[j]
    for k in range(h.size):
        if h[k] != 0:
            for j in range(h.size):
                gradient[j] += h[k] * gram[k, j]


@kernel
def _descend_face(h, gradient, gram, l1, l2, low, high, free, factor):  # type: ignore[no-untyped-def]
    """Minimise over the entries strictly inside the bounds, signs kept, by Newton steps cut at the first bound.

    As in Lawson and Hanson's inner loop: an entry that reaches its bound is set to it and leaves. Every step goes
    downhill, so the objective never rises; ``gradient`` is left behind and must be computed anew.
    """
    n_free = 0
    for a in range(free.size):
        if low < h[free[a]] < high and h[free[a]] != 0:
            free[n_free] = free[a]
            n_free += 1
    zero = 0 * l1
    step = np.empty(n_free, h.dtype)
    while n_free > 0:
        _newton_step(step, h, gradient, gram, l1, l2, free[:n_free], factor)
        length, blocked, bound = 1 + zero, -1, zero
        for a in range(n_free):
            k = free[a]
            least, most = low, high
            if l1 > 0:  # the slope of l1 jumps at 0: signs must not change inside a step
                least, most = (max(low, zero), high) if h[k] > 0 else (low, min(high, zero))
            limit = least if step[a] < 0 else most
            if abs(length * step[a]) > abs(limit - h[k]):
                length, blocked, bound = (limit - h[k]) / step[a], a, limit
        for a in range(n_free):
            k = free[a]
            change = bound - h[k] if a == blocked else length * step[a]
            h[k] += change
            for j in range(h.size):
                gradient[j] += change * gram[k, j]
            gradient[k] += change * l2
        if blocked < 0:
            return
        for a in range(blocked, n_free - 1):
            free[a] = free[a + 1]
        n_free -= 1


@kernel
def _newton_step(step, h, gradient, gram, l1, l2, free, factor):  # type: ignore[no-untyped-def]
    """Solve (G + l2 I + shift) step = -(gradient + l1 sign h) on the free entries by Cholesky.

    The shift is diagonal, at rounding level of each entry. Where atoms depend on each other the step then runs far
    along the direction that costs nothing, downhill (the shifted matrix is definite), and is cut at a bound.
    """
    n_free = free.size
    rounding = 100 * np.finfo(gram.dtype).eps
    for a in range(n_free):
        for b in range(a + 1):
            total = gram[free[a], free[b]]
            if a == b:
                shift = rounding * (total + l2)
                total += l2 + shift
            for c in range(b):
                total -= factor[a, c] * factor[b, c]
            factor[a, b] = np.sqrt(max(total, shift)) if a == b else total / factor[b, b]
    for a in range(n_free):
        k = free[a]
        total = -(gradient[k] + l1 * np.sign(h[k]))
        for b in range(a):
            total -= factor[a, b] * step[b]
        step[a] = total / factor[a, a]
    for a in range(n_free - 1, -1, -1):
        total = step[a]
        for b in range(a + 1, n_free):
            total -= factor[b, a] * step[b]
        step[a] = total / factor[a, a]
