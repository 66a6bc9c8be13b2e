"""Pictures of a consensus of replicates."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import ConsensusNMF, plots


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(100, 3)) @ rng.random((3, 10)) ** 3
    return ConsensusNMF([2, 3], n_replicates=4, n_epochs=3, random_state=0).fit(X)


@pytest.mark.parametrize("rank", [2, 3])
def test_a_clustergram_holds_all_cosines_cluster_by_cluster(model, rank):
    cosines, labels = plots.clustergram_data(model, rank)
    rows = np.concatenate([each.components_ for each in model.replicates_[rank]])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert_allclose(np.sort(cosines.ravel()), np.sort((rows @ rows.T).ravel()))
    assert_allclose(np.diag(cosines), 1)
    assert_array_equal(np.sort(labels), np.sort(model.consensus(rank).labels.ravel()))
    kept = labels[labels >= 0]
    assert (np.diff(kept) >= 0).all()
    image = plots.clustergram(model, rank).axes[0].images[0]
    assert_array_equal(image.get_array(), cosines)


@pytest.mark.parametrize(("ratio", "scale"), [(20, "linear"), (2000, "log")])
def test_errors_that_fall_far_are_drawn_on_a_scale_that_shows_the_small_ones(model, ratio, scale):
    choice = replace(model.choice_, error=np.array([2.0, 1.0]), baseline=float(ratio))
    assert plots.rank(choice).axes[0].get_yscale() == scale


def test_intervals_are_drawn_around_the_atoms(model):
    names, atom, low, high = plots.intervals_data(model)[0]
    assert names is None
    assert_array_equal(atom, model.components_[0])
    assert_array_equal((low, high), (model.intervals_[0][0], model.intervals_[1][0]))
    figure = plots.intervals(model)
    assert len([axes for axes in figure.axes if axes.get_title()]) == model.n_components_
    assert_array_equal(figure.axes[0].lines[0].get_ydata(), atom)


def test_of_named_features_the_largest_are_drawn(model):
    features = [f"f{i}" for i in range(10)]
    names, atom, *_ = plots.intervals_data(model, features, 4)[1]
    order = np.argsort(-model.components_[1])[:4]
    assert names == [features[i] for i in order]
    assert_array_equal(atom, model.components_[1][order])
    bars = plots.intervals(model, features, top=4).axes[1].patches
    assert_allclose([bar.get_width() for bar in bars], atom)


def test_in_the_tree_of_ranks_each_atom_hangs_on_the_nearest_of_the_rank_before(model):
    first, second = plots.rank_tree_data(model)
    assert (first.rank, second.rank) == (2, 3)
    assert len(first.parents) == 0
    before, after = model.consensus(2).atoms, model.consensus(3).atoms
    for atom, parent, cosine in zip(after, second.parents, second.cosines, strict=True):
        nearest = [row @ atom / np.linalg.norm(row) / np.linalg.norm(atom) for row in before]
        assert parent == np.argmax(nearest)
        assert cosine == pytest.approx(max(nearest))
    order = np.argsort(second.heights)
    assert (np.diff(first.heights[second.parents[order]]) >= 0).all()  # no lines cross
    axes = plots.rank_tree(model).axes[0]
    assert len(axes.collections) == 2
    assert sorted(text.get_text() for text in axes.texts) == ["0", "0", "1", "1", "2"]


def test_usages_are_drawn_at_the_places_of_the_samples():
    rng = np.random.default_rng(0)
    usages, places = rng.random((50, 3)) * [1, 3, 2], rng.random((50, 2))
    atoms, shown, where = plots.usage_maps_data(usages, places, 2)
    assert_array_equal(atoms, [1, 2])
    assert_array_equal(shown, usages[:, [1, 2]])
    assert_array_equal(where, places)
    panels = [axes for axes in plots.usage_maps(usages, places).axes if axes.get_title()]
    assert [axes.get_title() for axes in panels] == ["atom 1", "atom 2", "atom 0"]
    drawn = panels[0].collections[0]
    order = np.argsort(usages[:, 1])
    assert_allclose(drawn.get_offsets(), places[order])
    assert_allclose(drawn.get_array(), usages[order, 1])
    with pytest.raises(ValueError, match=r"places must be of shape \(n_samples, 2\)"):
        plots.usage_maps(usages, places[:4])
