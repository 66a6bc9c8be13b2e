"""Rows whose entries sum to one, to at most one, or to at least one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import number
from atomstream.penalties.base import SLACK, ElasticNetOnSet, Penalty, Shape, balanced


@dataclass(frozen=True)
class Simplex(ElasticNetOnSet):
    """Rows without negative entries that sum to ``total``.

    On the simplex the l1 penalty is constant: it counts in the value and changes no code.
    """

    total: float = 1.0
    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "rows"
    BOUNDS: ClassVar = {**ElasticNetOnSet.BOUNDS, "total": number(above=True)}

    @property
    def shape(self) -> Shape:
        """The nonnegative rows of one sum."""
        return Shape(low=0.0, total=self.total)

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Return the proximal point of each row; l1, constant on the set, plays no part."""
        # The l1 norm is constant on the simplex: it moves no point.
        return self._project(rows / (1 + step * self.l2)).astype(rows.dtype, copy=False)

    def normalize(self, rows: NDArray) -> NDArray:
        """Scale the nonnegative part of each row to the sum of the simplex."""
        clipped = balanced(np.maximum(rows, 0))
        sums = np.maximum(clipped.sum(axis=1, keepdims=True), 0.5)  # less only where all are zero
        scaled = clipped * (self.total / sums)
        return self._project(scaled).astype(rows.dtype, copy=False)

    def conjugate(self, rows: NDArray) -> NDArray:
        """Return the convex conjugate at each row; l1, constant on the set, is subtracted."""
        if not self.l2:
            # A linear function is largest at a corner.
            return self.total * (rows.max(axis=1) - self.l1)
        best = self._project(rows / self.l2)
        return (rows * best - 0.5 * self.l2 * best**2).sum(axis=1) - self.l1 * self.total

    def _project(self, rows: NDArray) -> NDArray:
        # Held, Wolfe and Crowder (1974): subtract the threshold at which the positive part sums to
        # the total.
        # A shift changes nothing, but keeps large rows from losing the total.
        rows = rows - rows.max(axis=1, keepdims=True)
        ordered = -np.sort(-rows, axis=1)
        excess = np.cumsum(ordered, axis=1) - self.total
        counts = np.arange(1, rows.shape[1] + 1)
        # Entries above the threshold come first in the sorted row: it is enough to count them.
        support = (ordered * counts > excess).sum(axis=1)
        threshold = np.take_along_axis(excess, support[:, None] - 1, axis=1) / support[:, None]
        return np.maximum(rows - threshold, 0)


@dataclass(frozen=True)
class Covering(Penalty):
    r"""Atoms with entries in [0, 1] each of whose columns sums to at least ``least``.

    It ties the entries of a column together, over all atoms: no method that minimises atom by atom
    can serve it. The projection clips, then takes columns whose sum is below ``least`` to the
    simplex of that sum.

    Parameters
    ----------
    least : float, default=1e-8

    References
    ----------
    Zhao, Tan, Xu (2017), eq. (3) and section S-1, where the simplex has the wrong sum.
    """

    least: float = 1e-8
    couples: ClassVar[str] = "columns"
    nonnegative: ClassVar[bool] = True
    BOUNDS: ClassVar = {"least": number(0, 1, above=True)}

    def value(self, rows: NDArray) -> NDArray:
        """Return 0; infinity for rows outside [0, 1] and, for all, where a column is too small."""
        least, most = rows.min(axis=1, initial=0), rows.max(axis=1, initial=0)
        inside = (least >= -SLACK) & (most <= 1 + SLACK)
        covered = (rows.sum(axis=0, dtype=np.float64) >= self.least * (1 - SLACK)).all()
        return np.where(inside & covered, 0.0, np.inf)

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Return the closest matrix of the set."""
        clipped = np.clip(rows, 0, 1)
        bare = clipped.sum(axis=0, dtype=np.float64) < self.least
        if len(rows) and bare.any():
            # Only a column whose sum is too small is projected again, onto the face where its sum
            # is the least allowed.
            clipped[:, bare] = Simplex(self.least).prox(rows[:, bare].T, step).T
        return clipped

    def normalize(self, rows: NDArray) -> NDArray:
        """Scale rows to a largest entry of one and project them on the set."""
        rows = balanced(rows)
        peaks = np.maximum(np.abs(rows).max(axis=1, keepdims=True), 0.5)  # less only of zeros
        return self.prox((rows / peaks).astype(rows.dtype, copy=False), 0.0)
