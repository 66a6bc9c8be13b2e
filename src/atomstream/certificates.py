r"""Certificates of optimality: how far a code can be from the best one, without knowing the best one.

Fenchel duality: for the objective :math:`\tfrac12\|x - hD\|^2 + P(h)` every :math:`\theta` gives the lower bound
:math:`\langle x, \theta\rangle - \tfrac12\|\theta\|^2 - P^*(D\theta)`. With the remainder :math:`\rho = x - hD`, its
correlations :math:`c = D\rho` and :math:`\theta = s\rho` the gap is a sum without cancellation,

.. math:: \tfrac12 (1 - s)^2 \|\rho\|^2 + P(h) + P^*(sc) - s \langle h, c\rangle ,

zero exactly at the optimum with s = 1. Where :math:`P^*(c)` is infinite, s shrinks until it is finite.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream._kernels.constants import FLOOR
from atomstream.penalties import Penalty

__all__ = ["DualBound", "duality_gap"]


class DualBound(NamedTuple):
    r"""What certifies codes where neither penalty nor bounds keep the dual finite: a property of the dictionary.

    Attributes
    ----------
    slack : ndarray of shape (n_components,)
        Products :math:`t_k = \langle d_k, u\rangle > 0` of the atoms with one direction u, if there is one:
        :math:`\theta = \rho - \delta u` with :math:`\delta = \max_k c_k / t_k` is feasible for nonnegative codes, and
        the gap is :math:`\delta \langle h, t\rangle - \langle h, c\rangle + \tfrac12\delta^2\|u\|^2`.
    square : float
        :math:`\|u\|^2`; 0 where there is no such direction.
    curvature : float
        0 where that is not needed; otherwise the smallest eigenvalue :math:`\mu` of the Gram matrix above rounding:
        the gap is at most :math:`\|v\|^2 / 2\mu` with v the violations (where atoms depend on each other: among
        codes in the range of the dictionary).
    """

    slack: NDArray
    square: float
    curvature: float

    @classmethod
    def of(cls, gram: NDArray, penalty: Penalty) -> DualBound:
        """Return the bound for a Gram matrix, the trivial one where the penalty makes every dual point finite."""
        none, shape = np.zeros(len(gram)), penalty.shape
        closed = shape is None or shape.radius < np.inf or shape.total > 0 or max(-shape.low, shape.high) < np.inf
        if penalty.l1 or penalty.l2 or shape is None or closed:
            return cls(none, 0.0, 0.0)
        lengths = np.sqrt(gram.diagonal())
        alive = lengths > 0
        if shape.low > -np.inf and alive.any():
            u = np.divide(1.0, lengths, out=none.copy(), where=alive)
            slack = gram @ u
            margin = float((slack[alive] * u[alive]).min())
            if margin > 1e-3:  # every atom leans to the mean direction, as all do where none has negative entries
                return cls(slack / margin, float(u @ slack) / margin**2, 0.0)
        eigenvalues = np.linalg.eigvalsh(gram)
        positive = eigenvalues[eigenvalues > 10 * len(gram) * np.finfo(np.float64).eps * eigenvalues[-1]]
        return cls(none, 0.0, float(positive[0]) if len(positive) else 1.0)


def duality_gap(
    codes: NDArray, gradient: NDArray, linear: NDArray, energy: NDArray, penalty: Penalty, bound: DualBound
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
    Fenchel duality as in Mairal (2010), "Sparse coding for machine learning, image processing and computer vision",
    appendix D, whose dual point for the lasso is the scaled remainder; the shifted one is ours.
    """
    correlation, net = -gradient, penalty.net(codes)
    inner = np.einsum("ij,ij->i", codes, correlation)
    unexplained = np.maximum(energy - np.einsum("ij,ij->i", codes, linear) - inner, 0)
    objective = np.maximum(0.5 * unexplained + net, 0.5 * FLOOR * energy)
    scale = _feasible_scale(correlation, penalty)
    scaled = 0.5 * (1 - scale) ** 2 * unexplained + penalty.conjugate(scale[:, None] * correlation) - scale * inner
    gap = net + np.minimum(penalty.conjugate(correlation) - inner, scaled)
    low, high = (penalty.shape or (-np.inf, np.inf))[:2]
    if bound.square > 0:
        shift = np.divide(correlation, bound.slack, out=np.zeros_like(correlation), where=bound.slack > 0)
        shift = shift.max(axis=1, initial=0)
        gap = np.minimum(
            gap,
            shift * ((codes - low) @ bound.slack)
            - inner
            + low * correlation.sum(axis=1)
            + 0.5 * shift**2 * bound.square,
        )
    elif bound.curvature > 0:
        stands = ((codes <= low) & (correlation < 0)) | ((codes >= high) & (correlation > 0))
        gap = np.minimum(gap, 0.5 * (np.where(stands, 0, correlation) ** 2).sum(axis=1) / bound.curvature)
    return np.divide(gap, objective, out=np.zeros(len(codes)), where=objective > 0)


def _feasible_scale(correlation: NDArray, penalty: Penalty) -> NDArray:
    """Return the largest scale in [0, 1] at which the conjugate of a set of open intervals is finite."""
    low, high, radius, total = penalty.shape or (0.0, 0.0, 0.0, 0.0)
    most = np.zeros(len(correlation))
    if radius == np.inf and not total:
        if high == np.inf:
            most = np.maximum(most, correlation.max(axis=1, initial=0))
        if low == -np.inf:
            most = np.maximum(most, -correlation.min(axis=1, initial=0))
    inside = penalty.l1 * (1 - 1e-15)  # rounding must not carry the product beyond l1 again
    return np.divide(inside, most, out=np.ones(len(correlation)), where=most > penalty.l1)
