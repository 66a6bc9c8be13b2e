r"""Sets and penalties on the rows of a matrix: codes (one row per sample) or atoms (one row per atom).

Every part here is the same function

.. math:: P(x) = \lambda_1 \|x\|_1 + \tfrac{\lambda_2}{2} \|x\|_2^2 + \iota_S(x)

for another closed convex set S: the elastic net on S. With ``l1 = l2 = 0`` it is the constraint S alone and its
proximal operator is the projection on S; `Free` with ``l1`` is the lasso penalty, with both the elastic net.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Box",
    "Covering",
    "Free",
    "Nonnegative",
    "NonnegativeBall",
    "NormBall",
    "Penalty",
    "Simplex",
    "UnitBall",
]

SLACK = 1e-5  # a point this far outside a set (relative to its size) still counts as inside: float32 rounding
TINY = 1e-30


class Shape(NamedTuple):
    """A set in the words the compiled kernels know: an interval per entry, then a ball or a simplex per row."""

    low: float = -np.inf
    high: float = np.inf
    radius: float = np.inf
    total: float = 0.0  # 0: no simplex


class Penalty(Protocol):
    """What coders and updaters know of a penalty.

    Attributes
    ----------
    couples : {"entries", "rows", "columns", "all"}
        Which entries are tied together: none, those of a row, those of a column, all.
    shape : Shape or None
        The set for compiled kernels; None sends coders and updaters through `prox`.
    l1, l2 : float
        Strengths of the elastic net.
    """

    couples: ClassVar[str]

    @property
    def l1(self) -> float:
        """Strength of the l1 norm."""
        ...

    @property
    def l2(self) -> float:
        """Strength of the squared l2 norm."""
        ...

    @property
    def shape(self) -> Shape | None:
        """The set in the words of the kernels, or None."""
        ...

    @property
    def entrywise(self) -> bool:
        """Whether every entry can be minimised alone."""
        ...

    @property
    def polyhedral(self) -> bool:
        """Whether the set is made of intervals or is a simplex (what active sets need)."""
        ...

    @property
    def rowwise(self) -> bool:
        """Whether every row can be minimised alone (what block coordinate descent needs)."""
        ...

    @property
    def nonnegative(self) -> bool:
        """Whether the set holds no negative entry."""
        ...

    def net(self, rows: NDArray) -> NDArray:
        """Return the penalty of rows that are known to lie in the set."""
        ...

    def value(self, rows: NDArray) -> NDArray:
        """Return the penalty of each row, infinite outside the set."""
        ...

    def prox(self, rows: NDArray, step: float) -> NDArray:
        r"""Return :math:`\arg\min_u \tfrac12\|u - x\|^2 + step \cdot P(u)` for each row x."""
        ...

    def conjugate(self, rows: NDArray) -> NDArray:
        r"""Return :math:`P^*(v) = \max_u \langle v, u\rangle - P(u)` of each row v, infinite where unbounded."""
        ...

    def normalize(self, rows: NDArray) -> NDArray:
        """Scale rows to the size the set asks for and project them: how starting atoms are made."""
        ...


class _ElasticNetOnSet(ABC):
    """What the sets below share; the set itself is ``shape`` and ``_project``."""

    l1: float
    l2: float
    couples: ClassVar[str]
    _shape: ClassVar[Shape] = Shape()

    def __post_init__(self) -> None:
        for name in ("l1", "l2"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{type(self).__name__} needs {name} of at least 0, got {getattr(self, name)!r}.")

    @property
    def shape(self) -> Shape:
        """The set in the words of the kernels."""
        return self._shape

    @property
    def entrywise(self) -> bool:
        """Whether every entry can be minimised alone."""
        return self.couples == "entries"

    @property
    def polyhedral(self) -> bool:
        """Whether the set is made of intervals or is a simplex (what active sets need)."""
        return self.entrywise or self.shape.total > 0

    @property
    def rowwise(self) -> bool:
        """Whether every row can be minimised alone (what block coordinate descent needs)."""
        return self.couples in ("entries", "rows")

    @property
    def nonnegative(self) -> bool:
        """Whether the set holds no negative entry."""
        return self.shape.low >= 0

    def net(self, rows: NDArray) -> NDArray:
        """Return the elastic net of each row."""
        net = np.zeros(len(rows))
        if self.l1:
            net += self.l1 * np.abs(rows).sum(axis=1, dtype=np.float64)
        if self.l2:
            net += 0.5 * self.l2 * np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        return net

    def value(self, rows: NDArray) -> NDArray:
        """Return the penalty of each row, infinite outside the set."""
        return np.where(_inside(rows, self.shape), self.net(rows), np.inf)

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Return the proximal point of each row: shrink towards zero, then project on the set."""
        # On every set here the order "shrink, then project" is exact: intervals because one dimension is,
        # balls because they only scale, the simplex because l1 is constant on it.
        shrunk = rows
        if self.l1:
            shrunk = self._shrink(rows, step * self.l1)
        if self.l2:
            shrunk = shrunk / (1 + step * self.l2)
        return self._project(shrunk).astype(rows.dtype, copy=False)

    def conjugate(self, rows: NDArray) -> NDArray:
        """Return the convex conjugate of the penalty at each row, infinite where unbounded."""
        best = self._support(self._shrink(rows, self.l1))
        with np.errstate(invalid="ignore"):  # infinity minus infinity, for entries that the next line replaces
            value = (rows * best - self.l1 * np.abs(best) - 0.5 * self.l2 * best**2).sum(axis=1)
        return np.where(np.isfinite(best).all(axis=1), value, np.inf)

    def project(self, rows: NDArray, fixed: int = 0) -> NDArray:
        """Return the nearest rows of the set; the first ``fixed`` stay as they are."""
        return np.concatenate([rows[:fixed], self.prox(rows[fixed:], 0.0)])

    def normalize(self, rows: NDArray) -> NDArray:
        """Scale rows to Euclidean length one and project them on the set."""
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return self._project(rows / np.maximum(lengths, TINY)).astype(rows.dtype, copy=False)

    @abstractmethod
    def _project(self, rows: NDArray) -> NDArray:
        """Return the closest point of the set to each row."""

    def _support(self, rows: NDArray) -> NDArray:
        """Return the points of the set that maximise <row, u> - l2 |u|^2 / 2: here for sets of intervals."""
        low, high = self.shape.low, self.shape.high
        if self.l2:
            return np.clip(rows / self.l2, low, high)
        return np.where(rows > 0, high, np.where(rows < 0, low, min(max(low, 0.0), high)))

    @staticmethod
    def _shrink(rows: NDArray, threshold: float) -> NDArray:
        """Move every entry towards zero by the threshold."""
        return np.sign(rows) * np.maximum(np.abs(rows) - threshold, 0)


