"""Dictionaries of the patches of a network, learned along a chain of copies of a motif."""

import warnings
from collections.abc import Generator
from copy import deepcopy
from itertools import cycle, islice
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import check_count, counted
from atomstream.base.saved_fields import array, part
from atomstream.cluster.rounds import Rounds
from atomstream.estimators._calls import Transaction
from atomstream.estimators._learner_inside import LEARNER, drawn_seed
from atomstream.estimators._validation import check_size
from atomstream.estimators.nmf import OnlineNMF
from atomstream.exceptions import NetworkWarning
from atomstream.fields.networks import Motif, Network
from atomstream.fields.networks.chains.base import patches_of
from atomstream.fields.networks.edge_means import distinct
from atomstream.fields.networks.parameters import NETWORK
from atomstream.fields.networks.rebuilding import (
    ChainShard,
    NetworkReconstruction,
    resolve_chain,
)
from atomstream.fields.networks.several import Chains, networks_of

# Of the pairs that the motif leaves free, from which on atoms are single edges.
MAX_ATOM_SHARE = 1 / 3


class NetworkDictionary(NetworkReconstruction):
    r"""A dictionary of the k x k patches that a network shows on copies of a motif.

    A Markov chain moves a copy of the motif through the network; the adjacency matrix between its
    nodes is a patch; batches of patches along the chain teach an `OnlineNMF`. The atoms are
    adjacency matrices of k nodes: the structures of which every neighbourhood of that shape is a
    sum.

    Parameters
    ----------
    motif : str, Motif, networkx graph or adjacency matrix, default="path:21"
        "path:K", "star:K", "cycle:K" of K nodes, "wedge:DEPTH", or any other
        (`atomstream.fields.networks.motifs`).
    n_components : int, default=25
        Number of atoms. Many fewer than the pairs of nodes that the motif leaves free, or every
        atom shows a single edge.
    chain : {"pivot", "glauber", "approximate_pivot", "all"} or class of chains, default="pivot"
        How copies are found while learning: grown again from a root that walks, for motifs that
        are trees, or one node at a time, for any motif (see `atomstream.samplers`). "all" takes
        every copy once, weighted by its law: for small networks. Anything that makes a
        `atomstream.samplers.MotifChain` from a network and a motif is a class of chains.
    schedule : str or callable, default="power"
        As in `OnlineNMF`.
    n_batches : int, default=100
        Batches that `fit` takes.
    batch_size : int, default=1000
        Copies per batch, the same number from each of several networks; under "all" every batch is
        all copies.
    thin : int, default=1
        Moves from one copy to the next.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes, while learning and reconstructing.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, k, k)
        The atoms; entry (a, b) weighs the edge from node a of the motif to node b.
    importance_ : ndarray of shape (n_components,)
        Share of each atom in the codes, times its length; those of long ago have faded, as in the
        memory.
    learner_ : OnlineNMF
        Codes patches of shape (n, k * k) with the dictionary, and scores them.
    motif_ : Motif
    position_ : ndarray of int64 of shape (k,) or (n_networks * k,)
        Where the chain of each network stands; None under "all".
    n_steps_ : int
        Batches learned from.

    Raises
    ------
    ValueError
        For settings out of range and for inputs that are not networks; the model stays as it was.

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

    ACCEPTS = ("sparse", "string")
    PARAMETERS: ClassVar = NETWORK
    LEARNED = (
        *(LEARNER, part("motif_", Motif), array("position_", "p", np.int64, optional=True)),
        part("_rng", np.random.Generator),
    )
    _LEARNER: ClassVar[type] = OnlineNMF

    # -- learning

    def fit(
        self,
        network: object,
        y: object = None,
        *,
        engine: Any = None,
        slots: int | None = None,
        rounds: Rounds | None = None,
    ) -> Self:
        """Learn from scratch from ``n_batches`` batches of copies.

        Parameters
        ----------
        network : networkx graph, sparse or dense array of shape (n, n), frame, file, or Network
            As in `atomstream.fields.networks.network.Network.of`; or a list of several, each of
            which has its share of every batch.
        y : ignored
        engine : None, str, Executor, dask.distributed.Client or Engine, optional
            Where rounds run, as in `OnlineNMF.fit_stream`.
        slots : int, optional
            Parallel parts of each round. With an engine or slots, every batch is a new chain of its
            own, on the networks in turn.
        rounds : atomstream.cluster.Rounds, optional
            How the rows of batches are dealt to slots.
        """
        with Transaction(self, anew=True):
            self.check()
            self.__dict__.pop("learner_", None)
            networks = networks_of(network)
            if engine is None and slots is None:
                self._learn(networks, self.n_batches)
            else:
                self._learn_in_rounds(networks, engine, slots, rounds)
        return self

    def _learn_in_rounds(
        self, networks: list[Network], engine: Any, slots: int | None, rounds: Rounds | None
    ) -> None:
        """Learn from many chains."""
        from atomstream.cluster.shards import Shards

        if self.chain == "all":
            raise ValueError(
                "chain='all' visits every copy in turn, and slots follow chains of their own; "
                "choose 'pivot' or 'glauber'."
            )
        self._begin()
        self._check_networks(networks)
        seed, known = int(self._rng.integers(2**63)), (self.motif_, self.chain, self.thin)
        owners = enumerate(islice(cycle(networks), self.n_batches))
        chains = [ChainShard(one, *known, (seed, n), self.batch_size) for n, one in owners]
        how = {"engine": engine, "slots": slots, "rounds": rounds}
        self._teach(Shards(chains), None, how=how, **self._learner_settings)

    def partial_fit(self, network: object, y: object = None, *, n_batches: int = 1) -> Self:
        """Learn from more batches; the chain goes on where it stood, or anew if no copy is there.

        Parameters
        ----------
        network : networkx graph, sparse or dense array of shape (n, n), frame, file, or Network
            The same as before, or another one, or a list of several, as in `fit`.
        y : ignored
        n_batches : int, default=1
            Batches of copies.
        """
        with Transaction(self):
            self.check()
            check_count("n_batches", n_batches)
            self._learn(networks_of(network), n_batches)
        return self

    def _learn(self, networks: list[Network], n_batches: int) -> None:
        """Run the chains in front of the learner."""
        if "learner_" not in self.__dict__:
            self._begin()
        elif self.motif_ != Motif.of(self.motif):
            raise ValueError(
                f"motif={self.motif!r} is not the motif that was learned; call fit to start over."
            )
        check_size(self, self.learner_.n_components)
        self._check_networks(networks)
        batches = self._every if self.chain == "all" else self._along
        self._teach(batches(networks, n_batches), n_batches, **self._learner_settings)

    @property
    def _learner_settings(self) -> dict[str, Any]:
        """Parameters that the learner has, too, and that may change between calls."""
        return {"alpha": self.alpha, "schedule": self.schedule}

    def _check_networks(self, networks: list[Network]) -> None:
        for network in networks:
            self._check_size(network)
        if self.chain == "all" and len(networks) > 1:
            raise ValueError("chain='all' takes one network; choose 'pivot' or 'glauber'.")
        if self.batch_size < len(networks):
            raise ValueError(
                f"batch_size={self.batch_size} leaves some of {len(networks)} networks without a "
                "copy in a batch; take at least as many."
            )
        if not self._n_steps:
            self._warn_of_many_atoms(networks[0])

    def _warn_of_many_atoms(self, network: Network) -> None:
        free, n_atoms = self.motif_.n_free_pairs(directed=network.directed), self.n_components
        if n_atoms > MAX_ATOM_SHARE * free:
            enough = (
                f", or at most {counted(int(MAX_ATOM_SHARE * free), 'atom')}"
                if free >= 1 / MAX_ATOM_SHARE
                else ""
            )
            warnings.warn(
                f"{counted(n_atoms, 'atom')} for a motif of {counted(self.motif_.size, 'node')} "
                f"and {counted(free, 'pair')} of nodes without an edge of the motif: atoms will "
                "show little more than single edges; choose a longer motif, such as "
                f"path:21{enough}.",
                NetworkWarning,
                stacklevel=5,
            )

    def _begin(self) -> None:
        self.motif_ = Motif.of(self.motif)
        self._rng = np.random.default_rng(drawn_seed(self.random_state))
        seed = int(self._rng.integers(2**63))
        self.learner_ = self._LEARNER(self.n_components, random_state=seed)
        self.position_ = None

    def _chains(self, networks: list[Network]) -> Chains:
        return Chains([resolve_chain(self.chain)(one, self.motif_) for one in networks])

    def _along(self, networks: list[Network], n_batches: int) -> Generator[NDArray]:
        """Yield batches along the chains; their places are kept once the learner has learned."""
        chains = self._chains(networks)
        if not chains.stand_at(self.position_):
            # Drawn from a copy: if no start is found, the model is as it was.
            rng = deepcopy(self._rng)
            self.position_, self._rng = chains.init(rng), rng
        for _ in range(n_batches):
            rng, n_steps = deepcopy(self._rng), self._n_steps
            patches, position = chains.run(rng, self.position_, self.batch_size, self.thin)
            try:
                yield patches
            finally:
                # Only once the batch was learned: a step that failed is made from the same place
                # again.
                if self._n_steps > n_steps:
                    self._rng, self.position_ = rng, position

    def _every(self, networks: list[Network], n_batches: int) -> Generator[tuple[NDArray, NDArray]]:
        """Yield all patches that differ, weighted by their law, again and again."""
        (network,) = networks
        states, weights = self._all(network)
        patches, places = distinct(patches_of(network, states))
        weights = np.bincount(places, weights)
        for _ in range(n_batches):
            yield patches, weights

    # -- what was learned

    @property
    def _atom_shape(self) -> tuple[int, ...]:
        return self.motif_.size, self.motif_.size

    # -- checks

    def check(self) -> None:
        """Refuse settings out of range."""
        super().check()
        if self.chain != "all":
            resolve_chain(self.chain)
        Motif.of(self.motif)

    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters as they are written to a file: a graph as the motif that it is."""
        known = super().saved_parameters()
        graph = hasattr(self.motif, "nodes")
        return known | ({"motif": Motif.of(self.motif)} if graph else {})

    def _sizes(self) -> dict[str, int]:
        return {"k": self.motif_.size, "r": self.learner_.n_components}

    def _validate_learned(self) -> None:
        super()._validate_learned()
        size = self.motif_.size
        n_features = getattr(self.learner_, "n_features_in_", size**2)
        if n_features != size**2:
            raise ValueError(f"patches of {n_features} entries for a motif of {size} nodes")
