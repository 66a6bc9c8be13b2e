"""Experiment 003-1, forecasts: atoms with default settings on series they were not chosen on.

Honest one-step forecasts by atoms (``head=None``) over the last rows of each set, three seeds.
Beside them stand persistence (the row before for the next) and seasonal persistence (the row one
known season before). Chosen on the first group, judged on the second: other days, cities, stocks,
synthetic processes, and series that statsmodels ships. A set of which `predict` warned at its end
is marked. Errors are root mean squares over all series, each divided by its largest value in the
first rows; the epidemic's are in log units. The models learn these values as they are
(``center=False``). `choose_forecaster` sees no row that is judged: it chooses on the rows before
these. The simple rivals are ridge regressions of the change on the last twelve rows, fitted anew to
all rows before each forecast, their penalty by leaving rows out: of each series on the lags of all,
and one for all series, on the lags of its own. A missing value is the one before, for them alone.
Leaves ``results/003-1-forecasts.json`` and a figure of the same name.
"""

from __future__ import annotations

import csv
import gzip
import warnings
from datetime import datetime
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from exp_003_1_covid import rms, table
from matplotlib import cbook
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save
from sklearn.linear_model import RidgeCV
from statsmodels.datasets import co2, elnino, macrodata, sunspots

from atomstream import SeriesDictionary, choose_forecaster, series

SEEDS = range(3)
LAGS, PENALTIES = 12, 10.0 ** np.arange(-2, 5)  # of the regression
Set = tuple[np.ndarray, int, int]  # rows, the first judged, the season


