"""What models of walks do as all models do."""

import numpy as np

from atomstream import RandomWalkFactorization
from atomstream.base import Choice


def test_a_walk_tells_its_steps():
    walk = np.random.default_rng(0).integers(6, size=400)
    assert RandomWalkFactorization(2, step=0.1).fit(walk).chosen_["step"] == Choice.given(0.1)
