"""Experiment 003-5: monthly temperatures of four cities, and their missing months filled.

Strohmeier's thesis, section 3.4, Figs. 3.1 and 3.2: windows of 6 months, memory of 50, 16 atoms,
NOAA's monthly means of Los Angeles, San Diego, San Francisco and New York, 1944 to 2020 (913
months, 10 % of the entries missing), each scaled to [0, 1]. A further 20 % of the entries are
hidden, five times over; told is the root mean square error on them, per city and over the three
Californian ones, as a share of the error of the mean of the calendar month. Beside it: windows of
12 months, no initialisation (the thesis has none), and scikit-learn's IterativeImputer with default
settings on the four columns, and on them with the months before and after; and the same on what is
left without the mean of the calendar month, which is added again.

Then the online reconstruction of section 3.4, each month rebuilt with the dictionary of that
moment, and the atoms: how cities go together inside them (correlation of their curves, atoms
weighted by importance). Beside it the same correlation in the data: in windows of six observed
months, by their first month, of the temperatures and of what is left without the mean of the
calendar month. Leaves ``results/003-5.png``, ``results/003-5-filled.png``,
``results/003-5-phases.png`` and ``results/003-5.json``.
"""

from __future__ import annotations

import csv
import warnings
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - makes the next line possible
from sklearn.impute import IterativeImputer

from atomstream import SeriesDictionary, series

CITIES = ["LA", "SD", "SF", "NYC"]
COLOURS = ("#D55E00", "#E69F00", "#009E73", "#0072B2")
SETTINGS = {
    "n_components": 16,
    "window": 6,
    "memory": 50,
    "ridge": 0.01,
    "schedule": "power",
    "center": False,  # the scaler shifts and scales
    "head": None,
}
VARIANTS = {
    "ours, 6 months": SETTINGS,
    "ours, 12 months": SETTINGS | {"window": 12},
    "ours, 6 months, no initialisation": SETTINGS | {"n_init_batches": 0},
}
MASKS, SHOWN = 5, slice(480, 600)


def table() -> tuple[np.ndarray, list[str]]:
    """Return the temperatures, (913, 4), NaN where missing, and the months."""
    with (DATA / "temperature/monthly_mean_f_1944_2020.csv").open() as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row[city] or "nan") for city in CITIES] for row in rows]), [
        row["month"] for row in rows
    ]


def climatology(Y: np.ndarray) -> np.ndarray:
    """Return the mean of the calendar month for every month."""
    month = np.arange(len(Y)) % 12
    return np.array([np.nanmean(Y[month == number], axis=0) for number in range(12)])[month]


def ours(Y: np.ndarray, settings: dict, seed: int) -> np.ndarray:
    """Fill a table; the initialisation sees the whole of it."""
    scaler = series.NonnegativeScaler().fit(Y)
    Z = scaler.transform(Y)
    start = None if settings.get("n_init_batches") == 0 else Z
    model = SeriesDictionary(**settings, random_state=seed).fit(Z, init=start)
    return scaler.inverse_transform(model.impute(Z))


