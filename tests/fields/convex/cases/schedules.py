"""A model of atoms made of samples that learns under a schedule."""

import numpy as np

from atomstream import OnlineConvexMF

X = np.random.default_rng(0).random((40, 12))
CASES = {
    "convex": lambda schedule: OnlineConvexMF(2, n_representatives=6, schedule=schedule).fit(X),
}
