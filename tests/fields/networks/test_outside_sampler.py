"""A sampler from outside the package, at work in the model of networks."""

import numpy as np
import pytest

from atomstream import NetworkDictionary
from atomstream.samplers import MotifChain, Network, homomorphisms
from atomstream.testing import check_sampler


class Independent(MotifChain):
    """Copies of a motif drawn from their exact law, each independent of the one before."""

    def __init__(self, network, motif):
        self.network, self.motif = network, motif
        self.copies, weights = homomorphisms(network, motif)
        self.law = weights / weights.sum()

    def init(self, rng, position=None):
        return self.step(rng, None)[0] if position is None else np.asarray(position)

    def step(self, rng, state):
        return self.copies[rng.choice(len(self.copies), p=self.law)], None


def test_a_sampler(room):
    upper = np.triu(np.random.default_rng(0).random((12, 12)) < 0.4, 1)
    network = (upper | upper.T).astype(float)
    ours, twin, exact = (
        NetworkDictionary("path:3", 1, chain=chain, n_batches=40, batch_size=100, random_state=0)
        for chain in (Independent, "pivot", "all")
    )
    chain = Independent(Network.of(network), "path:3")
    patches = chain.patches(chain.copies)
    best = exact.fit(network).learner_.score(patches)
    for model in (ours, twin):
        room.near(model.fit(network).learner_.score(patches), best, rel=0.1)
    with pytest.raises(ValueError, match=r"'chain' .* must be an instance of 'str' or a callable"):
        NetworkDictionary("path:3", 4, chain=3).fit(network)


def test_the_sampler_is_what_it_says():
    triangle = Network.of(np.ones((3, 3)) - np.eye(3))
    chain = Independent(triangle, "path:3")
    check_sampler(chain, law=(chain.copies, chain.law))
