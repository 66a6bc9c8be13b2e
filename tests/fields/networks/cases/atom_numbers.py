"""A model of a network whose atoms have shares that differ, and its picture."""

import numpy as np

from atomstream import NetworkDictionary, plots

RING = np.roll(np.eye(20), 1, axis=1) + np.eye(20)[::-1]


def network():
    return NetworkDictionary("path:3", 4, n_batches=4, random_state=0).fit(RING + RING.T)


CASES = {"network": (network, plots.network_atoms)}
