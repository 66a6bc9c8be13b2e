"""Dictionaries and samples that coders are compared on, half of them for tuning."""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path

import numpy as np

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
    folder = os.environ.get("ATOMSTREAM_DATA", Path(__file__).parents[1] / "shared" / "data")
    with np.load(Path(folder) / "faces" / "yaleb_32x32.npz") as kept:
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

    return OnlineNMF(n_atoms, alpha=alpha, tol=0.1, n_epochs=5, random_state=0).fit(X).components_


def signed(rng):
    """Return centred patches and signed atoms of ours."""
    from atomstream import OnlineDictionaryLearning

    X = grey_patches(10, rng, 0)
    X -= X.mean(axis=1, keepdims=True)
    return X, OnlineDictionaryLearning(150, alpha=0.1, n_epochs=5, random_state=0).fit(X).components_


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
    "alike 300, r 200, nearly one": (lambda rng: alike(rng, 200, 300, 0.95), False),
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
