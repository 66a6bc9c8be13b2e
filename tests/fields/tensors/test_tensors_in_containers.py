"""Labelled tensors in, the same out; streams of what loaders yield."""

import numpy as np
import xarray as xr
from given import Tensor
from numpy.testing import assert_array_equal

from atomstream import OnlineCPDictionary


def test_tensors_keep_the_labels_of_all_axes():
    X = np.random.default_rng(0).random((20, 4, 5))
    coords = {"time": np.arange(20) + 1900, "x": list("wxyz")}
    given = xr.DataArray(X, dims=("time", "x", "y"), coords=coords)
    learned = OnlineCPDictionary(2, n_epochs=2, random_state=0, missing=True).fit(given)
    codes = learned.transform(given)
    assert codes.dims == ("time", "component")
    made = learned.inverse_transform(codes)
    assert made.dims == ("time", "x", "y")
    assert_array_equal(made.x, list("wxyz"))
    assert_array_equal(made.time, np.arange(20) + 1900)
    xr.testing.assert_identical(learned.impute(given), given)


def parts(X):
    return [X[start : start + 10] for start in range(0, 40, 10)]


def test_a_list_of_matrices_is_a_batch_of_tensors():
    X = np.random.default_rng(0).random((40, 4, 5))

    def stream(make):
        learned = OnlineCPDictionary(2, random_state=0)
        return learned.fit_stream(make(part) for part in parts(X)).components_

    assert_array_equal(stream(list), stream(np.asarray))
    assert_array_equal(stream(lambda part: [Tensor(part)]), stream(np.asarray))
