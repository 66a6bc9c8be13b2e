"""Experiment 000-2: losses along an independent and a Markov stream (Theorems 4.1 and 4.3).

A finite chain makes every loss exact: the data are 200 patches of a photograph; the Markov stream
is a random walk of small steps on a ring of them, ordered by place, so that it lingers where it is;
the independent stream draws from the same (uniform) stationary law. With counts of visits the
empirical loss f_t(D) is a finite sum.

Checked: the surrogate is above the empirical loss, the gap closes, and the expected surrogate nears
its limit at the rate t^-1/2 or faster. A mean over a few seeds is a noisy expectation. So the
empirical loss of one fixed dictionary minus its expectation is taken off each run: its own
expectation is zero, because the streams begin in their stationary law, and it has most of the noise
of the surrogate. Leaves ``results/000-2.png`` and ``results/000-2.json``.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from sklearn.datasets import load_sample_image

from atomstream import OnlineNMF
from atomstream.coders import Auto
from atomstream.schedules import Harmonic

N_STATES, SIZE, N_ATOMS, ALPHA, BATCH = 200, 8, 10, 0.05, 5
N_STEPS, N_SEEDS = 65_536, 8
FIRST, LAST = 32, 8192  # steps of the fits; distances are to the value at the last step of all
CHECKPOINTS = np.unique(np.round(np.logspace(0, np.log2(N_STEPS), 33, base=2)).astype(int))


def states() -> np.ndarray:
    """Patches along a line across the photograph: neighbours on the ring look alike."""
    photograph = load_sample_image("china.jpg") @ [0.2989, 0.5870, 0.1140] / 255
    lefts = np.linspace(0, photograph.shape[1] - SIZE, N_STATES).astype(int)
    return np.stack([photograph[250 : 250 + SIZE, left : left + SIZE].ravel() for left in lefts])


def visits(rng: np.random.Generator, dependent: bool) -> np.ndarray:
    """Return the states met, one row per batch."""
    n = N_STEPS * BATCH
    if not dependent:
        return rng.integers(N_STATES, size=n).reshape(N_STEPS, BATCH)
    moves = rng.integers(
        -10, 11, size=n
    )  # 0 and small steps: aperiodic, irreducible, uniform stationary law
    return ((rng.integers(N_STATES) + np.cumsum(moves)) % N_STATES).reshape(N_STEPS, BATCH)


def fixed_losses(X: np.ndarray) -> np.ndarray:
    """Return the loss of every state under one dictionary, learned from all states."""
    model = OnlineNMF(N_ATOMS, alpha=ALPHA, n_epochs=200, init="samples", random_state=0).fit(X)
    codes = model.transform(X)
    return 0.5 * ((X - codes @ model.components_) ** 2).sum(axis=1) + ALPHA * codes.sum(axis=1)


def run(X: np.ndarray, losses: np.ndarray, dependent: bool, seed: int) -> np.ndarray:
    """Return (surrogate, empirical loss, expected loss, stationarity, noise) along one run."""
    path = visits(np.random.default_rng([seed, dependent]), dependent)
    model = OnlineNMF(
        N_ATOMS,
        alpha=ALPHA,
        schedule=Harmonic(),
        coder=Auto(tol=1e-8),
        init="samples",
        random_state=0,
    )
    counts, rows = np.zeros(N_STATES), []
    for t, batch in enumerate(path, start=1):
        model.partial_fit(X[batch])
        counts += np.bincount(batch, minlength=N_STATES)
        if t in CHECKPOINTS:
            empirical = model.objective(X, sample_weight=counts)
            noise = counts @ losses / counts.sum() - losses.mean()
            now = model.surrogate(), empirical, model.objective(X), model.stationarity(X), noise
            rows.append(now)
    return np.array(rows)


def slope(t: np.ndarray, values: np.ndarray) -> float:
    """Return the exponent of the power law through values, by least squares in logarithms."""
    return float(np.polyfit(np.log(t), np.log(values), 1)[0])


def summary(values: np.ndarray) -> dict:
    """Return means over seeds and fitted exponents of one stream."""
    surrogate, empirical, expected, stationarity, noise = np.moveaxis(values, 2, 0)
    gap, quiet = (surrogate - empirical).mean(axis=0), surrogate - noise
    distance = np.abs(quiet.mean(axis=0) - quiet[:, -1].mean())
    late = CHECKPOINTS >= FIRST
    return {
        "surrogate": surrogate.mean(axis=0),
        "empirical": empirical.mean(axis=0),
        "expected": expected.mean(axis=0),
        "stationarity": stationarity.mean(axis=0),
        "gap": gap,
        "distance to the limit": distance,
        "smallest_gap": (surrogate - empirical).min(),
        "gap_exponent": slope(CHECKPOINTS[late], gap[late]),
        "standard error of the distance": (quiet - quiet[:, -1:]).std(axis=0, ddof=1)
        / np.sqrt(N_SEEDS),
    }


def draw(report: dict) -> Figure:
    """Draw losses, gap and distance to the limit."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    near = CHECKPOINTS <= LAST
    for name, colour in (("independent", "#0072B2"), ("Markov", "#D55E00")):
        told = report[name]
        left.plot(CHECKPOINTS, told["surrogate"], color=colour, label=f"surrogate, {name}")
        left.plot(CHECKPOINTS, told["empirical"], "--", color=colour, label=f"empirical, {name}")
        # At the first step there is no gap.
        middle.plot(CHECKPOINTS[1:], told["gap"][1:], color=colour, label=name)
        distance, error = told["distance to the limit"], told["standard error of the distance"]
        right.plot(CHECKPOINTS[near], distance[near], color=colour, label=name)
        band = np.maximum(distance - error, 1e-4)[near], (distance + error)[near]
        right.fill_between(CHECKPOINTS[near], *band, color=colour, alpha=0.2, linewidth=0)
    for axes in (middle, right):
        t = CHECKPOINTS[near & (CHECKPOINTS >= FIRST)]
        drawn = axes.lines[0]
        start = drawn.get_ydata()[np.argmax(drawn.get_xdata() >= t[0])]
        axes.plot(t, start * (t / t[0]) ** -0.5, color="0.6", linestyle=":", label="t^-1/2")
        axes.set(xscale="log", yscale="log", xlabel="step t")
    left.set(xscale="log", xlabel="step t", title="loss, mean over seeds")
    middle.set_title("surrogate minus empirical loss")
    right.set_title(f"expected surrogate: distance to step {N_STEPS:,}", fontsize=10)
    for axes in (left, middle, right):
        axes.legend(frameon=False, fontsize=8)
        axes.grid(alpha=0.3)
    return figure


def main() -> None:
    """Run both streams, draw the figure, write the numbers."""
    X = states()
    losses = fixed_losses(X)
    report: dict = {
        "steps": N_STEPS,
        "first step of the fits": FIRST,
        "last step of the distances": LAST,
        "batch": BATCH,
        "seeds": N_SEEDS,
        "checkpoints": CHECKPOINTS,
    }
    for name, dependent in (("independent", False), ("Markov", True)):
        runs = np.stack([run(X, losses, dependent, seed) for seed in range(N_SEEDS)])
        report[name] = summary(runs)
    save_figure(draw(report), "000-2", 100)
    save("000-2", report)


if __name__ == "__main__":
    main()
