"""Link prediction: networks with hidden or planted edges, and scores of pairs of nodes.

`atomstream.NetworkDictionary.denoise` scores pairs by reconstruction, or by a fit. Its rivals are
`neighbour_scores`, from the common neighbours of two nodes, and `svd_scores`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from atomstream.base.matrices import Matrix
from atomstream.domains.networks.link_scores import HEURISTICS, around, decomposed, plain
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
    network: object,
    share: float = 0.1,
    *,
    matched: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> Split:
    """Hide edges of a network, to be found among as many non-edges.

    The edges of a random spanning forest stay, so that the network does not fall apart.

    Parameters
    ----------
    network : networkx graph, sparse array, array, frame or file of edges, or Network
    share : float, default=0.1
        Share of the edges to hide; fewer are hidden if the forest leaves no more.
    matched : bool, default=False
        Whether the ends of the non-edges are drawn as the ends of random edges, so that degrees
        alone tell little; otherwise non-edges are drawn uniformly.
    random_state : int, Generator or None, default=None

    Returns
    -------
    Split
        The pairs are the hidden edges and the non-edges, in random order. In directed networks a
        pair is (tail, head).
    """
    network, rng = Network.of(network), np.random.default_rng(random_state)
    hidden, left = hidden_again(network, share, rng)
    others = non_edges(network, len(hidden), rng, matched)
    pairs, truth = np.concatenate([hidden, others]), np.arange(2 * len(hidden)) < len(hidden)
    order = rng.permutation(len(pairs))
    return _split(network, left, pairs[order], truth[order])


def plant(
    network: object,
    share: float = 0.1,
    *,
    matched: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> Split:
    """Add edges to a network where there are none, to be told from the true edges.

    Parameters
    ----------
    network : networkx graph, sparse array, array, frame or file of edges, or Network
    share : float, default=0.1
        Number of planted edges, as a share of the edges. Their weights are those of edges drawn
        at random.
    matched : bool, default=False
        Whether the ends of the planted edges are drawn as the ends of random edges; otherwise they
        are drawn uniformly.
    random_state : int, Generator or None, default=None

    Returns
    -------
    Split
        The pairs are all edges of the network, including the planted ones.
    """
    network, rng = Network.of(network), np.random.default_rng(random_state)
    edges = edges_of(network)
    planted = non_edges(network, _number(share, len(edges)), rng, matched)
    pairs = np.concatenate([edges, planted])
    truth = np.arange(len(pairs)) < len(edges)
    return _split(network, with_edges(network, planted, rng), pairs, truth)


def neighbour_scores(
    network: object, pairs: Iterable[tuple[Hashable, Hashable]]
) -> dict[str, NDArray]:
    """Return Adamic-Adar, Jaccard, resource allocation and preferential attachment scores.

    Parameters
    ----------
    network : networkx graph, sparse array, array, frame or file of edges, or Network
        In directed networks the common neighbours of a pair are the nodes on paths of two edges
        from its tail to its head.
    pairs : sequence of (label, label)

    Returns
    -------
    dict of str to ndarray of shape (n_pairs,)
    """
    network, rows, columns = _places(network, pairs)
    found = around(plain(network.out), rows, columns, network.directed)
    return {name: found[name] for name in HEURISTICS}


def svd_scores(network: object, pairs: Iterable[tuple[Hashable, Hashable]]) -> dict[str, NDArray]:
    """Return the entries of pairs in the truncated SVDs of the network, of ranks 8 and 25.

    Parameters
    ----------
    network : networkx graph, sparse array, array, frame or file of edges, or Network
        Every edge counts as 1.
    pairs : sequence of (label, label)

    Returns
    -------
    dict of str to ndarray of shape (n_pairs,)
    """
    network, rows, columns = _places(network, pairs)
    return decomposed(plain(network.out), rows, columns)


def _places(network: object, pairs: Any) -> tuple[Network, NDArray, NDArray]:
    """Return the network, and the numbers of the nodes of pairs without loops."""
    network = Network.of(network)
    rows, columns = network.places(pairs)
    if (rows == columns).any():
        raise ValueError("Scores are for pairs of different nodes; leave loops out.")
    return network, rows, columns


def edges_of(network: Network) -> NDArray:
    """Return every edge once, without loops, int64 of shape (n_edges, 2)."""
    edges = network.out.tocoo()
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
    free = ~np.isin(edges @ [size, 1], forest.row * np.int64(size) + forest.col)
    wanted = _number(share, len(edges))
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


def with_edges(network: Network, planted: NDArray, rng: np.random.Generator) -> Matrix:
    """Return the matrix of a network with more edges, of weights of edges drawn at random."""
    weights = rng.choice(network.out.data, len(planted))
    return network.out + _matrix(network, planted, weights)


def _number(share: float, n_edges: int) -> int:
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


def _split(network: Network, matrix: Matrix, pairs: NDArray, truth: NDArray) -> Split:
    labels = network.labels
    named = [(labels[tail], labels[head]) for tail, head in pairs.tolist()]
    return Split(changed(network, matrix), named, truth)
