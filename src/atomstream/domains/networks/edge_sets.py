"""Sets of pairs of nodes drawn at random, and scores of pairs from what lies around them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from atomstream.base import Matrix
from atomstream.domains.networks.network import Network


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


HEURISTICS = ("Adamic-Adar", "Jaccard", "resource allocation", "preferential attachment")
RANKS = (8, 25)  # of the decompositions


def plain(matrix: Any) -> Any:
    """Return the edges of a network as ones, without loops, csr_array."""
    edges = without_loops(matrix)
    edges.data = np.ones(edges.nnz)
    edges.sort_indices()
    return edges


def around(matrix: Any, rows: NDArray, columns: NDArray, directed: bool) -> dict[str, NDArray]:
    """Return scores of pairs from common neighbours, paths of three edges, and degrees.

    Paths along the edge of the pair itself do not count: an edge says nothing of itself. In
    directed networks neighbours are common where two edges lead from the tail to the head.

    Parameters
    ----------
    matrix : csr_array of shape (n_nodes, n_nodes)
        Ones without loops, as of `plain`.
    rows, columns : ndarray of int of shape (n_pairs,)
    directed : bool
        Whether degrees are those of both directions together.
    """
    from atomstream._kernels.short_paths import paths

    into = sp.csr_array(matrix.T)
    into.sort_indices()
    outgoing, incoming = np.diff(matrix.indptr), np.diff(into.indptr)
    # A node of one neighbour is no common neighbour of two; its logarithm would be zero.
    degrees = np.maximum(outgoing + incoming if directed else outgoing, 2)
    weights = np.column_stack([1 / np.log(degrees), 1 / degrees, 1 / np.sqrt(degrees)])
    found = np.empty((len(rows), 5))
    lists = [(part.indptr, part.indices) for part in (matrix, into)]
    paths(rows.astype(np.int64), columns.astype(np.int64), *lists, weights, found)
    common, adamic, allocated, longer, n_longer = found.T
    tail, head = outgoing[rows], incoming[columns]
    return {
        "Adamic-Adar": adamic,
        "Jaccard": common / np.maximum(tail + head - common, 1),
        "resource allocation": allocated,
        "preferential attachment": tail * head,
        "longer paths": longer,
        "share of longer paths": n_longer / np.sqrt(np.maximum(tail * head, 1)),
        "smaller degree": np.minimum(tail, head),
        "larger degree": np.maximum(tail, head),
    }


def decomposed(matrix: Any, rows: NDArray, columns: NDArray) -> dict[str, NDArray]:
    """Return entries of the truncated singular value decompositions of a network, by their rank.

    Parameters
    ----------
    matrix : csr_array of shape (n_nodes, n_nodes)
    rows, columns : ndarray of int of shape (n_pairs,)
    """
    ranks = [min(rank, matrix.shape[0] - 1) for rank in RANKS]
    # Started from a fixed seed: scores of the same network are the same.
    left, values, right = sp.linalg.svds(matrix, max(ranks), rng=np.random.default_rng(0))
    order = np.argsort(-values)
    left, right = (left * values)[:, order], right.T[:, order]
    found = {}
    for rank in RANKS:
        parts = (left[:, :rank], right[:, :rank])
        found[f"SVD of rank {rank}"] = np.einsum("ij,ij->i", parts[0][rows], parts[1][columns])
    return found


def pair_scores(network: Network, pairs: NDArray) -> dict[str, NDArray]:
    """Return all scores of pairs that need no atoms.

    Parameters
    ----------
    network : Network
    pairs : ndarray of int64 of shape (n_pairs, 2)
        Numbers of the nodes.
    """
    matrix, (rows, columns) = plain(network.out), pairs.T
    found = around(matrix, rows, columns, network.directed) | decomposed(matrix, rows, columns)
    if network.directed:
        # Who follows each other's friends in either direction is near as well.
        both = plain(network.out + network.into)
        joined = around(both, rows, columns, False)
        found |= {
            f"{name}, any direction": joined[name] for name in ("Adamic-Adar", "longer paths")
        }
        found["edge back"] = np.asarray(matrix[columns, rows]).ravel()
    return found
