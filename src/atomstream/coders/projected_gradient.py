"""Proximal gradient steps on codes under the squared loss, for every set of codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream._kernels.constants import MIN_PENALTY_SHARE
from atomstream.coders.base import Coder, Codes
from atomstream.coders.certificates import DualBound, duality_gap
from atomstream.coders.quadratic import Solver, code_by_blocks
from atomstream.dictionaries.base import Dictionary
from atomstream.penalties.base import TINY, Penalty
from atomstream.problem import Accuracy, Batch, Needs, Objective


@dataclass(frozen=True)
class ProjectedGradient(Coder):
    r"""Proximal gradient steps of length one over the largest eigenvalue of the Gram matrix.

    Works on every set of codes. Rows that are good enough are left alone. Computes in float64.

    Parameters
    ----------
    max_iter : int, default=10000
        Gradient steps that a row may take.
    momentum : bool, default=True
        Nesterov's extrapolation, restarted per row when it points uphill; without it Algorithm 2 of
        the paper.
    tol : float, {"log", "root"} or callable, optional
        As of every `Coder`.

    References
    ----------
    Lyu, Needell, Balzano, Algorithm 2 and eq. (151), where a factor 2 of lambda is missing; the
    stopping rule (152) cannot hold under a nonnegativity constraint, so rows stop on `Accuracy`
    instead. O'Donoghue, Candes (2015), "Adaptive restart for accelerated gradient schemes", the
    gradient scheme.
    """

    max_iter: int = 10_000
    momentum: bool = True
    tol: Any = None
    handles_mask: ClassVar[bool] = True
    weighs_entries: ClassVar[bool] = True
    needs: ClassVar[Needs] = {"loss": ("quadratic",), "codes": ("rowwise", "convex")}

    def encode(
        self,
        batch: Batch,
        dictionary: Dictionary,
        objective: Objective,
        accuracy: Accuracy,
        start: NDArray | None = None,
    ) -> Codes:
        """Return codes of this accuracy, or those after ``max_iter``, searched from ``start``."""
        penalty, eps = objective.codes, np.finfo(batch.X.dtype).eps
        # Of the energy of a row: less than that unexplained is rounding (see `Accuracy`).
        rest = max(float(np.sqrt(np.finfo(np.float64).eps)), 8 * float(eps))

        def make(gram: NDArray) -> Solver:
            """Return what solves for rows whose atoms have these products."""
            # Of atoms that are all zeros the curvature is 0, and a step of any length is right.
            smoothness = max(float(np.linalg.eigvalsh(gram)[-1]), TINY)
            bound = DualBound.of(gram, penalty)

            def solve(
                start: NDArray | None, linear: NDArray, energy: NDArray
            ) -> tuple[NDArray, NDArray]:
                problem = _Quadratic(gram, linear, energy, penalty, smoothness, bound, rest)
                codes = penalty.prox(np.zeros_like(linear) if start is None else start, 0.0)
                return self._descend(problem, codes, accuracy)

            return solve

        return code_by_blocks(make, batch, dictionary, np.float64, start)

    def _descend(
        self, problem: _Quadratic, codes: NDArray, accuracy: Accuracy
    ) -> tuple[NDArray, NDArray]:
        rows, gap = np.arange(len(codes)), np.full(len(codes), np.inf)
        point, ahead, pace = codes, codes, np.ones((len(codes), 1))
        codes = codes.copy()
        for _ in range(self.max_iter):
            moved = problem.step(ahead)
            # Nesterov's sequence.
            next_pace = (1 + np.sqrt(1 + 4 * pace**2)) / 2
            # The step points back against the last move: the row was carried beyond the minimum.
            uphill = ((ahead - moved) * (moved - point)).sum(axis=1, keepdims=True) > 0
            next_pace[uphill | (not self.momentum)] = 1
            # At a pace of 1 nothing is extrapolated: a restarted row begins with a plain step.
            ahead = moved + np.where(next_pace > 1, (pace - 1) / next_pace, 0) * (moved - point)
            codes[rows] = moved
            violation, gap[rows] = problem.distance(moved)
            keep = (violation > accuracy.violation) & (gap[rows] > accuracy.gap)
            if not keep.any():
                break
            # Rows that are done leave the block, so that none depends on who else is in it.
            rows, point, ahead, pace = rows[keep], moved[keep], ahead[keep], next_pace[keep]
            if not keep.all():
                problem = problem.of(keep)
        return codes, gap


class _Quadratic(NamedTuple):
    """The coding problems of a block of rows: h G h' / 2 - h c + penalty, with |x|^2 known."""

    gram: NDArray
    linear: NDArray
    energy: NDArray
    penalty: Penalty
    smoothness: float
    bound: DualBound
    rest: float

    def of(self, rows: NDArray) -> _Quadratic:
        """Return the problems of some of the rows."""
        return self._replace(linear=self.linear[rows], energy=self.energy[rows])

    def step(self, codes: NDArray) -> NDArray:
        """Return codes after one proximal gradient step."""
        slope = codes @ self.gram - self.linear
        return self.penalty.prox(codes - slope / self.smoothness, 1.0 / self.smoothness)

    def distance(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return the largest violation of each row, by its proximal step, and its duality gap."""
        slope = codes @ self.gram - self.linear
        gap = duality_gap(codes, slope, self.linear, self.energy, self.penalty, self.bound)
        # A proximal step moves an entry by its violation over the smoothness.
        target = self.penalty.prox(codes - slope / self.smoothness, 1.0 / self.smoothness)
        unexplained = self.energy + np.einsum("ij,ij->i", codes, slope - self.linear)
        least = MIN_PENALTY_SHARE * self.penalty.l1 * np.abs(codes).sum(axis=1)
        scale = np.sqrt(np.maximum(unexplained, np.maximum(least, self.rest * self.energy)))
        # With the squared penalty an atom is as long as if it had one more feature for it.
        lengths = np.sqrt(self.gram.diagonal() + self.penalty.l2)
        shrink = np.divide(self.smoothness, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        violation = (np.abs(codes - target) * shrink).max(axis=1, initial=0)
        return np.divide(violation, scale, out=np.zeros(len(codes)), where=scale > 0), gap
