"""What a chain is, and the one generator that drives all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Chain", "samples"]


class Chain(Protocol):
    """A transition law; all that changes is the state, which `step` and `run` take and return.

    States are arrays: whoever saves one, and the state of the source of randomness, goes on exactly
    where it stood.
    """

    def init(self, rng: np.random.Generator, position: Any = None) -> Any:
        """Return a state in the support, the one given or one found."""
        ...

    def step(self, rng: np.random.Generator, state: Any) -> tuple[Any, Any]:
        """Return the next state, and what happened; the state given stays as it is."""
        ...

    def run(
        self, rng: np.random.Generator, state: Any, n: int, thin: int = 1
    ) -> tuple[NDArray, Any]:
        """Return ``n`` samples, ``thin`` steps apart, and the state after the last."""
        ...


def samples(
    chain: Chain, rng: np.random.Generator, state: Any, batch_size: int, *, thin: int = 1
) -> Iterator[tuple[NDArray, Any]]:
    """Yield batches of samples along a chain for ever, each with the state after it.

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