@dataclass(frozen=True)
class Free(_ElasticNetOnSet):
    """All of the space; with ``l1`` the lasso penalty, with ``l1`` and ``l2`` the elastic net."""

    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "entries"

    def _project(self, rows: NDArray) -> NDArray:
        return rows


@dataclass(frozen=True)
class Nonnegative(_ElasticNetOnSet):
    """Rows without negative entries."""

    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "entries"
    _shape: ClassVar[Shape] = Shape(low=0.0)

    def _project(self, rows: NDArray) -> NDArray:
        return np.maximum(rows, 0)


@dataclass(frozen=True)
class Box(_ElasticNetOnSet):
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
class Covering:
    r"""Atoms with entries in [0, 1] that together reach every feature: each column sums to at least ``least``.

    It ties the entries of a column together, over all atoms: no method that minimises atom by atom can serve it. The
    projection clips, then takes columns whose sum is below ``least`` to the simplex of that sum.

    Parameters
    ----------
    least : float, default=1e-8

    References
    ----------
    Zhao, Tan, Xu (2017), eq. (3) and section S-1, where the simplex has the wrong sum.
    """

    least: float = 1e-8
    couples: ClassVar[str] = "columns"
    entrywise: ClassVar[bool] = False
    polyhedral: ClassVar[bool] = False
    rowwise: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = True
    shape: ClassVar[Shape | None] = None
    l1: ClassVar[float] = 0.0
    l2: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.least <= 1:
            raise ValueError(f"Covering needs least in (0, 1], got {self.least!r}.")

    def net(self, rows: NDArray) -> NDArray:
        """Return zeros."""
        return np.zeros(len(rows))

    def value(self, rows: NDArray) -> NDArray:
        """Return zeros, or infinity where a row leaves [0, 1] or, for all rows, a column is not reached."""
        inside = (rows.min(axis=1, initial=0) >= -SLACK) & (rows.max(axis=1, initial=0) <= 1 + SLACK)
        covered = (rows.sum(axis=0, dtype=np.float64) >= self.least * (1 - SLACK)).all()
        return np.where(inside & covered, 0.0, np.inf)

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Return the closest matrix of the set."""
        clipped = np.clip(rows, 0, 1)
        bare = clipped.sum(axis=0, dtype=np.float64) < self.least
        if len(rows) and bare.any():
            clipped[:, bare] = Simplex(self.least).prox(rows[:, bare].T, step).T
        return clipped

    def conjugate(self, rows: NDArray) -> NDArray:
        """Return infinity: no set of codes."""
        return np.full(len(rows), np.inf)

    def normalize(self, rows: NDArray) -> NDArray:
        """Scale rows to a largest entry of one and project them on the set."""
        peaks = np.abs(rows).max(axis=1, keepdims=True)
        return self.prox((rows / np.maximum(peaks, TINY)).astype(rows.dtype, copy=False), 0.0)


@dataclass(frozen=True)
class UnitBall(_ElasticNetOnSet):
    """Rows of Euclidean length at most one."""

    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "rows"
    _shape: ClassVar[Shape] = Shape(radius=1.0)

    def _project(self, rows: NDArray) -> NDArray:
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)

    def _support(self, rows: NDArray) -> NDArray:
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), max(self.l2, TINY))


@dataclass(frozen=True)
class NonnegativeBall(_ElasticNetOnSet):
    """Rows without negative entries and of Euclidean length at most one.

    The projection clips at zero first and then scales; the other order is feasible, but not the closest point.
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
        return clipped / np.maximum(np.linalg.norm(clipped, axis=1, keepdims=True), max(self.l2, TINY))


