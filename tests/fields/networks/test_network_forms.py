"""Networks: directions, labels and attributes kept or changed as asked, against networkx."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from atomstream import NetworkWarning
from atomstream.fields.networks import Motif, motifs
from atomstream.fields.networks.network import Network

ONE_WAY = np.array([[0, 5, 0], [1, 2, 0], [0, 3, 0]], float)  # a -> b 5, b -> a 1, loop, c -> b 3
BOTH_WAYS = np.array([[0, 6, 0], [6, 2, 3], [0, 3, 0]], float)


def digraph():
    graph = nx.DiGraph()
    graph.add_nodes_from("abc")
    graph.add_weighted_edges_from([("a", "b", 5), ("b", "a", 1), ("b", "b", 2), ("c", "b", 3)])
    return graph


@pytest.fixture(params=["graph", "array", "sparse", "gml", "npz", "file", "frame"])
def form(request, tmp_path):
    """One network in every form: its data, and whether they say that it is directed."""
    graph = digraph()
    frame = nx.to_pandas_edgelist(graph).sort_values("source")
    nx.write_gml(graph, tmp_path / "graph.gml")
    nx.write_weighted_edgelist(graph, tmp_path / "edges.txt")
    sp.save_npz(tmp_path / "graph.npz", sp.csr_array(ONE_WAY))
    data = {
        "graph": graph,
        "array": ONE_WAY,
        "sparse": sp.coo_array(ONE_WAY),
        "gml": tmp_path / "graph.gml",
        "npz": tmp_path / "graph.npz",
        "file": tmp_path / "edges.txt",
        "frame": frame,
    }[request.param]
    return data, request.param not in ("file", "frame")


def test_directions_are_kept_or_added_as_asked(form):
    data, says_directed = form
    kept, added = Network.of(data, directed=True), Network.of(data, directed=False)
    assert (kept.directed, added.directed) == (True, False)
    assert_array_equal(kept.out.toarray(), ONE_WAY)
    assert_array_equal(added.out.toarray(), BOTH_WAYS)
    if says_directed:
        assert_array_equal(Network.of(data).out.toarray(), ONE_WAY)
        return
    with pytest.warns(NetworkWarning, match=r"1 pair .*'a' and 'b'.*directed=True.*--directed"):
        network = Network.of(data)
    assert_array_equal(network.out.toarray(), BOTH_WAYS)


def test_edges_that_are_alike_in_both_directions_are_listed_twice():
    frame = pd.DataFrame({"a": ["x", "y", "y", "z"], "b": ["y", "x", "z", "y"], "n": [2, 2, 3, 3]})
    network = Network.of(frame)
    assert network.undirected
    assert sorted(network.out.data) == [2, 2, 3, 3]
    one = nx.DiGraph([(0, 1), (1, 0)])
    assert_array_equal(Network.of(one, directed=False).out.toarray(), [[0, 1], [1, 0]])
    with pytest.warns(NetworkWarning, match="1 pair"):  # x - y would lose its direction
        assert Network.of(frame.iloc[:3]).out.max() == 4


def test_edges_in_one_direction_and_repeated_ones_are_no_warning(tmp_path):
    (tmp_path / "edges.txt").write_text("a b 1\na b 2\nb c 1\nc c 1\n")
    network = Network.of(tmp_path / "edges.txt")
    assert_array_equal(network.out.toarray(), [[0, 3, 0], [3, 0, 1], [0, 1, 1]])


def test_an_undirected_graph_can_be_taken_as_directed():
    graph = nx.path_graph(3)
    network = Network.of(graph, directed=True)
    assert network.directed
    assert_array_equal(network.out.toarray(), nx.to_numpy_array(graph))
    assert Network.of(network).directed
    assert Network.of(network, directed=False).undirected


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_add_up(kind):
    graph = kind()
    graph.add_weighted_edges_from([("a", "b", 2), ("a", "b", 3), ("b", "c", 1), ("c", "c", 4)])
    network = Network.of(graph)
    assert network.directed == graph.is_directed()
    assert_array_equal(network.out.toarray(), nx.to_numpy_array(graph))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("ending", ["", ".gml", ".graphml"])
def test_labels_attributes_and_weights_go_and_come_back(kind, ending, tmp_path):
    graph = kind()
    graph.add_node("alone", age=7)
    graph.add_node("z", age=3, name_of="Zoe")
    graph.add_weighted_edges_from([("z", "b", 2.5), ("b", "c", 1.0), ("c", "c", 0.5)])
    path = tmp_path / f"graph{ending}"
    {".gml": nx.write_gml, ".graphml": nx.write_graphml}.get(ending, lambda *_: 0)(graph, path)
    network = Network.of(path if ending else graph)
    assert network.attributes == {"alone": {"age": 7}, "z": {"age": 3, "name_of": "Zoe"}}
    again = network.to_networkx()
    assert nx.utils.graphs_equal(again, graph)
    assert list(again.nodes) == list(graph.nodes)
    assert nx.utils.graphs_equal(Network.of(again).to_networkx(), graph)
    renamed = Network.of(graph, labels=["p", "q", "r", "s"])
    assert renamed.attributes == {"p": {"age": 7}, "q": {"age": 3, "name_of": "Zoe"}}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_the_largest_component_keeps_what_belongs_to_its_nodes(kind):
    graph = kind([("x", "y"), ("a", "b"), ("c", "b"), ("c", "d")])
    graph.nodes["b"]["age"] = 3
    graph.nodes["x"]["age"] = 4
    network = Network.of(graph, np.arange(1.0, 7)).largest_component()
    weak = nx.connected_components(nx.Graph(graph))
    assert nx.utils.graphs_equal(
        network.to_networkx(), Network.of(graph.subgraph(max(weak, key=len))).to_networkx()
    )
    assert list(network.labels) == ["a", "b", "c", "d"]
    assert_array_equal(network.node_weights, [3, 4, 5, 6])
    assert network.attributes == {"b": {"age": 3}}
    assert_array_equal(network.into.toarray(), network.out.toarray().T)


# -- motifs
# --------------------------------------------------------------------------------------------------


def test_a_graph_of_networkx_is_a_motif():
    assert Motif.of(nx.path_graph(4)) == motifs.path(4)
    assert Motif.of(nx.star_graph(3)) == motifs.star(4)
    assert Motif.of(nx.cycle_graph(3, create_using=nx.DiGraph)) == motifs.cycle(3)
    graph = nx.DiGraph()
    graph.add_nodes_from("ab")
    graph.add_edge("b", "a", weight=2)
    assert Motif.of(graph) == Motif(((1, 0, 2.0),), 2)
    assert Motif.of(graph.to_undirected()) == Motif(((0, 1, 2.0),), 2)
    for bad, told in [
        (nx.Graph([(0, 1, {"weight": "x"})]), "has the weight 'x'"),
        (nx.MultiGraph([(0, 1), (0, 1)]), "each of its edges once"),
        (nx.Graph(), "at least one node"),
    ]:
        with pytest.raises(ValueError, match=told):
            Motif.of(bad)


@pytest.mark.parametrize(
    ("motif", "undirected", "directed"),
    [
        ("path:5", 6, 16),
        ("path:21", 190, 400),
        ("star:4", 3, 9),
        ("cycle:3", 0, 3),
        ("path:2", 0, 1),
    ],
)
def test_free_pairs_are_those_without_an_edge_of_the_motif(motif, undirected, directed):
    found = Motif.of(motif)
    graph = nx.from_numpy_array(found.adjacency(), create_using=nx.DiGraph)
    assert found.n_free_pairs(directed=True) == nx.complement(graph).number_of_edges() == directed
    both = nx.complement(graph.to_undirected()).number_of_edges()
    assert found.n_free_pairs(directed=False) == both == undirected


def test_a_sparse_network_that_contradicts_itself_is_refused():
    for array in ("indptr", "indices"):
        matrix = sp.csr_array(ONE_WAY)
        getattr(matrix, array)[-1] = -7
        with pytest.raises(ValueError, match="The network is a CSR matrix that contradicts itself"):
            Network.of(matrix)
