"""Labelled series in, the same out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from numpy.testing import assert_array_equal

from atomstream import SeriesDictionary

NAMES = list("abcdefgh")


def data():
    rng = np.random.default_rng(0)
    return rng.random((40, 3)) @ rng.random((3, 8))


def test_forecasts_of_labelled_series_are_labelled():
    times = pd.date_range("2020-01-01", periods=40)
    Y = xr.DataArray(data(), dims=("day", "city"), coords={"day": times, "city": NAMES})
    learned = SeriesDictionary(2, 3, n_init=12, random_state=0).fit(Y)
    with pytest.warns(UserWarning, match="persistence"):
        ahead = learned.predict(2)
    assert ahead.dims == ("day", "city")
    assert_array_equal(ahead.day, pd.date_range("2020-02-10", periods=2))
    assert_array_equal(ahead.city, NAMES)


def test_lazy_frames_are_refused_in_words():
    with pytest.raises(TypeError, match="Y is a lazy frame"):
        SeriesDictionary().fit(pl.DataFrame(data(), schema=NAMES).lazy())
