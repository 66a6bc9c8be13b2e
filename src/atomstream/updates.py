"""How the dictionary is improved once the memory has taken in a batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.coders import Codes
from atomstream.loadings import Loadings, contract_group
from atomstream.majorisers import power_step, times_power
from atomstream.objective import Objective
from atomstream.penalties import Nonnegative, NormBall, Penalty
from atomstream.radius import minimise_within
from atomstream.state import Batch, Clock, State
from atomstream.views import losses

__all__ = ["BlockCoordinate", "LoadingSweep", "Majorise", "SubgradientStep"]

NEAR = 0.1  # a Newton step leaves this share of every entry: past majorisers are steep near zero
FLOOR = 1e-8  # of an atom's mean entry that each of its entries has at least
UNITS = 10.0  # of one over the curvature for a / b = 1, capped at one: a tenth of a must still do
SHORT = 0.5  # atoms in the unit ball below this length are scaled up,
NOTHING = 1e-10  # unless they are what rounding leaves of zero: scaled up again and again it would eat its memory


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

    def update(self, state: State, objective: Objective, clock: Clock, met: Any = None) -> None:
        """Sweep over the atoms."""
        memory: Any = state.memory
        atoms = state.dictionary.atoms().astype(np.float64)  # a copy
        for _ in range(self.n_sweeps):
            _sweep(atoms, memory.gram, memory.cross, objective.atoms, self.damping, self.fixed)
        if _size_is_free(objective.codes, objective.atoms, at_most=True) and not self.damping:
            scale = _short(atoms, self.fixed)
            if (scale < 1).any():
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


@dataclass(frozen=True)
class Majorise:
    r"""Minimise the power majoriser of the past, or its quadratic model where that serves the newest batch better.

    The majoriser's minimiser never raises the surrogate, but moves slowly where atoms are alike, as multiplicative
    updates do. With ``newton`` a second proposal is made: one sweep of `BlockCoordinate` over the quadratic model,
    with all that the Gram matrix of the codes knows of how atoms depend on each other. It promises nothing; it is
    taken where the loss of the newest batch at its codes is lower than under the first.

    Where codes may have any size, a set that only fixes the size of atoms (a ball, a simplex) costs nothing: atoms
    are found without it and scaled, past codes the other way, which leaves the surrogate as it is.

    Parameters
    ----------
    damping : float, default=0.0
        Added to the diagonal of A in the quadratic model.
    fixed : int, default=0
        The first so many atoms are never changed.
    newton : bool, default=True
        Whether the second proposal is made.

    References
    ----------
    docs/algorithms/divergences.md.
    """

    damping: float = 0.0
    fixed: int = 0
    newton: bool = True
    needs: ClassVar[dict[str, tuple[str, ...]]] = {
        "loss": ("exponents", "split"),
        "atoms": ("rowwise", "nonnegative", "shape"),
    }

    def update(
        self, state: State, objective: Objective, clock: Clock, met: tuple[Batch, Codes] | None = None
    ) -> None:
        """Take the better of the two proposals; without a batch to judge by, the first."""
        memory: Any = state.memory
        atoms = state.dictionary.atoms().astype(np.float64)
        free = _size_is_free(objective.codes, objective.atoms, at_most=False)
        penalty = Nonnegative() if free else objective.atoms
        proposals = [self._majoriser(atoms, memory, objective, penalty)]
        if self.newton and met is not None:
            proposals.append(self._quadratic(atoms, memory, penalty))
        for proposal in proposals:
            np.maximum(proposal, FLOOR * proposal.mean(axis=1, keepdims=True), out=proposal)  # what is 0 stays 0
            proposal[: self.fixed] = atoms[: self.fixed]
        best = proposals[0]
        if len(proposals) > 1:
            best = min(proposals, key=lambda rows: _loss(rows, objective, *met))  # type: ignore[misc]
        scale = _excess(best, objective.atoms, free)
        scale[: self.fixed] = 1
        best /= scale[:, None]
        if free:
            memory.rescale(scale)
        state.dictionary.assign(best)

    def value(self, state: State, objective: Objective) -> float:
        """Return the surrogate with the penalty on the atoms that may change."""
        penalty = objective.atoms.value(state.dictionary.atoms()[self.fixed :])
        return state.memory.value(state.dictionary) + float(penalty.sum())

    def _majoriser(self, atoms: NDArray, memory: Any, objective: Objective, penalty: Penalty) -> NDArray:
        p, q = exponents = objective.loss.exponents
        plus, minus = times_power(memory.plus, atoms, p - 1), times_power(memory.minus, atoms, q - 1)
        return power_step(atoms, plus, minus, exponents, penalty)

    def _quadratic(self, atoms: NDArray, memory: Any, penalty: Penalty) -> NDArray:
        proposal = atoms.copy()
        _sweep(proposal, memory.gram, memory.cross, penalty, self.damping, self.fixed)
        return np.maximum(proposal, NEAR * atoms)


def _loss(atoms: NDArray, objective: Objective, batch: Batch, codes: Codes) -> float:
    """Return the loss of a batch at its codes under other atoms; where it is no number, infinity."""
    values = losses(batch, codes.values, atoms.astype(codes.values.dtype), objective.loss)
    total = float(values.sum() if batch.weights is None else values @ batch.weights)
    return total if np.isfinite(total) else np.inf


def _excess(atoms: NDArray, penalty: Any, free: bool) -> NDArray:
    """Return what each atom has to be divided by to lie in its set, or on its boundary where its size is free."""
    shape = penalty.shape
    if not shape.total and shape.radius == np.inf:
        return np.ones(len(atoms))
    size = atoms.sum(axis=1) / shape.total if shape.total else np.linalg.norm(atoms, axis=1) / shape.radius
    return np.where(size > 0, size, 1.0) if free or shape.total else np.maximum(size, 1.0)


def _sweep(atoms: NDArray, gram: NDArray, cross: NDArray, penalty: Penalty, damping: float, fixed: int) -> None:
    """Run `plain_sweep` or its compiled twin."""
    sweep: Any = plain_sweep
    if getattr(penalty, "shape", None) is not None:
        from atomstream._kernels.block_coordinate import sweep
    sweep(atoms, gram, cross, penalty, damping, fixed)


def _size_is_free(on_codes: Penalty, on_atoms: Penalty, at_most: bool) -> bool:
    """Whether atoms lie in a ball, or on a simplex, and codes may make up for any size of theirs at no cost.

    Atoms that only grow (``at_most``) make codes smaller, which no penalty on codes minds.
    """
    codes, atoms = (getattr(part, "shape", None) for part in (on_codes, on_atoms))
    if codes is None or atoms is None or on_atoms.l1 or on_atoms.l2:
        return False
    cone = codes.low in (0, -np.inf) and codes.high == codes.radius == np.inf and not codes.total
    if at_most:
        return cone and atoms.radius < np.inf
    return cone and not (on_codes.l1 or on_codes.l2) and (atoms.radius < np.inf or atoms.total > 0)


def _short(atoms: NDArray, fixed: int) -> NDArray:
    """Return the lengths of atoms that are short, 1 for all others; atoms of next to no length become 0, in place."""
    lengths = np.linalg.norm(atoms, axis=1)
    free = np.arange(len(atoms)) >= fixed
    atoms[free & (lengths < NOTHING)] = 0
    return np.where((lengths >= NOTHING) & (lengths < SHORT) & free, lengths, 1.0)


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


@dataclass(frozen=True)
class SubgradientStep:
    r"""Step against the newest batch's subgradient, with a length that falls along the stream, and project.

    At step t, with :math:`\tau` the mass of the batch, :math:`10\,\eta_t = 10 a / (\tau t + b)` is a length in units
    of one over the curvature of each feature's problem (see `Subgradient`), never above one unit: raw lengths would
    have to be chosen anew for every loss and every scale of the data. Since :math:`\eta_t` tends to 0, its sum is
    infinite and the sum of its squares finite, as Theorem 1 needs; the cap ends after finitely many steps.

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

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"SubgradientStep needs {name} above 0, got {getattr(self, name)!r}.")

    def update(
        self, state: State, objective: Objective, clock: Clock, met: tuple[Batch, Codes] | None = None
    ) -> None:
        """Step and project."""
        memory: Any = state.memory
        mass = met[0].mass if met is not None else 1.0
        rate = min(1.0, UNITS * self.a / (mass * clock.step + self.b))
        atoms = state.dictionary.atoms().astype(np.float64)
        curvature = np.maximum(memory.curvature, np.finfo(np.float64).tiny)
        moved = objective.atoms.prox(atoms - rate * memory.slope / curvature, 0.0)
        moved[: self.fixed] = atoms[: self.fixed]
        state.dictionary.assign(moved)

    def value(self, state: State, objective: Objective) -> float:
        """Return the smoothed objective."""
        return state.memory.value(state.dictionary)


