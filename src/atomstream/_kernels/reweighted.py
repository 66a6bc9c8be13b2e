"""Robust codes of rows one by one: reweighted least squares, then what is left after trimming."""

import numpy as np

from atomstream._kernels.cholesky import append, solve
from atomstream._kernels.compile import inlined, kernel

SWEEPS_PER_SOLVE = 4  # sweeps find the support, and crawl where atoms are alike
MIN_PIVOT = 1e-10  # of the diagonal; entries below depend on the others and are left to sweeps
NORMAL = 1.4826  # standard deviations of a normal variable in its median absolute value
WIDE_DEVIATIONS, FALL = 8.0, 0.7  # deviations at which an entry counts a quarter, and how they fall
N_HARD = 2  # last fits, with entries beyond the threshold dropped
DEVIATIONS = 3.0  # in a threshold, or nearly: moves are compared with a scale
FAR_DEVIATIONS = 3.0  # as of `losses.robust_scales`


@kernel
def encode(codes, X, seen, atoms, penalty, limits):  # type: ignore[no-untyped-def]
    """Code rows with outliers, in place.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes inside the bounds; overwritten. All arrays are float64.
    X : ndarray of shape (n_samples, n_features)
    seen : ndarray of bool of shape (n_samples, n_features)
        What was observed.
    atoms : ndarray of shape (n_components, n_features)
    penalty : (l1, l2, low, high)
    limits : (n_falls, fall, n_trims, n_sweeps, small, least, deviations)
        Reweightings, what the floor is multiplied by from one to the next, trims, sweeps of
        coordinate descent for each, the share of the floor below which moves end the sweeps, the
        least threshold, and the deviations of the row's own errors that may exceed it.
    """
    n_falls, fall, n_trims, n_sweeps, small, least, deviations = limits
    r, d = atoms.shape
    gram, linear, weighted = np.empty((r, r)), np.empty(r), np.empty((r, d))
    work = (gram, linear, weighted, np.empty((r, r)), np.empty(r), np.empty(r, np.int64))
    weights, errors, sizes = np.empty(d), np.empty(d), np.empty(d)
    for i in range(len(codes)):
        h, x, there = codes[i], X[i], seen[i]
        for f in range(d):
            weights[f] = 1.0 if there[f] else 0.0
        floor = 0.0
        for turn in range(n_falls + n_trims + 1):
            if turn:
                scale = _errors(errors, sizes, h, x, there, atoms)
                tiny = 1e-12 * (np.abs(x).max() + 1e-300)
                if turn <= n_falls:
                    floor = scale if turn == 1 else max(fall * floor, 0.5 * scale)
                    bound = max(floor, tiny)
                    for f in range(d):
                        weights[f] = bound / max(errors[f], bound) if there[f] else 0.0
                else:
                    bound = max(least, deviations * scale)
                    last = turn > n_falls + n_trims - N_HARD
                    # Weights that fall smoothly bring entries back that would be dropped for good.
                    floor = WIDE_DEVIATIONS * scale if turn == n_falls + 1 else FALL * floor
                    wide = max(floor, least if least > 0 else bound, tiny)
                    for f in range(d):
                        weights[f] = 0.0
                        if there[f] and last:
                            weights[f] = 1.0 if errors[f] <= max(bound, tiny) else 0.0
                        elif there[f]:
                            weights[f] = 1 / (1 + (errors[f] / wide) ** 2) ** 2
                    bound /= DEVIATIONS
            else:
                bound = np.abs(x).mean()
            _fit(h, x, weights, atoms, penalty, work, n_sweeps, small * bound)


@inlined
def _errors(errors, sizes, h, x, there, atoms):  # type: ignore[no-untyped-def]
    """Write the absolute errors; return their robust scale."""
    r, d = atoms.shape
    for f in range(d):
        errors[f] = x[f]
    for k in range(r):
        if h[k] != 0:
            for f in range(d):
                errors[f] -= h[k] * atoms[k, f]
    n = 0
    for f in range(d):
        errors[f] = abs(errors[f])
        if there[f]:
            sizes[n] = errors[f]
            n += 1
    if not n:
        return 0.0
    limit, kept = FAR_DEVIATIONS * NORMAL * np.median(sizes[:n]), 0
    for f in range(n):
        if sizes[f] <= limit:
            sizes[kept] = sizes[f]
            kept += 1
    return NORMAL * np.median(sizes[:kept])


@inlined
def _fit(h, x, weights, atoms, penalty, work, n_sweeps, least):  # type: ignore[no-untyped-def]
    """Minimise the weighted sum of squares and the penalty by sweeps and Newton steps."""
    gram, linear, weighted, factor, step, inside = work
    l1, l2, low, high = penalty
    r, d = atoms.shape
    for k in range(r):
        total = 0.0
        for f in range(d):
            weighted[k, f] = weights[f] * atoms[k, f]
            total += weighted[k, f] * x[f]
        linear[k] = total - l1
        for j in range(k + 1):
            total = 0.0
            for f in range(d):
                total += weighted[k, f] * atoms[j, f]
            gram[k, j] = total
            gram[j, k] = total
    for k in range(r):
        gram[k, k] += l2
    # l1 on negative codes pushes the other way.
    for sweep in range(1, n_sweeps + 1):
        largest = 0.0
        for k in range(r):
            if gram[k, k] <= 0:
                continue
            rest = linear[k] + gram[k, k] * h[k]
            for j in range(r):
                rest -= gram[k, j] * h[j]
            if rest < 0:
                rest = min(rest + 2 * l1, 0.0)
            best = min(max(rest / gram[k, k], low), high)
            move = abs(best - h[k]) * np.sqrt(gram[k, k] / max(d, 1))
            largest = max(largest, move)
            h[k] = best
        if largest <= least:
            return
        if sweep % SWEEPS_PER_SOLVE == 0:
            _solve_inside(h, gram, linear, penalty, (factor, step, inside))


@inlined
def _solve_inside(h, gram, linear, penalty, work):  # type: ignore[no-untyped-def]
    """Solve for the entries inside their bounds; one that meets a bound on the way stays there."""
    factor, step, inside = work
    l1, _, low, high = penalty
    r = len(h)
    for _ in range(r):
        n = 0
        for k in range(r):
            if h[k] == 0 or h[k] <= low or h[k] >= high:
                continue
            for c in range(n):
                factor[n, c] = gram[k, inside[c]]
            least = MIN_PIVOT * gram[k, k]
            if append(factor, n, gram[k, k], least) > least:
                inside[n] = k
                step[n] = linear[k] if h[k] > 0 else linear[k] + 2 * l1
                for j in range(r):
                    step[n] -= gram[k, j] * h[j]
                n += 1
        solve(factor, n, step)
        share, first, edge = 1.0, -1, 0.0
        for c in range(n):
            k = inside[c]
            wall = low if step[c] < 0 else high
            # l1 has a kink at zero.
            if l1 > 0 and step[c] * h[k] < 0:
                wall = max(low, 0.0) if step[c] < 0 else min(high, 0.0)
            if abs(step[c]) * share > abs(wall - h[k]):
                share, first, edge = abs(wall - h[k]) / abs(step[c]), k, wall
        for c in range(n):
            h[inside[c]] += share * step[c]
        if first < 0:
            return
        h[first] = edge
