"""Print the peak memory in MB that one pass of the named contender takes beyond the data."""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import gc
import sys
from pathlib import Path

import contenders
from workload import patches, start


def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def main(name):
    """Warm up on next to nothing, reset the peak, learn one pass, print what the peak rose by."""
    X, _ = patches()
    first = start(X)
    learn = getattr(contenders, name)
    learn(X[:64], first[:2], n_samples=64)  # libraries and compiled code are not the algorithm's
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew at what is resident now
    before = status("VmRSS")
    learn(X, first, n_samples=len(X))
    print(status("VmHWM") - before)


if __name__ == "__main__":
    main(sys.argv[1])
