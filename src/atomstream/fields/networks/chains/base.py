"""What chains on networks share: patches of their states, and draws of neighbours."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from atomstream.fields.networks.network import Network
from atomstream.samplers.base import Chain

InfoT = TypeVar("InfoT")


class MotifChain(Chain[InfoT]):
    """A chain on the copies of a motif in a network: `NetworkDictionary` learns along any of them.

    Attributes
    ----------
    network : Network
    motif : Motif
    """

    network: Any
    motif: Any

    def patches(self, states: NDArray) -> NDArray:
        """Return the weights between all pairs of nodes of each copy, float64 (n, k * k)."""
        return patches_of(self.network, states)


def patches_of(network: Network, states: NDArray) -> NDArray:
    """Return the weights between all pairs of nodes of each copy, float64 (n, k * k)."""
    from atomstream.fields.networks.chains.kernel_motif import patches

    out, found = network.out, np.empty((len(states), states.shape[1] ** 2))
    lists = (out.indptr, out.indices, out.data)
    patches(found, np.ascontiguousarray(states), lists, network.edge_bits, network.alike)
    return found


def alias_table(weights: NDArray, indptr: NDArray) -> NDArray:
    """Return alias tables, by which a neighbour is drawn in constant time, uint64 (n_edges,)."""
    from atomstream.fields.networks.chains.kernel_walk import alias_tables

    table = np.zeros(len(weights), dtype=np.uint64)
    alias_tables(table, weights, indptr)
    return table
