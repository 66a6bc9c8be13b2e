"""NetworkDictionary against dense arithmetic, all copies enumerated, and the laws."""

import copy
import gzip
import pickle
import tracemalloc
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import atomstream
from atomstream import NetworkDictionary, NetworkWarning
from atomstream.fields.networks import edge_means, links, motifs
from atomstream.fields.networks.edge_means import EdgeMeans, _Table, distinct
from atomstream.fields.networks.network import Network
from atomstream.fields.networks.reconstruction import Shrinkage
from atomstream.fields.networks.verdicts import far_from_network
from atomstream.samplers import MotifGlauber, MotifPivot, homomorphisms


def torus(n):
    return nx.grid_2d_graph(n, n, periodic=True)


def small(seed=0, n=9):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    return weights + weights.T


def learned(network, motif="path:3", **settings):
    settings = {
        "n_components": 4,
        "n_batches": 6,
        "batch_size": 200,
        "chain": "glauber",
        "random_state": 0,
    } | settings
    return NetworkDictionary(motif, **settings).fit(network)


def own_rng(seed):
    return np.random.default_rng(int(np.random.default_rng(seed).integers(2**63)))


# -- pairs
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0, 2**24])
@pytest.mark.parametrize("n_nodes", [5, 64, 1000])
def test_pair_means_are_those_of_a_dense_table(n_nodes, most, monkeypatch):
    monkeypatch.setattr(edge_means, "MAX_PLACES", most)
    rng = np.random.default_rng(0)
    pairs, total, weight = (
        EdgeMeans(n_nodes, weighted=True),
        np.zeros((n_nodes, n_nodes)),
        np.zeros((n_nodes, n_nodes)),
    )
    for _ in range(20):
        states = rng.integers(0, n_nodes, (300, 4))
        patches, weights = rng.random((300, 16)), rng.random(300)
        pairs.add(states, patches, weights)
        rows, columns = np.repeat(states, 4, axis=1), np.tile(states, 4)
        np.add.at(total, (rows, columns), patches * weights[:, None])
        np.add.at(weight, (rows, columns), weights[:, None])
    means, weights = pairs.drain()
    assert_array_equal((weights != 0).toarray(), weight > 0)
    assert_allclose(weights.toarray(), weight, rtol=1e-12)
    assert_allclose(means.toarray(), total / np.where(weight > 0, weight, 1), rtol=1e-12)


def test_pair_means_take_memory_of_what_was_met():
    pairs, n_nodes = EdgeMeans(1_000_000), 1_000_000
    states = np.random.default_rng(0).integers(0, n_nodes, (1000, 3))
    pairs.add(states, np.ones((1000, 9)))
    means, weights = pairs.drain()
    assert means.nnz == len({(u, v) for state in states for u in state for v in state})
    assert weights.sum() == 9000
    assert weights.dtype == np.uint32


def test_distinct_patches_are_told_apart_even_where_their_numbers_are_one(monkeypatch):
    rng = np.random.default_rng(0)
    patches = rng.integers(0, 2, (500, 9)).astype(float)
    for _ in range(2):
        found, places = distinct(patches)
        assert_array_equal(found[places], patches)
        assert len(found) == len(np.unique(patches, axis=0))
        monkeypatch.setattr(
            np.random, "default_rng", lambda _: type("Zeros", (), {"random": np.zeros})
        )


@pytest.mark.slow
def test_counts_do_not_wrap_and_many_nodes_cost_nothing():
    pairs = EdgeMeans(5_000_000)
    states = np.array([[0, 4_999_999], [17, 4_999_999]])
    pairs.add(states, np.arange(8.0).reshape(2, 4))
    means, _ = pairs.drain()
    assert means.nnz == 7
    assert means[4_999_999, 4_999_999] == (3 + 7) / 2
    table = _Table(64, np.float64)
    table.add(np.array([5], np.uint32), np.array([1.0]), np.array([2.0**33]))
    table.add(np.array([5], np.uint32), np.array([4.0]), np.array([2.0**32]))
    assert_allclose(table.drain()[1], 2)


# -- learning
# --------------------------------------------------------------------------------------------------


