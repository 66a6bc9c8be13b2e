"""A step of a model of atoms made of samples is a row, which shares the time of its batch."""

import numpy as np
import pytest
from fields.convex.cases.half_life import CASES
from numpy.testing import assert_allclose

from atomstream.schedules import HalfLife

X = np.random.default_rng(0).random((200, 6))


def test_rows_that_are_steps_forget_as_much_in_a_batch():
    """A convex model makes a step for each row; its rows share the time of the batch evenly."""
    model = CASES["convex"](HalfLife(80.0)).partial_fit(X[:40], time=0.0)
    before = model.memory_.gram
    other = CASES["convex"](HalfLife(80.0)).partial_fit(X[:40], time=0.0)
    model.partial_fit(X[40:60], time=20.0)
    for n in range(20):
        other.partial_fit(X[40 + n : 41 + n], time=1.0 + n)
    assert_allclose(model.memory_.gram, other.memory_.gram, rtol=1e-6)
    assert model.clock_.weight == pytest.approx(1 - 0.5 ** (1 / 80))
    assert not np.allclose(model.memory_.gram, before)
