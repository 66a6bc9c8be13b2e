"""The interface of a chain, and the one generator that drives all of them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike

InfoT = TypeVar("InfoT")


class Chain(ABC, Generic[InfoT]):
    """A transition law; all that changes is the state, which `step` and `run` take and return.

    States are arrays: whoever saves one, and the state of the source of randomness, goes on exactly
    where it stood. A chain of your own inherits from this class and defines `init` and `step`.
    """

    @abstractmethod
    def init(self, rng: np.random.Generator, position: ArrayLike | None = None) -> NDArray:
        """Return a state in the support, the one given or one found."""

    @abstractmethod
    def step(self, rng: np.random.Generator, state: NDArray) -> tuple[NDArray, InfoT]:
        """Return the next state, and what happened; the state given stays as it is."""

    def run(
        self, rng: np.random.Generator, state: NDArray, n: int, thin: int = 1
    ) -> tuple[NDArray, NDArray]:
        """Return ``n`` samples, ``thin`` steps apart, and the state after the last."""
        found = []
        for _ in range(n):
            for _ in range(thin):
                state, _info = self.step(rng, state)
            found.append(state)
        return np.stack(found), state


def samples(
    chain: Chain, rng: np.random.Generator, state: NDArray, batch_size: int, *, thin: int = 1
) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield batches of samples along a chain forever, each with the state after it.

    Parameters
    ----------
    chain : Chain
    rng : numpy.random.Generator
    state : state of the chain
        From `Chain.init`, or one that was saved.
    batch_size : int
    thin : int, default=1
        Steps from sample to sample.
    """
    while True:
        batch, state = chain.run(rng, state, batch_size, thin)
        yield batch, state
