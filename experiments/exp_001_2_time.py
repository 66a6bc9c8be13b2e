"""Experiments 001-2 and 001-3: seconds against samples, error against seconds (figure 4).

Well-separated mixtures of five Gaussians in 50 dimensions, 150 representatives, lambda = 0.2 /
sqrt(50). All times are computing time on one core. Online methods are one stream in chunks of 128
rows, so that the time at n is the time of a stream of n; making the samples is not on the clock. A
method stops where it has used up its seconds. For the error, the norm of X - H D over n at signed
lasso codes, 5,000 samples are learned: the online methods in passes, the batch until its own error
changes by less than 1e-4, or for a minute. In 50 dimensions the batch is finished at its k-means
start; so the error is also followed where the clusters overlap, in 3 dimensions with covariance
2.5 I.

Leaves ``results/001-2.png`` and ``results/001-2.json``.
"""

from __future__ import annotations

import resource
from itertools import pairwise

import numpy as np
from convex_baselines import (
    N_REPRESENTATIVES,
    Stopwatch,
    convex_mf,
    convex_mf_steps,
    l2_error,
    mixture,
    strength,
)
from matplotlib.figure import Figure
from pictures import save_figure
from records import save

from atomstream import OnlineConvexMF, OnlineDictionaryLearning

N_FEATURES, N_CLUSTERS, CHUNK, BLOCK = 50, 5, 128, 12_800
SIZES = [10**e for e in (2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6)]
SECONDS = {"online R_r": 240.0, "online R_u": 20.0, "online MF": 20.0}
COLOURS = {
    "cvxMF": "#0072B2",
    "online R_u": "#009E73",
    "online R_r": "#D55E00",
    "online MF": "#999999",
}
ALPHA = strength(N_FEATURES)
BATCH_SIZES, N_ERROR, MOST_SECONDS = (100, 316, 1000, 3162, 10_000), 5000, 60.0
MIXTURES = {"m = 50": {}, "m = 3, overlapping": {"n_features": 3, "variance": 2.5}}


def model(name: str, alpha: float = ALPHA) -> OnlineConvexMF | OnlineDictionaryLearning:
    """Return an online method at its start."""
    if name == "online MF":
        return OnlineDictionaryLearning(N_CLUSTERS, alpha=alpha, random_state=0)
    assignment = {"online R_r": "code", "online R_u": "random"}[name]
    return OnlineConvexMF(
        N_CLUSTERS,
        n_representatives=N_REPRESENTATIVES,
        assignment=assignment,
        alpha=alpha,
        random_state=0,
    )


