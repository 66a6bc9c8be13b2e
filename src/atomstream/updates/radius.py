r"""Steps of bounded length inside a convex set: the search radius of CP dictionaries.

For any convex set S that holds :math:`V_0`, the point of :math:`S \cap \{\|V - V_0\|_F \le \rho\}`
nearest to Y is
:math:`P_S((Y + \mu V_0) / (1 + \mu))` with one number :math:`\mu \ge 0`; with
:math:`s = 1/(1 + \mu)` that is the projection on S of a point between :math:`V_0` and Y.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from atomstream.penalties.base import TINY, Penalty

MAX_STEPS = 500  # accelerated steps for one block
STILL = 1e-7  # a step this short, as a share of the way made or of the radius, ends them


def project_within(target: NDArray, start: NDArray, radius: float, penalty: Penalty) -> NDArray:
    r"""Return the point nearest to ``target`` in a set and within a distance of ``start``.

    Parameters
    ----------
    target : ndarray of shape (n_rows, n_columns)
    start : ndarray of the same shape
        In the set.
    radius : float
        Largest Frobenius norm of the difference.
    penalty : Penalty
        The set.

    References
    ----------
    Strohmeier (2023), Algorithm 7 (the search radius); docs/algorithms/cp-dictionaries.md.
    """
    point = penalty.prox(target, 0.0)
    if np.linalg.norm(point - start) <= radius:
        return point
    step = target - start

    def beyond(s: float) -> float:
        """Return by how much the projected point at s, which moves out with s, is too far."""
        return float(np.linalg.norm(penalty.prox(start + s * step, 0.0) - start)) - radius

    # From a point of the set, the distance of the projection never falls as s grows (Calamai and
    # More 1987), and at s = 1 it is beyond the radius: there is a root.
    from scipy.optimize import brentq  # slow to load

    s = brentq(beyond, 0.0, 1.0, xtol=1e-15, rtol=8 * np.finfo(float).eps)
    # A hair less than the root, for rounding may put the root outside.
    return penalty.prox(start + s * (1 - 1e-12) * step, 0.0)


def minimise_within(
    start: NDArray,
    gram: NDArray,
    cross: NDArray,
    penalty: Penalty,
    radius: float,
    centre: NDArray | None = None,
) -> NDArray:
    r"""Minimise :math:`\tfrac12 tr(V^\top A V) - tr(V^\top B)` over a set, near ``centre``.

    Accelerated projected gradient steps on the whole matrix, restarted when they point uphill.
    Block coordinate descent would not do: rows that share a radius can block each other short of
    the minimum.

    Parameters
    ----------
    start : ndarray of shape (n_rows, n_columns)
        In the set and within the distance; the result is never worse.
    gram : ndarray of shape (n_rows, n_rows)
        A.
    cross : ndarray of shape (n_rows, n_columns)
        B.
    penalty : Penalty
        The set.
    radius : float
        Largest Frobenius norm of the difference from the centre; may be infinite.
    centre : ndarray of the shape of ``start``, optional
        In the set; by default ``start``.
    """
    centre = start if centre is None else centre
    # Where nothing is curved the slope is zero too, and any step stays in place.
    smoothness = max(float(np.linalg.eigvalsh(gram)[-1]), TINY)
    point = ahead = start
    pace = 1.0
    for _ in range(MAX_STEPS):
        moved = project_within(ahead - (gram @ ahead - cross) / smoothness, centre, radius, penalty)
        change = moved - point
        if np.vdot(ahead - moved, change) > 0:  # uphill: begin anew from here
            pace, ahead, point = 1.0, moved, moved
            continue
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        # Nesterov's extrapolation.
        ahead, point, pace = moved + (pace - 1) / faster * change, moved, faster
        if np.linalg.norm(change) <= STILL * min(radius, float(np.linalg.norm(moved))):
            break
    # Accelerated steps may rise; the update must not.
    return point if _value(point, gram, cross) <= _value(start, gram, cross) else start


def _value(V: NDArray, gram: NDArray, cross: NDArray) -> float:
    return 0.5 * float(np.vdot(V, gram @ V)) - float(np.vdot(V, cross))
