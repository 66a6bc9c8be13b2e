"""Minimise the quadratic surrogate over one atom at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Fixed, are_fixed
from atomstream.base.parameters import number
from atomstream.dictionaries.rows import Rows
from atomstream.memory import Aggregates, GramSums, State
from atomstream.memory.by_feature import features_per_block
from atomstream.penalties.base import Penalty, kernel_form
from atomstream.problem import Clock, Needs, Objective
from atomstream.updates.base import PATIENCE, CodedBatch, Updater

WIDE = 1 << 19  # entries of a dictionary from which on products stay in the type of the data
SHORT = 0.5  # atoms in the unit ball below this length are scaled up
FEATURE_SWEEPS = 5  # over the atoms of each feature, where features have matrices of their own
VOLUME_FLOOR = 0.1  # keeps the volume of parallel atoms finite; rows have length about one
NOTHING = 1e-10  # but not below this: scaling up what rounding leaves would empty their memory


@dataclass(frozen=True)
class BlockCoordinate(Updater[State[Rows, Aggregates]]):
    r"""Minimise the surrogate over one atom at a time, exactly, with the running dictionary.

    The surrogate is :math:`\tfrac12 tr(D^\top (A + damping\, I) D) - tr(D^\top B) + P_{atoms}(D)`;
    over atom j its minimiser is :math:`prox_{P/c}(d_j + (b_j - (AD)_j - damping\, d_j)/c)` with
    :math:`c = A_{jj} + damping`. Each step is exact, so a sweep never raises the surrogate. Atoms
    with :math:`A_{jj} = 0` are left as they are.

    Averages of directions are shorter than the directions: without an l1 penalty atoms in a ball
    would shrink forever, and codes grow. An atom shorter than one half is therefore scaled to
    length one, and its past codes with it (rows and columns of A, rows of B), which leaves the
    surrogate as it is. With damping the length of atoms is not free, and none is scaled.

    Where entries weigh differently, or are missing, every feature has an A of its own, and atoms
    take exact steps under these. Where codes may have any size the ball is then left out of the
    steps, and atoms are scaled onto it.

    With ``volume`` the surrogate also has :math:`\tfrac{volume}{2} \log\det(D D^\top + I/10)`: of
    dictionaries that explain nearly as much the smallest is taken. Where codes are shares
    (``codes="simplex"``) of materials that hardly a row shows alone, this is what finds them. The
    logarithm is bounded from above by its slope, so A grows by
    :math:`volume\,(D D^\top + I/10)^{-1}`. Scale rows to length one first, begin with
    ``init="spread"``, and try 0.0003 in fifty passes.

    Parameters
    ----------
    damping : float, default=0.0
        Added to the diagonal of A (kappa_1 / n of the paper).
    fixed : int or tuple of int, default=0
        The first so many atoms, or those at these places, are never changed.
    n_sweeps : int, default=1
        Sweeps per batch, at most.
    patience : float, default=10.0
        Times n_components: the mass of samples without use after which an atom is re-seeded; inf
        never re-seeds nor scales atoms, as the convergence theorems ask.
    tol : float, default=0.0
        Sweeps end where no entry of an atom moves by more than this; 0 makes all.
    volume : float, default=0.0
        Weight of the volume of the atoms, in units of the loss of a row.

    References
    ----------
    Lyu, Needell, Balzano, Algorithm 3 and eqs. (26), (154); the running dictionary stands on the
    right-hand side. Fu, Huang, Yang, Ma, Sidiropoulos (2016), "Robust volume minimization-based
    matrix factorization for remote sensing and document clustering", eq. (7).
    """

    damping: float = 0.0
    fixed: Fixed = 0
    n_sweeps: int = 1
    patience: float = PATIENCE
    tol: float = 0.0
    volume: float = 0.0
    BOUNDS: ClassVar = {"volume": number()}
    statistics: ClassVar[GramSums] = GramSums(by_feature=True)
    needs: ClassVar[Needs] = {"atoms": ("rowwise",)}
    descends_on_full_data: ClassVar[bool] = True
    weighs_entries: ClassVar[bool] = True

    def update(
        self,
        state: State[Rows, Aggregates],
        objective: Objective,
        clock: Clock,
        latest: Sequence[CodedBatch] = (),
    ) -> None:
        """Sweep over the atoms."""
        memory = state.memory
        atoms = state.dictionary.atoms()
        # A copy. What is as large as this is swept in the type of the data: float64 would take
        # twice the time for digits that the atoms do not keep.
        atoms = atoms.astype(atoms.dtype if atoms.size >= WIDE else np.float64)
        sums, cross = self._sums(memory, atoms)
        if memory.grams is not None:
            atoms = atoms.astype(np.float64)
            scale = self._sweep_by_feature(
                atoms, self._narrowed(memory.grams, atoms), cross, objective
            )
            if scale is not None:
                memory.rescale(scale)
            state.dictionary.assign(atoms)
            return
        for _ in range(self.n_sweeps):
            before = atoms.copy() if self.tol else atoms
            gram = self._narrowed(sums, atoms)
            _sweep(atoms, gram, cross, objective.atoms, self.damping, self.fixed)
            if self.tol and np.abs(atoms - before).max() <= self.tol:
                break
        # What leaves atoms where the scheme puts them, as theorems ask, does not scale them either.
        stays = self.damping or self.volume or np.isinf(self.patience)
        free = not stays and _size_is_free(objective.codes, objective.atoms, at_most=True)
        if free and np.einsum("ij,ij->i", atoms, atoms).min() < SHORT**2:
            scale = _short(atoms, self.fixed)
            # Longer atoms and shorter past codes leave every reconstruction, and so the surrogate,
            # as it is.
            atoms /= scale[:, None]
            memory.rescale(scale)
        state.dictionary.assign(atoms)

    def _sweep_by_feature(
        self, atoms: NDArray, grams: NDArray, cross: NDArray, objective: Objective
    ) -> NDArray | None:
        """Sweep in place with a Gram matrix of each feature; return what to scale past codes by."""
        penalty = objective.atoms
        free = np.flatnonzero(~are_fixed(self.fixed, len(atoms)))
        if penalty.shape is None:
            for _ in range(self.n_sweeps):
                plain_sweep_by_feature(atoms, grams, cross, penalty, self.damping, free)
            return None
        from atomstream._kernels.feature_sweeps import sweep_by_feature

        scaled = not (self.damping or self.volume)
        scaled = scaled and _size_is_free(objective.codes, penalty, at_most=False)
        l1, l2, low, high, radius, total = kernel_form(penalty)
        # Where codes take up any scale a ball or a simplex only fixes a convention: atoms are found
        # without it, feature by feature, and scaled onto it.
        form = (l1, l2, low, high, np.inf, 0.0) if scaled else kernel_form(penalty)
        if scaled and total:
            form = (0.0, 0.0, 0.0, np.inf, np.inf, 0.0)
        n_sweeps = self.n_sweeps * (1 if form[4] < np.inf or form[5] else FEATURE_SWEEPS)
        # What shrinks to nothing keeps its entries on a simplex, which holds no row of zeros.
        before = atoms.copy()
        sweep_by_feature(atoms, grams, cross, form, self.damping, free, n_sweeps)
        if not scaled:
            return None
        if total:
            size = atoms.sum(axis=1) / total
            atoms[size < NOTHING] = before[size < NOTHING]
            stays = size < NOTHING
        else:
            size = np.linalg.norm(atoms, axis=1) / radius
            atoms[size < NOTHING] = 0
            # A ball holds shorter atoms as they are; only those beyond it, or short ones, are
            # scaled.
            stays = (size >= SHORT) & (size <= 1) | (size < NOTHING)
        scale = np.where(stays | are_fixed(self.fixed, len(atoms)), 1.0, size)
        atoms /= scale[:, None]
        return scale

    def _sums(self, memory: Any, atoms: NDArray) -> tuple[NDArray, NDArray]:
        """Return A and B of the surrogate around these atoms, for all sweeps of an update."""
        # B may be a product of two factors.
        return memory.gram, np.asarray(memory.cross)

    def _narrowed(self, gram: NDArray, atoms: NDArray) -> NDArray:
        """Return A, or that of each feature, with what the bound on the volume adds."""
        return gram + self.volume * np.linalg.inv(_spread(atoms)) if self.volume else gram

    def value(self, state: State[Rows, Aggregates], objective: Objective) -> float:
        """Return the surrogate with damping, volume and the penalty on atoms that may change."""
        atoms = state.dictionary.atoms()
        atoms = atoms[~are_fixed(self.fixed, len(atoms))]
        size = np.vdot(atoms.astype(np.float64), atoms)
        return (
            state.memory.value(state.dictionary)
            + 0.5 * self.damping * float(size)
            + 0.5 * self.volume * float(np.linalg.slogdet(_spread(state.dictionary.atoms()))[1])
            + float(objective.atoms.value(atoms).sum())
        )


def _spread(atoms: NDArray) -> NDArray:
    """Return the inner products of atoms, whose determinant is the square of their volume."""
    return atoms @ atoms.T + VOLUME_FLOOR * np.eye(len(atoms))


def _sweep(
    atoms: NDArray, gram: NDArray, cross: NDArray, penalty: Penalty, damping: float, fixed: Fixed
) -> None:
    """Run `plain_sweep`, or its compiled twin where kernels know the shape of the set."""
    if not isinstance(fixed, int):  # those that stay come first
        order = np.argsort(~are_fixed(fixed, len(atoms)), kind="stable")
        moved = atoms[order]
        _sweep(moved, gram[np.ix_(order, order)], cross[order], penalty, damping, len(fixed))
        atoms[order] = moved
        return
    if penalty.shape is None:
        plain_sweep(atoms, gram, cross, penalty, damping, fixed)
        return
    from atomstream._kernels.block_coordinate import sweep

    sweep(atoms, gram, cross, kernel_form(penalty), damping, fixed)


def _size_is_free(on_codes: Penalty, on_atoms: Penalty, at_most: bool) -> bool:
    """Return whether atoms in a ball, or on a simplex, may have any size at no cost for codes.

    Atoms that only grow (``at_most``) make codes smaller, which no penalty on codes minds.
    """
    atoms = on_atoms.shape
    if not on_codes.is_cone or on_codes.shape is None or atoms is None:
        return False
    if on_atoms.l1 or on_atoms.l2:
        return False
    if at_most:
        return atoms.radius < np.inf
    return not (on_codes.l1 or on_codes.l2) and (atoms.radius < np.inf or atoms.total > 0)


def _short(atoms: NDArray, fixed: Fixed) -> NDArray:
    """Return the lengths of short atoms, 1 for others; those of no length become 0, in place."""
    lengths = np.linalg.norm(atoms, axis=1)
    free = ~are_fixed(fixed, len(atoms))
    atoms[free & (lengths < NOTHING)] = 0
    return np.where((lengths >= NOTHING) & (lengths < SHORT) & free, lengths, 1.0)


def plain_sweep(
    atoms: NDArray, gram: NDArray, cross: NDArray, penalty: Penalty, damping: float, fixed: int
) -> None:
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
        # With the rows before j as they are now, which makes every step exact (Gauss-Seidel).
        products = gram[j].astype(atoms.dtype, copy=False) @ atoms
        target = atoms[j] + (cross[j] - products - damping * atoms[j]) / curvature
        atoms[j] = penalty.prox(target[None], 1 / curvature)[0]


def plain_sweep_by_feature(
    atoms: NDArray, grams: NDArray, cross: NDArray, penalty: Penalty, damping: float, free: NDArray
) -> None:
    """Lower the surrogate over each atom in turn, in place, for sets that kernels do not know.

    An atom takes a proximal step with the largest curvature of its features: exact where all are
    alike.
    """
    size = features_per_block(len(grams), atoms.shape[1])
    which = np.arange(atoms.shape[1]) // size
    for j in free:
        rows = grams[which, j]
        curvature = float(grams[:, j, j].max()) + damping
        # Nothing has used the atom: the damping alone would pull it to zero.
        if curvature <= damping:
            continue
        slope = cross[j] - np.einsum("fk,kf->f", rows, atoms) - damping * atoms[j]
        atoms[j] = penalty.prox((atoms[j] + slope / curvature)[None], 1 / curvature)[0]
