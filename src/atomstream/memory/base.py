"""The interfaces of a memory, of what a batch adds to it, and of what measures that."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from atomstream.coders import Codes
from atomstream.dictionaries.base import Dictionary
from atomstream.losses import Loss
from atomstream.problem import Batch, Needs, Objective

DeltaT = TypeVar("DeltaT", bound="Delta")
MemoryT = TypeVar("MemoryT", bound="Memory")


@dataclass(frozen=True, kw_only=True)
class Delta:
    """Sums over the samples of a batch, each by its weight; deltas of shards add up.

    A delta of your own inherits from this class and adds fields; ``gradient`` and ``smoothness``
    are asked for by ``stationarity`` alone.

    Attributes
    ----------
    usage : ndarray of shape (n_components,)
        Sum of weights times absolute codes; in what a step adds, times the lengths of the atoms
        (`atomstream.loop.explaining.measured`).
    objective : float
        Sum of weights times the objective of each sample at its code and the dictionary it was
        coded with.
    mass : float
        Sum of weights.
    """

    usage: NDArray
    objective: float
    mass: float

    def __add__(self, other: Self) -> Self:
        names = (field.name for field in fields(self))
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @classmethod
    def across(cls, features: Sequence[NDArray], deltas: Sequence[Self], mass: float) -> Self:
        """Return what parts of the features add together, each measured at codes of its own."""
        raise TypeError(f"{cls.__name__} cannot be measured for parts of the features.")

    def gradient(self, dictionary: Dictionary) -> NDArray:
        """Return the gradient of the mean loss with respect to the atoms, at the measured codes."""
        raise TypeError(f"{type(self).__name__} holds no gradient of the mean loss.")

    def smoothness(self) -> float:
        """Return a Lipschitz constant of that gradient."""
        raise TypeError(f"{type(self).__name__} holds no gradient of the mean loss.")


class Memory(ABC, Generic[DeltaT]):
    """The past of the stream; a memory of your own inherits from this class, defines ``absorb``.

    A change puts new arrays in place of the old ones and never writes into them: snapshots share
    them.
    """

    @abstractmethod
    def absorb(self, delta: DeltaT, weight: float) -> None:
        """Take in what a batch adds, by its weight."""

    def atom_energy(self, dictionary: Dictionary) -> NDArray:
        """Return how much of the past each atom explains, (n_components,); by default all alike.

        Atoms that explain nothing (0) for long are replaced.
        """
        return np.ones(dictionary.shape[0])

    def spare(self, delta: DeltaT) -> float:
        """Return how much energy of an atom no batch would miss; by default none."""
        return 0.0

    def forget(self, atoms: NDArray) -> None:
        """Drop what is known of these atoms; by default nothing is."""

    def value(self, dictionary: Dictionary) -> float:
        """Return the surrogate: the average objective of past samples at their stored codes."""
        raise TypeError(f"{type(self).__name__} has no surrogate.")

    def merge(self, other: Self, share: float) -> None:
        """Take in a memory that stands for this share of both masses; by default refused."""
        raise ValueError(f"Memories of the kind {type(self).__name__} do not merge.")

    def join(self, groups: NDArray, atoms: NDArray) -> NDArray:
        """Add up what is known of atoms that become one, and return them; by default refused.

        Parameters
        ----------
        groups : ndarray of shape (n_groups, n_components)
            1 where an atom is of a group, else 0.
        atoms : ndarray of shape (n_components, n_features)
        """
        raise ValueError(f"Atoms of memories of the kind {type(self).__name__} do not join.")


class Statistics(ABC, Generic[DeltaT, MemoryT]):
    """Knows what to measure, and the memory that goes with it.

    Attributes
    ----------
    needs : mapping, default={}
        As in `atomstream.coders.Coder`.
    """

    needs: ClassVar[Needs] = {}

    def merges(self, objective: Objective) -> bool:
        """Return whether features in which no sample has an entry may count as one; by default not.

        Deltas then need a method ``touching``, as `MajorantDelta` has.
        """
        return False

    @abstractmethod
    def start(self, n_components: int, n_features: int, loss: Loss) -> MemoryT:
        """Return an empty memory of the right kind and size."""

    @abstractmethod
    def measure(
        self, batch: Batch, codes: Codes, dictionary: Dictionary, objective: Objective
    ) -> DeltaT:
        """Return what the batch adds; pure."""
