"""A model of networks that learns under a schedule."""

import numpy as np

from atomstream import NetworkDictionary

EDGES = np.ones((8, 8)) - np.eye(8)


def learn(schedule):
    return NetworkDictionary("path:3", 2, n_batches=2, schedule=schedule).fit(EDGES)


CASES = {"network": learn}
