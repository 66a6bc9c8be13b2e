"""Experiments 003-1 to 003-4: joint patterns of an epidemic in six countries.

Strohmeier's thesis, chapter 2, Figs. 2.2 to 2.5: daily new confirmed, dead and recovered of six
countries (18 series, 81 days from 23 January 2020), trailing means of 5 days, log(1 + y). The
scheme: 20 batches of 100 windows of 6 days, 50 atoms, lambda = 3 (alpha = 1.5 here), then one pass
online with weights t^-4 and one-step predictions with lambda' = 1, then 30 days of extrapolation
with lambda' = 0. Ours keeps A and B of the initialisation and its clock: t goes on from 20. The
initialisation saw all rows: these one-step curves are in-sample.

Beside them: the scheme's variants; honest one-step errors from day 40 on, of models that had seen
earlier rows only, with the thesis's parameters and with ones that follow the last rows (the best of
120 settings on days 20 to 39, and the best on the days themselves); the error of taking a row for
the next ("persistence"), and of a ridge regression, one for all series, of the change on the last
rows of a series, fitted anew to the rows before each forecast (as many rows as were best on days 20
to 39, penalty by leaving rows out); 30 days foretold from 13 March and what happened. Errors are
root mean squares in log units over all series. Leaves ``results/003-1.png``,
``results/003-2.png`` and ``results/003-1.json``.
"""

from __future__ import annotations

from itertools import product
from multiprocessing import Pool
from time import perf_counter, process_time

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline

from atomstream import SeriesDictionary, series, sparse_encode
from atomstream.schedules import Constant, Harmonic

TRIALS, SEEDS, HORIZON, DAY, START = 1000, 20, 30, 40, 51
STEPS = (1, 7, 14, 30)  # days ahead that are told
WINDOW = 6
LAGS, PENALTIES = (1, 2, 3, 6, 8, 12), 10.0 ** np.arange(-2, 5)  # of the regression


def fourth_power(step: int, mass: float, total: float) -> float:
    """Return t^-4, the thesis's weight of the online phase."""
    return step**-4.0


def thesis(penalty: float = 3.0, forecast_penalty: float = 1.0, **changes: object) -> dict:
    """Return the thesis's parameters as ours: lambda is 2 alpha, N the memory, M the batches."""
    told = {"n_components": 50, "window": WINDOW, "memory": 100, "alpha": penalty / 2, "ridge": 0.0}
    told |= {"correction": 0.0, "center": False, "head": None}
    told |= {"forecast_alpha": forecast_penalty / 2, "schedule": fourth_power}
    return told | {"n_init_batches": 20, "init_batch_size": 100} | changes


def following(n_components: int, window: int, memory: int, alpha: float) -> dict:
    """Return settings of a model that knows the last rows only."""
    told = {
        "n_components": n_components,
        "window": window,
        "memory": memory,
        "alpha": alpha,
        "ridge": 0.0,
        "correction": 0.0,
        "center": False,
        "head": None,
    }
    return told | {"schedule": Constant(weight=1.0)}


SEARCHED = [
    chosen
    for chosen in product((25, 50), (6, 8, 10, 12), (12, 16, 20, 30), (0.3, 0.5, 0.8, 1.2))
    if chosen[2] >= chosen[1] + 2
]


def table() -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return the prepared series, (81, 18), their names, and the days."""
    with np.load(DATA / "covid19/six_countries.npz") as stored:
        daily = np.maximum(np.diff(stored["cumulative"], axis=1), 0)
        names = [f"{country} {kind}" for country in stored["countries"] for kind in stored["kinds"]]
        days = stored["dates"][1:]
    Y = daily.transpose(1, 0, 2).reshape(len(days), -1).astype(float)
    return make_pipeline(series.MovingAverage(5), series.Log1p()).fit_transform(Y), names, days


def rms(error: np.ndarray) -> float:
    """Return the root of the mean square of what is there."""
    return float(np.sqrt(np.nanmean(error**2)))


def whole(seed: int, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Run the whole scheme once: (in-sample curves, extrapolation, seconds of one processor)."""
    began = process_time()
    model = SeriesDictionary(**thesis(), random_state=seed).fit(Y, init=Y)
    ahead = model.set_params(forecast_alpha=0.0).predict(HORIZON)
    return model.in_sample_, ahead, process_time() - began


