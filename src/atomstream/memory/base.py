"""What the loop knows of any memory, and of what a batch adds to it."""

from __future__ import annotations

from typing import Any, Protocol, Self

from numpy.typing import NDArray

from atomstream.coders import Codes
from atomstream.core.batch import Batch
from atomstream.core.objective import Objective
from atomstream.losses import Loss

__all__ = ["Delta", "Memory", "Statistics"]


class Delta(Protocol):
    """What the loop knows of a delta: sums over the samples of a batch, each by its weight.

    Attributes
    ----------
    usage : ndarray of shape (n_components,)
        Sum of weights times absolute codes.
    objective : float
        Sum of weights times the objective of each sample at its code and the dictionary it was
        coded with.
    mass : float
        Sum of weights.
    """

    usage: NDArray
    objective: float
    mass: float

    def __add__(self, other: Self) -> Self: ...

    def gradient(self, dictionary: Any) -> NDArray:
        """Return the gradient of the mean loss with respect to the atoms, at the measured codes."""
        ...

    def smoothness(self) -> float:
        """Return a Lipschitz constant of that gradient."""
        ...


class Memory(Protocol):
    """What the loop knows of a memory."""

    def absorb(self, delta: Any, weight: float) -> None:
        """Take in what a batch adds, by its weight."""
        ...

    def strength(self, dictionary: Any) -> NDArray:
        """Return how much of the past each atom explains, (n_components,); 0 where nothing."""
        ...

    def forget(self, atoms: NDArray) -> None:
        """Drop what is known of these atoms."""
        ...

    def value(self, dictionary: Any) -> float:
        """Return the surrogate: the average objective of past samples at their stored codes."""
        ...

    def merge(self, other: Any, share: float) -> None:
        """Take in another memory that stands for this share of the mass of both."""
        ...


class Statistics(Protocol):
    """Knows what to measure, and the memory that goes with it."""

    def start(self, n_components: int, n_features: int, loss: Loss) -> Any:
        """Return an empty memory of the right kind and size."""
        ...

    def measure(self, batch: Batch, codes: Codes, dictionary: Any, objective: Objective) -> Any:
        """Return what the batch adds; pure."""
        ...
