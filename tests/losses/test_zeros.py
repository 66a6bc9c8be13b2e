"""Entries near zero, where a loss is infinite at zeros: what lies below the floor is raised to it.

OnlineNMF(20, loss="is").fit(spectra)                       # at least 1e-8 of the mean of the row
OnlineNMF(20, loss=ItakuraSaito(zeros="refuse")).fit(spectra)    # as they are; zeros are refused
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from strategies import LOSSES, positive

from atomstream import OnlineNMF
from atomstream.exceptions import DataWarning
from atomstream.losses import Alpha, Beta, ItakuraSaito

POSITIVE = [loss for loss in LOSSES if loss.data == "positive"]
POSITIVE += [Beta(-0.5), Beta(-2.0), Alpha(-2.0)]
BELOW = [5e-324, 1e-300, 1e-100, 1e-30, 1e-12, 0.5e-8]  # of rows whose mean is about 1
parametrize = pytest.mark.parametrize("loss", POSITIVE, ids=repr)


def rows(dtype=np.float64):
    X = positive(60, 8, seed=3)
    return (X / X.mean(axis=1, keepdims=True)).astype(dtype)


def fitted(loss, X, **given):
    return OnlineNMF(3, loss=loss, n_epochs=3, batch_size=20, random_state=0, **given).fit(X)


def as_they_come(X):
    """Return the forms that the same rows come in, each with what a model of them is given."""
    holed = X.copy()
    holed[:, 5] = np.nan
    return {"dense": (X, {}), "sparse": (sp.csr_array(X), {}), "masked": (holed, {"missing": True})}


@parametrize
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", ["dense", "sparse", "masked"])
def test_what_lies_below_the_floor_counts_as_a_zero_does(loss, dtype, form):
    X = rows(dtype)
    X[4, 2] = 0
    of_zero, given = as_they_come(X)[form]
    model = fitted(loss, of_zero, **given)
    at_zero = model.losses(of_zero)
    for value in BELOW:
        X[4, 2] = value
        small, _ = as_they_come(X)[form]
        # The mean of the row, and so the floor, is larger by an eighth of the entry.
        assert_allclose(model._batch(small).X[4, 2], model._batch(of_zero).X[4, 2], rtol=2e-9)
        assert_allclose(model.losses(small), at_zero, rtol=1e-6)
        assert_allclose(model.objective(small), model.objective(of_zero), rtol=1e-6)
    X[4, 2] = 1e-100
    small, _ = as_they_come(X)[form]
    assert_array_equal(fitted(loss, small, **given).components_, model.components_)


@parametrize
def test_a_smaller_entry_is_never_raised_above_a_larger_one(loss):
    X = np.repeat(rows()[4][None], 400, axis=0)
    X[:, 2] = np.concatenate([[0.0], np.geomspace(5e-324, 10, 399)])
    model = fitted(loss, rows())
    for data in (X, sp.csr_array(X)):
        found = model._batch(data).X[:, 2]
        assert (np.diff(found) >= 0).all()
        assert found[0] > 0
        above = X[:, 2] > 2e-8
        assert_array_equal(found[above], X[above, 2])


@parametrize
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_tiny_entries_count_as_rows_of_zeros(loss, dtype):
    X = rows(dtype)
    model = fitted(loss, X)
    X[7] = 0
    at_zero = model.losses(X)
    for value in (1e-100, 1e-44, 5e-324):
        X[7] = value
        assert_array_equal(model.losses(X), at_zero)
    X[7, :4] = 0
    assert_array_equal(model.losses(X), at_zero)


@parametrize
def test_entries_without_weight_move_no_floor(loss):
    X, weights = rows(), np.ones((60, 8))
    X[4, 2], weights[4, 3] = 0, 0
    plain = X.copy()
    X[4, 3] = 1e6
    holed = np.where(weights > 0, X, np.nan)
    known = OnlineNMF.from_components(rows()[:3], loss=loss, missing=True)
    if known.algorithm_.coder.weighs_entries:
        for data in (X, plain):
            found = known._batch(data, entry_weight=weights).X
            assert_array_equal(found[4, 2], known._batch(holed).X[4, 2])


@pytest.mark.parametrize("loss", [ItakuraSaito("refuse"), Beta(-0.5, "refuse"), Alpha(0, "refuse")])
def test_refusing_zeros_takes_all_other_entries_as_they_are(loss):
    X = rows()
    model = fitted(loss, X)
    X[4, 2] = 1e-12
    assert model._batch(X).X is X
    assert (
        model.losses(X)[4]
        > fitted(type(loss)(**{**vars(loss), "zeros": "floor"}), rows()).losses(X)[4]
    )
    X[4, 2] = 0
    for data in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=r"contains zeros \(first in row 4, column 2, counted"):
            model.score(data)


def test_entries_at_which_a_loss_overflows_are_refused():
    X = rows()
    model = fitted(Beta(-4.0, "refuse"), X)
    X[4, 2] = 1e-100  # 1e400
    with pytest.raises(ValueError, match=r"contains 1e-100 \(first in row 4, column 2, .* infini"):
        model.score(X)


def test_data_that_all_count_as_zeros_are_named():
    with pytest.warns(DataWarning, match="No row of X has a mean above 1e-40, .*multiply"):
        fitted("is", 1e-60 * rows())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted("is", 1e-30 * rows())
