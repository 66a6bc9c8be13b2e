"""Codes of samples under a fixed dictionary: pure functions with a certificate of how optimal they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from atomstream.dictionaries import Dictionary
from atomstream.objective import Objective
from atomstream.parallel import over_rows
from atomstream.penalties import TINY, Penalty
from atomstream.state import Batch

__all__ = ["Coder", "Codes", "CoordinateDescent", "ProjectedGradient"]


class Codes(NamedTuple):
    r"""Codes and how far each is from optimal.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_components)
    residual : ndarray of shape (n_samples,)
        Largest violation of the optimality conditions of a row, each over the length of its atom and of what the code
        leaves unexplained (at least the fourth root of the machine precision times the length of the row): without
        penalties the cosine between the remainder and the atom that could still reduce it. 0 exactly at optimal
        codes, never much above 1, and the same whatever the units of the data or the lengths of the atoms.
    """

    values: NDArray
    residual: NDArray


class Coder(Protocol):
    """Finds codes; states what it needs of the loss and of the set of codes."""

    needs: ClassVar[dict[str, tuple[str, ...]]]

    def encode(self, batch: Batch, dictionary: Dictionary, objective: Objective, tolerance: float) -> Codes:
        """Return codes whose residual is at most ``tolerance`` if the coder's limit on work allows."""
        ...


@dataclass(frozen=True)
class CoordinateDescent:
    r"""Minimise over one entry of the code at a time, exactly, until the optimality residual is small.

    Per row: the gradient :math:`g = Gh + \lambda_2 h - Dx` is computed afresh, the entries that violate the
    conditions or are not zero form the working set, sweeps over the working set update h and g until it is solved,
    and the conditions of all entries are checked again with a fresh gradient (in float32 a running one drifts).

    Parameters
    ----------
    max_sweeps : int, default=1000
        Sweeps over the working set that a row may take.
    n_jobs : int, default=1
        Threads over blocks of rows.

    References
    ----------
    Lyu, Needell, Balzano, Algorithm 2, with the exact coordinate step in place of the gradient step 1/tr(W'W).
    """

    max_sweeps: int = 1000
    n_jobs: int = 1
    needs: ClassVar[dict[str, tuple[str, ...]]] = {"loss": ("quadratic",), "codes": ("entrywise", "shape")}

    def encode(self, batch: Batch, dictionary: Dictionary, objective: Objective, tolerance: float) -> Codes:
        """Return codes whose residual is at most ``tolerance``, or those after ``max_sweeps``."""
        from atomstream._kernels.coordinate_descent import descend

        penalty, gram = objective.codes, dictionary.gram()
        low, high = penalty.shape[:2]  # type: ignore[index]
        number = gram.dtype.type
        codes = np.full((batch.X.shape[0], len(gram)), min(max(0.0, low), high), dtype=gram.dtype)
        residual = np.empty(len(codes))
        net = (number(penalty.l1), number(penalty.l2), number(low), number(high))

        def code(block: slice) -> None:
            linear, energy = dictionary.correlate(batch.X[block]), batch.energy[block]
            descend(codes[block], residual[block], gram, linear, energy, net, tolerance, self.max_sweeps)

        over_rows(code, len(codes), self.n_jobs)
        return Codes(codes, residual)


