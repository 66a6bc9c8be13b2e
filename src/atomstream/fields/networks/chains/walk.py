"""Random walks on networks."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import ArrayLike, complete_array
from atomstream.exceptions import NetworkWarning
from atomstream.fields.networks.chains.base import alias_table
from atomstream.fields.networks.network import Network
from atomstream.samplers.base import Chain


@dataclass(frozen=True, eq=False)
class RandomWalk(Chain[None]):
    """The walk that leaves a node along an edge drawn in proportion to its weight.

    Parameters
    ----------
    network : Network, or anything `Network.of` takes
        A matrix of transition probabilities is one: each row is divided by its sum.

    Raises
    ------
    ValueError
        For nodes that no edge leaves.

    Warns
    -----
    NetworkWarning
        Where the walk cannot return from everywhere to everywhere, or is periodic with period 2.
    """

    network: Any

    def __post_init__(self) -> None:
        network = Network.of(self.network)
        object.__setattr__(self, "network", network)
        stuck = np.flatnonzero(np.diff(network.out.indptr) == 0)
        if len(stuck):
            raise ValueError(
                f"No edge leaves node {network.labels[stuck[0]]!r}; "
                "remove such nodes or give them loops."
            )
        n_parts, _ = sp.csgraph.connected_components(network.out, connection="strong")
        if n_parts > 1:
            warnings.warn(
                f"The network has {n_parts} strongly connected components, "
                "the walk ends in one; give the largest.",
                NetworkWarning,
                stacklevel=3,
            )
        elif network.undirected and network.bipartite:
            warnings.warn(
                "The network is bipartite: the walk alternates between two classes and never "
                "settles; look at every second step, or give nodes loops.",
                NetworkWarning,
                stacklevel=3,
            )

    def init(self, rng: np.random.Generator, position: ArrayLike | None = None) -> NDArray:
        """Return a node, int64 of shape (1,): the number given, or one drawn uniformly."""
        if position is None:
            return rng.integers(self.network.n_nodes, size=1)
        state = complete_array(position, "position", np.int64).reshape(-1)
        if state.shape != (1,) or not 0 <= state[0] < self.network.n_nodes:
            raise ValueError(
                f"position must be the number of a node below {self.network.n_nodes}, "
                f"got {position!r}."
            )
        return state

    def step(self, rng: np.random.Generator, state: NDArray) -> tuple[NDArray, None]:
        """Return the next node."""
        return self.run(rng, state, 1)[1], None

    def run(
        self, rng: np.random.Generator, state: NDArray, n: int, thin: int = 1
    ) -> tuple[NDArray, NDArray]:
        """Return ``n`` nodes, ``thin`` steps apart, int64 of shape (n,), and the last one."""
        from atomstream.fields.networks.chains.kernel_uniform import source_of
        from atomstream.fields.networks.chains.kernel_walk import walk

        source, found, out = source_of(rng), np.empty(n, dtype=np.int64), self.network.out
        last = walk(source, int(state[0]), found, thin, out.indptr, out.indices, self._table)
        return found, np.array([last])

    def transitions(self) -> Any:
        """Return the matrix of transition probabilities, sparse, (n_nodes, n_nodes)."""
        return sp.diags_array(1 / self.network.out.sum(axis=1)) @ self.network.out

    @cached_property
    def _table(self) -> NDArray:
        return alias_table(self.network.out.data, self.network.out.indptr)
