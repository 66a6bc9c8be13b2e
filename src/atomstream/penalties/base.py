"""The interface of a penalty, and the elastic net on a convex set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import Part, number

# a point this far outside a set (relative to its size) still counts as inside: float32 rounding
SLACK = 1e-5
TINY = float(np.finfo(np.float64).tiny)  # stands for 0 where a sum of squares is divided by


class Shape(NamedTuple):
    """A set as compiled kernels know it: intervals, then a ball or a simplex per row."""

    low: float = -np.inf
    high: float = np.inf
    radius: float = np.inf
    total: float = 0.0  # 0: no simplex


class Penalty(Part, ABC):
    r"""A penalty on rows of codes or atoms; a constraint is 0 inside its set, infinite outside.

    A set of your own inherits from this class and defines ``couples`` and ``prox``; all else has a
    default. Codes need ``conjugate`` besides, which certifies them.

    Attributes
    ----------
    couples : {"entries", "rows", "columns", "all"}
        Which entries are tied together: none, those of a row, those of a column, all. Codes and
        block coordinate descent need rows that can be minimised alone.
    convex : bool, default=True
        Whether the set is convex; steps towards codes need that it is.
    """

    couples: ClassVar[str]
    convex: ClassVar[bool] = True

    @property
    def l1(self) -> float:
        """Strength of the l1 norm, 0 by default."""
        return 0.0

    @property
    def l2(self) -> float:
        """Strength of the squared l2 norm (halved), 0 by default."""
        return 0.0

    @property
    def shape(self) -> Shape | None:
        """The set for compiled kernels; None, the default: coders and updaters use `prox`."""
        return None

    @property
    def rowwise(self) -> bool:
        """True where every row can be minimised alone (what block coordinate descent needs)."""
        return self.couples in ("entries", "rows")

    @property
    def polyhedral(self) -> bool:
        """True where kernels know the set as intervals or as a simplex (what active sets need)."""
        return self.shape is not None and (self.couples == "entries" or self.shape.total > 0)

    @property
    def most_nonzero(self) -> int | None:
        """Number of entries of a row that may differ from zero; None, the default: any."""
        return None

    @property
    def nonnegative(self) -> bool:
        """True where the set holds no negative entry."""
        return self.shape is not None and self.shape.low >= 0

    @property
    def is_cone(self) -> bool:
        """True where the set holds every nonnegative multiple of its rows."""
        own = self.shape
        return (
            own is not None
            and own.low in (0, -np.inf)
            and own.high == own.radius == np.inf
            and (not own.total)
        )

    def elastic_net(self, rows: NDArray) -> NDArray:
        """Return l1 |u|_1 + l2 |u|^2 / 2 of each row u: the penalty where rows lie in the set."""
        total = np.zeros(len(rows))
        if self.l1:
            total += self.l1 * np.abs(rows).sum(axis=1, dtype=np.float64)
        if self.l2:
            total += 0.5 * self.l2 * np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        return total

    def value(self, rows: NDArray) -> NDArray:
        """Return the penalty of each row, infinite where the projection would move it."""
        # A point is in a set if its projection does not move it.
        off = np.abs(self.prox(rows, 0.0) - rows).max(axis=1, initial=0)
        inside = off <= SLACK * np.abs(rows).max(axis=1, initial=1)
        return np.where(inside, self.elastic_net(rows), np.inf)

    @abstractmethod
    def prox(self, rows: NDArray, step: float) -> NDArray:
        r"""Return :math:`\arg\min_u \tfrac12\|u - x\|^2 + step \cdot P(u)` for each row x.

        For a set that is the projection, whatever the step.
        """

    def conjugate(self, rows: NDArray) -> NDArray:
        r"""Return :math:`P^*(v) = \max_u \langle v, u\rangle - P(u)` of each row v.

        Infinite where unbounded. Infinity, the default, is an upper bound of any: codes are then
        found, but never certified.
        """
        return np.full(len(rows), np.inf)

    def normalize(self, rows: NDArray) -> NDArray:
        """Scale rows to the size of the set (length one) and project them, for starting atoms."""
        return self.prox(directions(rows), 0.0).astype(rows.dtype, copy=False)

    def beside(self, rows: NDArray) -> Penalty:
        """Return the set of what may stand beside some rows: itself, unless rows are tied."""
        return self


def balanced(rows: NDArray) -> NDArray:
    """Return rows times powers of two, so that the largest entry of each is from 1/2 to 1.

    Nothing is rounded, and squares and sums are numbers whatever the size of the rows. Rows of
    zeros stay.
    """
    _, exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True, initial=0))
    return np.ldexp(rows, -exponents)


def directions(rows: NDArray) -> NDArray:
    """Return rows divided by their lengths; rows of zeros stay."""
    rows = balanced(rows)  # of length 1/2 or more
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 0.5)


def kernel_form(penalty: Penalty) -> tuple[float, float, float, float, float, float]:
    """Return (l1, l2, low, high, radius, total): a penalty as the kernels take it."""
    if penalty.shape is None:
        raise TypeError(f"{penalty!r} has no shape for compiled kernels.")
    low, high, radius, total = map(float, penalty.shape)
    return float(penalty.l1), float(penalty.l2), low, high, radius, total


def weakened(penalty: Penalty, share: float) -> Penalty:
    """Return a set with its elastic net times a share; sets of other kinds as they are."""
    if not isinstance(penalty, ElasticNetOnSet) or not (penalty.l1 or penalty.l2):
        return penalty
    fields: Any = penalty  # every set with an elastic net is a dataclass with these fields
    return replace(fields, l1=share * penalty.l1, l2=share * penalty.l2)


def project(rows: NDArray, penalty: Penalty, fixed: int) -> NDArray:
    """Return the nearest rows of a set whose first ``fixed`` rows are these."""
    free = penalty.beside(rows[:fixed]).prox(rows[fixed:], 0.0)
    return np.concatenate([rows[:fixed], free])


class ElasticNetOnSet(Penalty):
    """The elastic net on a set that the kernels know: its ``shape`` and ``_project``."""

    l1: float
    l2: float
    _shape: ClassVar[Shape] = Shape()
    BOUNDS: ClassVar = {"l1": number(), "l2": number()}

    @property
    def shape(self) -> Shape:
        """The set in the words of the kernels."""
        return self._shape

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Return the proximal point of each row: shrink towards zero, then project on the set."""
        # On every set here the order "shrink, then project" is exact: intervals because one
        # dimension is, balls because they only scale, the simplex because l1 is constant on it.
        shrunk = rows
        if self.l1:
            shrunk = self._shrink(rows, step * self.l1)
        if self.l2:
            # The minimiser of (u - x)^2 / 2 + step l2 u^2 / 2.
            shrunk = shrunk / (1 + step * self.l2)
        return self._project(shrunk).astype(rows.dtype, copy=False)

    def conjugate(self, rows: NDArray) -> NDArray:
        """Return the convex conjugate of the penalty at each row, infinite where unbounded."""
        best = self._support(self._shrink(rows, self.l1))
        # Infinity minus infinity comes of entries that the last line replaces.
        with np.errstate(invalid="ignore"):
            value = (rows * best - self.l1 * np.abs(best) - 0.5 * self.l2 * best**2).sum(axis=1)
        return np.where(np.isfinite(best).all(axis=1), value, np.inf)

    @abstractmethod
    def _project(self, rows: NDArray) -> NDArray:
        """Return the closest point of the set to each row."""

    def _support(self, rows: NDArray) -> NDArray:
        """Return the points of the set that maximise <row, u> - l2 |u|^2 / 2, for intervals."""
        low, high = self.shape.low, self.shape.high
        if self.l2:
            # Concave in each entry: the free maximum, brought to the nearest bound.
            return np.clip(rows / self.l2, low, high)
        # Linear in each entry: an end is best, and where the slope is 0 all points are alike.
        return np.where(rows > 0, high, np.where(rows < 0, low, min(max(low, 0.0), high)))

    @staticmethod
    def _shrink(rows: NDArray, threshold: float) -> NDArray:
        """Move every entry towards zero by the threshold."""
        return np.sign(rows) * np.maximum(np.abs(rows) - threshold, 0)
