"""Experiment 000-2, coding: how exact codes must be while learning, and what known codes save.

Scheme (32) of Lyu, Needell and Balzano asks for codes within K (log t)^-2 of the optimal ones, its
rate (34) for K t^-1/2. Here are both laws and three constants, with the default settings otherwise:
on 30,000 photograph patches of 20 x 20 pixels (100 atoms, one pass, three strengths of the l1
penalty; held-out relative error and rows per second of processor time), on scikit-learn's 1,797
digits (32 atoms, mean objective, three seeds), and on 500 rows of rank six with noise (five batches
a pass; objective over that of scikit-learn's batch NMF, median of eight seeds).

Warm starts: 4,000 of the patches are coded exactly from zero and from known codes, those of the
row under a dictionary that differs by 1 %, and those of the previous row on patches that slide by a
pixel. Microseconds of processor time per row, one thread. Leaves ``results/000-2-coding.png`` and
``results/000-2-coding.json``.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from sklearn.datasets import load_digits, load_sample_image
from sklearn.decomposition import NMF

from atomstream import OnlineNMF, sparse_encode
from atomstream.coders import Auto

TOLERANCES = ("root", "log", 0.1, 0.01, 0.001)
ALPHAS, N_PATCHES, N_HELD_OUT, SIZE, N_ATOMS = (0.0, 0.03, 0.1), 30_000, 1_500, 20, 100
DIGITS = {"10 passes of 256": (10, 256), "10 passes of 64": (10, 64)}
WARM = (0.27, 0.04, 0.003, 0.0)
N_WARM = 4_000


def patches(n: int, seed: int) -> np.ndarray:
    """Return grey patches of a photograph, drawn at random."""
    photograph = load_sample_image("china.jpg") @ [0.2989, 0.5870, 0.1140] / 255
    rng = np.random.default_rng(seed)
    tops, lefts = (rng.integers(0, size - SIZE + 1, n) for size in photograph.shape)
    places = np.arange(SIZE)
    rows = tops[:, None, None] + places[:, None], lefts[:, None, None] + places
    return photograph[rows].reshape(n, -1).astype(np.float32)


def learned(X: np.ndarray, n_atoms: int, tol: object, seed: int, **settings: object) -> OnlineNMF:
    """Return a model with one tolerance of the codes."""
    return OnlineNMF(n_atoms, coder=Auto(tol=tol), random_state=seed, **settings).fit(X)


def on_patches(tol: object, X: np.ndarray, held_out: np.ndarray) -> dict[str, dict[str, float]]:
    """Return rows per second and held-out error for each strength of the penalty."""
    found = {}
    for alpha in ALPHAS:
        begin = process_time()
        model = learned(X, N_ATOMS, tol, 0, alpha=alpha, n_epochs=1)
        seconds = process_time() - begin
        codes = sparse_encode(held_out, model.components_)
        off = np.linalg.norm(held_out - codes @ model.components_) / np.linalg.norm(held_out)
        found[f"{alpha:g}"] = {"rows per second": len(X) / seconds, "error": float(off)}
    return found


def on_digits(tol: object) -> dict[str, float]:
    """Return the mean objective over three seeds."""
    X = load_digits().data / 16
    return {
        name: float(
            np.mean(
                [
                    learned(X, 32, tol, seed, n_epochs=n_epochs, batch_size=size).objective(X)
                    for seed in range(3)
                ]
            )
        )
        for name, (n_epochs, size) in DIGITS.items()
    }


def batch_on_digits() -> float:
    """Return the mean objective of scikit-learn's NMF over three seeds."""
    X, found = load_digits().data / 16, []
    for seed in range(3):
        atoms = NMF(32, max_iter=2000, init="random", random_state=seed).fit(X).components_
        found.append(OnlineNMF.from_components(atoms).objective(X))
    return float(np.mean(found))


