"""Networks as sorted neighbour lists, from whatever people hold them in."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.io import mmread

__all__ = ["Network"]


@dataclass(frozen=True, eq=False)
class Network:
    """A weighted network, directed or not, never dense.

    Attributes
    ----------
    out : csr_array of shape (n_nodes, n_nodes)
        Entry (u, v) is the weight of the edge from u to v; indices sorted, no zeros.
    into : csr_array
        Its transpose.
    labels : sequence of length n_nodes
        What the caller calls the nodes.
    node_weights : ndarray of shape (n_nodes,)
        Ones unless given.
    """

    out: Any
    into: Any
    labels: Sequence[Any]
    node_weights: NDArray

    @classmethod
    def of(cls, data: Any, node_weights: Any = None, *, labels: Any = None) -> Network:
        """Return a network.

        Parameters
        ----------
        data : networkx graph, sparse array, array of shape (n, n), frame, or path
            Frames and files of edges have two columns, or three with weights. Files are lines of text, fields parted
            by commas or blanks, comments after #, or .gz of such; .npz (scipy's) and .mtx are matrices, .gml and
            .graphml graphs. Edges of frames and files are undirected, as those of an undirected
            networkx graph are; matrices are taken as they are.
        node_weights : array-like of shape (n_nodes,), optional
            Above 0.
        labels : sequence of length n_nodes, optional
            Names of the nodes of a matrix; by default their numbers.

        Raises
        ------
        ValueError
            For no edges, weights that are negative or not finite, and lines that are no edge (with their number).
        """
        if isinstance(data, cls):
            matrix, labels = data.out, data.labels if labels is None else labels
            node_weights = data.node_weights if node_weights is None else node_weights
        elif isinstance(data, str | Path):
            matrix, labels = _read(Path(data))
        elif hasattr(data, "adjacency") and hasattr(data, "nodes"):
            import networkx as nx  # type: ignore[import-untyped]

            matrix, labels = nx.to_scipy_sparse_array(data, format="csr", dtype=np.float64), list(data.nodes)
        elif hasattr(data, "columns"):
            matrix, labels = _from_edges([tuple(row) for row in np.asarray(data)])
        else:
            matrix = sp.csr_array(data, dtype=np.float64)
            labels = range(matrix.shape[0]) if labels is None else list(labels)
            if len(labels) != matrix.shape[0] or len(set(labels)) < len(labels):
                raise ValueError(f"labels must be {matrix.shape[0]} different names, got {len(labels)}.")
        return cls._checked(sp.csr_array(matrix, dtype=np.float64), labels, node_weights)

    @classmethod
    def _checked(cls, matrix: Any, labels: Sequence[Any], node_weights: Any) -> Network:
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"A network is a square matrix, got shape {matrix.shape}.")
        matrix = matrix.copy()
        matrix.sum_duplicates()
        if not (np.isfinite(matrix.data).all() and (matrix.data >= 0).all()):
            raise ValueError("Weights of edges must be finite and not negative.")
        matrix.eliminate_zeros()
        if not matrix.nnz:
            raise ValueError("The network has no edges.")
        matrix.sort_indices()
        into = sp.csr_array(matrix.T)
        into.sort_indices()
        weights = np.ones(matrix.shape[0]) if node_weights is None else np.asarray(node_weights, dtype=np.float64)
        if weights.shape != (matrix.shape[0],) or not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError(f"node_weights must be {matrix.shape[0]} finite numbers above 0.")
        return cls(matrix, into, labels, weights)

    def places(self, pairs: Any) -> tuple[NDArray, NDArray]:
        """Return the numbers of the nodes of pairs of labels, two int64 arrays of shape (n_pairs,).

        Raises
        ------
        ValueError
            Where a label is not of this network.
        """
        try:
            ends = [(self._numbers[tail], self._numbers[head]) for tail, head in pairs]
        except KeyError as error:
            raise ValueError(f"The network has no node {error.args[0]!r}.") from None
        except TypeError:
            raise ValueError("Pairs of nodes must be a sequence of (label, label).") from None
        tails, heads = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        return tails, heads

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        return {label: number for number, label in enumerate(self.labels)}

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.out.shape[0])

    @cached_property
    def undirected(self) -> bool:
        """Whether every edge has the same weight both ways."""
        return bool((abs(self.out - self.into) > 0).nnz == 0)

    @property
    def bipartite(self) -> bool:
        """Whether the nodes have two colours so that every edge joins both; of an undirected network."""
        colour = np.full(self.n_nodes, -1)
        for root in range(self.n_nodes):
            if colour[root] >= 0:
                continue
            colour[root], stack = 0, [root]
            while stack:
                node = stack.pop()
                near = self.out.indices[self.out.indptr[node] : self.out.indptr[node + 1]]
                if (colour[near] == colour[node]).any():
                    return False
                fresh = near[colour[near] < 0]
                colour[fresh] = 1 - colour[node]
                stack.extend(fresh.tolist())
        return True


def _read(path: Path) -> tuple[Any, Sequence[Any]]:
    """Read a matrix (.npz of scipy, .mtx), a graph (.gml, .graphml), or lines of edges."""
    kind = path.suffix.lower()
    if kind in (".npz", ".mtx"):
        try:
            matrix = sp.load_npz(path) if kind == ".npz" else mmread(path)
        except (ValueError, KeyError, EOFError, BadZipFile) as error:
            raise ValueError(f"{path} cannot be read as a sparse matrix ({error}).") from None
        return matrix, range(matrix.shape[0])
    if kind in (".gml", ".graphml"):
        import networkx as nx

        try:
            graph = (nx.read_gml if kind == ".gml" else nx.read_graphml)(path)
        except (nx.NetworkXError, ValueError, SyntaxError) as error:
            raise ValueError(f"{path} cannot be read as a graph ({error}).") from None
        return nx.to_scipy_sparse_array(graph, format="csr", dtype=np.float64), list(graph.nodes)
    return _from_edges(_read_edges(path))


def _read_edges(path: Path) -> list[tuple[str, str, float]]:
    edges = []
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            fields = line.partition("#")[0].replace(",", " ").split()
            if not fields:
                continue
            try:
                tail, head = fields[:2]
                weight = float(fields[2]) if len(fields) > 2 else 1.0
            except ValueError:
                raise ValueError(
                    f"{path}, line {number}: {line.strip()!r:.60} is no edge: two nodes and maybe a weight."
                ) from None
            if len(fields) > 3:
                raise ValueError(f"{path}, line {number}: an edge has two or three fields, got {len(fields)}.")
            edges.append((tail, head, weight))
    return edges


def _from_edges(edges: list[tuple[Any, ...]]) -> tuple[Any, list[Any]]:
    """Return the symmetric matrix of undirected edges, and the nodes in the order in which they come."""
    places: dict[Any, int] = {}
    ends = [(places.setdefault(edge[0], len(places)), places.setdefault(edge[1], len(places))) for edge in edges]
    tails, heads = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    weights = np.array([float(edge[2]) if len(edge) > 2 else 1.0 for edge in edges])
    loops = tails == heads
    rows, columns = np.concatenate([tails, heads[~loops]]), np.concatenate([heads, tails[~loops]])
    values = np.concatenate([weights, weights[~loops]])
    return sp.csr_array((values, (rows, columns)), (len(places), len(places))), list(places)