def test_the_torus_has_one_atom_and_is_rebuilt_perfectly():
    # Example 7.1: all 16 n^2 copies of the wedge have one patch.
    graph = torus(6)
    states, weights = homomorphisms(graph, motifs.wedge(1))
    assert len(states) == 16 * 36
    assert_array_equal(weights, 1)
    model = learned(graph, "wedge:1", n_components=9, chain="all")
    assert model.importance_.max() == pytest.approx(1, abs=1e-9)
    best = model.components_[np.argmax(model.importance_)]
    assert_allclose(best / best.max(), [[0, 1, 1], [1, 0, 0], [1, 0, 0]], atol=1e-9)
    rebuilt = model.reconstruct(graph)
    assert rebuilt.coverage == 1
    assert_allclose(rebuilt.matrix.toarray(), nx.to_numpy_array(graph), atol=1e-8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The network is bipartite")
def test_on_the_torus_one_atom_is_left_at_the_end_of_a_run():
    model = learned(torus(10), "wedge:1", n_components=9, n_batches=20)
    assert model.importance_.max() == pytest.approx(1, abs=1e-6)
    assert_allclose(model.importance_.sum(), 1)


@pytest.mark.slow
def test_atoms_are_those_of_online_nmf_on_the_patches_along_the_chain():
    matrix = small()
    model = learned(matrix, alpha=0.05)
    rng = own_rng(0)
    learner = atomstream.OnlineNMF(4, alpha=0.05, random_state=int(rng.integers(2**63)))
    chain = MotifGlauber(matrix, motifs.path(3))
    state = chain.init(rng)
    for _ in range(6):
        states, state = chain.run(rng, state, 200)
        learner.partial_fit(matrix[states[:, :, None], states[:, None, :]].reshape(200, 9))
    assert_array_equal(model.components_, learner.components_.reshape(4, 3, 3))
    assert_array_equal(model.importance_, learner.importance_)


@pytest.mark.slow
@pytest.mark.parametrize("chain", ["glauber", "pivot", "approximate_pivot", "all"])
def test_the_seed_decides_all(chain):
    one, two = (learned(small(), chain=chain) for _ in range(2))
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(
        one.reconstruct(small(), n_steps=300).matrix.data,
        two.reconstruct(small(), n_steps=300).matrix.data,
    )
    other = learned(small(), chain=chain, random_state=1)
    assert not np.array_equal(one.components_, other.components_)


def test_batches_may_come_one_by_one():
    whole = learned(small())
    part = NetworkDictionary("path:3", 4, chain="glauber", batch_size=200, random_state=0)
    for n_batches in (1, 3, 2):
        part.partial_fit(small(), n_batches=n_batches)
    assert_array_equal(whole.components_, part.components_)
    assert whole.n_steps_ == part.n_steps_ == 6


def test_learning_goes_on_in_another_network():
    model = learned(small())
    model.partial_fit(
        small(1, n=4), n_batches=3
    )  # where the chain stands there is no copy: a new start
    assert model.n_steps_ == 9
    assert (model.position_ < 4).all()


def test_law_4_save_load_go_on_is_never_stopped(tmp_path):
    never, stopped = (
        NetworkDictionary(motifs.wedge(1), 4, batch_size=100, random_state=0) for _ in range(2)
    )
    never.partial_fit(small(), n_batches=5)
    atomstream.save(stopped.partial_fit(small(), n_batches=2), tmp_path / "model.atoms")
    again = atomstream.load(tmp_path / "model.atoms")
    assert_array_equal(again.components_, stopped.components_)
    again.partial_fit(small(), n_batches=3)
    assert_array_equal(again.components_, never.components_)
    assert_array_equal(again.position_, never.position_)
    assert_array_equal(again.importance_, never.importance_)


def test_law_3_a_call_that_raises_leaves_the_model_as_it_was(monkeypatch):
    model, twin = learned(small()), learned(small())
    with pytest.raises(ValueError, match="no edges"):
        model.fit(np.zeros((4, 4)))
    with pytest.raises(ValueError, match="no edges"):
        model.partial_fit(np.zeros((4, 4)))
    steps, calls, patches = model.learner_.n_steps_, [], MotifGlauber.patches

    def breaks(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return patches(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(MotifGlauber, "patches", breaks)
        with pytest.raises(KeyboardInterrupt):
            model.set_params(alpha=5.0).partial_fit(small(), n_batches=4)
    assert model.learner_.n_steps_ == steps
    assert model.learner_.alpha == 0
    model.set_params(alpha=0.0)
    assert_array_equal(
        model.partial_fit(small()).components_, twin.partial_fit(small()).components_
    )


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
def test_law_4_holds_for_sources_of_randomness(source, tmp_path):
    settings = {"n_batches": 2, "batch_size": 50}
    atomstream.save(
        NetworkDictionary("path:3", 4, random_state=source(0), **settings), tmp_path / "model.atoms"
    )
    again = atomstream.load(tmp_path / "model.atoms")
    straight = NetworkDictionary("path:3", 4, random_state=source(0), **settings)
    with pytest.raises(ValueError, match="no edges"):
        again.fit(np.zeros((4, 4)))
    for _ in range(2):  # the second fit draws on
        assert_array_equal(again.fit(small()).components_, straight.fit(small()).components_)
    first = straight.components_
    assert not np.array_equal(straight.fit(small()).components_, first)


def test_what_long_gone_atoms_were_used_for_fades():
    model, weights = learned(small(), n_batches=1), [1.0]
    used = [model.learner_.state_.usage.newest]
    for _ in range(11):
        learner = model.partial_fit(small()).learner_
        used.append(learner.state_.usage.newest)
        weights = [w * (1 - learner.clock_.weight) for w in weights] + [learner.clock_.weight]
    expected = np.array(weights) @ used  # batches of one size
    assert_allclose(model.importance_, expected / expected.sum())
    assert max(weights[:6]) < 0.01


@pytest.mark.slow
def test_all_copies_are_batches_that_can_be_told_apart(monkeypatch):
    one, other = small(), small(1)
    model = NetworkDictionary("path:3", 4, chain="all", n_batches=5, random_state=0).fit(one)
    assert model.n_steps_ == 5
    both = (
        NetworkDictionary("path:3", 4, chain="all", random_state=0)
        .partial_fit(one)
        .partial_fit(other)
    )
    alone = NetworkDictionary("path:3", 4, chain="all", random_state=0).partial_fit(other)
    assert both.n_steps_ == 2
    assert np.abs(both.components_ - alone.components_).max() > 0.01
    tiny, large = (
        NetworkDictionary("path:5", 4, chain="all", n_batches=2, random_state=0) for _ in range(2)
    )
    factor, few = 2.0**-30, small(n=7)
    assert_allclose(
        tiny.fit(few * factor).importance_, large.fit(few / factor).importance_, rtol=1e-6
    )
    with pytest.warns(UserWarning, match="accuracy is lost"):
        tiny.fit(few * 1e-100)
    assert np.isfinite(tiny.components_).all()  # fifth powers of these would be nothing
    monkeypatch.setattr("atomstream.fields.networks.chains.glauber.MAX_MAPS", 20**4)
    with pytest.raises(ValueError, match="too many copies"):
        NetworkDictionary("path:9", 4, chain="all").fit(nx.complete_graph(20))


def test_copies_and_callbacks_go_their_own_ways():
    model, seen = learned(small()), []
    twin = copy.copy(model)
    twin.partial_fit(small())
    assert (model.n_steps_, twin.n_steps_) == (6, 7)
    model.set_callbacks(type("Hears", (atomstream.watch.callbacks.History,), {})())
    model.partial_fit(small())
    assert not getattr(model.learner_, "_skl_callbacks", [])
    assert not seen
    pickle.loads(pickle.dumps(model.set_callbacks()))


def test_positions_from_a_file_that_are_nowhere_are_left(tmp_path):
    for position in ([-1, 0, 1], [0, 10**9, 1], [2**62, 0, 0]):
        model = learned(small())
        model.position_ = np.array(position)
        atomstream.save(model, tmp_path / "model.atoms")
        again = atomstream.load(tmp_path / "model.atoms").partial_fit(small())
        assert again.position_.max() < 9


def test_a_root_that_has_only_itself_stays():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="components"):
        chain = MotifPivot(nx.Graph([(9, 9), (0, 1), (1, 2), (2, 0)]), motifs.path(3))
    states, _ = chain.run(rng, np.array([0, 0, 0]), 50)
    assert not states.any()
    model = NetworkDictionary("path:3", 2, n_batches=2, random_state=0)
    with pytest.warns(UserWarning, match="components"):
        rebuilt = model.fit(np.eye(3)).reconstruct(np.eye(3), n_steps=100)
    assert_allclose(rebuilt.error, rebuilt.unvisited_norm)  # the two loops where the chain is not
    assert_allclose(rebuilt.coverage, 1 / 3)


def test_callbacks_see_every_batch():
    history = atomstream.watch.callbacks.History()
    model = NetworkDictionary(
        "path:3", 4, n_batches=5, batch_size=50, random_state=0
    ).set_callbacks(history)
    model.fit(small())
    assert history.n_samples == [50, 100, 150, 200, 250]


def test_edge_files_are_read_as_people_write_them(tmp_path):
    wanted = [("New York", "Boston", 2.0), ("Boston", "a", 1.0)]
    lines = {
        "plain.csv": '"New York","Boston",2\nBoston,a\n',
        "header.csv": "\ufeffsource,target,weight\r\nNew York,Boston,2\r\nBoston, a ,1\r\n",
        "ours.csv": "tail,head,weight\nNew York,Boston,2.0\nBoston,a,1.0\n",
    }
    for name, text in lines.items():
        (tmp_path / name).write_bytes(text.encode())
        network = Network.of(tmp_path / name)
        assert list(network.labels) == ["New York", "Boston", "a"], name
        for tail, head, weight in wanted:
            rows, columns = network.places([(tail, head)])
            assert network.out[rows[0], columns[0]] == network.out[columns[0], rows[0]] == weight
    frame = pd.DataFrame(
        {"w": [1, 2], "source": [2**53, 1], "target": [2**53 + 1, 2**53], "weight": [0.5, 3]}
    )
    assert list(Network.of(frame).labels) == [2**53, 2**53 + 1, 1]
    for text, told in [
        ("a,b\na,,b\n", "line 2"),
        ("a b\na b x\n", "line 2.*'x'"),
        ("a b nan\n", "line 1.*'nan'"),
        ("a b -1\n", "line 1.*'-1'"),
    ]:
        (tmp_path / "bad.txt").write_text(text)
        with pytest.raises(ValueError, match=told):
            Network.of(tmp_path / "bad.txt")
    (tmp_path / "torn.txt.gz").write_bytes(gzip.compress(b"a b\n" * 1000)[:-12])
    with pytest.raises(ValueError, match="torn"):
        Network.of(tmp_path / "torn.txt.gz")
    (tmp_path / "empty.gml").write_text("graph [ ]")
    with pytest.raises(ValueError, match="no edges"):
        Network.of(tmp_path / "empty.gml")
    with pytest.raises(ValueError, match="labels"):
        Network.of(small(), labels=["a"])


# -- reconstruction
# --------------------------------------------------------------------------------------------------


def limit(model, matrix, node_weights=None):
    """The mean over all copies, by their law, of what they propose for each pair."""
    states, weights = homomorphisms(matrix, motifs.path(3), node_weights)
    total, weight = np.zeros(matrix.shape), np.zeros(matrix.shape)
    for state, chance in zip(states, weights / weights.sum(), strict=True):
        patch = matrix[np.ix_(state, state)].reshape(1, -1)
        rebuilt = model.learner_.inverse_transform(model.learner_.transform(patch)).reshape(3, 3)
        for a in range(3):
            for b in range(3):
                total[state[a], state[b]] += chance * rebuilt[a, b]
                weight[state[a], state[b]] += chance
    return total / np.where(weight > 0, weight, 1), weight


def test_all_copies_give_the_limit_of_endless_reconstruction():
    matrix = small()
    model = learned(matrix, alpha=0.02)
    exact, weight = limit(model, matrix)
    rebuilt = model.set_params(chain="all").reconstruct(matrix)
    assert_allclose(rebuilt.matrix.toarray(), exact, atol=1e-9)
    assert_allclose(
        rebuilt.counts.toarray() / rebuilt.counts.sum(), weight / weight.sum(), rtol=1e-9
    )


@pytest.mark.parametrize("chain", ["glauber", "pivot"])
def test_reconstruction_tends_to_its_limit(chain, room):
    matrix = small()
    model = learned(matrix, alpha=0.02, chain=chain)
    exact, _ = limit(model, matrix)
    errors = [
        np.abs(model.reconstruct(matrix, chain=chain, n_steps=n).matrix.toarray() - exact).mean()
        for n in (1_000, 100_000)
    ]
    room.error(
        errors[1], at_most=0.004
    )  # values are of size 0.5; seen 0.0012 (glauber), 0.0009 (pivot)
    room.error(errors[1], at_most=errors[0] / 3)  # like n^-1/2


def test_every_proposal_counts_the_same_repeated_pairs_too():
    matrix = small()
    model = learned(matrix)
    rebuilt = model.reconstruct(matrix, n_steps=500)
    rng = own_rng(0)
    chain = MotifGlauber(matrix, motifs.path(3))
    states, _ = chain.run(rng, chain.init(rng), 500)
    patches = model.learner_.inverse_transform(
        model.learner_.transform(chain.patches(states))
    ).reshape(-1, 3, 3)
    mean, count = np.zeros(matrix.shape), np.zeros(matrix.shape)
    for state, patch in zip(states, patches, strict=True):
        for a in range(3):
            for b in range(3):  # the running mean of the paper
                pair = state[a], state[b]
                count[pair] += 1
                mean[pair] += (patch[a, b] - mean[pair]) / count[pair]
    assert_allclose(rebuilt.matrix.toarray(), mean, atol=1e-10)
    assert_array_equal(rebuilt.counts.toarray(), count)
    assert rebuilt.coverage == (count[matrix > 0] > 0).mean()
    assert_allclose(rebuilt.unvisited_norm, np.linalg.norm(matrix[count == 0]))
    assert_allclose(rebuilt.error, np.linalg.norm(matrix - mean))


def hubs(seed, n_nodes=500):
    return nx.barabasi_albert_graph(n_nodes, 3, seed=seed)


def relative(rebuilt):
    return rebuilt.error / np.linalg.norm(rebuilt.network.out.data)


@pytest.mark.filterwarnings("ignore::atomstream.NetworkWarning")  # of few steps and batches
def test_a_network_is_reconstructed_along_the_chain_that_covers_it():
    graph = hubs(0, 100)
    model = learned(graph, "path:9", n_components=9, chain="pivot")
    how = {"n_steps": 2000, "random_state": 0}
    default, approximate, exact = (
        model.reconstruct(graph, **how, **given).matrix
        for given in ({}, {"chain": "approximate_pivot"}, {"chain": "pivot"})
    )
    assert (default != approximate).nnz == 0
    assert (default != exact).nnz > 0
    model.set_params(chain="glauber")
    assert (
        model.reconstruct(graph, **how).matrix
        != model.reconstruct(graph, chain="glauber", **how).matrix
    ).nnz == 0
    with pytest.raises(ValueError, match="chain='grow' is unknown"):
        model.reconstruct(graph, chain="grow")


@pytest.mark.parametrize("seed", [0, 1])
def test_a_reconstruction_worse_than_no_network_is_told_and_is_not_the_default(seed, room):
    graph = hubs(seed)
    model = NetworkDictionary(n_batches=60, random_state=0).fit(graph)
    room.error(relative(model.reconstruct(graph, n_steps=60_000)), at_most=1.3)
    told = r"^The reconstruction is off by 1\.[12]\d of the norm .* 1; learn along chain='approx"
    with pytest.warns(NetworkWarning, match=told):
        exact = model.reconstruct(graph, chain="pivot", n_steps=60_000)
    assert relative(exact) > 1
    model = NetworkDictionary(n_batches=60, chain="approximate_pivot", random_state=0).fit(graph)
    room.error(relative(model.reconstruct(graph, n_steps=60_000)), at_most=0.9)


def test_heavy_weights_and_few_steps_are_told_apart():
    graph, rng = hubs(1, 200), np.random.default_rng(0)
    model = learned(graph, "path:9", n_components=9, chain="pivot")
    told = r"off by (0\.9|1\.0)\d .*is on edges that no copy visited, so take more steps"
    with pytest.warns(NetworkWarning, match=told):
        model.reconstruct(graph, n_steps=2)
    for u, v in graph.edges:
        graph[u][v]["weight"] = rng.pareto(1.0) + 0.1
    with pytest.warns(NetworkWarning, match=r"off by \d+\.\d\d .*take logarithms of weights"):
        NetworkDictionary("path:9", 9, n_batches=30, random_state=0).fit(graph).reconstruct(graph)


def test_only_what_is_hardly_a_reconstruction_is_told():
    assert far_from_network(0.9, 0.9) is None
    assert "take more steps" in far_from_network(0.95, 0.9)
    assert "approximate_pivot" in far_from_network(0.95, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = nx.planted_partition_graph(3, 20, 0.5, 0.05, seed=0)
        model = learned(graph, "path:5", n_components=2, chain="pivot")
        assert relative(model.reconstruct(graph, n_steps=5000)) < 0.9


def test_a_dictionary_moves_to_another_network_and_labels_stay():
    model = learned(nx.karate_club_graph(), n_components=8)
    other = nx.relabel_nodes(nx.les_miserables_graph(), str)
    rebuilt = model.reconstruct(other, n_steps=5000)
    graph = rebuilt.to_networkx()
    assert set(graph.nodes) == set(other.nodes)
    assert not graph.is_directed()
    u, v = next(edge for edge in other.edges if rebuilt.visited([edge])[0])
    place = {label: i for i, label in enumerate(rebuilt.network.labels)}
    i, j = place[u], place[v]
    pooled = (rebuilt.matrix * rebuilt.counts).toarray()
    expected = (pooled[i, j] + pooled[j, i]) / (rebuilt.counts[i, j] + rebuilt.counts[j, i])
    assert_allclose(rebuilt.weight(u, v), expected)
    assert_allclose(graph[u][v]["weight"], expected)


def test_attributes_of_nodes_stay_with_what_is_made_of_a_network():
    graph = nx.karate_club_graph()
    rebuilt = learned(graph, n_components=4).reconstruct(graph, n_steps=100).to_networkx()
    for made in (rebuilt, links.hide(graph, random_state=0).network.to_networkx()):
        assert dict(made.nodes(data=True)) == dict(graph.nodes(data=True))


def test_directed_networks_keep_their_directions():
    graph = nx.gnp_random_graph(30, 0.2, seed=0, directed=True)
    rebuilt = learned(graph, n_components=8).reconstruct(graph, n_steps=3000)
    assert rebuilt.to_networkx().is_directed()
    u, v = next(iter(graph.edges))
    assert rebuilt.weight(u, v) == rebuilt.matrix[u, v]
    both_ways = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)])
    model = learned(both_ways, "path:2", n_components=2)
    assert model.reconstruct(both_ways, n_steps=50).to_networkx().is_directed()
    assert model.denoise(both_ways, n_steps=50).coverage == 1  # the way back is free to be or not


