"""What a penalty offers, and the elastic net on a convex set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Penalty"]

# a point this far outside a set (relative to its size) still counts as inside: float32 rounding
SLACK = 1e-5
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
                raise ValueError(
                    f"{type(self).__name__} needs {name} of at least 0, got {getattr(self, name)!r}."
                )

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
        # On every set here the order "shrink, then project" is exact: intervals because one
        # dimension is,
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
        with np.errstate(
            invalid="ignore"
        ):  # infinity minus infinity, for entries that the next line replaces
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
