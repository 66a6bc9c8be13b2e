"""Edges as people write them: lists of every kind, against the edges they were written from."""

import gzip

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from atomstream import NetworkWarning
from atomstream.exceptions import InputError
from atomstream.fields.networks.edges import entries_of
from atomstream.fields.networks.network import Network

EDGES = [("New York", "a;b", 2.5), ("Boston, MA", "c|d", 1.0), ("x\ty", "New York;", 0.5)]
PLAIN = [("a", "b", 2.5), ("b", "c", 1.0), ("c", "a", 0.5)]


def weights(network):
    """Return the weight of every edge by the set of its ends."""
    edges = network.out.tocoo()
    ends = zip(edges.row.tolist(), edges.col.tolist(), strict=True)
    names = [frozenset((network.labels[u], network.labels[v])) for u, v in ends]
    return dict(zip(names, edges.data.tolist(), strict=True))


def wanted(edges):
    return {frozenset(edge[:2]): edge[2] for edge in edges}


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("sign", ["\t", "|", ";", ",", " "])
@pytest.mark.parametrize("decimal", [".", ","])
def test_the_delimiter_is_found_or_given(tmp_path, sign, decimal):
    lines = [
        sign.join([f'"{u}"' if sign in u else u, v, str(w).replace(".", decimal)])
        for u, v, w in PLAIN
    ]
    path = written(tmp_path / "edges.txt", "# a comment\n" + "\n".join(lines))
    if sign == decimal:
        with pytest.raises(ValueError, match=r"decimal commas need another delimiter"):
            Network.of(path)
        return
    assert weights(Network.of(path, delimiter=sign, decimal=decimal)) == wanted(PLAIN)
    assert weights(Network.of(path, decimal=decimal)) == wanted(PLAIN)
    if decimal == ",":
        with pytest.raises(ValueError, match=r"edges.txt.* decimal commas.*decimal=','.*--decimal"):
            Network.of(path)


@pytest.mark.parametrize("sign", ["\t", "|", ";", ","])
def test_nodes_may_hold_blanks_and_quoted_delimiters(tmp_path, sign):
    lines = [sign.join([f'"{u}"', f'"{v}"', str(w)]) for u, v, w in EDGES]
    path = written(tmp_path / "edges.txt", "\n".join(lines))
    assert weights(Network.of(path)) == wanted(EDGES)


def test_a_tab_may_be_typed(tmp_path):
    path = written(tmp_path / "edges.txt", "New York\tBoston;MA\nBoston;MA\tx;y\n")
    assert list(Network.of(path, delimiter=r"\t").labels) == ["New York", "Boston;MA", "x;y"]


@pytest.mark.parametrize("kind", ["array", "npz", "network"])
def test_a_weight_asked_of_a_matrix_is_refused(kind, tmp_path):
    matrix = sp.csr_array(np.ones((2, 2)))
    sp.save_npz(tmp_path / "graph.npz", matrix)
    data = {"array": matrix, "npz": tmp_path / "graph.npz", "network": Network.of(matrix)}[kind]
    with pytest.raises(ValueError, match="have no 'n'; they have none"):
        Network.of(data, weight="n")
    assert Network.of(data, weight=None).n_edges == 3


def test_a_sign_of_its_own_must_be_given(tmp_path):
    path = written(tmp_path / "edges.txt", "\n".join(f"{u}:{v}:{w}" for u, v, w in PLAIN))
    with pytest.raises(ValueError, match=r"line 1: 'a:b:2.5' is not an edge.*--delimiter"):
        Network.of(path)
    assert weights(Network.of(path, delimiter=":")) == wanted(PLAIN)


@pytest.mark.parametrize("delimiter", [" ", ",", "|", "\t"])
@pytest.mark.parametrize("packed", [False, True])
def test_what_networkx_writes_is_read(tmp_path, delimiter, packed):
    graph = nx.Graph()
    graph.add_weighted_edges_from(PLAIN)
    nx.set_edge_attributes(graph, {("a", "b"): {"kind": "{odd}, one", "since": 1999}})
    path = tmp_path / ("edges.txt.gz" if packed else "edges.txt")
    nx.write_edgelist(graph, path, delimiter=delimiter)
    assert weights(Network.of(path)) == wanted(PLAIN)
    nx.write_weighted_edgelist(graph, path, delimiter=delimiter)
    assert weights(Network.of(path)) == wanted(PLAIN)
    nx.write_edgelist(graph, path, delimiter=delimiter, data=False)
    assert set(weights(Network.of(path)).values()) == {1.0}
    nx.write_edgelist(nx.Graph(graph.edges), path, delimiter=delimiter)  # a b {}
    assert set(weights(Network.of(path)).values()) == {1.0}


