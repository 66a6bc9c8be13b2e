"""Figures of the guides: hidden entries of tables, and cells in simulated movies.

``judged/guides.py missing`` hides entries of tables that are made of five atoms, with
noise and without, fills them in with `OnlineNMF` and several ridges, and tells the root mean square
error against the clean numbers: medians of ten seeds. Beside it are the mean of all observed
entries, the means of columns, scikit-learn's IterativeImputer (defaults, but up to 100 rounds), and
alternating ridge regressions of the same rank with three penalties. The tables show all ridges:
none was chosen. Then the processor time of codes of rows with and without missing entries.

``judged/guides.py movies`` looks for the cells of the movies of the gallery, seeds 0 to
4, beside scikit-learn's NMF to its end and FastICA of the courses of pixels. The number of atoms is
that of the example.
"""

from __future__ import annotations

import os
import runpy
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

os.environ |= dict.fromkeys(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"], "1")
os.environ["MPLBACKEND"] = "agg"

import numpy as np
import workload
from benchmark_records import HERE, save
from sklearn.decomposition import NMF, FastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - makes the next possible
from sklearn.impute import IterativeImputer
from traffic import alternated

from atomstream import OnlineNMF, VideoDictionary
from atomstream.exceptions import DataWarning

SEEDS, SHARES, RIDGES = range(10), (0.3, 0.5, 0.7, 0.8, 0.9), (0, 0.0001, 0.01, 0.1)
PENALTIES = (0.01, 0.1, 1.0)  # of the rival
N_ATOMS, MOVIES = 22, range(5)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of a call, and what it returns."""
    began = time.process_time()
    made = run()
    return time.process_time() - began, made


def table(seed: int, share: float, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Return 300 x 30 numbers of rank five with noise, NaN where hidden, and the clean ones."""
    rng = np.random.default_rng(seed)
    clean = rng.random((300, 5)) @ rng.random((5, 30)) * 0.4
    noisy = np.maximum(clean + noise * rng.standard_normal(clean.shape), 0)
    return np.where(rng.random(clean.shape) < share, np.nan, noisy), clean


def filled(X: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Return a table filled in, in each of the ways."""

    def ours(ridge: float) -> np.ndarray:
        return OnlineNMF(5, missing=True, ridge=ridge, random_state=seed).fit(X).impute(X)

    return {
        **{f"ridge {each}": ours(each) for each in RIDGES},
        "mean of all": np.full_like(X, np.nanmean(X)),
        "means of columns": np.broadcast_to(np.nanmean(X, axis=0), X.shape),
        "IterativeImputer": IterativeImputer(max_iter=100, random_state=seed).fit_transform(X),
        **{f"alternating, {each}": alternated(X, 5, each, 100) for each in PENALTIES},
    }


def errors(noise: float, share: float) -> dict[str, dict[str, float]]:
    """Return the errors of hidden entries: medians over seeds, and the largest ones."""
    found: dict[str, list[float]] = {}
    for seed in SEEDS:
        X, clean = table(seed, share, noise)
        for name, made in filled(X, seed).items():
            off = (made - clean)[np.isnan(X)]
            found.setdefault(name, []).append(float(np.sqrt(np.mean(off**2))))
    return {
        name: {"median": statistics.median(off), "largest": max(off)} for name, off in found.items()
    }


def coding() -> dict[str, float]:
    """Return microseconds of a code on 100 atoms of 400 features: patches, medians of five."""
    X, others = workload.patches()
    model = OnlineNMF(100, missing=True, n_epochs=1, random_state=0).fit(X[:20_000])
    rng, rows = np.random.default_rng(0), others[:1000]
    made: dict[str, float] = {}
    for name, shape in {"none": (), "at random": rows.shape, "the same in all rows": 400}.items():
        holes = np.where(rng.random(shape) < 0.3, np.nan, rows) if shape else rows
        # The first one compiles.
        seconds = [timed(lambda holes=holes: model.transform(holes))[0] for _ in range(6)][1:]
        made[name] = 1e6 * statistics.median(seconds) / len(rows)
    return made


def missing() -> dict[str, Any]:
    """Fill in hidden entries."""
    warnings.simplefilter("ignore", DataWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    found = {noise: {share: errors(noise, share) for share in SHARES} for noise in (0.05, 0.0)}
    return {"seeds": len(SEEDS), "errors by noise": found, "microseconds a row": coding()}


def courses(movie: np.ndarray) -> np.ndarray:
    """Return a row for each pixel."""
    return movie.reshape(len(movie), -1).T


def positive(images: np.ndarray) -> np.ndarray:
    """Return images turned to the side of their longer tail, and cut off at zero."""
    return np.maximum(images * np.sign((images**3).mean(axis=1, keepdims=True)), 0)


def finders(movie: np.ndarray, seed: int) -> dict[str, Callable[[], np.ndarray]]:
    """Return what looks for images of cells in a movie; dF/F is over the 20 % quantile."""
    rest = np.quantile(movie, 0.2, axis=0)
    signed = (movie - rest) / rest
    clipped = np.maximum(signed, 0)

    def pixels(video: np.ndarray, **settings: Any) -> np.ndarray:
        model = VideoDictionary(N_ATOMS, mode="pixels", random_state=seed, **settings).fit(video)
        return np.moveaxis(model.transform(video), -1, 0)

    def nmf(video: np.ndarray) -> np.ndarray:
        model = NMF(N_ATOMS, init="nndsvda", tol=1e-4, max_iter=1000, random_state=seed)
        return model.fit_transform(courses(video)).T

    frames, many = (VideoDictionary(N_ATOMS, n_epochs=n, random_state=seed) for n in (1, 10))
    ica = FastICA(N_ATOMS, max_iter=1000, random_state=seed)
    return {
        "recorded, FastICA": lambda: ica.fit_transform(courses(movie)).T,
        "recorded, FastICA, positive": lambda: positive(ica.fit_transform(courses(movie)).T),
        "recorded, pixels": lambda: pixels(movie),
        "clipped, pixels": lambda: pixels(clipped),
        "recorded, NMF": lambda: nmf(movie),
        "clipped, NMF": lambda: nmf(clipped),
        "recorded, frames": lambda: frames.fit(movie).components_,
        "recorded, frames, ten passes": lambda: many.fit(movie).components_,
        "signed, pixels": lambda: pixels(signed, nonnegative=False),
    }


def movies() -> dict[str, Any]:
    """Look for cells."""
    example = runpy.run_path(str(HERE.parent / "examples/gallery/plot_video_calcium.py"))
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in MOVIES:
        movie, cells = example["simulated"](seed)
        for name, find in finders(movie, seed).items():
            seconds, images = timed(find)
            near = example["cosines"](images, cells)
            found.setdefault(name, []).append((np.sum(near > 0.7), near.mean(), seconds))
            print(seed, name, *found[name][-1], flush=True)
    told = {}
    for name, rows in found.items():
        numbers, cosines, seconds = np.transpose(rows)
        told[name] = {"found": int(numbers.sum()), "cosine": cosines.mean()}
        told[name]["seconds"] = np.median(seconds)
    return {"cells": len(MOVIES) * example["N_CELLS"], "finders": told}


PARTS = {part.__name__: part for part in (missing, movies)}


def main() -> None:
    """Run the parts named, or all, and write the numbers."""
    for name in sys.argv[1:] or PARTS:
        began = time.perf_counter()
        measured = PARTS[name]()
        save(f"guides-{name}", measured, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
