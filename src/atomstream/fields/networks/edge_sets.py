"""Sets of edges and of non-edges of a network, drawn at random."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import ArrayLike, Matrix
from atomstream.fields.networks.network import Network


def edges_of(network: Network) -> NDArray:
    """Return every edge once, without loops, int64 of shape (n_edges, 2)."""
    edges = network.out.tocoo()
    # Undirected edges are stored in both directions.
    once = edges.row < edges.col if network.undirected else edges.row != edges.col
    return np.column_stack([edges.row[once], edges.col[once]]).astype(np.int64)


def hidden_again(
    network: Network, share: float, rng: np.random.Generator
) -> tuple[NDArray, Matrix]:
    """Return edges of a network to hide, by the numbers of their nodes, and the matrix without."""
    edges, size = edges_of(network), network.n_nodes
    if not len(edges):
        raise ValueError("The network has no edges between different nodes.")
    # Random weights make a random spanning forest, whose edges stay: no node is cut off. From 1 on,
    # as a weight of zero would be no edge.
    places = edges.T.astype(np.int32)  # with 64-bit indices scipy 1.15 finds no tree
    chances = sp.coo_array((1 + rng.random(len(edges)), places), network.out.shape)
    forest = sp.coo_array(sp.csgraph.minimum_spanning_tree(chances.tocsr()))
    # A pair as one number, tail times size plus head.
    free = ~np.isin(edges @ [size, 1], forest.row * np.int64(size) + forest.col)
    wanted = number_of(share, len(edges))
    hidden = edges[rng.permutation(np.flatnonzero(free))[:wanted]]
    if not len(hidden):
        raise ValueError("The network is a forest: it would fall apart without any of its edges.")
    weights = network.out[hidden[:, 0], hidden[:, 1]]
    return hidden, network.out - _matrix(network, hidden, weights)


def non_edges(network: Network, n: int, rng: np.random.Generator, matched: bool = False) -> NDArray:
    """Return pairs of different nodes without an edge, drawn without repetition.

    Parameters
    ----------
    network : Network
    n : int
    rng : Generator
    matched : bool, default=False
        Whether ends are drawn as the ends of random edges.
    """
    size, edges, both = network.n_nodes, edges_of(network), network.undirected
    taken = edges @ [size, 1]
    tails, heads = (np.unique(edges if both else edges[:, end]) for end in (0, 1))
    # How many pairs there are at all, so that the loop below comes to an end.
    n_pairs = size * (size - 1)
    if matched:
        n_pairs = len(tails) * len(heads) - len(np.intersect1d(tails, heads))
    n_pairs //= 1 + both
    if len(taken) + n > n_pairs:
        raise ValueError(
            f"The network has {len(taken)} edges between {size} nodes: there are no {n} non-edges."
        )
    found: NDArray = np.empty(0, dtype=np.int64)
    while len(found) < n:
        # More than are wanted, for edges, loops and pairs drawn before are left out.
        ends = _ends(edges if matched else size, 2 * n + 16, rng, both)
        ends = np.sort(ends, axis=1) if both else ends
        keys = ends[ends[:, 0] != ends[:, 1]] @ [size, 1]
        keys = np.concatenate([found, keys[~np.isin(keys, taken)]])
        # In the order in which they were drawn: sorted keys would prefer small numbers when cut.
        found = keys[np.sort(np.unique(keys, return_index=True)[1])]
    return np.column_stack(np.divmod(found[:n], size))


def _ends(source: Any, n: int, rng: np.random.Generator, both: bool) -> NDArray:
    """Return n pairs of nodes: uniform below a number, or ends of independent random edges."""
    if isinstance(source, int):
        return rng.integers(0, source, (n, 2))
    if both:  # either end of an edge
        return rng.choice(source.ravel(), (n, 2))
    return np.column_stack([rng.choice(source[:, end], n) for end in (0, 1)])


def without_loops(matrix: Any) -> Any:
    """Return a sparse array without its diagonal; other zeros stay stored."""
    entries = matrix.tocoo()
    keep = entries.row != entries.col
    ends = entries.row[keep], entries.col[keep]
    return sp.csr_array((entries.data[keep], ends), matrix.shape)


def with_edges(network: Network, planted: NDArray, rng: np.random.Generator) -> Matrix:
    """Return the matrix of a network with more edges, of weights of edges drawn at random."""
    weights = rng.choice(network.out.data, len(planted))
    return network.out + _matrix(network, planted, weights)


def number_of(share: float, n_edges: int) -> int:
    """Return a share of the edges as a number of at least 1."""
    if not isinstance(share, float | int) or not 0 < share < 1:
        raise ValueError(f"share must be between 0 and 1, got {share!r}.")
    return max(1, round(share * n_edges))


def _matrix(network: Network, edges: NDArray, weights: ArrayLike) -> Any:
    """Return weights of edges as a sparse array, in both directions if the network has none."""
    weights = np.asarray(weights).ravel()
    if network.undirected:
        edges, weights = np.concatenate([edges, edges[:, ::-1]]), np.tile(weights, 2)
    return sp.csr_array((weights, (edges[:, 0], edges[:, 1])), network.out.shape)


def changed(network: Network, matrix: Matrix) -> Network:
    """Return a network of the same nodes with other edges."""
    how: dict[str, Any] = {"labels": network.labels, "directed": network.directed or None}
    made = Network.of(matrix, network.node_weights, **how)
    return replace(made, attributes=network.attributes)
