"""Projected steps against the newest batch's subgradient."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from atomstream.base import Fixed, are_fixed
from atomstream.base.parameters import number, one_of
from atomstream.coders import Coder, ProjectedSubgradient
from atomstream.dictionaries.rows import Rows
from atomstream.losses import Loss
from atomstream.memory import State, Subgradient, Subgradients
from atomstream.penalties import Box, Covering, Penalty
from atomstream.problem import Clock, Needs, Objective
from atomstream.updates.base import CodedBatch, Updater

UNITS = ("curvature", "printed")


@dataclass(frozen=True)
class SubgradientStep(Updater[State[Rows, Subgradient]]):
    r"""Step against the newest batch's subgradient, by ever shorter lengths, and project.

    The length of a step is :math:`a / (\tau t + b)`, where :math:`\tau t` is the number of samples
    so far, the newest batch included. It tends to 0, its sum is infinite and the sum of its squares
    is finite, as Theorem 1 needs.

    Parameters
    ----------
    a, b : float, default=2e4
        Above 0. The first steps have the length a / b. They have halved after b samples.
    fixed : int or tuple of int, default=0
        The first so many atoms, or those at these places, are never changed.
    unit : {"curvature", "printed"}, default="curvature"
        Unit of the length: "curvature" is one over the curvature of each feature's problem (see
        `Subgradient`), so that the same a and b serve every loss and every scale of the data;
        "printed" is 1, as in the paper, where a must be chosen anew for each of them.

    References
    ----------
    Zhao, Tan, Xu (2017), Algorithm 1, eq. (8) and section VIII-C.
    """

    a: float = 2e4
    b: float = 2e4
    fixed: Fixed = 0
    unit: str = "curvature"
    statistics: ClassVar[Subgradients] = Subgradients()
    needs: ClassVar[Needs] = {"loss": ("fixed",), "atoms": ("convex",)}
    coder: ClassVar[Coder | None] = ProjectedSubgradient()
    BOUNDS: ClassVar = {"a": number(above=True), "b": number(above=True), "unit": one_of(*UNITS)}

    def update(
        self,
        state: State[Rows, Subgradient],
        objective: Objective,
        clock: Clock,
        latest: Sequence[CodedBatch] = (),
    ) -> None:
        """Step and project."""
        memory = state.memory
        # Samples are counted, not steps: tau t would jump back where a pass ends on a small batch.
        seen = clock.n_samples + sum(each.batch.X.shape[0] for each in latest)
        move = self.a / (seen + self.b) * memory.slope
        if self.unit == "curvature":
            # A feature without curvature has no slope either: nothing is divided by zero.
            move /= np.maximum(memory.curvature, np.finfo(np.float64).tiny)
        atoms = state.dictionary.atoms().astype(np.float64)
        moved = objective.atoms.prox(atoms - move, 0.0)
        # After the projection, which may move every row where the set ties rows together.
        stays = are_fixed(self.fixed, len(atoms))
        moved[stays] = atoms[stays]
        state.dictionary.assign(moved)

    def sets(self, loss: Loss) -> tuple[Penalty, Penalty]:
        """Return the paper's sets: bounded positive codes, atoms that cover all features."""
        return Box(1e-8, 1e8), Covering()
