"""Balls and spheres: rows, or all entries together, of a given Euclidean length or a lower one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import number
from atomstream.penalties.base import SLACK, ElasticNetOnSet, Penalty, Shape, directions


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
