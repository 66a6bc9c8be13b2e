"""The state of a run: dictionary, memory, usage."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np

from atomstream.base.fields import part
from atomstream.dictionaries.base import Dictionary
from atomstream.memory import Memory, Usage
from atomstream.problem import Clock
from atomstream.schedules import Harmonic

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

    def restore(self, snapshot: State[DictionaryT, MemoryT]) -> None:
        """Go back to a snapshot."""
        vars(self).update(vars(snapshot.snapshot()))

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
        self.usage.merge(other.usage)
        clock.mass, clock.step = mass, clock.step + other_clock.step
        clock.n_samples += other_clock.n_samples
