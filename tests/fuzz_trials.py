"""Try HDF5 files in forks of a process that has loaded the library: a hundred in a second.

A script that takes lines (seconds, memory, what is read, path) and answers with exit codes.
"""

import os
import signal
import sys

import h5py  # noqa: F401

from atomstream.io import hdf5_trial


def tried(seconds, memory, what, path):
    """Return how a fork that goes through a file ended: -14 where its time was over."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, float(seconds))
        os._exit(hdf5_trial.walk(path, int(memory), what == "contents"))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    for line in sys.stdin:
        print(tried(*line.rstrip("\n").split("\t")), flush=True)
