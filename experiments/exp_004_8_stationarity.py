"""Experiment 004-8: whether the steps of Algorithm 1 end at critical points (Theorem 1).

Zhao, Tan and Xu (2017): if steps a / (tau t + b) fall, dictionaries converge almost surely to
critical points of the expected loss, for divergences that are convex in the reconstruction (class
D_2). To know the expected loss it is made finite: samples are drawn from 300 synthetic ones (60 of
the 200 features, 10 atoms), so that the gradient of the mean loss at optimal codes is exact.
Batches of tau = 10, 100,000 samples, steps in units of the curvature with a = b = 1,000, and beside
them constant steps of 1, which the theorem does not cover.

Measured along the stream: the stationarity, ||D - P(D - G / L)|| / ||D|| with the projection P on
the set of dictionaries, which is zero exactly at critical points, and the expected loss over its
least value seen. Itakura-Saito is not convex in the reconstruction: Theorem 1 says nothing of it.
Leaves ``results/004-8.png`` and ``results/004-8.json``.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from synthetic import LOSSES, synthetic

from atomstream import OnlineNMF
from atomstream.coders import Multiplicative
from atomstream.updates import SubgradientStep

N_SAMPLES, N_FEATURES, N_ATOMS, TAU, N_STEPS = 300, 60, 10, 10, 10_000
LAWS = {"falling steps": SubgradientStep(1e3, 1e3), "constant steps": SubgradientStep(1e15, 1e15)}
JUDGED = {"kl": "Kullback-Leibler", "squared": "squared", "huber": "Huber", "is": "Itakura-Saito"}
LOOKS = np.unique(np.round(np.geomspace(10, N_STEPS, 13)).astype(int))


def run(X: np.ndarray, loss: str, step: SubgradientStep) -> np.ndarray:
    """Return (stationarity, expected loss) at the looks."""
    rng = np.random.default_rng(0)
    model = OnlineNMF(
        N_ATOMS, loss=LOSSES[loss], updater=step, coder=Multiplicative(), tol=1e-4, random_state=0
    )
    rows = []
    for number in range(1, N_STEPS + 1):
        model.partial_fit(X[rng.integers(N_SAMPLES, size=TAU)])
        if number in LOOKS:
            rows.append((model.stationarity(X), model.objective(X)))
    return np.array(rows)


def main() -> None:
    """Run all losses, draw, write the numbers."""
    numbers: dict = {"steps": LOOKS}
    figure = Figure(figsize=(14, 3.6), layout="constrained")
    late = LOOKS >= N_STEPS // 16
    for axes, (loss, name) in zip(figure.subplots(1, len(JUDGED)), JUDGED.items(), strict=True):
        X = synthetic(loss, N_SAMPLES)[0][:, :N_FEATURES]
        found = {law: run(X, loss, step) for law, step in LAWS.items()}
        least = min(values[:, 1].min() for values in found.values())
        numbers[name] = {}
        for law, values in found.items():
            numbers[name][law] = {
                "stationarity": values[:, 0],
                "loss over the least": values[:, 1] / least,
                "power of t, last 4 octaves": float(
                    np.polyfit(np.log(LOOKS[late]), np.log(values[late, 0]), 1)[0]
                ),
            }
            print(name, law, values[-1], flush=True)
            axes.loglog(TAU * LOOKS, values[:, 0], label=law)
        axes.set(xlabel="samples", title=f"{name}: stationarity")
        axes.legend(frameon=False, fontsize=8)
    save_figure(figure, "004-8", 85)
    save("004-8", numbers)


if __name__ == "__main__":
    main()
