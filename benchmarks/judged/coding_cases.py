"""Exact nonnegative codes under eighteen dictionaries, against SPAMS: half of them for tuning.

judged/coding_cases.py            # all, some minutes
judged/coding_cases.py others     # those that were held out

One thread, processor times, in turns; products of samples and atoms count for both. A contender
counts where it reaches the gap: 1e-9 in float64, 1e-5 in float32, for all but one row in a
thousand. Atoms are made once and kept in the folder of temporary files. Each half has a record of
its own, ``results/coding-cases-tuned.json`` and ``coding-cases-others.json``, written as it goes
on.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from benchmark_records import DATA, save

KEPT = Path(tempfile.gettempdir()) / "atomstream-coding"
N_SAMPLES = 6_000


def grey_patches(size, rng, which):
    """Return patches of one of scikit-learn's two photographs, in [0, 1]."""
    from sklearn.datasets import load_sample_images

    grey = load_sample_images().images[which] @ [0.2989, 0.5870, 0.1140] / 255
    high, wide = grey.shape
    places = rng.integers(0, [high - size, wide - size], (N_SAMPLES, 2))
    return np.stack([grey[a : a + size, b : b + size].ravel() for a, b in places])


def digits(rng):
    """Return scikit-learn's digits, 64 pixels, in [0, 1]."""
    from sklearn.datasets import load_digits

    return load_digits().data / 16


def faces(rng):
    """Return 1,646 faces of 32 x 32 pixels, in [0, 1], from the folder of shared data."""
    with np.load(DATA / "faces" / "yaleb_32x32.npz") as kept:
        return kept["images"].reshape(-1, 1024) / 255


def counts(rng, n_terms=1_000, n_topics=60):
    """Return counts of words from random topics, the root of each."""
    topics = rng.dirichlet(np.full(n_terms, 0.02), n_topics)
    shares = rng.dirichlet(np.full(n_topics, 0.1), N_SAMPLES)
    return np.sqrt(rng.poisson(200 * shares @ topics))


def spectra(rng, n_channels=800, n_substances=40):
    """Return mixtures of spectra with a few broad peaks each, with noise."""
    place = np.linspace(0, 1, n_channels)
    lines = np.zeros((n_substances, n_channels))
    for line in lines:
        for _ in range(rng.integers(2, 9)):
            width = rng.uniform(0.005, 0.05)
            line += rng.random() * np.exp(-(((place - rng.random()) / width) ** 2) / 2)
    shares = rng.gamma(0.3, size=(N_SAMPLES, n_substances))
    return np.abs(shares @ lines + 0.01 * rng.standard_normal((N_SAMPLES, n_channels)))


def alike(rng, n_atoms, n_features, floor):
    """Return random nonnegative samples, and atoms that share a part; ``floor`` says how much."""
    atoms = rng.random((n_atoms, n_features)) ** 2
    atoms = floor * atoms.mean(axis=0) + (1 - floor) * atoms
    codes = rng.gamma(0.3, size=(N_SAMPLES, n_atoms))
    return codes @ atoms + 0.1 * rng.random((N_SAMPLES, n_features)), atoms


