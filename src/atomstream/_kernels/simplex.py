"""Exact codes on the simplex: moves of mass between entries, Newton steps that keep the sum."""

import numpy as np

from atomstream._kernels.cholesky import solve
from atomstream._kernels.compile import inlined, kernel, part
from atomstream._kernels.constants import EPS, MIN_OBJECTIVE
from atomstream._kernels.support import (
    free_entries,
    fresh_gradient,
    grow,
    leave,
    move,
    noise,
    scales,
)

END_SHARE = 0.1  # picks of a round end at this part of the round's first gain


@kernel
def encode(codes, residual, samples, problem, accuracy, limits):  # type: ignore[no-untyped-def]
    """Minimise h G h' / 2 - h c + l2 |h|^2 / 2 over the h >= 0 of one sum for each row c.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes on the simplex; overwritten. All arrays are float64.
    residual : ndarray of shape (n_samples,)
        Receives the certified duality gaps.
    samples : (linear, energy)
        Products of samples with atoms, and of samples with themselves.
    problem : (gram, penalty)
        Products of atoms with atoms; (l1, l2, total): l1 is constant and counts in the objective
        only, ``total`` is the sum of the codes.
    accuracy : (violation, gap)
        A row is left as soon as one of the two is reached; a violation is here the root of the gap.
    limits : (max_rounds, rounding)
        Rounds of moves and Newton steps that a row may take, relative rounding of ``linear``.
    """
    (linear, energy), (gram, penalty) = samples, problem
    r, l2 = len(gram), penalty[1]
    bounds = (0.0, l2, 0.0, np.inf)
    gradient, ones = np.empty(r), np.empty(r)
    work = (np.empty(r), np.empty(r), np.empty(r), np.empty(r, np.int64))
    face = (np.empty(r, np.int64), np.empty(r, np.bool_), np.empty((r, r)))
    model = (gram, bounds, scales(gram, l2))
    # Steps keep the sum, so a constant added to all products changes none, but atoms that are only
    # affinely independent become independent.
    raised = gram + (np.trace(gram) / r + 1e-300)
    lifted = (raised, bounds, scales(raised, l2))
    for i in range(len(codes)):
        h, sample = codes[i], (linear[i], energy[i], limits[1])
        fresh_gradient(h, gradient, sample, model, work)
        size, factored, stuck, gap = free_entries(h, bounds, face), np.int64(0), False, np.inf
        for _ in range(limits[0]):
            n_picks, size = _pick(h, gradient, sample, model, face, size)
            size, factored = leave(h, bounds, face, size, factored)
            size = grow((h, gradient, sample), lifted, face, size, factored, work)
            size = factored = _newton(h, gradient, model, face, size, work, ones)
            h *= penalty[2] / h.sum()
            # A running gradient drifts, and so does the sum.
            fresh_gradient(h, gradient, sample, model, work)
            gap = _gap(h, gradient, sample, penalty)
            if gap <= accuracy[1] or gap <= accuracy[0] * accuracy[0] or (stuck and n_picks == 0):
                break
            stuck = n_picks == 0
        residual[i] = gap


@inlined
def _gap(h, gradient, sample, penalty):  # type: ignore[no-untyped-def]
    """Return by how much the best vertex beats h in the linear model, over the objective."""
    l1, _, total = penalty
    inner, products, least = 0.0, 0.0, np.inf
    for k in range(h.size):
        inner += h[k] * gradient[k]
        products += h[k] * sample[0][k]
        least = min(least, gradient[k])
    if not np.isfinite(inner + sample[1]):
        return np.inf
    objective = max(
        0.5 * (sample[1] + inner - products) + l1 * total, 0.5 * MIN_OBJECTIVE * sample[1]
    )
    rounding = EPS * (sample[1] + abs(products) + abs(inner))
    return (max(inner - total * least, 0.0) + rounding) / objective if objective > 0 else 0.0


@part
def _pick(h, gradient, sample, problem, face, size):  # type: ignore[no-untyped-def]
    """Move mass from the entry with the largest slope to the one with the smallest, repeatedly."""
    gram, l2, root = problem[0], problem[1][1], problem[2][2]
    support, inside, _ = face
    level = noise(sample)
    enough = level
    for n_picks in range(2 * h.size):
        giver, taker = support[0], 0
        for a in range(size):
            k = support[a]
            # Ties are not for rounding to break.
            if h[k] > 0 and gradient[k] > gradient[giver] + level * root[k]:
                giver = k
        for k in range(h.size):
            if gradient[k] < gradient[taker] - level * root[k]:
                taker = k
        slope = gradient[giver] - gradient[taker]
        if slope <= 0:  # equal up to rounding
            return n_picks, size
        curvature = gram[giver, giver] + gram[taker, taker] - 2 * gram[giver, taker] + 2 * l2
        change = h[giver] if slope >= h[giver] * curvature else slope / curvature
        gain = np.sqrt(max(change * (slope - 0.5 * change * curvature), 0.0))
        if gain <= enough:
            return n_picks, size
        if n_picks == 0:
            enough = max(enough, END_SHARE * gain)
        for j in range(h.size):
            gradient[j] += change * (gram[taker, j] - gram[giver, j])
        gradient[taker] += l2 * change
        gradient[giver] -= l2 * change
        h[taker] += change
        h[giver] = 0.0 if change == h[giver] else h[giver] - change
        if not inside[taker]:
            inside[taker] = True
            support[size] = taker
            size += 1
    return 2 * h.size, size


@part
def _newton(h, gradient, problem, face, size, work, ones):  # type: ignore[no-untyped-def]
    """Minimise over the support, the sum kept; entries at zero leave. Return its size."""
    support, (step, _, change, _) = face[0], work
    while size > 1:
        for a in range(size):
            step[a], ones[a] = -gradient[support[a]], 1.0
        solve(face[2], size, step)
        solve(face[2], size, ones)
        lean, weight = 0.0, 0.0
        for a in range(size):
            lean += step[a]
            weight += ones[a]
        length, blocked = 1.0, -1
        for a in range(size):
            step[a] -= ones[a] * lean / weight
            if h[support[a]] + step[a] <= 0 and h[support[a]] <= -length * step[a]:
                length, blocked = -h[support[a]] / step[a], a
        for a in range(size):
            k = support[a]
            change[a] = -h[k] if a == blocked else max(length * step[a], -h[k])
            h[k] += change[a]
        move(gradient, problem[0], problem[1][1], support, change, size)
        if blocked < 0:
            break
        size, _ = leave(h, problem[1], face, size, size)
    return size