def test_what_was_not_visited_is_zero_and_counted():
    graph = nx.path_graph(200)
    with pytest.warns(UserWarning, match="bipartite"):
        model = learned(graph)
    told = pytest.warns(NetworkWarning, match="no copy visited, so take more steps")
    with pytest.warns(UserWarning, match="bipartite"), told:
        rebuilt = model.reconstruct(graph, n_steps=50)
    visited = rebuilt.counts.toarray() > 0
    assert 0 < rebuilt.coverage < 1
    assert (rebuilt.matrix.toarray()[~visited] == 0).all()
    far = next(u for u in range(199) if not visited[u, u + 1] and not visited[u + 1, u])
    assert rebuilt.weight(far, far + 1) == 0


# -- denoising
# --------------------------------------------------------------------------------------------------


def test_scores_are_means_of_what_is_not_an_edge_of_the_motif():
    matrix = small() + np.diag(np.arange(9) % 2.0)  # proposals for loops must not count
    model = learned(matrix)
    ranking = model.denoise(matrix, [(u, v) for u in range(9) for v in range(u)], n_steps=400)
    rng = own_rng(0)
    chain = MotifGlauber(matrix, motifs.path(3))
    states, _ = chain.run(rng, chain.init(rng), 400)
    patches = model.learner_.inverse_transform(
        model.learner_.transform(chain.patches(states))
    ).reshape(-1, 3, 3)
    assert 0 < ranking.coverage < 1
    proposals = {}
    for state, patch in zip(states, patches, strict=True):
        if state[0] != state[2]:
            proposals.setdefault(frozenset((state[0], state[2])), []).append(patch[0, 2])
    groups = [np.array(group) for group in proposals.values()]
    law = Shrinkage.of(
        np.array([group.mean() for group in groups]),
        np.array([float(len(group)) for group in groups]),
        sum((group**2).sum() for group in groups),
    )
    for name in ("base", "strength", "scale"):
        assert_allclose(getattr(ranking.shrinkage, name), getattr(law, name), rtol=1e-6)
    for (u, v), score, visits in zip(ranking.pairs, ranking.scores, ranking.visits, strict=True):
        heard = [
            patch[a, b]
            for state, patch in zip(states, patches, strict=True)
            for a, b in [(0, 2), (2, 0), (0, 0), (1, 1), (2, 2)]
            if {state[a], state[b]} == {u, v}
        ]
        n_visits = len(heard) / 2  # a visit proposes both directions
        drawn = (n_visits * np.mean(heard or [0]) + law.strength * law.base) / max(
            n_visits + law.strength, 1e-300
        )
        assert_allclose(score, drawn if heard else np.nan)
        assert n_visits == visits


