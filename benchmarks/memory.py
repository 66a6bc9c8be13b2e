"""Print the peak memory in MB that one pass takes beyond the data, for the contender named on the command line."""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import resource
import sys

import contenders
import numpy as np
from workload import patches, start


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(name):
    X, _ = patches()
    first = start(X)
    if name == "atomstream":
        contenders.atomstream(X[:1000], first, n_samples=1000)  # libraries and compiled code are not the algorithm's
        before = peak()
        contenders.atomstream(X, first, n_samples=len(X))
    else:
        X = np.asfortranarray(X.T).T  # the layout it wants, so that no copy is counted
        contenders.spams(X[:1024], first, n_samples=1024)
        before = peak()
        contenders.spams(X, first, n_samples=len(X))
    print(peak() - before)


if __name__ == "__main__":
    main(sys.argv[1])
