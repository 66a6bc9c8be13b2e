"""Dictionaries of the patches of networks whose codes predict the classes of the networks."""

from copy import deepcopy
from dataclasses import KW_ONLY, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, complete_array
from atomstream.base.saved_fields import part
from atomstream.domains.networks import Network
from atomstream.estimators import _parameters
from atomstream.estimators._calls import Transaction
from atomstream.estimators._estimator import estimator, view
from atomstream.estimators._label_tables import RowLabels, checked_labels
from atomstream.estimators._several_networks import networks_of, several
from atomstream.estimators.network import NetworkDictionary
from atomstream.estimators.supervised import SupervisedDictionary
from atomstream.samplers.base import patches_of

HEAD_COPIES = 5000  # of the motif, that `fit` ends with
LABELS = ("weight", "shrinkage", "classes", "class_weight")


@estimator
class SupervisedNetworkDictionary(NetworkDictionary):
    """A dictionary of the patches of many networks whose codes predict classes of the networks.

    Patches along a chain on each network, as of `NetworkDictionary`, have the class of their
    network and teach a `SupervisedDictionary`; every batch mixes the patches of all networks. The
    scores of a network are the means of those of its patches, so that the probabilities of its
    classes are the geometric means of those of its patches, over their sum.

    Parameters
    ----------
    motif : str, Motif, networkx graph or adjacency matrix, default="path:21"
        As in `NetworkDictionary`.
    n_components : int, default=25
        Number of atoms.
    weight : float, default=1.0
        How much the loss of labels counts, as in `SupervisedDictionary`; 0 learns the atoms of
        `NetworkDictionary`.
    shrinkage : float, default=0.001
        Strength of the squared penalty on the coefficients.
    classes : array-like, optional
        All classes, where the first networks do not show them.
    class_weight : dict or "balanced", optional
        What each class counts.
    chain : {"pivot", "glauber", "approximate_pivot"} or class of chains, default="pivot"
        As in `NetworkDictionary`, without "all".
    schedule : str or callable, default="power"
        As in `OnlineNMF`.
    n_batches : int, default=1000
        Batches that `fit` takes; labels teach more slowly than patches.
    batch_size : int, default=250
        Copies per batch, the same number from each network.
    thin : int, default=1
        Moves from one copy to the next.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, k, k)
        The atoms, as of `NetworkDictionary`.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (n_outputs, n_components)
        What a unit of each atom's code adds to the scores; one row for two classes.
    intercept_ : ndarray of shape (n_outputs,)
    learner_ : SupervisedDictionary
        Codes patches of shape (n, k * k) and predicts the class of each one.
    importance_, motif_, position_, n_steps_
        As of `NetworkDictionary`.

    Raises
    ------
    ValueError
        For settings out of range, inputs that are not networks, and labels of another kind or
        number; the model stays as it was.

    References
    ----------
    As of `NetworkDictionary` and of `SupervisedDictionary`.

    Examples
    --------
    >>> import networkx as nx
    >>> from atomstream import SupervisedNetworkDictionary
    >>> rings = [nx.connected_watts_strogatz_graph(60, 6, 0.3, seed=n) for n in range(6)]
    >>> hubs = [nx.barabasi_albert_graph(60, 3, seed=n) for n in range(6)]
    >>> model = SupervisedNetworkDictionary("path:6", 4, n_batches=200, random_state=0)
    >>> model = model.fit(rings[:5] + hubs[:5], ["rings"] * 5 + ["hubs"] * 5)
    >>> model.predict([rings[5], hubs[5]]).tolist()
    ['rings', 'hubs']
    """

    PARAMETERS: ClassVar = _parameters.NETWORK | {n: _parameters.SUPERVISED[n] for n in LABELS}
    LEARNED = (part("learner_", SupervisedDictionary), *NetworkDictionary.LEARNED[1:])
    _LEARNER = SupervisedDictionary

    _: KW_ONLY
    weight: float = 1.0
    shrinkage: float = 1e-3
    classes: ArrayLike | None = None
    class_weight: Any = None
    n_batches: int = 1000
    batch_size: int = 250

    learner_: Any = field(init=False)
    classes_ = view("learner_.classes_", "The classes, sorted.")
    coef_ = view("learner_.coef_", "What a unit of each atom's code adds to the scores.")
    intercept_ = view("learner_.intercept_", "Scores of a code of zeros, (n_outputs,).")

    # -- learning

    def fit(self, network: object, y: Any) -> Self:  # type: ignore[override]
        """Learn from scratch from ``n_batches`` batches of copies in all networks.

        At the end the coefficients are brought to their optimum on the codes of 5,000 more copies.

        Parameters
        ----------
        network : list of networks
            Each as in `NetworkDictionary.fit`.
        y : array-like of shape (n_networks,)
            The class of each network; None, NaN or -1 for none, as in `SupervisedDictionary`.
        """
        with Transaction(self, anew=True):
            self.check()
            self.__dict__.pop("learner_", None)
            networks, known = self._labelled(network, y)
            self._learn(networks, self.n_batches, known)
            if known is not None:  # the head of a stream lags behind the atoms
                n_copies = max(self.batch_size, HEAD_COPIES)
                moves = deepcopy(self._rng), self.position_, n_copies, self.thin
                patches, owners, _ = self._chains(networks).run(*moves)
                self.learner_._finish_head(patches, RowLabels(known[owners]), None)
        return self

    def _labelled(self, network: object, y: Any) -> tuple[list[Network], NDArray | None]:
        networks = networks_of(network)
        return networks, checked_labels(y if y is None or several(network) else [y], len(networks))

    @property
    def _learner_settings(self) -> dict[str, Any]:
        return super()._learner_settings | {name: getattr(self, name) for name in LABELS}

    def check(self) -> None:
        """Refuse settings out of range."""
        super().check()
        if self.chain == "all":
            raise ValueError("chain='all' has no labels; choose 'pivot' or 'glauber'.")

    # -- what is predicted

    def mean_codes(self, network: object, *, n_steps: int = 1000) -> NDArray:
        """Return the mean code of patches of each network, (n_networks, n_components).

        Parameters
        ----------
        network : network or list of networks
        n_steps : int, default=1000
            Copies of the motif in each, along a chain whose seed is always 0.
        """
        means = []
        for one in networks_of(network):
            copies = self._copies(self._validated(one, n_steps), n_steps, 0)
            codes = (self.learner_.transform(patches_of(one, states)) for states, _ in copies)
            means.append(sum(part.sum(axis=0) for part in codes) / n_steps)
        return np.array(means)

    def predict(self, network: object, *, n_steps: int = 1000) -> NDArray:
        """Return the likeliest class of each network, (n_networks,).

        Parameters
        ----------
        network : network or list of networks
        n_steps : int, default=1000
            Copies of the motif in each, whose scores are averaged.
        """
        return self.classes_[self.predict_proba(network, n_steps=n_steps).argmax(axis=1)]

    def predict_proba(self, network: object, *, n_steps: int = 1000) -> NDArray:
        """Return the probabilities of the classes, (n_networks, n_classes).

        They are those of one typical patch, and nearer to each other than the whole network allows.

        Parameters
        ----------
        network : network or list of networks
        n_steps : int, default=1000
            As in `predict`.
        """
        scores = self.learner_._scored(self.mean_codes(network, n_steps=n_steps))
        return self.learner_._loss.mean(scores)

    def score(self, network: object, y: Any, *, n_steps: int = 1000) -> float:
        """Return the share of networks whose class is predicted.

        Parameters
        ----------
        network : list of networks
        y : array-like of shape (n_networks,)
            True classes.
        n_steps : int, default=1000
            As in `predict`.
        """
        return float(np.mean(self.predict(network, n_steps=n_steps) == complete_array(y, "y")))