@pytest.mark.parametrize("undirected", [True, False])
def test_edges_come_lowest_first_and_non_edges_highest_first(undirected):
    graph = (
        nx.karate_club_graph()
        if undirected
        else nx.gnp_random_graph(30, 0.2, seed=0, directed=True)
    )
    graph = nx.relabel_nodes(graph, "n{}".format)
    model = learned(graph, "path:5", n_components=8, chain="pivot")
    edges, others = (model.denoise(graph, pairs, n_steps=2000) for pairs in ("edges", "non-edges"))
    assert len(edges.pairs) == graph.number_of_edges()
    assert all(graph.has_edge(*pair) for pair in edges.pairs)
    n_known = edges.visited.sum()
    assert (np.diff(edges.scores[:n_known]) >= 0).all()
    assert np.isnan(edges.scores[n_known:]).all()  # unknown ones come last
    assert not any(graph.has_edge(*pair) or pair[0] == pair[1] for pair in others.pairs)
    assert others.visited.all()
    assert (np.diff(others.scores) <= 0).all()
    n_pairs = nx.complement(graph).number_of_edges()
    assert others.n_unlisted == n_pairs - len(others.pairs)
    assert others.coverage == pytest.approx(len(others.pairs) / n_pairs)
    assert len({frozenset(p) if undirected else p for p in others.pairs}) == len(others.pairs)
    some = model.denoise(graph, others.pairs[:7], n_steps=2000)
    assert_array_equal(some.scores, others.scores[:7])
    assert some.coverage == 1


