"""The reference workload: grey 20 x 20 patches of two photographs, and the held-out error."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls
from sklearn.datasets import load_sample_images

N_TRAIN, N_HELD_OUT, SIZE, N_ATOMS = 100_000, 1_500, 20, 100


def patches(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return training and held-out patches, float32 in [0, 1], and always the same for a seed."""
    rng = np.random.default_rng(seed)
    photographs = [
        (p @ [0.2989, 0.5870, 0.1140] / 255).astype(np.float32) for p in load_sample_images().images
    ]
    rows = np.empty((N_TRAIN + N_HELD_OUT, SIZE * SIZE), np.float32)
    for i, which in enumerate(rng.integers(0, len(photographs), len(rows))):
        photograph = photographs[which]
        top, left = (rng.integers(0, n - SIZE + 1) for n in photograph.shape)
        rows[i] = photograph[top : top + SIZE, left : left + SIZE].ravel()
    return rows[:N_TRAIN], rows[N_TRAIN:]


def start(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the start that every contender gets which takes one: drawn patches of length one."""
    rows = X[np.random.default_rng(seed).choice(len(X), N_ATOMS, replace=False)]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def held_out_error(dictionary: np.ndarray, X: np.ndarray) -> float:
    """Return ||X - HD|| / ||X|| with exact nonnegative codes, scipy's for every contender."""
    atoms = dictionary.astype(float).T
    squares = sum(nnls(atoms, x)[1] ** 2 for x in X.astype(float))
    return float(np.sqrt(squares / (X.astype(float) ** 2).sum()))
