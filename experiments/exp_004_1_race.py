"""Experiment 004-1: online against batch under six divergences (figure 2 of Zhao, Tan and Xu).

The synthetic data of the paper, 20,000 samples (there 100,000, by replication), 200 features, 40
atoms. Contenders:

- ours with defaults, and batch multiplicative updates;
- "spsg": ``updater="spsg"`` with its defaults, which are steps in units of the curvature and codes
  by Algorithm 2 of the paper. It sees few samples in the time of this race, so its steps hardly
  fall;
- "spsg, falling": the same with faster codes (`coders.Multiplicative`) and a = b = 4,000, a fifth
  of the samples, as in the paper;
- "spsg, printed": the steps on raw gradients, a = b = 2e4 as printed, with the faster codes;
- "spsg, a chosen": the same with b = 4,000 and the a / b that ended lowest in
  ``exp_004_2_sensitivity.py`` with 10,000 samples of the same atoms: another one for each loss;
- the online methods of the paper's comparison, as in ``baselines.py``: OL-Lef (Itakura-Saito),
  OL-Guan (squared) and OL-Wang (Huber).

The atoms are judged on 300 samples that nobody learned from, coded under the loss, against CPU
seconds of learning: by the mean divergence under the first three losses, and under the robust ones
by the root of the mean squared distance of reconstructions from the same samples without outliers,
because atoms that copy outliers lower the divergence (``exp_004_1_outliers.py``). Beside them stand
the true atoms and, under the robust losses, the best multiple of the mean row: what one atom
leaves.

Leaves ``results/004-1.png`` and ``results/004-1.json``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from baselines import (
    multiplicative_steps,
    online_guan,
    online_lefevre,
    online_wang,
    weighted_mu_steps,
)
from exp_004_1_outliers import ROBUST, clean_error, weights
from matplotlib.figure import Figure
from pictures import save_figure
from records import load, save
from synthetic import LOSSES, N_ATOMS, noisy_and_clean

from atomstream import OnlineNMF
from atomstream.coders import Multiplicative
from atomstream.updates import SubgradientStep

N_SAMPLES, N_HELD_OUT, SECONDS = 20_000, 300, 15.0
B = N_SAMPLES / 5
SPSG: dict[str, dict[str, Any]] = {
    "spsg": {"updater": "spsg"},
    "spsg, falling": {
        "updater": SubgradientStep(B, B),
        "coder": Multiplicative(),
    },
    "spsg, printed": {"updater": SubgradientStep(unit="printed"), "coder": Multiplicative()},
}


def online(X: np.ndarray, loss: str, size: int, **settings: Any) -> Iterator[np.ndarray]:
    """Yield our atoms after every step, in passes over shuffled rows."""
    model = OnlineNMF(N_ATOMS, loss=LOSSES[loss], batch_size=size, random_state=0, **settings)
    rng, horizon = np.random.default_rng(0), np.inf
    while True:
        rows = rng.permutation(len(X))
        for start in range(0, len(X), size):
            yield model.fit_stream([X[rows[start : start + size]]], horizon=horizon).components_
        horizon = float(len(X))


def with_a_chosen(loss: str) -> dict[str, Any]:
    """Return the printed steps with the a that served a loss best in experiment 004-2."""
    tried = load("004-2")["results"][loss]["printed"]["a / b"]
    key = "clean" if loss in ROBUST else "divergence"
    share = float(min(tried, key=lambda ratio: tried[ratio][key]))
    return {"updater": SubgradientStep(share * B, B, unit="printed"), "coder": Multiplicative()}


def contenders(X: np.ndarray, loss: str) -> dict[str, Iterator[np.ndarray]]:
    """Return who takes part: generators of atoms, a step each."""
    found, spsg = {"ours": online(X, loss, 256)}, SPSG | {"spsg, a chosen": with_a_chosen(loss)}
    if loss in ROBUST:
        found["batch"] = (atoms for _, atoms in weighted_mu_steps(X, N_ATOMS, weights(loss, X)))
    else:
        found["batch"] = multiplicative_steps(X, N_ATOMS, {"is": 0, "kl": 1, "squared": 2}[loss])
    found |= {name: online(X, loss, 10, **settings) for name, settings in spsg.items()}
    rivals = {
        "is": ("OL-Lef", online_lefevre),
        "squared": ("OL-Guan", online_guan),
        "huber": ("OL-Wang", online_wang),
    }
    if loss in rivals:
        name, method = rivals[loss]
        found[name] = method(X, N_ATOMS)
    return found


def judge_of(loss: str, noisy: np.ndarray, clean: np.ndarray) -> Callable[[np.ndarray], float]:
    """Return the measure of atoms: held-out divergence, or the error against clean rows."""

    def judged(atoms: np.ndarray) -> float:
        """Return the measure."""
        rows = np.maximum(atoms, 1e-9 * atoms.mean(axis=1, keepdims=True))
        if loss in ROBUST:
            return clean_error(rows, loss, noisy, clean)
        return -OnlineNMF.from_components(rows, loss=LOSSES[loss]).score(noisy)

    return judged


def one_atom(clean: np.ndarray) -> float:
    """Return the root mean squared error of the best multiples of the mean row."""
    mean = clean.mean(axis=0)
    return float(np.sqrt(np.mean((np.outer(clean @ mean / (mean @ mean), mean) - clean) ** 2)))


def curve(
    steps: Iterator[np.ndarray], judged: Callable[[np.ndarray], float]
) -> list[tuple[float, float]]:
    """Return (CPU seconds, measure) at growing intervals; judging is not on the clock."""
    seconds, points, due = 0.0, [], 0.0
    while seconds < SECONDS:
        begin = time.process_time()
        atoms = next(islice(steps, 1))
        seconds += time.process_time() - begin
        if seconds >= due or seconds >= SECONDS:
            points.append((seconds, judged(atoms)))
            due = max(1.5 * seconds, 0.05)
    return points


def draw(report: dict[str, dict]) -> Figure:
    """Draw a panel per loss: the measure against seconds, straight lines for what none learned.

    Under l1 the true atoms leave nothing but rounding, far below the panel.
    """
    figure, shown = Figure(figsize=(12, 7), layout="constrained"), {}
    for place, (loss, told) in enumerate(report.items()):
        axes = figure.add_subplot(2, 3, place + 1)
        curves = {name: points for name, points in told.items() if isinstance(points, list)}
        for number, (name, points) in enumerate(curves.items()):
            label = "OL-Lef, OL-Guan, OL-Wang" if name.startswith("OL") else name
            style = {"color": f"C{number}", "markersize": 2.5}
            shown[label] = axes.plot(*zip(*points, strict=True), "o-", **style)[0]
        lowest = min(error for points in curves.values() for _, error in points)
        for style, name in (("--", "true atoms"), (":", "one atom")):
            if told.get(name, 0) > 0.1 * lowest:
                shown[name] = axes.axhline(told[name], color="0.5", linestyle=style, linewidth=1)
        axes.set(
            xscale="log",
            yscale="log",
            title=loss,
            xlabel="CPU seconds" if place > 2 else None,
            ylabel="RMSE against clean rows" if loss in ROBUST else "held-out divergence",
        )
    figure.legend(shown.values(), shown, loc="outside lower center", ncols=5)
    return figure


def main() -> None:
    """Let everyone learn for the same time under each loss and draw the curves."""
    warnings.simplefilter("ignore")
    report: dict[str, dict] = {}
    for loss in LOSSES:
        noisy, clean, true_atoms = noisy_and_clean(loss, N_SAMPLES + N_HELD_OUT)
        X, held_out = noisy[:N_SAMPLES], noisy[N_SAMPLES:]
        next(online(X, loss, 256))  # compiles
        for settings in SPSG.values():
            next(online(X, loss, 10, **settings))
        judged = judge_of(loss, held_out, clean[N_SAMPLES:])
        report[loss] = {"true atoms": judged(true_atoms)}
        if loss in ROBUST:
            report[loss]["one atom"] = one_atom(clean[N_SAMPLES:])
        for name, steps in contenders(X, loss).items():
            report[loss][name] = curve(steps, judged)
            print(loss, name, [f"{v:.4g}" for v in report[loss][name][-1]], flush=True)
    save("004-1", report)
    save_figure(draw(report), "004-1", 110)


if __name__ == "__main__":
    main()
