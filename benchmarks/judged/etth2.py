"""One step ahead on ETTh2 without a leak: a protocol and a table that others set.

``judged/etth2.py`` writes ``results/etth2-one-step.json``; ``judged/etth2.py
windows`` writes ``results/etth2-windows.json``, of 24 and 48 steps, which takes some minutes.

The first 14,400 hours, seven columns, standardised by the first 2,880 rows; the mean squared error
over columns of rows 3,600 to 14,399, each forecast from the rows before it. Every contender makes
one pass, and its settings are those with the least error on rows 1,200 to 3,599. Ours is
`SeriesDictionary` with four atoms, a season of 24 rows and its head; the choice is among lags,
whether the hour of the day is known, and whether wild values are limited. The rival is a
recursive regression of the change of each column on its own lags, with the lags of a day before,
the hour of the day, and forgetting.

Windows of 24 and 48 steps are forecast from every row, and learned from when they have come. The
rival there is the same regression with the setting that one step chose, rolled out: its forecasts
stand in for rows that have not come. The published figures beside them are of models that were
updated with values which they were then judged on.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import csv
import gzip
import itertools
import sys
import time
import warnings

import numpy as np
from benchmark_records import DATA, save

from atomstream import SeriesDictionary
from atomstream.fields.series.head import Head

N_ROWS, N_SCALED, N_CHOICE, FIRST = 14_400, 2_880, 1_200, 3_600
DAY, BLOCK = 24, 240
OURS = tuple(itertools.product((3, 6, 12, 24), (True, False), (2, 0)))
RIVALS = tuple(
    itertools.product((1, 3, 6, 24), (True, False), (True, False), (0.999, 0.9995, 0.9999))
)


def rows():
    """Return the standardised rows, and the hour of the day as a wave."""
    with gzip.open(DATA / "ett/ETTh2.csv.gz", "rt", encoding="utf-8") as file:
        table = np.array([row[1:] for row in csv.reader(file)][1:][:N_ROWS], float)
    first, hour = table[:N_SCALED], 2 * np.pi * np.arange(N_ROWS) / DAY
    waves = np.column_stack([np.sin(hour), np.cos(hour)])
    return (table - first.mean(axis=0)) / first.std(axis=0), waves


def ours(Y, waves, setting):
    """Return forecasts of all rows, one step ahead."""
    lags, of_the_day, max_wild = setting
    head = Head(lags=lags, horizon=1, joint=False, max_wild=max_wild)
    model = SeriesDictionary(4, season=DAY, memory=BLOCK, head=head, random_state=0)
    made = []
    for start in range(0, len(Y), BLOCK):
        end = min(start + BLOCK, len(Y))
        known = {"exogenous": waves[start : end + 1]} if of_the_day else {}
        model.partial_fit(Y[start:end], **known)
        made.append(model.one_step_[start - end :])
    return np.concatenate(made)


def regression(Y, waves, setting):
    """Return forecasts of all rows by recursive least squares of the change of each column."""
    return np.array([made for made, _ in recursion(Y, waves, setting)])


def recursion(Y, waves, setting):
    """Yield the forecast of each row, and the weights that made it, which change with the row."""
    lags, day_before, of_the_day, forget = setting
    (n, d), reach = Y.shape, max(lags + 1, DAY + 2)
    padded = np.concatenate([np.zeros((reach, d)), Y])
    size = 1 + lags + 2 * day_before + 2 * of_the_day
    inverse, weights = np.tile(100.0 * np.eye(size), (d, 1, 1)), np.zeros((d, size))
    x = np.ones((d, size))
    for t in range(n):
        past = padded[: reach + t]
        set_inputs(x, past, waves[t], setting)
        made = past[-1] + np.einsum("ij,ij->i", weights, x)
        yield made, weights
        gain = np.einsum("ijk,ik->ij", inverse, x)
        gain /= (forget + np.einsum("ij,ij->i", x, gain))[:, None]
        weights += gain * (Y[t] - made)[:, None]
        left = np.einsum("ij,ijk->ik", x, inverse)
        inverse = (inverse - gain[:, :, None] * left[:, None]) / forget


def set_inputs(x, past, wave, setting):
    """Write what the change of each column is regressed on behind the ones of the intercept."""
    lags, day_before, of_the_day, _ = setting
    last = past[-1]
    x[:, 1 : 1 + lags] = (last - past[-2 : -2 - lags : -1]).T
    if day_before:
        x[:, 1 + lags : 3 + lags] = (past[[-DAY, -DAY - 1]] - last).T
    if of_the_day:
        x[:, -2:] = wave


def rolled_out(past, waves, setting, weights):
    """Return forecasts of as many rows as there are waves; each stands in for a row to come."""
    rows, x = past[-max(setting[0] + 1, DAY + 2) :], np.ones_like(weights)
    for wave in waves:
        set_inputs(x, rows, wave, setting)
        rows = np.concatenate([rows, [rows[-1] + np.einsum("ij,ij->i", weights, x)]])
    return rows[-len(waves) :]


def one_step(Y, waves):
    """Return the errors of each contender with the settings that the rows before choose."""
    found = {}
    for name, forecast, settings in (("ours", ours, OURS), ("regression", regression, RIVALS)):
        errors = {}
        for setting in settings:
            made = forecast(Y[:FIRST], waves, setting)
            errors[setting] = float(np.mean((made - Y[:FIRST])[N_CHOICE:] ** 2))
        best = min(errors, key=errors.get)
        began = time.process_time()
        squared = (forecast(Y, waves, best) - Y)[FIRST:] ** 2
        seconds = time.process_time() - began
        found[name] = {"setting": list(best), "error before": errors[best], "seconds": seconds}
        found[name] |= {"error": squared.mean(), "by column": squared.mean(axis=0)}
        found[name]["errors before"] = {str(key): value for key, value in errors.items()}
        print(name, found[name], flush=True)
    limited = [*found["ours"]["setting"][:2], 2]
    found["ours, wild values limited"] = {
        "error": np.mean((ours(Y, waves, limited) - Y)[FIRST:] ** 2)
    }
    found["last value"] = {"error": np.mean((Y[FIRST - 1 : -1] - Y[FIRST:]) ** 2)}
    return found


def windows(Y, waves, setting, rival, horizon):
    """Return our error and those of the rivals, over windows of the rows that follow each."""
    lags, of_the_day, max_wild = setting
    head = Head(lags=lags, horizon=horizon, joint=False, max_wild=max_wild)
    model = SeriesDictionary(4, season=DAY, memory=BLOCK, head=head, random_state=0)
    sums, n, steps = np.zeros(3), 0, recursion(Y, waves, rival)
    for t in range(len(Y) - horizon + 1):
        _, weights = next(steps)
        if t >= FIRST:
            known = {"exogenous": waves[t : t + horizon]} if of_the_day else {}
            told = rolled_out(Y[:t], waves[t : t + horizon], rival, weights)
            forecasts = model.predict(horizon, **known), told, Y[t - 1]
            sums += [np.mean((made - Y[t : t + horizon]) ** 2) for made in forecasts]
            n += 1
        known = {"exogenous": waves[t : t + horizon + 1]} if of_the_day else {}
        model.partial_fit(Y[t : t + 1], **known)
    return dict(zip(("ours", "regression", "last value"), sums / n, strict=True))


def main(what):
    """Leave the record of one step, or of windows."""
    began = time.perf_counter()
    Y, waves = rows()
    warnings.simplefilter("ignore")
    if what == "windows":
        # As one step chooses, ours and the regression.
        setting, rival = (24, True, 0), (24, False, True, 0.999)
        found = {str(horizon): windows(Y, waves, setting, rival, horizon) for horizon in (24, 48)}
    else:
        found = one_step(Y, waves)
    save(f"etth2-{what}", found, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["one-step"]))
