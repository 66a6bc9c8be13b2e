"""Parts of a network that share no node, to hold one against the other."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from atomstream.core.checks import generator
from atomstream.domains.networks.network import Network

__all__ = ["parts_of"]


def parts_of(network: Network, size: int, seed: object = None) -> list[Network]:
    """Return connected parts of so many nodes, no node in two of them.

    Each part is what a search in breadth meets first from a random node that is left. What is too
    small when its surroundings are used up is left out.

    Parameters
    ----------
    network : Network
    size : int
        Nodes of a part.
    seed : int, Generator or None, default=None

    Returns
    -------
    list of Network
        The edges between the nodes of each part.
    """
    rng, parts = generator(seed), []
    left = np.arange(network.n_nodes)
    while len(left) >= size:
        among = network.out[left][:, left]
        around = breadth_first_order(
            among, rng.integers(len(left)), directed=False, return_predecessors=False
        )
        nodes = np.sort(left[around[:size]])
        if len(nodes) == size:
            parts.append(network.among(nodes))
        left = np.setdiff1d(left, nodes, assume_unique=True)
    return parts
