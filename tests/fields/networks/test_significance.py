"""Copies of motifs against random networks of the same degrees."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.fields.networks import Motif, Network
from atomstream.fields.networks.chains.significance import copies, rewired
from atomstream.samplers import homomorphisms, significance


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("motif", ["triangle", "cycle:4", "path:4", "star:4", "wedge:2"])
def test_copies_are_those_of_an_enumeration(motif, directed):
    graph = nx.gnp_random_graph(12, 0.35, seed=1, directed=directed)
    network = Network.of(graph)
    wanted = len(homomorphisms(network, Motif.of(motif))[0])
    assert copies(network.out, Motif.of(motif)) == wanted


@pytest.mark.parametrize("directed", [False, True])
def test_rewired_networks_keep_degrees_and_nothing_else(directed):
    network = Network.of(nx.gnp_random_graph(60, 0.1, seed=0, directed=directed))
    made = rewired(network.out, np.random.default_rng(0), directed)
    for axis in (0, 1):
        assert_array_equal(made.sum(axis=axis), network.out.sum(axis=axis))
    assert made.max() == 1
    assert not made.diagonal().any()
    assert directed or abs(made - made.T).nnz == 0
    shared = made.multiply(network.out).sum() / network.out.sum()
    assert shared < 0.4  # an edge is where it was with the probability of any pair, a tenth


def test_all_networks_of_some_degrees_are_equally_likely():
    """Of five nodes with two neighbours each there are twelve networks, all of them cycles."""
    matrix, rng = Network.of(nx.cycle_graph(5)).out, np.random.default_rng(0)
    found = [rewired(matrix, rng, False).toarray().tobytes() for _ in range(2400)]
    counts = np.unique(found, return_counts=True)[1]
    assert len(counts) == 12
    assert_allclose(counts, 200, atol=4.5 * np.sqrt(200))


def test_triangles_of_a_clustered_network_are_significant_and_of_a_random_one_not():
    clustered = nx.watts_strogatz_graph(100, 6, 0.1, seed=0)
    found = significance(clustered, "triangle", n_samples=50, random_state=0)
    assert found.count == 6 * sum(nx.triangles(clustered).values()) / 3
    assert found.z_score > 10
    assert_allclose(found.p_value, 1 / 51)
    random = significance(nx.gnm_random_graph(100, 300, seed=0), "triangle", random_state=0)
    assert abs(random.z_score) < 3
    assert random.p_value > 0.02
    edges = significance(clustered, "path:3", n_samples=10, random_state=0)
    assert np.isnan(edges.z_score)  # degrees alone decide on paths of two edges
    assert edges.p_value == 1
