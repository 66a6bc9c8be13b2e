"""Symmetric nonnegative factors of a network, from its edges as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import ArrayLike, RandomSource, check_count, generator, without_mask
from atomstream.base.states import StateIndex
from atomstream.estimators._given import checked_weights
from atomstream.estimators.registry import SCHEDULES, ScheduleChoice, resolve
from atomstream.fields.networks.network import Network
from atomstream.problem import Clock

MAX_ROUNDS, GAIN = 2000, 1e-8  # over all edges, and what a round gains at least per edge
TINY = float(np.finfo(float).tiny)  # stands for 0 where shares of a pair are formed


@dataclass(frozen=True)
class SymmetricFactors:
    r"""Nonnegative factors H of a network, in which :math:`h_i \cdot h_j` is the share of a pair.

    Attributes
    ----------
    nodes : sequence
        Names, in the order of the rows.
    counts : ndarray of shape (n_nodes, n_components)
        Weighted mean over the edges: how much of the ends of an edge falls on a node and a factor.
    mass : float
        Weight of the edges that the mean stands for.
    n_steps, seed : int
        How many batches have come; what the rows of nodes without an edge are drawn from.
    """

    nodes: Sequence[Any]
    counts: NDArray
    mass: float = 0.0
    n_steps: int = 0
    seed: int = 0

    @property
    def values(self) -> NDArray:
        """H, (n_nodes, n_components); the products of all pairs of rows add up to one."""
        rng = np.random.default_rng(self.seed)
        sizes = np.sqrt(np.maximum(self.counts.sum(axis=0), TINY))
        # Row by row in the order of the nodes: what comes later does not change a draw.
        drawn = rng.uniform(0.5, 1.5, self.counts.shape) / max(len(self.counts), 1)
        unseen = ~self.counts.any(axis=1, keepdims=True)
        return np.where(unseen, drawn, self.counts / sizes)

    @property
    def memberships(self) -> NDArray:
        """Share of each factor in the edges of a node, (n_nodes, n_components)."""
        return self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), TINY)

    def predict(self, pairs: ArrayLike) -> NDArray:
        """Return the share of all edges that each ordered pair of nodes is expected to have.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2)
            Names of nodes; 0 is expected of those that are not known.
        """
        ends = np.asarray(without_mask(pairs), dtype=object).reshape(-1, 2)
        index = StateIndex(list(self.nodes))
        first, second = (index.find(ends[:, end].tolist()) for end in (0, 1))
        found = np.einsum("ij,ij->i", self.values[first], self.values[second])
        return np.where((first >= 0) & (second >= 0), found, 0.0)

    def with_nodes(self, nodes: Sequence[Any]) -> SymmetricFactors:
        """Return the factors with room for more nodes, of which no edge is known."""
        new = np.zeros((len(nodes) - len(self.counts), self.counts.shape[1]))
        return replace(self, nodes=nodes, counts=np.concatenate([self.counts, new]))

    def after(self, ends: NDArray, weights: NDArray) -> tuple[NDArray, float]:
        """Return the mean counts of edges under the factors, and their mean log-likelihood.

        Parameters
        ----------
        ends : ndarray of int of shape (2, n_edges)
            Rows of the nodes.
        weights : ndarray of shape (n_edges,)
        """
        values, mass, n_edges = self.values, weights.sum(), ends.shape[1]
        shares = values[ends[0]] * values[ends[1]]
        totals = np.maximum(shares.sum(axis=1), TINY)
        shares *= (weights / (2 * mass * totals))[:, None]  # half of an edge falls on either end
        where = (ends.ravel(), np.tile(np.arange(n_edges), 2))
        falls = sp.csr_array((np.ones(2 * n_edges), where), (len(values), n_edges))
        return np.asarray(falls @ shares), float(weights @ np.log(totals) / mass)


def symmetric_nmf(
    edges: Any,
    n_components: int = 10,
    *,
    schedule: ScheduleChoice = "power",
    start: SymmetricFactors | None = None,
    random_state: RandomSource = None,
) -> SymmetricFactors:
    r"""Factorize a network by nonnegative factors H, with :math:`h_i \cdot h_j` for nodes i and j.

    Minimises the Kullback-Leibler divergence of the edges from :math:`H H^\top`, the Poisson model
    of overlapping communities. An edge is divided among the factors in proportion to
    :math:`h_{ik} h_{jk}`; the averages of these parts are all that is kept, and the next H is
    :math:`n_{ik} / \sqrt{\sum_i n_{ik}}`.

    Parameters
    ----------
    edges : network, or iterable of array-likes of shape (n_edges, 2)
        A network (graph of networkx, square matrix, frame, path) is learned to the end: rounds over
        all of its edges, none of which raises the divergence. Batches of edges, pairs of names of
        nodes, make one step each, and are forgotten; a tuple (edges, weights) is a batch with
        weights. Directions and loops do not count.
    n_components : int, default=10
        Number of factors.
    schedule : str or callable, default="power"
        How much a batch weighs in the averages, as in `OnlineNMF`. Edges are divided badly at
        first, so the past should fade; a few edges a node are too few for one pass.
    start : SymmetricFactors, optional
        What to go on from.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    SymmetricFactors
        Nodes and their factors; ``start`` of a later call.

    References
    ----------
    Ball, Karrer, Newman (2011), "Efficient and principled method for detecting communities in
    networks", Physical Review E 84, eqs. (9) and (10); here also as averages along a stream.

    Examples
    --------
    >>> from atomstream import symmetric_nmf
    >>> cliques = [[(a, b) for a in group for b in group if a < b] for group in ("abcd", "wxyz")]
    >>> found = symmetric_nmf([cliques[0] + cliques[1]] * 50, 2, random_state=0)
    >>> group = dict(zip(found.nodes, found.memberships.argmax(axis=1)))
    >>> [bool(group[node] == group["a"]) for node in "abcdwxyz"]
    [True, True, True, True, False, False, False, False]
    """
    if start is None:
        counts = np.zeros((0, check_count("n_components", n_components)))
        start = SymmetricFactors([], counts, seed=int(generator(random_state).integers(2**31)))
    whole = isinstance(edges, str | Path | Network)
    if whole or any(hasattr(edges, name) for name in ("nodes", "columns", "shape")):
        return _to_the_end(edges if isinstance(edges, Network) else Network.of(edges), start)
    clock = Clock(resolve("schedule", schedule, SCHEDULES, "__call__"))
    clock.mass, clock.step = start.mass, start.n_steps
    found, index = start, StateIndex(list(start.nodes))
    for item in edges:
        ends, weights = _checked(item)
        if weights.sum() == 0:
            continue
        index, places = index.extended(ends.T.ravel().tolist())
        found = found.with_nodes(index.labels)
        fresh, _ = found.after(places.reshape(2, -1), weights)
        share = clock.tick(float(weights.sum()))
        mean = (1 - share) * found.counts + share * fresh
        found = replace(found, counts=mean, mass=clock.mass, n_steps=clock.step)
    return found


def _to_the_end(network: Network, start: SymmetricFactors) -> SymmetricFactors:
    """Return factors after rounds over all edges, until one gains next to nothing."""
    matrix = network.out + network.into if network.directed else network.out
    edges = sp.triu(matrix, 1, format="coo")
    if not edges.nnz:
        raise ValueError("The network has no edges between different nodes.")
    index, places = StateIndex(list(start.nodes)).extended(list(network.labels))
    ends, before = places[np.stack([edges.row, edges.col])], -np.inf
    found = replace(start.with_nodes(index.labels), mass=float(edges.data.sum()), n_steps=1)
    for number in range(MAX_ROUNDS):
        counts, now = found.after(ends, edges.data)
        found = replace(found, counts=counts)
        # The factors of the first round were drawn, and their products add up to anything.
        if number and now - before <= GAIN:
            break
        before = now if number else before
    return found


def _checked(item: Any) -> tuple[NDArray, NDArray]:
    """Return the ends of a batch of edges without loops, (n_edges, 2), and their weights."""
    given = isinstance(item, tuple) and len(item) == 2 and np.ndim(item[1]) == 1
    given = given and len(np.shape(item[0])) == 2
    ends = np.asarray(without_mask(item[0] if given else item), dtype=object)
    if ends.ndim != 2 or ends.shape[1] != 2:
        raise ValueError(f"A batch of edges must be of shape (n_edges, 2), got {ends.shape}.")
    weights = checked_weights("weights", item[1] if given else np.ones(len(ends)), ends.shape[:1])
    kept = ends[:, 0] != ends[:, 1]
    return ends[kept], weights[kept]
