"""Networks with labels: what the head adds to `NetworkDictionary`, on one network and on many."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import (
    NetworkDictionary,
    SupervisedDictionary,
    SupervisedNetworkDictionary,
    load,
    save,
)
from atomstream.domains.networks import Network
from atomstream.samplers import MotifPivot

SETTINGS = {"n_batches": 5, "batch_size": 60, "random_state": 0}
KINDS = ["hubs", "rings"]


def networks(n, first=0, size=40):
    """Return as many networks of each kind, in turn, and their labels."""
    makes = (
        lambda seed: nx.barabasi_albert_graph(size, 3, seed=seed),
        lambda seed: nx.connected_watts_strogatz_graph(size, 6, 0.3, seed=seed),
    )
    found = [Network.of(make(seed)) for seed in range(first, first + n) for make in makes]
    return found, KINDS * n


def supervised(**changed):
    return SupervisedNetworkDictionary("path:5", 3, **(SETTINGS | changed))


def test_without_weight_the_atoms_are_those_of_the_model_without_labels_to_the_bit():
    several, y = networks(3)
    plain = NetworkDictionary("path:5", 3, **SETTINGS)
    model = supervised(weight=0, classes=KINDS)
    assert_array_equal(model.fit(several, y).components_, plain.fit(several).components_)
    for one, label in zip(several, y, strict=True):  # one after the other, each with its label
        plain.partial_fit(one)
        assert_array_equal(model.partial_fit(one, label).components_, plain.components_)
    assert_array_equal(model.position_, plain.position_)
    assert np.abs(supervised().fit(several, y).components_ - plain.components_).max() > 0.01


def test_every_batch_holds_the_same_number_of_patches_of_each_network_with_its_label(monkeypatch):
    several, _ = networks(2)
    seen, learn = [], SupervisedDictionary._row_facts

    def noted(self, data, weights, given, ids, position):
        seen.append((data, given.y))
        return learn(self, data, weights, given, ids, position)

    monkeypatch.setattr(SupervisedDictionary, "_row_facts", noted)
    model = supervised(batch_size=62).fit(several, [1, 2, 3, 4])
    assert len(seen) == model.n_steps_ + 1  # fit ends with the head
    for _, labels in seen[:-1]:
        counts = np.unique(labels, return_counts=True)[1]
        assert sorted(counts.tolist()) == [15, 15, 16, 16]
    seen.clear()
    supervised().fit([nx.complete_graph(9), nx.path_graph(9)], ["full", "bare"])
    for patches, labels in seen:  # a path has no triangles
        square = patches.reshape(-1, 5, 5)
        triangles = np.trace(square @ square @ square, axis1=1, axis2=2)
        assert set(labels[triangles > 0]) == {"full"}
        assert not triangles[labels == "bare"].any()


def test_a_network_is_predicted_by_the_mean_scores_of_its_patches():
    several, y = networks(3)
    model = supervised().fit(several, y)
    head = model.learner_.state_.dictionary.head
    chain_codes = model.mean_codes(several, n_steps=300)
    assert chain_codes.shape == (6, 3)
    scores = np.column_stack([chain_codes, np.ones(6)]) @ head
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(several, n_steps=300), expected, rtol=1e-10)
    found = model.predict(several, n_steps=300)
    assert_array_equal(found, np.array(KINDS)[expected.argmax(axis=1)])
    assert model.score(several, y, n_steps=300) == np.mean(found == np.array(y))
    assert_array_equal(model.predict(several[0], n_steps=300), found[:1])
    assert model.coef_.shape == (1, 3)
    assert_allclose(model.coef_[0], head[:3, 1] - head[:3, 0])


def test_mean_codes_are_those_of_the_patches_along_a_chain():
    several, y = networks(2)
    model = supervised().fit(several, y)
    rng = np.random.default_rng(int(np.random.default_rng(0).integers(2**63)))
    chain = MotifPivot(several[1], model.motif_)
    codes = model.learner_.transform(chain.patches(chain.run(rng, chain.init(rng), 30)[0]))
    assert_allclose(model.mean_codes(several, n_steps=30)[1], codes.mean(axis=0), rtol=1e-10)


def test_mean_codes_are_those_of_all_copies_in_the_limit():
    model = supervised().fit(*networks(2))
    one = Network.of(nx.karate_club_graph())
    states, weights = model._all(one)
    codes = model.learner_.transform(
        one.out.toarray()[states[:, :, None], states[:, None]].reshape(len(states), -1)
    )
    exact = weights @ codes / weights.sum()
    assert_allclose(model.mean_codes(one, n_steps=40_000)[0], exact, rtol=0.05, atol=0.02)


def test_law_4_save_load_go_on_is_never_stopped(tmp_path):
    several, y = networks(2)
    never, stopped = supervised(classes=KINDS), supervised(classes=KINDS)
    never.partial_fit(several, y, n_batches=4).partial_fit(several[1], "rings")
    save(stopped.partial_fit(several, y, n_batches=2), tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms")
    assert type(again.learner_) is SupervisedDictionary
    again.partial_fit(several, y, n_batches=2).partial_fit(several[1], "rings")
    assert_array_equal(again.components_, never.components_)
    assert_array_equal(again.coef_, never.coef_)
    assert_array_equal(again.position_, never.position_)
    assert_array_equal(again.classes_, never.classes_)
    assert_array_equal(again.predict_proba(several), never.predict_proba(several))


def test_networks_without_a_label_teach_the_atoms_alone():
    several, y = networks(3)
    part = supervised().fit(several, [*y[:4], None, None])
    assert part.classes_.tolist() == KINDS
    plain = supervised(weight=0).fit(several, y)
    bare = supervised(weight=0, classes=KINDS).partial_fit(several, n_batches=5)
    assert_array_equal(bare.components_, plain.components_)


def near_or_mixed(n, first):
    """Return geometric networks, and such with three tenths of the edges swapped, degrees kept."""
    found = []
    for seed in range(first, first + 2 * n):
        graph = nx.random_geometric_graph(80, 0.22, seed=seed)
        if seed % 2:
            nx.double_edge_swap(graph, int(0.3 * graph.size()), max_tries=10**5, seed=seed)
        found.append(Network.of(graph).largest_component())
    return found, ["near", "mixed"] * n


def test_labels_teach_atoms_to_tell_new_networks(room):
    losses, right = {0: 0.0, 1: 0.0}, []
    for seed in range(3):
        learned, y = near_or_mixed(8, 100 * seed)
        new, truth = near_or_mixed(10, 100 * seed + 50)
        for weight in losses:
            settings = {"weight": weight, "n_batches": 100, "random_state": seed}
            model = SupervisedNetworkDictionary("path:8", 4, **settings).fit(learned, y)
            shares = model.predict_proba(new, n_steps=300)
            true = shares[np.arange(len(new)), np.searchsorted(model.classes_, truth)]
            losses[weight] -= np.log(true).mean() / 3
            right.append(model.score(new, truth))
    room.share(np.mean(right), at_least=0.88)
    room.fall(losses[1], losses[0], at_least=0.17)


def test_law_3_a_call_that_raises_leaves_the_model_as_it_was():
    several, y = networks(2)
    model = supervised().fit(several, y)
    atoms, head = model.components_.copy(), model.coef_.copy()
    refused = [
        (lambda: model.fit(several, y[:-1]), "y must have a label for each of 4 rows"),
        (lambda: model.fit(several, ["one"] * 4), "two classes or more"),
        (lambda: model.partial_fit(several[0], "others"), "the class 'others'"),
        (lambda: model.partial_fit([several[0], nx.path_graph(3)], y[:2]), "more than the network"),
        (
            lambda: supervised(batch_size=3).fit(several, y),
            "batch_size=3 leaves some of 4 networks",
        ),
        (lambda: supervised(chain="all").fit(several, y), "chain='all' has no labels"),
        (lambda: NetworkDictionary("path:5", 3, chain="all").fit(several), "takes one network"),
        (lambda: supervised(weight=-1).fit(several, y), "weight"),
    ]
    for call, message in refused:
        with pytest.raises(ValueError, match=message):
            call()
        assert_array_equal(model.components_, atoms)
        assert_array_equal(model.coef_, head)


def test_several_networks_teach_a_model_without_labels_in_slots_too():
    several, _ = networks(2)
    model = NetworkDictionary("path:5", 3, **SETTINGS)
    once = model.fit(several, slots=2).components_.copy()
    assert_array_equal(model.fit(several, slots=2, engine="threads").components_, once)
    assert np.abs(model.fit(several[0], slots=2).components_ - once).max() > 0.01
