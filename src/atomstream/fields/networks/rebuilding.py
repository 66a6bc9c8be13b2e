"""Chains on a network by their names, and networks reconstructed from patches along them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import RandomSource, check_count, track
from atomstream.estimators._estimator import estimator
from atomstream.estimators._learner_inside import LearnerInside, drawn_seed
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.registry import ScheduleChoice
from atomstream.exceptions import NetworkWarning
from atomstream.fields.networks import Motif, Network, Ranking, Reconstruction
from atomstream.fields.networks.chains.base import MotifChain, patches_of
from atomstream.fields.networks.chains.glauber import MotifGlauber, homomorphisms
from atomstream.fields.networks.chains.pivot import MotifPivot
from atomstream.fields.networks.edge_means import EdgeMeans, distinct
from atomstream.fields.networks.verdicts import far_from_network

if TYPE_CHECKING:
    from atomstream.fields.networks.proposals import CodedBlock, Proposals

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


@estimator
class NetworkReconstruction(LearnerInside):
    """A learned dictionary of patches that reconstructs networks."""

    motif: object = "path:21"
    n_components: int = 25
    _: KW_ONLY
    chain: str = "pivot"
    schedule: ScheduleChoice = "power"
    n_batches: int = 100
    batch_size: int = 1000
    thin: int = 1

    learner_: OnlineNMF = field(init=False)
    motif_: Motif = field(init=False)
    position_: NDArray | None = field(init=False)

    def reconstruct(
        self,
        network: object,
        *,
        chain: Any = None,
        n_steps: int = 100_000,
        random_state: RandomSource = 0,
    ) -> Reconstruction:
        """Reconstruct a network, the one learned from or another.

        Every pair of nodes is the mean of what patches propose for it.

        A new chain visits ``n_steps`` copies; each patch is coded and decoded, and its entries are
        proposals for the pairs of nodes it covers, all of the same weight (under "all": every copy
        by its law, the limit of endless steps). Memory is that of the pairs that were visited.

        Parameters
        ----------
        network : networkx graph, sparse or dense array of shape (n, n), frame, file, or Network
        chain : str or class of chains, optional
            As the parameter of the model. By default that of the model, but "approximate_pivot" in
            the place of "pivot": its law is another one, under which sparse regions are visited as
            often as dense ones.
        n_steps : int, default=100_000
            Copies; not used under "all".
        random_state : int, Generator, RandomState or None, default=0
            Of the chain.

        Returns
        -------
        Reconstruction
            Weights of the pairs that were visited.

        Warns
        -----
        NetworkWarning
            Where it is hardly nearer to the network than one without edges: off by more than 0.9 of
            the norm of the network.
        """
        chain = self._covering(chain)
        network = self._validated(network, n_steps)
        # Counts are kept in 32 bits, weights in floats.
        weighted = self._many_proposals(n_steps) or chain == "all"
        pairs = EdgeMeans(network.n_nodes, weighted=weighted)
        for block in self._coded(network, chain, n_steps, random_state):
            pairs.add(block.states, block.patches[block.places], block.weights)
        found, norm = (
            Reconstruction(network, *pairs.drain()),
            float(np.linalg.norm(network.out.data)),
        )
        if sentence := far_from_network(found.error / norm, found.unvisited_norm / norm):
            warnings.warn(sentence, NetworkWarning, stacklevel=2)
        return found

    def _covering(self, chain: Any) -> Any:
        """Return the chain that was chosen, by default one that covers the network well."""
        if chain is not None:
            return chain
        return "approximate_pivot" if self.chain == "pivot" else self.chain

    def denoise(
        self,
        network: object,
        pairs: object = "edges",
        *,
        scores: str = "reconstruction",
        chain: Any = None,
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
        scores : {"reconstruction", "fitted"}, default="reconstruction"
            "fitted" scores pairs by a regression on neighbours, short paths, degrees, truncated
            SVDs, and the atoms (reconstruction, visits, codes of the nodes). It is fitted on edges
            that are hidden once more from what is left, or planted once more where the pairs are
            edges, which takes several times as long. The pairs must all be edges or all non-edges.
        chain : str or class of chains, optional
            As the parameter of the model. By default that of the model, but "approximate_pivot" in
            the place of "pivot", because it visits sparse regions as often as dense ones.
        n_steps : int, default=100_000
            Copies; not used under "all".
        random_state : int, Generator, RandomState or None, default=0

        Returns
        -------
        Ranking
            Scores are means of what the visits of a pair propose, drawn towards the base rate where
            the visits are few (`atomstream.networks.Shrinkage`), with intervals.
            Pairs that were not visited have the score NaN. Fitted scores are log-odds without
            intervals, and every pair has one; ``ranking.fit.gain`` is what the atoms add.

        References
        ----------
        Lyu, Kureh, Vendrow, Porter (2024), "Learning low-rank latent mesoscale structures in
        networks", for edges of the motif left out.
        """
        chain = self._covering(chain)
        network = self._checked_request(network, pairs, scores, chain, n_steps)
        proposals = self._proposals(network, chain, n_steps, random_state)
        ranking = Ranking.of(proposals.reconstruction, proposals.law, pairs)
        if scores == "reconstruction" or not ranking.pairs:
            return ranking
        from atomstream.fields.networks.link_fit import fit_links, task_of

        places = np.column_stack(network.places(ranking.pairs))

        def atoms(changed: Network, asked: NDArray) -> dict[str, NDArray]:
            if changed is network:
                return proposals.scores(asked)
            return self._proposals(changed, chain, n_steps, random_state).scores(asked)

        rng = np.random.default_rng(drawn_seed(random_state))
        fit = fit_links(network, places, task_of(network, *places.T), rng, atoms)
        return ranking.fitted(fit, pairs)

    def _checked_request(
        self, network: object, pairs: object, scores: str, chain: Any, n_steps: int
    ) -> Network:
        """Return the network whose pairs are to be ranked, before anything is computed."""
        from atomstream.fields.networks.link_fit import task_of

        if isinstance(pairs, str) and pairs not in {"edges", "non-edges"}:
            raise ValueError(
                f"pairs={pairs!r} is unknown; known are edges, non-edges, or a sequence of pairs."
            )
        if scores not in {"reconstruction", "fitted"}:
            raise ValueError(f"scores={scores!r:.40} is unknown; known are reconstruction, fitted.")
        if chain != "all":
            resolve_chain(chain)
        network = self._validated(network, n_steps)
        if not isinstance(pairs, str):
            places = network.places(pairs)
            if scores == "fitted":
                task_of(network, *places)
        if not self.motif_.n_free_pairs(directed=network.directed):
            raise ValueError(
                "The motif joins every two of its nodes: nothing is left to say; take a longer one."
            )
        return network

    def _validated(self, network: object, n_steps: int) -> Network:
        """Return the network to reconstruct, checked."""
        check_is_fitted(self)
        check_count("n_steps", n_steps)
        self.check()
        network = Network.of(network)
        self._check_size(network)
        return network

    def _proposals(
        self, network: Network, chain: Any, n_steps: int, random_state: RandomSource
    ) -> Proposals:
        """Return what patches propose for pairs that no edge of the motif joins."""
        from atomstream.fields.networks.proposals import PairProposals

        weighted = self._many_proposals(n_steps) or chain == "all"
        pairs = PairProposals(network, self.motif_, self.learner_.n_components, weighted)
        for block in self._coded(network, chain, n_steps, random_state):
            pairs.add(block)
        return pairs.drain(exact=chain == "all")

    def _many_proposals(self, n_steps: int) -> bool:
        """Return whether all proposals, if they were for one pair, are too many for a counter."""
        return n_steps * self.motif_.size**2 >= 2**32

    def _coded(
        self, network: Network, chain: Any, n_steps: int, random_state: RandomSource
    ) -> Iterator[CodedBlock]:
        """Yield copies of the motif with the codes and the reconstructions of their patches."""
        from atomstream.fields.networks.proposals import CodedBlock

        # Alpha may have been changed since learning, and counts as it is now.
        coder, message = copy(self.learner_).set_params(alpha=self.alpha), None
        copies = self._copies(network, n_steps, random_state, chain)
        n_blocks = -(-n_steps // self._at_a_time) if chain != "all" else None
        for states, weights in track(copies, n_blocks, "coding copies of the motif"):
            # Sparse networks show few patches that differ: each of them is coded once.
            patches, places = distinct(patches_of(network, states))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                codes = coder.transform(patches)
                reconstruction = coder.inverse_transform(codes)
            message = message or next(iter(caught), None)
            yield CodedBlock(states, weights, codes, reconstruction, places)
        if message is not None:  # once, not for each of many blocks
            warnings.warn(message.message, stacklevel=4)

    def _copies(
        self, network: Network, n_steps: int, random_state: RandomSource, chain: Any = None
    ) -> Generator[tuple[NDArray, NDArray | None]]:
        """Yield copies of the motif, with weights where they are no draws of a chain."""
        rows, kind = self._at_a_time, self.chain if chain is None else chain
        if kind == "all":
            states, weights = self._all(network)
            for start in range(0, len(states), rows):
                yield states[start : start + rows], weights[start : start + rows]
            return
        moves = resolve_chain(kind)(network, self.motif_)
        rng = np.random.default_rng(drawn_seed(random_state))
        state = moves.init(rng)
        for start in range(0, n_steps, rows):
            states, state = moves.run(rng, state, min(rows, n_steps - start), self.thin)
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
                f"{network.n_nodes}; choose a smaller motif, such as path:5."
            )
