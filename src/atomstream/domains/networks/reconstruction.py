"""Networks reconstructed from a dictionary, and rankings of pairs of nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.core.extras import library
from atomstream.core.matrices import Matrix
from atomstream.domains.networks.network import Network

__all__ = ["Ranking", "Reconstruction"]


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """A network reconstructed from patches that were coded and decoded.

    Attributes
    ----------
    network : Network
        The original; ``network.labels`` are its nodes, in the order of the rows.
    matrix : csr_array of shape (n_nodes, n_nodes)
        Mean of all proposals for each ordered pair that was visited, with zeros stored. Every
        other pair is 0.
    counts : csr_array of shape (n_nodes, n_nodes)
        Number of proposals for each pair; with chain "all" their weight.
    """

    network: Network
    matrix: Any
    counts: Any

    @property
    def coverage(self) -> float:
        """Share of the edges of the network that were visited."""
        return float(self._visited_edges.mean())

    @property
    def error(self) -> float:
        """Frobenius norm of the network minus the reconstruction."""
        return float(np.linalg.norm((self.network.out - self.matrix).data))

    @property
    def unvisited_norm(self) -> float:
        """Frobenius norm of the unvisited edges: the part of the error that more steps remove."""
        return float(np.linalg.norm(self.network.out.data[~self._visited_edges]))

    @cached_property
    def _visited_edges(self) -> NDArray:
        """Whether each edge of the network, in the order of its matrix, was visited."""
        edges = self.network.out.tocoo()
        return _lookup(self.counts, edges.row, edges.col) > 0

    def weight(self, tail: Hashable, head: Hashable) -> float:
        """Return the weight of a pair of nodes, by their labels; 0 where it was not visited."""
        return float(self.weights([(tail, head)])[0])

    def weights(self, pairs: Iterable[tuple[Hashable, Hashable]]) -> NDArray:
        """Return the weights of pairs of nodes.

        In undirected networks a weight is the mean of all proposals in both directions.

        Parameters
        ----------
        pairs : sequence of (label, label)

        Returns
        -------
        ndarray of shape (n_pairs,)
            0 for pairs that were not visited.
        """
        return self.pooled(*self.network.places(pairs))[0]

    def pairs(self) -> list[tuple[Any, Any]]:
        """Return the labels of all visited pairs; in undirected networks each pair comes once."""
        return [pair[:2] for block in self.blocks() for pair in block]

    def blocks(self, n_rows: int = 256) -> Iterator[list[tuple[Any, Any, float]]]:
        """Yield (label, label, weight) of all visited pairs, some rows of the matrix at a time.

        Parameters
        ----------
        n_rows : int, default=256
            Number of nodes whose pairs come together. In undirected networks each pair comes once.
        """
        labels = self.network.labels
        for start in range(0, self.network.n_nodes, n_rows):
            visited = self.counts[start : start + n_rows].tocoo()
            rows, columns = (visited.row + start).astype(np.int64), visited.col.astype(np.int64)
            if self.network.undirected:  # once: at the smaller number, or where it was visited
                only = (rows > columns) & (_lookup(self.counts, columns, rows) == 0)
                keep = (rows <= columns) | only
                rows, columns = np.minimum(rows, columns)[keep], np.maximum(rows, columns)[keep]
            weights = self.pooled(rows, columns)[0].tolist()
            ends = zip(rows.tolist(), columns.tolist(), weights, strict=True)
            yield [(labels[u], labels[v], weight) for u, v, weight in ends]

    def visited(self, pairs: Iterable[tuple[Hashable, Hashable]]) -> NDArray:
        """Return whether pairs of nodes were visited, ndarray of bool of shape (n_pairs,)."""
        return self.pooled(*self.network.places(pairs))[1]

    def pooled(self, rows: NDArray, columns: NDArray) -> tuple[NDArray, NDArray]:
        """Return weights of pairs of nodes by their numbers, and whether they were visited.

        Parameters
        ----------
        rows, columns : ndarray of int of shape (n_pairs,)
            In an undirected network the proposals in both directions count together.
        """
        counts, means = (_lookup(part, rows, columns) for part in (self.counts, self.matrix))
        if not self.network.undirected:
            return means, counts > 0
        back, back_means = (_lookup(part, columns, rows) for part in (self.counts, self.matrix))
        total = counts + back
        return (means * counts + back_means * back) / np.where(total > 0, total, 1), total > 0

    def to_networkx(self, threshold: float = 0.0) -> Any:
        """Return the reconstruction as a graph with the labels of the network.

        The graph is directed if the network is.

        Parameters
        ----------
        threshold : float, default=0.0
            Pairs with a weight up to this are left out. The weight of an undirected edge is the
            mean of all proposals in both directions.
        """
        nx = library("networkx", "Graphs")

        graph = nx.Graph() if self.network.undirected else nx.DiGraph()
        graph.add_nodes_from(self.network.labels)
        for block in self.blocks():
            graph.add_weighted_edges_from(pair for pair in block if pair[2] > threshold)
        return graph


@dataclass(frozen=True, eq=False)
class Ranking:
    """Pairs of nodes with their scores.

    Attributes
    ----------
    pairs : list of (label, label)
    scores : ndarray of shape (n_pairs,)
        0 for pairs that were not visited.
    visited : ndarray of bool of shape (n_pairs,)
    reconstruction : Reconstruction
        The reconstruction that the scores come from.
    """

    pairs: list[tuple[Any, Any]]
    scores: NDArray
    visited: NDArray
    reconstruction: Reconstruction

    @classmethod
    def of(cls, reconstruction: Reconstruction, pairs: Any) -> Ranking:
        """Return the ranking of pairs of nodes.

        Edges are ranked from the lowest score up, visited non-edges from the highest down, and
        given pairs keep their order.
        """
        network = reconstruction.network
        if not isinstance(pairs, str):
            pairs = [tuple(pair) for pair in pairs]
            rows, columns = network.places(pairs)
            return cls(pairs, *reconstruction.pooled(rows, columns), reconstruction)
        listed = network.out if pairs == "edges" else reconstruction.counts
        if network.undirected and pairs != "edges":
            listed = listed + listed.T
        listed = listed.tocoo()
        keep = listed.row != listed.col
        if network.undirected:
            keep &= listed.row < listed.col
        rows, columns = listed.row[keep], listed.col[keep]
        if pairs == "non-edges":
            fresh = _lookup(network.out, rows, columns) == 0
            rows, columns = rows[fresh], columns[fresh]
        scores, visited = reconstruction.pooled(rows, columns)
        # Least likely edges first, and most likely new links first.
        order = np.argsort(scores if pairs == "edges" else -scores, kind="stable")
        labels = network.labels
        named = [
            (labels[u], labels[v])
            for u, v in zip(rows[order].tolist(), columns[order].tolist(), strict=True)
        ]
        return cls(named, scores[order], visited[order], reconstruction)

    @property
    def coverage(self) -> float:
        """Share of the pairs that were visited."""
        return float(self.visited.mean()) if len(self.visited) else 0.0


def _lookup(matrix: Matrix, rows: NDArray, columns: NDArray) -> NDArray:
    """Return entries of a sparse array, float64 of shape (n,)."""
    return np.asarray(matrix[rows, columns], dtype=np.float64).ravel() if len(rows) else np.zeros(0)
