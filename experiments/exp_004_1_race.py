"""Experiment 004-1: online against batch under six divergences (figure 2 of Zhao, Tan and Xu).

The synthetic data of the paper, 20,000 samples (there 100,000, by replication), 200 features, 40
atoms. Contenders: ours with defaults; the paper's projected subgradient steps (``method="spsg"``,
mini-batches of 10); batch multiplicative updates; and the online methods of the paper's comparison,
as in ``baselines.py``: OL-Lef (Itakura-Saito), OL-Guan (squared) and OL-Wang (Huber). The measure
is the mean divergence of held-out samples at optimal codes, against seconds of learning; the truth
is that of the true atoms.

Leaves ``results/004-1.png`` and ``results/004-1.json``.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from baselines import (
    huber_weights,
    multiplicative_steps,
    online_guan,
    online_lefevre,
    online_wang,
    weighted_mu_steps,
)
from matplotlib.figure import Figure
from synthetic import LOSSES, N_ATOMS, synthetic

from atomstream import OnlineNMF

RESULTS = Path(__file__).parent / "results"
N_SAMPLES, N_HELD_OUT, SECONDS, DELTA = 20_000, 300, 15.0, 100.0


def online(X: np.ndarray, loss: str, method: str, size: int) -> Iterator[np.ndarray]:
    """Yield our atoms after every step, in passes over shuffled rows."""
    model, rng = (
        OnlineNMF(N_ATOMS, loss=loss, method=method, batch_size=size, random_state=0),
        np.random.default_rng(0),
    )
    horizon = np.inf
    while True:
        rows = rng.permutation(len(X))
        for start in range(0, len(X), size):
            yield model.fit_stream([X[rows[start : start + size]]], horizon=horizon).components_
        horizon = float(len(X))


def contenders(X: np.ndarray, loss: str) -> dict[str, Iterator[np.ndarray]]:
    """Return who takes part: generators of atoms, a step each."""
    weights = {
        "huber": huber_weights(DELTA),
        "l1": lambda X, Y: 1 / np.maximum(np.abs(X - Y), 1e-6 * X.mean()),
        "l2": lambda X, Y: 1 / np.maximum(np.linalg.norm(X - Y, axis=1, keepdims=True), 1e-9),
    }
    if loss in weights:
        batch = (atoms for _, atoms in weighted_mu_steps(X, N_ATOMS, weights[loss]))
    else:
        batch = multiplicative_steps(X, N_ATOMS, {"is": 0, "kl": 1, "squared": 2}[loss])
    found = {
        "ours": online(X, LOSSES[loss], "auto", 256),
        "ours, spsg": online(X, LOSSES[loss], "spsg", 10),
        "batch": batch,
    }
    rivals = {
        "is": ("OL-Lef", online_lefevre),
        "squared": ("OL-Guan", online_guan),
        "huber": ("OL-Wang", online_wang),
    }
    if loss in rivals:
        name, method = rivals[loss]
        found[name] = method(X, N_ATOMS)
    return found


def curve(
    steps: Iterator[np.ndarray], loss: str, held_out: np.ndarray
) -> list[tuple[float, float]]:
    """Return (seconds, held-out divergence) at growing intervals; judging is not on the clock."""
    seconds, points, due = 0.0, [], 0.0
    while seconds < SECONDS:
        begin = time.perf_counter()
        atoms = next(islice(steps, 1))
        seconds += time.perf_counter() - begin
        if seconds >= due:
            rows = np.maximum(atoms, 1e-9 * atoms.mean(axis=1, keepdims=True))
            points.append(
                (seconds, -OnlineNMF.from_components(rows, loss=LOSSES[loss]).score(held_out))
            )
            due = max(1.5 * seconds, 0.05)
    return points


def main() -> None:
    """Let everyone learn for the same time under each loss and draw the curves."""
    warnings.simplefilter("ignore")
    told: dict[str, dict] = {}
    figure = Figure(figsize=(12, 6.4), layout="constrained")
    for place, loss in enumerate(LOSSES):
        X, truth = synthetic(loss, N_SAMPLES + N_HELD_OUT)
        X, held_out = X[:N_SAMPLES], X[N_SAMPLES:]
        (
            next(online(X, LOSSES[loss], "auto", 256)),
            next(online(X, LOSSES[loss], "spsg", 10)),
        )  # compiles
        told[loss] = {"truth": -OnlineNMF.from_components(truth, loss=LOSSES[loss]).score(held_out)}
        axes = figure.add_subplot(2, 3, place + 1)
        for name, steps in contenders(X, loss).items():
            told[loss][name] = curve(steps, loss, held_out)
            axes.plot(*zip(*told[loss][name], strict=True), "o-", markersize=2.5, label=name)
            print(loss, name, [f"{v:.4g}" for v in told[loss][name][-1]], flush=True)
        axes.axhline(
            told[loss]["truth"], color="0.5", linestyle="--", linewidth=1, label="true atoms"
        )
        axes.set(xscale="log", yscale="log", title=loss, xlabel="seconds" if place > 2 else None)
        axes.legend(fontsize="x-small")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "004-1.json").write_text(json.dumps(told, indent=1))
    figure.savefig(RESULTS / "004-1.png", dpi=110)


if __name__ == "__main__":
    main()
