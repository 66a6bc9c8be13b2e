"""Exact codes of many rows under one Gram matrix.

Greedy coordinate descent picks the support entry by entry, and Newton steps are taken on it with a
Cholesky factor that follows it. It ends for all atoms, however much alike: what `pivoting` leaves.
"""

import numpy as np

from atomstream._kernels.certificate import duality_gap, largest_violation
from atomstream._kernels.cholesky import solve
from atomstream._kernels.compile import inlined, kernel
from atomstream._kernels.descent import FIRST_SHARE, pick
from atomstream._kernels.support import (
    downhill,
    free_entries,
    fresh_gradient,
    grow,
    join,
    leave,
    leave_weakest,
    move,
    scales,
)

END_SHARE = 0.3  # picks of a round that starts at a support end at this part of its first gain


@kernel
def encode(codes, residual, samples, problem, accuracy, limits):  # type: ignore[no-untyped-def]
    """Minimise h G h' / 2 - h c + l1 |h|_1 + l2 |h|^2 / 2 over low <= h <= high for each row c.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes inside the bounds; overwritten. All arrays are float64.
    residual : ndarray of shape (n_samples,)
        Receives the certified duality gaps.
    samples : (linear, energy)
        Products of samples with atoms, and of samples with themselves.
    problem : (gram, penalty, bound)
        Products of atoms with atoms; (l1, l2, low, high); `DualBound`.
    accuracy : (violation, gap)
        A row is left as soon as one of the two is reached.
    limits : (max_rounds, rounding)
        Rounds of picks and Newton steps that a row may take, relative rounding of ``linear``.
    """
    (linear, energy), (gram, penalty, bound) = samples, problem
    r = len(gram)
    gradient, model = np.empty(r), (gram, penalty, scales(gram, penalty[1]))
    work = (np.empty(r), np.empty(r), np.empty(r), np.empty(r, np.int64))
    face = (np.empty(r, np.int64), np.empty(r, np.bool_), np.empty((r, r)))
    for i in range(len(codes)):
        h, sample = codes[i], (linear[i], energy[i], limits[1])
        if energy[i] == 0 and penalty[2] <= 0 <= penalty[3]:
            h[:] = 0.0
            residual[i] = 0.0
            continue
        fresh_gradient(h, gradient, sample, model, work)
        size, factored, stuck, gap = free_entries(h, penalty, face), np.int64(0), False, np.inf
        share = END_SHARE if size > 0 else FIRST_SHARE
        for turn in range(limits[0]):
            n_picks = pick(h, gradient, sample, model, share)
            size = join(h, face, size)
            size, factored = leave(h, penalty, face, size, factored)
            size = grow((h, gradient, sample), model, face, size, factored, work)
            size = factored = _newton(h, gradient, sample, model, face, size, work)
            done, gap = _enough(h, gradient, sample, model, bound, accuracy)
            if done or n_picks == 0 or turn % 8 == 7:
                fresh_gradient(h, gradient, sample, model, work)  # a running one drifts
                done, gap = _enough(h, gradient, sample, model, bound, accuracy)
                if done or stuck:
                    break
            stuck, share = n_picks == 0, END_SHARE
        residual[i] = gap


@inlined
def _enough(h, gradient, sample, problem, bound, accuracy):  # type: ignore[no-untyped-def]
    """Return whether the accuracy is reached, and the duality gap."""
    gap = duality_gap(h, gradient, sample, problem[1], bound)
    if gap <= accuracy[1]:
        return True, gap
    if accuracy[0] == 0:
        return False, gap
    return largest_violation(h, gradient, sample, problem[1], problem[2]) <= accuracy[0], gap


@inlined
def _newton(h, gradient, sample, problem, face, size, work):  # type: ignore[no-untyped-def]
    """Minimise over the support, signs kept; entries that reach a bound leave it. Return its size.

    The Newton step is first projected on the bounds, so that many entries may leave at once; should
    that go uphill, it is cut at the first bound instead, as Lawson and Hanson do. A step without a
    bound in its way ends the loop; if it goes uphill, the factor is no good, and the entry that
    depends most on the others stays as it is.
    """
    gram, (l1, l2, low, high), (curvature, _, root) = problem
    support, (step, goal, change, _) = face[0], work
    while size > 0:
        for a in range(size):
            k = support[a]
            step[a] = -(gradient[k] + l1 * np.sign(h[k]))
        solve(face[2], size, step)
        length, blocked, gain, reach = 1.0, -1, 0.0, 0.0
        for a in range(size):
            k = support[a]
            least, most = low, high
            if l1 > 0:  # the slope of l1 jumps at 0
                least, most = (max(low, 0.0), high) if h[k] > 0 else (low, min(high, 0.0))
            goal[a] = min(max(h[k] + step[a], least), most)
            change[a] = goal[a] - h[k]
            reach += abs(change[a]) * root[k]
            gain += change[a] * (0.5 * gradient[k] + l1 * np.sign(h[k]))
            if goal[a] != h[k] + step[a] and change[a] / step[a] <= length:
                length, blocked = change[a] / step[a], a
        move(gradient, gram, l2, support, change, size)
        for a in range(size):
            gain += 0.5 * change[a] * gradient[support[a]]
        taken = downhill(gain, reach, sample)
        for a in range(size):
            if taken or a == blocked:
                h[support[a]] = goal[a]
            elif blocked >= 0:
                h[support[a]] += length * step[a]
        if not taken:  # undoing a move that may have been huge would leave rounding behind
            fresh_gradient(h, gradient, sample, problem, work)
        if blocked >= 0:
            size, _ = leave(h, problem[1], face, size, size)
        elif taken:
            break
        else:
            size = leave_weakest(face, curvature, size)
    return size
