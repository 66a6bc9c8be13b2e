"""Regions of a network that share no node, to hold one against the other."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, connected_components

from atomstream.base.checks import generator
from atomstream.domains.networks.network import Network


def regions_of(
    network: Network, size: int, random_state: int | np.random.Generator | None = None
) -> list[Network]:
    """Return connected regions of so many nodes, no node in two of them.

    Each region is what a search in breadth meets first from a random node that is left. What is too
    small when its surroundings are used up is left out.

    Parameters
    ----------
    network : Network
    size : int
        Nodes of a region.
    random_state : int, Generator or None, default=None

    Returns
    -------
    list of Network
        The edges between the nodes of each region.
    """
    rng = generator(random_state)
    regions: list[Network] = []
    left = np.arange(network.n_nodes)
    while True:
        among = network.out[left][:, left]
        _, component = connected_components(among, connection="weak")
        large = np.bincount(component, minlength=1)[component] >= size
        among, left = among[large][:, large], left[large]
        if not len(left):
            return regions
        around = breadth_first_order(
            among, rng.integers(len(left)), directed=False, return_predecessors=False
        )
        nodes = np.sort(left[around[:size]])
        regions.append(network.among(nodes))
        left = np.setdiff1d(left, nodes, assume_unique=True)