@pytest.mark.slow
@pytest.mark.parametrize(("change", "share"), [(links.hide, 0.2), (links.plant, 0.3)])
def test_planted_edges_score_low_and_hidden_ones_high(change, share, room, seeds):
    areas = []
    for seed in seeds:
        # Two communities: the structure that patches can know.
        graph = nx.planted_partition_graph(2, 40, 0.5, 0.03, seed=seed)
        split = change(graph, share, random_state=seed)
        model = NetworkDictionary("path:9", 16, n_batches=30, random_state=0).fit(split.network)
        scores = model.denoise(split.network, split.pairs, n_steps=20_000).scores
        areas.append(split.auc(scores))
    room.share(np.median(areas), at_least=0.62)


def test_splits_are_what_they_say():
    graph = nx.relabel_nodes(nx.les_miserables_graph(), str)
    weights = Network.of(graph).out
    split = links.hide(graph, 0.3, random_state=0)
    assert nx.is_connected(nx.from_scipy_sparse_array(split.network.out))
    assert (
        split.truth.sum()
        == round(0.3 * graph.number_of_edges())
        == len(split.pairs) - split.truth.sum()
    )
    for pair, true in zip(split.pairs, split.truth, strict=True):
        rows, columns = split.network.places([pair])
        assert split.network.out[rows[0], columns[0]] == 0
        assert graph.has_edge(*pair) == true
    assert split.network.out.nnz + 2 * split.truth.sum() == weights.nnz
    split = links.plant(graph, 0.3, random_state=0)
    assert (
        len(set(map(frozenset, split.pairs)))
        == len(split.pairs)
        == round(1.3 * graph.number_of_edges())
    )
    assert all(
        graph.has_edge(*pair) == true for pair, true in zip(split.pairs, split.truth, strict=True)
    )
    assert split.network.out.nnz == 2 * len(split.pairs)
    assert not np.setdiff1d(split.network.out.data, weights.data).size
    again = links.plant(graph, 0.3, random_state=0)
    assert again.pairs == split.pairs