def iterative(Y: np.ndarray, neighbours: int, seed: int) -> np.ndarray:
    """Fill a table by regressions of columns on each other and on neighbouring months."""
    padded = np.pad(Y, ((neighbours, neighbours), (0, 0)), constant_values=np.nan)
    shifted = [padded[lag : lag + len(Y)] for lag in range(2 * neighbours + 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        filled = IterativeImputer(random_state=seed).fit_transform(np.hstack(shifted))
    return filled[:, 4 * neighbours : 4 * neighbours + 4]


def departures(Y: np.ndarray, neighbours: int, seed: int) -> np.ndarray:
    """Fill what is left without the mean of the calendar month by the same regressions."""
    means = climatology(Y)
    return means + iterative(Y - means, neighbours, seed)


def errors(filled: np.ndarray, Y: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return RMS errors on hidden entries: of each city, and of the first three together."""
    gone = np.where(hidden, filled - Y, np.nan)
    return np.sqrt(np.append(np.nanmean(gone**2, axis=0), np.nanmean(gone[:, :3] ** 2)))


def together(model: SeriesDictionary) -> dict[str, float]:
    """Return the mean correlation of two cities' curves in atoms, weighted by importance."""
    found = {}
    for i, one in enumerate(CITIES):
        for j, other in enumerate(CITIES[:i]):
            curves = model.atoms_[:, :, [i, j]]
            curves = curves - curves.mean(axis=1, keepdims=True)
            spread = np.sqrt((curves**2).sum(axis=1).prod(axis=1))
            alike = curves.prod(axis=2).sum(axis=1)[spread > 0] / spread[spread > 0]
            found[f"{other}, {one}"] = float(
                np.average(alike, weights=model.importance_[spread > 0])
            )
    return found


def in_windows(Y: np.ndarray, length: int = 6) -> dict[str, list[float]]:
    """Return mean correlations of cities in windows by the month they begin in, January first."""
    windows = np.lib.stride_tricks.sliding_window_view(Y, length, axis=0)  # start, city, month
    windows = windows - windows.mean(axis=2, keepdims=True)
    spread = np.linalg.norm(windows, axis=2)
    found = {}
    for i, one in enumerate(CITIES):
        for j, other in enumerate(CITIES[:i]):
            alike = (windows[:, i] * windows[:, j]).sum(axis=1) / (spread[:, i] * spread[:, j])
            by_month = [np.nanmean(alike[first::12]) for first in range(12)]
            found[f"{other}, {one}"] = [float(value) for value in by_month]
    return found


def phases(Y: np.ndarray) -> dict:
    """Return means of the calendar months, and correlations within windows."""
    means = climatology(Y)
    return {
        "mean of the month, F": dict(zip(CITIES, means[:12].T.tolist(), strict=True)),
        "correlation in windows": in_windows(Y),
        "without the mean of the month": in_windows(Y - means),
    }


def draw_phases(told: dict) -> Figure:
    """Draw the year of each city, and how Los Angeles goes with the others in windows."""
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    names = ("J", "F", "M", "A", "M", "J", "J", "A", "S", "O", "N", "D")
    left, *others = figure.subplots(1, 3)
    for city, colour in zip(CITIES, COLOURS, strict=True):
        year = np.array(told["mean of the month, F"][city])
        left.plot((year - year.min()) / (year.max() - year.min()), "o-", color=colour, label=city)
    left.set(title="mean of the month, scaled to [0, 1]", ylim=(-0.05, 1.05))
    for axes, key in zip(others, list(told)[1:], strict=True):
        for city, colour in zip(CITIES[1:], COLOURS[1:], strict=True):
            axes.plot(told[key][f"LA, {city}"], "o-", color=colour)
        axes.axhline(0, color="0.6", linewidth=0.8)
        axes.set(ylim=(-1.05, 1.05), xlabel="first month of the window")
    others[0].set_title("correlation with LA in windows of 6 months")
    others[1].set_title("the same without the mean of the month")
    for axes in (left, *others):
        axes.set_xticks(range(12), names)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def draw(months: list[str], Y: np.ndarray, hidden: np.ndarray, filled: np.ndarray) -> Figure:
    """Draw ten years: what the model saw, what it filled in, and what had been hidden."""
    figure = Figure(figsize=(11, 7.2), layout="constrained")
    place = np.arange(SHOWN.start, SHOWN.stop)
    for axes, city, name in zip(figure.subplots(4, 1, sharex=True), range(4), CITIES, strict=True):
        seen = np.where(hidden, np.nan, Y)[SHOWN, city]
        axes.plot(place, filled[SHOWN, city], color="0.8", linewidth=1)
        axes.plot(place, seen, ".", color="0.25", markersize=4, label="seen")
        axes.plot(
            place,
            np.where(np.isnan(seen), filled[SHOWN, city], np.nan),
            "x",
            color="#D55E00",
            label="filled in",
        )
        told = np.where(hidden, Y, np.nan)[SHOWN, city]
        axes.plot(place, told, "o", color="#0072B2", markersize=5, fillstyle="none", label="hidden")
        axes.set_ylabel(f"{name}, F")
    axes.set_xticks(place[::24], months[SHOWN][::24])
    figure.legend(handles=axes.lines[1:], loc="outside upper center", ncols=3, frameon=False)
    return figure


def draw_atoms(model: SeriesDictionary) -> Figure:
    """Draw the atoms of each city as rows, and the most important ones as curves.

    Atoms are sorted by the month in which California's share is centred.
    """
    atoms = model.atoms_ / model.atoms_.max(axis=(1, 2), keepdims=True)
    months = atoms[:, :, :3].sum(axis=2)
    order = np.argsort(months @ np.arange(atoms.shape[1]) / months.sum(axis=1), kind="stable")
    shares = model.importance_[order]
    figure = Figure(figsize=(13, 8.4), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.5, 1))
    maps = above.subplots(1, len(CITIES), sharey=True)
    for axes, name, city in zip(maps, CITIES, range(len(CITIES)), strict=True):
        drawn = axes.imshow(atoms[order, :, city], cmap="viridis", vmin=0, vmax=1, aspect="auto")
        axes.set(title=name, xlabel="month of the window")
        axes.set_xticks(range(atoms.shape[1]), range(1, atoms.shape[1] + 1))
    rows = [f"{number + 1}: {100 * share:.0f} %" for number, share in enumerate(shares)]
    maps[0].set_yticks(range(len(order)), rows)
    maps[0].set_ylabel("atom: importance")
    above.colorbar(drawn, ax=maps, label="share of the atom's largest value")
    top = np.argsort(-shares, kind="stable")[:6]
    for axes, place in zip(below.subplots(1, len(top), sharey=True), np.sort(top), strict=True):
        for city, colour in enumerate(COLOURS):
            axes.plot(range(1, atoms.shape[1] + 1), atoms[order[place], :, city], color=colour)
        axes.set_title(f"atom {place + 1}")
    below.legend(axes.lines, CITIES, loc="outside lower center", ncols=4, frameon=False)
    return figure


def main() -> None:
    """Hide, fill, compare; learn from all, rebuild, draw."""
    Y, months = table()
    found: dict[str, list[np.ndarray]] = {}
    seconds: dict[str, list[float]] = {}
    for seed in range(MASKS):
        hidden = (np.random.default_rng(seed).random(Y.shape) < 0.2) & ~np.isnan(Y)
        left = np.where(hidden, np.nan, Y)
        base = errors(climatology(left), Y, hidden)
        ways = {name: (ours, settings) for name, settings in VARIANTS.items()}
        ways |= {f"IterativeImputer, {2 * n + 1} months": (iterative, n) for n in (0, 1)}
        found.setdefault("mean of the month, F", []).append(base)
        ways |= {
            f"{name}, departures": (departures, how)
            for name, (fill, how) in ways.items()
            if fill is iterative
        }
        for name, (fill, how) in ways.items():
            began = perf_counter()
            filled = fill(left, how, seed)
            seconds.setdefault(name, []).append(perf_counter() - began)
            found.setdefault(name, []).append(errors(filled, Y, hidden) / base)
            if seed == 0 and name == "ours, 6 months":
                shown = (hidden, filled)
    report: dict = {
        name: dict(zip([*CITIES, "LA, SD, SF"], np.mean(rows, axis=0).tolist(), strict=True))
        for name, rows in found.items()
    }
    for name in seconds:
        report[name] |= {
            "largest, LA, SD, SF": max(row[4] for row in found[name]),
            "seconds": min(seconds[name]),
        }
    scaler = series.NonnegativeScaler().fit(Y)
    Z = scaler.transform(Y)
    model = SeriesDictionary(**SETTINGS, n_init_batches=0, random_state=0).fit(Z)
    rebuilt = scaler.inverse_transform(model.reconstruct(Z, online=True))
    off = np.sqrt(np.nanmean((rebuilt - Y)[50:] ** 2, axis=0)).tolist()
    report["online reconstruction of observed entries, F"] = dict(zip(CITIES, off, strict=True))
    report["correlation inside atoms"] = together(model)
    report["phases"] = phases(Y)
    save("003-5", report)
    save_figure(draw_phases(report["phases"]), "003-5-phases", 80)
    save_figure(draw_atoms(model), "003-5", 80)
    save_figure(draw(months, Y, *shown), "003-5-filled", 75)


if __name__ == "__main__":
    main()
