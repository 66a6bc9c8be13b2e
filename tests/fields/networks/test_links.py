"""Splits of networks with and without directions, and scores from what lies around pairs."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.fields.networks import Network, links
from atomstream.fields.networks.link_scores import around, decomposed, plain


def directed_blocks():
    return nx.random_partition_graph([20] * 3, 0.3, 0.03, seed=0, directed=True)


def test_a_split_is_printed_in_one_line():
    split = links.hide(nx.cycle_graph(6), 1 / 6, random_state=0)
    assert repr(split) == "Split(Network(6 nodes, 5 edges, undirected), 2 pairs, 1 of them edges)"


@pytest.mark.parametrize("matched", [False, True])
def test_splits_of_directed_networks_keep_directions(matched):
    graph = directed_blocks()
    n_edges = graph.number_of_edges()
    split = links.hide(graph, 1 / 3, matched=matched, random_state=0)
    assert split.network.directed
    assert nx.is_weakly_connected(split.network.to_networkx())
    assert split.truth.sum() == round(n_edges / 3) == (~split.truth).sum()
    assert [graph.has_edge(*pair) for pair in split.pairs] == split.truth.tolist()
    assert split.network.n_edges == n_edges - split.truth.sum()
    split = links.plant(graph, 0.1, matched=matched, random_state=0)
    assert len(set(split.pairs)) == len(split.pairs) == split.network.n_edges
    assert [graph.has_edge(*pair) for pair in split.pairs] == split.truth.tolist()


@pytest.mark.parametrize("directed", [False, True])
def test_non_edges_matched_by_degree_have_the_degrees_of_edges(directed):
    graph = nx.barabasi_albert_graph(400, 4, seed=0)
    network = Network.of(graph, directed=directed)
    degrees = np.diff(network.out.indptr)
    means = {}
    for matched in (False, True):
        split = links.hide(network, 0.2, matched=matched, random_state=0)
        ends = np.array(split.pairs)[~split.truth]
        assert (ends[:, 0] != ends[:, 1]).all()
        means[matched] = degrees[ends].mean()
    # The end of a random edge has the degree sum of squares over sum.
    assert_allclose(means[False], degrees.mean(), rtol=0.15)
    assert_allclose(means[True], (degrees @ degrees) / degrees.sum(), rtol=0.15)


@pytest.mark.parametrize("kind", [links.hide, links.plant])
def test_heuristics_are_those_of_networkx(kind):
    graph = nx.karate_club_graph()
    split = kind(graph, 0.3, random_state=0)
    left = split.network.to_networkx()
    wanted = {
        "Adamic-Adar": nx.adamic_adar_index,
        "Jaccard": nx.jaccard_coefficient,
        "resource allocation": nx.resource_allocation_index,
        "preferential attachment": nx.preferential_attachment,
    }
    scores = links.neighbour_scores(split.network, split.pairs)
    assert list(scores) == list(wanted)
    for name, score in wanted.items():
        assert_allclose(scores[name], [value for *_, value in score(left, split.pairs)])


@pytest.mark.parametrize("directed", [False, True])
def test_paths_are_those_of_a_search(directed):
    graph = directed_blocks() if directed else nx.karate_club_graph()
    matrix = plain(Network.of(graph).out)
    rows, columns = np.divmod(np.arange(300) * 3, graph.number_of_nodes())
    rows, columns = rows[rows != columns], columns[rows != columns]
    found = around(matrix, rows, columns, directed)
    degrees = np.array([degree for _, degree in graph.degree()])
    for pair, (u, v) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        ways = [way[1:-1] for way in nx.all_simple_paths(graph, u, v, cutoff=3) if len(way) > 2]
        # The search finds paths; the sums count walks, which may return to no end but to the middle
        twos, threes = ([way for way in ways if len(way) == k] for k in (1, 2))
        wanted = sum(1 / degrees[way[0]] for way in twos)
        assert_allclose(found["resource allocation"][pair], wanted)
        wanted = sum(1 / np.sqrt(degrees[w] * degrees[x]) for w, x in threes)
        assert_allclose(found["longer paths"][pair], wanted)


def test_entries_of_decompositions_are_those_of_dense_ones():
    matrix = plain(Network.of(directed_blocks()).out)
    rows, columns = np.arange(20), np.arange(20, 40)
    u, s, v = np.linalg.svd(matrix.toarray())
    for rank in (8, 25):
        wanted = (u[:, :rank] * s[:rank]) @ v[:rank]
        found = decomposed(matrix, rows, columns)[f"SVD of rank {rank}"]
        assert_allclose(found, wanted[rows, columns], atol=1e-10)
    pairs = list(pairwise(range(10)))
    assert set(links.svd_scores(sp.csr_array(matrix), pairs)) == {"SVD of rank 8", "SVD of rank 25"}
    tiny = links.svd_scores(nx.complete_graph(4), [(0, 1)])
    assert_array_equal(list(tiny), ["SVD of rank 8", "SVD of rank 25"])
