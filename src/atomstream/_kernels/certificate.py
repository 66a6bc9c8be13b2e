"""Distance of a code from the optimum: certified duality gap, largest violation."""

import numpy as np

from atomstream._kernels.compile import inlined, part
from atomstream._kernels.constants import EPS, MIN_OBJECTIVE, MIN_PENALTY_SHARE


@inlined
def minimiser(z, l1, inverse, low, high):  # type: ignore[no-untyped-def]
    """Return the minimiser of c u^2 / 2 - z u + l1 |u| over the bounds, with ``inverse`` = 1/c."""
    shrunk = max(z - l1, 0.0) + min(z + l1, 0.0)
    return min(max(shrunk * inverse, low), high)


@inlined
def duality_gap(h, gradient, sample, penalty, bound):  # type: ignore[no-untyped-def]
    r"""Return (objective - dual) / objective; twin of `coders.certificates.duality_gap`.

    ``bound`` is its `DualBound`; ``gradient`` is that of the smooth part, ``l2 * h`` included.
    """
    (l1, l2, low, high), (linear, energy, _) = penalty, sample
    top, bottom = np.int64(0), np.int64(0)
    norm1, norm2, products, inner = 0.0, 0.0, 0.0, 0.0
    for k in range(h.size):
        correlation = l2 * h[k] - gradient[k]
        # Positive floats are ordered as their bits are, and maxima of integers are found many at a
        # time.
        top = max(top, np.float64(correlation).view(np.int64))
        bottom = max(bottom, np.float64(-correlation).view(np.int64))
        norm1 += abs(h[k])
        norm2 += h[k] * h[k]
        products += h[k] * linear[k]
        inner += h[k] * correlation
    unexplained = max(energy - products - inner, 0.0)
    cost = l1 * norm1 + 0.5 * l2 * norm2
    objective = max(0.5 * unexplained + cost, 0.5 * MIN_OBJECTIVE * energy)
    if not np.isfinite(norm2 + inner + energy):  # a code that overflowed must not pass for optimal
        return np.inf
    if objective == 0:
        return 0.0
    rounding = EPS * (energy + abs(products) + abs(inner))
    most, fewest = np.int64(top).view(np.float64), np.int64(bottom).view(np.float64)
    open_above, open_below = high == np.inf and most > l1, low == -np.inf and fewest > l1
    best = 0.5 * unexplained + cost  # no objective is below zero
    if l2 > 0 or not (open_above or open_below):
        best = min(best, cost - inner + _conjugate(h, gradient, 1.0, penalty))
    if l1 > 0 and (open_above or open_below):
        scale = l1 / max(most if open_above else 0.0, fewest if open_below else 0.0)
        gap = 0.5 * (1 - scale) * (1 - scale) * unexplained + cost - scale * inner
        best = min(best, gap + _conjugate(h, gradient, scale, penalty))
    elif l2 == 0 and (open_above or open_below):
        best = min(best, _unpenalised(h, gradient, energy, low, high, bound))
    return (max(best, 0.0) + rounding) / objective


@part
def _conjugate(h, gradient, scale, penalty):  # type: ignore[no-untyped-def]
    """Return the convex conjugate of the penalty at the scaled correlations."""
    l1, l2, low, high = penalty
    if l2 == 0:  # an open side counts nothing: the caller scaled until it is feasible
        low, high = (0.0 if low == -np.inf else low), (max(low, 0.0) if high == np.inf else high)
        if low == 0 and high == 0:
            return 0.0
    inverse = 1 / l2 if l2 > 0 else 1e300
    total = 0.0
    for k in range(h.size):
        z = scale * (l2 * h[k] - gradient[k])
        best = minimiser(z, l1, inverse, low, high)
        total += z * best - l1 * abs(best) - 0.5 * l2 * best * best
    return total


@part
def _unpenalised(h, gradient, energy, low, high, bound):  # type: ignore[no-untyped-def]
    """Bound the gap where neither l1 nor l2 nor bounds make the dual finite; see `DualBound`."""
    lengths, slack, square, curvature = bound
    shift, inner, lean = 0.0, 0.0, 0.0
    violation, gap, outside = 0.0, 0.0, 0.0
    reach = np.sqrt(energy)
    for k in range(h.size):
        correlation, value = -gradient[k], h[k]
        bound_ahead = high if correlation > 0 else low
        if np.isfinite(bound_ahead):
            gap += (bound_ahead - value) * correlation
        else:
            gap -= value * correlation
            outside = max(outside, abs(correlation) / lengths[k] if lengths[k] > 0 else 0.0)
        reach += abs(value) * lengths[k]
        if value != bound_ahead:
            violation += correlation * correlation
        if square > 0 and slack[k] > 0:
            shift = max(shift, correlation / slack[k])
            inner += (value - low) * correlation
            lean += (value - low) * slack[k]
    best = gap if outside <= 8 * EPS * reach else np.inf
    if square > 0:
        best = min(best, shift * lean - inner + 0.5 * shift * shift * square)
    if curvature > 0:
        best = min(best, 0.5 * violation / curvature)
    return best


@inlined
def largest_violation(h, gradient, sample, penalty, scales):  # type: ignore[no-untyped-def]
    """Return the largest violation of the optimality conditions; see `Accuracy`."""
    l1, l2, low, high = penalty
    curvature, inverse, root = scales
    linear, energy, rounding = sample
    worst, unexplained, size = np.int64(0), energy, 0.0
    for k in range(h.size):
        best = minimiser(h[k] * curvature[k] - gradient[k], l1, inverse[k], low, high)
        worst = max(worst, np.float64(abs(best - h[k]) * root[k]).view(np.int64))
        unexplained += h[k] * (gradient[k] - linear[k] - l2 * h[k])
        size += abs(h[k])
    # What is left of a row that is explained well is known up to the rounding of its products.
    least = max(MIN_PENALTY_SHARE * l1 * size, max(np.sqrt(EPS), 8 * rounding) * energy)
    scale = np.sqrt(max(unexplained, least))
    violation = np.int64(worst).view(np.float64)
    if not np.isfinite(unexplained):
        return np.inf
    return violation / scale if scale > 0 else 0.0
