"""What a served model of series returns."""

import pytest
from numpy.testing import assert_array_equal
from served import fitted, served

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_series_serve_forecasts(tmp_path):
    model = fitted("series")
    series = served(model, tmp_path)
    assert series.predict(None).shape == (1, 8)
    assert_array_equal(series.predict(None, {"horizon": 3}), model.predict(3))
