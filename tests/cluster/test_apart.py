"""What learns or samples apart, a task each: ranks of a consensus, chains on a network."""

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from strange import Bad, Drawn, Fickle, planted
from test_laws_of_rounds import bits, drawn

from atomstream import BadShardError, ConsensusNMF, NetworkDictionary, choose_rank
from atomstream.cluster import Rounds, Shards, sample_chains
from atomstream.fields.networks.motifs import Motif
from atomstream.fields.networks.network import Network
from atomstream.fields.networks.rebuilding import ChainShard
from atomstream.samplers import IsingGibbs, MotifGlauber, MotifPivot, RandomWalk


@pytest.mark.parametrize("engine", [None, "threads:2", Fickle(5)])
def test_ranks_of_a_consensus_learn_apart_what_they_learn_together(engine):
    listed = drawn(2)
    model = ConsensusNMF([2, 3, 4], n_replicates=4, batch_size=100, random_state=0)
    there = clone(model).fit_stream(listed, engine=engine)
    X = np.concatenate([*listed[0].read(0, 300), *listed[1].read(0, 300)])
    here = clone(model).fit_stream(np.split(X, 6))
    assert there.n_components_ == here.n_components_
    assert np.array_equal(there.components_, here.components_)
    assert there.choice_.table == here.choice_.table
    rank = choose_rank(listed, [2, 3, 4], n_seeds=4, random_state=0, engine=engine).rank
    assert rank == 3
    more = there.fit_stream(Shards([Drawn(7)]), engine=engine)
    here.fit_stream(np.split(planted(300, 7), 3))
    assert np.array_equal(more.components_, here.components_)


def test_a_consensus_that_fails_is_as_it_was():
    model = ConsensusNMF([2, 3], n_replicates=3, batch_size=100, random_state=0)
    with pytest.raises(BadShardError, match=r"drawn\[9\]"):
        model.fit_stream(Shards([*drawn(2), Bad(9)]))
    assert not hasattr(model, "ensemble_")
    with pytest.raises(TypeError, match="engine is for shards"):
        model.fit_stream([planted(50)], engine="threads")


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
