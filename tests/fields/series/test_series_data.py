"""SeriesDictionary on real series: an epidemic in six countries, temperatures of four cities."""

import csv

import numpy as np
import pytest
from shared import DATA, needs_data

from atomstream import SeriesDictionary, series
from atomstream.schedules import Constant

pytestmark = needs_data


def rms(error):
    return np.sqrt(np.nanmean(error**2))


@pytest.fixture(scope="module")
def epidemic():
    with np.load(DATA / "covid19/six_countries.npz") as stored:
        daily = np.maximum(np.diff(stored["cumulative"], axis=1), 0)
    Y = daily.transpose(1, 0, 2).reshape(81, 18).astype(float)
    return series.Log1p().fit_transform(series.MovingAverage(5).fit_transform(Y))


def test_in_sample_steps_of_the_epidemic_are_close(epidemic, room):
    for seed in range(3):
        model = SeriesDictionary(
            50,
            6,
            memory=100,
            alpha=1.5,
            ridge=0.0,
            forecast_alpha=0.5,
            correction=0.0,
            center=False,
            head=None,
            schedule=lambda t, n, N: t**-4.0,
        )
        model.set_params(random_state=seed).fit(epidemic, init=epidemic)
        room.error(rms(model.in_sample_ - epidemic), at_most=0.3)
        assert np.isnan(model.one_step_).all()


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_honest_steps_of_the_epidemic_beat_the_last_day(epidemic, room):
    settings = {
        "memory": 16,
        "alpha": 0.5,
        "ridge": 0.0,
        "correction": 0.0,
        "center": False,
        "head": None,
        "schedule": Constant(weight=1.0),
        "n_init": 40,
    }
    errors = []
    for seed in range(3):
        model = SeriesDictionary(50, 10, random_state=seed, **settings).fit(epidemic[:40])
        steps = []
        for row in epidemic[40:]:
            steps.append(model.predict()[0])
            model.partial_fit(row[None])
        errors.append(rms(np.array(steps) - epidemic[40:]))
    room.fall(np.mean(errors), rms(np.diff(epidemic[39:], axis=0)), at_least=0.03)


def test_the_defaults_follow_the_epidemic_as_well_as_the_last_day(epidemic, room):
    errors = []
    for seed in range(3):
        model = SeriesDictionary(n_init=40, center=False, random_state=seed).fit(epidemic)
        errors.append(rms(model.one_step_[40:] - epidemic[40:]))
    room.ratio(np.mean(errors) / rms(np.diff(epidemic[39:], axis=0)), at_most=1.05)


@pytest.mark.slow
def test_hidden_temperatures_are_filled_better_than_by_the_mean_of_the_month(room):
    with (DATA / "temperature/monthly_mean_f_1944_2020.csv").open() as file:
        rows = list(csv.DictReader(file))
    Y = np.array(
        [[float(row[city] or "nan") for city in ("LA", "SD", "SF", "NYC")] for row in rows]
    )
    hidden = (np.random.default_rng(0).random(Y.shape) < 0.2) & ~np.isnan(Y)
    left = np.where(hidden, np.nan, Y)
    month = np.arange(len(Y)) % 12
    usual = np.array([np.nanmean(left[month == number], axis=0) for number in range(12)])[month]
    scaler = series.NonnegativeScaler().fit(left)
    Z = scaler.transform(left)
    filled = scaler.inverse_transform(
        SeriesDictionary(16, 6, memory=50, ridge=0.01, head=None, schedule="power", random_state=0)
        .fit(Z, init=Z)
        .impute(Z)
    )
    west = hidden[:, :3]
    room.fall(rms((filled - Y)[:, :3][west]), rms((usual - Y)[:, :3][west]), at_least=0.2)