def test_auc_and_roc():
    split = links.Split(Network.of(small()), [(0, 1)] * 4, np.array([True, False, True, False]))
    assert split.auc([4, 1, 3, 2]) == 1
    assert split.auc([1, 1, 1, 1]) == 0.5
    false, true = split.roc([4, 3, 2, 1])
    assert_array_equal(np.column_stack([false, true])[-1], [1, 1])
    assert (true >= false).all()


def test_neighbour_scores_by_hand():
    graph = nx.Graph([("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d")])
    scores = links.neighbour_scores(graph, [("a", "d"), ("d", "a")])
    assert_allclose(scores["Jaccard"], 1)
    assert_allclose(scores["Adamic-Adar"], 2 / np.log(3))
    assert_allclose(scores["preferential attachment"], 4)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: links.hide(nx.DiGraph([(0, 1), (1, 2)])), "a forest"),
        (lambda: links.plant(nx.DiGraph([(0, 1), (1, 0)]), matched=True), "non-edges"),
        (lambda: links.plant(nx.complete_graph(5)), "non-edges"),
        (lambda: links.hide(nx.complete_graph(5), 1.5), "share"),
        (lambda: learned(small()).denoise(small(), "all"), "known are edges, non-edges"),
        (lambda: learned(small()).denoise(small(), scores="x"), "known are reconstruction, fitted"),
        (lambda: learned(small()).denoise(small(), chain="x"), "known are"),
        (lambda: learned(small()).denoise(small(), [(0, 77)]), "no node 77"),
        (lambda: learned(small()).denoise(small(), [(0, 1, 2)]), "Pairs of nodes"),
        (lambda: learned(small()).denoise(small(), None), "Pairs of nodes"),
        (lambda: links.hide(nx.path_graph(5)), "a forest"),
        (lambda: links.hide(np.eye(3)), "no edges between different nodes"),
        (lambda: links.hide(nx.complete_graph(5), "x"), "share"),
        (lambda: links.neighbour_scores(nx.complete_graph(5), [(0, 0)]), "different nodes"),
        (lambda: learned(small(), "path:2").denoise(small()), "longer"),
    ],
)
def test_links_refuse_with_one_sentence(call, told):
    with pytest.raises(ValueError, match=told):
        call()


