"""Experiment 000-2, defaults: what the settings inside the theorem cost beside the defaults.

The stream is a walk on a ring of 40 samples of 12 features (four planted atoms), in batches of 10.
``OnlineNMF.convergent`` keeps every condition of Theorem 4.3 of Lyu, Needell and Balzano that
settings can keep; the defaults keep few. Both learn four atoms from the same five walks.

Measured after 10, 100, 1,000 and 3,000 batches, as means over the walks: the expected loss with
alpha = 0.01 and without other penalties, the same for both (the law of the walk is uniform, so it
is the mean over the samples), and the stationarity of each model's own objective. Leaves
``results/000-2-defaults.png`` and ``results/000-2-defaults.json``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import save

from atomstream import OnlineNMF

N_STATES, BATCH, N_ATOMS, ALPHA, N_SEEDS = 40, 10, 4, 0.01, 5
TOLD = (10, 100, 1000, 3000)
LOOKS = np.unique(np.r_[np.round(np.geomspace(1, 3000, 25)).astype(int), TOLD])


def states() -> np.ndarray:
    """Return the samples: nonnegative mixtures of four sparse atoms."""
    rng = np.random.default_rng(0)
    codes = rng.random((N_STATES, N_ATOMS))
    return codes @ (rng.random((N_ATOMS, 12)) * (rng.random((N_ATOMS, 12)) < 0.5))


def walk(X: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """Yield batches of a walk on the ring, with steps of at most three."""
    rng, place = np.random.default_rng(seed), 0
    for _ in range(LOOKS[-1]):
        places = (place + np.cumsum(rng.integers(-3, 4, BATCH))) % N_STATES
        place = places[-1]
        yield X[places]


def run(X: np.ndarray, model: OnlineNMF, seed: int) -> np.ndarray:
    """Return (expected loss, stationarity) after each number of batches."""
    rows = []
    for step, batch in enumerate(walk(X, seed), start=1):
        model.partial_fit(batch)
        if step in LOOKS:
            judge = OnlineNMF.from_components(model.components_, alpha=ALPHA)
            rows.append((judge.objective(X), model.stationarity(X)))
    return np.array(rows)


def main() -> None:
    """Run both, draw, write the numbers."""
    X = states()
    numbers: dict = {"batches": TOLD, "walks": N_SEEDS}
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, make in (("convergent", OnlineNMF.convergent), ("defaults", OnlineNMF)):
        runs = [
            run(X, make(N_ATOMS, alpha=ALPHA, random_state=seed), seed) for seed in range(N_SEEDS)
        ]
        expected, stationarity = np.mean(runs, axis=0).T
        told = np.isin(LOOKS, TOLD)
        numbers[name] = {"expected loss": expected[told], "stationarity": stationarity[told]}
        print(name, numbers[name], flush=True)
        left.loglog(LOOKS, expected, label=name)
        right.loglog(LOOKS, stationarity, label=name)
    left.set(xlabel="batches", title="expected loss")
    right.set(xlabel="batches", title="stationarity")
    left.legend(frameon=False)
    save_figure(figure, "000-2-defaults", 85)
    save("000-2-defaults", numbers)


if __name__ == "__main__":
    main()
