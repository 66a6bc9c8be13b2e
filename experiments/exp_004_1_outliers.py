"""Experiment 004-1, robust losses judged on clean rows: what outliers leave of the atoms.

The synthetic data of Zhao, Tan and Xu (2017), section VII-B (`synthetic`), 20,000 rows, of whose
entries 5, 15 or 30 % are outliers of up to 2,000; three seeds. Compared under Huber's loss (delta =
100), l1 and l2: ``OnlineNMF`` with its defaults after 1, 3 and 10 passes, and batch multiplicative
updates with weights (`baselines.weighted_mu_steps`) after 60 and 200 rounds. 300 rows that nobody
learned from are coded under the loss, outliers and all; the measure is the root of the mean squared
distance of their reconstructions from the same rows *without* outliers. Beside it stand the true
atoms, and the best multiple of the mean row: what a single atom leaves, 56, because the clean data
are nearly of rank one.

On the contaminated rows the true atoms are not the best: an atom that copies the outliers of one
feature lowers every one of these losses. So a lower loss of contaminated rows, held out or not, is
no sign of better atoms. Leaves ``results/004-1-outliers.json`` and ``.png``.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
from baselines import huber_weights, weighted_mu_steps
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from synthetic import LOSSES, N_ATOMS, noisy_and_clean

from atomstream import OnlineNMF

N_SAMPLES, N_HELD_OUT, BATCH, DELTA = 20_000, 300, 256, 100.0
ROBUST, SHARES, SEEDS = ("huber", "l1", "l2"), (0.05, 0.15, 0.30), (0, 1, 2)
PASSES, ROUNDS = (1, 3, 10), (60, 200)
STYLES = {"true atoms": "k--", "one atom": "k:", "batch": "s--", "ours": "o-"}


def weights(loss: str, X: np.ndarray):
    """Return the weights that make least squares a robust loss."""
    return {
        "huber": huber_weights(DELTA),
        "l1": lambda X, Y: 1 / np.maximum(np.abs(X - Y), 1e-6 * X.mean()),
        "l2": lambda X, Y: 1 / np.maximum(np.linalg.norm(X - Y, axis=1, keepdims=True), 1e-9),
    }[loss]


def clean_error(atoms: np.ndarray, loss: str, noisy: np.ndarray, clean: np.ndarray) -> float:
    """Return the root mean squared error, against clean rows, of codes found on noisy ones."""
    model = OnlineNMF.from_components(np.ascontiguousarray(atoms), loss=LOSSES[loss])
    return float(np.sqrt(np.mean((model.clean(noisy) - clean) ** 2)))


def study(loss: str, share: float, seed: int) -> dict[str, float]:
    """Return the clean errors of all contenders on one set of data."""
    noisy, clean, true_atoms = noisy_and_clean(loss, N_SAMPLES + N_HELD_OUT, seed, share)
    X, held_out = noisy[:N_SAMPLES], (noisy[N_SAMPLES:], clean[N_SAMPLES:])
    mean = clean.mean(axis=0)
    multiples = held_out[1] @ mean / (mean @ mean)
    found = {
        "true atoms": clean_error(true_atoms, loss, *held_out),
        "one atom": float(np.sqrt(np.mean((np.outer(multiples, mean) - held_out[1]) ** 2))),
    }
    steps = islice(weighted_mu_steps(X, N_ATOMS, weights(loss, X)), max(ROUNDS))
    for n_rounds, (_, atoms) in enumerate(steps, start=1):
        if n_rounds in ROUNDS:
            found[f"batch, {n_rounds} rounds"] = clean_error(atoms, loss, *held_out)
    model, rng = OnlineNMF(N_ATOMS, loss=LOSSES[loss], random_state=seed), np.random.default_rng(0)
    for n_passes in range(1, max(PASSES) + 1):
        order = rng.permutation(N_SAMPLES)
        batches = (X[order[start : start + BATCH]] for start in range(0, N_SAMPLES, BATCH))
        model.fit_stream(batches, horizon=np.inf if n_passes == 1 else float(N_SAMPLES))
        if n_passes in PASSES:
            found[f"ours, {n_passes} passes"] = clean_error(model.components_, loss, *held_out)
    return found


def draw(report: dict) -> Figure:
    """Draw the mean clean error over seeds against the share of outliers, a panel per loss."""
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    for axes, loss in zip(figure.subplots(1, len(ROBUST)), ROBUST, strict=True):
        for name in next(iter(report[loss].values()))[0]:
            means = [np.mean([one[name] for one in report[loss][str(s)]]) for s in SHARES]
            axes.plot(SHARES, means, STYLES[name.split(",")[0]], label=name)
        axes.set(title=loss, xlabel="share of outliers", xticks=SHARES, ylim=(0, None))
    figure.axes[0].set_ylabel("RMSE against clean rows")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    return figure


def main() -> None:
    """Study all losses, shares and seeds, draw the figure, write the numbers."""
    report: dict = {loss: {str(share): [] for share in SHARES} for loss in ROBUST}
    for loss in ROBUST:
        for share in SHARES:
            for seed in SEEDS:
                found = study(loss, share, seed)
                report[loss][str(share)].append(found)
                print(loss, share, seed, {k: round(v, 1) for k, v in found.items()}, flush=True)
    save_figure(draw(report), "004-1-outliers", 100)
    save("004-1-outliers", report)


if __name__ == "__main__":
    main()
