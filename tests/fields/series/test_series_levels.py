"""SeriesDictionary on series with an offset, in unlike units, that fall, begin late or end soon."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import get_tags

import atomstream
from atomstream import SeriesDictionary, choose_forecaster
from atomstream.exceptions import CorruptModelError, DataWarning

pytestmark = pytest.mark.filterwarnings("ignore:The honest one-step errors")


def sine(n=388):
    return 280 + 5 * np.sin(np.arange(n)[:, None] / 4)


def pair(n=200):
    t = np.arange(n)[:, None]
    noise = np.random.default_rng(0).random((n, 2))
    return 280 + 5 * np.sin(t / 4 + np.array([0, 0.7])) + 0.2 * noise


def new(**settings):
    given = {"n_components": 6, "window": 6, "memory": 24, "head": None, "random_state": 0}
    return SeriesDictionary(**given | settings)


def silent_for(n_missing, n=200):
    Y = pair(n)
    Y[-n_missing:, 1] = np.nan
    return Y


def mean_error(model, Y):
    return np.abs(model.predict(12) - Y).mean()


# -- an offset, and scales
# --------------------------------------------------------------------------------------------------


def test_an_offset_does_not_ruin_forecasts():
    Y = sine(400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mean_error(SeriesDictionary(random_state=0).fit(Y[:388]), Y[388:]) < 0.5


@pytest.mark.cover(2)
@pytest.mark.parametrize("head", [None, "mix"])
@pytest.mark.parametrize("gaps", [False, True])
def test_units_do_not_matter(gaps, head):
    Y = np.round(pair(90) * 1024) / 1024
    if gaps:
        Y[np.random.default_rng(1).random(Y.shape) < 0.2] = np.nan
        Y[80:, 0] = np.nan
    other = 4 * Y - 4096
    one, two = new(head=head).fit(Y), new(head=head).fit(other)
    assert_allclose(two.components_, one.components_, atol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        ends = zip(two.predict_interval(3, 0.8), one.predict_interval(3, 0.8), strict=True)
        pairs = [(two.predict(3), one.predict(3)), *ends]
    pairs += [(two.one_step_, one.one_step_), (two.in_sample_, one.in_sample_)]
    pairs += [(two.impute(other), one.impute(Y)), (two.reconstruct(other), one.reconstruct(Y))]
    pairs += [(two.reconstruct(other[:40], online=True), one.reconstruct(Y[:40], online=True))]
    for theirs, ours in pairs:
        assert np.isfinite(ours).any()
        assert_allclose(theirs, 4 * ours - 4096, rtol=1e-8)


def test_a_series_of_large_numbers_does_not_outweigh_one_of_small():
    Y = pair() * [1e6, 1e-3]
    steps = new().fit(Y[:, ::-1]).one_step_[:, ::-1]
    left = np.sqrt(np.nanmean((steps - Y[-24:]) ** 2, axis=0))
    moves = np.sqrt(np.mean(np.diff(Y[-25:], axis=0) ** 2, axis=0))
    assert (left < 0.5 * moves).all()


def test_centering_is_learning_in_the_units_of_the_levels():
    Y = pair(90)
    model = new().fit(Y)
    units = model.levels_.apply(Y)
    assert (units > 0).all()
    plain = new(center=False).fit(units)
    assert_array_equal(plain.components_, model.components_)
    assert_allclose(model.predict(3), model.levels_.undo(plain.predict(3)), rtol=1e-12)
    assert_allclose(model.one_step_, model.levels_.undo(plain.one_step_), rtol=1e-12)
    assert_allclose(model.reconstruct(Y), model.levels_.undo(plain.reconstruct(units)), rtol=1e-12)
    codes = model.learner_.transform(units[:6].reshape(1, -1))
    window = (codes @ model.components_.reshape(6, -1)).reshape(6, 2)
    assert_allclose(model.levels_.offset + model.levels_.scale * window, Y[:6], rtol=0.01)
    assert plain.levels_.offset.tolist() == [0, 0]
    assert plain.levels_.scale.tolist() == [1, 1]


def test_levels_come_from_the_rows_that_the_initialisation_sees_and_stay():
    Y = pair(90)
    for model, first in (
        (new(), Y[:24]),
        (new(n_init=30), Y[:30]),
        (new(n_init_batches=0), Y[:6]),
    ):
        spread = first.std(axis=0)
        model.fit(Y).partial_fit(1000 * Y[:3])
        assert_allclose(model.levels_.scale, spread)
        assert_allclose(model.levels_.offset, first.min(axis=0) - spread)
    other = new().fit(Y, init=7 * Y[20:40])
    assert_allclose(other.levels_.scale, 7 * Y[20:40].std(axis=0))


@pytest.mark.parametrize("head", [None, "mix"])
def test_signed_series_are_learned_and_forecasts_may_be_negative(head):
    Y = pair() - 280
    model = new(head=head).fit(Y[:188])
    assert mean_error(model, Y[188:]) < 1
    assert model.predict(12).min() < -3
    assert model.predict_interval(12, 0.5).low.min() < -3
    with pytest.raises(ValueError, match=r"must not be negative.*give center=True"):
        new(center=False).fit(Y)
    assert get_tags(new(center=False)).input_tags.positive_only


def test_without_centering_nothing_falls_below_zero():
    Y = np.maximum(pair() - 280, 0)
    assert new(center=False).fit(Y).predict_interval(12, 0.9).low.min() == 0


@pytest.mark.parametrize("slope", [-0.5, 0.5])
def test_forecasts_follow_a_trend_past_the_first_rows(slope):
    Y = pair() + slope * np.arange(200)[:, None]
    model = new().fit(Y)
    assert (Y[-24:] < model.levels_.offset).all() == (slope < 0)
    steps = model.one_step_ - Y[-24:]
    assert np.sqrt(np.mean(steps**2)) < 1.5 * np.sqrt(np.mean(np.diff(Y[-25:], axis=0) ** 2))


def test_a_late_series_is_forecast_by_its_last_value_until_its_first_window_is_there(tmp_path):
    Y = pair(120)
    Y[:60, 1] = np.nan
    model = new().fit(Y[:63])
    assert np.isnan(model.levels_.offset[1])
    with pytest.warns(DataWarning, match=r"series 1 \(0 rows ago\).*and a whole window to begin"):
        assert_array_equal(model.predict(2)[:, 1], Y[[62, 62], 1])
    atomstream.save(model, tmp_path / "model.atoms")
    again = atomstream.load(tmp_path / "model.atoms")
    for row in Y[63:]:
        again.partial_fit(row[None])
    whole = new().fit(Y)
    assert_allclose(whole.levels_.scale[1], Y[60:66, 1].std())
    assert_array_equal(again.components_, whole.components_)
    assert_array_equal(again.predict(3), whole.predict(3))
    assert_array_equal(again.predict_interval(3, 0.5).low, whole.predict_interval(3, 0.5).low)
    steps = whole.one_step_[:, 1] - Y[-24:, 1]
    assert np.sqrt(np.mean(steps**2)) < np.sqrt(np.mean(np.diff(Y[-25:, 1]) ** 2))


def test_a_model_keeps_the_units_that_it_was_learned_in():
    model = new().fit(pair(60)).set_params(center=False)
    for call in (model.predict, lambda: model.partial_fit(pair(61)[60:])):
        with pytest.raises(ValueError, match="learned with center=True; call fit"):
            call()


@pytest.mark.parametrize(("name", "part"), [("levels_", "identity"), ("_known", "nothing")])
def test_files_with_levels_of_other_series_are_refused(name, part, tmp_path):
    model = new().fit(pair(60))
    kind = type(getattr(model, name))
    setattr(model, name, getattr(kind, part)(*[3] * (1 + (part == "nothing"))))
    atomstream.save(model, tmp_path / "model.atoms")
    with pytest.raises(CorruptModelError):
        atomstream.load(tmp_path / "model.atoms")


@pytest.mark.parametrize("center", [True, False])
def test_settings_are_chosen_with_and_without_centering(center):
    Y = pair(80)
    settings = {"windows": [6], "atoms": [6], "ridges": [0.05], "n_origins": 10, "random_state": 0}
    choice = choose_forecaster(Y - 280 * center, model=new(center=center), **settings)
    assert choice.model.center == center
    atoms, *_ = choice.errors  # regressions and smoothing follow an offset in any case
    assert (atoms < choice.persistence).all() == center


# -- series that fall silent
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_missing", [99, 150])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.cover(2)
def test_a_silent_series_is_forecast_at_its_last_value(n_missing, center):
    Y = silent_for(n_missing, 388)
    model = new(center=center).fit(Y)
    with pytest.warns(DataWarning, match=rf"then: series 1 \({n_missing} rows ago\)"):
        ahead = model.predict(12)
    assert_array_equal(ahead[:, 1], np.full(12, Y[-n_missing - 1, 1]))
    with pytest.warns(DataWarning, match="series 1"):
        band = model.predict_interval(12, 0.8)
    half = (band.high - band.low) / 2
    steps = np.arange(1, 13)
    assert_allclose(half[:, 0] / half[0, 0], np.sqrt(steps))
    assert_allclose(half[:, 1] / half[0, 1], np.sqrt((n_missing + steps) / (n_missing + 1)))
    before = new(center=center).fit(Y[:-n_missing])
    one = np.sort(np.abs(before.one_step_[:, 1] - Y[-n_missing - 24 : -n_missing, 1]))[19]
    assert_allclose(half[0, 1], one * np.sqrt(n_missing + 1))


def test_the_other_series_keep_their_forecasts_and_bands():
    Y = silent_for(30)
    model = new().fit(Y)
    with pytest.warns(DataWarning, match="series 1"):
        both, band = model.predict(12), model.predict_interval(12, 0.8)
    errors = np.sort(np.abs(model.one_step_[:, 0] - Y[-24:, 0]))
    half = np.sqrt(np.arange(1, 13)) * errors[19]
    assert_allclose(band.low[:, 0], both[:, 0] - half)
    assert_allclose(band.high[:, 0], both[:, 0] + half)


def test_a_silent_series_is_named():
    table = pd.DataFrame(silent_for(20), columns=["Seattle", "Vancouver"])
    with pytest.warns(DataWarning, match=r"then: 'Vancouver' \(20 rows ago\)"):
        new().fit(table).predict()
    many = np.hstack([pair(60)] * 7)
    many[-10:, 1:] = np.nan
    with pytest.warns(DataWarning, match=r"series 1 \(10 .*, series 10 \(10 rows ago\), 3 more"):
        new().fit(many).predict()


def test_a_series_that_speaks_again_is_forecast_by_atoms():
    Y = silent_for(30)
    model = new().fit(Y).partial_fit(pair(212)[200:])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        assert np.abs(model.predict(3) - pair(215)[212:]).max() < 2


def test_honest_predictions_of_a_silent_series_are_its_last_value():
    Y = silent_for(10)
    model = new().fit(Y)
    assert_array_equal(model.one_step_[-5:, 1], np.full(5, Y[-11, 1]))


@pytest.mark.parametrize("head", [None, "mix"])
def test_where_all_series_are_silent_all_keep_their_last_values(head):
    Y = pair(60)
    Y[-8:] = np.nan
    with pytest.warns(DataWarning, match=r"series 0 \(8 rows ago\), series 1 \(8 rows ago\)"):
        assert_array_equal(new(head=head).fit(Y).predict(2), Y[[51, 51]])


def test_a_series_with_too_few_honest_predictions_costs_the_others_nothing():
    Y = pair(60)
    Y[:-4, 1] = np.nan
    Y[:24:2, 1] = pair(60)[:24:2, 1]
    table = pd.DataFrame(Y, columns=["Seattle", "Vancouver"])
    model = new().fit(table)
    with pytest.warns(DataWarning, match="at least 9 honest one-step .*fewer: 'Vancouver'"):
        band = model.predict_interval(2)
    assert band.low["Vancouver"].isna().all()
    assert band.high["Vancouver"].isna().all()
    assert (band.low["Seattle"] < band.high["Seattle"]).all()
    with pytest.raises(ValueError, match=r"coverage=0\.99 needs at least 99 honest"):
        model.predict_interval(2, 0.99)


def test_what_was_last_known_is_saved(tmp_path):
    model = new().fit(silent_for(60))
    atomstream.save(model, tmp_path / "model.atoms")
    again = atomstream.load(tmp_path / "model.atoms")
    for each in (model, again):
        each.partial_fit(silent_for(60)[-3:])
    with pytest.warns(DataWarning, match="63 rows ago"):
        assert_array_equal(again.predict(2), model.predict(2))
    with pytest.warns(DataWarning, match="63 rows ago"):
        assert_array_equal(again.predict_interval(2, 0.5), model.predict_interval(2, 0.5))
