"""Link prediction: networks with hidden or planted edges, and scores of pairs of nodes.

`atomstream.NetworkDictionary.denoise` scores pairs by reconstruction. `neighbour_scores` are scores
from the common neighbours of two nodes, computed by networkx.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from atomstream.base.extras import library
from atomstream.base.matrices import Matrix
from atomstream.domains.networks.network import Network


@dataclass(frozen=True, eq=False)
class Split:
    """A network with edges removed or added, and pairs of nodes of two kinds to tell apart.

    Attributes
    ----------
    network : Network
        What a method may use.
    pairs : list of (label, label)
    truth : ndarray of bool of shape (n_pairs,)
        Whether each pair is an edge of the original network.
    """

    network: Network
    pairs: list[tuple[Any, Any]]
    truth: NDArray

    def auc(self, scores: ArrayLike) -> float:
        """Return the probability that a true edge scores above another pair; ties count half.

        Parameters
        ----------
        scores : array-like of shape (n_pairs,)
            Pairs of which nothing is known (NaN) tie in the middle: at the median of all others.
        """
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(self.truth, _with_unknown(scores)))

    def roc(self, scores: ArrayLike) -> tuple[NDArray, NDArray]:
        """Return the rates of false and of true positives as the threshold falls.

        Parameters
        ----------
        scores : array-like of shape (n_pairs,)
            As in `auc`.
        """
        from sklearn.metrics import roc_curve

        false, true, _ = roc_curve(self.truth, _with_unknown(scores))
        return false, true


def _with_unknown(scores: ArrayLike) -> NDArray:
    """Return scores with the median in place of NaN."""
    found = np.asarray(scores, dtype=np.float64)
    unknown = np.isnan(found)
    if unknown.any():
        found = np.where(unknown, 0 if unknown.all() else np.nanmedian(found), found)
    return found


def hide(
    network: object, share: float = 0.1, *, random_state: int | np.random.Generator | None = None
) -> Split:
    """Hide edges of a network, to be found among as many non-edges.

    The edges of a random spanning forest stay, so that the network does not fall apart.

    Parameters
    ----------
    network : networkx graph, sparse array, array, frame or file of edges, or Network
        Undirected.
    share : float, default=0.1
        Share of the edges to hide; fewer are hidden if the forest leaves no more.
    random_state : int, Generator or None, default=None

    Returns
    -------
    Split
        The pairs are the hidden edges and the non-edges, in random order.
    """
    network, rng = _undirected(network), np.random.default_rng(random_state)
    edges = _edges(network)
    if not len(edges):
        raise ValueError("The network has no edges between different nodes.")
    # Random weights make a random spanning forest, whose edges stay: no node is cut off. From 1 on,
    # as a weight of zero would be no edge.
    places = edges.T.astype(np.int32)  # with 64-bit indices scipy 1.15 finds no tree
    chances = sp.coo_array((1 + rng.random(len(edges)), places), network.out.shape)
    forest = sp.coo_array(sp.csgraph.minimum_spanning_tree(chances.tocsr()))
    free = ~np.isin(
        edges @ [network.n_nodes, 1], forest.row * np.int64(network.n_nodes) + forest.col
    )
    wanted = _number(share, len(edges))
    hidden = edges[rng.permutation(np.flatnonzero(free))[:wanted]]
    if not len(hidden):
        raise ValueError("The network is a forest: it would fall apart without any of its edges.")
    others = _non_edges(network, len(hidden), rng)
    pairs, truth = np.concatenate([hidden, others]), np.arange(2 * len(hidden)) < len(hidden)
    order = rng.permutation(len(pairs))
    left = network.out - _symmetric(
        hidden, network.out[hidden[:, 0], hidden[:, 1]], network.n_nodes
    )
    return _split(network, left, pairs[order], truth[order])


def plant(
    network: object, share: float = 0.1, *, random_state: int | np.random.Generator | None = None
) -> Split:
    """Add edges to a network where there are none, to be told from the true edges.

    Parameters
    ----------
    network : networkx graph, sparse array, array, frame or file of edges, or Network
        Undirected.
    share : float, default=0.1
        Number of planted edges, as a share of the edges. Their weights are those of edges drawn
        at random.
    random_state : int, Generator or None, default=None

    Returns
    -------
    Split
        The pairs are all edges of the network, including the planted ones.
    """
    network, rng = _undirected(network), np.random.default_rng(random_state)
    edges = _edges(network)
    planted = _non_edges(network, _number(share, len(edges)), rng)
    weights = rng.choice(network.out.data, len(planted))
    pairs = np.concatenate([edges, planted])
    truth = np.arange(len(edges) + len(planted)) < len(edges)
    return _split(
        network, network.out + _symmetric(planted, weights, network.n_nodes), pairs, truth
    )


def neighbour_scores(
    network: object, pairs: Iterable[tuple[Hashable, Hashable]]
) -> dict[str, NDArray]:
    """Return Jaccard, Adamic-Adar and preferential attachment scores of pairs of nodes.

    Parameters
    ----------
    network : networkx graph, sparse array, array, frame or file of edges, or Network
        Undirected.
    pairs : sequence of (label, label)

    Returns
    -------
    dict of str to ndarray of shape (n_pairs,)
    """
    nx, network = library("networkx", "Scores of neighbours"), _undirected(network)
    tails, heads = network.places(pairs)
    if (tails == heads).any():
        raise ValueError(
            "Common neighbours are counted for pairs of different nodes; leave loops out."
        )
    graph = nx.from_scipy_sparse_array(network.out)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    places = list(zip(tails.tolist(), heads.tolist(), strict=True))
    known = {
        "Jaccard": nx.jaccard_coefficient(graph, places),
        "Adamic-Adar": nx.adamic_adar_index(graph, places),
        "preferential attachment": nx.preferential_attachment(graph, places),
    }
    return {name: np.array([value for *_, value in scores]) for name, scores in known.items()}


def _undirected(network: object) -> Network:
    network = Network.of(network)
    if not network.undirected:
        raise ValueError(
            "Links are predicted in undirected networks, and this one is directed; to add both "
            "directions, give Network.of(network, directed=False)."
        )
    return network


def _edges(network: Network) -> NDArray:
    """Return every edge once, without loops, int64 of shape (n_edges, 2)."""
    edges = network.out.tocoo()
    upper = edges.row < edges.col
    return np.column_stack([edges.row[upper], edges.col[upper]]).astype(np.int64)


def _non_edges(network: Network, n: int, rng: np.random.Generator) -> NDArray:
    """Return pairs of different nodes without an edge, drawn uniformly without repetition."""
    size = network.n_nodes
    taken = _edges(network) @ [size, 1]
    if len(taken) + n > size * (size - 1) // 2:
        raise ValueError(
            f"The network has {len(taken)} edges between {size} nodes: there are no {n} non-edges."
        )
    found: NDArray = np.empty(0, dtype=np.int64)
    while len(found) < n:
        ends = np.sort(rng.integers(0, size, (2 * n + 16, 2)), axis=1)
        keys = ends[ends[:, 0] < ends[:, 1]] @ [size, 1]
        keys = np.concatenate([found, keys[~np.isin(keys, taken)]])
        # In the order in which they were drawn: sorted keys would prefer small numbers when cut.
        found = keys[np.sort(np.unique(keys, return_index=True)[1])]
    return np.column_stack(np.divmod(found[:n], size))


def _number(share: float, n_edges: int) -> int:
    if not isinstance(share, float | int) or not 0 < share < 1:
        raise ValueError(f"share must be between 0 and 1, got {share!r}.")
    return max(1, round(share * n_edges))


def _symmetric(edges: NDArray, weights: ArrayLike, size: int) -> Any:
    ends = np.concatenate([edges, edges[:, ::-1]])
    return sp.csr_array(
        (np.tile(np.asarray(weights).ravel(), 2), (ends[:, 0], ends[:, 1])), (size, size)
    )


def _split(network: Network, matrix: Matrix, pairs: NDArray, truth: NDArray) -> Split:
    labels = network.labels
    named = [(labels[tail], labels[head]) for tail, head in pairs.tolist()]
    tampered = Network.of(matrix, network.node_weights, labels=labels)
    return Split(replace(tampered, attributes=network.attributes), named, truth)
