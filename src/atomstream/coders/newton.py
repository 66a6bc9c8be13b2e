"""The last digits of a code: exact minima of quadratic models of the loss, row by row."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.penalties.base import Penalty, kernel_form
from atomstream.problem.products import Products

WITHIN = (0.0, 1e-14)  # accuracy of each quadratic program: violation, gap
MIN_DECREASE = 1e-4  # of the decrease that the slope promises must come true
HALVINGS = 30
REST = 1e-10  # of the size of its terms: a loss below that is measured against it
ROUNDING = 1e-13  # of that size: what the objective is known to


def polish(
    block: Products, codes: NDArray, penalty: Penalty, gap: float, max_steps: int
) -> tuple[NDArray, NDArray]:
    """Take Newton steps, up to the first that promises to gain at most ``gap`` of the objective.

    The curvature of the majoriser serves as second derivative: it is never negative, and it is the
    second derivative itself for the alpha divergences and the beta divergences from 1 to 2. Steps
    are halved until they go downhill.

    Parameters
    ----------
    block : Products
        The samples, in float64.
    codes : ndarray of shape (n_samples, n_components)
        Inside the set; not changed.
    penalty : Penalty
    gap : float
    max_steps : int

    Returns
    -------
    codes, residual : ndarray
        ``residual`` is the gain that the last step promised, as a share of the objective.
    """
    codes, residual = codes.copy(), np.full(len(codes), np.inf)
    values = block.losses(codes) + penalty.elastic_net(codes)
    # The size of the terms that make up a loss, against which rounding is measured.
    size = np.maximum(block.losses(0.5 * codes), values) + np.finfo(float).tiny
    left = np.arange(len(codes))
    for _ in range(max_steps):
        if not len(left):
            break
        here = block if len(left) == len(codes) else block.of(left)
        start = codes[left]
        slope, grams = here.quadratic_model(start)
        # A Newton step on the set: the quadratic model is minimised under the constraints, not
        # projected afterwards.
        step = _minimise(start, slope, grams, values[left], penalty) - start
        # What the slope promises over the whole step; the penalty counts as it is, not by its
        # slope.
        promise = (
            -np.einsum("ij,ij->i", slope, step)
            + penalty.elastic_net(start)
            - penalty.elastic_net(start + step)
        )
        residual[left] = np.maximum(promise, 0) / np.maximum(values[left], REST * size[left])
        # Near the optimum a good step may look uphill by rounding.
        highest = values[left] + ROUNDING * size[left]
        moved, value, found = _search(here, start, step, promise, highest, penalty)
        codes[left[found]], values[left[found]] = moved[found], value[found]
        # A row whose step was halved in vain is as good as rounding allows.
        left = left[(residual[left] > gap) & found]
    return codes, residual


def _minimise(
    codes: NDArray, slope: NDArray, grams: NDArray, values: NDArray, penalty: Penalty
) -> NDArray:
    """Return the minimisers of the quadratic models at ``codes``."""
    # The model around the codes, written as a least-squares problem: linear part G h - slope.
    curved = np.einsum("ijk,ik->ij", grams, codes)
    # The energy moves no minimiser: it is what the gap of the program is relative to.
    energy = np.einsum("ij,ij->i", curved, codes) + values
    goal, linear, residual = codes.copy(), curved - slope, np.empty(1)
    encode, problem_of = _solver(grams, penalty)
    # In a kernel of its own the loop would save some 2 us a row, and cost seconds of compiling.
    for i in range(len(goal)):
        one = slice(i, i + 1)
        sample = linear[one], energy[one]
        encode(goal[one], residual, sample, problem_of(i), WITHIN, (1000, 1e-15))
    return goal


def _solver(
    grams: NDArray, penalty: Penalty
) -> tuple[Callable[..., None], Callable[[int], tuple[Any, ...]]]:
    """Return the kernel for a set, and a function that returns the problem of a row for it."""
    l1, l2, low, high, _, total = kernel_form(penalty)
    if total:
        from atomstream._kernels.simplex import encode

        return encode, lambda i: (grams[i], (l1, l2, total))
    from atomstream._kernels.active_set import encode

    lengths, none = np.sqrt(np.einsum("ijj->ij", grams)), np.zeros(grams.shape[1])
    return encode, lambda i: (grams[i], (l1, l2, low, high), (lengths[i], none, 0.0, 0.0))


def _search(
    block: Products,
    start: NDArray,
    step: NDArray,
    promise: NDArray,
    highest: NDArray,
    penalty: Penalty,
) -> tuple[NDArray, NDArray, NDArray]:
    """Halve each step until it gains enough; return points, objectives and where it did."""
    point, value = start.copy(), highest.copy()
    left, length = np.arange(len(start)), 1.0
    for _ in range(HALVINGS):
        if not len(left):
            break
        tried = start[left] + length * step[left]
        here = block if len(left) == len(start) else block.of(left)
        # On the boundary a divergence may be infinite or NaN. No comparison with these is true, so
        # such a step is halved.
        with np.errstate(divide="ignore", invalid="ignore"):
            now = here.losses(tried) + penalty.elastic_net(tried)
        good = now <= highest[left] - MIN_DECREASE * length * promise[left]
        point[left[good]], value[left[good]] = tried[good], now[good]
        left = left[~good]
        length /= 2
    found = np.ones(len(start), bool)
    found[left] = False
    return point, value, found