def by_one_dictionary(model: SeriesDictionary, Y: np.ndarray) -> np.ndarray:
    """Return one-step predictions of all rows with the last dictionary of a model."""
    atoms, lags = model.atoms_, model.window - 1
    rows = np.array([Y[t - lags : t].ravel() for t in range(lags, len(Y))])
    codes = sparse_encode(rows, atoms[:, :lags].reshape(len(atoms), -1), alpha=model.forecast_alpha)
    return np.concatenate([np.full((lags, Y.shape[1]), np.nan), codes @ atoms[:, -1]])


def variant(name: str, seed: int, Y: np.ndarray) -> np.ndarray:
    """Return the in-sample one-step curves of a variant of the scheme."""
    if name == "mini-batch only":
        # No window is complete in so few rows: nothing is learned online.
        return by_one_dictionary(
            SeriesDictionary(**thesis(), random_state=seed).fit(Y[: WINDOW - 1], init=Y), Y
        )
    if name == "online only, t^-4":
        return SeriesDictionary(**thesis(n_init_batches=0), random_state=seed).fit(Y).in_sample_
    if name == "online only, 1/t":
        return (
            SeriesDictionary(**thesis(n_init_batches=0, schedule=Harmonic()), random_state=seed)
            .fit(Y)
            .in_sample_
        )
    schedule = Harmonic() if name == "whole, 1/t" else fourth_power
    return (
        SeriesDictionary(**thesis(schedule=schedule), random_state=seed).fit(Y, init=Y).in_sample_
    )


def honest(settings: dict, seed: int, Y: np.ndarray, day: int = DAY) -> np.ndarray:
    """Return honest one-step predictions from a day on; the start sees the days before."""
    model = SeriesDictionary(**settings | {"n_init": day}, random_state=seed).fit(Y[:day])
    made = []
    for row in Y[day:]:
        made.append(model.predict()[0])
        model.partial_fit(row[None])
    return np.array(made)


def regressed(past: np.ndarray, lags: int, horizon: int = 1) -> np.ndarray:
    """Return the next rows by the regression of the change on lags."""
    windows = np.lib.stride_tricks.sliding_window_view(past, lags, axis=0)[:-1].reshape(-1, lags)
    model, rows = RidgeCV(PENALTIES).fit(windows, np.diff(past, axis=0)[lags - 1 :].ravel()), past
    for _ in range(horizon):
        rows = np.vstack([rows, rows[-1] + model.predict(rows[-lags:].T)])
    return rows[len(past) :]


