"""Scores of pairs of nodes from what lies around them: neighbours, short paths, degrees, SVDs."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.fields.networks.edge_sets import without_loops
from atomstream.fields.networks.network import Network

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
    from atomstream.fields.networks.kernel_paths import paths

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
