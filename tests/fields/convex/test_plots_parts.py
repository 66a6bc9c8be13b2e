import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from atomstream import OnlineConvexMF, plots


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    centres = rng.uniform(0, 20, (3, 6))
    X = centres[rng.integers(3, size=200)] + rng.standard_normal((200, 6))
    return OnlineConvexMF(3, n_representatives=24, alpha=0.05, random_state=0).fit(
        X, ids=[f"row ${i}" for i in range(200)]
    )


def test_parts_and_the_rest_make_each_atom(model):
    drawn = plots.parts_data(model, top=2)
    assert len(drawn) == 3
    for ids, shares, rest in drawn:
        assert 1 <= len(ids) == len(shares) <= 2
        assert (np.diff(shares) <= 0).all()
        assert_allclose(shares.sum() + rest, 1)


def test_parts_come_from_the_most_important_atom_down(model):
    first = int(model.importance_.argmax())
    ids, shares, rest = plots.parts_data(model, top=24)[0]
    assert_allclose(shares, np.sort(model.weights_[first])[::-1][: len(shares)])
    assert_allclose(rest, 0, atol=1e-12)
    assert set(ids) <= set(model.representatives_[first].ids)


def test_bars_are_the_shares_and_labels_are_the_ids(model):
    figure = plots.parts(model, top=3, n_columns=2)
    panels = [axes for axes in figure.axes if axes.patches]
    assert len(panels) == 3
    for axes, (ids, shares, _) in zip(panels, plots.parts_data(model, top=3), strict=True):
        assert_allclose([bar.get_width() for bar in axes.patches], 100 * shares)
        assert [tick.get_text() for tick in axes.get_yticklabels()] == [
            name.replace("$", r"\$") for name in ids
        ]


def test_parts_name_the_atoms_that_are_explained():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(200, 4)) * [1, 3, 1, 2] @ rng.random((4, 9))
    model = OnlineConvexMF(3, n_representatives=30, alpha=0.05, random_state=0).fit(X)
    for axes in plots.parts(model).axes:
        atom = int(re.match(r"atom (\d+)", axes.get_title())[1])
        ids = [label.get_text() for label in axes.get_yticklabels()]
        assert ids == [str(part.id) for part in model.explain(atom, 5)]