def regression(Y: np.ndarray) -> dict:
    """Return the lags that are best on days 20 to 39, and the errors of the regression."""

    def one_step(lags: int, first: int, end: int) -> float:
        made = [regressed(Y[:day], lags)[0] for day in range(first, end)]
        return rms(np.array(made) - Y[first:end])

    lags = min(LAGS, key=lambda lags: one_step(lags, DAY // 2, DAY))
    off = regressed(Y[:START], lags, HORIZON) - Y[START : START + HORIZON]
    return {
        "lags": lags,
        "from day 40": one_step(lags, DAY, len(Y)),
        "of all lags, from day 40": [one_step(lags, DAY, len(Y)) for lags in LAGS],
        "foretold from day 51": {f"day {step}": rms(off[step - 1]) for step in STEPS},
    }


def early_and_late(chosen: tuple, Y: np.ndarray) -> tuple[float, float]:
    """Return errors on days 20 to 39 and from day 40 on, of the mean of four runs."""
    settings, start = following(*chosen), DAY // 2
    early = np.mean([honest(settings, seed, Y[:DAY], start) for seed in range(4)], axis=0)
    late = np.mean([honest(settings, seed, Y) for seed in range(4)], axis=0)
    return rms(early - Y[start:DAY]), rms(late - Y[DAY:])


def spread(values: list[float]) -> dict[str, float]:
    """Return mean, least and largest."""
    return {
        "mean": float(np.mean(values)),
        "least": min(values),
        "largest": max(values),
        "runs": len(values),
    }


def honest_errors(Y: np.ndarray, pool: Pool) -> tuple[dict, tuple]:
    """Return errors from day 40 on, and the settings that were best on the days before."""
    found = np.array(
        pool.starmap(early_and_late, ((chosen, Y) for chosen in SEARCHED), chunksize=4)
    )
    last = rms(np.diff(Y[DAY - 1 :], axis=0))
    report: dict = {
        "settings": len(SEARCHED),
        "share below persistence": float((found[:, 1] < last).mean()),
    }
    best = [SEARCHED[place] for place in found.argmin(axis=0)]
    for name, settings in (
        ("thesis", thesis()),
        ("following, best on days 20 to 39", following(*best[0])),
        ("following, best on these days", following(*best[1])),
    ):
        curves = np.array([honest(settings, seed, Y) for seed in range(SEEDS)])
        told = {"of the mean prediction of all runs": rms(curves.mean(axis=0) - Y[DAY:])}
        report[name] = spread([rms(curve - Y[DAY:]) for curve in curves]) | told
    names = ("n_components", "window", "memory", "alpha")
    report["best"] = [dict(zip(names, chosen, strict=True)) for chosen in best]
    return report, best[0]


def ahead_of_what_happened(Y: np.ndarray, chosen: tuple) -> dict:
    """Forecast 30 days from day 51 on, and compare with what happened."""
    truth, report = Y[START : START + HORIZON], {}
    last = np.repeat(Y[START - 1 : START], HORIZON, axis=0)
    settings = {
        "thesis": thesis(forecast_penalty=0.0, n_init=START),
        "following": following(*chosen) | {"n_init": DAY},
    }
    made = {name: [] for name in settings}
    for name, chosen in settings.items():
        for seed in range(SEEDS):
            made[name].append(
                SeriesDictionary(**chosen, random_state=seed).fit(Y[:START]).predict(HORIZON)
            )
    for step in STEPS:
        report[f"day {step}"] = {
            **{
                name: spread([rms((curve - truth)[step - 1]) for curve in made[name]])
                for name in settings
            },
            "persistence": rms((last - truth)[step - 1]),
            "standard deviation over runs": {
                name: float(np.std(made[name], axis=0)[step - 1].mean()) for name in made
            },
        }
    return report


def unchanged(Y: np.ndarray) -> dict[str, float]:
    """Return how many of the top 24 atoms stay there online, and how far atoms move."""
    report = {}
    for name, schedule in (("t^-4", fourth_power), ("1/t", Harmonic())):
        kept, moved = [], []
        for seed in range(SEEDS):
            settings = thesis(schedule=schedule)
            before = SeriesDictionary(**settings, random_state=seed).fit(Y[: WINDOW - 1], init=Y)
            after = SeriesDictionary(**settings, random_state=seed).fit(Y, init=Y)
            top = [set(np.argsort(-model.importance_)[:24]) for model in (before, after)]
            kept.append(len(top[0] & top[1]))
            moved.append(rms(after.atoms_ - before.atoms_) / rms(before.atoms_))
        report[name] = {"of 24": float(np.mean(kept)), "atoms moved": float(np.mean(moved))}
    return report


def draw(
    Y: np.ndarray, names: list[str], days: np.ndarray, curves: np.ndarray, ahead: np.ndarray
) -> Figure:
    """Draw observed and one-step curves with extrapolations, mean and deviation."""
    figure = Figure(figsize=(13, 8.2), layout="constrained")
    place, after = np.arange(len(Y)), np.arange(len(Y), len(Y) + HORIZON)
    for i, axes in enumerate(figure.subplots(3, 6, sharex=True, sharey="row").T.flat):
        axes.plot(place, Y[:, i], color="0.2", linewidth=1.6, label="observed")
        for where, made, color, label in (
            (place, curves[:, :, i], "#0072B2", "one step ahead, in-sample"),
            (after, ahead[:, :, i], "#D55E00", "30 days, extrapolated"),
        ):
            mean, sd = made.mean(axis=0), made.std(axis=0)
            axes.plot(where, mean, color=color, linewidth=1, label=label)
            axes.fill_between(
                where, np.maximum(mean - sd, 0), mean + sd, color=color, alpha=0.3, linewidth=0
            )
        axes.set_title(names[i], fontsize=9)
        axes.set_ylim(-0.5, 1.3 * Y[:, i % 3 :: 3].max())
        axes.set_xticks([8, 68], [days[8][5:], days[68][5:]])
        axes.tick_params(labelsize=8)
        if i < 3:
            axes.set_ylabel("log(1 + mean of 5 days)", fontsize=8)
    figure.legend(handles=axes.lines, loc="outside lower center", ncols=3, frameon=False)
    return figure


def draw_atoms(model: SeriesDictionary, names: list[str]) -> Figure:
    """Draw the 24 most important atoms, one per column, one row per country."""
    order = np.argsort(-model.importance_, kind="stable")[:24]
    figure = Figure(figsize=(14, 10.4), layout="constrained")
    countries = [name.rsplit(" ", 1)[0] for name in names[::3]]
    for half, block in zip(order.reshape(2, -1), figure.subfigures(2, 1), strict=True):
        grid = block.subplots(len(countries), len(half), sharex=True, sharey=True)
        for column, atom in zip(grid.T, half, strict=True):
            curves = model.atoms_[atom] / model.atoms_[atom].max()
            for axes, three in zip(column, np.split(curves, len(countries), axis=1), strict=True):
                for curve, colour in zip(three.T, ("#0072B2", "#000000", "#009E73"), strict=True):
                    axes.plot(curve, color=colour, linewidth=1.2)
                axes.set(xticks=[], yticks=[], ylim=(-0.05, 1.05))
            column[0].set_title(f"{100 * model.importance_[atom]:.1f} %", fontsize=9)
        for axes, country in zip(grid[:, 0], countries, strict=True):
            axes.set_ylabel(country, fontsize=8, rotation=0, ha="right", va="center")
    kinds = [name.rsplit(" ", 1)[1] for name in names[:3]]
    figure.legend(axes.lines, kinds, loc="outside lower center", ncols=3, frameon=False)
    return figure


def main() -> None:
    """Run everything, write the numbers, draw."""
    Y, names, days = table()
    whole(0, Y)  # compiling is not learning
    began = perf_counter()
    with Pool(2) as pool:
        made = pool.starmap(whole, ((seed, Y) for seed in range(TRIALS)), chunksize=50)
    report: dict = {
        "trials": TRIALS,
        "seconds on 2 cores, beside what else ran": perf_counter() - began,
    }
    curves, ahead, busy = (np.array(part) for part in zip(*made, strict=True))
    report["seconds of processor"] = float(busy.sum())
    report["in-sample, seeds 0 to 2"] = [rms(curve - Y) for curve in curves[:3]]
    report["in-sample, all trials"] = spread([rms(curve - Y) for curve in curves])
    late = np.r_[: len(Y)] >= WINDOW - 1
    report["persistence"] = {
        "all days": rms(np.diff(Y[WINDOW - 2 :], axis=0)),
        "from day 40": rms(np.diff(Y[39:], axis=0)),
    }
    report["standard deviation over trials"] = {
        "one step": float(curves[:, late].std(axis=0).mean()),
        **{f"extrapolated, day {d}": float(ahead[:, d - 1].std(axis=0).mean()) for d in STEPS},
    }
    report["variants, in-sample"] = {}
    for name in ("whole", "whole, 1/t", "mini-batch only", "online only, t^-4", "online only, 1/t"):
        found = np.array([variant(name, seed, Y) for seed in range(SEEDS)])
        told = spread([rms(curve - Y) for curve in found])
        told["standard deviation over runs"] = float(np.nanmean(found[:, WINDOW:].std(axis=0)))
        report["variants, in-sample"][name] = told
    with Pool(2) as pool:
        report["honest, from day 40"], best = honest_errors(Y, pool)
    report["regression"] = regression(Y)
    report["foretold from day 51"] = ahead_of_what_happened(Y, best)
    report["the 24 most important atoms that stay so"] = unchanged(Y)
    save("003-1", report)
    model = SeriesDictionary(**thesis(), random_state=0).fit(Y, init=Y)
    save_figure(draw_atoms(model, names), "003-1", 75)
    save_figure(draw(Y, names, days, curves, ahead), "003-2", 75)


if __name__ == "__main__":
    main()
