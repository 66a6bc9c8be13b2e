"""Models of walks, and calls that an interrupt may tear."""

import numpy as np

from atomstream import RandomWalkFactorization

WALK = np.random.default_rng(0).integers(0, 300, 4000)
CASES = {
    "walk": (
        lambda: RandomWalkFactorization(3, random_state=0),
        lambda m: m.fit_stream(np.split(WALK, 4)),
        4,
    ),
    "trips": (
        lambda: RandomWalkFactorization(3, random_state=0),
        lambda m: m.partial_fit_transitions(WALK[1:], WALK[:-1]),
        1,
    ),
}
