"""Experiments 002-1 to 002-4: the 12-state chain of Yang et al., section 5.1.

The chain is rebuilt exactly stochastic from the transition matrix of its three meta-states. In each
of 100 trials a walk of 10,000 steps is partitioned: with default settings, with every second
transition only (tau = 2), by the batch method (singular vectors of the transition counts, then the
same k-means), for three sets of seeds. Then the subspace error, the squared sine of the largest
angle to the true right singular vectors, along walks of 100,000 steps for fixed steps (with and
without averaging), the default, and matrix stochastic gradient (MSG: a gradient step on the
projector, then the projection on the Fantope, an eigendecomposition per step), against transitions
and against seconds; 100 walks (MSG: five), medians and the bands from the 10th to the 90th
percentile. The strongest simple rival stands beside them: the counts of all transitions so far and
the SVD of that table of 12 x 12, timed as the counting up to a look and one SVD. Nothing was chosen
by its errors; the default steps were chosen on this chain (decision 007). All contenders see the
same transitions; ours and the plain Hebbian update are both compiled or both NumPy: seconds of ours
are also given for its plain NumPy twin.

Leaves ``results/002-1.png`` and ``results/002-1.json``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from atomstream import RandomWalkFactorization
from atomstream.samplers import RandomWalk
from atomstream.watch.diagnostics import (
    lumpability,
    merging_conductance,
    mixing_time,
    stationary_law,
)

META = np.array([1, 2, 1, 0, 1, 2, 1, 0, 0, 2, 0, 2])
BETWEEN = np.array([[0, 0.5880, 0.4120], [0.3233, 0.1389, 0.5378], [0.2720, 0.6461, 0.0819]])
RANK, N_TRIALS, N_STEPS, N_LONG, N_WALKS = 3, 100, 10_000, 100_000, 100
LOOKS = np.unique(np.geomspace(100, N_LONG, 25).astype(int))


def chain() -> np.ndarray:
    """Return the transition matrix of the 12 states, rows summing to one."""
    sizes = np.bincount(META) - np.eye(3, dtype=int)[META]
    P = BETWEEN[np.ix_(META, META)] / np.take_along_axis(sizes, META[None], axis=1)
    np.fill_diagonal(P, 0)
    return P / P.sum(axis=1, keepdims=True)


def walk(P: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Return a walk of n transitions."""
    rng = np.random.default_rng(seed)
    return RandomWalk(P).run(rng, np.array([seed % 12]), n + 1)[0]


def counts_of(states: np.ndarray) -> np.ndarray:
    """Return how often each state is left for each other one."""
    counts = np.zeros((12, 12))
    np.add.at(counts, (states[:-1], states[1:]), 1)
    return counts


def right_of(counts: np.ndarray) -> np.ndarray:
    """Return the first right singular vectors."""
    return np.linalg.svd(counts)[2][:RANK].T


def batch(states: np.ndarray) -> np.ndarray:
    """Return the partition from the singular vectors of the counts."""
    right = right_of(counts_of(states))
    share = np.bincount(states, minlength=12) / len(states)
    return (
        KMeans(RANK, n_init=10, random_state=0)
        .fit(right / share[:, None], sample_weight=share)
        .labels_
    )


def exact(labels: np.ndarray) -> bool:
    """Return whether a partition is that of the meta-states."""
    return adjusted_rand_score(META, labels) == 1


def trials(P: np.ndarray) -> dict:
    """Return how many of 100 walks are partitioned exactly, for three sets of seeds."""
    found: dict = {}
    for first in (0, 1000, 2000):
        walks = [walk(P, N_STEPS, first + seed) for seed in range(N_TRIALS)]
        told = {"batch": sum(exact(batch(states)) for states in walks)}
        for tau in (1, 2):
            models = [
                RandomWalkFactorization(RANK, n_states=12, tau=tau, random_state=first + seed).fit(
                    states
                )
                for seed, states in enumerate(walks)
            ]
            told[f"tau = {tau}"] = sum(exact(model.partition()) for model in models)
        found[f"seeds from {first}"] = told
    return found


