"""Codes under divergences: multiplicative updates while learning, Newton steps to the last digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.coders.base import Codes
from atomstream.coders.newton import polish
from atomstream.dictionaries import Dictionary
from atomstream.losses import Loss
from atomstream.majorisers import bend
from atomstream.objective import Objective
from atomstream.parallel import over_rows
from atomstream.penalties import Penalty
from atomstream.state import Accuracy, Batch
from atomstream.views import Dense, view

__all__ = ["Multiplicative"]

RIDGE = 1e-6  # of the least squares that start a code, relative to the mean square of the atoms
SHARE = 0.02  # of an even code that every starting entry has at least: what is zero stays zero
FILLED = 4  # rounds of least squares and filling in, where entries are missing


@dataclass(frozen=True)
class Multiplicative:
    r"""Codes under any loss with a power majoriser, by minimising that majoriser again and again.

    Starts from least squares, weighted by features, which multiplicative updates would take thousands of rounds to
    reach where atoms are alike. Every round goes downhill (`atomstream.majorisers`). While learning a row is left
    when a round moves less than a tenth of the accuracy's violation of it; exact codes are finished by Newton steps,
    each a quadratic program solved by `ActiveSet`'s kernel.

    Parameters
    ----------
    max_rounds : int, default=20
        Rounds that a row may take before it is left, or handed to the Newton steps.
    max_newton : int, default=100
        Newton steps that a row may take.
    n_jobs : int, default=1
        Threads over blocks of rows.

    References
    ----------
    docs/algorithms/divergences.md.
    """

    max_rounds: int = 20
    max_newton: int = 100
    n_jobs: int = 1
    handles_mask: ClassVar[bool] = True
    needs: ClassVar[dict[str, tuple[str, ...]]] = {
        "loss": ("exponents", "split"),
        "codes": ("polyhedral", "shape", "nonnegative"),
    }

    def __post_init__(self) -> None:
        for name in ("max_rounds", "max_newton"):
            if getattr(self, name) < 1:
                raise ValueError(f"Multiplicative needs {name} of at least 1, got {getattr(self, name)!r}.")

    def encode(
        self,
        batch: Batch,
        dictionary: Dictionary,
        objective: Objective,
        accuracy: Accuracy,
        start: NDArray | None = None,
    ) -> Codes:
        """Return codes of this accuracy, or those after the last round, searched from ``start``.

        The residual is what the last Newton step promised to gain, as a share of the objective; infinite where the
        accuracy asked for none.
        """
        exact = accuracy.violation == 0
        atoms = dictionary.atoms().astype(np.float64 if exact else batch.X.dtype, copy=False)
        codes = np.empty((batch.X.shape[0], len(atoms)), batch.X.dtype)
        residual, penalty = np.full(len(codes), np.inf), objective.codes
        projector = _least_squares(atoms, objective.loss)

        def code(rows: slice) -> None:
            """Write the codes of a block of rows."""
            seen = view(batch, rows, atoms, objective.loss)
            found = _start(seen, projector, penalty) if start is None else start[rows].astype(atoms.dtype)
            found = _inside(found, penalty)
            found = seen.rounds(found, penalty, self.max_rounds, 1e-3 if exact else 0.1 * accuracy.violation)
            if exact:
                found, residual[rows] = polish(seen, found, penalty, accuracy.gap, self.max_newton)
            codes[rows] = found

        over_rows(code, len(codes), self.n_jobs)
        return Codes(codes, residual)


def _least_squares(atoms: NDArray, loss: Loss) -> NDArray:
    """Return the matrix, (n_features, n_components), that takes a sample to its weighted least-squares code.

    A feature's weight is the bend of the loss at the mean of the atoms: a property of the dictionary, so that a code
    does not depend on the other rows of a batch.
    """
    rows = atoms.astype(np.float64, copy=False)
    middle = rows.mean(axis=0, keepdims=True)
    middle = np.maximum(middle, 1e-3 * middle.mean() + np.finfo(np.float64).tiny)
    plus, minus = loss.split(middle, middle)
    weights = np.broadcast_to(bend(loss.exponents, plus, minus, middle), middle.shape)
    weighted = rows * (weights / weights.max())
    gram = weighted @ rows.T
    gram[np.diag_indices_from(gram)] += RIDGE * gram.trace() / len(gram) + np.finfo(np.float64).tiny
    return (weighted.T @ np.linalg.inv(gram)).astype(atoms.dtype)


def _start(seen: Any, projector: NDArray, penalty: Penalty) -> NDArray:
    """Return the least-squares codes, no entry below a small share of an even code."""
    samples, atoms = seen.sums()
    even = samples / np.maximum(atoms.sum(axis=1, keepdims=True), np.finfo(atoms.dtype).tiny)
    codes = np.repeat(even, atoms.shape[1], axis=1)
    for _ in range(FILLED if isinstance(seen, Dense) and seen.masked else 1):
        codes = np.maximum(seen.project(projector, codes), SHARE * even)
    return codes


def _inside(codes: NDArray, penalty: Penalty) -> NDArray:
    """Return codes inside their set, none of their entries pushed to zero."""
    low, high, _, total = penalty.shape  # type: ignore[misc]
    if not total:
        return np.clip(codes, low, high)
    sums = codes.sum(axis=1, keepdims=True)
    even = np.full_like(codes, total / codes.shape[1])
    return np.divide(codes * codes.dtype.type(total), sums, out=even, where=sums > 0)
