"""Link prediction: networks with hidden or planted edges, and scores of pairs of nodes.

`atomstream.NetworkDictionary.denoise` scores pairs by reconstruction, or by a fit. Its rivals are
`neighbour_scores`, from the common neighbours of two nodes, and `svd_scores`.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, Matrix, checked_array, counted
from atomstream.fields.networks import edge_sets
from atomstream.fields.networks.link_scores import HEURISTICS, around, decomposed, plain
from atomstream.fields.networks.network import Network

__all__ = ["Split", "fitted_scores", "hide", "neighbour_scores", "plant", "svd_scores"]


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

    def __repr__(self) -> str:
        pairs, edges = counted(len(self.pairs), "pair"), int(self.truth.sum())
        return f"Split({self.network!r}, {pairs}, {edges:,} of them edges)"

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
    found = checked_array(scores, "scores", np.float64)
    unknown = np.isnan(found)
    if unknown.any():
        # In the middle, an unknown pair neither gains nor costs anything on average.
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
    hidden, left = edge_sets.hidden_again(network, share, rng)
    others = edge_sets.non_edges(network, len(hidden), rng, matched)
    pairs, truth = np.concatenate([hidden, others]), np.arange(2 * len(hidden)) < len(hidden)
    # Ties of a score are broken by the order in some rankings: it must not tell the truth.
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
    edges = edge_sets.edges_of(network)
    planted = edge_sets.non_edges(network, edge_sets.number_of(share, len(edges)), rng, matched)
    pairs = np.concatenate([edges, planted])
    truth = np.arange(len(pairs)) < len(edges)
    return _split(network, edge_sets.with_edges(network, planted, rng), pairs, truth)


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


def fitted_scores(
    network: object,
    pairs: Iterable[tuple[Hashable, Hashable]],
    *,
    random_state: int | np.random.Generator | None = 0,
) -> NDArray:
    """Return a score fitted on edges hidden (or planted) once more, without atoms.

    As `atomstream.NetworkDictionary.denoise` with ``scores="fitted"``, which adds atoms.

    Parameters
    ----------
    network : networkx graph, sparse array, array, frame or file of edges, or Network
    pairs : sequence of (label, label)
        Either edges, among which planted ones are to score low, or non-edges, among which hidden
        ones are to score high.
    random_state : int, Generator or None, default=0

    Returns
    -------
    ndarray of shape (n_pairs,)
        Log-odds of being an edge.
    """
    from atomstream.fields.networks.link_fit import fit_links, task_of

    network, rows, columns = _places(network, pairs)
    planted = task_of(network, rows, columns)
    rng = np.random.default_rng(random_state)
    return fit_links(network, np.column_stack([rows, columns]), planted, rng).scores


def _places(network: object, pairs: Any) -> tuple[Network, NDArray, NDArray]:
    """Return the network, and the numbers of the nodes of pairs without loops."""
    network = Network.of(network)
    rows, columns = network.places(pairs)
    if (rows == columns).any():
        raise ValueError("Scores are for pairs of different nodes; leave loops out.")
    return network, rows, columns


def _split(network: Network, matrix: Matrix, pairs: NDArray, truth: NDArray) -> Split:
    labels = network.labels
    named = [(labels[tail], labels[head]) for tail, head in pairs.tolist()]
    return Split(edge_sets.changed(network, matrix), named, truth)