def sine(found: np.ndarray, true: np.ndarray) -> float:
    """Return the squared sine of the largest angle between two subspaces."""
    return float(1 - np.linalg.svd(np.linalg.qr(found)[0].T @ true, compute_uv=False).min() ** 2)


def hebbian(
    states: np.ndarray, true: np.ndarray, step: object, averaging: bool, seed: int
) -> tuple[list, list]:
    """Return (errors, seconds) of ours at the looks."""
    model = RandomWalkFactorization(
        RANK, n_states=12, step=step, averaging=averaging, random_state=seed
    )
    errors, seconds, begun = [], [], 0
    spent = 0.0
    for look in LOOKS:
        piece = states[begun : look + 1] if begun == 0 else states[begun + 1 : look + 1]
        start = perf_counter()
        model.partial_fit(piece)
        spent += perf_counter() - start
        begun = look
        errors.append(sine(model.right_, true))
        seconds.append(spent)
    return errors, seconds


def counted(states: np.ndarray, true: np.ndarray) -> tuple[list, list]:
    """Return (errors, seconds) of counting and SVD at the looks."""
    errors, seconds = [], []
    for look in LOOKS:
        start = perf_counter()
        right = right_of(counts_of(states[: look + 1]))
        seconds.append(perf_counter() - start)
        errors.append(sine(right, true))
    return errors, seconds


def msg(states: np.ndarray, true: np.ndarray, gain: float) -> tuple[list, list]:
    """Return (errors, seconds) of matrix stochastic gradient with steps gain / sqrt(t)."""
    M = np.zeros((24, 24))
    errors, seconds, spent, begun = [], [], 0.0, 0
    for look in LOOKS[LOOKS <= 10_000]:
        start = perf_counter()
        for t in range(begun, look):
            i, j = states[t], 12 + states[t + 1]
            step = gain / np.sqrt(t + 1)
            M[i, j] += step
            M[j, i] += step
            values, vectors = np.linalg.eigh(M)
            M = (vectors * fantope(values)) @ vectors.T
        spent += perf_counter() - start
        begun = look
        errors.append(sine(np.linalg.eigh(M)[1][:, -RANK:][12:], true))
        seconds.append(spent)
    return errors, seconds


def fantope(values: np.ndarray) -> np.ndarray:
    """Return the projection of eigenvalues on those in [0, 1] that sum to the rank."""
    low, high = values.min() - 1, values.max()
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(values - middle, 0, 1).sum() > RANK else (low, middle)
    return np.clip(values - (low + high) / 2, 0, 1)


def seconds_of_the_twin(states: np.ndarray) -> float:
    """Return the seconds that updates of all of W take for the same transitions, in NumPy."""
    start = perf_counter()
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((24, RANK)))[0]
    total = np.zeros_like(W)
    for t, (i, j) in enumerate(pairwise(states)):
        a, b = W[i].copy(), W[12 + j].copy()
        # Both factors of every product are rows before this transition: a and b are copies.
        change = np.outer(W @ a, b) + np.outer(W @ b, a)
        step = min(0.05, 0.5 / float(a @ a + b @ b))
        W -= step * change
        W[i] += step * b
        W[12 + j] += step * a
        total += (t + 1) ** 2 * W
    return perf_counter() - start


def seconds_of(run: Callable[[], object], turns: int = 15) -> float:
    """Return the median seconds of a call."""
    spent = []
    for _ in range(turns):
        start = perf_counter()
        run()
        spent.append(perf_counter() - start)
    return float(np.median(spent))


def bands(runs: list) -> np.ndarray:
    """Return the median of the errors at each look, and their first and last tenth."""
    return np.quantile([run[0] for run in runs], (0.5, 0.1, 0.9), axis=0)