@dataclass(frozen=True)
class NormBall:
    """Matrices without negative entries and of Frobenius norm at most ``radius``: all rows share one bound.

    Parameters
    ----------
    radius : float, default=1.0
        Above 0.

    References
    ----------
    Lyu (2022), eqs. (4.82) and (4.83): loading matrices of norm at most sqrt(R) |X|^(1/3) lose nothing.
    """

    radius: float = 1.0
    l1: ClassVar[float] = 0.0
    l2: ClassVar[float] = 0.0
    shape: ClassVar[None] = None
    couples: ClassVar[str] = "all"
    entrywise: ClassVar[bool] = False
    polyhedral: ClassVar[bool] = False
    rowwise: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.radius < np.inf:
            raise ValueError(f"NormBall needs a radius above 0, got {self.radius!r}.")

    def net(self, rows: NDArray) -> NDArray:
        """Return zeros: a set only."""
        return np.zeros(len(rows))

    def value(self, rows: NDArray) -> NDArray:
        """Return zeros inside the set and infinity outside."""
        inside = rows.min(initial=0) >= -SLACK and np.linalg.norm(rows) <= self.radius * (1 + SLACK)
        return np.full(len(rows), 0.0 if inside else np.inf)

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Return the nearest matrix of the set: clip, then scale."""
        clipped = np.maximum(rows, 0)
        return clipped / max(float(np.linalg.norm(clipped)) / self.radius, 1.0)

    def conjugate(self, rows: NDArray) -> NDArray:
        """Refuse: no row has a value of its own."""
        raise NotImplementedError("NormBall ties all rows together; there is no conjugate of a row.")

    def beside(self, rows: NDArray) -> NormBall:
        """Return the set of what may stand beside some rows."""
        left = self.radius**2 - float(np.vdot(rows, rows))
        return NormBall(max(left, (SLACK * self.radius) ** 2) ** 0.5)

    def project(self, rows: NDArray, fixed: int = 0) -> NDArray:
        """Return the nearest matrix of the set whose first ``fixed`` rows are these."""
        return np.concatenate([rows[:fixed], self.beside(rows[:fixed]).prox(rows[fixed:], 0.0)])

    def normalize(self, rows: NDArray) -> NDArray:
        """Scale rows to length one, clip, and project what is then too large."""
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return self.prox(rows / np.maximum(lengths, TINY), 0.0).astype(rows.dtype, copy=False)


@dataclass(frozen=True)
class Simplex(_ElasticNetOnSet):
    """Rows without negative entries that sum to ``total``.

    On the simplex the l1 penalty is constant: it counts in the value and changes no code.
    """

    total: float = 1.0
    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "rows"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.total < np.inf:
            raise ValueError(f"Simplex needs a finite total above 0, got {self.total!r}.")

    @property
    def shape(self) -> Shape:
        """The nonnegative rows of one sum."""
        return Shape(low=0.0, total=self.total)

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Return the proximal point of each row; l1, constant on the set, plays no part."""
        return self._project(rows / (1 + step * self.l2)).astype(rows.dtype, copy=False)

    def normalize(self, rows: NDArray) -> NDArray:
        """Scale the nonnegative part of each row to the sum of the simplex."""
        clipped = np.maximum(rows, 0)
        sums = clipped.sum(axis=1, keepdims=True)
        return self._project(clipped * (self.total / np.maximum(sums, TINY))).astype(rows.dtype, copy=False)

    def conjugate(self, rows: NDArray) -> NDArray:
        """Return the convex conjugate of the penalty at each row; l1, constant on the set, is subtracted."""
        if not self.l2:
            return self.total * (rows.max(axis=1) - self.l1)
        best = self._project(rows / self.l2)
        return (rows * best - 0.5 * self.l2 * best**2).sum(axis=1) - self.l1 * self.total

    def _project(self, rows: NDArray) -> NDArray:
        # Held, Wolfe and Crowder (1974): subtract the threshold at which the positive part sums to the total.
        rows = rows - rows.max(axis=1, keepdims=True)  # changes nothing but keeps large rows from losing the total
        ordered = -np.sort(-rows, axis=1)
        excess = np.cumsum(ordered, axis=1) - self.total
        counts = np.arange(1, rows.shape[1] + 1)
        support = (ordered * counts > excess).sum(axis=1)
        threshold = np.take_along_axis(excess, support[:, None] - 1, axis=1) / support[:, None]
        return np.maximum(rows - threshold, 0)


def _inside(rows: NDArray, shape: Shape) -> NDArray:
    """Return whether each row lies in the set, up to ``SLACK``."""
    inside = np.ones(len(rows), dtype=bool)
    if shape.low > -np.inf:
        inside &= rows.min(axis=1, initial=np.inf) >= shape.low - SLACK
    if shape.high < np.inf:
        inside &= rows.max(axis=1, initial=-np.inf) <= shape.high + SLACK
    if shape.radius < np.inf:
        inside &= np.linalg.norm(rows, axis=1) <= shape.radius * (1 + SLACK)
    if shape.total > 0:
        inside &= np.abs(rows.sum(axis=1, dtype=np.float64) - shape.total) <= SLACK * shape.total
    return inside
