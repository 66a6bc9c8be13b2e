"""Networks from files, frames, graphs of networkx, and matrices."""

from __future__ import annotations

import csv
import gzip
import math
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp

from atomstream.core.extras import library
from atomstream.io.arrays import read_matrix_market

__all__ = ["Entries", "entries_of"]

ENDS = (("source", "target"), ("tail", "head"), ("from", "to"))  # known names of columns


class Entries(NamedTuple):
    """The parts of a network.

    Attributes
    ----------
    matrix : sparse array of shape (n_nodes, n_nodes)
    labels : sequence
    directed : bool or None
        None if it depends on the symmetry of the matrix.
    """

    matrix: Any
    labels: Sequence[Any]
    directed: bool | None


def entries_of(data: Any) -> Entries:
    """Return the matrix and the labels of a network, and whether it is directed.

    Raises
    ------
    ValueError
        For data that are not a network; the message says what is needed.
    """
    if isinstance(data, str | Path):
        return _from_file(Path(data))
    if hasattr(data, "adjacency") and hasattr(data, "nodes"):
        return _from_graph(data, "The graph")
    if hasattr(data, "columns"):
        return _from_frame(data)
    if data is None or isinstance(data, dict | set | bytes):
        raise ValueError(
            "A network must be a networkx graph, a square matrix, a frame of edges or a path, "
            f"got {type(data).__name__}."
        )
    matrix = data if sp.issparse(data) else np.asarray(data)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "fiub":
        raise ValueError(
            f"The matrix of a network must be square and of real numbers, got shape {matrix.shape} "
            f"of {matrix.dtype}; give edges as a frame, a file or a graph of networkx."
        )
    return Entries(matrix, range(matrix.shape[0]), None)


def _from_file(path: Path) -> Entries:
    kinds = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    kind = kinds[-1] if kinds else ""
    try:
        if kind in (".npz", ".mtx"):
            return _from_matrix(path, kind)
        if kind in (".gml", ".graphml"):
            nx = library("networkx", "Graphs")

            read = nx.read_gml if kind == ".gml" else nx.read_graphml
            return _from_graph(read(path), str(path))
        return _from_edges(list(_edges_of(path)))
    except FileNotFoundError:
        raise
    except (EOFError, zlib.error, SyntaxError, TypeError, OSError) as error:
        raise ValueError(f"{path} cannot be read ({type(error).__name__}: {error}).") from None
    except ValueError as error:
        if str(path) in str(error):
            raise
        raise ValueError(f"{path} cannot be read ({error}).") from None
    except Exception as error:
        if type(error).__module__.startswith("networkx"):
            raise ValueError(f"{path} cannot be read as a graph ({error}).") from None
        raise


def _from_matrix(path: Path, kind: str) -> Entries:
    try:
        matrix = sp.load_npz(path) if kind == ".npz" else read_matrix_market(path)
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, EOFError, OSError, BadZipFile, zlib.error) as error:
        raise ValueError(
            f"{path} cannot be read as a sparse matrix of scipy ({type(error).__name__})."
        ) from None
    return Entries(matrix, range(matrix.shape[0]), None)


def _from_graph(graph: Any, name: str) -> Entries:
    nx = library("networkx", "Graphs")

    if not len(graph):
        raise ValueError(f"{name} has no edges.")
    try:
        matrix = nx.to_scipy_sparse_array(graph, format="csr", dtype=np.float64)
    except (nx.NetworkXError, TypeError, ValueError) as error:
        raise ValueError(f"{name} has weights that are not numbers ({error}).") from None
    return Entries(matrix, list(graph.nodes), bool(graph.is_directed()))


def _from_frame(frame: Any) -> Entries:
    names = [str(name) for name in frame.columns]
    known = next((ends for ends in ENDS if set(ends) <= set(names)), None)
    if known is not None:
        used = [*known, *(["weight"] if "weight" in names else [])]
    elif len(names) in (2, 3):
        used = names
    else:
        raise ValueError(
            "A frame of edges must have two columns, or three with weights, or columns called "
            f"source and target; got {len(names)} columns."
        )
    columns = [frame[frame.columns[names.index(name)]].to_list() for name in used]
    edges = []
    for row, (tail, head, *rest) in enumerate(zip(*columns, strict=True)):
        where = f"Row {row} of the frame (counted from 0)"
        if any(end is None or end != end for end in (tail, head)):
            raise ValueError(f"{where} lacks a node: {tail!r}, {head!r}.")
        edges.append((tail, head, _weight(rest[0] if rest else 1.0, where)))
    return _from_edges(edges)


def _weight(value: Any, where: str) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise ValueError(f"{where}: the weight {value!r:.40} is not a finite number of at least 0.")
    return weight


def _edges_of(path: Path) -> Iterator[tuple[str, str, float]]:
    """Yield the edges in lines of text.

    Fields are separated by commas, as in CSV, if the first line has a comma, else by blanks.
    """
    packed = path.suffix.lower() == ".gz"
    with (
        gzip.open(path, "rt", encoding="utf-8-sig")
        if packed
        else path.open(encoding="utf-8-sig") as lines
    ):
        commas, first = None, True
        for number, line in enumerate(lines, start=1):
            text = line.strip()
            if not text or text[0] in "#%":
                continue
            commas = "," in text if commas is None else commas
            if commas:
                fields = [
                    field.strip() for field in next(csv.reader([text], skipinitialspace=True))
                ]
            else:
                fields = text.partition("#")[0].split()
            if first and tuple(field.lower() for field in fields[:2]) in ENDS:
                first = False
                continue
            first = False
            where = f"{path}, line {number}"
            if not 2 <= len(fields) <= 3 or not all(fields):
                raise ValueError(
                    f"{where}: {text!r:.60} is not an edge; needed are two nodes and optionally a "
                    "weight."
                )
            yield fields[0], fields[1], _weight(fields[2], where) if len(fields) > 2 else 1.0


def _from_edges(edges: list[tuple[Any, Any, float]]) -> Entries:
    """Return the symmetric matrix of undirected edges, and the nodes in order of appearance."""
    places: dict[Any, int] = {}
    ends = [places.setdefault(end, len(places)) for edge in edges for end in edge[:2]]
    tails, heads = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    weights = np.array([edge[2] for edge in edges])
    loops = tails == heads
    rows, columns = np.concatenate([tails, heads[~loops]]), np.concatenate([heads, tails[~loops]])
    values = np.concatenate([weights, weights[~loops]])
    return Entries(
        sp.csr_array((values, (rows, columns)), (len(places), len(places))), list(places), False
    )