def memory() -> int:
    """Return the most memory that this process has held, in bytes; Linux tells kilobytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def stream(name: str, n_samples: int, seconds: float) -> tuple[np.ndarray, int]:
    """Return the seconds of each chunk, and the growth of memory after the second block."""
    learner, means = model(name), mixture(1)[2]
    spent, rng, held = [], np.random.default_rng(1), 0
    for block in range(-(-n_samples // BLOCK)):
        X = means[rng.integers(N_CLUSTERS, size=BLOCK)] + np.clip(
            rng.standard_normal((BLOCK, N_FEATURES)), -3, 3
        )
        for start in range(0, min(BLOCK, n_samples - block * BLOCK), CHUNK):
            with Stopwatch() as watch:
                learner.partial_fit(X[start : start + CHUNK])
            spent.append(watch.seconds)
        held = held or (memory() if block == 1 else 0)
        if sum(spent) > seconds:
            break
    return np.array(spent), memory() - held if held else 0


def flatness(spent: np.ndarray) -> dict[str, float]:
    """Return how the seconds per sample change along a stream."""
    ends, found = np.arange(1, len(spent) + 1) * CHUNK, {}
    for low, high in pairwise((10**3, 10**4, 10**5, 10**6)):
        part = spent[(ends > low) & (ends <= high)]
        if ends[-1] >= 0.5 * high:
            found[f"microseconds per sample, {low} to {high}"] = 1e6 * float(part.mean()) / CHUNK
    later = spent[2:]  # the first two chunks hold the start
    worst = np.sort(later)[-max(1, len(later) // 100) :]
    found["mean of the worst 1 % of chunks over the median"] = float(
        worst.mean() / np.median(later)
    )
    return found | {"samples per second": len(later) * CHUNK / float(later.sum())}


def single_rows(n_samples: int = 5000) -> dict[str, float]:
    """Return the seconds of calls with one row, after the start."""
    learner, X = model("online R_r"), mixture(n_samples + N_REPRESENTATIVES, seed=2)[0]
    learner.partial_fit(X[:N_REPRESENTATIVES])
    spent = []
    for row in X[N_REPRESENTATIVES:]:
        with Stopwatch() as watch:
            learner.partial_fit(row[None])
        spent.append(watch.seconds)
    worst = np.sort(spent)[-n_samples // 100 :]
    return {
        "median": float(np.median(spent)),
        "worst 1 % over the median": float(worst.mean() / np.median(spent)),
    }


def batch_times() -> dict[int, float]:
    """Return the seconds of batch convex factorization by the number of samples."""
    found = {}
    for n in BATCH_SIZES:
        X = mixture(n, seed=1)[0]
        with Stopwatch() as watch:
            convex_mf(X, N_CLUSTERS)
        found[n] = watch.seconds
        print("cvxMF", n, watch.seconds, flush=True)
    return found


def batch_errors(X: np.ndarray) -> list[tuple[float, float]]:
    """Return (seconds, error) of the batch algorithm, the last where it stops."""
    points, seconds, due, before = [], 0.0, 0.0, np.inf
    alpha = strength(X.shape[1])
    steps = convex_mf_steps(X, N_CLUSTERS)
    while True:
        with Stopwatch() as watch:
            weights, error, _ = next(steps)
        seconds, done = seconds + watch.seconds, before - error < 1e-4 * error
        done |= seconds > MOST_SECONDS
        if seconds >= due or done:
            points.append((seconds, l2_error(X, (weights / weights.sum(axis=0)).T @ X, alpha)))
            due = 1.15 * seconds
        if done:
            return points
        before = error


def online_errors(name: str, X: np.ndarray, n_passes: int = 3) -> list[tuple[float, float]]:
    """Return (seconds, error) of an online method along passes over shuffled rows."""
    alpha = strength(X.shape[1])
    learner, rng, points, seconds, due = model(name, alpha), np.random.default_rng(0), [], 0.0, 0.0
    for _ in range(n_passes):
        order = rng.permutation(len(X))
        for start in range(0, len(X), CHUNK):
            with Stopwatch() as watch:
                learner.partial_fit(X[order[start : start + CHUNK]])
            seconds += watch.seconds
            if seconds >= due and start + CHUNK > N_REPRESENTATIVES:
                points.append((seconds, l2_error(X, learner.components_, alpha)))
                due = 1.15 * seconds
        points.append((seconds, l2_error(X, learner.components_, alpha)))
    return points


def totals(spent: np.ndarray) -> dict[int, float]:
    """Return the seconds of streams of the sizes that were reached."""
    sizes = [round(n) for n in SIZES if CHUNK < n <= 1.01 * len(spent) * CHUNK]
    return {n: float(np.cumsum(spent)[min(round(n / CHUNK), len(spent)) - 1]) for n in sizes}


def draw(told: dict) -> Figure:
    """Draw seconds against samples, and errors above the least of all against seconds."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    left, *right = figure.subplots(1, 1 + len(MIXTURES))
    for name, colour in COLOURS.items():
        look = {"color": colour, "label": name, "markersize": 3}
        left.plot(*zip(*told["seconds"][name].items(), strict=True), "o-", **look)
        for axes, errors in zip(right, told["error"].values(), strict=True):
            best = min(error for points in errors.values() for _, error in points)
            seconds, values = np.array(errors[name]).T
            axes.plot(seconds, np.maximum(100 * (values / best - 1), 0.001), "o-", **look)
    left.set(xscale="log", yscale="log", xlabel="samples", ylabel="seconds, one core")
    for axes, mix in zip(right, MIXTURES, strict=True):
        axes.set(xscale="log", yscale="log", xlabel="seconds, one core", title=mix)
        axes.set_ylabel("error above the least, % (0.001 at least)")
    for axes in (left, *right):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=9)
    return figure


def errors(settings: dict[str, float]) -> dict[str, list[tuple[float, float]]]:
    """Return (seconds, error) of all methods on a mixture."""
    X = mixture(N_ERROR, seed=1, **settings)[0]
    found = {"cvxMF": batch_errors(X)} | {name: online_errors(name, X) for name in SECONDS}
    print({name: points[-1] for name, points in found.items()}, flush=True)
    return found


def main() -> None:
    """Time everyone, draw, write the numbers."""
    X = mixture(500, seed=1)[0]
    for name in SECONDS:  # compiles
        model(name).partial_fit(X).transform(X[:10])
    spent, told = {}, {"online": {}, "single rows": single_rows()}
    for name, seconds in SECONDS.items():
        spent[name], growth = stream(name, int(SIZES[-1]), seconds)
        told["online"][name] = flatness(spent[name]) | {
            "samples": len(spent[name]) * CHUNK,
            "bytes grown": growth,
        }
        print(name, told["online"][name], flush=True)
    told["seconds"] = {name: totals(part) for name, part in spent.items()} | {
        "cvxMF": batch_times()
    }
    told["error"] = {mix: errors(settings) for mix, settings in MIXTURES.items()}
    save_figure(draw(told), "001-2", 90)
    save("001-2", told)


if __name__ == "__main__":
    main()
