"""A small network, and the chains that tests of every sampler run over."""

import numpy as np

from atomstream.samplers import IsingGibbs, MotifGlauber, MotifPivot, RandomWalk

NETWORK = np.array(
    [[0, 1, 1, 0, 0], [1, 0, 1, 1, 0], [1, 1, 0, 0, 2], [0, 1, 0, 0, 1], [0, 0, 2, 1, 0]], float
)
SAMPLERS = [
    IsingGibbs((3, 4), temperature=2.0),
    MotifGlauber(NETWORK, "path:3"),
    MotifPivot(NETWORK, "path:3"),
    RandomWalk(NETWORK),
]
