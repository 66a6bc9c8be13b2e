"""The state of a run: dictionary, memory, usage of the atoms."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.saved_fields import array, part
from atomstream.dictionaries.base import Dictionary
from atomstream.dictionaries.rows import Rows
from atomstream.memory import Delta, Memory
from atomstream.problem import Clock
from atomstream.schedules import Harmonic

UNUSED = 1e-6  # an atom whose energy is below this share of the largest counts as unused
SAME = 1e-6  # atoms whose cosine is nearer to 1 than this count as one
ALIKE = 1e-3  # and than this, where a batch loses next to nothing without the weaker one


class Usage:
    """Usage of the atoms by the samples that the memory stands for.

    Attributes
    ----------
    mean : ndarray of shape (n_components,)
        Mean of absolute codes times the length that the atom had then, over the samples by their
        weights; the past fades as that of the memory does.
    newest : ndarray of shape (n_components,)
        The sum of the same over the newest batch, whose samples count by their weights.
    idle : ndarray of shape (n_components,)
        Mass of the samples that came since an atom was last of use.
    """

    SAVED = (array("mean", "r"), array("newest", "r"), array("idle", "r"))

    def __init__(self, n_components: int) -> None:
        self.mean = np.zeros(n_components)
        self.newest = np.zeros(n_components)
        self.idle = np.zeros(n_components)

    def absorb(self, delta: Delta, weight: float) -> None:
        """Move the mean towards a batch's by its weight, as the memory does."""
        mean = (1 - weight) * self.mean + (weight / delta.mass) * delta.usage
        vars(self).update(mean=mean, newest=delta.usage)

    def age(self, mass: float, energy: NDArray, gram: NDArray, spare: float = 0.0) -> None:
        """Count how long atoms have been of no use, after a batch.

        Parameters
        ----------
        mass : float
            Of the batch.
        energy : ndarray of shape (n_components,)
            Energy of the atoms in the memory, the batch included.
        gram : ndarray of shape (n_components, n_components)
            Inner products of the atoms: one that repeats a stronger atom is of no use.
        spare : float, default=0.0
            Energy that an atom nearly parallel to a stronger one may have apart from it, and still
            be of no use.
        """
        used = (energy > UNUSED * energy.max()) & ~repeats(gram, energy, spare)
        # Counted in mass, so that patience means the same for batches of any size.
        self.idle = np.where(used, 0.0, self.idle + mass)

    def forget(self, atoms: NDArray) -> None:
        """Drop what is known of these atoms, and start their idle time anew."""
        kept = np.ones(len(self.idle))
        kept[atoms] = 0
        vars(self).update(mean=self.mean * kept, idle=self.idle * kept)

    def wait(self, atoms: NDArray, mass: float) -> None:
        """Let these atoms have been of no use for samples of this mass."""
        idle = self.idle.copy()
        idle[atoms] = mass
        self.idle = idle

    def join(self, groups: NDArray) -> None:
        """Add up the usage of atoms that become one: idle as long as the last one of use."""
        idle = np.where(groups > 0, self.idle, np.inf).min(axis=1)
        vars(self).update(mean=groups @ self.mean, newest=groups @ self.newest, idle=idle)

    def merge(self, other: Self, share: float) -> None:
        """Take in the usage by samples that stand for this share of both masses."""
        mean = (1 - share) * self.mean + share * other.mean
        # An atom is idle only as long as no part of the stream has used it.
        idle = np.minimum(self.idle, other.idle)
        vars(self).update(mean=mean, newest=self.newest + other.newest, idle=idle)


def repeats(gram: NDArray, energy: NDArray, spare: float = 0.0) -> NDArray:
    """Return which atoms point where one of more energy (or an earlier one of equal) points."""
    sizes, found = np.sqrt(gram.diagonal()), np.zeros(len(energy), bool)
    near = gram > ((1 - (ALIKE if spare else SAME)) * sizes)[:, None] * sizes
    if np.count_nonzero(near) <= np.count_nonzero(sizes):  # each atom is like itself alone
        return found
    first, second = np.nonzero(np.triu(near, 1))
    if spare:
        product, whole = gram[first, second], sizes[first] * sizes[second]
        # The stronger atom takes over all of the weaker one but what is at right angles to it.
        weaker = np.minimum(energy[first], energy[second])
        same = weaker * (whole**2 - product**2) <= spare * whole**2
        same |= product > (1 - SAME) * whole
        first, second = first[same], second[same]
    found[np.where(energy[second] > energy[first], first, second)] = True
    return found


DictionaryT = TypeVar("DictionaryT", bound=Dictionary)
MemoryT = TypeVar("MemoryT", bound=Memory)


@dataclass
class State(Generic[DictionaryT, MemoryT]):
    """The state of a learner; each part replaces its arrays and never writes into them.

    Attributes
    ----------
    dictionary : Dictionary
        Rows, or anything else with atoms.
    memory : Memory
        What is kept of the stream.
    usage : Usage
        How much each atom was used.
    """

    SAVED: ClassVar = (
        *(part("dictionary", "decode"), part("memory", "value"), part("usage", Usage)),
    )

    dictionary: DictionaryT
    memory: MemoryT
    usage: Usage

    def snapshot(self) -> State[DictionaryT, MemoryT]:
        """Return a state that later steps do not change; costs nothing, for arrays are shared."""
        return State(copy(self.dictionary), copy(self.memory), copy(self.usage))

    def joined(self, groups: NDArray) -> State:
        """Return the state with one atom for each group, (n_groups, n_components)."""
        state, before = self.snapshot(), self.dictionary.atoms()
        atoms = state.memory.join(groups, before.astype(np.float64))
        state.usage.join(groups)
        return State(Rows(atoms.astype(before.dtype)), state.memory, state.usage)

    def absorb(self, delta: Delta, weight: float) -> None:
        """Take in what samples add, by their weight; the dictionary stays as it is."""
        self.memory.absorb(delta, weight)
        self.usage.absorb(delta, weight)

    def replace_past(self, memory: MemoryT, delta: Delta) -> None:
        """Put an empty memory in place, and what all rows, coded anew, add to it."""
        self.memory = memory
        # Of weight 1: nothing of what earlier codes measured stays.
        self.absorb(delta, 1.0)

    def merge(self, other: State[DictionaryT, MemoryT], clock: Clock, other_clock: Clock) -> None:
        """Take in what another part of the stream left, coded with the same dictionary (law 9).

        Raises
        ------
        ValueError
            Unless both ran under the harmonic schedule and have the same atoms: under any other
            schedule the weight of a sample depends on what came after it.
        """
        for schedule in (clock.schedule, other_clock.schedule):
            if schedule != Harmonic():
                raise ValueError(
                    f"Memories merge only under the harmonic schedule, got {schedule!r}."
                )
        if not np.array_equal(self.dictionary.atoms(), other.dictionary.atoms()):
            raise ValueError(
                "Memories merge only if made with the same dictionary, got two that differ."
            )
        mass = clock.mass + other_clock.mass
        self.memory.merge(other.memory, other_clock.mass / mass)
        self.usage.merge(other.usage, other_clock.mass / mass)
        clock.mass, clock.step = mass, clock.step + other_clock.step
        clock.n_samples += other_clock.n_samples
