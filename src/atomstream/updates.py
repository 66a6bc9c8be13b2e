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

SHORT = 0.5  # atoms in the unit ball below this length are scaled up


@dataclass(frozen=True)
class BlockCoordinate:
    r"""Minimise the surrogate over one atom at a time, exactly, with the running dictionary.

    The surrogate is :math:`\tfrac12 tr(D^\top (A + damping\, I) D) - tr(D^\top B) + P_{atoms}(D)`; over atom j its
    minimiser is :math:`prox_{P/c}(d_j + (b_j - (AD)_j - damping\, d_j)/c)` with :math:`c = A_{jj} + damping`. Each
    step is exact, so a sweep never raises the surrogate. Atoms with :math:`A_{jj} = 0` are left as they are.

    Averages of directions are shorter than the directions: without an l1 penalty atoms in a ball would shrink for
    ever, and codes grow. An atom shorter than one half is therefore scaled to length one, and its past codes with it
    (rows and columns of A, rows of B), which leaves the surrogate as it is.

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
        if _length_is_free(objective) and not self.damping:
            lengths = np.linalg.norm(atoms, axis=1)
            short = (lengths > 0) & (lengths < SHORT) & (np.arange(len(atoms)) >= self.fixed)
            if short.any():
                scale = np.where(short, lengths, 1.0)
                atoms /= scale[:, None]
                memory.rescale(scale)
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


def _length_is_free(objective: Objective) -> bool:
    """Whether making an atom longer and its codes shorter costs nothing and stays in the sets."""
    codes, atoms = (getattr(part, "shape", None) for part in (objective.codes, objective.atoms))
    if codes is None or atoms is None or objective.atoms.l1 or objective.atoms.l2:
        return False
    cone = codes.low in (0, -np.inf) and codes.high == codes.radius == np.inf and not codes.total
    return cone and atoms.radius < np.inf


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
