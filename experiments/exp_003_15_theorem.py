"""Experiment 003-15: losses and stationarity of online CP-dictionary learning (Theorem 1).

Strohmeier (2023), Theorem 1 of chapter 4: along a Markov stream of tensors the surrogate nears the
empirical loss, and the loadings near the stationary points of the expected loss, if a matrix of
loadings moves by at most c' w_t per step. The data are 200 colour patches of 8 x 8 x 3 along a line
of a photograph, and the stream a random walk of small steps on the ring of them, so that every loss
is a finite sum; 10 rank-one atoms, batches of 5, w = 1/t, alpha = 0.05, damping and ridge as in
`OnlineNMF.convergent`.

Compared: the default radius (c' = 10 sqrt(R)), none, and one that is too small to matter little (c'
= 1). Measured with exact codes: surrogate less empirical loss, expected loss, stationarity (the
length of a projected gradient step of all loadings over their length), and t times the length of
the last move. Means of three seeds. Leaves ``results/003-15.png`` and ``results/003-15.json``.
"""

from __future__ import annotations

import numpy as np
from exp_000_2_convergence import ALPHA, N_ATOMS, N_STATES, SIZE, visits
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from sklearn.datasets import load_sample_image

from atomstream import OnlineCPDictionary
from atomstream.coders import Auto
from atomstream.updates import LoadingSweep

N_STEPS, SEEDS, SMALL = 4096, (0, 1, 2), 1e-3
LOOKS = np.unique(np.round(np.geomspace(4, N_STEPS, 16)).astype(int))
RADII = {"default radius": "auto", "no radius": None, "c' = 1": 1.0}


def states() -> np.ndarray:
    """Return patches along a line of a photograph in colour, (200, 8, 8, 3)."""
    photograph = load_sample_image("china.jpg") / 255.0
    lefts = np.linspace(0, photograph.shape[1] - SIZE, N_STATES).astype(int)
    return np.stack([photograph[250 : 250 + SIZE, left : left + SIZE] for left in lefts])


def run(X: np.ndarray, radius: object, seed: int) -> np.ndarray:
    """Return (gap, expected loss, stationarity, t times the move) at the looks."""
    path = visits(np.random.default_rng([seed, True]), True)[:N_STEPS]
    model = OnlineCPDictionary(
        N_ATOMS,
        alpha=ALPHA,
        ridge=SMALL,
        damping=SMALL,
        updater=LoadingSweep(radius=radius),
        coder=Auto(tol=1e-6),
        random_state=seed,
    )
    counts, rows = np.zeros(N_STATES), []
    for step, batch in enumerate(path, start=1):
        before = [part.copy() for part in model.loadings_] if step in LOOKS else []
        model.partial_fit(X[batch])
        counts += np.bincount(batch, minlength=N_STATES)
        if step in LOOKS:
            moves = [part - old for part, old in zip(model.loadings_, before, strict=True)]
            move = np.sqrt(sum(np.sum(part**2) for part in moves))
            gap = model.surrogate() - model.objective(X, sample_weight=counts)
            rows.append((gap, model.objective(X), model.stationarity(X), step * move))
    return np.array(rows)


def main() -> None:
    """Run all radii, draw, write the numbers."""
    X = states()
    numbers: dict = {"steps": LOOKS, "seeds": len(SEEDS)}
    figure = Figure(figsize=(13, 3.8), layout="constrained")
    titles = ("surrogate minus empirical loss", "expected loss", "stationarity", "t times the move")
    panels = figure.subplots(1, 4)
    late = LOOKS >= 64
    for name, radius in RADII.items():
        values = np.mean([run(X, radius, seed) for seed in SEEDS], axis=0).T
        numbers[name] = dict(zip(titles, values, strict=True))
        numbers[name]["powers of t from step 64 on"] = {
            title: float(np.polyfit(np.log(LOOKS[late]), np.log(values[i][late]), 1)[0])
            for i, title in ((0, titles[0]), (2, titles[2]))
        }
        print(name, values[:, -1], numbers[name]["powers of t from step 64 on"], flush=True)
        for axes, title, line in zip(panels, titles, values, strict=True):
            axes.loglog(LOOKS, line, label=name)
            axes.set(xlabel="step t", title=title)
    panels[0].legend(frameon=False, fontsize=8)
    save_figure(figure, "003-15", 85)
    save("003-15", numbers)


if __name__ == "__main__":
    main()
