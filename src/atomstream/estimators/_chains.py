"""Chains on a network: by their names, and as shards, each begun anew from a seed of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.samplers import MotifChain, MotifGlauber, MotifPivot

CHAINS: dict[str, Callable[..., Any]] = {
    "glauber": MotifGlauber,
    "pivot": MotifPivot,
    "approximate_pivot": partial(MotifPivot, approximate=True),
}


def resolve_chain(choice: str | Callable[..., MotifChain]) -> Callable[..., MotifChain]:
    """Return the class of chains, or function of network and motif, of this name or as given."""
    if isinstance(choice, str) and choice in CHAINS:
        return CHAINS[choice]
    if isinstance(choice, str) or not callable(choice):
        known = ", ".join(sorted({*CHAINS, "all"}))
        raise ValueError(
            f"chain={choice!r} is unknown; known are {known}, or give a class of chains."
        )
    return choice


@dataclass(frozen=True)
class ChainShard:
    """The patches along one chain.

    Attributes
    ----------
    network : Network
    motif : Motif
    chain : str or callable
        As in `NetworkDictionary`.
    thin : int
        Steps from patch to patch.
    seed : (int, int)
        Of the model, and number of the chain.
    n_rows : int
        Patches.
    """

    network: Any
    motif: Any
    chain: Any
    thin: int
    seed: tuple[int, int]
    n_rows: int

    @property
    def name(self) -> str:
        """Number of the chain."""
        return f"chain {self.seed[1]}"

    @property
    def version(self) -> str:
        """Seed of the model."""
        return str(self.seed[0])

    def read(self, first: int, last: int) -> Iterator[NDArray]:
        """Yield the patches of some of the steps."""
        chain = resolve_chain(self.chain)(self.network, self.motif)
        rng = np.random.default_rng(self.seed)
        states, _ = chain.run(rng, chain.init(rng), last, self.thin)
        yield chain.patches(states[first:])
