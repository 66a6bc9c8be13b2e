"""Patches of a network as rows, in blocks that have no pair of nodes in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base.checks import generator
from atomstream.domains.networks.motifs import Motif
from atomstream.domains.networks.network import Network, regions_of
from atomstream.estimators._chains import ChainShard

PATCHES = 5000  # in all parts together
MAX_PARTS, MIN_PARTS = 40, 10  # of a network, as many as can be
PART_FACTOR = 4  # nodes of a part for each of the motif


def rows_apart(data: object, model: Any, seed: Any) -> tuple[NDArray, int]:
    """Return patches, part after part of a network, and how many each part has.

    No two parts share a node, so what is hidden in a patch is in none of another part. Of networks
    without directions each pair is one column: hidden on one side, it would be seen on the other.
    """
    if model.chain == "all":
        raise ValueError(
            "chain='all' visits every copy of the motif in the whole network; choose 'pivot' or "
            "'glauber' to compare ranks."
        )
    network, motif, rng = Network.of(data), Motif.of(model.motif), generator(seed)
    size = max(PART_FACTOR * motif.size, network.n_nodes // MAX_PARTS)
    parts = regions_of(network, size, rng)
    if len(parts) < MIN_PARTS:
        raise ValueError(
            f"choose_rank compares parts of a network that share no node, at least {MIN_PARTS} of "
            f"{PART_FACTOR} nodes for each node of the motif; found {len(parts)} of {size} nodes. "
            f"Choose a motif of fewer nodes than {motif.size}."
        )
    n, root = PATCHES // len(parts), int(rng.integers(2**63))
    known = motif, model.chain, model.thin
    chains = [ChainShard(part, *known, (root, k), n) for k, part in enumerate(parts)]
    patches = np.concatenate([block for chain in chains for block in chain.read(0, n)])
    if network.directed:
        return patches, n
    above = np.triu(np.ones((motif.size, motif.size), bool)).ravel()
    return patches[:, above], n