def draw(curves: dict[str, list]) -> Figure:
    """Draw errors against transitions, with bands, and against seconds."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for name, runs in curves.items():
        errors, low, high = bands(runs)
        left.loglog(LOOKS[: len(errors)], errors, label=name)
        left.fill_between(LOOKS[: len(errors)], low, high, alpha=0.2, lw=0)
        right.loglog(np.median([run[1] for run in runs], axis=0), errors, label=name)
    left.set(xlabel="transitions", ylabel="squared sine of the largest angle")
    right.set(xlabel="seconds")
    left.legend(frameon=False, fontsize=8)
    return figure


def known(P: np.ndarray, states: np.ndarray) -> dict:
    """Return what enumeration of the chain says, and what ours estimates from a walk."""
    mu = stationary_law(P)
    F = mu[:, None] * P
    model = RandomWalkFactorization(RANK, n_states=12, random_state=0).fit(states)
    return {
        "stationary law": mu.round(4).tolist(),
        "of 10,000 steps": model.stationary_.round(4).tolist(),
        "merging conductance (the paper: roughly 0.06)": merging_conductance(P),
        "mixing times to 0.1, 0.01, 0.001": [
            mixing_time(P, accuracy) for accuracy in (0.1, 0.01, 0.001)
        ],
        "lumpability of the meta-states": lumpability(F, META),
        "singular values": np.linalg.svd(F)[1][:4].round(5).tolist(),
        "estimated": model.singular_values_.round(5).tolist(),
    }


def courses(P: np.ndarray, true: np.ndarray) -> dict[str, list]:
    """Return (errors, seconds) at the looks of all walks, of each contender."""
    walks = [walk(P, N_LONG, 10_000 + seed) for seed in range(N_WALKS)]
    return {
        "default": [hebbian(w, true, "auto", True, s) for s, w in enumerate(walks)],
        "fixed step 0.05, averaged": [hebbian(w, true, 0.05, True, s) for s, w in enumerate(walks)],
        "fixed step 0.05": [hebbian(w, true, 0.05, False, s) for s, w in enumerate(walks)],
        "fixed step 0.025": [hebbian(w, true, 0.025, False, s) for s, w in enumerate(walks)],
        "MSG": [msg(w, true, 0.2) for w in walks[:5]],
        "counting and SVD": [counted(w, true) for w in walks],
    }


def times(states: np.ndarray, curves: dict[str, list]) -> dict[str, float]:
    """Return the seconds that 10,000 transitions take, of each contender."""

    def parts() -> np.ndarray:
        model = RandomWalkFactorization(RANK, n_states=12, random_state=0)
        return model.partial_fit(states).partition()

    at = np.searchsorted(LOOKS, N_STEPS)
    return {
        "ours": float(np.median([curve[1][at] for curve in curves["default"]])),
        "counting and SVD": seconds_of(lambda: right_of(counts_of(states))),
        "counting, SVD and k-means": seconds_of(lambda: batch(states)),
        "ours with k-means": seconds_of(parts),
        "its plain NumPy twin": seconds_of_the_twin(states),
        "MSG": float(np.median([curve[1][-1] for curve in curves["MSG"]])),
    }


def ends(curves: dict[str, list]) -> dict:
    """Return errors after 10,000 transitions and at the end, and how fast the default's fall."""
    at, tail = np.searchsorted(LOOKS, N_STEPS), LOOKS >= N_STEPS
    both = {name: np.array(curves[name])[:, 0, at] for name in ("default", "counting and SVD")}
    last = {name: bands(runs)[:, -1].tolist() for name, runs in curves.items()}
    power, _ = np.polyfit(np.log(LOOKS[tail]), np.log(bands(curves["default"])[0, tail]), 1)
    return {
        "error after 10,000": {name: float(np.median(each)) for name, each in both.items()},
        "walks where counting and SVD is nearer after 10,000": int(
            np.sum(both["counting and SVD"] < both["default"])
        ),
        "error at the end": {name: end[0] for name, end in last.items()},
        "band at the end": {name: end[1:] for name, end in last.items()},
        "rate of the default from 10,000 on, as a power": float(power),
    }


def main() -> None:
    """Run everything, draw the figure, write the numbers."""
    P = chain()
    true = np.linalg.svd(stationary_law(P)[:, None] * P)[2][:RANK].T
    states = walk(P, N_STEPS, 0)
    report = known(P, states) | {"exact partitions of 100": trials(P)}
    print(report["exact partitions of 100"], flush=True)
    curves = courses(P, true)
    report |= ends(curves) | {"seconds for 10,000 transitions": times(states, curves)}
    save_figure(draw(curves), "002-1", 90)
    save("002-1", report)


if __name__ == "__main__":
    main()
