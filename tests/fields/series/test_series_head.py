"""Forecasts by a head: regressions on lags and their like, beside the atoms."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import SeriesDictionary, load, save
from atomstream.fields.series.head import HEADS, Head

SMALL = {"n_components": 4, "window": 6, "random_state": 0}


def waves(n=120, d=2, seed=0):
    t, rng = np.arange(n)[:, None], np.random.default_rng(seed)
    return 50 + 5 * np.sin(2 * np.pi * t / 12 + np.arange(d)) + rng.standard_normal((n, d))


def new(head="mix", **more):
    return SeriesDictionary(**{**SMALL, "season": 12, "head": head, **more})


def same(one, other):
    """Assert that two models forecast the same, to the bit, with the same bands."""
    assert_array_equal(one.predict(30), other.predict(30))
    for a, b in zip(one.predict_interval(30), other.predict_interval(30), strict=True):
        assert_array_equal(a, b)
    assert_array_equal(one.components_, other.components_)
    assert_array_equal(one.one_step_, other.one_step_)


def error(made, truth):
    return np.sqrt(np.mean((np.asarray(made) - truth) ** 2))


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
@pytest.mark.parametrize("head", sorted(HEADS))
def test_every_head_forecasts_with_bands(head):
    Y = waves()
    model = new(head).fit(Y[:100])
    ahead, band = model.predict(30), model.predict_interval(30)
    assert ahead.shape == (30, 2)
    assert np.isfinite(ahead).all()
    assert ((band.low < ahead) & (ahead < band.high)).all()


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_a_mix_is_better_than_persistence_and_not_worse_than_a_regression(room):
    Y, ratios = waves(400), []
    for n in range(280, 376, 48):
        truth = Y[n : n + 24]
        mix = error(new().fit(Y[:n]).predict(24), truth)
        ratios.append(
            [mix / error(new(h).fit(Y[:n]).predict(24), truth) for h in ("ridge", "seasonal")]
        )
    mean = np.exp(np.log(ratios).mean(axis=0))
    room.ratio(mean[0], at_most=1.1)
    room.error(mean[1], at_most=1.2)


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
@pytest.mark.parametrize("cut", [1, pytest.param(7, marks=pytest.mark.long), 50])
def test_fit_is_partial_fit_row_by_row(cut):
    Y, model = waves(), new()
    Y[40:44, 0] = np.nan
    for start in range(0, len(Y), cut):
        model.partial_fit(Y[start : start + cut])
    same(model, new().fit(Y))


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
@pytest.mark.parametrize("n", [20, 70])
def test_law_4_save_load_go_on_is_never_stopped(n, tmp_path):
    Y, model = waves(), new().partial_fit(waves()[:n])
    save(model, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms")
    same(again.partial_fit(Y[n:]), model.partial_fit(Y[n:]))


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_law_3_a_call_that_fails_half_way_leaves_the_head_as_it_was(monkeypatch):
    from atomstream.fields.series import head_learning

    Y, model, learned = waves(), new().fit(waves()[:80]), head_learning.learned
    before, calls = model.predict(12), []

    def failing(*arguments):
        calls.append(0)
        if len(calls) > 10:
            raise RuntimeError("half way")
        learned(*arguments)

    monkeypatch.setattr(head_learning, "learned", failing)
    with pytest.raises(RuntimeError, match="half way"):
        model.partial_fit(Y[80:])
    monkeypatch.undo()
    assert_array_equal(model.predict(12), before)
    same(model.partial_fit(Y[80:]), new().fit(Y))


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_law_7_what_is_kept_does_not_grow(tmp_path):
    sizes = []
    for n in (250, 300):  # the errors that are kept are 200
        model = new(memory=20).fit(waves(n))
        state = model._head
        arrays = [value for value in vars(state).values() if isinstance(value, np.ndarray)]
        sizes.append([array.shape for array in arrays])
    assert sizes[0] == sizes[1]


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_a_change_of_later_rows_changes_no_earlier_prediction():
    Y = waves()
    other = Y.copy()
    other[100:] += 30
    a, b = new().fit(Y), new().fit(other)
    made = len(a.one_step_) - 20
    assert_array_equal(a.one_step_[:made], b.one_step_[:made])


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_alone_every_series_is_forecast_as_if_there_were_no_other():
    Y = waves(d=5) * [1, 10, 100, 1, 1]
    model = new(Head(joint=False)).fit(Y)
    alone = [new(Head(joint=False)).fit(Y[:, [j]]).predict(24) for j in range(5)]
    assert_allclose(model.predict(24), np.hstack(alone), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_one_wild_value_does_not_ruin_later_forecasts_and_a_move_is_followed(room, seeds):
    """Without a limit the errors are more than 200 times as large 26 rows after the wild value."""
    for seed in seeds:
        Y = waves(200, 2, seed)
        wild, moved = Y.copy(), Y.copy()
        wild[150, 0] = 5e4
        moved[140:, 0] += 500
        plain = error(new().fit(Y[:176]).predict(24), Y[176:])
        room.ratio(error(new().fit(wild[:176]).predict(24), Y[176:]) / plain, at_most=1.2)
        room.error(error(new().fit(moved[:150]).predict(6), moved[150:156]), at_most=20)


def test_columns_that_are_known_ahead_are_used(room):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((220, 1))
    Y = 20 + 3 * X + 0.1 * rng.standard_normal((220, 1))
    blind = SeriesDictionary(**SMALL, head="ridge").fit(Y[:200])
    model = SeriesDictionary(**SMALL, head="ridge").fit(Y[:200], exogenous=X)
    made = model.predict(20, exogenous=X[200:])
    room.error(error(made, Y[200:]), at_most=0.2 * error(blind.predict(20), Y[200:]))
    with pytest.raises(ValueError, match="20 rows of 1 column without NaN"):
        model.predict(20)
    with pytest.raises(ValueError, match="a row for each of the 200 rows"):
        model.fit(Y[:200], exogenous=X[:100])
    with pytest.raises(ValueError, match="exogenous has 2 columns, needed are 1"):
        model.partial_fit(Y[200:], exogenous=np.hstack([X, X])[200:])
    with pytest.raises(ValueError, match="exogenous is for the head"):
        SeriesDictionary(**SMALL, head=None).fit(Y, exogenous=X)


def test_columns_known_ahead_come_in_parts_too(tmp_path):
    X, Y = waves(140, 1, 5), waves(120)
    model = new("ridge")
    for first, last in ((0, 10), (10, 60), (60, 120)):
        model.partial_fit(Y[first:last], exogenous=X[first : last + 24])
        save(model, tmp_path / "model.atoms")
        model = load(tmp_path / "model.atoms")
    whole = new("ridge").fit(Y, exogenous=X)
    assert_allclose(
        model.predict(12, exogenous=X[120:]), whole.predict(12, exogenous=X[120:]), rtol=0.02
    )


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_bands_have_the_width_of_the_errors_of_their_step(room):
    """Of a season they do not grow, of a random walk they do; none is cut at zero."""
    rng = np.random.default_rng(1)
    season, walk = waves(500, 1), 5 + np.cumsum(rng.standard_normal((500, 1)), axis=0)
    widths = []
    for Y in (season, walk):
        low, high = new().fit(Y).predict_interval(24)
        widths.append((high - low)[:, 0])
    room.ratio(widths[0][23] / widths[0][0], at_most=2.0)
    room.gain(widths[1][23] / widths[1][0], at_least=2.0)
    positive = np.exp(rng.standard_normal((200, 1)))
    assert new(center=False).fit(positive).predict_interval(12).low.min() < 0


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_bands_hold_what_they_say(room):
    held = []
    for seed in range(8):
        Y = waves(324, 2, seed)
        low, high = new("ridge").fit(Y[:300]).predict_interval(24)
        held.append(((low <= Y[300:]) & (Y[300:] <= high)).mean())
    room.near(np.mean(held), 0.9, abs=0.09)


def test_frames_keep_their_names_and_a_late_series_waits():
    Y = waves(120, 3)
    Y[:70, 2] = np.nan
    Y[:, 1] = 4.0
    dates = pd.date_range("2000-01-31", periods=120, freq="ME")
    model = new("ridge").fit(pd.DataFrame(Y, dates, list("abc")))
    ahead = model.predict(3)
    assert list(ahead.columns) == list("abc")
    assert np.isfinite(ahead.to_numpy()).all()
    assert_allclose(ahead["b"], 4.0, atol=1e-6)


def test_heads_that_cannot_be_are_refused():
    Y = waves()
    with pytest.raises(ValueError, match="head='seasonal' needs season"):
        SeriesDictionary(head="seasonal").fit(Y)
    with pytest.raises(ValueError, match="codes alone must be joint"):
        SeriesDictionary(head=Head(("codes",), joint=False)).fit(Y)
    with pytest.raises(ValueError, match="head='arima' is unknown"):
        SeriesDictionary(head="arima").fit(Y)
    model = SeriesDictionary(**SMALL, head=None).fit(Y).set_params(head="mix")
    with pytest.raises(ValueError, match="call fit to start anew"):
        model.predict()
    with pytest.raises(ValueError, match="call fit to start anew"):
        model.partial_fit(Y)
    with pytest.raises(ValueError, match="another than the one that learned"):
        new().fit(Y).set_params(season=7).predict()


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_series_that_jump_between_levels_are_followed_at_once_without_a_limit(room):
    rng = np.random.default_rng(0)
    levels = 500 * np.repeat(rng.integers(0, 2, (20, 1)), 30, axis=0)
    Y = 50 + rng.standard_normal((600, 1)) + levels
    limited, free = (
        error(new(Head(horizon=6, max_wild=n), season=None, memory=400).fit(Y).one_step_, Y[-400:])
        for n in (2, 0)
    )
    room.error(free, at_most=0.95 * limited)
    with pytest.raises(ValueError, match="Head needs max_wild to be a whole number from 0"):
        Head(max_wild=-1)