@pytest.mark.parametrize("chain", ["pivot", "approximate_pivot"])
def test_intervals_hold_the_limit_and_shrinking_brings_scores_closer_to_it(chain, room):
    graph = nx.planted_partition_graph(3, 20, 0.5, 0.05, seed=0)
    model = NetworkDictionary("path:9", 6, n_batches=20, chain=chain, random_state=0).fit(graph)
    pairs = [(u, v) for u in range(60) for v in range(u)]
    limit = model.denoise(graph, pairs, n_steps=100_000, random_state=1)
    few = model.denoise(graph, pairs, n_steps=1500, random_state=2)
    known = few.visited & (limit.visits > 300)
    wanted = limit.reconstruction.weights(pairs)[known]
    inside = (few.low[known] <= wanted) & (wanted <= few.high[known])
    room.between(inside.mean(), 0.8, 0.97)  # 0.9 is what is said
    raw = few.reconstruction.weights(pairs)[known]
    shrunk = few.scores[known]
    room.fall(np.square(shrunk - wanted).mean(), np.square(raw - wanted).mean(), at_least=0.05)
    assert (few.low[known] < shrunk).all()
    assert (shrunk < few.high[known]).all()


def test_all_copies_leave_nothing_to_shrink():
    matrix = small()
    model = learned(matrix, chain="all")
    ranking = model.denoise(matrix)
    known = ranking.visited
    assert_array_equal(ranking.scores[known], ranking.low[known])
    assert_array_equal(ranking.scores[known], ranking.high[known])
    pairs = np.array(ranking.pairs)[known]
    assert_allclose(ranking.scores[known], ranking.reconstruction.weights(pairs), rtol=1e-12)


def test_unknown_scores_are_ties_in_the_middle():
    split = links.Split(Network.of(small()), [(0, 1)] * 4, np.array([True, False, True, False]))
    assert split.auc([np.nan] * 4) == 0.5
    assert split.auc([3, 1, np.nan, 2]) == split.auc([3, 1, 2, 2])
    assert_array_equal(split.roc([3, 1, np.nan, 2]), split.roc([3, 1, 2, 2]))


def test_many_atoms_on_a_short_motif_are_told_once():
    model = NetworkDictionary("path:5", 3, n_batches=2, batch_size=50, random_state=0)
    told = r"3 atoms for a motif of 5 nodes and 6 pairs .*path:21, or at most 2 atoms"
    with pytest.warns(NetworkWarning, match=told):
        model.fit(small())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(small())
        NetworkDictionary("path:5", 2, n_batches=2, batch_size=50, random_state=0).fit(small())
        directed = Network.of(small(), directed=True)  # 16 ordered pairs are free
        NetworkDictionary("path:5", 5, n_batches=2, batch_size=50, random_state=0).fit(directed)


def test_a_motif_that_is_no_tree_is_told_which_chain_takes_it():
    with pytest.raises(ValueError, match=r"a tree; .* \(chain='glauber'\)"):
        NetworkDictionary("triangle", 1, n_batches=2, random_state=0).fit(small())


def test_one_atom_is_enough_for_a_star():
    with pytest.warns(NetworkWarning, match=r"or at most 1 atom\."):
        NetworkDictionary("star:4", 2, n_batches=2, random_state=0).fit(small())


def test_a_graph_as_motif_is_saved_as_the_motif_that_it_is(tmp_path):
    settings = {"n_batches": 2, "batch_size": 50, "random_state": 0}
    model = NetworkDictionary(nx.path_graph(4), 1, **settings).fit(small())
    atomstream.save(model, tmp_path / "model.atoms")
    again, named = atomstream.load(tmp_path / "model.atoms"), NetworkDictionary("path:4", 1)
    assert again.motif == motifs.path(4)
    named.set_params(**settings).fit(small())
    assert_array_equal(again.components_, named.components_)
    assert_array_equal(
        again.partial_fit(small()).components_, model.partial_fit(small()).components_
    )
    with pytest.raises(ValueError, match="a tree; for others use the Glauber chain"):
        NetworkDictionary(nx.cycle_graph(4), 1).fit(small())


def test_what_was_learned_from_one_direction_knows_that_direction():
    # Two feeds one way through three layers: edges lead on, and skip a layer, but never lead back.
    rng = np.random.default_rng(0)
    layer = np.repeat([0, 1, 2], 10)
    ahead = layer[None, :] - layer[:, None]
    matrix = (rng.random((30, 30)) < 0.6) & (ahead > 0)
    network = Network.of(matrix.astype(float))
    assert network.directed
    model = NetworkDictionary("path:3", 2, n_batches=10, batch_size=200, random_state=0)
    model.fit(network)
    assert (model.components_[:, np.tril_indices(3)[0], np.tril_indices(3)[1]] < 1e-9).all()
    assert model.components_[:, 0, 2].max() > 0.1
    skips = [(u, v) for u in range(10) for v in range(20, 30)]
    forth, back = (
        model.denoise(network, pairs).scores for pairs in (skips, [p[::-1] for p in skips])
    )
    known = ~np.isnan(forth)
    assert known.any()
    assert_allclose(forth[known], matrix[tuple(np.transpose(skips))][known], atol=1e-6)
    assert np.nanmax(back, initial=0) < 1e-6


# -- bad input
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"motif": "path:x"}, "motif='path:x'"),
        ({"motif": "ring:3"}, "cycle, path, star, wedge"),
        ({"motif": "path:20"}, "20 nodes.*9"),
        ({"chain": "gibbs"}, "approximate_pivot, glauber, pivot"),
        ({"n_components": 0}, "n_components"),
        ({"n_batches": 0}, "n_batches"),
        ({"batch_size": 0}, "batch_size"),
        ({"thin": 0}, "thin"),
        ({"alpha": -1}, "alpha|l1"),
    ],
)
def test_bad_settings_get_one_sentence(settings, told):
    with pytest.raises(ValueError, match=told):
        learned(small(), **settings)