def on_few_rows(tol: object) -> dict[str, float]:
    """Return the objective over that of batch NMF, the median of eight seeds."""
    found: dict[str, list[float]] = {"10 passes": [], "100 passes": []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.random((500, 6)) @ rng.random((6, 20)) + 0.05 * rng.random((500, 20))
        atoms = NMF(6, max_iter=2000, init="nndsvda", random_state=seed).fit(X).components_
        batch = OnlineNMF.from_components(atoms).objective(X)
        for name in found:
            n_epochs = int(name.split()[0])
            model = learned(X, 6, tol, seed, n_epochs=n_epochs, batch_size=100)
            found[name].append(model.objective(X) / batch)
    return {name: float(np.median(ratios)) for name, ratios in found.items()}


def timed(X: np.ndarray, D: np.ndarray, alpha: float, start: np.ndarray | None) -> float:
    """Return microseconds per row of exact codes, the best of two."""
    best = np.inf
    for _ in range(2):
        begin = process_time()
        sparse_encode(X, D, alpha=alpha, start=start)
        best = min(best, process_time() - begin)
    return 1e6 * best / len(X)


def warm(X: np.ndarray, D: np.ndarray) -> dict[str, dict[str, float]]:
    """Return microseconds per row from zero and from known codes, for each strength."""
    X, D, rng = X[:N_WARM].astype(float), D.astype(float), np.random.default_rng(0)
    near = np.abs(D * (1 + 0.01 * rng.standard_normal(D.shape)))
    photograph = load_sample_image("china.jpg") @ [0.2989, 0.5870, 0.1140] / 255
    windows = np.lib.stride_tricks.sliding_window_view(photograph, (SIZE, SIZE))
    slid = windows[::20].reshape(-1, SIZE * SIZE)[:N_WARM]
    found = {}
    for alpha in WARM:
        before = sparse_encode(X, near, alpha=alpha)
        codes = sparse_encode(slid, D, alpha=alpha)
        found[f"{alpha:g}"] = {
            "from zero": timed(X, D, alpha, None),
            "from the row's codes": timed(X, D, alpha, before),
            "sliding, from zero": timed(slid, D, alpha, None),
            "sliding, from the previous row's": timed(slid, D, alpha, np.roll(codes, 1, axis=0)),
        }
        print(alpha, found[f"{alpha:g}"], flush=True)
    return found


def draw(found: dict) -> Figure:
    """Draw errors on the patches against rows per second."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes, markers = figure.subplots(), dict(zip(found, "o^vDX", strict=True))
    for color, alpha in enumerate(ALPHAS):
        axes.plot([], [], "s", color=f"C{color}", label=f"alpha = {alpha:g}")
        for name, marker in markers.items():
            point = found[name]["patches"][f"{alpha:g}"]
            axes.semilogx(point["rows per second"], point["error"], marker, color=f"C{color}")
    for name, marker in markers.items():
        axes.plot([], [], marker, color="grey", label=f"tol = {name}")
    axes.set(xlabel="rows per second", ylabel="held-out relative error")
    figure.legend(frameon=False, loc="outside right")
    return figure


def main() -> None:
    """Learn with each tolerance, time warm starts, draw, write the numbers."""
    X, held_out = patches(N_PATCHES, 0), patches(N_HELD_OUT, 1)
    learned(X[:2000], N_ATOMS, "root", 0)  # loads what would count as time
    numbers: dict = {"tolerances": {}, "batch on digits": batch_on_digits()}
    for tol in TOLERANCES:
        numbers["tolerances"][str(tol)] = {
            "patches": on_patches(tol, X, held_out),
            "digits": on_digits(tol),
            "500 x 20": on_few_rows(tol),
        }
        print(tol, numbers["tolerances"][str(tol)], flush=True)
    atoms = learned(X, N_ATOMS, "root", 0, alpha=0.03, n_epochs=1).components_
    numbers["warm starts"] = warm(X, atoms)
    save_figure(draw(numbers["tolerances"]), "000-2-coding", 85)
    save("000-2-coding", numbers)


if __name__ == "__main__":
    main()
