"""Rows whose entries sum to one, or to at most one."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import number
from atomstream.penalties.base import ElasticNetOnSet, Shape, balanced


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
