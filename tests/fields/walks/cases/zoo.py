"""A small model of walks, and a walk that it learns from."""

import numpy as np

from atomstream import RandomWalkFactorization

CASES = {
    "walks": (
        RandomWalkFactorization(2, random_state=0),
        lambda: np.random.default_rng(0).integers(6, size=400),
        lambda model, states: model.embedding_,
    ),
}
