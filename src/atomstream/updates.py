"""How the dictionary is improved once the memory has taken in a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.objective import Objective
from atomstream.penalties import Penalty
from atomstream.state import Clock, State

__all__ = ["BlockCoordinate"]


@dataclass(frozen=True)
class BlockCoordinate:
    r"""Minimise the surrogate over one atom at a time, exactly, with the running dictionary.

    The surrogate is :math:`\tfrac12 tr(D^\top (A + damping\, I) D) - tr(D^\top B) + P_{atoms}(D)`; over atom j its
    minimiser is :math:`prox_{P/c}(d_j + (b_j - (AD)_j - damping\, d_j)/c)` with :math:`c = A_{jj} + damping`. Each
    step is exact, so a sweep never raises the surrogate. Atoms with :math:`A_{jj} = 0` are left as they are.

    Parameters
    ----------
    damping : float, default=0.0
        Added to the diagonal of A (kappa_1 / n of the paper).
    fixed : int, default=0
        The first so many atoms are never changed.
    n_sweeps : int, default=1
        Sweeps per batch.

    References
    ----------
    Lyu, Needell, Balzano, Algorithm 3 and eqs. (26), (154); the running dictionary stands on the right-hand side.
    """

    damping: float = 0.0
    fixed: int = 0
    n_sweeps: int = 1
    needs: ClassVar[dict[str, tuple[str, ...]]] = {"loss": ("quadratic",), "atoms": ("rowwise",)}

    def update(self, state: State, objective: Objective, clock: Clock, rng: Any) -> None:
        """Sweep over the atoms."""
        memory: Any = state.memory
        atoms = state.dictionary.atoms().astype(np.float64)  # a copy
        sweep = plain_sweep
        if getattr(objective.atoms, "shape", None) is not None:
            from atomstream._kernels.block_coordinate import sweep
        for _ in range(self.n_sweeps):
            sweep(atoms, memory.gram, memory.cross, objective.atoms, self.damping, self.fixed)
        state.dictionary.assign(atoms)

    def value(self, state: State, objective: Objective) -> float:
        """Return the surrogate with damping and the penalty on the atoms that may change."""
        atoms = state.dictionary.atoms()[self.fixed :]
        size = np.vdot(atoms.astype(np.float64), atoms)
        return (
            state.memory.value(state.dictionary)
            + 0.5 * self.damping * float(size)
            + float(objective.atoms.value(atoms).sum())
        )


def plain_sweep(atoms: NDArray, gram: NDArray, cross: NDArray, penalty: Penalty, damping: float, fixed: int) -> None:
    """Minimise the surrogate over each atom in turn, in place.

    Parameters
    ----------
    atoms : ndarray of shape (n_components, n_features)
    gram, cross : ndarray
        A and B of the memory.
    penalty : Penalty
        On the atoms.
    damping : float
    fixed : int
        Atoms before this one are not changed.
    """
    for j in range(fixed, len(atoms)):
        if gram[j, j] <= 0:  # an unused atom: the surrogate does not depend on it
            continue
        curvature = gram[j, j] + damping
        target = atoms[j] + (cross[j] - gram[j] @ atoms - damping * atoms[j]) / curvature
        atoms[j] = penalty.prox(target[None], 1 / curvature)[0]
