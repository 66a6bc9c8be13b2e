"""Minimise the majoriser of the past, or its quadratic model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Fixed, are_fixed
from atomstream.base.parameters import whole
from atomstream.dictionaries.rows import Rows
from atomstream.losses.majorisers import exponents_of, power_step, times_power
from atomstream.memory import Majorants, MajorantSums, State
from atomstream.memory.column_sums import MIN_ENTRY_SHARE, ColumnSums
from atomstream.penalties import Nonnegative, Penalty
from atomstream.problem import Clock, Needs, Objective
from atomstream.problem.products import losses
from atomstream.updates.base import PATIENCE, CodedBatch, Updater
from atomstream.updates.block_coordinate import _size_is_free, _sweep

# A Newton step leaves this share of every entry: past majorisers are steep near zero.
LEFT_OF_ENTRY = 0.1
NOTHING = 1e-12  # an atom with less of the largest energy is used by nothing but rounding


@dataclass(frozen=True)
class Majorise(Updater[State[Rows, Majorants]]):
    r"""Minimise the power majoriser of the past, or its quadratic model where that is better.

    The majoriser's minimiser never raises the surrogate, but moves slowly where atoms are alike, as
    multiplicative updates do. With ``newton`` a second proposal is made: one sweep of
    `BlockCoordinate` over the quadratic model, with all that the Gram matrix of the codes knows of
    how atoms depend on each other. It promises nothing; it is taken where the loss of the newest
    batch at its codes is lower than under the first.

    Where codes may have any size, a set that only fixes the size of atoms (a ball, a simplex) costs
    nothing: atoms are found without it and scaled, past codes the other way, which leaves the
    surrogate as it is.

    Atoms without use are left as they are: the codes that rows leave to them, however small, would
    soon turn a new atom into a copy of another one.

    Parameters
    ----------
    damping : float, default=0.0
        Added to the diagonal of A in the quadratic model.
    fixed : int or tuple of int, default=0
        The first so many atoms, or those at these places, are never changed.
    newton : bool, default=True
        Whether the second proposal is made.
    folds : int, default=1
        With more than one, each batch is cross-fitted: its features are divided at random, and each
        part is explained by codes found on the others. An atom then gains nothing from copying
        outliers of a feature, for codes that have not seen an entry cannot foresee its error.
        Needed under robust losses, whose own minimiser spends atoms on single features as soon as
        outliers there cost more than what the atom explains elsewhere.
    patience : float, default=10.0
        Times n_components: the mass of samples without use after which an atom is re-seeded; inf
        never re-seeds.
    owners : tuple of (int, int), default=()
        Pairs of a feature and an atom. Of each feature in them all other atoms have next to
        nothing, 1e-8 of their mean entry.

    References
    ----------
    docs/algorithms/divergences.md.
    """

    damping: float = 0.0
    fixed: Fixed = 0
    newton: bool = True
    folds: int = 1
    patience: float = PATIENCE
    owners: tuple[tuple[int, int], ...] = ()
    weighs_entries: ClassVar[bool] = True
    statistics: ClassVar[MajorantSums] = MajorantSums()
    # The majoriser is none for signed codes.
    needs: ClassVar[Needs] = {
        "codes": ("nonnegative",),
        "atoms": ("rowwise", "nonnegative", "shape"),
    }
    BOUNDS: ClassVar = {"folds": whole()}

    @property
    def descends_on_full_data(self) -> bool:
        """True where rows are explained as a whole: codes drawn anew rise and fall."""
        return self.folds == 1

    def update(
        self,
        state: State[Rows, Majorants],
        objective: Objective,
        clock: Clock,
        latest: Sequence[CodedBatch] = (),
    ) -> None:
        """Take the better of the two proposals; without a batch to judge by, the first."""
        memory, (features, others) = state.memory, self.owned(state.dictionary.shape[0])
        if memory.columns is not None:
            if len(features):
                memory.columns = memory.columns.cleared(features, others)
            self._normalise(state, memory.columns, objective)
            return
        atoms = state.dictionary.atoms().astype(np.float64)
        # Where codes take up any scale, the size of atoms is only a convention: atoms are found
        # without the set and scaled onto it, and the memory with them.
        free = _size_is_free(objective.codes, objective.atoms, at_most=False)
        penalty = Nonnegative() if free else objective.atoms
        proposals = [self._majoriser(atoms, memory, objective, penalty)]
        if self.newton and latest:
            proposals.append(self._quadratic(atoms, memory, penalty))
        kept = self._kept(state)
        for proposal in proposals:
            # What is 0 is raised to the least that an entry may be.
            proposal[:, features] = np.where(others.T, 0, proposal[:, features])
            _raise(proposal)
            proposal[kept] = atoms[kept]
        best = proposals[0]
        if len(proposals) > 1:
            # The quadratic model promises nothing, so the newest batch decides; a tie goes to the
            # majoriser, which comes first.
            best = min(proposals, key=lambda rows: _loss(rows, objective, latest))
        scale = _excess(best, objective.atoms, free)
        scale[kept] = 1
        best /= scale[:, None]
        if free:
            memory.rescale(scale)
        state.dictionary.assign(best)

    def owned(self, n_components: int) -> tuple[NDArray, NDArray]:
        """Return the features that have owners, and which atoms may not have each of them."""
        pairs = np.array(self.owners, np.int64).reshape(-1, 2)
        features, places = np.unique(pairs[:, 0], return_inverse=True)
        others = np.ones((len(features), n_components), bool)
        others[places, pairs[:, 1]] = False
        return features, others

    def _kept(self, state: State[Any, Majorants]) -> NDArray:
        """Return which atoms stay as they are: those without use, and fixed ones."""
        energy = state.memory.atom_energy(state.dictionary)
        return (energy <= NOTHING * energy.max()) | are_fixed(self.fixed, len(energy))

    def _normalise(
        self, state: State[Any, Majorants], sums: ColumnSums, objective: Objective
    ) -> None:
        """Put the minimiser on the simplex in place, as below, at the cost of a few products."""
        total, before = objective.atoms.shape.total, state.dictionary
        kept = self._kept(state) | (sums.sizes == 0)
        if _size_is_free(objective.codes, objective.atoms, at_most=False):
            scale = np.where(kept, 1.0, sums.lengths() / total)
            state.memory.rescale(scale)
        found, own = sums.atoms(total, before.dtype), np.flatnonzero(kept)
        state.dictionary = found.with_own(own, before.atoms()[own]) if len(own) else found

    def value(self, state: State[Rows, Majorants], objective: Objective) -> float:
        """Return the surrogate with the penalty on the atoms that may change."""
        atoms = state.dictionary.atoms()
        penalty = objective.atoms.value(atoms[~are_fixed(self.fixed, len(atoms))])
        return state.memory.value(state.dictionary) + float(penalty.sum())

    def _majoriser(
        self, atoms: NDArray, memory: Majorants, objective: Objective, penalty: Penalty
    ) -> NDArray:
        p, q = exponents = exponents_of(objective.loss)
        plus = times_power(memory.plus, atoms, p - 1)
        minus = times_power(memory.minus, atoms, q - 1)
        return power_step(atoms, plus, minus, exponents, penalty)

    def _quadratic(self, atoms: NDArray, memory: Majorants, penalty: Penalty) -> NDArray:
        proposal = atoms.copy()
        _sweep(proposal, memory.gram, memory.cross, penalty, self.damping, self.fixed)
        # Past majorisers grow without bound near zero; a quadratic does not know that.
        return np.maximum(proposal, LEFT_OF_ENTRY * atoms)


def _raise(atoms: NDArray) -> None:
    """Raise zeros, which would stay zeros, in place."""
    np.maximum(atoms, MIN_ENTRY_SHARE * atoms.mean(axis=1, keepdims=True), out=atoms)


def _loss(atoms: NDArray, objective: Objective, latest: Sequence[CodedBatch]) -> float:
    """Return the loss of the newest batch under other atoms; infinity for no number."""
    total = 0.0
    for batch, codes, features in latest:
        there = atoms[:, features].astype(codes.values.dtype)
        values = losses(batch, codes.values, there, objective.loss)
        total += float(values.sum() if batch.weights is None else values @ batch.weights)
    return total if np.isfinite(total) else np.inf


def _excess(atoms: NDArray, penalty: Penalty, free: bool) -> NDArray:
    """Return the factors by which atoms exceed their set, or its boundary if sizes are free."""
    shape = penalty.shape
    if shape is None or (not shape.total and shape.radius == np.inf):
        return np.ones(len(atoms))
    if shape.total:
        size = atoms.sum(axis=1) / shape.total
    else:
        size = np.linalg.norm(atoms, axis=1) / shape.radius
    return np.where(size > 0, size, 1.0) if free or shape.total else np.maximum(size, 1.0)
