r"""Certificates of optimality: how far a code can be from the best one, which is not known.

Fenchel duality: for the objective :math:`\tfrac12\|x - hD\|^2 + P(h)` every :math:`\theta` gives
the lower bound
:math:`\langle x, \theta\rangle - \tfrac12\|\theta\|^2 - P^*(D\theta)`. With the remainder
:math:`\rho = x - hD`, its correlations :math:`c = D\rho` and :math:`\theta = s\rho` the gap is a
sum without cancellation,

.. math:: \tfrac12 (1 - s)^2 \|\rho\|^2 + P(h) + P^*(sc) - s \langle h, c\rangle ,

zero exactly at the optimum with s = 1. Where :math:`P^*(c)` is infinite, s shrinks until it is
finite.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream._kernels.constants import EPS, MIN_OBJECTIVE
from atomstream.penalties.base import Penalty, Shape


class DualBound(NamedTuple):
    r"""Bounds from the dictionary, where neither penalty nor bounds of codes keep the dual finite.

    Attributes
    ----------
    lengths : ndarray of shape (n_components,)
        Of the atoms. Correlations within rounding of them count as feasible.
    slack : ndarray of shape (n_components,)
        Products :math:`t_k = \langle d_k, u\rangle > 0` of the atoms with one direction u, if there
        is one:
        :math:`\theta = \rho - \delta u` with :math:`\delta = \max_k c_k / t_k` is feasible for
        nonnegative codes, and the gap is
        :math:`\delta \langle h, t\rangle - \langle h, c\rangle + \tfrac12\delta^2\|u\|^2`.
    square : float
        :math:`\|u\|^2`; 0 where there is no such direction.
    curvature : float
        The smallest eigenvalue :math:`\mu` of the Gram matrix, where the gap is at most
        :math:`\|v\|^2 / 2\mu` with v the violations: for independent atoms; for any where codes are
        free, then above rounding. Else 0.
    """

    lengths: NDArray
    slack: NDArray
    square: float
    curvature: float

    @classmethod
    def of(cls, gram: NDArray, penalty: Penalty) -> DualBound:
        """Return the bound for a Gram matrix, empty where the penalty keeps the dual finite."""
        lengths, slack, square, curvature = cls.of_each(gram[None], penalty)
        return cls(lengths[0], slack[0], float(square[0]), float(curvature[0]))

    @classmethod
    def of_each(cls, grams: NDArray, penalty: Penalty) -> tuple[NDArray, ...]:
        """Return each attribute for Gram matrices, (n_grams, n_components, n_components)."""
        lengths, shape = np.sqrt(np.einsum("ijj->ij", grams)), penalty.shape
        slack, (square, curvature) = np.zeros(lengths.shape), np.zeros((2, len(grams)))
        closed = (
            shape is None
            or shape.radius < np.inf
            or shape.total > 0
            or max(-shape.low, shape.high) < np.inf
        )
        if penalty.l1 or penalty.l2 or shape is None or closed:
            return lengths, slack, square, curvature
        left = np.ones(len(grams), bool)
        if shape.low > -np.inf:
            # The direction is the sum of the atoms at length one, `leans` its products with them.
            u = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
            leans = np.matmul(grams, u[:, :, None])[:, :, 0]
            margin = (leans * u).min(axis=1, where=u > 0, initial=np.inf)
            # Every atom leans to the mean direction, as all do where none has negative entries.
            good = (margin > 1e-3) & lengths.any(axis=1)
            slack[good] = leans[good] / margin[good, None]
            # Scaled so that no atom has a product with it below its own length.
            square[good] = np.einsum("ij,ij->i", u, leans)[good] / margin[good] ** 2
            left = ~good
        free = shape.low == -np.inf and shape.high == np.inf
        for i in np.flatnonzero(left):
            eigenvalues = np.linalg.eigvalsh(grams[i])
            # Correlations with a residual lie in the range of the Gram matrix: where codes are
            # free, its null space does not matter.
            # What rounding may leave of an eigenvalue that is zero.
            least = 10 * len(eigenvalues) * np.finfo(np.float64).eps * eigenvalues[-1]
            positive = eigenvalues[eigenvalues > least]
            if len(positive) > 0 and (free or len(positive) == len(eigenvalues)):
                curvature[i] = positive[0]
        return lengths, slack, square, curvature


def duality_gap(
    codes: NDArray,
    gradient: NDArray,
    linear: NDArray,
    energy: NDArray,
    penalty: Penalty,
    bound: DualBound,
) -> NDArray:
    """Return (objective - dual) / max(objective, floor) for every row, in float64.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        In their set.
    gradient : ndarray of shape (n_samples, n_components)
        Of the fit alone: products of the codes with the Gram matrix, minus ``linear``.
    linear : ndarray of shape (n_samples, n_components)
        Inner products of samples and atoms.
    energy : ndarray of shape (n_samples,)
        Squared lengths of the samples; the floor is 5e-5 of them.
    penalty : Penalty
    bound : DualBound
        ``DualBound.of(gram, penalty)``.

    Returns
    -------
    ndarray of shape (n_samples,)

    References
    ----------
    Fenchel duality as in Mairal (2010), "Sparse coding for machine learning, image processing and
    computer vision", appendix D, whose dual point for the lasso is the scaled remainder; the
    shifted one is ours.
    """
    correlation, net = -gradient, penalty.elastic_net(codes)
    inner = np.einsum("ij,ij->i", codes, correlation)
    # |x - h D|^2 = |x|^2 - <h, b> - <h, c>, for h G h = <h, b> - <h, c>.
    unexplained = np.maximum(energy - np.einsum("ij,ij->i", codes, linear) - inner, 0)
    # Where nothing is left unexplained a relative gap means nothing: the objective is floored.
    objective = np.maximum(0.5 * unexplained + net, 0.5 * MIN_OBJECTIVE * energy)
    scale = _feasible_scale(correlation, penalty)
    scaled = (
        0.5 * (1 - scale) ** 2 * unexplained
        + penalty.conjugate(scale[:, None] * correlation)
        - scale * inner
    )
    # Every dual point bounds the objective from below. Two are tried: the residual itself, and the
    # residual scaled into the domain of the conjugate.
    gap = net + np.minimum(penalty.conjugate(correlation) - inner, scaled)
    if not penalty.l1 and not penalty.l2 and penalty.shape is not None:
        gap = np.minimum(gap, _unpenalised(codes, correlation, energy, penalty.shape, bound))
    gap = np.minimum(gap, 0.5 * unexplained + net)  # no objective is below zero
    # The gap is a difference of nearly equal numbers; adding what rounding may hide keeps it a
    # bound.
    rounding = EPS * (energy + np.abs(energy - unexplained - inner) + np.abs(inner))
    gap = np.maximum(gap, 0) + rounding
    return np.divide(gap, objective, out=np.zeros(len(codes)), where=objective > 0)


def _unpenalised(
    codes: NDArray, correlation: NDArray, energy: NDArray, shape: Shape, bound: DualBound
) -> NDArray:
    """Bound the gap of every row where neither l1 nor l2 makes the dual finite; see `DualBound`."""
    ahead = np.where(correlation > 0, shape.high, shape.low)
    closed = np.isfinite(ahead)
    gap = (np.where(closed, ahead, 0) * correlation - codes * correlation).sum(axis=1)
    # Correlations within rounding count as zero; any other one towards an open side leaves no
    # bound.
    level = 8 * EPS * (np.sqrt(energy) + np.abs(codes) @ bound.lengths)[:, None] * bound.lengths
    gap[(~closed & (np.abs(correlation) > level)).any(axis=1)] = np.inf
    if bound.square > 0:
        alive = bound.slack > 0
        above, slack = (codes - shape.low)[:, alive], bound.slack[alive]
        shift = np.maximum((correlation[:, alive] / slack).max(axis=1), 0)
        inner = (above * correlation[:, alive]).sum(axis=1)
        gap = np.minimum(gap, shift * (above @ slack) - inner + 0.5 * shift**2 * bound.square)
    if bound.curvature > 0:
        # Strong convexity: the gap is at most |violation|^2 / (2 curvature).
        violation = np.where(codes == ahead, 0, correlation)
        gap = np.minimum(gap, 0.5 * (violation**2).sum(axis=1) / bound.curvature)
    return gap


def _feasible_scale(correlation: NDArray, penalty: Penalty) -> NDArray:
    """Return the largest scale in [0, 1] at which the conjugate is finite."""
    low, high, radius, total = penalty.shape or (0.0, 0.0, 0.0, 0.0)
    most = np.zeros(len(correlation))
    # A ball or a simplex keeps the conjugate finite: only open intervals shrink the scale.
    if radius == np.inf and not total:
        if high == np.inf:
            most = np.maximum(most, correlation.max(axis=1, initial=0))
        if low == -np.inf:
            most = np.maximum(most, -correlation.min(axis=1, initial=0))
    inside = penalty.l1 * (1 - 1e-15)  # rounding must not carry the product beyond l1 again
    return np.divide(inside, most, out=np.ones(len(correlation)), where=most > penalty.l1)
