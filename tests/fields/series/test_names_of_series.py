"""Series are found by their names."""

import numpy as np
import pandas as pd
import pytest
from named_columns import assert_same

from atomstream import SeriesDictionary, load, save, series

TIMES = np.arange(120.0)
SERIES = pd.DataFrame({"p": 2 + np.sin(TIMES / 3), "q": 1 + np.cos(TIMES / 3) ** 2, "r": TIMES % 7})
BACK = ["r", "q", "p"]


def test_series_are_found_by_name():
    settings = {"window": 6, "random_state": 0}
    one, other = (
        SeriesDictionary(4, **settings).fit(SERIES[:60]).partial_fit(rest)
        for rest in (SERIES[60:], SERIES[60:][BACK])
    )
    assert_same(one.components_, other.components_)
    gaps = SERIES.copy()
    gaps.iloc[50:55, 1] = np.nan
    pd.testing.assert_frame_equal(one.impute(gaps[BACK]), one.impute(gaps)[BACK])
    first = [
        SeriesDictionary(4, **settings).fit(SERIES, init=SERIES[order])
        for order in ([*SERIES], BACK)
    ]
    assert_same(first[0].components_, first[1].components_)
    with pytest.raises(ValueError, match=r"Y has other series .*: missing is 'p' and unexpected"):
        one.impute(gaps.rename(columns={"p": "z"}))


@pytest.mark.parametrize("kind", ["MovingAverage", "Log1p", "NonnegativeScaler"])
def test_transformers_of_series_find_them_by_name(kind):
    step = getattr(series, kind)().fit(SERIES)
    done = step.transform(SERIES)
    pd.testing.assert_frame_equal(step.transform(SERIES[BACK]), done[BACK])
    pd.testing.assert_frame_equal(
        step.inverse_transform(done[BACK]), step.inverse_transform(done)[BACK]
    )
    with pytest.raises(ValueError, match="missing is 'p' and unexpected is 'z'"):
        step.transform(SERIES.rename(columns={"p": "z"}))


def test_what_is_known_ahead_is_found_by_name(tmp_path):
    known = pd.DataFrame({"u": np.sin(np.arange(140)), "v": np.random.default_rng(0).random(140)})
    model = SeriesDictionary(4, window=6, head="mix", random_state=0)
    model.fit(SERIES[:100], exogenous=known[:105])
    save(model, tmp_path / "m.atoms")
    twin = load(tmp_path / "m.atoms")
    model.partial_fit(SERIES[100:], exogenous=known[100:125])
    twin.partial_fit(SERIES[100:], exogenous=known[100:125][["v", "u"]])
    found = model.predict(3, exogenous=known[120:123])
    pd.testing.assert_frame_equal(twin.predict(3, exogenous=known[120:123][["v", "u"]]), found)
    with pytest.raises(ValueError, match="missing is 'v' and unexpected is 'w'"):
        model.predict(3, exogenous=known[120:123].rename(columns={"v": "w"}))
