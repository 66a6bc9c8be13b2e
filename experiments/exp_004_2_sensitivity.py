"""Experiment 004-2: how much a, tau and K matter to falling subgradient steps (figures S-1 to S-3).

Synthetic data for each of six divergences, 10,000 samples. As in the paper, the step after tau t
samples is a / (tau t + b) with b a fifth of the number of samples, so that it falls to a sixth of
its first length within every run. The canonical setting is a = b, mini-batches of tau = 10, K = 40
atoms. One parameter at a time varies over one and a half to two decades. Both units of
`SubgradientStep` run: "curvature", and "printed", which is the paper's step on raw gradients. For
the latter a also goes down to 1e-6 b, because some losses need steps that short.

Codes are found by `coders.Multiplicative`, which is five times as fast as Algorithm 2 of the paper.
All runs with K atoms begin at the same ones: samples mixed with their mean. The atoms are judged on
300 samples that nobody learned from, by their mean divergence, and by the distance of their
reconstruction from the same samples without noise. Only the second is a measure under the robust
losses (Huber, l1, l2), where atoms that copy outliers lower the first.

Three questions are asked beside these. What do steps do that never fall? Is it the codes (by
Algorithm 2)? Does a matter less in ten times as long a stream (squared loss, ten passes,
a = b = 2e4 as printed)?

Leaves ``results/004-2.png`` and ``results/004-2.json``.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from synthetic import LOSSES, N_ATOMS, noisy_and_clean

from atomstream import OnlineNMF
from atomstream.coders import Coder, Multiplicative, ProjectedSubgradient
from atomstream.updates import SubgradientStep

N_SAMPLES, N_HELD_OUT, N_PASSES = 10_000, 300, 10
B = N_SAMPLES / 5
SHARES = (0.1, 0.32, 1, 3.2, 10)
TRIED = {
    "curvature": {"a / b": SHARES, "tau": (3, 10, 32, 100), "K": (13, 40, 126)},
    "printed": {"a / b": (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10), "tau": (3, 10, 32, 100)},
}
CANONICAL = {"a / b": 1, "tau": 10, "K": N_ATOMS}
ROBUST = ("huber", "l1", "l2")
YTICKS = {"curvature": (0.2, 0.3, 0.5, 1, 2, 3), "printed": (0.3, 1, 3, 10, 30, 100)}
FAST, ALGORITHM_2 = Multiplicative(), ProjectedSubgradient()
Value = dict[str, float]


class Study:
    """Samples for one loss, and the judgement of what was learned from them."""

    def __init__(self, loss: str) -> None:
        noisy, clean, self.true_atoms = noisy_and_clean(loss, N_SAMPLES + N_HELD_OUT)
        self.loss, self.X = loss, noisy[:N_SAMPLES]
        self.held_out, self.clean = noisy[N_SAMPLES:], clean[N_SAMPLES:]

    def start(self, K: int = N_ATOMS) -> np.ndarray:
        """Return samples mixed with their mean as starting atoms, the same for all with K atoms."""
        first = self.X[:1000]
        drawn = first[np.random.default_rng(0).choice(len(first), K, replace=False)]
        mean = first.mean(axis=0)
        return 0.5 * drawn / drawn.max() + 0.5 * mean / mean.max()

    def judged(self, atoms: np.ndarray) -> Value:
        """Return the mean divergence of held-out rows and the RMSE against the same rows, clean."""
        rows = np.maximum(atoms, 1e-9 * atoms.mean(axis=1, keepdims=True))
        model = OnlineNMF.from_components(rows, loss=LOSSES[self.loss])
        error = np.sqrt(np.mean((model.clean(self.held_out) - self.clean) ** 2))
        return {"divergence": -model.score(self.held_out), "clean": float(error)}

    def learned(
        self, step: SubgradientStep, tau: int, K: int, coder: Coder = FAST, n_passes: int = 1
    ) -> Value:
        """Return the value of the atoms after some passes over the samples, shuffled in each."""
        model = OnlineNMF(
            K,
            loss=LOSSES[self.loss],
            updater=step,
            coder=coder,
            batch_size=tau,
            n_epochs=n_passes,
            random_state=0,
            init=self.start(K),
        )
        return self.judged(model.fit(self.X).components_)


def study(loss: str) -> dict:
    """Return what all settings end at under one loss."""
    task = Study(loss)
    report: dict = {"truth": task.judged(task.true_atoms), "start": task.judged(task.start())}
    for unit, parameters in TRIED.items():
        report[unit] = {}
        known: dict[tuple, Value] = {}
        for name, choices in parameters.items():
            report[unit][name] = {}
            for choice in choices:
                setting = CANONICAL | {name: choice}
                key = tuple(setting.values())
                if key not in known:
                    step = SubgradientStep(setting["a / b"] * B, B, unit=unit)
                    known[key] = task.learned(step, setting["tau"], setting["K"])
                report[unit][name][f"{choice:g}"] = known[key]
    constant, falling = SubgradientStep(1e12, 1e12), SubgradientStep(B, B)
    report["constant"] = task.learned(constant, 10, N_ATOMS)
    if loss == "huber":
        report["constant, Algorithm 2"] = task.learned(constant, 10, N_ATOMS, ALGORITHM_2)
        report["falling, Algorithm 2"] = task.learned(falling, 10, N_ATOMS, ALGORITHM_2)
    if loss == "squared":
        long = {share: SubgradientStep(share * N_PASSES * B, N_PASSES * B) for share in SHARES}
        report["long"] = {
            f"{share:g}": task.learned(step, 10, N_ATOMS, n_passes=N_PASSES)
            for share, step in long.items()
        }
    return report


def draw(report: dict) -> Figure:
    """Draw final errors over those of the start, a row per unit, a column per parameter."""
    figure = Figure(figsize=(12, 7), layout="constrained")
    grid = figure.subplots(2, 3)
    grid[1, 2].set_visible(False)
    for row, (unit, parameters) in zip(grid, TRIED.items(), strict=True):
        for axes, (name, choices) in zip(row, parameters.items(), strict=False):
            for loss, values in report.items():
                key = "clean" if loss in ROBUST else "divergence"
                ends = [values[unit][name][f"{choice:g}"][key] for choice in choices]
                axes.plot(
                    choices,
                    np.array(ends) / values["start"][key],
                    "s--" if loss in ROBUST else "o-",
                    label=f"{loss}, clean rows" if loss in ROBUST else loss,
                )
            axes.axhline(1, color="0.5", linewidth=1)
            axes.axvline(CANONICAL[name], color="0.85", linewidth=4, zorder=0)
            axes.set(xscale="log", yscale="log", xlabel=name, title=f"{unit} units")
            names = [f"{choice:g}".replace("e-0", "e-") for choice in choices]
            axes.set_xticks(choices, names, fontsize="small")
            axes.set_yticks(YTICKS[unit], [f"{tick:g}" for tick in YTICKS[unit]])
            axes.minorticks_off()
        row[0].set_ylabel("error at the end / at the start")
    values = report["squared"]
    ends = [values["long"][f"{share:g}"]["divergence"] for share in SHARES]
    grid[0, 0].plot(
        SHARES,
        np.array(ends) / values["start"]["divergence"],
        ":",
        color="C2",
        marker="o",
        label=f"squared, {N_PASSES} times as long",
    )
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower right", bbox_to_anchor=(0.9, 0.15))
    return figure


def main() -> None:
    """Study all losses, draw the figure, write the numbers."""
    warnings.simplefilter("ignore")
    report: dict = {}
    for loss in LOSSES:
        begin = time.perf_counter()
        report[loss] = study(loss)
        print(loss, f"{time.perf_counter() - begin:.0f} s", report[loss], flush=True)
    save("004-2", report)
    save_figure(draw(report), "004-2", 110)


if __name__ == "__main__":
    main()
