"""Networks reconstructed from a dictionary, and rankings of pairs by shrunken scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Matrix, counted, library
from atomstream.fields.networks.network import Network

OUTSIDE = 0.05  # probability below and above an interval
MIN_NOISE_SCALE = 1e-9  # scale of the noise as a share of the base rate, so that laws have a width

if TYPE_CHECKING:
    from atomstream.fields.networks.link_fit import LinkFit


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of pairs of nodes, NaN for pairs that were not visited.

    Attributes
    ----------
    scores, low, high : ndarray of shape (n_pairs,)
        Means of the posterior law, and the ends of the interval that holds 90 % of it.
    visits : ndarray of shape (n_pairs,)
        Number of visits; with chain "all" their weight.
    """

    scores: NDArray
    low: NDArray
    high: NDArray
    visits: NDArray

    def taken(self, order: NDArray) -> Scores:
        """Return the scores of some pairs, by their places."""
        return Scores(self.scores[order], self.low[order], self.high[order], self.visits[order])


@dataclass(frozen=True)
class Shrinkage:
    r"""The law of proposals for pairs of nodes: a rate of each pair, and noise of each visit.

    The rate of a pair is drawn from a gamma law around the base rate m. The sum of n proposals,
    divided by the scale c, is Poisson around n times the rate, divided by c: the variance of a
    proposal is proportional to its mean, as it was measured on networks without weights. Given n
    proposals of mean y the rate of the pair has a gamma law with

    .. math:: \text{mean } \frac{n y + k m}{n + k}, \quad \text{scale } \frac{c}{n + k},

    as if k proposals of the base rate had been seen before.

    Parameters
    ----------
    base : float
        The base rate m.
    strength : float, default=0.0
        The number k.
    scale : float, default=0.0
        The scale c; 0 where means are exact.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, section 2.6: the Poisson model with a gamma law.
    """

    base: float
    strength: float = 0.0
    scale: float = 0.0

    @classmethod
    def of(cls, means: NDArray, visits: NDArray, squares: float) -> Shrinkage:
        """Return the law that fits all pairs that were visited, by the moments of one-way groups.

        Parameters
        ----------
        means, visits : ndarray of shape (n_pairs,)
            Means and numbers of the proposals of each pair, all above 0.
        squares : float
            Sum of the squares of all proposals.

        References
        ----------
        Searle, Casella, McCulloch (1992), Variance Components, section 3.6.
        """
        # Searle's unbalanced one-way table: pairs are groups, proposals their members.
        total = float(visits.sum())
        mean = float(visits @ means) / total if total else 0.0
        if mean == 0:
            return cls(0.0)
        between = float(visits @ (means - mean) ** 2)
        repeated = float((visits - 1) @ means)
        if repeated > 0:
            scale = (squares - float(visits @ means**2)) / repeated
            spread = between - scale * (float(means.sum()) - mean)
            spread /= max(total - float(visits @ visits) / total, 1.0)
        else:  # no pair was visited twice: half of the variance counts as noise
            spread = between / total / 2
            scale = spread / mean
        # Exact means would make laws without width, whose quantiles are not defined.
        scale = max(scale, MIN_NOISE_SCALE * mean)
        # The base rate itself rests on no more than all proposals.
        strength = scale * mean / max(spread, scale * mean / total)
        weights = visits / (visits + strength)
        return cls(float(weights @ means / weights.sum()), strength, scale)

    def scores(self, means: NDArray, visits: NDArray) -> Scores:
        """Return the scores of pairs, NaN where there was no visit.

        Parameters
        ----------
        means, visits : ndarray of shape (n_pairs,)
        """
        from scipy.special import gammaincinv

        known = np.where(visits > 0, visits, np.nan)
        if self.scale == 0:
            exact = np.where(visits > 0, means, np.nan)
            return Scores(exact, exact, exact, visits)
        # Gamma shapes add up: n y / c seen, k m / c assumed.
        total = known + self.strength
        shape = (known * means + self.strength * self.base) / self.scale
        low, high = (gammaincinv(shape, p) * self.scale / total for p in (OUTSIDE, 1 - OUTSIDE))
        return Scores(shape * self.scale / total, low, high, visits)


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
                # A pair that was visited in one direction alone is listed where that stands.
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

    def visits(self, rows: NDArray, columns: NDArray) -> tuple[NDArray, NDArray]:
        """Return weights of pairs of nodes by their numbers, and how often they were visited.

        Parameters
        ----------
        rows, columns : ndarray of int of shape (n_pairs,)
            In an undirected network every visit proposes both directions, and counts once.
        """
        means, _ = self.pooled(rows, columns)
        counts = _lookup(self.counts, rows, columns)
        if self.network.undirected:
            counts = (counts + _lookup(self.counts, columns, rows)) / 2
        return means, counts

    def visited_pairs(self) -> tuple[NDArray, NDArray]:
        """Return the numbers of the nodes of all visited pairs of different nodes, each once."""
        return _listed(self.counts, self.network.undirected)

    def to_networkx(self, threshold: float = 0.0) -> Any:
        """Return the reconstruction as a graph with the labels and attributes of the network.

        The graph is directed if the network is.

        Parameters
        ----------
        threshold : float, default=0.0
            Pairs with a weight up to this are left out. The weight of an undirected edge is the
            mean of all proposals in both directions.
        """
        nx, known = library("networkx", "Graphs"), self.network.attributes
        graph = nx.Graph() if self.network.undirected else nx.DiGraph()
        graph.add_nodes_from((label, known.get(label, {})) for label in self.network.labels)
        for block in self.blocks():
            graph.add_weighted_edges_from(pair for pair in block if pair[2] > threshold)
        return graph


