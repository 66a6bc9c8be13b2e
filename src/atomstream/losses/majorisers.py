r"""Power majorisers: upper bounds of a loss in which every entry of codes or atoms stands alone.

For nonnegative data, codes h and atoms D, every divergence of the beta and alpha families and every
robust loss of this library is majorised, around a point of which it knows only the two parts of its
gradient there, by a sum of two powers. With c the current codes of a row (or, with the roles
exchanged, the current atoms), and :math:`g^+ - g^-` the gradient of the loss with respect to them,

.. math:: \sum_k g^+_k c_k^{1-p} \frac{z_k^p}{p} - g^-_k c_k^{1-q} \frac{z_k^q}{q}, \qquad p > q,

(:math:`z^0/0` standing for :math:`\log z`) touches the loss at z = c and lies above it elsewhere.
Terms convex in y are split among the atoms by Jensen's inequality, concave ones replaced by their
tangent, robust ones by the quadratic that touches from above. Without constraints the minimiser is
the multiplicative update
:math:`z = c\,(g^-/g^+)^{1/(p-q)}`; since c and the gradient parts enter through products with
fixed powers of z only, majorisers of many batches add up to one of the same form.

References
----------
Fevotte, Idier (2011), "Algorithms for nonnegative matrix factorization with the beta-divergence",
section 4; Cichocki, Lee, Kim, Choi (2008), "Non-negative matrix factorization with
alpha-divergence"; Zhao, Tan, Xu (2017), for batch multiplicative updates under robust losses.
docs/algorithms/divergences.md.
"""

import numpy as np
from numpy.typing import NDArray

from atomstream.losses.base import Loss
from atomstream.penalties.base import Penalty, kernel_form

HALVINGS = 60
INSIDE = 0.05  # a step into the boundary stops this share of its length before


def exponents_of(loss: Loss) -> tuple[float, float]:
    """Return p and q of a loss, refusing one without a majoriser."""
    if loss.exponents is None:
        raise TypeError(f"{loss!r} has no power majoriser.")
    return loss.exponents


def power_step(
    current: NDArray,
    plus: NDArray,
    minus: NDArray,
    exponents: tuple[float, float],
    penalty: Penalty,
) -> NDArray:
    """Return rows that minimise the majoriser plus the penalty, or at least lower it.

    Exact for sets of intervals and, where p is 1, for the simplex; a step of projected gradient
    else. A strength of the squared penalty is majorised as well.

    Parameters
    ----------
    current : ndarray of shape (n_rows, n_entries)
        Where the majoriser touches; an entry that is 0 stays 0 in sets that allow it.
    plus, minus : ndarray
        The two parts of the gradient there, of the same shape.
    exponents : (p, q)
    penalty : Penalty
        Nonnegative, one that ties no rows together.
    """
    if penalty.couples == "entries":
        return _on_intervals(current, plus, minus, exponents, penalty)
    if penalty.shape is not None and penalty.shape.total and exponents[0] == 1 and not penalty.l2:
        return _on_simplex(current, plus, minus, 1 / (1 - exponents[1]), penalty.shape.total)
    return _downhill(current, plus, minus, exponents, penalty)


def majoriser_curvature(
    exponents: tuple[float, float], plus: float | NDArray, minus: float | NDArray, Y: NDArray
) -> NDArray:
    """Return the second derivative of the majoriser where it touches the loss."""
    p, q = exponents
    return ((p - 1) * plus + (1 - q) * minus) / Y


def times_power(part: NDArray, z: NDArray, exponent: float) -> NDArray:
    """Return ``part * z**exponent``, 0 where ``part`` or z is 0.

    This turns gradients into coefficients and back; entries at zero stay there.
    """
    if exponent == 0:
        return part
    if exponent == 1:
        return part * z
    with np.errstate(divide="ignore", invalid="ignore"):
        # A part that is zero stays zero, also where a negative power of z is infinite.
        product = part / z if exponent == -1 else part * z**exponent
    return product if z.all() else np.where((part > 0) & (z > 0), product, 0)


