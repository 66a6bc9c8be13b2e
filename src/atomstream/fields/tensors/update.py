r"""Minimise the surrogate over one loading matrix at a time, within the radius of the step.

For any convex set S that holds :math:`V_0`, the point of :math:`S \cap \{\|V - V_0\|_F \le \rho\}`
nearest to Y is
:math:`P_S((Y + \mu V_0) / (1 + \mu))` with one number :math:`\mu \ge 0`; with
:math:`s = 1/(1 + \mu)` that is the projection on S of a point between :math:`V_0` and Y.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import NONE, number, one_of, parameter, whole
from atomstream.fields.tensors.loadings import Loadings, contract_group, halves_contracted
from atomstream.memory import Aggregates, GramSums, State
from atomstream.penalties.base import TINY, Penalty, project
from atomstream.problem import Clock, Needs, Objective
from atomstream.updates.base import PATIENCE, CodedBatch, Updater
from atomstream.updates.block_coordinate import _short, _size_is_free, _sweep

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


REACH = 10.0  # norms of unit columns that a loading matrix may move by in a batch of weight 1
RADIUS = parameter("", number(above=True), one_of("auto"), NONE)


@dataclass(frozen=True)
class LoadingSweep(Updater[State[Loadings, Aggregates]]):
    r"""Minimise the surrogate over one loading matrix at a time, none moving further than a radius.

    For rank-one atoms the surrogate is, over :math:`U^{(i)}` alone and with A' = A + damping I,

    .. math:: \tfrac12 tr(U \bar A U^\top) - tr(U \bar B^\top), \quad
              \bar A = A' \circ \prod_{j \ne i} U^{(j)\top} U^{(j)}, \quad
              \bar B_{:r} = B_r \times_{j \ne i} U^{(j)}_{:r},

    so a mode is swept as `BlockCoordinate` sweeps atoms, with the newest loadings of all other
    modes. Should that leave the radius, or the set tie columns together, the block is minimised as
    a whole. Short columns are scaled up as atoms are there, as far as the radius allows.

    Parameters
    ----------
    damping : float, default=0.0
        Added to the diagonal of A.
    fixed : int, default=0
        The first so many atoms are never changed.
    n_sweeps : int, default=3
        Sweeps over all modes per batch.
    radius : {"auto"}, float or None, default="auto"
        c': after batch t, :math:`\|U^{(i)}_t - U^{(i)}_{t-1}\|_F \le c' w_t`. "auto" is ten times
        the norm of a matrix with columns of length one; None sets no bound.
    patience : float, default=10.0
        As of `BlockCoordinate`.

    References
    ----------
    Strohmeier (2023), Algorithms 7 and 8 and eqs. (4.120) to (4.128);
    docs/algorithms/cp-dictionaries.md.
    """

    damping: float = 0.0
    fixed: int = 0
    n_sweeps: int = 3
    radius: float | str | None = "auto"
    patience: float = PATIENCE
    statistics: ClassVar[GramSums] = GramSums(factored=True)
    needs: ClassVar[Needs] = {"atoms": ("sets",)}
    descends_on_full_data: ClassVar[bool] = True
    creeps: ClassVar[bool] = True  # where columns of several atoms are nearly parallel
    BOUNDS: ClassVar = {"n_sweeps": whole(), "radius": RADIUS}

    def bound(self, n_components: int) -> float | None:
        """Return the number c' that the radius stands for."""
        return REACH * math.sqrt(n_components) if isinstance(self.radius, str) else self.radius

    def update(
        self,
        state: State[Loadings, Aggregates],
        objective: Objective,
        clock: Clock,
        latest: Sequence[CodedBatch] = (),
    ) -> None:
        """Sweep over the modes."""
        memory = state.memory
        pairs = zip(state.dictionary.matrices, objective.atoms.sets, strict=True)
        # The radius is measured from here in every sweep: sweeps together move no further than one.
        before = [project(matrix.T.astype(np.float64), part, self.fixed) for matrix, part in pairs]
        bound = self.bound(state.dictionary.shape[0])
        reach = np.inf if bound is None else bound * clock.weight
        # Atoms that nothing has used stay as they are: damping alone would pull them to zero.
        gram = memory.gram + self.damping * np.diag(memory.gram.diagonal() > 0)
        sets, now = objective.atoms.sets, Loadings(rows.T for rows in before)
        for _ in range(self.n_sweeps):
            for group, part in halves_contracted(now, memory.cross):
                matrices = [matrix.T for matrix in now.matrices]
                inner = [rows @ rows.T for rows in matrices]
                for mode in group:
                    others = reduce(
                        np.multiply, (g for k, g in enumerate(inner) if k != mode), gram
                    )
                    cross = contract_group(part, [matrices[k].T for k in group], mode - group[0])
                    matrices[mode] = self._block(
                        matrices[mode], before[mode], others, cross, sets[mode], reach
                    )
                    # The blocks are cyclic: the next mode must see this one as it is now.
                    inner[mode] = matrices[mode] @ matrices[mode].T
                now.assign([rows.T for rows in matrices])
        matrices = [matrix.T.copy() for matrix in now.matrices]
        for mode, rows in enumerate(matrices):
            if _size_is_free(objective.codes, sets[mode], at_most=True) and not self.damping:
                scale = _short(rows, self.fixed)
                if (scale < 1).any():
                    scale = _shorter(scale, rows, before[mode], reach)
                    rows /= scale[:, None]
                    memory.rescale(scale)
        state.dictionary.assign([rows.T for rows in matrices])

    def value(self, state: State[Loadings, Aggregates], objective: Objective) -> float:
        """Return the surrogate with damping on the atoms that may change."""
        size = float(np.trace(state.dictionary.gram()[self.fixed :, self.fixed :]))
        return state.memory.value(state.dictionary) + 0.5 * self.damping * size

    def _block(
        self,
        rows: NDArray,
        before: NDArray,
        gram: NDArray,
        cross: NDArray,
        penalty: Penalty,
        reach: float,
    ) -> NDArray:
        """Return the loadings of one mode, as rows, with a lower surrogate."""
        if penalty.rowwise:
            swept = rows.copy()
            _sweep(swept, gram, cross, penalty, 0.0, self.fixed)
            # Exact per atom and cheap, and right unless the radius binds: it ties the atoms
            # together.
            if np.linalg.norm(swept - before) <= reach:
                return swept
        free = slice(self.fixed, None)
        # Fixed atoms are constants: what they explain is taken off, and the set is what they leave.
        rest = cross[free] - gram[free, : self.fixed] @ rows[: self.fixed]
        left = penalty.beside(rows[: self.fixed])
        found = minimise_within(rows[free], gram[free, free], rest, left, reach, before[free])
        return np.concatenate([rows[: self.fixed], found])


def _shorter(scale: NDArray, rows: NDArray, before: NDArray, reach: float) -> NDArray:
    """Return as much of a scaling as keeps rows within reach of what they were."""
    low, high = 0.0, 1.0
    if np.linalg.norm(rows / scale[:, None] - before) <= reach:
        return scale
    # Bisection: any smaller power of the scale is as safe, and moves the rows less.
    for _ in range(30):
        middle = (low + high) / 2
        if np.linalg.norm(rows / scale[:, None] ** middle - before) <= reach:
            low = middle
        else:
            high = middle
    return scale**low