def learned(X, n_atoms, alpha, rng):
    """Return nonnegative atoms as scikit-learn's MiniBatchDictionaryLearning learns them."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    model = MiniBatchDictionaryLearning(
        n_atoms, alpha=alpha, batch_size=256, fit_algorithm="cd", positive_code=True,
        positive_dict=True, max_iter=4, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X).components_


def own(X, n_atoms, alpha, rng):
    """Return atoms of ours."""
    from atomstream import OnlineNMF
    from atomstream.coders import Auto

    return (
        OnlineNMF(n_atoms, alpha=alpha, coder=Auto(tol=0.1), n_epochs=5, random_state=0)
        .fit(X)
        .components_
    )


def signed(rng):
    """Return centred patches and signed atoms of ours."""
    from atomstream import OnlineDictionaryLearning

    X = grey_patches(10, rng, 0)
    X -= X.mean(axis=1, keepdims=True)
    return X, OnlineDictionaryLearning(150, alpha=0.1, n_epochs=5, random_state=0).fit(
        X
    ).components_


def drawn(X, n_atoms, rng):
    """Return samples of length one as atoms."""
    rows = X[rng.choice(len(X), n_atoms, replace=False)]
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def _with(make, source, *settings):
    """Return a function of a generator that makes samples and the atoms learned from them."""

    def build(rng):
        X = source(rng)
        return X, make(X, *settings, rng)

    return build


def _patches(size, which):
    return lambda rng: grey_patches(size, rng, which)


# name: what makes samples and atoms; whether it served for tuning
CASES = {
    "patches 12, sklearn alpha 0": (_with(learned, _patches(12, 0), 100, 0.0), True),
    "patches 20, own alpha .1": (_with(own, _patches(20, 0), 100, 0.1), True),
    "faces 1024, sklearn alpha .1": (_with(learned, faces, 49, 0.1), True),
    "counts 1000, own": (_with(own, counts, 80, 0.1), True),
    "random 64, r 50": (lambda rng: alike(rng, 50, 64, 0.0), True),
    "alike 200, r 300": (lambda rng: alike(rng, 300, 200, 0.5), True),
    "patches 8, drawn r 400": (_with(drawn, _patches(8, 0), 400), True),
    "patches 16, sklearn alpha .1": (_with(learned, _patches(16, 1), 150, 0.1), False),
    "patches 12, sklearn alpha 0, other": (_with(learned, _patches(12, 1), 100, 0.0), False),
    "patches 10, own alpha 0": (_with(own, _patches(10, 1), 64, 0.0), False),
    "digits 64, sklearn alpha .1": (_with(learned, digits, 60, 0.1), False),
    "digits 64, own": (_with(own, digits, 100, 0.1), False),
    "faces 1024, own": (_with(own, faces, 80, 0.1), False),
    "spectra 800, sklearn alpha 0": (_with(learned, spectra, 50, 0.0), False),
    "counts 1000, sklearn alpha .1": (_with(learned, counts, 100, 0.1), False),
    "alike 300, r 200, nearly one": (lambda rng: alike(rng, 200, 300, 0.95), True),
    "random 3000, r 2000": (lambda rng: alike(rng, 2_000, 3_000, 0.0), False),
    "patches 10, signed": (signed, False),
}


def case(name):
    """Return samples and atoms of length one of a case, float64; made once and kept on disk."""
    KEPT.mkdir(exist_ok=True)
    path = KEPT / (name.replace(" ", "_").replace(",", "") + ".npz")
    if not path.exists():
        X, atoms = CASES[name][0](np.random.default_rng(0))
        atoms = atoms / np.maximum(np.linalg.norm(atoms, axis=1, keepdims=True), 1e-9)
        atoms = atoms[np.linalg.norm(atoms, axis=1) > 0.5]
        scale = np.sqrt((X**2).sum(axis=1).mean())
        np.savez(path, X=X / scale, atoms=atoms)
    with np.load(path) as kept:
        return kept["X"], np.asarray(kept["atoms"], dtype=np.float64)


DENSITIES, ROUNDS, SECONDS = (0.02, 0.03, 0.1, 0.3, 0.5), 3, 0.5
GAPS = {"float64": 1e-9, "float32": 1e-5}


def atomstream(X, atoms, alpha):
    """Ours."""
    from atomstream import sparse_encode

    return sparse_encode(X, atoms, alpha=alpha)


def spams(columns, atoms, alpha):
    """SPAMS ``lasso``: nonnegative LARS by Cholesky."""
    import spams as library

    return library.lasso(columns, D=atoms, lambda1=alpha, mode=2, pos=True, numThreads=1)


def alpha_for(density, X, atoms):
    """Return the alpha that leaves this share of the codes nonzero, and the share that it does."""
    low, high = 1e-7, 2.0
    for _ in range(16):
        alpha = np.sqrt(low * high)
        share = float(np.mean(atomstream(X[:150], atoms, alpha) > 0))
        low, high = (alpha, high) if share > density else (low, alpha)
    return float(f"{alpha:.3g}"), share


def objective(codes, X, atoms, alpha):
    """Return the objective of each row, in float64."""
    codes = np.asarray(codes.todense()).T if hasattr(codes, "todense") else codes
    codes = codes.astype(np.float64)
    return 0.5 * ((X - codes @ atoms) ** 2).sum(axis=1) + alpha * codes.sum(axis=1)


def lower_bounds(X, atoms, alpha):
    """Return a dual value for every row, below which no code can get."""
    codes = atomstream(X, atoms, alpha)
    rest = X - codes @ atoms
    scale = np.minimum(1, alpha / np.maximum((rest @ atoms.T).max(axis=1), 1e-300))
    return scale * (X * rest).sum(axis=1) - 0.5 * scale**2 * (rest**2).sum(axis=1)


def compare(name, density):
    """Return times and gaps of one case; as many rows as both do in half a second."""
    X, atoms = case(name)
    alpha, share = alpha_for(density, X, atoms)
    began = time.process_time()
    atomstream(X[:64], atoms, alpha)
    spams(np.asfortranarray(X[:64].T), np.asfortranarray(atoms.T), alpha)
    n = int(np.clip(64 * SECONDS / (time.process_time() - began), 64, len(X)))
    X, found = X[:n], {"alpha": alpha, "density": share, "n_samples": n}
    found["condition"] = float(np.linalg.cond(atoms @ atoms.T))
    for dtype in GAPS:
        rows, kept = X.astype(dtype), atoms.astype(dtype)
        exact = rows.astype(np.float64), kept.astype(np.float64)
        bounds = lower_bounds(*exact, alpha)
        columns, tall = np.asfortranarray(rows.T), np.asfortranarray(kept.T)
        calls = {"atomstream": (atomstream, rows, kept), "SPAMS": (spams, columns, tall)}
        times = {key: [] for key in calls}
        for turn in range(ROUNDS):
            for key in sorted(calls, reverse=bool(turn % 2)):
                began = time.process_time()
                codes = calls[key][0](*calls[key][1:], alpha)
                times[key].append((time.process_time() - began) / n * 1e6)
                if turn == 0:
                    value = objective(codes, *exact, alpha)
                    gap = (value - bounds) / np.maximum(value, 2.5e-5 * (X**2).sum(axis=1))
                    found[f"{key} {dtype} late"] = float((gap > GAPS[dtype]).mean())
        for key in calls:
            found[f"{key} {dtype}"] = statistics.median(times[key])
    return found


def reported(name, found):
    """Print what came out of one case."""
    ratios = [found[f"SPAMS {d}"] / found[f"atomstream {d}"] for d in GAPS]
    missed = [round(found[f"{k} {d} late"], 4) for d in GAPS for k in ("atomstream", "SPAMS")]
    print(
        f"{name:36s} {found['density']:.2f} {found['condition']:.0e} "
        f"us {found['atomstream float64']:9.2f} SPAMS over ours: "
        f"float64 {ratios[0]:.2f}, float32 {ratios[1]:.2f}; late {missed}",
        flush=True,
    )


def main(halves):
    """Compare on the cases of the halves, and write the record of a half after each case."""
    results = {half: {} for half in halves}
    for name, (_, tuned) in CASES.items():
        half = "tuned" if tuned else "others"
        for density in DENSITIES if half in halves else ():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = {"tuned": tuned, **compare(name, density)}
            reported(name, found)
            results[half][f"{name}; {density}"] = found
            save(f"coding-cases-{half}", results[half])
            if found["density"] < 0.9 * density:  # no alpha makes codes as dense as the next ones
                break


if __name__ == "__main__":
    main(sys.argv[1:] or ("tuned", "others"))
