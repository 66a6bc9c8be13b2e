"""Sweep over the atoms of a dictionary that also predicts, and solve for its head."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import number
from atomstream.fields.labels.losses import LabelLoss, Logistic
from atomstream.fields.labels.memory import LabelledSums
from atomstream.problem import Clock, Objective
from atomstream.updates.base import CodedBatch
from atomstream.updates.block_coordinate import BlockCoordinate

MIN_DIAGONAL = 1e-12  # of itself: keeps heads of inputs that are always 0 solvable


@dataclass(frozen=True)
class LabelledDescent(BlockCoordinate):
    r"""Sweep over the atoms as `BlockCoordinate`, with what labels add, and solve for the head.

    The surrogate of the squared loss, A and B, gets a parabola for the loss of the labels around
    the atoms D' that the last labels were measured at, with its average slope P and curvature b:

    .. math:: \tfrac12 tr(D^\top A D) - tr(D^\top B)
              + u\, tr(P (D - D')^\top) + \tfrac{u}{2} \sum_j b_j |d_j - d_j'|^2.

    The unit u is ``weight`` times half the mean squared length of a sample, so that ``weight`` does
    not depend on the units of the data. The head minimises the average of parabolas above the
    losses of past labels, with :math:`\tfrac{shrinkage}{2} \sum_j A_{jj} |C_j|^2`.

    Parameters
    ----------
    labels : LabelLoss, default=Logistic()
    weight : float, default=0.3
        0 leaves the atoms to the samples, to the bit.
    shrinkage : float, default=1e-3
    """

    labels: LabelLoss = Logistic()  # noqa: RUF009 - frozen
    weight: float = 0.3
    shrinkage: float = 1e-3
    BOUNDS: ClassVar = {"weight": number(), "shrinkage": number()}
    descends_on_full_data: ClassVar[bool] = False
    weighs_entries: ClassVar[bool] = False

    @property
    def statistics(self) -> LabelledSums:  # type: ignore[override]
        """What is measured of a batch: the sums of the squared loss, and those of the labels."""
        return LabelledSums(self.labels, for_atoms=bool(self.weight))

    def update(
        self,
        state: Any,
        objective: Objective,
        clock: Clock,
        latest: Sequence[CodedBatch] = (),
    ) -> None:
        """Sweep over the atoms, then solve for the head."""
        super().update(state, objective, clock, latest)
        labels, dictionary = state.memory.labels, state.dictionary
        if labels.mass:  # else nothing is known of a head
            penalties = head_penalties(state.memory, dictionary, self.shrinkage)
            system = labels.head_gram / labels.mass + np.diag(penalties)
            size = system.diagonal()
            system = system + np.diag(np.where(size > 0, MIN_DIAGONAL * size, 1.0))
            dictionary.head = np.linalg.solve(system, labels.head_cross / labels.mass)

    def _sums(self, memory: Any, atoms: NDArray) -> tuple[NDArray, NDArray]:
        """Return A and B with the parabola of the labels around the atoms it was measured at."""
        gram, cross = super()._sums(memory, atoms)
        labels = memory.labels
        if not self.weight or not labels.mass:
            return gram, cross
        unit = self.weight * memory.constant / labels.mass
        curvature = unit * labels.curvature
        # Not around the atoms at hand: where no label comes for long, they would be pushed on.
        slope = unit * labels.pull - curvature[:, None] * labels.atoms
        return gram + np.diag(curvature), cross - slope


def head_penalties(memory: Any, dictionary: Any, shrinkage: float) -> NDArray:
    """Return the strength of the penalty on each row of the head, (n_inputs,)."""
    penalties = np.ones(len(dictionary.head))  # covariates
    penalties[: len(memory.gram)] = memory.gram.diagonal()
    penalties[-1] = 0.0  # nothing holds the intercepts
    return shrinkage * penalties
