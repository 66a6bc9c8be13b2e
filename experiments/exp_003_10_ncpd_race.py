"""Experiments 003-10 and 003-11: a tensor decomposed online and in batch; error and CPU time.

Strohmeier (2023), section 4.7 and Fig. 4.2: nonnegative CP decomposition with R = 5. The tensors
(`tensor_data`): the synthetic one of the thesis; 20 Newsgroups with 1000 terms, not the authors'
5000; headlines of 48 days rather than months, 120 of each; and one that is made on disk by the
synthetic recipe, 2.4 GB by default (``--slices``).

* online, beta and c' as in the thesis: ``online_parafac``, ten passes in fifths of the slices, w =
  t^-beta / log t, radius c' w, loadings of bounded norm (4.83), uniform start. "None" is beta = 1
  without a radius. beta = 1 breaks the third part of condition (A3), whatever the thesis says; the
  model warns.
* online, defaults: the same ten passes with default settings, and then 1, 2, 5, ... full sweeps
  (``n_polish``).
* ALS and MU (`tensor_baselines`), and TensorLy's HALS where TensorLy is installed, from the same
  uniform starts. HALS is run anew for every number of rounds.

The error is relative, after the factor of the streaming mode is fitted anew to the others, for all
alike and off the clock. The clock is the processor time of this process, one BLAS thread; bands
hold all runs, lines are means. On the tensor on disk the error is that on 48 slices; ALS learns
from every 20th slice, none of the 48 among them.

Leaves ``results/003-10.png`` and ``results/003-10.json``. The tensor on disk needs its size in the
temporary folder.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from tensor_baselines import als_steps, mu_steps, refitted
from tensor_data import headlines_tensor, news_tensor, synthetic_tensor, tensor_on_disk
from threadpoolctl import threadpool_limits

from atomstream import online_parafac
from atomstream.schedules import LogPolynomial
from atomstream.updates import LoadingSweep
from atomstream.watch.callbacks import History

try:
    from tensorly.decomposition import non_negative_parafac_hals
except ImportError:
    non_negative_parafac_hals = None

RANK, N_RUNS, N_EPOCHS, BUDGET = 5, 5, 10, 1.2
RADII = (1.0, 10.0, 100.0, 1000.0)
SHOWN = (1.0, 10.0)  # with a panel of their own
LEAST = 2e-3  # % above the best error, where the axis ends
BETAS = (0.75, 1.0)
POLISH = (1, 2, 5, 10, 20, 50)
POINTS = 16  # of a run that are judged, and of a line
NONE, DEFAULTS, POLISHED = "online, beta None", "online, defaults", "online, defaults + sweeps"
COLOURS = {
    "ALS": "black",
    "MU": "0.55",
    "TensorLy HALS": "#CC79A7",
    DEFAULTS: "#0072B2",
    POLISHED: "#56B4E9",
    "online, beta 0.75": "#D55E00",
    "online, beta 1": "#E69F00",
    NONE: "#009E73",
}
Trail = list[tuple[float, list[np.ndarray]]]  # (seconds, factors of all modes but the first)


class Trace(History):
    """Keep the loadings after every batch, with the seconds on the clock."""

    def __init__(self) -> None:
        super().__init__()
        self.begin, self.trail = time.process_time(), []

    def setup(self, estimator: Any, context: Any) -> None:
        """Go on: every pass is a fit of its own."""

    def note(self, estimator: Any) -> None:
        """Keep a point."""
        self.trail.append((time.process_time() - self.begin, estimator.loadings_))


def start(shape: tuple[int, ...], seed: int) -> list[np.ndarray]:
    """Return uniform factors."""
    rng = np.random.default_rng(seed)
    return [rng.random((n, RANK)) for n in shape]


def online(X: Any, seed: int, **settings: Any) -> Trail:
    """Return the trail of `online_parafac`."""
    trace = Trace()
    online_parafac(X, RANK, random_state=seed, callbacks=[trace], n_polish=0, **settings)
    return trace.trail


def as_published(X: Any, seed: int, beta: float, radius: float | None, **settings: Any) -> Trail:
    """Return the trail of Algorithm 6 in the settings of the thesis."""
    uniform = start(X.shape, seed)[1:]
    return online(
        X,
        seed,
        init=uniform,
        atoms="bounded",
        schedule=LogPolynomial(beta),
        updater=LoadingSweep(radius=radius),
        **settings,
    )


def polished(X: np.ndarray, seed: int) -> Trail:
    """Return points after ten passes and so many full sweeps, final coding included."""
    trail = []
    for n_polish in POLISH:
        begin = time.process_time()
        found = online_parafac(X, RANK, random_state=seed, n_polish=n_polish)
        trail.append((time.process_time() - begin, found.factors[1:]))
    return trail


def batch(steps: Iterator[list[np.ndarray]]) -> Trail:
    """Return the trail of a batch method within the budget."""
    trail: Trail = []
    begin = time.process_time()
    while not trail or trail[-1][0] < BUDGET:
        factors = next(steps)
        trail.append((time.process_time() - begin, factors[1:]))
    return trail


def hals(X: np.ndarray, seed: int) -> Trail:
    """Return the trail of TensorLy's HALS."""
    trail: Trail = []
    for n_iter in (2**k for k in count()):
        factors = start(X.shape, seed)
        begin = time.process_time()
        found = non_negative_parafac_hals(X, RANK, n_iter_max=n_iter, init=(None, factors), tol=0)
        trail.append((time.process_time() - begin, found.factors[1:]))
        if trail[-1][0] > BUDGET:
            return trail
    raise AssertionError("unreachable")


