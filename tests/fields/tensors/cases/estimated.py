"""A run of tensors whose time is told before it begins."""

import numpy as np


def words(folder):
    np.save(folder / "t.npy", np.random.default_rng(0).random((3_000, 6, 5)))
    return "tensor", "learn", folder / "t.npy", "--atoms", 3, "--epochs", 90


CASES = {"tensor": (words, {"n_samples": 3_000, "n_features": 30, "n_passes": 90})}
