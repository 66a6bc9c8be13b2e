"""The approximate pivot chain where edges have a direction."""

import networkx as nx
import numpy as np
import pytest

from atomstream.fields.networks.chains.glauber import is_copy
from atomstream.samplers import MotifPivot, motifs


@pytest.mark.parametrize("seed", range(3))
def test_every_state_is_a_copy_where_paths_end(seed):
    """A layered network: from most nodes a path of three edges cannot go on."""
    rng = np.random.default_rng(seed)
    layer = np.repeat(range(4), 6)
    matrix = (rng.random((24, 24)) < 0.4) & (layer[None] > layer[:, None])
    graph = nx.from_numpy_array(matrix.astype(float), create_using=nx.DiGraph)
    chain = MotifPivot(graph, motifs.path(3), approximate=True)
    states, _ = chain.run(rng, chain.init(rng), 300)
    assert all(is_copy(chain.network, chain.motif, state) for state in states)
