"""Projected steps against the newest batch's subgradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from atomstream.coders import Coder, ProjectedSubgradient
from atomstream.core.clock import Clock
from atomstream.core.objective import Objective
from atomstream.core.state import State
from atomstream.dictionaries.rows import Rows
from atomstream.losses import Loss
from atomstream.memory.subgradient import Subgradient, Subgradients
from atomstream.penalties.base import Penalty
from atomstream.penalties.covering import Covering
from atomstream.penalties.interval import Box
from atomstream.updates.base import Latest, Updater

__all__ = ["SubgradientStep"]

UNITS = 10.0  # of one over the curvature for a / b = 1, capped at one: a tenth of a must still do


@dataclass(frozen=True)
class SubgradientStep(Updater[State[Rows, Subgradient]]):
    r"""Step against the newest batch's subgradient, by ever shorter lengths, and project.

    At step t, with :math:`\tau` the mass of the batch, :math:`10\,\eta_t = 10 a / (\tau t + b)` is
    a length in units of one over the curvature of each feature's problem (see `Subgradient`), never
    above one unit: raw lengths would have to be chosen anew for every loss and every scale of the
    data. Since :math:`\eta_t` tends to 0, its sum is infinite and the sum of its squares finite, as
    Theorem 1 needs; the cap ends after finitely many steps.

    Parameters
    ----------
    a, b : float, default=2e4
        Above 0.
    fixed : int, default=0
        The first so many atoms are never changed.

    References
    ----------
    Zhao, Tan, Xu (2017), Algorithm 1 and eq. (8).
    """

    a: float = 2e4
    b: float = 2e4
    fixed: int = 0
    statistics: ClassVar[Subgradients] = Subgradients()
    coder: ClassVar[Coder | None] = ProjectedSubgradient()

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(
                    f"SubgradientStep needs {name} above 0, got {getattr(self, name)!r}."
                )

    def update(
        self,
        state: State[Rows, Subgradient],
        objective: Objective,
        clock: Clock,
        latest: Latest | None = None,
    ) -> None:
        """Step and project."""
        memory = state.memory
        mass = latest[0].mass if latest is not None else 1.0
        rate = min(1.0, UNITS * self.a / (mass * clock.step + self.b))
        atoms = state.dictionary.atoms().astype(np.float64)
        # A feature without curvature has no slope either: nothing is divided by zero.
        curvature = np.maximum(memory.curvature, np.finfo(np.float64).tiny)
        moved = objective.atoms.prox(atoms - rate * memory.slope / curvature, 0.0)
        # After the projection, which may move every row where the set ties rows together.
        moved[: self.fixed] = atoms[: self.fixed]
        state.dictionary.assign(moved)

    def sets(self, loss: Loss) -> tuple[Penalty, Penalty]:
        """Return the paper's sets: bounded positive codes, atoms that cover all features."""
        return Box(1e-8, 1e8), Covering()
