"""A run of networks whose time is told before it begins."""

import numpy as np


def words(folder):
    edges = np.random.default_rng(0).integers(0, 30, (200, 2))
    np.savetxt(folder / "e.txt", edges, fmt="%d")
    network = ("network", "learn", folder / "e.txt", "--motif", "path:5", "--atoms", 4)
    return *network, "--batches", 900, "--batch-size", 100


CASES = {"network": (words, {"n_samples": 90_000, "n_features": 25, "n_steps": 900})}
