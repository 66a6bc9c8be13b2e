"""Chains on several networks at once, so that each batch mixes the patches of all."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.fields.networks import Network
from atomstream.fields.networks.chains.glauber import is_copy


def several(networks: Any) -> bool:
    """Return whether data are a list of networks, not the rows of a matrix."""
    if not isinstance(networks, list | tuple) or not networks:
        return False
    first = networks[0]
    known = isinstance(first, Network | str | Path) or hasattr(first, "nodes")
    return known or getattr(first, "ndim", 0) == 2


def networks_of(networks: Any) -> list[Network]:
    """Return one network, or each of a list."""
    return [Network.of(one) for one in (networks if several(networks) else [networks])]


@dataclass(frozen=True)
class Chains:
    """A chain on each of several networks; their states stand one after the other.

    Attributes
    ----------
    chains : list of MotifChain
    """

    chains: list[Any]

    def init(self, rng: np.random.Generator) -> NDArray:
        """Return a copy of the motif in each network, (n_networks * k,)."""
        return np.concatenate([chain.init(rng) for chain in self.chains])

    def stand_at(self, position: NDArray | None) -> bool:
        """Return whether a position is a copy of the motif in each network."""
        if position is None or position.size % len(self.chains):
            return False
        places = zip(self.chains, position.reshape(len(self.chains), -1), strict=True)
        return all(is_copy(chain.network, chain.motif, place) for chain, place in places)

    def run(
        self, rng: np.random.Generator, position: Any, n: int, thin: int
    ) -> tuple[NDArray, NDArray]:
        """Return patches, equally many of each network, and the new position."""
        n_chains = len(self.chains)
        shares = np.full(n_chains, n // n_chains)
        if n % n_chains:  # else nothing is drawn: one network has the chain that it has alone
            shares[rng.permutation(n_chains)[: n % n_chains]] += 1
        places, patches = position.reshape(n_chains, -1).copy(), []
        for number, chain in enumerate(self.chains):
            states, places[number] = chain.run(rng, places[number], int(shares[number]), thin)
            patches.append(chain.patches(states))
        return np.concatenate(patches), places.ravel()
