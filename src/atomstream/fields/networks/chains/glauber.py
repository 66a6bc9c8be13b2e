"""Copies of a motif in a network: homomorphisms, and the Glauber chain on them."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import ArrayLike, complete_array
from atomstream.exceptions import NetworkWarning
from atomstream.fields.networks import Motif, Network
from atomstream.fields.networks.chains.base import MotifChain, alias_table

MAX_MAPS = 50_000_000  # maps that are looked at when copies are listed
LARGEST = "give Network.largest_component() (on the command line --largest-component)"
DENSE = 0.25  # share of all pairs: a network with more edges is looked at as a matrix too
MAX_STARTS = 1000  # starts that are grown before a chain gives up


@dataclass(frozen=True, eq=False)
class MotifGlauber(MotifChain[int]):
    r"""The Glauber chain on copies of a motif: one node is drawn anew, given all others.

    A copy is a homomorphism: nodes x_1 ... x_k of the network, not necessarily different, with the
    law

    .. math:: \pi(x) \propto \prod_{a,b} A(x_a, x_b)^{F(a,b)} \prod_a \alpha(x_a)

    of which the chain is reversible.

    Parameters
    ----------
    network : Network, or anything `Network.of` takes
    motif : Motif or adjacency matrix
    node_weights : array-like of shape (n_nodes,), optional
        The weights alpha.

    Raises
    ------
    ValueError
        For what is no network or no motif.

    Warns
    -----
    NetworkWarning
        Where the chain cannot reach all copies: several components, or a bipartite network.

    References
    ----------
    Lyu, Needell, Balzano, eqs. (41) to (44); Lyu, Memoli, Sivakoff (2019), "Sampling random graph
    homomorphisms and applications to network data analysis", Theorem 5.7, for when the chain is
    irreducible.
    """

    network: Any
    motif: Any
    node_weights: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "network", Network.of(self.network, self.node_weights))
        object.__setattr__(self, "motif", Motif.of(self.motif))
        problem = _unreachable(self.network, self.motif)
        if problem:
            warnings.warn(problem, NetworkWarning, stacklevel=3)

    def init(self, rng: np.random.Generator, position: ArrayLike | None = None) -> NDArray:
        """Return a copy of the motif, int64 (k,): the one given, or one grown from a random node.

        Parameters
        ----------
        rng : numpy.random.Generator
        position : array-like of shape (k,), optional
            Numbers of nodes.

        Raises
        ------
        ValueError
            For a position that is no copy, and where no copy was found.
        """
        from atomstream.fields.networks.chains.kernel_motif import grow
        from atomstream.fields.networks.chains.kernel_uniform import source_of

        if position is not None:
            return copy_of(self.network, self.motif, position)
        # A node that is bound to one before it has few candidates, so few starts end in the void.
        order = _order(self.motif)
        bound = _edges_by_node(self.motif, order)
        chances = self.network.node_weights / self.network.node_weights.sum()
        source = source_of(rng)
        for _ in range(MAX_STARTS):
            state = np.full(self.motif.size, -1, dtype=np.int64)
            state[order[0]] = rng.choice(self.network.n_nodes, p=chances)
            if grow(source, state, order, bound, self._lists, self._edges):
                return state
        raise ValueError(
            f"No copy of the motif of {self.motif.size} nodes was found from {MAX_STARTS} random "
            "nodes of the network."
        )

    def step(self, rng: np.random.Generator, state: NDArray) -> tuple[NDArray, int]:
        """Return the copy after one move, and which of its nodes moved elsewhere (-1: none)."""
        found, after = self.run(rng, state, 1)
        moved = np.flatnonzero(found[0] != state)
        return after, int(moved[0]) if len(moved) else -1

    def run(
        self, rng: np.random.Generator, state: NDArray, n: int, thin: int = 1
    ) -> tuple[NDArray, NDArray]:
        """Return ``n`` copies, ``thin`` moves apart, int64 of shape (n, k), and the last one."""
        from atomstream.fields.networks.chains.kernel_motif import glauber
        from atomstream.fields.networks.chains.kernel_uniform import source_of

        state, found = state.copy(), np.empty((n, self.motif.size), dtype=np.int64)
        glauber(source_of(rng), state, found, thin, self._lists, self._edges, self._dense)
        return found, state

    def conditional(self, state: NDArray, node: int) -> tuple[NDArray, NDArray]:
        """Return the candidates for a node of the motif, given the others, with probabilities."""
        from atomstream.fields.networks.chains.kernel_motif import conditional

        candidates = np.empty(self.network.n_nodes, dtype=np.int64)
        sums = np.empty(self.network.n_nodes)
        last = self._edges[0][node + 1]
        size = conditional(state, node, self._lists, self._edges, last, candidates, sums)
        return candidates[:size], np.diff(sums[:size], prepend=0.0) / sums[size - 1]

    @cached_property
    def _lists(self) -> tuple[NDArray, ...]:
        """Neighbour lists with alias tables, by which one edge alone draws a node; node weights."""
        lists, weights = [], self.network.node_weights
        for matrix in (self.network.out, self.network.into):
            table = alias_table(matrix.data * weights[matrix.indices], matrix.indptr)
            lists += [matrix.indptr, matrix.indices, matrix.data, table]
        return (*lists, weights)

    @cached_property
    def _dense(self) -> tuple[NDArray, NDArray, NDArray]:
        """The weights as a matrix where most are there, and one over the largest of each node."""
        out, into, n_nodes = self.network.out, self.network.into, self.network.n_nodes
        matrix = out.toarray() if out.nnz >= DENSE * n_nodes**2 else np.empty((0, 0))
        tops = (part.max(axis=1).toarray() for part in (out, into))
        least = np.finfo(float).tiny
        out_most, into_most = (1 / np.maximum(top.ravel(), least) for top in tops)
        return matrix, out_most, into_most

    @cached_property
    def _edges(self) -> tuple[NDArray, ...]:
        return _edges_by_node(self.motif)


def copy_of(network: Network, motif: Motif, position: ArrayLike) -> NDArray:
    """Return a position as a state, refusing what is no copy of the motif."""
    state = complete_array(position, "position", np.int64).copy()
    if state.shape != (motif.size,) or state.min() < 0 or state.max() >= network.n_nodes:
        raise ValueError(
            f"position must be {motif.size} numbers of nodes below {network.n_nodes}, "
            f"got {position!r}."
        )
    if not is_copy(network, motif, state):
        raise ValueError(
            f"position={position!r} is no copy of the motif: an edge is missing in the network."
        )
    return state


def is_copy(network: Network, motif: Motif, state: NDArray) -> bool:
    """Return whether every edge of the motif, placed at these nodes, is one of the network."""
    if state.shape != (motif.size,) or state.min() < 0 or state.max() >= network.n_nodes:
        return False
    return all(network.out[state[tail], state[head]] > 0 for tail, head, _ in motif.edges)


def homomorphisms(
    network: object, motif: object, node_weights: ArrayLike | None = None
) -> tuple[NDArray, NDArray]:
    """Return all copies of a motif in a small network, and their weights.

    Parameters
    ----------
    network, motif, node_weights
        As in `MotifGlauber`.

    Returns
    -------
    states : ndarray of int64 of shape (n, k)
    weights : ndarray of shape (n,)
        The products whose shares are the law of the chain.
    """
    network, motif = Network.of(network, node_weights), Motif.of(motif)
    _check_small(network, network.n_nodes)
    dense, exponents = network.out.toarray(), motif.adjacency()
    states, weights = np.empty((1, 0), dtype=np.int64), np.ones(1)
    nodes = np.arange(network.n_nodes)
    for new in range(motif.size):
        _check_small(network, len(states))
        states = np.column_stack(
            [np.repeat(states, len(nodes), axis=0), np.tile(nodes, len(states))]
        )
        weights = np.repeat(weights, len(nodes)) * network.node_weights[states[:, new]]
        for old in range(new + 1):
            # A set: a loop of the new node counts once.
            for tail, head in {(old, new), (new, old)}:
                # An exponent of 0 is no edge: the factor is 1, whatever the weight.
                factor = dense[states[:, tail], states[:, head]]
                weights = weights * factor ** exponents[tail, head]
        states, weights = states[weights > 0], weights[weights > 0]
    return states, weights


def _check_small(network: Network, n_states: int) -> None:
    if n_states * network.n_nodes > MAX_MAPS:
        raise ValueError(
            f"A network of {network.n_nodes} nodes has too many copies of the motif to list them "
            "all; use a chain."
        )


def homomorphism_density(
    network: object, motif: object, node_weights: ArrayLike | None = None
) -> float:
    """Return the mean weight of all maps from the motif to the network, by node weights.

    Parameters
    ----------
    network, motif, node_weights
        As in `MotifGlauber`; small enough for all copies to be listed.

    References
    ----------
    Lyu, Needell, Balzano, below eq. (44): the constant Z, for node weights that sum to one.
    """
    network = Network.of(network, node_weights)
    shares = network.node_weights / network.node_weights.sum()
    return float(homomorphisms(network, motif, shares)[1].sum())


def _order(motif: Motif) -> NDArray:
    """Return the nodes of a motif so that each, if it can be, is bound to one before it."""
    graph = sp.csr_array(motif.adjacency() + motif.adjacency().T)
    order: list[int] = []
    for root in range(motif.size):
        if root not in order:
            found = sp.csgraph.breadth_first_order(
                graph, root, directed=False, return_predecessors=False
            )
            order += [int(node) for node in found]
    return np.array(order, dtype=np.int64)


def _edges_by_node(motif: Motif, order: NDArray | None = None) -> tuple[NDArray, ...]:
    """Return for each node the edges that bind it, to all others or those before it."""
    rank = np.zeros(motif.size, dtype=np.int64)
    if order is not None:
        rank[order] = np.arange(1, motif.size + 1)
    bound: list[list[tuple[int, bool, float]]] = [[] for _ in range(motif.size)]
    loops = np.zeros(motif.size)
    for tail, head, exponent in motif.edges:
        if tail == head:
            loops[tail] = exponent
            continue
        if order is None or rank[head] < rank[tail]:
            bound[tail].append((head, True, exponent))
        if order is None or rank[tail] < rank[head]:
            bound[head].append((tail, False, exponent))
    starts = np.concatenate([[0], np.cumsum([len(edges) for edges in bound])]).astype(np.int64)
    flat = [edge for edges in bound for edge in edges]
    return (
        starts,
        np.array([edge[0] for edge in flat], dtype=np.int64),
        np.array([edge[1] for edge in flat], dtype=np.bool_),
        np.array([edge[2] for edge in flat], dtype=np.float64),
        loops,
    )


def _unreachable(network: Network, motif: Motif) -> str | None:
    """Return why the chain cannot reach all copies, and what to do about it."""
    touched = np.diff(network.out.indptr) + np.diff(network.into.indptr) > 0
    n_parts, _ = sp.csgraph.connected_components(network.out, directed=True, connection="weak")
    # A node without edges holds no copy of a motif with edges.
    n_parts -= int((~touched).sum())
    if n_parts > 1 and motif.size > 1:
        return f"The network has {n_parts} components and the chain stays in one; {LARGEST}."
    if motif.size > 1 and network.undirected and network.bipartite:
        return (
            "The network is bipartite and the chain stays in one of two classes of copies; run one "
            "chain from each class, or use the pivot chain."
        )
    return None
