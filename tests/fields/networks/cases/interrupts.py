"""Models of networks, and calls that an interrupt may tear."""

import numpy as np

from atomstream import NetworkDictionary

RNG = np.random.default_rng(0)
WEIGHTS = np.triu((RNG.random((40, 40)) < 0.2) * RNG.random((40, 40)), 1)
NETWORK = WEIGHTS + WEIGHTS.T + np.eye(40)
GIVEN = {"batch_size": 20, "random_state": 0}
CASES = {
    "pivot": (
        lambda: NetworkDictionary("path:4", 4, **GIVEN),
        lambda m: m.partial_fit(NETWORK, n_batches=2),
        1,
    ),
    "glauber": (
        lambda: NetworkDictionary("cycle:3", 4, chain="glauber", **GIVEN),
        lambda m: m.partial_fit(NETWORK, n_batches=2),
        1,
    ),
}
