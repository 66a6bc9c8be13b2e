"""Chains on a network by their names, and networks reconstructed from patches along them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base.checks import RandomSource, check_count
from atomstream.base.progress import track
from atomstream.domains.networks.edge_means import EdgeMeans, distinct
from atomstream.domains.networks.motifs import Motif
from atomstream.domains.networks.network import Network
from atomstream.domains.networks.reconstruction import Ranking, Reconstruction, Shrinkage
from atomstream.estimators._learner_inside import LearnerInside, drawn_seed
from atomstream.samplers import MotifChain, MotifGlauber, MotifPivot, homomorphisms
from atomstream.samplers.base import patches_of

CHAINS: dict[str, Callable[..., Any]] = {
    "glauber": MotifGlauber,
    "pivot": MotifPivot,
    "approximate_pivot": partial(MotifPivot, approximate=True),
}


def resolve_chain(choice: str | Callable[..., MotifChain]) -> Callable[..., MotifChain]:
    """Return the class of chains, or function of network and motif, of this name or as given."""
    if isinstance(choice, str) and choice in CHAINS:
        return CHAINS[choice]
    if isinstance(choice, str) or not callable(choice):
        known = ", ".join(sorted({*CHAINS, "all"}))
        raise ValueError(
            f"chain={choice!r} is unknown; known are {known}, or give a class of chains."
        )
    return choice


@dataclass(frozen=True)
class ChainShard:
    """The patches along one chain.

    Attributes
    ----------
    network : Network
    motif : Motif
    chain : str or callable
        As in `NetworkDictionary`.
    thin : int
        Steps from patch to patch.
    seed : (int, int)
        Of the model, and number of the chain.
    n_rows : int
        Patches.
    """

    network: Any
    motif: Any
    chain: Any
    thin: int
    seed: tuple[int, int]
    n_rows: int

    @property
    def name(self) -> str:
        """Number of the chain."""
        return f"chain {self.seed[1]}"

    @property
    def version(self) -> str:
        """Seed of the model."""
        return str(self.seed[0])

    def read(self, first: int, last: int) -> Iterator[NDArray]:
        """Yield the patches of some of the steps."""
        chain = resolve_chain(self.chain)(self.network, self.motif)
        rng = np.random.default_rng(self.seed)
        states, _ = chain.run(rng, chain.init(rng), last, self.thin)
        yield chain.patches(states[first:])


ENTRIES = 2**18  # of patches reconstructed at a time


class NetworkReconstruction(LearnerInside):
    """A learned dictionary of patches that reconstructs networks."""

    alpha: float
    chain: str
    thin: int
    motif_: Motif

    def reconstruct(
        self, network: object, *, n_steps: int = 100_000, random_state: RandomSource = 0
    ) -> Reconstruction:
        """Reconstruct a network, the one learned from or another.

        Every pair of nodes is the mean of what patches propose for it.

        A new chain visits ``n_steps`` copies; each patch is coded and decoded, and its entries are
        proposals for the pairs of nodes it covers, all of the same weight (under "all": every copy
        by its law, the limit of endless steps). Memory is that of the pairs that were visited.

        Parameters
        ----------
        network : networkx graph, sparse or dense array of shape (n, n), frame, file, or Network
        n_steps : int, default=100_000
            Copies; not used under "all".
        random_state : int, Generator, RandomState or None, default=0
            Of the chain.

        Returns
        -------
        Reconstruction
            Weights of the pairs that were visited.
        """
        return self._reconstructed(self._validated(network, n_steps), n_steps, random_state)[0]

    def denoise(
        self,
        network: object,
        pairs: object = "edges",
        *,
        n_steps: int = 100_000,
        random_state: RandomSource = 0,
    ) -> Ranking:
        """Rank pairs of nodes by how likely edges they are, judging from what lies around them.

        As `reconstruct`, but without the entries of patches on edges of the motif: those are
        edges of every copy, true or false, and say nothing. Low edges are likely to be spurious,
        high non-edges to be missing.

        Parameters
        ----------
        network : networkx graph, sparse or dense array of shape (n, n), frame, file, or Network
            What was observed: usually the one learned from.
        pairs : {"edges", "non-edges"} or sequence of (label, label), default="edges"
            What to rank: all edges between different nodes, lowest first; all visited pairs of
            different nodes that are no edges, highest first; or these pairs, in their order.
        n_steps : int, default=100_000
            Copies; not used under "all".
        random_state : int, Generator, RandomState or None, default=0

        Returns
        -------
        Ranking
            Scores are means of what the visits of a pair propose, drawn towards the base rate where
            the visits are few (`atomstream.networks.Shrinkage`), with intervals.
            Pairs that were not visited have the score NaN.

        References
        ----------
        Lyu, Kureh, Vendrow, Porter (2024), "Learning low-rank latent mesoscale structures in
        networks", for edges of the motif left out.
        """
        if isinstance(pairs, str) and pairs not in {"edges", "non-edges"}:
            raise ValueError(
                f"pairs={pairs!r} is unknown; known are edges, non-edges, or a sequence of pairs."
            )
        network = self._validated(network, n_steps)
        if not isinstance(pairs, str):
            network.places(pairs)  # refuses what is none before anything is computed
        if not self.motif_.n_free_pairs(directed=network.directed):
            raise ValueError(
                "The motif joins every two of its nodes: nothing is left to say; take a longer one."
            )
        free = self.motif_.free_entries(directed=network.directed)
        found, squares = self._reconstructed(network, n_steps, random_state, free)
        visited = found.visits(*found.visited_pairs())
        # In an undirected network a visit proposes both directions. "all" leaves nothing to chance.
        law = Shrinkage.of(*visited, squares / (1 + network.undirected))
        return Ranking.of(found, Shrinkage(law.base) if self.chain == "all" else law, pairs)

    def _validated(self, network: object, n_steps: int) -> Network:
        """Return the network to reconstruct, checked."""
        check_is_fitted(self)
        check_count("n_steps", n_steps)
        self.check()
        network = Network.of(network)
        self._check_size(network)
        return network

    def _reconstructed(
        self, network: Network, n_steps: int, random_state: RandomSource, entries: Any = None
    ) -> tuple[Reconstruction, float]:
        """Return the means of what patches propose, in all their entries or in some.

        Then also the sum of the squares of what these entries propose for different nodes.
        """
        many = n_steps * self.motif_.size**2 >= 2**32  # proposals, which could all be for one pair
        pairs = EdgeMeans(network.n_nodes, weighted=many or self.chain == "all")
        coder = copy(self.learner_).set_params(alpha=self.alpha)
        message, squares = None, 0.0
        copies = self._copies(network, n_steps, random_state)
        n_blocks = -(-n_steps // self._at_a_time) if self.chain != "all" else None
        for states, weights in track(copies, n_blocks, "coding copies of the motif"):
            patches, places = distinct(patches_of(network, states))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                reconstruction = coder.inverse_transform(coder.transform(patches))
            message = message or next(iter(caught), None)
            pairs.add(states, reconstruction[places], weights, entries)
            if entries is not None:
                squares += _squares(states, reconstruction, places, weights, entries)
        if message is not None:  # once, not for each of many blocks
            warnings.warn(message.message, stacklevel=3)
        return Reconstruction(network, *pairs.drain()), squares

    def _copies(
        self, network: Network, n_steps: int, random_state: RandomSource
    ) -> Generator[tuple[NDArray, NDArray | None]]:
        """Yield copies of the motif, with weights where they are no draws of a chain."""
        rows = self._at_a_time
        if self.chain == "all":
            states, weights = self._all(network)
            for start in range(0, len(states), rows):
                yield states[start : start + rows], weights[start : start + rows]
            return
        chain = resolve_chain(self.chain)(network, self.motif_)
        rng = np.random.default_rng(drawn_seed(random_state))
        state = chain.init(rng)
        for start in range(0, n_steps, rows):
            states, state = chain.run(rng, state, min(rows, n_steps - start), self.thin)
            yield states, None

    @property
    def _at_a_time(self) -> int:
        """Copies whose patches are in memory at a time."""
        return max(1, ENTRIES // self.motif_.size**2)

    def _all(self, network: Network) -> tuple[NDArray, NDArray]:
        # A common factor says nothing, and its powers would leave the range of numbers.
        scaled = Network.of(network.out / network.out.data.max(), network.node_weights)
        states, weights = homomorphisms(scaled, self.motif_)
        if not len(states):
            raise ValueError(f"The network holds no copy of the motif of {self.motif_.size} nodes.")
        return states, weights * (len(weights) / weights.sum())

    def _check_size(self, network: Network) -> None:
        if self.motif_.size > network.n_nodes:
            raise ValueError(
                f"The motif has {self.motif_.size} nodes, more than the network, which has "
                f"{network.n_nodes}; choose a smaller motif."
            )


def _squares(
    states: NDArray, patches: NDArray, places: NDArray, weights: NDArray | None, entries: NDArray
) -> float:
    """Return the sum of the squares of proposals for pairs of different nodes."""
    tails, heads = np.nonzero(entries)
    proposals = np.square(patches)[:, entries.ravel()][places]
    proposals[states[:, tails] == states[:, heads]] = 0
    sums = proposals.sum(axis=1)
    return float(sums.sum() if weights is None else weights @ sums)
