"""Forecasts: `SeriesDictionary` against a regression on lags and other simple rivals.

``python benchmarks/forecasts.py [judged | seen | speed]`` writes ``results/forecasts-<part>.json``:
twelve sets that nothing was chosen on; those that were looked at before (on sixteen constants were
chosen, on twelve a fault was found and mended, on twenty-four three regressions were added); and
processor times. Five origins each, 1, 12 and 24 steps. Errors are root mean squares over origins,
steps and columns, each column in units of its standard deviation before the first origin. Every
model sees earlier rows only. Bands of 90 % are counted at the step itself.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from benchmark_records import save
from forecast_sets import (
    HORIZON,
    SeriesSet,
    ett,
    judged_second,
    judged_third,
    judging,
    mending,
    tuning,
)
from rivals_of_forecasts import RIVALS

from atomstream import SeriesDictionary, choose_forecaster

STEPS = (1, 12, 24)
COVERAGE = 0.9
OURS, ATOMS, MEAN, RIDGE = "head='mix'", "atoms alone", "mean of the rivals", "ridge on 12 rows"
LONGEST = 1000  # rows that the model of atoms alone sees; one more costs it about 10 ms


def followed(given: SeriesSet, head: str | None, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return forecasts and widths of bands of every origin by a model that learns row by row."""
    model, ahead, wide = SeriesDictionary(head=head, random_state=0), [], []
    if given.origins[0] - first < 4 * model.window:  # as `choose_forecaster` has it
        model.set_params(n_init=given.origins[0] - first)
    if head and given.season > 1:
        model.set_params(season=given.season)
    known = first
    for origin in given.origins:
        model.partial_fit(given.values[known:origin])
        known = origin
        ahead.append(model.predict(HORIZON))
        try:
            low, high = model.predict_interval(HORIZON, COVERAGE)
            wide.append((high - low) / 2)
        except ValueError:  # too few honest predictions of atoms
            wide.append(np.full_like(ahead[-1], np.nan))
    return np.stack(ahead), np.stack(wide)


def judged(given: SeriesSet, *, atoms: bool) -> dict:
    """Return errors of all forecasters on one set, and how often bands hold the truth."""
    origins, values, season = given.origins, given.values, given.season
    began = time.process_time()
    made = {}
    made[OURS], wide = followed(given, "mix", 0)
    seconds = time.process_time() - began
    if atoms:
        made[ATOMS], _ = followed(given, None, max(0, origins[0] - LONGEST))
    for rival, forecast in RIVALS.items():
        if rival != "seasonal persistence" or season > 1:
            made[rival] = np.stack([forecast(values[:n], season, HORIZON) for n in origins])
    made[MEAN] = np.mean([made[rival] for rival in RIVALS if rival in made], axis=0)
    truth = np.stack([values[n : n + HORIZON] for n in origins])
    scale = values[: origins[0]].std(axis=0)
    scale = np.where(scale > 0, scale, 1)
    errors = {
        who: [float(np.sqrt(np.mean(((it - truth) / scale)[:, :n] ** 2))) for n in STEPS]
        for who, it in made.items()
    }
    held = np.where(np.isnan(wide), np.nan, np.abs(truth - made[OURS]) <= wide)
    covered = [np.nanmean(held[:, n - 1], axis=1).tolist() for n in STEPS]
    return {
        "errors": errors,
        "covered": covered,
        "seconds": seconds,
        "rows": len(values),
        "columns": values.shape[1],
        "season": season,
    }


def summary(sets: dict[str, dict]) -> dict[str, float | list[float]]:
    """Return the means over sets and steps of the ratios, and the coverage."""
    rivals = {
        name: [who for who in it["errors"] if who not in (OURS, ATOMS)] for name, it in sets.items()
    }
    own = np.array([it["errors"][OURS] for it in sets.values()])
    ridge = np.array([it["errors"][RIDGE] for it in sets.values()])
    best = np.array(
        [np.min([it["errors"][who] for who in rivals[name]], axis=0) for name, it in sets.items()]
    )
    atoms = np.array([it["errors"].get(ATOMS, [np.nan] * len(STEPS)) for it in sets.values()])
    covered = np.array([it["covered"] for it in sets.values()])  # sets, steps, origins
    counts = np.isfinite(covered).sum(axis=(0, 2))
    per_set = own.prod(axis=1) / best_of_sets(sets, rivals)
    return {
        "over ridge": geometric(own / ridge),
        "worst over ridge": float((own / ridge).max()),
        "over the best of each set and step": geometric(own / best),
        "over the best of each set": geometric(per_set ** (1 / len(STEPS))),
        "atoms alone over ridge": geometric(atoms / ridge),
        "coverage": np.nanmean(covered, axis=(0, 2)).tolist(),
        "standard error of it": (np.nanstd(covered, axis=(0, 2)) / np.sqrt(counts)).tolist(),
    }


def best_of_sets(sets: dict[str, dict], rivals: dict[str, list[str]]) -> np.ndarray:
    """Return the smallest product of a rival's errors over the steps, for each set."""
    return np.array(
        [min(np.prod(it["errors"][who]) for who in rivals[name]) for name, it in sets.items()]
    )


def geometric(ratios: np.ndarray) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.log(ratios).mean()))


def all_judged(sets: dict[str, SeriesSet], *, atoms: bool) -> dict[str, dict]:
    """Return what `judged` and `summary` say of these sets."""
    found = {}
    for name, given in sets.items():
        found[name] = it = judged(given, atoms=atoms)
        over = np.array(it["errors"][OURS]) / it["errors"][RIDGE]
        print(f"{name}: {np.round(over, 2)} in {it['seconds']:.1f} s", flush=True)
    print(summary(found), flush=True)
    return {"sets": found, "summary": summary(found)}


def seen() -> dict[str, dict]:
    """Return the same of the sets that were looked at before, without atoms alone."""
    added = judged_second() | judged_third()
    groups = {"chosen on": tuning(), "mended on": mending(), "added on": added}
    return {group: all_judged(sets, atoms=False) for group, sets in groups.items()}


def speed() -> dict[str, float]:
    """Return the processor time of 11,000 rows of seven columns, and of a choice on 288 months."""
    t = np.arange(288)[:, None]
    months = 280 + 0.02 * t + 5 * np.sin(2 * np.pi * t / 12)
    months = months + np.random.default_rng(0).standard_normal((288, 1))
    work = {
        "11,000 rows of ETTh2": lambda: SeriesDictionary(season=24, random_state=0).fit(
            ett(0, 11_000)
        ),
        "a choice on 288 months": lambda: choose_forecaster(months, season=12, random_state=0),
    }
    SeriesDictionary(season=12).fit(months[:80])  # compiles
    found = {}
    for name, call in work.items():
        began = time.process_time()
        call()
        found[name] = time.process_time() - began
        print(f"{name}: {found[name]:.1f} s", flush=True)
    return found


PARTS = {"judged": lambda: all_judged(judging(), atoms=True), "seen": seen, "speed": speed}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for part in sys.argv[1:] or PARTS:
        save(f"forecasts-{part}", PARTS[part]())
