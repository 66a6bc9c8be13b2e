"""Walks along a chain whose law is known."""

from bisect import bisect

import numpy as np


def walked(P, n, seed, start=0):
    """Return n states of a walk by a matrix of transitions."""
    sums = np.cumsum(P, axis=1)
    sums = (sums / sums[:, -1:]).tolist()
    states, at = [], start
    for draw in np.random.default_rng(seed).random(n).tolist():
        at = bisect(sums[at], draw)
        states.append(at)
    return np.array(states)
