"""Networks as sorted neighbour lists, made from graphs, matrices, frames and files."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from atomstream.io.edges import entries_of

__all__ = ["Network"]


@dataclass(frozen=True, eq=False)
class Network:
    """A weighted network, directed or not, in sparse form.

    Attributes
    ----------
    out : csr_array of shape (n_nodes, n_nodes)
        Entry (u, v) is the weight of the edge from u to v; indices sorted, no zeros.
    into : csr_array
        Transpose of ``out``.
    labels : sequence of length n_nodes
        Names of the nodes.
    node_weights : ndarray of shape (n_nodes,)
        Ones unless given.
    directed : bool
        Graphs say it themselves. Matrices are directed unless they are symmetric; files and frames
        are undirected.
    """

    out: Any
    into: Any
    labels: Sequence[Any]
    node_weights: NDArray
    directed: bool

    @classmethod
    def of(
        cls,
        data: object,
        node_weights: ArrayLike | None = None,
        *,
        labels: Iterable[Hashable] | None = None,
    ) -> Network:
        """Return a network from data of another form.

        Parameters
        ----------
        data : networkx graph, sparse array, array of shape (n, n), frame, or path
            Frames of edges have two columns, three with weights, or columns called source and
            target (and weight). Files have lines of two nodes and optionally a weight, separated by
            commas or blanks, with comments after #, and may be compressed (.gz). Files .npz (of
            scipy) and .mtx are matrices; .gml and .graphml are graphs. Edges of frames and files
            are undirected, like those of an undirected networkx graph. Matrices are used as they
            are.
        node_weights : array-like of shape (n_nodes,), optional
            Numbers above 0.
        labels : sequence of length n_nodes, optional
            Names of the nodes of a matrix; by default their numbers.

        Raises
        ------
        ValueError
            For networks without edges, weights that are negative or not finite, and lines that are
            not an edge (with their number).
        """
        if isinstance(data, cls):
            matrix, known = data.out, data.labels
            directed: bool | None = data.directed
            node_weights = data.node_weights if node_weights is None else node_weights
        else:
            matrix, known, directed = entries_of(data)
        labels = known if labels is None else list(labels)
        if len(labels) != matrix.shape[0] or (
            labels is not known and len(set(labels)) < len(labels)
        ):
            raise ValueError(
                f"labels must be {matrix.shape[0]} different names, got {len(labels)}."
            )
        return cls._checked(matrix, labels, node_weights, directed)

    @classmethod
    def _checked(
        cls,
        matrix: Any,
        labels: Sequence[Any],
        node_weights: ArrayLike | None,
        directed: bool | None,
    ) -> Network:
        if sp.issparse(matrix) and matrix.format in ("csr", "csc"):
            try:
                matrix.check_format(full_check=True)  # compiled code trusts the indices
            except ValueError as error:
                raise ValueError(f"The sparse matrix of the network is broken ({error}).") from None
        matrix = sp.csr_array(matrix, dtype=np.float64, copy=True)
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"The matrix of a network must be square, got shape {matrix.shape}.")
        matrix.sum_duplicates()
        if not (np.isfinite(matrix.data).all() and (matrix.data >= 0).all()):
            raise ValueError("Weights of edges must be finite and not negative.")
        matrix.eliminate_zeros()
        if not matrix.nnz:
            raise ValueError("The network has no edges.")
        matrix.sort_indices()
        into = sp.csr_array(matrix.T)
        into.sort_indices()
        if node_weights is None:
            weights = np.ones(matrix.shape[0])
        else:
            weights = np.asarray(node_weights, dtype=np.float64)
        if weights.shape != (matrix.shape[0],) or not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError(f"node_weights must be {matrix.shape[0]} finite numbers above 0.")
        if directed is None:
            directed = bool((abs(matrix - into) > 0).nnz)
        return cls(matrix, into, labels, weights, directed)

    def places(self, pairs: Any) -> tuple[NDArray, NDArray]:
        """Return the numbers of the nodes of pairs of labels, two int64 arrays of shape (n_pairs,).

        Raises
        ------
        ValueError
            For labels that are not in this network.
        """
        try:
            ends = [(self._numbers[tail], self._numbers[head]) for tail, head in pairs]
        except KeyError as error:
            raise ValueError(f"The network has no node {error.args[0]!r}.") from None
        except (TypeError, ValueError):
            raise ValueError(
                f"Pairs of nodes must be a sequence of (label, label), got {pairs!r:.60}."
            ) from None
        tails, heads = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        return tails, heads

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        return {label: number for number, label in enumerate(self.labels)}

    @property
    def n_edges(self) -> int:
        """Number of edges, each once."""
        loops = int((self.out.diagonal() != 0).sum())
        return (self.out.nnz + loops) // 2 if self.undirected else int(self.out.nnz)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.out.shape[0])

    @property
    def undirected(self) -> bool:
        """Whether edges have no direction."""
        return not self.directed

    @property
    def bipartite(self) -> bool:
        """Whether an undirected network is bipartite: each edge joins nodes of two colours."""
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
