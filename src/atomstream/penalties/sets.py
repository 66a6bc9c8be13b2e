"""Sets of codes and atoms: by entries, by lengths, by sums, and by numbers of entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import number, one_of, whole
from atomstream.penalties.base import SLACK, ElasticNetOnSet, Penalty, Shape, balanced, directions


@dataclass(frozen=True)
class Free(ElasticNetOnSet):
    """The whole space; with ``l1`` the lasso penalty, with ``l1`` and ``l2`` the elastic net."""

    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "entries"

    def _project(self, rows: NDArray) -> NDArray:
        return rows


@dataclass(frozen=True)
class Nonnegative(ElasticNetOnSet):
    """Rows without negative entries."""

    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "entries"
    _shape: ClassVar[Shape] = Shape(low=0.0)

    def _project(self, rows: NDArray) -> NDArray:
        return np.maximum(rows, 0)


@dataclass(frozen=True)
class Box(ElasticNetOnSet):
    """Rows with every entry between ``low`` and ``high``."""

    low: float = 0.0
    high: float = 1.0
    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "entries"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise ValueError(f"Box needs low < high, got low={self.low!r} and high={self.high!r}.")

    @property
    def shape(self) -> Shape:
        """The interval."""
        return Shape(low=self.low, high=self.high)

    def _project(self, rows: NDArray) -> NDArray:
        return np.clip(rows, self.low, self.high)


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


@dataclass(frozen=True)
class UnitBall(ElasticNetOnSet):
    """Rows of Euclidean length at most one."""

    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "rows"
    _shape: ClassVar[Shape] = Shape(radius=1.0)

    def _project(self, rows: NDArray) -> NDArray:
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)

    def _support(self, rows: NDArray) -> NDArray:
        if not self.l2:
            # A linear function is largest on the sphere, ahead of its slope.
            return directions(rows)
        # row / l2 where that lies inside the ball, else the point of the sphere ahead of it.
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), self.l2)


@dataclass(frozen=True)
class NonnegativeBall(ElasticNetOnSet):
    """Rows without negative entries and of Euclidean length at most one.

    The projection clips at zero first and then scales; the other order is feasible, but not the
    closest point.
    """

    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "rows"
    _shape: ClassVar[Shape] = Shape(low=0.0, radius=1.0)

    def _project(self, rows: NDArray) -> NDArray:
        clipped = np.maximum(rows, 0)
        return clipped / np.maximum(np.linalg.norm(clipped, axis=1, keepdims=True), 1)

    def _support(self, rows: NDArray) -> NDArray:
        clipped = np.maximum(rows, 0)
        if not self.l2:
            # Negative slopes are answered by zeros, whatever the others are.
            return directions(clipped)
        return clipped / np.maximum(np.linalg.norm(clipped, axis=1, keepdims=True), self.l2)


@dataclass(frozen=True)
class UnitSphere(Penalty):
    """Rows of Euclidean length one: atoms that are directions.

    For atoms alone, since the set is not convex; over one atom the surrogate still has its exact
    minimum there.
    """

    couples: ClassVar[str] = "rows"
    convex: ClassVar[bool] = False

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Return the nearest row of length one; a row of zeros goes to the first axis."""
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        first = np.zeros_like(rows)
        first[:, :1] = 1
        return np.divide(rows, lengths, out=first, where=lengths > 0)


@dataclass(frozen=True)
class NormBall(Penalty):
    """Nonnegative matrices of Frobenius norm at most ``radius``: all rows share one bound.

    Parameters
    ----------
    radius : float, default=1.0
        Above 0.

    References
    ----------
    Strohmeier (2023), eqs. (4.82) and (4.83): loading matrices of norm at most sqrt(R) |X|^(1/3)
    lose nothing.
    """

    radius: float = 1.0
    couples: ClassVar[str] = "all"
    nonnegative: ClassVar[bool] = True
    BOUNDS: ClassVar = {"radius": number(above=True)}

    def value(self, rows: NDArray) -> NDArray:
        """Return zeros inside the set and infinity outside."""
        inside = rows.min(initial=0) >= -SLACK and np.linalg.norm(rows) <= self.radius * (1 + SLACK)
        return np.full(len(rows), 0.0 if inside else np.inf)

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Return the nearest matrix of the set: clip, then scale."""
        clipped = np.maximum(rows, 0)
        return clipped / max(float(np.linalg.norm(clipped)) / self.radius, 1.0)

    def beside(self, rows: NDArray) -> NormBall:
        """Return the set of what may stand beside some rows."""
        # Squares of the Frobenius norm add up over rows.
        left = self.radius**2 - float(np.vdot(rows, rows))
        # Never of radius zero, which no projection could divide by.
        return NormBall(max(left, (SLACK * self.radius) ** 2) ** 0.5)


SIGNS = ("free", "nonnegative")


@dataclass(frozen=True)
class TopK(Penalty):
    """Rows of which at most ``k`` entries are not zero: a number in place of a penalty.

    The set is not convex: codes are found by `atomstream.coders.MatchingPursuit`, which is not sure
    to find the best ones, and nothing certifies them.

    Parameters
    ----------
    k : int
        At least 1.
    sign : {"free", "nonnegative"}, default="free"
        Sign of the entries.
    """

    k: int
    sign: str = "free"
    couples: ClassVar[str] = "rows"
    convex: ClassVar[bool] = False
    BOUNDS: ClassVar = {"k": whole(), "sign": one_of(*SIGNS)}

    @property
    def most_nonzero(self) -> int:
        """Number of entries of a row that may differ from zero."""
        return int(self.k)

    @property
    def nonnegative(self) -> bool:
        """True where the set holds no negative entry."""
        return self.sign == "nonnegative"

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Keep the largest entries of each row, the first ones of equals, and zero the others."""
        kept = np.maximum(rows, 0) if self.nonnegative else rows.copy()
        if self.k < rows.shape[1]:
            # Stable: which of equal entries stay must not depend on the machine.
            order = np.argsort(-np.abs(kept), axis=1, kind="stable")
            np.put_along_axis(kept, order[:, self.k :], 0, axis=1)
        return kept

    def conjugate(self, rows: NDArray) -> NDArray:
        """Return 0 where no entry could grow, else infinity: the set contains its multiples."""
        most = rows.max(axis=1, initial=0) if self.nonnegative else np.abs(rows).max(axis=1)
        return np.where(most > 0, np.inf, 0.0)