def loads(n: int, d: int, day: int, week: int, seed: int) -> np.ndarray:
    """Return electricity-like loads: a daily curve, lower at weekends, and slow noise."""
    rng, t = np.random.default_rng(seed), np.arange(n)[:, None]
    phase, high, low = rng.normal(0, 0.1, d), rng.uniform(0.15, 0.35, d), rng.uniform(0.05, 0.15, d)
    daily = high * np.sin(2 * np.pi * (t / day + phase))
    daily += low * np.sin(4 * np.pi * (t / day + phase + 0.2))
    weekend = (t // day) % week >= week - 2
    slow = np.zeros((n, d + 1))
    for i in range(1, n):
        noise = 0.015 * rng.standard_normal(d + 1)
        slow[i] = np.append(np.full(d, 0.9), 0.97) * slow[i - 1] + noise
    noise = 0.01 * rng.standard_normal((n, d))
    shape = np.where(weekend, 0.6 * daily - 0.15, daily)
    return np.exp(shape + slow[:, :d] + slow[:, d:] + noise) * rng.uniform(1, 5, d)


def weather(n: int, d: int, day: int, seed: int) -> np.ndarray:
    """Return weather-like temperatures: a daily curve, shared fronts and slow local noise."""
    rng, t = np.random.default_rng(seed), np.arange(n)[:, None]
    fronts, own = np.zeros((n, 2)), np.zeros((n, d))
    for i in range(1, n):
        fronts[i] = 0.98 * fronts[i - 1] + 0.5 * rng.standard_normal(2)
        own[i] = 0.95 * own[i - 1] + 0.4 * rng.standard_normal(d)
    daily = rng.uniform(2, 5, d) * np.sin(2 * np.pi * (t / day + rng.normal(0, 0.03, d)))
    return np.maximum(15 + daily + 1.5 * fronts @ rng.random((2, d)) + own, 0)


def months() -> np.ndarray:
    """Return monthly temperatures of four cities, NaN where missing."""
    with (DATA / "temperature/monthly_mean_f_1944_2020.csv").open() as file:
        return np.array(
            [[float(x or "nan") for x in row[1:]] for row in list(csv.reader(file))[1:]]
        )


def hours(cities: range, measurement: int, start: int) -> np.ndarray:
    """Return 500 hours of some cities; temperatures in Fahrenheit."""
    with np.load(DATA / "weather_hourly/weather_36x2998x4.npz") as stored:
        values = stored["values"][list(cities), start : start + 500, measurement].T.astype(float)
    return np.maximum(1.8 * (values - 273.15) + 32 if measurement == 0 else values, 0)


def stocks() -> np.ndarray:
    """Return monthly prices of IBM, Apple, Microsoft and Xerox, from the samples of matplotlib."""
    path = cbook.get_sample_data("Stocks.csv", asfileobj=False)
    text = Path(path).read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    rows = [row[1:5] for row in csv.reader(lines[1:]) if row[1]]
    return np.array([[float(x or "nan") for x in row] for row in rows])


def taxis() -> np.ndarray:
    """Return trips per hour from three boroughs of New York in March 2019."""
    counts: dict[str, np.ndarray] = {}
    with gzip.open(DATA / "taxi/nyc_zones_2019-03.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            when = datetime.fromisoformat(row["pickup"])
            if when.month == 3 and row["pickup_borough"]:
                hour = (when.day - 1) * 24 + when.hour
                counts.setdefault(row["pickup_borough"], np.zeros(744))[hour] += 1
    return np.column_stack(sorted(counts.values(), key=np.sum)[-3:])


def monthly(days: pd.DataFrame) -> np.ndarray:
    """Return the means of the months."""
    return days.resample("MS").mean().to_numpy()


def economy() -> np.ndarray:
    """Return nine quarterly series of the economy of the United States."""
    return macrodata.load_pandas().data.iloc[:, 2:11].to_numpy()


def tuning() -> dict[str, Set]:
    """Return the sets that the defaults were chosen on."""
    t, rng = np.arange(300)[:, None], np.random.default_rng(3)
    waves = 2 + np.sin(t / (3 + np.arange(4))) + 0.1 * rng.standard_normal((300, 4))
    return {
        "epidemic, days 20 to 39": (table()[0][:40], 20, 7),
        "loads, hourly": (loads(520, 5, 24, 7, 1), 400, 24),
        "loads, daily": (loads(370, 3, 7, 99, 4), 250, 7),
        "weather, hourly": (weather(470, 5, 24, 2), 350, 24),
        "temperatures of 6 cities, hourly": (hours(range(0, 36, 6), 0, 0)[:470], 350, 24),
        "humidity of 6 cities, hourly": (hours(range(0, 36, 6), 1, 1000)[:470], 350, 24),
        "temperatures of 4 cities, monthly, to 1979": (months()[:420], 300, 12),
        "stocks, monthly, to 2004": (stocks()[:180], 120, 12),
        "waves": (waves, 200, 28),
    }


def judging() -> dict[str, Set]:
    """Return the sets that the defaults are judged on."""
    return {
        "epidemic, from day 40": (table()[0], 40, 7),
        "loads, half-hourly": (loads(800, 4, 48, 7, 11), 600, 48),
        "loads, hourly, weekly season": (loads(700, 6, 24, 7, 12), 500, 168),
        "weather, 3-hourly": (weather(500, 6, 8, 13), 350, 8),
        "temperatures of 6 others, hourly": (hours(range(3, 36, 6), 0, 2000), 350, 24),
        "humidity of 6 others, hourly": (hours(range(3, 36, 6), 1, 1500), 350, 24),
        "wind in 6 others, hourly": (hours(range(3, 36, 6), 3, 500), 350, 24),
        "temperatures of 4 cities, monthly, from 1980": (months()[432:], 300, 12),
        "stocks, monthly, from 2005": (stocks()[180:], 120, 12),
        "taxi trips, hourly": (taxis(), 500, 24),
        "carbon dioxide, monthly": (monthly(co2.load_pandas().data), 360, 12),
        "El Niño, sea temperature, monthly": (
            elnino.load_pandas().data.iloc[:, 1:].to_numpy().reshape(-1, 1),
            480,
            12,
        ),
        "sunspots, yearly": (sunspots.load_pandas().data[["SUNACTIVITY"]].to_numpy(), 200, 11),
        "economy, quarterly": (economy(), 120, 4),
    }


def track(model: SeriesDictionary, Y: np.ndarray, first: int) -> tuple[float, bool]:
    """Return the honest one-step error from a row on, and whether `predict` warns at the end."""
    if model._n_init > first:
        model.set_params(n_init=first)
    model.fit(Y[:first])
    made = []
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for row in Y[first:]:
            found.clear()
            made.append(model.predict()[0])
            model.partial_fit(row[None])
        found.clear()
        model.predict()
        warned = any("one-step errors" in str(each.message) for each in found)
    return rms(np.array(made) - Y[first:]), warned


def regression(Y: np.ndarray, first: int, *, shared: bool) -> float:
    """Return the one-step error of ridge regressions of the change on lags, from a row on."""
    rows = pd.DataFrame(Y).ffill().bfill().to_numpy()
    windows = np.lib.stride_tricks.sliding_window_view(rows, LAGS, axis=0)
    n_lags, made = LAGS if shared else LAGS * Y.shape[1], []
    for row in range(first, len(rows)):
        past = rows[:row]
        scale = np.maximum(past.std(axis=0), 1e-12)
        change, lagged = np.diff(past, axis=0)[LAGS - 1 :], windows[: row - LAGS + 1]
        inputs = (lagged / scale[:, None]).reshape(len(lagged), -1, n_lags)
        targets = (change / scale).reshape(-1, *([] if shared else [Y.shape[1]]))
        model = RidgeCV(PENALTIES).fit(inputs[:-1].reshape(-1, n_lags), targets)
        made.append(past[-1] + model.predict(inputs[-1]).ravel() * scale)
    return rms(np.array(made) - Y[first:])


def judged(name: str, given: Set, *, choose: bool) -> dict:
    """Return errors on one set, also as shares of the better persistence."""
    rows, first, season = given
    scaler = series.NonnegativeScaler(shift=False).fit(rows[:first])
    Y = rows if name.startswith("epidemic") else scaler.transform(rows)
    plain = [SeriesDictionary(center=False, head=None, random_state=seed) for seed in SEEDS]
    runs = [track(model, Y, first) for model in plain]
    told = {
        "persistence": rms(Y[first:] - Y[first - 1 : -1]),
        "seasonal": rms(Y[first:] - Y[first - season : len(Y) - season]),
        "default": float(np.mean([error for error, _ in runs])),
        "regression": regression(Y, first, shared=False),
        "one regression": regression(Y, first, shared=True),
        "runs that warn": sum(warned for _, warned in runs),
    }
    told["ratio"] = told["default"] / min(told["persistence"], told["seasonal"])
    if choose:
        found = choose_forecaster(
            Y[:first],
            windows=[window for window in (6, 12, 24) if window <= first // 2],
            atoms=(10, 30),
            ridges=(0.05, 0.2),
            heads=(),
            n_origins=min(100, first // 2),
            model=SeriesDictionary(center=False, head=None),
            random_state=0,
        )
        fresh = SeriesDictionary(**found.settings, center=False, random_state=0)
        told["chosen"] = track(fresh, Y, first)[0]
        told["settings"] = found.settings
    return told


def draw(sets: dict) -> Figure:
    """Draw the errors of defaults and of chosen settings over those of the better persistence."""
    figure = Figure(figsize=(9, 0.9 + 0.28 * len(sets)), layout="constrained")
    axis, names = figure.subplots(), sorted(sets, key=lambda name: sets[name]["ratio"])
    for line, name in enumerate(names):
        one = sets[name]
        chosen = one["chosen"] / min(one["persistence"], one["seasonal"])
        axis.plot([one["ratio"], chosen], [line, line], color="#7f8c9b")
        axis.plot(one["ratio"], line, "o", color="#d95f02", label="defaults" if not line else None)
        axis.plot(chosen, line, "s", color="#7f8c9b", label="chosen" if not line else None)
    axis.axvline(1, color="black", linestyle="--", linewidth=1)
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlabel(
        "error over that of the better persistence; left of the line the model is better"
    )
    axis.legend()
    return figure


def main() -> None:
    """Judge all sets, print the table, write the numbers."""
    began = perf_counter()
    report = {
        "chosen on": {name: judged(name, given, choose=False) for name, given in tuning().items()},
        "judged on": {name: judged(name, given, choose=True) for name, given in judging().items()},
    }
    for group, sets in report.items():
        print(f"| {group} | persistence | seasonal | default | ratio | chosen | warns |")
        print("|---|---|---|---|---|---|---|")
        for name, told in sets.items():
            names = ("persistence", "seasonal", "default", "ratio", "chosen")
            cells = " | ".join(f"{told[each]:.3f}" if each in told else "" for each in names)
            print(f"| {name} | {cells} | {told['runs that warn']} of {len(SEEDS)} |")
    report["seconds"] = perf_counter() - began
    save_figure(draw(report["judged on"]), "003-1-forecasts", 75)
    save("003-1-forecasts", report)


if __name__ == "__main__":
    main()