def test_attributes_in_a_line_are_never_executed(tmp_path):
    path = written(tmp_path / "edges.txt", "a b {}\na c {'weight': open('/tmp/x')}\n")
    with pytest.raises(ValueError, match=r"line 2: the attributes .*cannot be read; needed is a"):
        Network.of(path)


HEADED = {
    "source,target,weight\na,b,2.5\nb,c,1\nc,a,0.5\n": "weight",
    "Source,Target,Type,Id,Weight\na,b,x,0,2.5\nb,c,x,1,1\nc,a,x,2,0.5\n": "weight",
    "year|weight|from|to\n1|2.5|a|b\n2|1|b|c\n3|0.5|c|a\n": "weight",
    "tail;head;n;m\na;b;2.5;9\nb;c;1;9\nc;a;0.5;9\n": "n",
    "person\tfriend\tn\na\tb\t2.5\nb\tc\t1\nc\ta\t0.5\n": "weight",  # the third of three columns
}


@pytest.mark.parametrize("text", HEADED)
def test_a_first_line_may_name_the_columns(tmp_path, text):
    path = written(tmp_path / "edges.txt", text)
    assert weights(Network.of(path, weight=HEADED[text])) == wanted(PLAIN)
    frame = pd.read_csv(path, sep=None, engine="python")
    for table in (frame, pl.from_pandas(frame)):
        assert weights(Network.of(table, weight=HEADED[text])) == wanted(PLAIN)
    counted = Network.of(path, weight=None)
    assert set(weights(counted).values()) == {1.0}


def test_names_above_numbers_are_no_edge_and_nodes_above_nodes_are(tmp_path):
    path = written(tmp_path / "edges.txt", "person friend\n1 2\n2 3\n")
    assert list(Network.of(path).labels) == ["1", "2", "3"]
    for text in ("root 1\n1 2\n", "anna,bert\nbert,carl\n", "a;b;2\nb;c;1\n"):
        path = written(tmp_path / "edges.txt", text)
        assert Network.of(path).n_edges == 2
    for text, what in {"a;b;2,5\nb;c;1\n": "'2,5'", "a,b,NA\nb,c,1\n": "'NA'"}.items():
        with pytest.raises(ValueError, match=f"line 1: the weight {what}"):
            Network.of(written(tmp_path / "edges.txt", text))


def attributed():
    graph = nx.Graph()
    graph.add_edge("a", "b", calls=3, kind="x")
    graph.add_edge("b", "c", kind="y")
    return graph


@pytest.mark.parametrize("form", ["graph", "gml", "graphml", "gexf", "edgelist", "frame", "csv"])
def test_another_weight_is_named_in_a_warning_and_can_be_asked_for(tmp_path, form):
    graph, path = attributed(), tmp_path / f"edges.{form}"
    frame = nx.to_pandas_edgelist(graph).fillna({"calls": 1})
    {
        "gml": lambda: nx.write_gml(graph, path),
        "graphml": lambda: nx.write_graphml(graph, path),
        "gexf": lambda: nx.write_gexf(graph, path),
        "edgelist": lambda: nx.write_edgelist(graph, path),
        "csv": lambda: frame.to_csv(path, index=False),
    }.get(form, int)()
    data = {"graph": graph, "frame": frame}.get(form, path)
    with pytest.warns(NetworkWarning, match="no 'weight', so each counts as 1.*weight='calls'"):
        network = Network.of(data)
    assert set(weights(network).values()) == {1.0}
    found = weights(Network.of(data, weight="calls"))  # an edge that lacks it counts as 1
    assert found == {frozenset("ab"): 3.0, frozenset("bc"): 1.0}
    with pytest.raises(ValueError, match=r"have no 'cost'; they have .*'calls'"):
        Network.of(data, weight="cost")