def contenders() -> dict[str, Callable[[np.ndarray, int], Trail]]:
    """Return who takes part: functions of a tensor and a seed."""
    found: dict[str, Callable[[np.ndarray, int], Trail]] = {
        "ALS": lambda X, seed: batch(als_steps(X, start(X.shape, seed))),
        "MU": lambda X, seed: batch(mu_steps(X, start(X.shape, seed))),
    }
    if non_negative_parafac_hals is not None:
        found["TensorLy HALS"] = hals
    found[DEFAULTS] = online
    found[POLISHED] = polished
    found[NONE] = lambda X, seed: as_published(X, seed, 1.0, None, n_epochs=N_EPOCHS)
    for beta in BETAS:
        for radius in RADII:
            found[f"online, beta {beta:g}, c' {radius:g}"] = (
                lambda X, seed, beta=beta, radius=radius: as_published(
                    X, seed, beta, radius, n_epochs=N_EPOCHS
                )
            )
    return found


def judged(trail: Trail, error: Callable[[list[np.ndarray]], float]) -> list[tuple[float, float]]:
    """Return (seconds, relative error) at growing intervals, first and last point among them."""
    seconds = np.array([point[0] for point in trail])
    wanted = np.geomspace(seconds[0], seconds[-1], POINTS)
    places = np.unique(np.searchsorted(seconds, wanted).clip(max=len(trail) - 1))
    return [(float(seconds[place]), error(trail[place][1])) for place in places]


def line(runs: list[list[tuple[float, float]]]) -> dict[str, list[float]]:
    """Return mean, lowest and highest error of all runs at common seconds."""
    first = max(run[0][0] for run in runs)
    last = min(run[-1][0] for run in runs)
    grid = np.geomspace(first, max(last, first), POINTS)
    errors = [
        np.interp(np.log(grid), np.log([s for s, _ in run]), [e for _, e in run]) for run in runs
    ]
    found = {
        "seconds": grid,
        "mean": np.mean(errors, 0),
        "low": np.min(errors, 0),
        "high": np.max(errors, 0),
    }
    return {name: [float(f"{value:.5g}") for value in values] for name, values in found.items()}


def told(runs: list[list[tuple[float, float]]]) -> dict[str, Any]:
    """Return what the figure draws of a contender, and where its runs end."""
    ends = [round(run[-1][1], 5) for run in runs]
    return {"end_mean": round(float(np.mean(ends)), 5), "ends": ends, "line": line(runs)}


