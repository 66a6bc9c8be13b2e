"""The pivot chain: copies of a tree whose root walks and whose other nodes are drawn anew."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import ArrayLike
from atomstream.exceptions import NetworkWarning
from atomstream.fields.networks import Motif, Network
from atomstream.fields.networks.chains.base import MotifChain, alias_table
from atomstream.fields.networks.chains.glauber import LARGEST, copy_of


@dataclass(frozen=True, eq=False)
class MotifPivot(MotifChain[bool]):
    r"""The pivot chain on copies of a motif that is a tree.

    The root, node 0 of the motif, makes a Metropolis walk along edges (in any direction) for the
    law that copies have at their root; given the root the rest is drawn from its exact law, by
    h-transform: a child of v is u with probability proportional to
    :math:`A(v, u)^F \alpha(u) h(u)`, with h(u) the weight of all ways to go on from u. The
    stationary law is that of `MotifGlauber`. No move is local, so a step decorrelates all but the
    root.

    Parameters
    ----------
    network : Network, or anything `Network.of` takes
    motif : Motif or adjacency matrix
        A tree without loops.
    node_weights : array-like of shape (n_nodes,), optional
    approximate : bool, default=False
        The cheaper chain of the later literature: the root's walk is made uniform over nodes by
        degrees alone and children are drawn by the weights of their edges. Its law is another one
        unless the network is regular.

    Raises
    ------
    ValueError
        For what is no network, and for motifs that are no trees.

    Warns
    -----
    UserWarning
        Where the network has several components.

    Notes
    -----
    Keeps 8 bytes per edge of the network and node of the motif.

    References
    ----------
    Lyu, Memoli, Sivakoff (2019), Algorithm MP, whose growth is by plain random walk in the
    published code; Lyu, Needell, Balzano, section 6.
    """

    network: Any
    motif: Any
    node_weights: Any = None
    approximate: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "network", Network.of(self.network, self.node_weights))
        object.__setattr__(self, "motif", Motif.of(self.motif))
        k, ends = self.motif.size, {tuple(sorted(edge[:2])) for edge in self.motif.edges}
        n_trees, _ = sp.csgraph.connected_components(self.motif.adjacency(), connection="weak")
        # k - 1 edges, no two between the same nodes, that join all k: a tree.
        if len(self.motif.edges) != k - 1 or len(ends) != k - 1 or n_trees != 1:
            raise ValueError(
                "The pivot chain needs a motif that is a tree; for others use the Glauber chain "
                "(chain='glauber')."
            )
        _, part = sp.csgraph.connected_components(self.network.out, connection="weak")
        n_parts = len(np.unique(part[self.root_weights > 0])) if k > 1 else 0
        if n_parts > 1:
            warnings.warn(
                f"The network has {n_parts} components and the chain stays in one; {LARGEST}.",
                NetworkWarning,
                stacklevel=3,
            )
        if not (self.root_weights > 0).any():
            raise ValueError(f"The network holds no copy of the motif of {k} nodes.")

    def init(self, rng: np.random.Generator, position: ArrayLike | None = None) -> NDArray:
        """Return a copy of the motif, int64 (k,): the one given, or one of the exact law."""
        if position is not None:
            return copy_of(self.network, self.motif, position)
        weights = self.root_weights
        state = np.zeros(self.motif.size, dtype=np.int64)
        state[0] = rng.choice(len(weights), p=weights / weights.sum())
        return self.run(rng, state, 1)[1]

    def step(self, rng: np.random.Generator, state: NDArray) -> tuple[NDArray, bool]:
        """Return the next copy, and whether its root moved."""
        _, after = self.run(rng, state, 1)
        return after, bool(after[0] != state[0])

    def run(
        self, rng: np.random.Generator, state: NDArray, n: int, thin: int = 1
    ) -> tuple[NDArray, NDArray]:
        """Return ``n`` copies, ``thin`` steps apart, int64 of shape (n, k), and the last one."""
        from atomstream.fields.networks.chains.kernel_pivot import pivot
        from atomstream.fields.networks.chains.kernel_uniform import source_of

        state, found = state.copy(), np.empty((n, self.motif.size), dtype=np.int64)
        out, into = self.network.out, self.network.into
        lists = (out.indptr, out.indices, into.indptr, into.indices, self._tables)
        pivot(source_of(rng), state, found, thin, self._walk, self._tree[:3], lists)
        return found, state

    @property
    def root_weights(self) -> NDArray:
        """Weight of all copies with each node as their root, (n_nodes,); approximate: 1 or 0."""
        if self.approximate:
            return (self._heights[0] > 0) * 1.0
        return self.network.node_weights * self._heights[0]

    @cached_property
    def _tree(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Nodes after the root, their parents, whether edges leave the parent, exponents."""
        exponents = self.motif.adjacency()
        order, parents = sp.csgraph.breadth_first_order(
            sp.csr_array(exponents + exponents.T), 0, directed=False
        )
        order = order[1:].astype(np.int64)
        parents = parents[order].astype(np.int64)
        outgoing = exponents[parents, order] > 0
        found = np.where(outgoing, exponents[parents, order], exponents[order, parents])
        return order, parents, outgoing, found

    @cached_property
    def _heights(self) -> NDArray:
        """Weight of all trees below each node of the motif from each of the network, (k, n)."""
        heights = np.ones((self.motif.size, self.network.n_nodes))
        # From the leaves up: the number of copies that hang below each node, weighted (a sum-
        # product on the tree).
        for node, parent, outgoing, exponent in reversed(list(zip(*self._tree, strict=True))):
            matrix = (self.network.out if outgoing else self.network.into) ** exponent
            heights[parent] *= matrix @ (self.network.node_weights * heights[node])
            # Long motifs must not leave the range of numbers.
            heights[parent] /= heights[parent].max() or 1.0
        return heights

    @cached_property
    def _tables(self) -> NDArray:
        """Alias tables of the children of each parent along its list, (k - 1, n_edges)."""
        tables = np.zeros((self.motif.size - 1, self.network.out.nnz), dtype=np.uint64)
        for table, node, _, outgoing, exponent in zip(tables, *self._tree, strict=True):
            matrix = self.network.out if outgoing else self.network.into
            chances = matrix.data**exponent
            # Exact chances count what hangs below the child; without that the chain is cheaper and
            # biased, but it must not enter a node below which nothing can hang.
            below = self.network.node_weights * self._heights[node]
            chances = chances * (below > 0 if self.approximate else below)[matrix.indices]
            table[:] = alias_table(chances, matrix.indptr)
        return tables

    @cached_property
    def _walk(self) -> tuple[NDArray, NDArray, NDArray]:
        """Neighbours that the root walks to, loops left out, and its law over their number."""
        joined = sp.csr_array(self.network.out + self.network.into)
        joined.setdiag(0)
        joined.eliminate_zeros()
        joined.sort_indices()
        degrees = np.maximum(np.diff(joined.indptr), 1)  # a node without neighbours stays
        # A neighbour is proposed with chance one over the degree: Metropolis accepts by these
        # ratios.
        return joined.indptr, joined.indices, self.root_weights / degrees