@dataclass(frozen=True, eq=False)
class Ranking:
    """Pairs of nodes with their scores.

    Attributes
    ----------
    pairs : list of (label, label)
    found : Scores
        Scores, ends of their intervals, and visits, each of shape (n_pairs,).
    reconstruction : Reconstruction
        The means that the scores come from.
    shrinkage : Shrinkage
        The law by which means of few visits are drawn towards the base rate.
    n_unlisted : int
        Non-edges that were not visited: they are too many to be listed.
    fit : LinkFit or None
        With fitted scores the fit, and what the atoms add to it.
    """

    pairs: list[tuple[Any, Any]]
    found: Scores
    reconstruction: Reconstruction
    shrinkage: Shrinkage
    n_unlisted: int = 0
    fit: LinkFit | None = None

    def __repr__(self) -> str:
        gain = "" if self.fit is None else f", gain of the atoms {self.fit.gain:+.3f}"
        return f"Ranking({counted(len(self.pairs), 'pair')}, {self.coverage:.0%} visited{gain})"

    @classmethod
    def of(cls, reconstruction: Reconstruction, shrinkage: Shrinkage, pairs: Any) -> Ranking:
        """Return the ranking of pairs of nodes.

        Edges are ranked from the lowest score up, visited non-edges from the highest down, and
        given pairs keep their order. Edges that were not visited come last.

        Parameters
        ----------
        reconstruction : Reconstruction
        shrinkage : Shrinkage
        pairs : {"edges", "non-edges"} or sequence of (label, label)
        """
        network = reconstruction.network
        if not isinstance(pairs, str):
            named = [tuple(pair) for pair in pairs]
            found = shrinkage.scores(*reconstruction.visits(*network.places(named)))
            return cls(named, found, reconstruction, shrinkage)
        rows, columns = edges = _listed(network.out, network.undirected)
        n_unlisted = 0
        if pairs == "non-edges":
            rows, columns = reconstruction.visited_pairs()
            fresh = _lookup(network.out, rows, columns) == 0
            rows, columns = rows[fresh], columns[fresh]
            n_pairs = network.n_nodes * (network.n_nodes - 1) // (1 + network.undirected)
            # All pairs of different nodes, less the edges and what was visited.
            n_unlisted = n_pairs - len(edges[0]) - len(rows)
        found = shrinkage.scores(*reconstruction.visits(rows, columns))
        # Least likely edges first, and most likely new links first; NaN comes last in both.
        order = np.argsort(found.scores if pairs == "edges" else -found.scores, kind="stable")
        ends = zip(rows[order].tolist(), columns[order].tolist(), strict=True)
        named = [(network.labels[u], network.labels[v]) for u, v in ends]
        return cls(named, found.taken(order), reconstruction, shrinkage, n_unlisted)

    def fitted(self, fit: LinkFit, pairs: Any) -> Ranking:
        """Return the ranking by the scores of a fit to these pairs.

        Parameters
        ----------
        fit : LinkFit
        pairs : {"edges", "non-edges"} or sequence
            As in `of`: what decides the order.
        """
        order = np.arange(len(self.pairs))
        if isinstance(pairs, str):
            order = np.argsort(fit.scores if pairs == "edges" else -fit.scores, kind="stable")
        unknown = np.full(len(order), np.nan)
        found = Scores(fit.scores, unknown, unknown, self.visits).taken(order)
        named = [self.pairs[place] for place in order.tolist()]
        fit = replace(fit, scores=fit.scores[order], without=fit.without[order])
        return replace(self, pairs=named, found=found, fit=fit)

    @property
    def scores(self) -> NDArray:
        """Scores, NaN for pairs of which nothing is known, (n_pairs,)."""
        return self.found.scores

    @property
    def low(self) -> NDArray:
        """Lower ends of the intervals that hold 90 % of the law of each score, (n_pairs,)."""
        return self.found.low

    @property
    def high(self) -> NDArray:
        """Upper ends of the intervals, (n_pairs,)."""
        return self.found.high

    @property
    def visits(self) -> NDArray:
        """How often each pair was visited, or with chain "all" with what weight, (n_pairs,)."""
        return self.found.visits

    @property
    def visited(self) -> NDArray:
        """Whether each pair was visited, bool of shape (n_pairs,)."""
        return self.visits > 0

    @property
    def coverage(self) -> float:
        """Share of the ranked pairs that were visited; of non-edges, those not listed included."""
        return float(self.visited.sum() / max(len(self.pairs) + self.n_unlisted, 1))


def _listed(matrix: Any, once: bool) -> tuple[NDArray, NDArray]:
    """Return the rows and columns of pairs of different nodes with an entry, each pair once."""
    listed = (matrix + matrix.T if once else matrix).tocoo()
    keep = listed.row < listed.col if once else listed.row != listed.col
    return listed.row[keep], listed.col[keep]


def _lookup(matrix: Matrix, rows: NDArray, columns: NDArray) -> NDArray:
    """Return entries of a sparse array, float64 of shape (n,)."""
    return np.asarray(matrix[rows, columns], dtype=np.float64).ravel() if len(rows) else np.zeros(0)