def race(X: np.ndarray, n_runs: int) -> dict[str, dict[str, Any]]:
    """Let everyone decompose a tensor; add when each comes near the best error of all."""
    runs: dict[str, list[list[tuple[float, float]]]] = {}
    for name, contender in contenders().items():
        trails = [contender(X, seed) for seed in range(n_runs)]
        runs[name] = [judged(trail, lambda factors: refitted(X, factors)[1]) for trail in trails]
        print(
            f"  {name}: {np.mean([run[-1][1] for run in runs[name]]):.5f}, "
            f"{trails[0][-1][0]:.2f} s",
            flush=True,
        )
    best = min(e for found in runs.values() for run in found for _, e in run)
    report = {name: told(found) for name, found in runs.items()}
    for name, found in runs.items():
        for share in (0.01, 0.001):
            times = [next((s for s, e in run if e <= (1 + share) * best), None) for run in found]
            reached = [s for s in times if s is not None]
            middle = round(float(np.median(reached)), 4) if len(reached) == len(times) else None
            report[name][f"seconds_to_{share:g}_of_best"] = middle
            report[name][f"runs_to_{share:g}_of_best"] = len(reached)
    return report


def race_on_disk(shape: tuple[int, int, int], n_runs: int) -> dict[str, Any]:
    """Decompose a tensor that is read from disk a little at a time."""
    with tempfile.TemporaryDirectory() as folder:
        return _judged_on_disk(tensor_on_disk(Path(folder) / "tensor.npy", shape), n_runs)


def _judged_on_disk(X: np.ndarray, n_runs: int) -> dict[str, Any]:
    """Return what the figure draws of the tensor on disk; its map is given back on return."""
    test = X[10 :: len(X) // 48].copy()
    runs: dict[str, Callable[[int], Trail]] = {
        "ALS, every 20th slice": lambda seed: _from_subsample(X, seed),
        DEFAULTS: lambda seed: online(X, seed, fraction=1 / 60, n_epochs=2),
        "online, beta 0.75, c' 100": lambda seed: as_published(
            X, seed, 0.75, 100.0, fraction=1 / 60, n_epochs=2
        ),
    }
    report: dict[str, Any] = {
        "shape": list(X.shape),
        "gigabytes": X.nbytes / 1e9,
        "batch_megabytes": X.nbytes / 60 / 1e6,
        "passes": 2,
    }
    for name, run in runs.items():
        trails = [run(seed) for seed in range(n_runs)]
        found = [judged(trail, lambda factors: refitted(test, factors)[1]) for trail in trails]
        report[name] = told(found)
        print(f"  {name}: {report[name]['end_mean']:.5f}, {trails[0][-1][0]:.2f} s", flush=True)
    return report


def _from_subsample(X: np.ndarray, seed: int) -> Trail:
    """Return the trail of ALS on every 20th slice, reading them on the clock."""
    begin = time.process_time()
    some = X[::20].copy()
    reading = time.process_time() - begin
    return [
        (seconds + reading, factors)
        for seconds, factors in batch(als_steps(some, start(some.shape, seed)))
    ]


def draw(report: dict[str, Any]) -> Figure:
    """Draw a row for each tensor, two races and the c' sweep, and the tensor on disk below."""
    tensors = {name: found for name, found in report["tensors"].items() if name != "on disk"}
    figure = Figure(figsize=(12, 2.9 * len(tensors) + 3.4), layout="constrained")
    cells = figure.add_gridspec(len(tensors) + 1, 3)
    for row, (tensor, found) in enumerate(tensors.items()):
        best = min(min(entry["line"]["low"]) for entry in found.values())
        for column, radius in enumerate(SHOWN):
            axes = figure.add_subplot(cells[row, column])
            for label, colour in COLOURS.items():
                name = label if label in found else f"{label}, c' {radius:g}"
                if name in found:
                    _draw_line(axes, found[name]["line"], label, colour, best)
            axes.set(
                xscale="log", yscale="log", ylim=(LEAST, None), title=f"{tensor}, c' = {radius:g}"
            )
            axes.set_ylabel(f"% above the best error, {best:.4f}" if column == 0 else None)
            axes.set_xlabel("CPU seconds" if row == len(tensors) - 1 else None)
        _draw_ends(figure.add_subplot(cells[row, 2]), found, best)
        figure.axes[-1].set_title(f"{tensor}: ends (dotted: the others)", fontsize=11)
        figure.axes[-1].set_xlabel("c'" if row == len(tensors) - 1 else None)
    _draw_disk(figure.add_subplot(cells[-1, :]), report["tensors"]["on disk"])
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize=10)
    return figure