@dataclass(frozen=True)
class ProjectedGradient:
    r"""Gradient steps of length one over the largest eigenvalue of the Gram matrix, each followed by the prox.

    Works on every set of codes. Rows whose residual is small enough are left alone.

    Parameters
    ----------
    max_iter : int, default=10000
        Gradient steps that a row may take.
    momentum : bool, default=True
        Nesterov's extrapolation, restarted per row when it points uphill; without it Algorithm 2 of the paper.
    n_jobs : int, default=1
        Threads over blocks of rows.

    References
    ----------
    Lyu, Needell, Balzano, Algorithm 2 and eq. (151), where a factor 2 of lambda is missing; the stopping rule (152)
    cannot hold under a nonnegativity constraint, so rows stop on the proximal residual instead.
    O'Donoghue, Candes (2015), "Adaptive restart for accelerated gradient schemes", the gradient scheme.
    """

    max_iter: int = 10_000
    momentum: bool = True
    n_jobs: int = 1
    needs: ClassVar[dict[str, tuple[str, ...]]] = {"loss": ("quadratic",), "codes": ("prox",)}

    def encode(self, batch: Batch, dictionary: Dictionary, objective: Objective, tolerance: float) -> Codes:
        """Return codes whose residual is at most ``tolerance``, or those after ``max_iter``."""
        gram = dictionary.gram()
        smoothness = max(float(np.linalg.eigvalsh(gram.astype(np.float64))[-1]), TINY)
        codes = np.empty((batch.X.shape[0], len(gram)), gram.dtype)
        residual = np.empty(len(codes))

        def code(block: slice) -> None:
            linear = dictionary.correlate(batch.X[block])
            problem = _Quadratic(gram, linear, batch.energy[block], objective.codes, smoothness)
            codes[block], residual[block] = self._descend(problem, tolerance)

        over_rows(code, len(codes), self.n_jobs)
        return Codes(codes, residual)

    def _descend(self, problem: _Quadratic, tolerance: float) -> tuple[NDArray, NDArray]:
        codes = problem.penalty.prox(np.zeros_like(problem.linear), 0.0)
        residual = np.full(len(codes), np.inf)
        rows = np.arange(len(codes))
        point, ahead, pace = codes, codes, np.ones((len(codes), 1), codes.dtype)
        for _ in range(self.max_iter):
            moved = problem.step(ahead)
            next_pace = (1 + np.sqrt(1 + 4 * pace**2)) / 2
            uphill = ((ahead - moved) * (moved - point)).sum(axis=1, keepdims=True) > 0
            next_pace[uphill | (not self.momentum)] = 1
            ahead = moved + np.where(next_pace > 1, (pace - 1) / next_pace, 0) * (moved - point)
            codes[rows], residual[rows] = moved, problem.residual(moved)
            keep = residual[rows] > tolerance
            if not keep.any():
                break
            rows, point, ahead, pace = rows[keep], moved[keep], ahead[keep], next_pace[keep]
            if not keep.all():
                problem = problem.of(keep)
        return codes, residual


class _Quadratic(NamedTuple):
    """The coding problems of a block of rows: h G h' / 2 - h c + penalty, with |x|^2 known."""

    gram: NDArray
    linear: NDArray
    energy: NDArray
    penalty: Penalty
    smoothness: float

    def of(self, rows: NDArray) -> _Quadratic:
        """Return the problems of some of the rows."""
        return self._replace(linear=self.linear[rows], energy=self.energy[rows])

    def step(self, codes: NDArray) -> NDArray:
        """Return codes after one proximal gradient step."""
        slope = codes @ self.gram - self.linear
        return self.penalty.prox(codes - slope / self.smoothness, 1.0 / self.smoothness)

    def residual(self, codes: NDArray) -> NDArray:
        """Return the proximal residual of each row in the units of `Codes`."""
        slope = codes @ self.gram - self.linear
        target = self.penalty.prox(codes - slope / self.smoothness, 1.0 / self.smoothness)
        unexplained = self.energy + np.einsum("ij,ij->i", codes, slope - self.linear)
        floor = float(np.sqrt(np.finfo(self.gram.dtype).eps)) * self.energy
        scale = np.sqrt(np.maximum(unexplained, floor))
        lengths = np.sqrt(self.gram.diagonal())
        shrink = np.divide(self.smoothness, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        violation = (np.abs(codes - target) * shrink).max(axis=1, initial=0)
        return np.divide(violation, scale, out=np.zeros(len(codes)), where=scale > 0)
