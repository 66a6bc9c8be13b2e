"""How many atoms of a network: parts that share no node stand against each other."""

import networkx as nx
import numpy as np
import pytest

from atomstream import NetworkDictionary, choose_rank
from atomstream.fields.consensus.rank import rows_apart
from atomstream.fields.networks.network import Network, regions_of

MODEL = NetworkDictionary("path:5")


def test_parts_are_connected_and_share_no_node():
    network = Network.of(nx.connected_watts_strogatz_graph(300, 6, 0.1, seed=0))
    parts = regions_of(network, 20, 0)
    labels = [label for part in parts for label in part.labels]
    assert len(labels) == len(set(labels))
    assert len(parts) >= 10
    for part in parts:
        assert part.n_nodes == 20
        graph = part.to_networkx()
        assert nx.is_connected(graph)
        whole = network.to_networkx().subgraph(part.labels)
        assert {frozenset(edge) for edge in graph.edges} == {frozenset(e) for e in whole.edges}


def test_rows_hold_each_pair_of_nodes_once():
    network = Network.of(nx.connected_watts_strogatz_graph(400, 6, 0.1, seed=0))
    rows, size = rows_apart(network, MODEL, 0)
    n_parts = len(regions_of(network, 20, np.random.default_rng(0)))
    assert rows.shape == (n_parts * size, 15)  # pairs of five nodes, and the nodes themselves
    directed, _ = rows_apart(Network.of(network.out, directed=True), MODEL, 0)
    assert directed.shape[1] == 25


def test_two_kinds_of_neighbourhood_are_two_atoms():
    cliques, sparse = nx.connected_caveman_graph(60, 8), nx.random_regular_graph(3, 480, seed=0)
    network = nx.disjoint_union(cliques, sparse)
    choice = choose_rank(network, range(1, 5), model=MODEL, n_seeds=5, random_state=0)
    assert choice.structured
    assert choice.rank == 2


def test_small_networks_and_whole_ones_are_refused():
    with pytest.raises(ValueError, match="at least 10 of 4 nodes for each node of the motif"):
        choose_rank(nx.karate_club_graph(), [2, 3], model=MODEL)
    with pytest.raises(ValueError, match="'pivot' or 'glauber' to compare ranks"):
        choose_rank(nx.karate_club_graph(), [2, 3], model=NetworkDictionary(chain="all"))
