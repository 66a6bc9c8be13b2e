"""Networks from files, frames, graphs of networkx, and matrices."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from atomstream.base import (
    checked_matrix,
    column_names,
    is_missing,
    library,
)
from atomstream.exceptions import InputError
from atomstream.fields.networks import edge_tables
from atomstream.io import log_guesses, reading
from atomstream.io.inputs import check_used

# Graphs in files that are no edges, by their endings.
REFUSED = {
    ".adjlist": "an adjacency list, with the neighbours of a node in each line",
    ".g6": "a graph in the format graph6",
    ".s6": "a graph in the format sparse6",
    ".json": "a graph in JSON",
}
MATRICES = (".npz", ".mtx")
GRAPHS = {  # and what reads them in networkx
    ".gml": "read_gml",
    ".graphml": "read_graphml",
    ".gexf": "read_gexf",
    ".net": "read_pajek",
    ".pajek": "read_pajek",
}
INSTEAD = "read it with networkx, and write it with networkx.write_graphml or write_edgelist"


class Entries(NamedTuple):
    """The parts of a network.

    Attributes
    ----------
    matrix : sparse array of shape (n_nodes, n_nodes)
    labels : sequence
    directed : bool or None
        What the data say of themselves: None for matrices, where symmetry decides. Edges of files
        and frames are entered once, as they are listed, and count as undirected unless a column
        Type says "Directed" of each.
    attributes : mapping of label to dict
        Attributes of the nodes that have any.
    """

    matrix: Any
    labels: Sequence[Any]
    directed: bool | None
    attributes: Mapping[Any, dict[str, Any]] = {}


def entries_of(data: Any, options: edge_tables.EdgeOptions | None = None) -> Entries:
    """Return the matrix and the labels of a network, and whether it is directed.

    Parameters
    ----------
    data : networkx graph, sparse array, array of shape (n, n), frame, or path
    options : EdgeOptions, optional

    Raises
    ------
    ValueError
        For data that are not a network; the message says what is needed.
    """
    options = options or edge_tables.EdgeOptions()
    if not isinstance(data, str | Path):
        uses = {"decimal", "thousands"} if hasattr(data, "columns") else set()
        check_used(options.table, uses, "what was given")
    if isinstance(data, str | Path):
        return _from_file(Path(data), options)
    if hasattr(data, "adjacency") and hasattr(data, "nodes"):
        return _from_graph(data, options, "the graph")
    if hasattr(data, "columns"):
        return _from_frame(data, options)
    if data is None or isinstance(data, dict | set | bytes):
        raise ValueError(
            "A network must be a networkx graph, a square matrix, a frame of edges or a path, "
            f"got {type(data).__name__}."
        )
    matrix = checked_matrix(data, "The network")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "fiub":
        raise ValueError(
            f"The matrix of a network must be square and of real numbers, got shape {matrix.shape} "
            f"of {matrix.dtype}; give edges as a frame, a file or a graph of networkx."
        )
    edge_tables.check_no_weight(options, "the matrix")
    return Entries(matrix, range(matrix.shape[0]), None)


def _from_file(path: Path, options: edge_tables.EdgeOptions) -> Entries:
    path.stat()  # what is not there stays a FileNotFoundError
    name = path.name.lower().removesuffix(".gz")
    with reading(str(path)):
        if (found := next((end for end in REFUSED if name.endswith(end)), None)) is not None:
            raise InputError(f"{path} is {REFUSED[found]}; {INSTEAD}.")
        if name.endswith((*MATRICES, *GRAPHS)):
            check_used(options.table, frozenset(), str(path))
        if name.endswith(MATRICES):
            edge_tables.check_no_weight(options, str(path))
            from atomstream.io import read_matrix_market  # here: few networks are matrices

            matrix = sp.load_npz(path) if name.endswith(".npz") else read_matrix_market(path)
            return Entries(matrix, range(matrix.shape[0]), None)
        read = next((read for ending, read in GRAPHS.items() if name.endswith(ending)), None)
        if read is not None:
            graph = getattr(library("networkx", "Graphs"), read)(path)
            return _from_graph(graph, options, str(path))
        return _from_table(edge_tables.read_edge_list(path, options), options)


def _from_graph(graph: Any, options: edge_tables.EdgeOptions, what: str) -> Entries:
    nx = library("networkx", "Graphs")
    if not len(graph):
        raise InputError(f"{what[0].upper()}{what[1:]} has no edges.")
    known = (data for *_, data in graph.edges(data=True))
    weight = edge_tables.weight_attribute(known, options, what)
    try:
        matrix = nx.to_scipy_sparse_array(graph, weight=weight, format="csr", dtype=np.float64)
    except (nx.NetworkXError, TypeError, ValueError) as error:
        raise InputError(f"{what} has weights that are not numbers ({error}).") from None
    attributes = {node: dict(data) for node, data in graph.nodes(data=True) if data}
    return Entries(matrix, list(graph.nodes), bool(graph.is_directed()), attributes)


def _from_frame(frame: Any, options: edge_tables.EdgeOptions) -> Entries:
    names = column_names(frame)
    # Columns of pyarrow are arrays of its own scalars.
    listed = (np.asarray(frame[name], object).tolist() for name in names)
    columns = [[None if is_missing(entry) else entry for entry in column] for column in listed]
    place = "Row {} of the frame (counted from 0)".format
    return _from_table(
        edge_tables.EdgeTable("the frame", [*map(str, names)], columns, place), options
    )


def _from_table(table: edge_tables.EdgeTable, options: edge_tables.EdgeOptions) -> Entries:
    """Return the matrix of edges as they are listed, and the nodes in order of appearance."""
    tails, heads, weights = table.edges(options)
    places: dict[Any, int] = {}
    pairs = zip(tails, heads, strict=True)
    # Numbered as they appear, so that one file gives one network whatever it is hashed by.
    ends = [places.setdefault(end, len(places)) for pair in pairs for end in pair]
    rows, columns = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    shape = len(places), len(places)
    values = np.array(weights, dtype=np.float64)
    return Entries(
        sp.csr_array((values, (rows, columns)), shape), list(places), _is_directed(table)
    )


def _is_directed(table: edge_tables.EdgeTable) -> bool:
    """Return whether a column Type, as Gephi writes it, says that the edges are directed."""
    place = next((i for i, name in enumerate(table.names) if name.lower() == "type"), None)
    if place is None or edge_tables.ends_of(table.names) is None:
        return False
    name, kinds = table.names[place], {str(it).strip().lower() for it in table.columns[place]}
    if kinds == {"directed", "undirected"}:
        raise InputError(
            f"The column {name!r} of {table.name} has directed and undirected edges; list each "
            "undirected edge in both directions, as directed ones."
        )
    if kinds != {"directed"}:
        return False
    why = f"edges taken as directed, as the column {name!r} says"
    log_guesses(table.name, {"directed": (True, why)})
    return True
