"""Losses against finite differences and the laws every loss obeys."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.testing import assert_allclose
from strategies import LOSSES, matrix

import atomstream.losses as losses
from atomstream.dictionaries import Rows

parametrize = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def test_every_loss_is_in_the_list():
    public = {getattr(losses, name) for name in losses.__all__}
    classes = {part for part in public if isinstance(part, type) and part is not losses.Loss}
    assert {type(part) for part in LOSSES} == classes
    assert len(LOSSES) == 1


@parametrize
@given(X=matrix(2, 3), Y=matrix(2, 3))
def test_gradient_is_the_finite_difference(loss, X, Y):
    step = 1e-6
    for f in range(3):
        shift = np.zeros((2, 3))
        shift[:, f] = step
        slope = (loss.value(X, Y + shift) - loss.value(X, Y - shift)) / (2 * step)
        assert_allclose(loss.gradient(X, Y)[:, f], slope, atol=1e-6)


@parametrize
@given(X=matrix(2, 3), Y=matrix(2, 3))
def test_zero_at_equality_and_positive_elsewhere(loss, X, Y):
    assert_allclose(loss.value(X, X), 0)
    assert (loss.value(X, Y) >= 0).all()
    assert ((loss.value(X, Y) > 0) == (X != Y).any(axis=1)).all()


@parametrize
@given(X=matrix(4, 3), Y=matrix(4, 3))
def test_gradient_is_as_smooth_as_said(loss, X, Y):
    change = np.linalg.norm(loss.gradient(X, Y) - loss.gradient(X, np.zeros_like(Y)))
    assert change <= loss.smoothness * np.linalg.norm(Y) + 1e-9


@parametrize
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_is_dense_also_where_almost_nothing_is_left(loss, dtype):
    rng = np.random.default_rng(0)
    codes, atoms = rng.random((20, 4)).astype(dtype), rng.random((4, 9)).astype(dtype)
    for X in (rng.random((20, 9)), codes @ atoms + 1e-3 * rng.random((20, 9))):
        X = X.astype(dtype)
        sparse = loss.sparse_value(sp.csr_array(X), codes, Rows(atoms))
        assert_allclose(sparse, loss.value(X, codes @ atoms), rtol=1e-3 if dtype == np.float32 else 1e-8)
