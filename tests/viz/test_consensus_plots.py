"""Pictures of a consensus of replicates."""

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
