"""SeriesDictionary against plain loops of OnlineNMF, honest prediction, tables of every form."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import atomstream
from atomstream import OnlineNMF, SeriesDictionary, series, sparse_encode, streams
from atomstream.exceptions import CorruptModelError, DataWarning
from atomstream.fields.series.frames import Table
from atomstream.fields.series.levels import half_widths, min_errors
from atomstream.io.time_index import Times
from atomstream.schedules import Constant
from atomstream.watch.callbacks import History

# Most tests are of the plain algorithm, without correction, which loses to persistence.
pytestmark = pytest.mark.filterwarnings("ignore:The honest one-step errors")


def waves(n=90, d=3, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n)[:, None]
    return 2 + np.sin(t / (3 + np.arange(d))) + 0.05 * rng.random((n, d))


def new(**settings):
    settings = {
        "n_components": 5,
        "window": 4,
        "memory": 12,
        "alpha": 0.02,
        "ridge": 0.01,
        "schedule": "power",
        "correction": 0.0,
        "center": False,
        "head": None,
        "random_state": 0,
    } | settings
    return SeriesDictionary(**settings)


def rms(error):
    return np.sqrt(np.nanmean(error**2))


def holes(Y, share=0.2, seed=1):
    return np.where(np.random.default_rng(seed).random(Y.shape) < share, np.nan, Y)


# -- the algorithms
# --------------------------------------------------------------------------------------------------


def test_the_scheme_is_online_nmf_on_windows_row_by_row():
    Y = waves(40)
    model = new(memory=10, n_init_batches=3, init_batch_size=7, forecast_alpha=0.1, ridge=0.02).fit(
        Y
    )
    rng = np.random.default_rng(int(np.random.default_rng(0).integers(2**63)))
    seed = int(rng.integers(2**63))
    learner = OnlineNMF(5, alpha=0.02, ridge=0.02, schedule="harmonic", random_state=seed)
    all_windows = np.array([Y[i : i + 4].ravel() for i in range(13)])
    for _ in range(3):
        learner.partial_fit(all_windows[rng.integers(13, size=7)])
    assert_array_equal(model.initial_atoms_, learner.components_.reshape(5, 4, 3))
    learner.set_params(schedule="power")
    for t in range(40):
        if t >= 3:
            code = sparse_encode(
                Y[t - 3 : t].reshape(1, -1), learner.components_[:, :-3], alpha=0.1, ridge=0.02
            )
            if t >= 30:
                assert_allclose(
                    model.in_sample_[t - 30], (code @ learner.components_[:, -3:])[0], atol=1e-7
                )
            first = max(0, t - 9)
            learner.partial_fit([Y[i : i + 4].ravel() for i in range(first, t - 2)])
    assert_allclose(model.atoms_.reshape(5, -1), learner.components_, atol=1e-12)
    assert model.n_steps_ == learner.n_steps_ == 3 + 37
    assert model.n_rows_ == 40
    assert_allclose(model.importance_, learner.importance_, rtol=1e-12)


def test_the_clock_starts_late_and_the_memory_is_carried():
    Y = waves()
    model = new(memory=4, n_init_batches=10, schedule="harmonic").fit(Y[:4], init=Y)
    # One window after ten batches of a hundred: its weight is 1/1001, not 1.
    assert model.learner_.clock_.weight == pytest.approx(1 / 1001)
    assert_allclose(model.atoms_, model.initial_atoms_, atol=0.05)
    assert not np.array_equal(model.atoms_, model.initial_atoms_)


def test_extrapolation_is_one_step_after_another():
    Y = waves()
    model = new().fit(Y)
    whole = model.predict(5)
    rows = Y.copy()
    for step in range(5):
        code = sparse_encode(
            rows[-3:].reshape(1, -1), model.atoms_[:, :-1].reshape(5, -1), ridge=0.01
        )
        rows = np.vstack([rows, code @ model.atoms_[:, -1]])
        assert_allclose(whole[step], rows[-1], atol=1e-7)
    assert_array_equal(model.predict(5), whole)


def test_what_the_atoms_leave_of_the_last_row_is_carried_on():
    Y = waves()
    plain, half, whole = (new(correction=share).fit(Y) for share in (0.0, 0.5, 1.0))
    assert_array_equal(plain.atoms_, whole.atoms_)
    atoms = whole.atoms_
    code = sparse_encode(Y[-3:].reshape(1, -1), atoms[:, :-1].reshape(5, -1), ridge=0.01)
    left = Y[-1] - (code @ atoms[:, -2])[0]
    assert_allclose(whole.predict()[0] - plain.predict()[0], left, atol=1e-7)
    assert_allclose(half.predict()[0] - plain.predict()[0], left / 2, atol=1e-7)
    gap = np.vstack([Y[:-1], [np.nan, *Y[-1, 1:]]])
    plain, whole = (new(correction=share).fit(gap) for share in (0.0, 1.0))
    assert plain.predict()[0, 0] == whole.predict()[0, 0]  # nothing to carry on
    assert plain.predict()[0, 1] != whole.predict()[0, 1]


def test_the_defaults_follow_series_that_grow(room):
    t, rng = np.arange(160)[:, None], np.random.default_rng(0)
    season = np.sin(2 * np.pi * t / 12 + np.arange(3))
    Y = np.exp(t / 40) * (3 + season + 0.05 * rng.standard_normal((160, 3)))
    steps = SeriesDictionary(random_state=0).fit(Y).one_step_[-100:]
    room.error(rms(steps - Y[-100:]), at_most=0.5 * rms(Y[-100:] - Y[-101:-1]))
    room.error(rms(steps - Y[-100:]), at_most=0.5 * rms(Y[-100:] - Y[-112:-12]))


def test_a_model_that_loses_to_persistence_says_so():
    walk = 20 + 0.1 * np.cumsum(np.random.default_rng(0).standard_normal((150, 2)), axis=0)
    model = SeriesDictionary(random_state=0, correction=0.0).fit(walk)
    with pytest.warns(UserWarning, match="larger than those of persistence, 0"):
        model.predict()
    cycle = 1 + np.random.default_rng(0).random((7, 2))
    weeks = np.tile(cycle, (30, 1)) + 0.001 * np.random.default_rng(1).random((210, 2))
    model = SeriesDictionary(random_state=0, n_components=2, window=5).fit(weeks)
    with pytest.warns(UserWarning, match="those of seasonal persistence .the row [0-9]+ times"):
        model.predict()


def test_a_model_that_wins_or_has_hardly_begun_says_nothing():
    Y = waves(150)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SeriesDictionary(random_state=0).fit(Y).predict()
        SeriesDictionary(random_state=0, correction=0.0).fit(Y[:50]).predict()


def test_a_series_that_goes_round_is_foreseen():
    Y = np.tile(np.eye(6)[:, :4] + 0.5, (20, 1))
    model = new(n_components=12, window=6, memory=40, alpha=0.0, ridge=1e-4, n_init_batches=60).fit(
        Y
    )
    assert_allclose(model.predict(12), Y[:12], atol=0.05)


def test_without_initialisation_learning_begins_with_the_first_window():
    Y = waves(30)
    model = new(n_init_batches=0, memory=10).fit(Y)
    assert model.initial_atoms_ is None
    assert model.n_steps_ == 27
    assert np.isfinite(model.one_step_).all()


# -- honest predictions
# ----------------------------------------------------------------------------------------------


def test_a_change_of_later_rows_changes_no_earlier_prediction():
    Y = waves()
    other = Y.copy()
    other[60:] = np.random.default_rng(5).random((30, 3)) * 9
    one, two = new(memory=200).fit(Y), new(memory=200).fit(other)
    assert_array_equal(one.one_step_[:61], two.one_step_[:61])
    assert np.isfinite(one.one_step_[16:]).all()
    assert not np.allclose(one.one_step_[61:], two.one_step_[61:])


def test_a_prediction_is_what_a_model_of_earlier_rows_says():
    Y = waves()
    model = new(memory=200).fit(Y)
    for t in (16, 30, 77):
        assert_array_equal(new(memory=200).fit(Y[:t]).predict()[0], model.one_step_[t])


def test_rows_that_the_initialisation_saw_are_not_honest():
    Y = waves()
    model = new(memory=200, n_init=20).fit(Y)
    assert_array_equal(np.isnan(model.one_step_).all(axis=1), np.arange(90) < 20)
    assert_array_equal(np.isnan(model.in_sample_).all(axis=1), np.arange(90) < 3)
    seen = new(memory=200).fit(Y, init=Y)
    assert np.isnan(seen.one_step_).all()
    assert np.isfinite(seen.in_sample_[3:]).all()
    assert_array_equal(
        np.isnan(new(memory=200).fit(Y, init=Y[:50]).one_step_).all(axis=1), np.arange(90) < 50
    )
    # Rows that come later were not there yet.
    assert np.isfinite(seen.partial_fit(waves(95)[90:]).one_step_[-5:]).all()


def test_a_dictionary_of_another_table_is_honest_at_once():
    Y = waves()
    model = new(memory=200).fit(Y, init=waves(seed=3))
    assert_array_equal(np.isnan(model.one_step_).all(axis=1), np.arange(90) < 3)
    assert model.n_rows_ == 90


def test_rows_that_the_initialisation_saw_are_known_by_dates_else_by_values():
    table, other = frame(), pd.DataFrame(waves(seed=3), frame().index, ["a", "b", "c"])

    for Y, init, first in (
        (table, table[30:], 90),
        (table, table[20:40], 40),
        (table, other[:40], 40),
        (table, other.shift(90, freq="D"), 0),
        (table, table[20:40].to_numpy(), 40),
        (table.to_numpy(), table[20:40], 40),
        (table.reset_index(drop=True), table[20:40].reset_index(drop=True), 40),
        (table.reset_index(drop=True), other.reset_index(drop=True), 0),
    ):
        model = new(memory=200).fit(Y, init=init)
        assert_array_equal(
            np.isnan(np.asarray(model.one_step_)).all(axis=1), np.arange(90) < max(3, first)
        )


@pytest.mark.parametrize("head", [None, "mix"])
def test_of_a_series_never_observed_nothing_is_made_up(head):
    Y = waves()
    Y[:, 1] = np.nan
    given = {"memory": 40, "head": head}
    for model in (
        new(**given).fit(Y),
        new(**given, n_init_batches=0).fit(Y),
        new(**given).fit(Y, init=Y),
    ):
        never = np.arange(3) == 1
        for made in (model.predict(4), model.in_sample_, model.impute(Y), model.reconstruct(Y)):
            assert_array_equal(np.isnan(made).all(axis=0), never)
    low, high = new(**given).fit(Y).predict_interval(2, 0.8)
    assert_array_equal(np.isnan(low) & np.isnan(high), [never, never])
    assert np.isfinite(model.partial_fit(waves(91)[-1:]).predict(2)).all()


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_fit_is_partial_fit_row_by_row(share):
    Y = holes(waves(), share)
    whole, parts = new().fit(Y), new()
    for row in Y:
        parts.partial_fit(row[None])
    assert_allclose(parts.atoms_, whole.atoms_, atol=1e-10)
    assert_allclose(parts.one_step_, whole.one_step_, atol=1e-10)
    assert_allclose(parts.predict(3), whole.predict(3), atol=1e-10)
    blocks = new().partial_fit(Y[:30]).partial_fit(Y[30:])
    assert_array_equal(blocks.atoms_, whole.atoms_)


def test_the_first_rows_wait():
    model = new(n_init=20)
    model.partial_fit(waves(19))
    with pytest.raises(NotFittedError):
        model.predict()
    model.partial_fit(waves(20)[19:])
    assert model.n_rows_ == 20
    assert_array_equal(model.atoms_, new(n_init=20).fit(waves(20)).atoms_)


def test_memory_is_bounded():
    model = new().fit(waves(500))
    assert model._rows.shape == (16, 3)
    assert model.one_step_.shape == (12, 3)
    assert_allclose(model._rows, waves(500)[-16:])
    assert model.n_rows_ == 500


# -- bands
# --------------------------------------------------------------------------------------------------


def test_half_widths_by_hand():
    errors = np.array([[-4.0, 1], [1, np.nan], [-2, 3], [3, 2]])
    assert_array_equal(half_widths(errors, 0.6), [3, 3])
    assert_array_equal(half_widths(errors[:, :1], 0.8), [4])
    assert_array_equal(half_widths(errors, 0.8), [4, np.nan])
    assert min_errors(0.8) == 4


def test_conformal_widths_hold_their_share():
    rng = np.random.default_rng(0)
    held = [
        np.abs(rng.standard_cauchy()) <= half_widths(rng.standard_cauchy((19, 1)), 0.8)[0]
        for _ in range(4000)
    ]
    assert abs(np.mean(held) - 0.8) < 4.5 * np.sqrt(0.16 / 4000)


def test_bands_are_those_of_the_honest_errors():
    Y = waves(200)
    model = new(memory=60).fit(Y)
    band = model.predict_interval(4, coverage=0.8)
    errors = np.sort(np.abs(model.one_step_ - Y[-60:]), axis=0)
    half = errors[int(np.ceil(61 * 0.8)) - 1]
    reach = np.sqrt([1, 2, 3, 4])[:, None] * half
    assert_allclose(band.high, model.predict(4) + reach)
    assert_allclose(band.low, np.maximum(model.predict(4) - reach, 0))
    with pytest.raises(ValueError, match="needs at least 9 honest one-step"):
        new(n_init=85).fit(waves()).predict_interval(1)
    for coverage in (0, 1.0, "a", True, 1):
        with pytest.raises(ValueError, match="coverage must be a number above 0 and below 1"):
            model.predict_interval(1, coverage)


def test_one_step_bands_hold_what_they_say(room):
    Y = waves(400, seed=2)
    model = new(memory=100).fit(Y[:200])
    inside = []
    for row in Y[200:]:
        low, high = model.predict_interval(1, 0.9)
        inside.append((low[0] <= row) & (row <= high[0]))
        model.partial_fit(row[None])
    room.between(np.mean(inside), 0.85, 0.96)


# -- rebuilding
# --------------------------------------------------------------------------------------------------


def test_rows_are_the_mean_of_the_windows_over_them():
    Y = waves()
    model = new().fit(Y)
    rebuilt, total, count = model.reconstruct(Y), np.zeros_like(Y), np.zeros((90, 1))
    for i in range(87):
        code = sparse_encode(
            Y[i : i + 4].reshape(1, -1), model.atoms_.reshape(5, -1), alpha=0.02, ridge=0.01
        )
        total[i : i + 4] += (code @ model.atoms_.reshape(5, -1)).reshape(4, 3)
        count[i : i + 4] += 1
    assert_allclose(rebuilt, total / count, atol=1e-6)


def test_rows_are_rebuilt_with_the_dictionary_of_each_moment():
    Y = waves(40)
    model = new().fit(waves(50, seed=1))
    before = copy.deepcopy(model)
    rebuilt = model.reconstruct(Y, online=True)
    assert_array_equal(model.atoms_, before.atoms_)
    other = Y.copy()
    other[30:] += 3
    assert_array_equal(model.reconstruct(other, online=True)[:30], rebuilt[:30])
    moment = new(random_state=model._seed).fit(Y[:31])
    assert_allclose(rebuilt[30], moment.reconstruct(Y[27:31])[-1], atol=1e-12)
    assert np.isfinite(rebuilt).all()
    assert_array_equal(model.reconstruct(Y, online=True), rebuilt)


def test_missing_entries_are_filled_and_others_kept(room):
    rng = np.random.default_rng(0)
    Y = 2 + np.sin(np.arange(300)[:, None] / 5 + np.arange(3)) + 0.05 * rng.random((300, 3))
    hidden = holes(Y)
    hidden[100:130, 1] = np.nan  # a whole series for a while
    model = new(n_components=8, window=8, memory=60, alpha=0.0).fit(hidden)
    filled = model.impute(hidden)
    gone = np.isnan(hidden)
    assert_array_equal(filled[~gone], Y[~gone])
    room.error(np.sqrt(np.mean((filled - Y)[gone] ** 2)), at_most=0.3 * Y.std())
    room.error(np.abs(filled - Y)[100:130, 1].mean(), at_most=0.3 * Y.std())


def test_where_nothing_reaches_nothing_is_made_up():
    Y = waves(120)
    model = new().fit(Y)
    Y[40:60] = np.nan
    filled = model.impute(Y)
    assert_array_equal(np.flatnonzero(np.isnan(filled).all(axis=1)), np.arange(43, 57))
    model.partial_fit(Y[40:60])
    with pytest.warns(DataWarning, match=r"series 0 \(20 rows ago\), series 1 .20"):
        assert_array_equal(model.predict(2), waves(120)[[-1, -1]])
    assert np.isfinite(model.partial_fit(waves(121)[-1:]).predict(2)).all()


def test_values_behind_a_missing_entry_do_not_matter_and_long_tables_come_in_blocks(monkeypatch):
    Y = holes(waves())
    model = new().fit(Y)
    whole = model.impute(Y)
    monkeypatch.setattr("atomstream.fields.series.reconstruction.WINDOWS_AT_ONCE", 7)
    assert_allclose(model.impute(Y), whole, atol=1e-12)


# -- tables
# --------------------------------------------------------------------------------------------------


def frame(n=90, freq="D", start="2020-01-01"):
    return pd.DataFrame(
        waves(n), pd.date_range(start, periods=n, freq=freq, name="day"), ["a", "b", "c"]
    )


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.parametrize("freq", ["D", "h", "MS", "ME", "B", "W-SUN", "2D", "YS", "QS"])
def test_dates_go_on_as_they_came(freq):
    table = frame(94, freq)
    model = new().fit(table[:70])
    assert_array_equal(model.atoms_, new().fit(table[:70].to_numpy()).atoms_)
    ahead = model.predict(24)
    assert_array_equal(ahead.index, table.index[70:])
    assert ahead.index.name == "day"
    assert list(ahead.columns) == ["a", "b", "c"]
    model.partial_fit(table[70:71]).partial_fit(table[71:80])
    assert_array_equal(model.predict(14).index, table.index[80:])
    assert_array_equal(model.one_step_.index, table.index[68:80])
    model.partial_fit(table[80:85].to_numpy())
    assert_array_equal(model.predict_interval(9, 0.5).low.index, table.index[85:])
    assert_array_equal(model.impute(table[20:40]).index, table.index[20:40])


def test_numbers_periods_zones_and_series_keep_their_form():
    table = frame(40)
    periods = table.to_period("D")
    assert_array_equal(new().fit(periods[:30]).predict(10).index, periods.index[30:])
    numbers = table.reset_index(drop=True)
    assert_array_equal(new().fit(numbers[:30]).predict(10).index, np.arange(30, 40))
    zoned = table.tz_localize("UTC").tz_convert("Asia/Tokyo")
    assert_array_equal(new().fit(zoned[:30]).predict(10).index, zoned.index[30:])
    assert new().fit(zoned[:30]).predict(10).index.tz is not None


@pytest.mark.parametrize("freq", ["D", "MS", "h"])
def test_zones_keep_what_their_clocks_show(freq):
    index = pd.date_range("2024-01-15", periods=2100, freq=freq, tz="Europe/Berlin")[
        -100 if freq == "h" else 0 :
    ][:100]
    table = pd.DataFrame(waves(100), index, ["a", "b", "c"])
    model = new().fit(table[:80])
    assert_array_equal(model.predict(20).index, index[80:])
    model.partial_fit(table[80:81].tz_convert("UTC")).partial_fit(table[81:90])
    assert_array_equal(model.predict(10).index, index[90:])
    assert model.predict(10).index.tz is not None
    assert_array_equal(new(memory=200).fit(table, init=table[20:40])._first_honest, 40)
    assert_array_equal(series.Log1p().fit(table).transform(table[:1]).index, index[:1])


def test_xarray_comes_back_as_xarray():
    xr = pytest.importorskip("xarray")
    table = xr.DataArray(frame(), dims=("day", "city"))
    model = new().fit(table)
    ahead = model.predict(2)
    assert ahead.dims == ("day", "city")
    assert str(ahead["day"].values[0])[:10] == "2020-03-31"
    filled = model.impute(table)
    assert filled.dims == table.dims
    assert_array_equal(filled.values, table.values)


def test_polars_frames_are_taken_as_arrays():
    pl = pytest.importorskip("polars")
    assert_array_equal(new().fit(pl.DataFrame(waves())).predict(2), new().fit(waves()).predict(2))


def test_years_that_were_read_as_floats_are_an_index():
    table = frame().set_axis(np.arange(1700.0, 1790))
    forecast = new().fit(table).predict(2)
    assert forecast.index.tolist() == [1790, 1791]


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            lambda t: t.iloc[[0, 1, 3, 4, *range(5, 90)]],
            "evenly spaced: 2020-01-04 comes after 2020-01-02 .row 2, counted from 0.",
        ),
        (
            lambda t: t.iloc[[1, 0, *range(2, 90)]],
            "must go forward: 2020-01-01 .row 1, counted from 0. comes after 2020-01-02",
        ),
        (lambda t: t.iloc[[0, 0, *range(1, 90)]], "2020-01-01 .row 1, counted from 0. comes twice"),
        (lambda t: t.set_axis(pd.DatetimeIndex([pd.NaT, *t.index[1:]])), "Every row needs a time"),
        (
            lambda t: t.set_axis([f"day {i}" for i in range(90)]),
            "must be dates, periods or whole numbers, got str",
        ),
        (
            lambda t: t.set_axis(np.arange(90) / 2),
            "must be dates, periods or whole numbers, got float64",
        ),
        (lambda t: t.set_axis(["a", "a", "b"], axis=1), "two columns with the name 'a'"),
        (
            lambda t: t.assign(c="x"),
            "must hold numbers, NaN where an entry is missing; got column 'c'",
        ),
        (
            lambda t: t.replace(t.iloc[4, 1], np.inf),
            "must be finite.* row 4, column 1 .counted from 0. is not",
        ),
        (lambda t: t - 5, r"must not be negative, got -.* in row 0, column .a., counted from 0"),
        (
            lambda t: t["a"],
            r"must be of shape \(n_times, n_series\).* got \(90,\); "
            r"for one series use Y.to_frame\(\)",
        ),
        (lambda t: t["a"].to_numpy(), r"for one series use Y\[:, None\]"),
        (lambda t: t[:0], r"got \(0, 3\)"),
        (lambda t: t[:15], "Y has 15 rows, initialising needs 16"),
        (lambda t: t[:1], "Y has 1 row, initialising needs 16"),
        (lambda t: t * np.nan, "nothing but missing entries"),
    ],
)
def test_bad_tables_are_refused_and_the_model_stays(spoil, told):
    model = new().fit(frame())
    before = model.predict(2)
    with pytest.raises(ValueError, match=told):
        model.fit(spoil(frame()))
    pd.testing.assert_frame_equal(model.predict(2), before)
    assert model.n_rows_ == 90


def test_rows_that_do_not_follow_are_refused():
    model = new().fit(frame())
    for rows, told in (
        (frame()[3:5], "continue with 2020-03-31, got 2020-01-04 .row 0, counted from 0."),
        (frame(93)[91:], "continue with 2020-03-31, got 2020-04-01 .row 0, counted from 0."),
        (frame(93)[90:].reset_index(drop=True), "continue with 2020-03-31, got 0"),
        (
            frame(93)[90:].rename(columns={"a": "z"}),
            "Y has other series than were learned: missing is 'a' and unexpected is 'z'",
        ),
        (waves(9, 2), "has 2 series, needed are 3"),
    ):
        with pytest.raises(ValueError, match=told):
            model.partial_fit(rows)
    assert model.n_rows_ == 90
    with pytest.raises(ValueError, match="init has 2 series, needed are 3"):
        model.fit(waves(), init=waves(90, 2))
    with pytest.raises(ValueError, match="init has 3 rows, initialising needs 4"):
        model.fit(waves(), init=waves(3))
    with pytest.raises(ValueError, match="Y has 3 rows, needed is a window of 4"):
        model.impute(waves(3))
    with pytest.raises(ValueError, match="The step between times does not follow from one row"):
        new().partial_fit(frame()[:1])


def test_gaps_of_other_calendars_are_told():
    for freq in ("MS", "ME", "B", "h"):
        labels = pd.date_range("2020-01-31", periods=30, freq=freq).to_numpy()
        assert (
            Times.of(labels).at(1, 5)[-1]
            == pd.date_range(labels[-1], periods=6, freq=freq).to_numpy()[-1]
        )
        with pytest.raises(ValueError, match="evenly spaced"):
            Times.of(np.delete(labels, 11))
    assert Times.of(np.array([2, 5, 8])).at(1, 2).tolist() == [11, 14]
    assert Times.of(np.array(["2019-11", "2019-12"], "M8[M]")).at(-1, 3).astype(str).tolist() == [
        "2019-11",
        "2019-12",
        "2020-01",
    ]


# -- the estimator
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"window": 1}, "'window' .* must be a whole number from 2 to"),
        ({"memory": 3}, "memory must be a whole number of at least 4, got 3"),
        ({"n_init": 3}, "n_init must be a whole number of at least 4"),
        (
            {"n_init_batches": -1},
            "'n_init_batches' .* must be a whole number from 0 to",
        ),
        (
            {"init_batch_size": 0},
            "'init_batch_size' .* must be a whole number from 1 to",
        ),
        ({"n_components": 0}, "'n_components' .* must be a whole number from 1 to"),
        ({"alpha": -1}, "'alpha' .* must be a number from 0 to"),
        ({"forecast_alpha": -1}, "'forecast_alpha' .* must be a number from 0 to"),
        ({"ridge": "a"}, "'ridge' .* must be a number"),
        ({"schedule": "never"}, "schedule='never' is unknown"),
        ({"random_state": "a"}, "'random_state' .* must be"),
    ],
)
def test_bad_settings_are_refused(settings, told):
    model = new().fit(waves())
    atoms = model.atoms_
    model.set_params(**settings)
    with pytest.raises(ValueError, match=told):
        model.fit(waves())
    assert_array_equal(model.learner_.components_.reshape(atoms.shape), atoms)


def test_another_size_needs_a_new_start():
    model = new().fit(waves())
    with pytest.raises(ValueError, match="window is 5 and the model has learned with window=4"):
        model.set_params(window=5).partial_fit(waves(1))
    for make in (model.predict, model.predict_interval):
        with pytest.raises(ValueError, match="window is 5 and the model has learned with window=4"):
            make()
    with pytest.raises(ValueError, match="n_components is 6 and the dictionary has 5"):
        model.set_params(window=4, n_components=6).partial_fit(waves(1))
    for bad in (0, 1.5, True):
        with pytest.raises(ValueError, match="horizon must be a whole number of at least 1"):
            new().fit(waves()).predict(bad)


def test_a_call_that_fails_half_way_leaves_the_model_as_it_was():
    model = new().fit(frame())
    before = copy.deepcopy(model)
    calls = []

    def breaks(step, mass, total):
        calls.append(step)
        if len(calls) == 3:
            raise RuntimeError("enough")
        return 0.1

    with pytest.raises(RuntimeError, match="enough"):
        model.set_params(schedule=breaks).partial_fit(frame(95)[90:])
    assert len(calls) == 3
    model.set_params(schedule="power")
    assert_array_equal(
        model.partial_fit(frame(95)[90:]).atoms_, before.partial_fit(frame(95)[90:]).atoms_
    )
    pd.testing.assert_frame_equal(model.predict(2), before.predict(2))


def test_callbacks_watch_and_may_stop():
    history = History()
    model = new().set_callbacks(history).fit(waves())
    assert len(history.objective) == 87

    class Stops(History):
        """Ends learning at once."""

        def on_fit_task_end(self, estimator, context):
            return context.task_name == "batch"

    stopped = new().set_callbacks(Stops()).fit(frame())
    assert stopped.n_rows_ == 4
    assert str(stopped.predict().index[0].date()) == "2020-01-05"
    assert model.n_rows_ == 90


@pytest.mark.parametrize("make", [waves, frame])
def test_law_4_save_load_go_on_is_never_stopped(make, tmp_path):
    never = new(schedule=Constant(half_life=20.0)).fit(make(60)).partial_fit(make(90)[60:])
    stopped = new(schedule=Constant(half_life=20.0)).fit(make(60))
    atomstream.save(stopped, tmp_path / "model.atoms")
    again = atomstream.load(tmp_path / "model.atoms")
    assert_array_equal(again.atoms_, stopped.atoms_)
    assert_array_equal(again.predict(3), stopped.predict(3))
    again.partial_fit(make(90)[60:])
    assert_array_equal(again.atoms_, never.atoms_)
    assert_array_equal(np.asarray(again.one_step_), np.asarray(never.one_step_))
    assert_array_equal(again.initial_atoms_, never.initial_atoms_)
    if make is frame:
        pd.testing.assert_frame_equal(again.predict(3), never.predict(3))


def test_a_model_that_waits_is_saved_too(tmp_path):
    waiting = new(n_init=30).partial_fit(waves(20))
    atomstream.save(waiting, tmp_path / "model.atoms")
    again = atomstream.load(tmp_path / "model.atoms").partial_fit(waves(50)[20:])
    assert_array_equal(again.atoms_, new(n_init=30).fit(waves(50)).atoms_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_rows", np.ones((3, 2))),
        ("_steps", np.ones((40, 3))),
        ("_n_rows", 2),
        ("_first_honest", -1),
        ("_seen", np.ones(2, bool)),
        ("initial_atoms_", np.ones((5, 4, 2))),
    ],
)
def test_files_whose_parts_do_not_fit_are_refused(name, value, tmp_path):
    model = new().fit(waves())
    setattr(model, name, value)
    atomstream.save(model, tmp_path / "model.atoms")
    with pytest.raises(CorruptModelError):
        atomstream.load(tmp_path / "model.atoms")


def test_it_is_an_estimator():
    model = new().fit(waves())
    assert not hasattr(clone(model), "learner_")
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        new().predict()
    assert_array_equal(new().fit(waves()).atoms_, model.atoms_)
    assert not np.array_equal(new(random_state=1).fit(waves()).atoms_, model.atoms_)
    assert atomstream.SeriesDictionary is SeriesDictionary


# -- preparation
# --------------------------------------------------------------------------------------------------


def test_a_trailing_mean_is_undone():
    Y = frame(30)
    average = series.MovingAverage(5).fit(Y)
    means = average.transform(Y)
    for t in range(30):
        assert_allclose(means.iloc[t], Y.iloc[max(0, t - 4) : t + 1].mean())
    pd.testing.assert_frame_equal(average.inverse_transform(means), Y, check_freq=False)
    longer = series.MovingAverage(5).fit_transform(frame(36))
    ahead = average.inverse_transform(longer[30:], follows=True)
    assert_allclose(ahead, frame(36)[30:])
    assert_allclose(average.inverse_transform(longer[30:]), frame(36)[30:])
    assert_allclose(average.inverse_transform(longer[30:], follows=False).iloc[0], longer.iloc[30])
    piped = make_pipeline(series.MovingAverage(5), series.Log1p()).fit(Y)
    assert_allclose(piped.inverse_transform(piped.transform(Y)), Y)
    assert_allclose(piped.inverse_transform(np.log1p(longer[30:])), frame(36)[30:])
    set_so = make_pipeline(series.MovingAverage(5, follows=True), series.Log1p()).fit(Y.to_numpy())
    assert_allclose(set_so.inverse_transform(np.log1p(longer[30:].to_numpy())), frame(36)[30:])
    gone = Y.copy()
    gone.iloc[3, 0] = np.nan
    assert_allclose(
        series.MovingAverage(3).fit_transform(gone).iloc[4, 0], Y.iloc[[2, 4], 0].mean()
    )
    assert np.isnan(series.MovingAverage(1).fit_transform(gone).iloc[3, 0])


def test_preparation_can_be_piped_and_undone():
    Y = frame() * 100 - 150
    steps = make_pipeline(series.NonnegativeScaler(margin=0.1), series.Log1p())
    prepared = steps.fit_transform(Y)
    assert prepared.min().min() > 0
    pd.testing.assert_frame_equal(steps.inverse_transform(prepared), Y, check_freq=False)
    ahead = steps.inverse_transform(new().fit(prepared).predict(5))
    assert str(ahead.index[0].date()) == "2020-03-31"


def test_scales_are_those_of_fit():
    scaler = series.NonnegativeScaler().fit([[1.0, 7, np.nan], [3, 7, 2]])
    assert_array_equal(scaler.low_, [1, 7, 2])
    assert_array_equal(scaler.scale_, [2, 1, 1])
    assert_array_equal(scaler.transform([[0.0, 8, np.nan]]), [[0, 1, np.nan]])
    scaler = series.NonnegativeScaler(shift=False).fit([[1.0, 7, 0], [2, np.nan, 0]])
    assert_array_equal(scaler.transform([[0.5, 14, 3]]), [[0.25, 2, 3]])
    assert_array_equal(scaler.inverse_transform([[0.25, 2, 3]]), [[0.5, 14, 3]])
    with pytest.raises(ValueError, match="With shift=False values must not be negative, got -1"):
        scaler.transform([[-1.0, 0, 0]])


def test_bad_preparation_is_refused():
    for step, Y, told in (
        (series.MovingAverage(0), [[1.0]], "size must be a whole number of at least 1"),
        (series.Log1p(), [[-1.0]], "log1p needs values above -1, got -1"),
        (series.NonnegativeScaler(-1), [[1.0]], "margin must be a number of at least 0"),
        (series.NonnegativeScaler(), [[1.0, np.nan]], "Series 1 has no observed value"),
        (series.Log1p(), [["a"]], "Y has the type <U1, needed are real numbers"),
    ):
        with pytest.raises(ValueError, match=told):
            step.fit(Y)
    with pytest.raises(ValueError, match="Y has 2 series, needed are 1"):
        series.Log1p().fit([[1.0]]).transform([[1.0, 2.0]])
    with pytest.raises(NotFittedError):
        series.Log1p().transform([[1.0]])


def test_tables_keep_what_they_are():
    table = Table.of(frame())
    assert table.form.names == ("a", "b", "c")
    assert table.form.axes == ("day", None)
    assert next(streams.windows(table.values, 4, 90)).shape == (87, 12)


# -- sktime
# --------------------------------------------------------------------------------------------------


def test_without_sktime_the_forecaster_says_what_to_install(monkeypatch):
    monkeypatch.setattr("atomstream.fields.series.forecaster.BaseForecaster", None)
    with pytest.raises(ImportError, match=r"pip install 'atomstream\[series\]'"):
        atomstream.SktimeForecaster()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_sktime_gets_what_the_model_says():
    pytest.importorskip("sktime", reason="sktime is not part of atomstream[all]")
    forecaster = atomstream.SktimeForecaster(new()).fit(frame()[:80])
    model = new().fit(frame()[:80])
    pd.testing.assert_frame_equal(
        forecaster.predict(fh=[1, 3]), model.predict(3).iloc[[0, 2]], check_freq=False
    )
    band = forecaster.predict_interval(fh=[2], coverage=[0.5, 0.8])
    assert_allclose(band["b", 0.8, "upper"], model.predict_interval(2, 0.8).high["b"].iloc[[1]])
    forecaster.update(frame()[80:])
    assert_array_equal(forecaster.model_.atoms_, model.partial_fit(frame()[80:]).atoms_)
    with pytest.raises(NotImplementedError):
        forecaster.predict(fh=[-1])


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_sktime_hands_on_columns_that_are_known_ahead():
    pytest.importorskip("sktime", reason="sktime is not part of atomstream[all]")
    table = frame()
    known = pd.DataFrame({"x": np.random.default_rng(3).random(90)}, table.index)
    forecaster = atomstream.SktimeForecaster(new(head="ridge")).fit(table[:70], X=known[:70])
    model = new(head="ridge").fit(table[:70], exogenous=known[:70])
    for first, learns in ((70, False), (80, True)):
        ahead = forecaster.predict(fh=[2], X=known[first : first + 2])
        wanted = model.predict(2, exogenous=known[first : first + 2])
        assert_array_equal(ahead, wanted.iloc[[1]])
        new_rows = slice(first, first + 10)
        forecaster.update(table[70 : first + 10], X=known[70 : first + 10], update_params=learns)
        model.partial_fit(table[new_rows], exogenous=known[new_rows])


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_sktime_may_leave_out_rows_between_the_times_of_a_forecast():
    pytest.importorskip("sktime", reason="sktime is not part of atomstream[all]")
    table = frame()
    known = pd.DataFrame({"x": np.random.default_rng(3).random(90)}, table.index)
    forecaster = atomstream.SktimeForecaster(new(head="ridge")).fit(table[:70], X=known[:70])
    model = new(head="ridge").fit(table[:70], exogenous=known[:70])
    rows = known.to_numpy()[[71, 71, 73, 73]]
    wanted = model.predict(4, exogenous=rows).iloc[[1, 3]]
    assert_array_equal(forecaster.predict(fh=[2, 4], X=known.iloc[[71, 73]]), wanted)


def test_the_default_schedule_raises_no_warning():
    t = np.arange(120)
    X = np.column_stack([2 + np.sin(t / 7), 2 + np.cos(t / 9)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SeriesDictionary(random_state=0).fit(X)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_the_forecaster_passes_all_checks_of_sktime():
    checks = pytest.importorskip("sktime.utils.estimator_checks", reason="sktime is missing")
    from atomstream import SktimeForecaster

    done = checks.check_estimator(SktimeForecaster, raise_exceptions=False, verbose=False)
    assert len(done) > 700
    assert {name: found for name, found in done.items() if found != "PASSED"} == {}