def test_bad_networks_get_one_sentence(tmp_path):
    edges = tmp_path / "edges.txt"
    edges.write_text("a b\nb c 1 2 3\n")
    broken = sp.csr_array(small())
    broken.indices[1] = 99_999_999
    for network, told in [
        (broken, "contradicts itself"),
        (None, "got NoneType"),
        ({}, "got dict"),
        (np.ones(3), "must be square"),
        (np.ones((3, 3)) * 1j, "has the type complex128"),
        ([(0, 1), (1, 2), (2, 0)], "must be square"),
        (nx.Graph(), "no edges"),
        (nx.Graph([(0, 1, {"weight": "x"})]), "not numbers"),
        (pd.DataFrame({"a": [1]}), "two columns"),
        (pd.DataFrame(small()), "got 9"),
        (pd.DataFrame({"a": [1, None], "b": [2, 3]}), "Row 1 .*counted from 0. lacks a node"),
        (pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": [2, 3]}), "Row 1 .*lacks a node"),
        (pd.DataFrame({"a": [1], "b": [2], "w": [-1]}), "Row 0 .* -1"),
        (np.zeros((3, 3)), "no edges"),
        (-small(), "not negative"),
        (np.where(small() > 0, np.nan, 0), "finite"),
        (edges, "line 2"),
        (nx.path_graph(9, create_using=nx.DiGraph).subgraph([0, 2, 3]), "No copy|3 nodes"),
    ]:
        with pytest.raises(ValueError, match=told):
            learned(network, "path:3")
    with pytest.raises(ValueError, match="n_steps"):
        learned(small()).reconstruct(small(), n_steps=0)
    with pytest.raises(ValueError, match="'z'"):
        learned(small()).reconstruct(small()).weight("z", 0)


def test_a_model_that_has_not_learned_says_so():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        NetworkDictionary().reconstruct(small())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The network has")
@pytest.mark.filterwarnings("ignore:The reconstruction is off")  # of a few steps
def test_sparse_networks_are_never_dense():
    n = 50_000
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, 150_000))
    matrix = sp.coo_array((np.ones(150_000), ends), (n, n))
    network = Network.of(((matrix + matrix.T) > 0).astype(float))
    model = learned(network, "path:4", n_batches=2)
    tracemalloc.start()
    rebuilt = model.reconstruct(network, n_steps=2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rebuilt.matrix.nnz <= 2000 * 16
    assert peak < 60e6  # a dense table of one byte each has 2.5e9


@pytest.mark.cover(2)
@pytest.mark.parametrize("change", [links.hide, links.plant])
@pytest.mark.parametrize("directed", [False, True])
def test_fitted_scores_are_above_every_heuristic(change, directed, room):
    graph = nx.random_partition_graph([40] * 4, 0.25, 0.01, seed=0, directed=directed)
    gains = []
    for seed in range(2):
        split = change(graph, 0.3, matched=bool(seed), random_state=seed)
        model = NetworkDictionary("path:9", 9, n_batches=10, random_state=0).fit(split.network)
        ranking = model.denoise(split.network, split.pairs, scores="fitted", n_steps=5000)
        known = links.neighbour_scores(split.network, split.pairs)
        known |= links.svd_scores(split.network, split.pairs)
        best = max(split.auc(scores) for scores in known.values())
        gains.append(split.auc(ranking.scores) - best)
        assert split.auc(ranking.scores) >= split.auc(ranking.fit.without) - 0.02
        assert np.isfinite(ranking.fit.gain)
    room.gain(np.mean(gains), at_least=0.01)


def test_fitted_rankings_are_ordered_and_say_what_the_atoms_add():
    graph = nx.karate_club_graph()
    model = NetworkDictionary("path:9", 6, n_batches=5, random_state=0).fit(graph)
    edges = model.denoise(graph, scores="fitted", n_steps=2000)
    assert (np.diff(edges.scores) >= 0).all()
    assert all(graph.has_edge(*pair) for pair in edges.pairs)
    assert repr(edges).startswith("Ranking(78 pairs, 100% visited, gain of the atoms ")
    others = model.denoise(graph, "non-edges", scores="fitted", n_steps=2000)
    assert (np.diff(others.scores) <= 0).all()
    with pytest.raises(ValueError, match="are both"):
        model.denoise(graph, [(0, 1), (0, 9)], scores="fitted")
    again = model.denoise(graph, edges.pairs, scores="fitted", n_steps=2000)
    assert again.pairs == edges.pairs


def test_denoise_takes_the_better_chain_by_default():
    model = learned(small(), chain="pivot")
    default, better, own = (
        model.denoise(small(), chain=chain, n_steps=300).scores
        for chain in (None, "approximate_pivot", "pivot")
    )
    assert_array_equal(default, better)
    assert not np.array_equal(default, own, equal_nan=True)


def test_networks_and_rankings_are_one_line():
    assert repr(Network.of(nx.path_graph(3))) == "Network(3 nodes, 2 edges, undirected)"
    told = repr(Network.of(nx.DiGraph([(0, 1), (1, 2)])))
    assert told == "Network(3 nodes, 2 edges, directed)"
    assert "weighted" in repr(Network.of(small()))
    assert repr(learned(small()).denoise(small(), n_steps=500)).startswith("Ranking(")