def power_value(
    z: NDArray, plus: NDArray, minus: NDArray, exponents: tuple[float, float]
) -> NDArray:
    """Return the sum of two powers with coefficients ``plus`` and ``minus``, by entries."""
    p, q = exponents
    if q == 0:
        return times_power(plus, z, p) / p - minus * np.log(np.maximum(z, np.finfo(float).tiny))
    with np.errstate(divide="ignore", invalid="ignore"):
        concave = np.where(minus > 0, minus * z**q / q, 0)
    return plus * z**p / p - concave


def _on_intervals(
    current: NDArray,
    plus: NDArray,
    minus: NDArray,
    exponents: tuple[float, float],
    penalty: Penalty,
) -> NDArray:
    p, q = exponents
    # The penalty joins the convex part. A part of a lower power lies below that of power 2 which
    # touches it here, so one power can serve all.
    if penalty.l1 or penalty.l2:
        plus = plus + penalty.l1 + penalty.l2 * current
        p = max(p, 2.0) if penalty.l2 else p
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        moved = current * _power(minus / plus, 1 / (p - q))
    moved = np.where(np.isnan(moved), current, moved)  # 0/0: the loss does not depend on the entry
    low, high = kernel_form(penalty)[2:4]
    return np.clip(moved, low, high, out=moved)


def _power(ratio: NDArray, exponent: float) -> NDArray:
    if exponent == 1:
        return ratio
    return np.sqrt(ratio) if exponent == 0.5 else ratio**exponent


def _on_simplex(
    current: NDArray, plus: NDArray, minus: NDArray, exponent: float, total: float
) -> NDArray:
    """Find by bisection the multiplier at which the minimisers sum to the total."""
    share = current * _power(minus, exponent)
    sums = share.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (sums / total) ** (1 / exponent)
        # The multipliers at which one entry would have it all.
        alone = np.where(share > 0, (share / total) ** (1 / exponent) - plus, -np.inf)
        low = alone.max(axis=1, keepdims=True)
        high = middle - np.where(share > 0, plus, np.inf).min(axis=1, keepdims=True)
        if not (high - low <= 1e-15 * middle).all():
            for _ in range(HALVINGS):
                guess = 0.5 * (low + high)
                # The sum falls as the multiplier grows: bisection between two multipliers that
                # bracket it.
                above = (share / _power(plus + guess, exponent)).sum(axis=1, keepdims=True) > total
                low, high = np.where(above, guess, low), np.where(above, high, guess)
        moved = np.where(share > 0, share / _power(plus + high, exponent), 0)
        # What bisection leaves of the sum.
        moved *= total / moved.sum(axis=1, keepdims=True)
    return np.where(sums > 0, moved, current)


def _downhill(
    current: NDArray,
    plus: NDArray,
    minus: NDArray,
    exponents: tuple[float, float],
    penalty: Penalty,
) -> NDArray:
    """Take the longest proximal gradient step on the majoriser that goes downhill, row by row."""
    p, q = exponents
    scaled = times_power(plus, current, 1 - p), times_power(minus, current, 1 - q)
    coefficients = [np.where(current > 0, part, 0) for part in scaled]
    with np.errstate(divide="ignore", invalid="ignore"):
        steep = majoriser_curvature(exponents, plus, minus, current)
        steep = np.where(current > 0, steep, 0).max(axis=1)

    def value(rows: NDArray, which: NDArray) -> NDArray:
        """Return the majoriser and the penalty of some of the rows."""
        plus, minus = coefficients[0][which], coefficients[1][which]
        return power_value(rows, plus, minus, exponents).sum(axis=1) + penalty.elastic_net(rows)

    moved, left = current.copy(), np.flatnonzero(steep > 0)
    # Lengths from far too long down by quarters: the first that does not raise the majoriser is
    # taken.
    before, length = value(current, np.arange(len(current))), 64 / np.where(steep > 0, steep, 1)
    for _ in range(HALVINGS):
        if not len(left):
            break
        start = current[left] - length[left, None] * (plus - minus)[left]
        tried = np.concatenate(
            [penalty.prox(row[None], float(length[i])) for i, row in zip(left, start, strict=True)]
        )
        # An entry at zero would stay there forever; between two points the value is lower.
        tried += INSIDE * (current[left] - tried)
        better = value(tried, left) <= before[left]
        moved[left[better]] = tried[better]
        left = left[~better]
        length[left] /= 4
    return moved
