"""A network rebuilt from a dictionary, and what can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.models.pairs import PairMeans
from atomstream.samplers import Network

__all__ = ["Reconstruction"]


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """What patches, coded and decoded, say of the pairs of nodes they covered.

    Attributes
    ----------
    network : Network
        What was rebuilt; ``network.labels`` are its nodes, in the order of the rows.
    matrix : csr_array of shape (n_nodes, n_nodes)
        Mean of all proposals for each ordered pair that was visited, zeros stored; every other pair is 0.
    counts : csr_array of shape (n_nodes, n_nodes)
        Number (under chain "all": weight) of proposals for each pair.
    """

    network: Network
    matrix: Any
    counts: Any

    @classmethod
    def of(cls, network: Network, pairs: PairMeans) -> Reconstruction:
        """Return what the means say of a network; they are forgotten."""
        return cls(network, *pairs.drain())

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
        return self._lookup(self.counts, edges.row, edges.col) > 0

    @staticmethod
    def _lookup(matrix: Any, rows: NDArray, columns: NDArray) -> NDArray:
        return np.asarray(matrix[rows, columns]).ravel() if len(rows) else np.zeros(0)

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
        return self._pooled(*self.network.places(pairs))[0]

    def visited(self, pairs: Any) -> NDArray:
        """Return whether pairs of nodes were visited, ndarray of bool of shape (n_pairs,)."""
        return self._pooled(*self.network.places(pairs))[1] > 0

    def _pooled(self, rows: NDArray, columns: NDArray) -> tuple[NDArray, NDArray]:
        """Return mean and number of the proposals for pairs, both ways where the network is undirected."""
        counts, means = (self._lookup(part, rows, columns) for part in (self.counts, self.matrix))
        if not self.network.undirected:
            return means, counts
        back, back_means = (self._lookup(part, columns, rows) for part in (self.counts, self.matrix))
        total = counts + back
        return (means * counts + back_means * back) / np.where(total > 0, total, 1), total

    def to_networkx(self, threshold: float = 0.0) -> Any:
        """Return the reconstruction as a graph with the labels of the network, directed if that is.

        Parameters
        ----------
        threshold : float, default=0.0
            Weights up to this are no edges. Undirected edges weigh the mean of all proposals either way.
        """
        import networkx as nx  # type: ignore[import-untyped]

        labels, undirected = self.network.labels, self.network.undirected
        graph = nx.Graph() if undirected else nx.DiGraph()
        graph.add_nodes_from(labels)
        pairs = (self.matrix + self.matrix.T).tocoo() if undirected else self.matrix.tocoo()
        keep = pairs.row <= pairs.col if undirected else np.ones(pairs.nnz, bool)
        rows, columns = pairs.row[keep], pairs.col[keep]
        weights, _ = self._pooled(rows, columns)
        graph.add_weighted_edges_from(
            (labels[u], labels[v], float(weight))
            for u, v, weight in zip(rows.tolist(), columns.tolist(), weights, strict=True)
            if weight > threshold
        )
        return graph
