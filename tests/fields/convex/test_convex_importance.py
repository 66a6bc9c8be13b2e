"""Importance of atoms made of samples."""

import numpy as np
from last_codes import Last
from numpy.testing import assert_allclose

from atomstream import OnlineConvexMF

RNG = np.random.default_rng(0)
X = RNG.random((60, 12)) + 0.1


def test_atoms_of_samples_count_with_their_length():
    model = OnlineConvexMF(2, n_representatives=4, codes="free", random_state=0)
    rows = np.vstack([np.tile([100.0, 0, 0], (20, 1)), np.tile([0, 1.0, 0.0], (20, 1))])
    rows = np.random.default_rng(0).permutation(rows + 0.01 * RNG.random(rows.shape))
    model.fit(rows)
    long = np.argmax(np.linalg.norm(model.components_, axis=1))
    assert model.importance_[long] > 0.9


def test_a_row_of_a_convex_model_fades_with_each_that_follows():
    model, rows = OnlineConvexMF(3, n_representatives=9, random_state=0), X.copy()
    model.partial_fit(rows[:40])
    before, mass = model.state_.usage.mean, model.clock_.mass
    last = Last()
    model.set_callbacks(last).fit_stream([rows[40:]])
    steps = mass + np.arange(1, 21)
    weights = np.array([model.clock_.schedule(0, 1.0, total) for total in steps])
    kept = np.append(np.cumprod((1 - weights)[::-1])[::-1][1:], 1.0)
    lengths = np.linalg.norm(model.components_, axis=1)
    expected = np.prod(1 - weights) * before + (weights * kept) @ np.abs(last.codes) * lengths
    assert_allclose(model.state_.usage.mean, expected, rtol=1e-9)
