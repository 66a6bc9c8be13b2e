"""Coordinate descent on the codes of many rows: in sweeps, or the entry that gains most first."""

import numpy as np

from atomstream._kernels.certificate import largest_violation, minimiser
from atomstream._kernels.compile import inlined, kernel
from atomstream._kernels.support import fresh_gradient, noise, scales

FIRST_SHARE = 0.01  # picks from nothing end at this part of their first gain


@kernel
def encode(codes, swept, samples, problem, violation, limits):  # type: ignore[no-untyped-def]
    """Sweep until violations of the optimality conditions are small; see `active_set.encode`.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes inside the bounds; overwritten. All arrays are float64.
    swept : ndarray of bool of shape (n_samples,)
        Receives whether the sweeps were enough.
    samples : (linear, energy)
        As in `active_set.encode`.
    problem : (gram, penalty)
        As there.
    violation : float
        A row is left as soon as its largest violation is at most this.
    limits : (n_sweeps, rounding)
    """
    (linear, energy), (gram, penalty) = samples, problem
    r = len(gram)
    gradient, working = np.empty(r), np.empty(r, np.int64)
    work = (np.empty(r), gradient, gradient, working)
    model = (gram, penalty, scales(gram, penalty[1]))
    for i in range(len(codes)):
        h, sample = codes[i], (linear[i], energy[i], limits[1])
        if energy[i] == 0 and penalty[2] <= 0 <= penalty[3]:
            h[:] = 0.0
            swept[i] = True
            continue
        fresh_gradient(h, gradient, sample, model, work)
        swept[i] = _sweep(h, gradient, sample, model, violation, limits[0], working)


@inlined
def _sweep(h, gradient, sample, problem, violation, n_sweeps, working):  # type: ignore[no-untyped-def]
    """Run coordinate descent, all entries at every third sweep; return whether that is enough."""
    gram, (l1, l2, low, high), (curvature, inverse, _) = problem
    for _ in range(0, n_sweeps, 2):
        size = 0
        for k in range(h.size):
            working[size] = k
            best = minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high)
            size += (h[k] != 0) | (best != h[k])
        for _ in range(2):
            kept = 0
            for a in range(size):
                k = working[a]
                best = minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high)
                change = best - h[k]
                if change != 0:
                    row = gram[k]
                    for j in range(h.size):
                        gradient[j] += change * row[j]
                    gradient[k] += change * l2
                    h[k] = best
                if best != 0:  # entries at zero leave until the next look
                    working[kept] = k
                    kept += 1
            size = kept
        if largest_violation(h, gradient, sample, problem[1], problem[2]) <= violation:
            return True
    return False


@inlined
def pick(h, gradient, sample, problem, share):  # type: ignore[no-untyped-def]
    """Set the entry that gains most to its best value, again and again; return how often.

    Ends when the next pick gains less than ``share`` of the first. The gain of an entry is the root
    of what the objective loses. Its float32 bits, last bits overwritten by the index, are ordered
    as gains are: one pass of integer maxima finds entry and gain at once, many at a time.
    """
    gram, (l1, l2, low, high), (curvature, inverse, root) = problem
    unit, enough = 1 / np.sqrt(sample[1]) if sample[1] > 0 else 1.0, noise(sample)
    index_bits = np.int32(1)
    while index_bits < h.size:
        index_bits = np.int32(2 * index_bits + 1)
    for n_picks in range(2 * h.size):
        top = np.int32(0)
        for k in range(h.size):
            best = minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high)
            gain = np.float32(abs(best - h[k]) * root[k] * unit)
            top = max(top, (gain.view(np.int32) & ~index_bits) | np.int32(k))
        k = int(top & index_bits)
        best = minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high)
        change = best - h[k]
        loss = abs(change) * root[k]
        if loss <= enough:
            return n_picks
        if n_picks == 0:
            enough = max(enough, share * loss)
        row = gram[k]
        for j in range(h.size):
            gradient[j] += change * row[j]
        gradient[k] += change * l2
        h[k] = best
    return 2 * h.size
