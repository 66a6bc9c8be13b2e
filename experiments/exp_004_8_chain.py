"""Experiment 004-F: samples of a Markov chain under two divergences.

Zhao, Tan and Xu (2017) assume independent samples, and say in a footnote that real data may be
weakly dependent. Here the samples are 200 patches of a photograph (those of
`exp_000_2_convergence`), met by a walk of small steps on a ring of them: the walk lingers where it
is, and forgets its place after some 500 samples. An independent stream draws from the same
(uniform) stationary law, so that both have the same expected loss, a finite sum, and the same
critical points.

Kullback-Leibler and Huber, both convex in the reconstruction; the steps of Algorithm 1 in units of
the curvature (a = b = 1,000, multiplicative codes), and the default of the library, which has no
theorem. Ten atoms, batches of ten, three streams each, from the same start. Measured along the
stream, as in `exp_004_8_stationarity`: the stationarity, and the expected loss over the least of
all. Leaves ``results/004-8-chain.png`` and ``results/004-8-chain.json``.
"""

from __future__ import annotations

import numpy as np
from exp_000_2_convergence import N_STATES, states
from matplotlib.figure import Figure
from pictures import save_figure
from records import save

from atomstream import OnlineNMF
from atomstream.coders import Multiplicative
from atomstream.losses import Huber
from atomstream.updates import SubgradientStep

N_ATOMS, BATCH, N_STEPS, N_SEEDS, FURTHEST = 10, 10, 8192, 3, 3
LOSSES = {"Kullback-Leibler": "kl", "Huber": Huber(0.05)}
LAWS = {
    "falling steps": {"updater": SubgradientStep(1e3, 1e3), "coder": Multiplicative(tol=1e-4)},
    "defaults": {},
}
STREAMS = ("independent", "chain")
LOOKS = np.unique(np.round(np.geomspace(8, N_STEPS, 11)).astype(int))


def visits(dependent: bool, seed: int) -> np.ndarray:
    """Return the states met, one row per batch."""
    rng, n = np.random.default_rng([seed, dependent]), N_STEPS * BATCH
    if not dependent:
        return rng.integers(N_STATES, size=(N_STEPS, BATCH))
    moves = rng.integers(-FURTHEST, FURTHEST + 1, size=n)
    return ((rng.integers(N_STATES) + np.cumsum(moves)) % N_STATES).reshape(N_STEPS, BATCH)


def relaxation() -> float:
    """Return after how many samples the slowest part of what the walk knows has fallen to 1/e."""
    moves = np.arange(-FURTHEST, FURTHEST + 1)
    # The slowest eigenfunction of a walk on a ring is the wave that goes around it once.
    return float(-1 / np.log(np.cos(2 * np.pi * moves / N_STATES).mean()))


def run(X: np.ndarray, loss: object, law: dict, dependent: bool, seed: int) -> np.ndarray:
    """Return (stationarity, expected loss) at the looks."""
    model = OnlineNMF(N_ATOMS, loss=loss, random_state=0, **law)
    rows = []
    for number, batch in enumerate(visits(dependent, seed), start=1):
        model.partial_fit(X[batch])
        if number in LOOKS:
            rows.append((model.stationarity(X), model.objective(X)))
    return np.array(rows)


def summary(values: np.ndarray, least: float) -> dict:
    """Return what the runs (seed, look, measure) of one stream say."""
    late = LOOKS >= N_STEPS // 16
    stationarity = values[:, :, 0].mean(axis=0)
    return {
        "stationarity": stationarity,
        "loss over the least": values[:, :, 1].mean(axis=0) / least,
        "loss over the least, each stream": values[:, -1, 1] / least,
        "power of t, last 4 octaves": float(
            np.polyfit(np.log(LOOKS[late]), np.log(stationarity[late]), 1)[0]
        ),
    }


def draw(axes: np.ndarray, name: str, told: dict) -> None:
    """Draw stationarity and loss of one divergence."""
    for law, colour in zip(LAWS, ("#0072B2", "#D55E00"), strict=True):
        for stream, style in zip(STREAMS, ("--", "-"), strict=True):
            found = told[law][stream]
            label = f"{law}, {stream}"
            axes[0].loglog(BATCH * LOOKS, found["stationarity"], style, color=colour, label=label)
            axes[1].semilogx(BATCH * LOOKS, found["loss over the least"], style, color=colour)
    axes[0].set(title=f"{name}: stationarity", xlabel="samples")
    axes[1].set(title="expected loss over the least", xlabel="samples", ylim=(0.95, None))


def main() -> None:
    """Run both streams under both divergences, draw, write the numbers."""
    X = states()
    numbers: dict = {
        "batches": LOOKS,
        "batch": BATCH,
        "seeds": N_SEEDS,
        "states": N_STATES,
        "relaxation, samples": relaxation(),
        "divergences": {},
    }
    figure = Figure(figsize=(13, 3.8), layout="constrained")
    grid = figure.subplots(1, 2 * len(LOSSES))
    for place, (name, loss) in enumerate(LOSSES.items()):
        runs = {
            (law, stream): np.array(
                [run(X, loss, how, stream == "chain", seed) for seed in range(N_SEEDS)]
            )
            for law, how in LAWS.items()
            for stream in STREAMS
        }
        least = min(values[:, :, 1].min() for values in runs.values())
        numbers["divergences"][name] = told = {law: {} for law in LAWS}
        for (law, stream), values in runs.items():
            told[law][stream] = summary(values, least)
            print(name, law, stream, told[law][stream], flush=True)
        draw(grid[2 * place : 2 * place + 2], name, told)
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    save_figure(figure, "004-8-chain", 85)
    save("004-8-chain", numbers)


if __name__ == "__main__":
    main()