def test_two_other_numbers_or_none_are_no_warning():
    frame = pd.DataFrame({"source": [1, 2], "target": [2, 3], "n": [2, 3], "m": [4, 5]})
    assert Network.of(frame).out.max() == 1
    assert Network.of(frame.drop(columns=["n", "m"]).assign(kind="x")).out.max() == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "a b\nb c d e\n",
            "line 2: 'b c d e' is not an edge.*with blanks between.*first line that",
        ),
        ("a,b\nfoo\nb,c\n", "line 2: 'foo' is not an edge.*with commas between them"),
        ("source,target,n\na,b,1\nb,c\n", "line 3: 'b,c' is not an edge; needed are 3 fields"),
        ("source,target,weight\n,b,1\n", "line 2 lacks a node: '', 'b'"),
        ("a b {'weight': 1}\nb {}\n", "line 2: 'b' is not two nodes before the attributes"),
        ("a b\nb c two\n", "line 2: the weight 'two' is not a finite number"),
        ("a;b;2\nb;c;0,5\n", "line 2: the weight '0,5' .*decimal=','"),
    ],
)
def test_a_malformed_line_is_named_with_what_would_help(tmp_path, text, told):
    with pytest.raises(ValueError, match=f"edges.txt, {told}"):
        Network.of(written(tmp_path / "edges.txt", text))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"delimiter": "::"}, "delimiter is .* needed is one sign"),
        ({"delimiter": "x"}, "delimiter is .* needed is one sign"),
        ({"delimiter": 3}, "delimiter is .* needed is one sign"),
        ({"decimal": ";"}, "decimal is ';', needed is '.' or ','"),
        ({"decimal": ",", "delimiter": ","}, "must differ"),
        ({"weight": 2}, "weight must be the name"),
        ({"weight": "n"}, "no first line with names of columns, and so no 'n'"),
        ({"directed": "yes"}, "directed must be True, False or None, got 'yes'"),
    ],
)
def test_options_out_of_range_get_one_sentence(tmp_path, options, told):
    with pytest.raises(ValueError, match=told):
        Network.of(written(tmp_path / "edges.txt", "a b\n"), **options)


def test_an_archive_and_its_text_are_one_network(tmp_path):
    text = "\n".join(f"{u} {v} {w}" for u, v, w in PLAIN)
    (tmp_path / "edges.txt.gz").write_bytes(gzip.compress(text.encode()))
    network = Network.of(tmp_path / "edges.txt.gz")
    assert weights(network) == wanted(PLAIN)
    assert np.array_equal(network.out.toarray(), network.into.toarray())


# -- formats of other tools


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("ending", ["gexf", "gexf.gz", "net", "pajek", "graphml", "gml"])
def test_graphs_of_other_tools_keep_edges_weights_and_directions(tmp_path, ending, directed):
    graph = (nx.DiGraph if directed else nx.Graph)()
    graph.add_weighted_edges_from(PLAIN)
    path = tmp_path / f"graph.{ending}"
    kind = {"net": "pajek"}.get(ending, ending.removesuffix(".gz"))
    getattr(nx, f"write_{kind}")(graph, path)
    network = Network.of(path)
    assert network.directed == directed
    assert weights(network) == wanted(PLAIN)


GEPHI = "Source,Target,Type,Id,Label,Weight\n"


@pytest.mark.parametrize("as_frame", [False, True])
def test_the_column_type_of_gephi_says_whether_edges_are_directed(tmp_path, caplog, as_frame):
    def network(*kinds, **how):
        lines = [f"{tail},{head},{kind},{i},,2\n" for i, (tail, head, kind) in enumerate(kinds)]
        path = written(tmp_path / "edges.csv", GEPHI + "".join(lines))
        return Network.of(pd.read_csv(path) if as_frame else path, **how)

    kinds = [("a", "b", "Directed"), ("b", "a", "Directed"), ("b", "c", "Directed")]
    with caplog.at_level("INFO", "atomstream.io.source"):
        found = network(*kinds)
    assert found.directed
    assert found.n_edges == 3
    assert "taken as directed, as the column 'Type' says" in caplog.text
    assert not network(*kinds, directed=False).directed
    assert not network(("a", "b", "Undirected"), ("b", "c", "Undirected")).directed
    assert not network(("a", "b", "friend"), ("b", "c", "friend")).directed
    with pytest.raises(ValueError, match=r"'Type' of .* has directed and undirected edges"):
        network(("a", "b", "Directed"), ("b", "c", "Undirected"))


@pytest.mark.parametrize("unit", [1, 1000])
@pytest.mark.parametrize("head", ["", "SRC DST UNIXTS\n"])
def test_times_are_not_taken_for_weights(tmp_path, head, unit):
    lines = "".join(f"{i} {i % 3} {unit * (1_082_040_961 + 7 * i)}\n" for i in range(3, 9))
    path = written(tmp_path / "messages.txt", head + lines)
    with pytest.warns(NetworkWarning, match=r"third column of .* Unix seconds, such as 1082040982"):
        assert Network.of(path).out.max() == 1
    path = written(tmp_path / "named.txt", "source target weight\n" + lines)
    assert Network.of(path).out.max() > 1e9
    other = "".join(f"{i} {i % 3} {10 ** (i + 3)}\n" for i in range(3, 9))
    assert Network.of(written(tmp_path / "flows.txt", other)).out.max() == 1e11


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz"])
def test_numbers_on_which_the_parser_of_scipy_crashes_do_not_reach_it(tmp_path, ending):
    text = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 8.5\x007\n"
    path = tmp_path / f"bad{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    with pytest.raises(InputError, match="holds zero bytes"):
        entries_of(str(path))