def _draw_line(
    axes: Any, found: dict[str, list[float]], label: str, colour: str, best: float | None = None
) -> None:
    """Draw the mean and the band of a contender, as errors or as % above the best."""
    mean, low, high = (np.array(found[name]) for name in ("mean", "low", "high"))
    if best is not None:
        mean, low, high = (
            np.maximum(100 * (values / best - 1), LEAST / 2) for values in (mean, low, high)
        )
    axes.plot(found["seconds"], mean, color=colour, linewidth=1.3, label=label)
    axes.fill_between(found["seconds"], low, high, color=colour, alpha=0.15, linewidth=0)
    axes.grid(alpha=0.25)


def _draw_disk(axes: Any, found: dict[str, Any]) -> None:
    colours = (COLOURS["ALS"], COLOURS[DEFAULTS], COLOURS["online, beta 0.75"])
    names = [name for name, entry in found.items() if isinstance(entry, dict)]
    for name, colour in zip(names, colours, strict=True):
        _draw_line(axes, found[name]["line"], name, colour)
    sizes = " x ".join(str(n) for n in found["shape"])
    axes.set(
        title=f"on disk, {sizes}, {found['gigabytes']:.2f} GB: "
        "two passes in batches of 1/60 of the slices"
    )
    axes.set(
        xscale="log", xlabel="CPU seconds, reading included", ylabel="relative error on 48 slices"
    )
    axes.legend(frameon=False, fontsize=9)


def _draw_ends(axes: Any, found: dict[str, Any], best: float) -> None:
    """Draw where the runs end against c', and what the batch methods and the defaults reach."""
    for beta in BETAS:
        label = f"online, beta {beta:g}"
        ends = 100 * (
            np.array([found[f"{label}, c' {radius:g}"]["ends"] for radius in RADII]) / best - 1
        )
        mean = ends.mean(axis=1)
        spread = np.array([mean - ends.min(axis=1), ends.max(axis=1) - mean])
        axes.errorbar(
            RADII,
            mean,
            spread,
            color=COLOURS[label],
            marker="o",
            markersize=4,
            linewidth=1.2,
            capsize=3,
        )
    for label in ("ALS", "MU", "TensorLy HALS", DEFAULTS, POLISHED):
        if label in found:
            level = max(100 * (found[label]["end_mean"] / best - 1), LEAST)
            axes.axhline(level, color=COLOURS[label], linewidth=1, linestyle=":")
    axes.set(xscale="log", yscale="log", ylim=(LEAST, None))
    axes.grid(alpha=0.25)


def main() -> None:
    """Race on all tensors, draw, write the numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--slices", type=int, default=2400, help="of 512 x 480 of the tensor on disk"
    )
    parser.add_argument("--runs", type=int, default=N_RUNS)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*breaks condition")
    if non_negative_parafac_hals is None:
        print("TensorLy is not installed: its HALS is skipped.")
    report: dict[str, Any] = {
        "rank": RANK,
        "runs": asked.runs,
        "clock": "process time of one thread; other work on the machine slows it a little",
        "tensors": {},
    }
    makers = {
        "synthetic": synthetic_tensor,
        "20 Newsgroups": news_tensor,
        "headlines": headlines_tensor,
    }
    with threadpool_limits(1):
        (
            as_published(synthetic_tensor(20), 0, 1.0, 1.0, n_epochs=1),
            polished(synthetic_tensor(20), 0),
        )  # compiles
        for name, maker in makers.items():
            X = maker()
            print(name, X.shape, f"norm {np.linalg.norm(X):.2f}", flush=True)
            report["tensors"][name] = race(X, asked.runs)
        print("on disk", flush=True)
        report["tensors"]["on disk"] = race_on_disk((asked.slices, 512, 480), min(asked.runs, 2))
    save("003-10", report)
    save_figure(draw(report), "003-10", 80)


if __name__ == "__main__":
    main()
