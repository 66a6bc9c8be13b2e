"""What a network looks like around a motif: a dictionary of its patches, learned along a chain of copies."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import closing
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from atomstream.core.checks import check_count, generator
from atomstream.domains.networks.edge_means import EdgeMeans
from atomstream.domains.networks.motifs import Motif
from atomstream.domains.networks.network import Network
from atomstream.domains.networks.reconstruction import Ranking, Reconstruction
from atomstream.estimators._callbacks import CallbackSupportMixin
from atomstream.estimators._rollback import untouched
from atomstream.estimators._validation import check_settings, check_size
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.registry import resolve_chain
from atomstream.samplers import homomorphisms
from atomstream.samplers.base import patches_of
from atomstream.samplers.glauber import is_copy

__all__ = ["NetworkDictionary"]

ENTRIES = 2**18  # of patches rebuilt at a time
NOTED = 64  # steps at which the usage of the atoms is kept


class NetworkDictionary(CallbackSupportMixin, BaseEstimator):
    r"""A dictionary of the k x k patches that a network shows on copies of a motif.

    A Markov chain moves a copy of the motif through the network; the adjacency matrix between its
    nodes is a patch; batches of patches along the chain teach an `OnlineNMF`. The atoms are
    adjacency matrices of k nodes: the structures of which every neighbourhood of that shape is a
    sum.

    Parameters
    ----------
    motif : str, Motif or adjacency matrix, default="path:5"
        "path:K", "star:K", "cycle:K" of K nodes, "wedge:DEPTH", or any other
        (`atomstream.domains.networks.motifs`).
    n_components : int, default=25
        Number of atoms.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes, while learning and rebuilding.
    chain : {"pivot", "glauber", "approximate_pivot", "all"} or class of chains, default="pivot"
        How copies are met: grown anew from a root that walks, for motifs that are trees, or one
        node at a time, for any motif (see `atomstream.samplers`). "all" takes every copy once,
        weighted by its law: for small networks. Anything that makes a
        `atomstream.samplers.MotifChain` from a network and a motif is a class of chains.
    schedule : str or callable, default="power"
        As in `OnlineNMF`.
    n_batches : int, default=100
        Batches that `fit` takes.
    batch_size : int, default=1000
        Copies per batch; under "all" every batch is all copies.
    thin : int, default=1
        Moves from one copy to the next.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, k, k)
        The atoms; entry (a, b) weighs the edge from node a of the motif to node b.
    importance_ : ndarray of shape (n_components,)
        Share of each atom in the sum of the codes over the run.
    recent_importance_ : ndarray of shape (n_components,)
        The same over the last half of the batches (over a little more where they are many): without
        the search of the beginning.
    learner_ : OnlineNMF
        Codes patches of shape (n, k * k) with the dictionary, and tells how well.
    motif_ : Motif
    position_ : ndarray of int64 of shape (k,)
        Where the chain stands; None under "all".
    n_steps_ : int
        Batches learned from.

    Raises
    ------
    ValueError
        For settings out of range and for what is no network; the model stays as it was.

    References
    ----------
    Lyu, Needell, Balzano (2020), "Online matrix factorization for Markovian data and applications
    to network dictionary learning", section 6, eqs. (45), (46); "all" is section 6.1.
    docs/algorithms/network-dictionaries.md.

    Examples
    --------
    >>> import networkx as nx
    >>> from atomstream import NetworkDictionary
    >>> graph = nx.karate_club_graph()
    >>> model = NetworkDictionary("path:3", 6, n_batches=20, random_state=0).fit(graph)
    >>> model.components_.shape
    (6, 3, 3)
    >>> rebuilt = model.reconstruct(graph, n_steps=20_000)
    >>> rebuilt.coverage
    1.0
    """

    # What learning makes.
    learner_: OnlineNMF
    motif_: Motif
    position_: NDArray | None

    def __init__(
        self,
        motif: Any = "path:5",
        n_components: int = 25,
        *,
        alpha: float = 0.0,
        chain: str = "pivot",
        schedule: Any = "power",
        n_batches: int = 100,
        batch_size: int = 1000,
        thin: int = 1,
        random_state: Any = None,
    ) -> None:
        self.motif = motif
        self.n_components = n_components
        self.alpha = alpha
        self.chain = chain
        self.schedule = schedule
        self.n_batches = n_batches
        self.batch_size = batch_size
        self.thin = thin
        self.random_state = random_state

    # -- learning
    #
    #
    #
    #
    #
    # -------------------------------------------------------------------------------------------------

    def fit(self, network: Any, y: Any = None) -> Self:
        """Learn anew from ``n_batches`` batches of copies.

        Parameters
        ----------
        network : networkx graph, sparse array, array of shape (n, n), frame or file of edges, or
        Network
            As in `atomstream.domains.networks.network.Network.of`.
        y : ignored

        Returns
        -------
        self
        """
        with untouched(self):
            self.check()
            self.__dict__.pop("learner_", None)
            network = Network.of(network)
            self._learn(network, self.n_batches)
        return self

    def partial_fit(self, network: Any, y: Any = None, *, n_batches: int = 1) -> Self:
        """Learn from some more batches; the chain goes on where it stood, or anew where no copy is there.

        Parameters
        ----------
        network : networkx graph, sparse array, array of shape (n, n), frame or file of edges, or
        Network
            The same as before, or another one: of one author, say.
        y : ignored
        n_batches : int, default=1

        Returns
        -------
        self
        """
        with untouched(self):
            self.check()
            check_count("n_batches", n_batches)
            self._learn(Network.of(network), n_batches)
        return self

    def _learn(self, network: Network, n_batches: int) -> None:
        """Run the chain in front of the learner."""
        if "learner_" not in self.__dict__:
            self._begin()
        elif self.motif_ != Motif.of(self.motif):
            raise ValueError(
                f"motif={self.motif!r} is not the motif that was learned; call fit to start anew."
            )
        check_size(self, self.learner_.n_components)
        self._check_size(network)
        self.learner_ = copy(self.learner_).set_params(alpha=self.alpha, schedule=self.schedule)
        batches = (
            self._every(network, n_batches)
            if self.chain == "all"
            else self._along(network, n_batches)
        )
        try:
            self.learner_.set_callbacks(*getattr(self, "_skl_callbacks", ()))
            with closing(batches):
                self.learner_.fit_stream(batches, n_batches=n_batches)
        finally:
            self.learner_.set_callbacks()

    def _begin(self) -> None:
        self.motif_ = Motif.of(self.motif)
        self._rng = _own_rng(self.random_state)
        seed = int(self._rng.integers(2**63))
        self.learner_ = OnlineNMF(self.n_components, random_state=seed)
        self.position_ = None
        self._totals, self._spacing = np.empty((0, self.n_components)), 1

    def _along(self, network: Network, n_batches: int) -> Generator[NDArray]:
        """Yield batches along the chain; where it stands is noted when the learner has learned them, not before."""
        chain = resolve_chain(self.chain)(network, self.motif_)
        if self.position_ is None or not is_copy(network, self.motif_, self.position_):
            rng = deepcopy(self._rng)
            self.position_, self._rng = chain.init(rng), rng
        for _ in range(n_batches):
            self._note_usage()
            rng, n_steps = deepcopy(self._rng), self._n_steps
            states, position = chain.run(rng, self.position_, self.batch_size, self.thin)
            try:
                yield chain.patches(states)
            finally:
                if self._n_steps > n_steps:
                    self._rng, self.position_ = rng, position

    def _every(self, network: Network, n_batches: int) -> Generator[tuple[NDArray, NDArray]]:
        """Yield all patches that differ, weighted by their law, again and again."""
        states, weights = self._all(network)
        patches, places = distinct(patches_of(network, states))
        weights = np.bincount(places, weights)
        for _ in range(n_batches):
            self._note_usage()
            yield patches, weights

    def _note_usage(self) -> None:
        """Keep how atoms were used so far at some steps, evenly spaced and at most 64."""
        if len(self._totals) * self._spacing == self._n_steps:
            usage = (
                self.learner_.state_.usage.total if self._n_steps else np.zeros(self.n_components)
            )
            self._totals = np.concatenate([self._totals, usage[None]])
            if len(self._totals) == NOTED:
                self._totals, self._spacing = self._totals[::2], 2 * self._spacing

    def _all(self, network: Network) -> tuple[NDArray, NDArray]:
        # A common factor says nothing, and its powers would leave the range of numbers.
        scaled = Network.of(network.out / network.out.data.max(), network.node_weights)
        states, weights = homomorphisms(scaled, self.motif_)
        if not len(states):
            raise ValueError(f"The network holds no copy of the motif of {self.motif_.size} nodes.")
        return states, weights * (len(weights) / weights.sum())

    # -- what was learned
    # -----------------------------------------------------------------------------------------

    @property
    def components_(self) -> NDArray:
        """The atoms as adjacency matrices, (n_components, k, k), read-only."""
        check_is_fitted(self)
        k = self.motif_.size
        return self.learner_.components_.reshape(-1, k, k)

    @property
    def importance_(self) -> NDArray:
        """Share of each atom in the sum of the codes over the run, (n_components,)."""
        check_is_fitted(self)
        return self.learner_.importance_

    @property
    def recent_importance_(self) -> NDArray:
        """Share of each atom in the sum of the codes over the last half of the batches, (n_components,)."""
        check_is_fitted(self)
        half = self._totals[min(self._n_steps // 2 // self._spacing, len(self._totals) - 1)]
        usage = self.learner_.state_.usage.total - half
        return usage / max(usage.sum(), np.finfo(float).tiny)

    @property
    def n_steps_(self) -> int:
        """Number of batches learned from."""
        check_is_fitted(self)
        return self._n_steps

    @property
    def _n_steps(self) -> int:
        return self.learner_.n_steps_ if hasattr(self.learner_, "state_") else 0

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(getattr(self, "learner_", None), "state_")

    # -- rebuilding
    #
    #
    #
    #
    #
    # -----------------------------------------------------------------------------------------------

    def reconstruct(
        self, network: Any, *, n_steps: int = 100_000, random_state: Any = 0
    ) -> Reconstruction:
        """Rebuild a network, the one learned from or another: every pair is the mean of what patches propose for it.

        A fresh chain meets ``n_steps`` copies; each patch is coded and decoded, and its entries are
        proposals for the pairs of nodes it covers, all of the same weight (under "all": every copy
        by its law, the limit of endless steps). Memory is that of the pairs that were visited.

        Parameters
        ----------
        network : networkx graph, sparse array, array of shape (n, n), frame or file of edges, or
        Network
        n_steps : int, default=100_000
            Copies; not used under "all".
        random_state : int, Generator, RandomState or None, default=0
            Of the chain.

        Returns
        -------
        Reconstruction
        """
        return self._rebuilt(self._given(network, n_steps), n_steps, random_state)

    def denoise(
        self, network: Any, pairs: Any = "edges", *, n_steps: int = 100_000, random_state: Any = 0
    ) -> Ranking:
        """Rank pairs of nodes by how much the dictionary, from what lies around them, holds them for edges.

        As `reconstruct`, but entries of patches on edges of the motif are not heard: those are
        edges of every copy, true or false, and say nothing. Low edges are likely to be spurious,
        high non-edges to be missing.

        Parameters
        ----------
        network : networkx graph, sparse array, array of shape (n, n), frame or file of edges, or
        Network
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
            Pairs that were not visited score 0.

        References
        ----------
        Lyu, Kureh, Vendrow, Porter (2024), "Learning low-rank latent mesoscale structures in
        networks", for edges of the motif left out.
        """
        if isinstance(pairs, str) and pairs not in {"edges", "non-edges"}:
            raise ValueError(
                f"pairs={pairs!r} is unknown; known are edges, non-edges, or a sequence of pairs."
            )
        network = self._given(network, n_steps)
        if not isinstance(pairs, str):
            network.places(pairs)  # refuses what is none before anything is computed
        bound = self.motif_.adjacency() > 0
        free = ~(bound | bound.T) if network.undirected else ~bound
        if not np.any(free & ~np.eye(len(free), dtype=bool)):
            raise ValueError(
                "The motif joins every two of its nodes: nothing is left to say; take a longer one."
            )
        return Ranking.of(self._rebuilt(network, n_steps, random_state, free), pairs)

    def _given(self, network: Any, n_steps: int) -> Network:
        """Return the network to rebuild, checked."""
        check_is_fitted(self)
        check_count("n_steps", n_steps)
        self.check()
        network = Network.of(network)
        self._check_size(network)
        return network

    def _rebuilt(
        self, network: Network, n_steps: int, random_state: Any, entries: Any = None
    ) -> Reconstruction:
        """Return the means of what patches propose, in all their entries or in some."""
        many = n_steps * self.motif_.size**2 >= 2**32  # proposals, which could all be for one pair
        pairs = EdgeMeans(network.n_nodes, weighted=many or self.chain == "all")
        coder = copy(self.learner_).set_params(alpha=self.alpha)
        told = None
        for states, weights in self._copies(network, n_steps, random_state):
            patches, places = distinct(patches_of(network, states))
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                rebuilt = coder.inverse_transform(coder.transform(patches))
            told = told or next(iter(heard), None)
            pairs.add(states, rebuilt[places], weights, entries)
        if told is not None:  # once, not for each of many blocks
            warnings.warn(told.message, stacklevel=3)
        return Reconstruction(network, *pairs.drain())

    def _copies(
        self, network: Network, n_steps: int, random_state: Any
    ) -> Generator[tuple[NDArray, NDArray | None]]:
        """Yield copies of the motif, with weights where they are no draws of a chain."""
        rows = max(1, ENTRIES // self.motif_.size**2)
        if self.chain == "all":
            states, weights = self._all(network)
            for start in range(0, len(states), rows):
                yield states[start : start + rows], weights[start : start + rows]
            return
        chain, rng = resolve_chain(self.chain)(network, self.motif_), _own_rng(random_state)
        state = chain.init(rng)
        for start in range(0, n_steps, rows):
            states, state = chain.run(rng, state, min(rows, n_steps - start), self.thin)
            yield states, None

    # -- checks
    #
    #
    #
    #
    #
    # ---------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse settings out of range."""
        if self.chain != "all":
            resolve_chain(self.chain)
        for name in ("n_components", "n_batches", "batch_size", "thin"):
            check_count(name, getattr(self, name))
        Motif.of(self.motif)
        learner = OnlineNMF(self.n_components, alpha=self.alpha, schedule=self.schedule)
        check_settings(learner)
        learner._schedule()

    def _check_size(self, network: Network) -> None:
        if self.motif_.size > network.n_nodes:
            raise ValueError(
                f"The motif has {self.motif_.size} nodes, more than the network, which has {network.n_nodes}."
            )


def distinct(patches: NDArray) -> tuple[NDArray, NDArray]:
    """Return the patches that differ, and which of them each patch is.

    Patches of one number are taken for one: the number is their sum with random weights, and
    checked.
    """
    numbers = patches @ np.random.default_rng(0).random(patches.shape[1])
    _, first, places = np.unique(numbers, return_index=True, return_inverse=True)
    if not np.array_equal(patches[first][places], patches):
        found, places = np.unique(patches, axis=0, return_inverse=True)
        return found, places.ravel()
    return patches[first], places


def _own_rng(random_state: Any) -> np.random.Generator:
    """Return a source of randomness of one's own, drawn from the one given."""
    return np.random.default_rng(int(generator(random_state).integers(2**63)))
