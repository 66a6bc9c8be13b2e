"""Rows whose entries sum to at least one."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import number
from atomstream.penalties.base import SLACK, Penalty, balanced
from atomstream.penalties.simplex import Simplex


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
    Zhao, Tan, Xu (2017), eq. (4) and section S-1, where the simplex has the wrong sum.
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
