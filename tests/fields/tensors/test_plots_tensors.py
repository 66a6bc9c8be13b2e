"""Pictures of loadings show what their twin returns."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from atomstream import OnlineCPDictionary, plots


def learned(shape=(9, 4, 3), **settings):
    X = np.random.default_rng(0).random((60, *shape))
    return OnlineCPDictionary(3, batch_size=20, n_epochs=1, random_state=0, **settings).fit(X)


def test_loadings_come_most_important_first_in_the_shape_of_their_groups():
    model = learned(reshape=[(2, 0), (1,)])
    (pair, single), shares = plots.loadings_data(model)
    order = np.argsort(-model.importance_)
    assert pair.shape == (3, 3, 9)
    assert single.shape == (3, 4)
    assert_array_equal(shares, model.importance_[order])
    assert_array_equal(single[0], model.loadings_[1][:, order[0]])
    assert_array_equal(pair[2].ravel(), model.loadings_[0][:, order[2]])
    assert len(plots.loadings_data(model, 2)[1]) == 2


def test_modes_are_drawn_as_curves_bars_and_images():
    model = learned()
    (long, short, _), shares = plots.loadings_data(model)
    axes = plots.loadings(model, n_columns=1).axes
    assert_array_equal(axes[0].lines[0].get_ydata(), long[0])
    assert_array_equal([bar.get_height() for bar in axes[1].patches], short[0])
    assert [a.get_title() for a in axes[:3]] == [f"atom 0: {100 * shares[0]:.1f} %", "", ""]
    assert [a.get_xlabel() for a in axes[-3:]] == ["mode 0", "mode 1", "mode 2"]
    pair = plots.loadings(learned(reshape=[(0, 1), (2,)]), n_columns=1).axes
    assert [a.get_xlabel() for a in pair[-2:]] == ["modes 0, 1", "mode 2"]
    assert pair[0].images[0].get_array().shape == (9, 4)
    joint = learned(reshape=[(0, 1, 2)])
    (colour,), _ = plots.loadings_data(joint)
    (image,) = plots.loadings(joint, names=["patch"]).axes[0].images
    np.testing.assert_allclose(image.get_array(), colour[0] / colour[0].max())


def test_a_wrong_number_of_names_is_refused():
    with pytest.raises(
        ValueError, match="names must have one name for each of 3 modes or groups of modes, got 1"
    ):
        plots.loadings(learned(), names=["time"])