@dataclass(frozen=True)
class LoadingSweep:
    r"""Minimise the surrogate over one loading matrix at a time, none moving further than a radius.

    For rank-one atoms the surrogate is, over :math:`U^{(i)}` alone and with A' = A + damping I,

    .. math:: \tfrac12 tr(U \bar A U^\top) - tr(U \bar B^\top), \quad
              \bar A = A' \circ \prod_{j \ne i} U^{(j)\top} U^{(j)}, \quad
              \bar B_{:r} = B_r \times_{j \ne i} U^{(j)}_{:r},

    so a mode is swept as `BlockCoordinate` sweeps atoms, with the newest loadings of all other modes. Should that
    leave the radius, or the set tie columns together, the block is minimised as a whole (`atomstream.radius`). Short
    columns are scaled up as atoms are there, as far as the radius allows.

    Parameters
    ----------
    damping : float, default=0.0
        Added to the diagonal of A.
    fixed : int, default=0
        The first so many atoms are never changed.
    n_sweeps : int, default=1
        Sweeps over all modes per batch.
    radius : float, optional
        c': after batch t, :math:`\|U^{(i)}_t - U^{(i)}_{t-1}\|_F \le c' w_t`. None sets no bound.

    References
    ----------
    Lyu (2022), Algorithms 7 and 8 and eqs. (4.120) to (4.128); docs/algorithms/cp-dictionaries.md.
    """

    damping: float = 0.0
    fixed: int = 0
    n_sweeps: int = 1
    radius: float | None = None
    needs: ClassVar[dict[str, tuple[str, ...]]] = {"loss": ("quadratic",), "atoms": ("sets",)}

    def update(self, state: State, objective: Objective, clock: Clock, met: Any = None) -> None:
        """Sweep over the modes."""
        memory: Any = state.memory
        pairs = zip(state.dictionary.matrices, objective.atoms.sets, strict=True)
        before = [part.project(matrix.T.astype(np.float64), self.fixed) for matrix, part in pairs]
        reach = np.inf if self.radius is None else self.radius * clock.weight
        gram = memory.gram + self.damping * np.diag(memory.gram.diagonal() > 0)
        sets, now = objective.atoms.sets, Loadings(rows.T for rows in before)
        for _ in range(self.n_sweeps):
            for group, part in now.halves_contracted(memory.cross):
                matrices = [matrix.T for matrix in now.matrices]
                inner = [rows @ rows.T for rows in matrices]
                for mode in group:
                    others = reduce(np.multiply, (g for k, g in enumerate(inner) if k != mode), gram)
                    cross = contract_group(part, [matrices[k].T for k in group], mode - group[0])
                    matrices[mode] = self._block(matrices[mode], before[mode], others, cross, sets[mode], reach)
                    inner[mode] = matrices[mode] @ matrices[mode].T
                now.assign([rows.T for rows in matrices])
        matrices = [matrix.T.copy() for matrix in now.matrices]
        for mode, rows in enumerate(matrices):
            if _size_is_free(objective.codes, sets[mode], at_most=True) and not self.damping:
                scale = _short(rows, self.fixed)
                if (scale < 1).any():
                    scale = _shorter(scale, rows, before[mode], reach)
                    rows /= scale[:, None]
                    memory.rescale(scale)
        state.dictionary.assign([rows.T for rows in matrices])

    def value(self, state: State, objective: Objective) -> float:
        """Return the surrogate with damping on the atoms that may change."""
        size = float(np.trace(state.dictionary.gram()[self.fixed :, self.fixed :]))
        return state.memory.value(state.dictionary) + 0.5 * self.damping * size

    def _block(
        self, rows: NDArray, before: NDArray, gram: NDArray, cross: NDArray, penalty: Penalty, reach: float
    ) -> NDArray:
        """Return the loadings of one mode, as rows, with a lower surrogate."""
        if penalty.rowwise:
            swept = rows.copy()
            _sweep(swept, gram, cross, penalty, 0.0, self.fixed)
            if np.linalg.norm(swept - before) <= reach:
                return swept
        free = slice(self.fixed, None)
        rest = cross[free] - gram[free, : self.fixed] @ rows[: self.fixed]
        left = penalty.beside(rows[: self.fixed]) if isinstance(penalty, NormBall) else penalty
        found = minimise_within(rows[free], gram[free, free], rest, left, reach, before[free])
        return np.concatenate([rows[: self.fixed], found])


def _shorter(scale: NDArray, rows: NDArray, before: NDArray, reach: float) -> NDArray:
    """Return as much of a scaling as keeps rows within reach of what they were."""
    low, high = 0.0, 1.0
    if np.linalg.norm(rows / scale[:, None] - before) <= reach:
        return scale
    for _ in range(30):
        middle = (low + high) / 2
        if np.linalg.norm(rows / scale[:, None] ** middle - before) <= reach:
            low = middle
        else:
            high = middle
    return scale**low
