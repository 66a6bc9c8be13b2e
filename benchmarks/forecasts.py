"""Forecasts: a head of `SeriesDictionary` against a regression on lags and other simple rivals.

Twelve sets that nothing was chosen on; twelve on which a fault was found and mended; and those that
constants were chosen on. Five origins each, 1, 12 and 24 steps. Errors are root mean squares over
origins, steps and columns, each column in units of its standard deviation before the first origin.
Every model sees earlier rows only. Bands of 90 % are counted at the step itself.

python benchmarks/forecasts.py
"""

from __future__ import annotations

import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from forecast_sets import HORIZON, SeriesSet, judging, mending, tuning
from rivals_of_forecasts import RIVALS

from atomstream import SeriesDictionary

STEPS = (1, 12, 24)
COVERAGE = 0.9
OURS, ATOMS, MEAN, RIDGE = "head='mix'", "atoms alone", "mean of the rivals", "ridge on 12 rows"
LONGEST = 1000  # rows that the model of atoms alone sees; one more costs it about 10 ms


def followed(given: SeriesSet, head: str | None, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return forecasts and widths of bands of every origin by a model that learns row by row."""
    model, ahead, wide = SeriesDictionary(head=head, random_state=0), [], []
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


def judged(task: tuple[str, SeriesSet]) -> tuple[str, dict]:
    """Return errors of all forecasters on one set, and how often bands hold the truth."""
    warnings.simplefilter("ignore")
    name, given = task
    origins, values, season = given.origins, given.values, given.season
    began = time.process_time()
    made = {}
    made[OURS], wide = followed(given, "mix", 0)
    seconds = time.process_time() - began
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
    print(f"{name}: {seconds:.1f} s", flush=True)
    return name, {
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
    atoms = np.array([it["errors"][ATOMS] for it in sets.values()])
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


def table(sets: dict[str, dict]) -> str:
    """Return errors over those of the ridge regression, at all steps."""
    names = [OURS, ATOMS, *RIVALS, MEAN]
    lines = [f"| set | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for name, it in sets.items():
        ridge = np.array(it["errors"][RIDGE])
        cells = [
            " ".join(f"{x:.2f}" for x in np.array(it["errors"][who]) / ridge)
            if who in it["errors"]
            else ""
            for who in names
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Judge all sets and print the tables."""
    with ProcessPoolExecutor(2) as pool:
        groups = {"chosen on": tuning(), "mended on": mending(), "judged on": judging()}
        for group, sets in groups.items():
            found = dict(pool.map(judged, sets.items()))
            print(f"{group}\n{table(found)}\n{summary(found)}", flush=True)


if __name__ == "__main__":
    main()
