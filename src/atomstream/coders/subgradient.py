"""Codes by projected subgradient steps under any loss that has a gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import over_rows
from atomstream.base.parameters import one_of, whole
from atomstream.coders import Coder, Codes, Multiplicative
from atomstream.coders.newton import polish
from atomstream.coders.starting import least_squares, starting_codes
from atomstream.dictionaries.base import Dictionary
from atomstream.penalties.base import Penalty
from atomstream.problem import Accuracy, Batch, Needs, Objective
from atomstream.problem.products import Products, on_possible_features, products

PROMISED = 0.01  # alpha of Armijo's rule: this share of what the gradient promises must come true
SHRINK = 0.1  # gamma of Armijo's rule
MAX_SHRINKS = 10  # q: how often a step is shrunk
BELOW = 0.01  # delta of Polyak's rule: the goal lies this share below the best objective so far
NEWTON = 300  # steps that finish an exact code
RULES = ("auto", "armijo", "constant", "polyak")


@dataclass(frozen=True)
class ProjectedSubgradient(Coder):
    r"""Codes by steps :math:`h \leftarrow \Pi(h - \xi g)` with g a subgradient of the objective.

    Steps are in units of one over a bound of the curvature along the row (the trace of its weighted
    Gram matrix), so that they mean the same under every loss and at every scale.

    Parameters
    ----------
    rule : {"auto", "armijo", "constant", "polyak"}, default="auto"
        "armijo" starts from ten units and shrinks tenfold until the objective falls by 0.01 of what
        the gradient promises for the *projected* step; "constant" is one unit, 1/L of section V-C;
        "polyak" goes where the linear model reaches a goal 1 % below the best objective so far, and
        keeps the best code. "auto" is "polyak" for losses with kinks (those without ``curvature``),
        else "armijo".
    max_iter : int, default=200
        Steps that a row may take. Exact codes are those of `Multiplicative`; where it does not know
        the loss, they are finished by Newton steps.
    tol : float, {"log", "root"} or callable, optional
        As of every `Coder`.

    References
    ----------
    Zhao, Tan, Xu (2017), Algorithms 2 and 3, where the test of the latter lacks the projection, and
    section V-C.
    """

    rule: str = "auto"
    max_iter: int = 200
    tol: Any = None
    handles_mask: ClassVar[bool] = True
    needs: ClassVar[Needs] = {"codes": ("rowwise", "convex")}
    BOUNDS: ClassVar = {"rule": one_of(*RULES), "max_iter": whole()}

    def encode(
        self,
        batch: Batch,
        dictionary: Dictionary,
        objective: Objective,
        accuracy: Accuracy,
        start: NDArray | None = None,
    ) -> Codes:
        """Return codes of this accuracy, or those after ``max_iter`` steps, from ``start`` on.

        The residual is what a step of one unit promises to gain, as a share of the objective.
        """
        if accuracy.violation == 0 and objective.loss.exponents and objective.codes.nonnegative:
            return Multiplicative().encode(batch, dictionary, objective, accuracy, start)
        atoms = dictionary.atoms().astype(np.float64)
        codes = np.empty((batch.X.shape[0], len(atoms)), batch.X.dtype)
        residual = np.empty(len(codes))
        batch, atoms = on_possible_features(batch, atoms, objective.loss)
        projector = least_squares(atoms, objective.loss)
        blocks = products(batch, atoms, objective.loss)
        # The unit of steps may be too short by the number of atoms, where all are alike.
        # (A gain is of the second order in the violation, hence its square.)
        enough = max(accuracy.gap, accuracy.violation**2 / len(atoms))
        kinks = objective.loss.has_kinks
        finish = accuracy.violation == 0 and objective.codes.polyhedral
        rule = self.rule if self.rule != "auto" else "polyak" if kinks else "armijo"

        def code(rows: slice) -> None:
            """Write the codes of a block of rows."""
            problem = _Problem(blocks(rows), objective.codes)
            if start is None:
                found = starting_codes(problem.block, projector)
            else:
                found = start[rows].astype(np.float64)
            found, promised = self._descend(problem, objective.codes.prox(found, 0.0), rule, enough)
            if finish:
                found, promised = polish(
                    problem.block, found, objective.codes, accuracy.gap, NEWTON
                )
            codes[rows], residual[rows] = found, promised

        over_rows(code, len(codes), atoms.size)
        return Codes(codes, residual)

    def _descend(
        self, problem: _Problem, codes: NDArray, rule: str, enough: float
    ) -> tuple[NDArray, NDArray]:
        # Subgradient steps may rise, so the best code is kept beside the newest.
        best, left = codes.copy(), np.arange(len(codes))
        lowest = problem.values(codes)
        residual, here = np.full(len(codes), np.inf), problem
        for _ in range(self.max_iter):
            point = codes[left]
            value = here.values(point)
            slope, unit = here.slope(point)
            promise = -np.einsum("ij,ij->i", slope, here.move(point, slope, unit) - point)
            residual[left] = promise / np.maximum(np.abs(value), np.finfo(float).tiny)
            keep = residual[left] > enough
            if not keep.all():
                left = left[keep]
                if not len(left):
                    break
                here, point, value = problem.of(left), point[keep], value[keep]
                slope, unit = slope[keep], unit[keep]
            moved = self._step(here, point, value, slope, unit, lowest[left], rule)
            codes[left], value = moved, here.values(moved)
            lower = value < lowest[left]
            best[left[lower]], lowest[left[lower]] = moved[lower], value[lower]
        return best, residual

    def _step(
        self,
        here: _Problem,
        point: NDArray,
        value: NDArray,
        slope: NDArray,
        unit: NDArray,
        lowest: NDArray,
        rule: str,
    ) -> NDArray:
        if rule == "constant":
            return here.move(point, slope, unit)
        if rule == "polyak":
            # (f - goal) / |g|^2 with a goal a little below the best value: the minimum is not
            # known.
            square = np.maximum(np.einsum("ij,ij->i", slope, slope), np.finfo(float).tiny)
            return here.move(point, slope, (value - lowest + BELOW * np.abs(lowest)) / square)
        # From ten units down: the unit is made of a bound of the curvature, and most rows bear
        # more.
        moved, left, length = point.copy(), np.arange(len(point)), unit / SHRINK
        for _ in range(MAX_SHRINKS + 1):
            some = here if len(left) == len(point) else here.of(left)
            tried = some.move(point[left], slope[left], length[left])
            promise = np.einsum("ij,ij->i", slope[left], tried - point[left])
            good = some.values(tried) <= value[left] + PROMISED * promise
            moved[left[good]] = tried[good]
            left = left[~good]
            if not len(left):
                break
            length = length * SHRINK
        return moved


class _Problem:
    """The coding problems of a block of rows."""

    def __init__(self, block: Products, penalty: Penalty) -> None:
        self.block, self._penalty = block, penalty

    def of(self, rows: NDArray) -> _Problem:
        """Return the problems of some of the rows."""
        return _Problem(self.block.of(rows), self._penalty)

    def values(self, codes: NDArray) -> NDArray:
        """Return the objective of each row."""
        return self.block.losses(codes) + self._penalty.elastic_net(codes)

    def slope(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return a subgradient of the objective, and the unit of steps of each row."""
        plus, minus, curvature = self.block.split_entries(codes)
        slope = self.block.code_gradient(plus) - self.block.code_gradient(minus)
        # sign(0) = 0, a subgradient of the absolute value at 0.
        slope = slope + self._penalty.l1 * np.sign(codes)
        slope = slope + self._penalty.l2 * codes
        curvature = self.block.code_curvature(curvature) + self._penalty.l2
        # A row of zeros has no curvature under most divergences: there a unit is the whole code.
        size = np.abs(codes).sum(axis=1)
        straight = np.abs(slope).max(axis=1) / np.where(size > 0, size, 1)
        curvature = np.where(curvature > 0, curvature, straight)
        return slope, 1 / np.maximum(curvature, np.finfo(float).tiny)

    def move(self, codes: NDArray, slope: NDArray, length: NDArray) -> NDArray:
        """Return the projection of a step against the slope."""
        return self._penalty.prox(codes - length[:, None] * slope, 0.0)
