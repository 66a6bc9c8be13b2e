"""A model of walks, saved to a file, for all verbs that look."""

import numpy as np

from atomstream import RandomWalkFactorization

CASES = {
    "RandomWalkFactorization": {
        "learned": lambda rng: RandomWalkFactorization(3, random_state=0).fit(
            np.cumsum(rng.integers(-1, 2, 500)) % 9
        ),
        "atoms": "clusters",
        "most": None,  # its clusters are made by `partition`
    },
}
