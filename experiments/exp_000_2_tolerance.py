"""Experiment 000-2, tolerance: codes that become exact, and codes that do not (eqs. 32 and 34).

The relaxed scheme of Lyu, Needell and Balzano accepts codes that are wrong by K (log t)^-2 (Theorem
4.3), or by K t^-1/2 where a rate is asked for. Is that needed, or would a constant tolerance do?
The stream is the Markov one of `exp_000_2_convergence`: a walk on a ring of 200 patches. The model
has the settings inside the theorem (``OnlineNMF.convergent``) but for the tolerance; its codes are
made by projected gradient descent from zero, which stops as soon as the tolerance allows: codes are
as bad as they may be. Tolerances are violations of the optimality conditions, relative as
everywhere in the library; the two laws are cut at 0.2, their default.

Measured with exact codes: the surrogate less the empirical loss, which must go to zero, the loss
expected under the stationary law, and the stationarity. One seed. Leaves
``results/000-2-tolerance.png`` and ``results/000-2-tolerance.json``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from exp_000_2_convergence import ALPHA, N_ATOMS, N_STATES, states, visits
from matplotlib.figure import Figure
from pictures import save_figure
from records import save

from atomstream import OnlineNMF
from atomstream.coders import Auto, ProjectedGradient
from atomstream.coders.tolerances import LogTolerance, RootTolerance

N_STEPS, SEEDS = 8192, (0,)
LOOKS = np.unique(np.round(np.geomspace(8, N_STEPS, 21)).astype(int))
TOLERANCES: dict[str, float | Callable[[int], float]] = {
    "constant 0.2": 0.2,
    "constant 0.05": 0.05,
    "(32): (log t)^-2": LogTolerance(),
    "(34): t^-1/2": RootTolerance(),
    "exact": 1e-8,
}


def learner(tolerance: float | Callable[[int], float]) -> OnlineNMF:
    """Return a model inside the theorem but for its tolerance; exact codes by the default coder."""
    model = OnlineNMF.convergent(N_ATOMS, alpha=ALPHA, init="samples", random_state=0)
    lazy = {} if tolerance == TOLERANCES["exact"] else {"coder": ProjectedGradient(1000)}
    return model.set_params(coder__tol=tolerance, **lazy)


def run(X: np.ndarray, tolerance: float | Callable[[int], float], seed: int) -> np.ndarray:
    """Return (gap, expected loss, stationarity) after each number of steps."""
    path = visits(np.random.default_rng([seed, True]), True)[:N_STEPS]
    model, counts, rows = learner(tolerance), np.zeros(N_STATES), []
    for step, batch in enumerate(path, start=1):
        model.partial_fit(X[batch])
        counts += np.bincount(batch, minlength=N_STATES)
        if step in LOOKS:
            judge = OnlineNMF.from_components(
                model.components_, alpha=ALPHA, ridge=model.ridge, coder=Auto(tol=1e-8)
            )
            empirical = judge.objective(X, sample_weight=counts)
            gap = model.surrogate() - empirical
            rows.append((gap, judge.objective(X), judge.stationarity(X)))
    return np.array(rows)


def main() -> None:
    """Run all tolerances, draw, write the numbers."""
    X = states()
    numbers: dict = {"steps": LOOKS, "seeds": len(SEEDS)}
    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, tolerance in TOLERANCES.items():
        values = np.mean([run(X, tolerance, seed) for seed in SEEDS], axis=0)
        gap, expected, stationarity = values.T
        late = LOOKS >= N_STEPS // 16
        numbers[name] = {
            "gap": gap,
            "expected loss": expected,
            "stationarity": stationarity,
            "power of t in the gap, last 4 octaves": float(
                np.polyfit(np.log(LOOKS[late]), np.log(gap[late]), 1)[0]
            ),
        }
        print(name, gap[-1], expected[-1], stationarity[-1], flush=True)
        left.loglog(LOOKS, gap, label=name)
        right.semilogx(LOOKS, expected, label=name)
    left.set(xlabel="step t", title="surrogate minus empirical loss")
    right.set(xlabel="step t", title="expected loss")
    left.legend(frameon=False)
    save_figure(figure, "000-2-tolerance", 90)
    save("000-2-tolerance", numbers)


if __name__ == "__main__":
    main()
