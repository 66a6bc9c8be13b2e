"""A network rebuilt from a dictionary, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.domains.networks.network import Network

__all__ = ["Ranking", "Reconstruction"]


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """What patches, coded and decoded, say of the pairs of nodes they covered.

    Attributes
    ----------
    network : Network
        What was rebuilt; ``network.labels`` are its nodes, in the order of the rows.
    matrix : csr_array of shape (n_nodes, n_nodes)
        Mean of all proposals for each ordered pair that was visited, zeros stored; every other pair
        is 0.
    counts : csr_array of shape (n_nodes, n_nodes)
        Number (under chain "all": weight) of proposals for each pair.
    """

    network: Network
    matrix: Any
    counts: Any

    @property
    def coverage(self) -> float:
        """Share of the edges of the network that were visited."""
        return float(self._met.mean())

    @property
    def error(self) -> float:
        """Frobenius norm of the network minus the reconstruction."""
        return float(np.linalg.norm((self.network.out - self.matrix).data))

    @property
    def unvisited_norm(self) -> float:
        """Frobenius norm of the edges that were not visited: the part of the error that more steps take away."""
        return float(np.linalg.norm(self.network.out.data[~self._met]))

    @cached_property
    def _met(self) -> NDArray:
        """Whether each edge of the network, in the order of its matrix, was visited."""
        edges = self.network.out.tocoo()
        return _lookup(self.counts, edges.row, edges.col) > 0

    def weight(self, tail: Any, head: Any) -> float:
        """Return the weight of a pair of nodes, by their labels; 0 where it was not visited."""
        return float(self.weights([(tail, head)])[0])

    def weights(self, pairs: Any) -> NDArray:
        """Return the weights of pairs of nodes: of undirected networks the mean of all proposals either way.

        Parameters
        ----------
        pairs : sequence of (label, label)

        Returns
        -------
        ndarray of shape (n_pairs,)
            0 where a pair was not visited.
        """
        return self.pooled(*self.network.places(pairs))[0]

    def pairs(self) -> list[tuple[Any, Any]]:
        """Return all pairs that were visited, by their labels: of undirected networks each once."""
        return [pair[:2] for block in self.blocks() for pair in block]

    def blocks(self, n_rows: int = 256) -> Iterator[list[tuple[Any, Any, float]]]:
        """Yield (label, label, weight) of all pairs that were visited, some rows of the matrix at a time.

        Parameters
        ----------
        n_rows : int, default=256
            Nodes whose pairs come together. Of undirected networks each pair comes once.
        """
        labels = self.network.labels
        for start in range(0, self.network.n_nodes, n_rows):
            met = self.counts[start : start + n_rows].tocoo()
            rows, columns = (met.row + start).astype(np.int64), met.col.astype(np.int64)
            if (
                self.network.undirected
            ):  # once: from the smaller number, or from whichever was visited
                only = (rows > columns) & (_lookup(self.counts, columns, rows) == 0)
                keep = (rows <= columns) | only
                rows, columns = np.minimum(rows, columns)[keep], np.maximum(rows, columns)[keep]
            weights = self.pooled(rows, columns)[0].tolist()
            ends = zip(rows.tolist(), columns.tolist(), weights, strict=True)
            yield [(labels[u], labels[v], weight) for u, v, weight in ends]

    def visited(self, pairs: Any) -> NDArray:
        """Return whether pairs of nodes were visited, ndarray of bool of shape (n_pairs,)."""
        return self.pooled(*self.network.places(pairs))[1]

    def pooled(self, rows: NDArray, columns: NDArray) -> tuple[NDArray, NDArray]:
        """Return weights of pairs of nodes by their numbers, and whether they were visited.

        Parameters
        ----------
        rows, columns : ndarray of int of shape (n_pairs,)
            Of an undirected network the proposals either way count together.
        """
        counts, means = (_lookup(part, rows, columns) for part in (self.counts, self.matrix))
        if not self.network.undirected:
            return means, counts > 0
        back, back_means = (_lookup(part, columns, rows) for part in (self.counts, self.matrix))
        total = counts + back
        return (means * counts + back_means * back) / np.where(total > 0, total, 1), total > 0

    def to_networkx(self, threshold: float = 0.0) -> Any:
        """Return the reconstruction as a graph with the labels of the network, directed if that is.

        Parameters
        ----------
        threshold : float, default=0.0
            Weights up to this are no edges. Undirected edges weigh the mean of all proposals either
            way.
        """
        import networkx as nx  # type: ignore[import-untyped]

        graph = nx.Graph() if self.network.undirected else nx.DiGraph()
        graph.add_nodes_from(self.network.labels)
        for block in self.blocks():
            graph.add_weighted_edges_from(pair for pair in block if pair[2] > threshold)
        return graph


@dataclass(frozen=True, eq=False)
class Ranking:
    """Pairs of nodes with scores.

    Attributes
    ----------
    pairs : list of (label, label)
    scores : ndarray of shape (n_pairs,)
        0 where a pair was not visited.
    visited : ndarray of bool of shape (n_pairs,)
    reconstruction : Reconstruction
        What the scores are taken from.
    """

    pairs: list[tuple[Any, Any]]
    scores: NDArray
    visited: NDArray
    reconstruction: Reconstruction

    @classmethod
    def of(cls, reconstruction: Reconstruction, pairs: Any) -> Ranking:
        """Return the ranking of edges (lowest first), of visited non-edges (highest first), or of pairs given."""
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


def _lookup(matrix: Any, rows: NDArray, columns: NDArray) -> NDArray:
    """Return entries of a sparse array, float64 of shape (n,)."""
    return np.asarray(matrix[rows, columns], dtype=np.float64).ravel() if len(rows) else np.zeros(0)
