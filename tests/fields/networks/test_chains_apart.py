"""Chains on a network run apart, a task each."""

import networkx as nx
import numpy as np
import pytest
from hanging import in_time
from rounds import bits
from sklearn.base import clone
from strange import Fickle, Forgetful

from atomstream import EngineError, NetworkDictionary
from atomstream.cluster import Rounds, gathering, sample_chains
from atomstream.fields.networks.motifs import Motif
from atomstream.fields.networks.network import Network
from atomstream.fields.networks.rebuilding import ChainShard
from atomstream.samplers import IsingGibbs, MotifGlauber, MotifPivot, RandomWalk


def test_chains_on_a_network_are_slots(room):
    graph = nx.karate_club_graph()
    model = NetworkDictionary("path:4", 2, n_batches=40, batch_size=100, random_state=0)
    rounds = Rounds(warmup=400, first=100, batch=50)
    here = clone(model).fit(graph, slots=3, rounds=rounds)
    there = clone(model).fit(graph, slots=3, rounds=rounds, engine=Fickle(2))
    assert bits(there) == bits(here)
    assert here.learner_.n_samples_seen_ == 4000
    serial = clone(model).fit(graph)
    patches = np.concatenate([*chain_of(graph).read(0, 2000)])
    room.ratio(here.learner_.score(patches) / serial.learner_.score(patches), at_most=1.05)
    assert here.importance_.sum() == pytest.approx(1)
    assert here.partial_fit(graph).learner_.n_samples_seen_ == 4100
    with pytest.raises(ValueError, match="chain='all' visits every copy"):
        model.set_params(chain="all").fit(graph, slots=2)


def chain_of(graph):
    """Return a long chain with a seed of its own."""
    return ChainShard(Network.of(graph), Motif.of("path:4"), "pivot", 1, (5, 0), 2000)


@pytest.mark.parametrize("sampler", ["ising", "pivot", "glauber", "walk"])
def test_chains_of_a_sampler_are_the_same_wherever_they_run(sampler):
    network, motif = Network.of(nx.karate_club_graph()), Motif.of("path:4")
    chain = {
        "ising": lambda: IsingGibbs((3, 3), 2.5),
        "pivot": lambda: MotifPivot(network, motif),
        "glauber": lambda: MotifGlauber(network, motif),
        "walk": lambda: RandomWalk(network),
    }[sampler]()
    options = {"thin": 2, "burn_in": 10, "random_state": 3}
    here = sample_chains(chain, 3, 20, **options)
    for engine in ("threads:2", Fickle(2)):
        np.testing.assert_array_equal(sample_chains(chain, 3, 20, engine=engine, **options), here)
    assert not np.array_equal(here[0], here[1])
    # The oracle: a chain begun by hand, its first ten steps dropped.
    root = int(np.random.default_rng(3).integers(2**63))
    rng = np.random.default_rng([root, 1])
    _, state = chain.run(rng, chain.init(rng), 1, 10)
    np.testing.assert_array_equal(chain.run(rng, state, 20, 2)[0], here[1])
    with pytest.raises(ValueError, match="n_chains must be a whole number"):
        sample_chains(chain, 0, 20)


def test_every_wait_for_chains_has_a_limit(monkeypatch):
    monkeypatch.setattr(gathering, "JOB_LIMIT", 0.05)
    words = r"No result came for 0.05 seconds, twice; .* set a longer round_timeout"
    with pytest.raises(EngineError, match=words):
        in_time(lambda: sample_chains(IsingGibbs((2, 2), 1.0), 1, 1, engine=Forgetful(10**9)))
