"""Chains on a network as shards: each begins anew, from a seed of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.estimators.registry import resolve_chain


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
