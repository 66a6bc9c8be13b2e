"""Sums over arrays too large for the cache, each in one pass over memory."""

import numpy as np

from atomstream._kernels.compile import kernel


@kernel
def blend(total, old, keep, new, share):  # type: ignore[no-untyped-def]
    """Write ``keep * old + share * new`` to ``total``; all are of one axis."""
    for i in range(total.size):
        total[i] = keep * old[i] + share * new[i]


@kernel
def squared_norms(norms, X):  # type: ignore[no-untyped-def]
    """Write the squared length of each row, summed in float64, to ``norms``."""
    for i in range(len(X)):
        total = 0.0
        for j in range(X.shape[1]):
            value = np.float64(X[i, j])
            total += value * value
        norms[i] = total
