"""Shards and executors for tests, which worker processes can import."""

import contextlib
import os
import random
import signal
import threading
import time
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hanging import GUARD

from atomstream import OnlineNMF
from atomstream.cluster import Shards
from atomstream.runs.lock import is_locked, locked

FEATURES, ATOMS = 12, 3


def planted(n_rows, seed=0):
    """Return nonnegative rows made of three parts."""
    rng = np.random.default_rng(seed)
    parts = np.random.default_rng(99).random((ATOMS, FEATURES)) ** 3
    return rng.exponential(size=(n_rows, ATOMS)) @ parts + 0.01 * rng.random((n_rows, FEATURES))


@dataclass(frozen=True)
class Drawn:
    """Rows that are drawn where they are read."""

    seed: int
    n_rows: int = 300
    version: str = "1"

    @property
    def name(self):
        return f"drawn[{self.seed}]"

    def read(self, first, last):
        yield planted(self.n_rows, self.seed)[first:last]


@dataclass(frozen=True)
class Bad(Drawn):
    """Rows that nothing can be learned from."""

    def read(self, first, last):
        yield np.full((last - first, FEATURES), -1.0)


@dataclass(frozen=True)
class Deadly(Drawn):
    """Rows whose reading kills the worker as often as it is told to."""

    folder: str = ""
    times: int = 1

    def read(self, first, last):
        marks = list(Path(self.folder).iterdir())
        if len(marks) < self.times:
            (Path(self.folder) / str(len(marks))).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield from super().read(first, last)


@dataclass(frozen=True)
class Stuck(Drawn):
    """Rows that do not come to the first process that reads them, until it is killed."""

    folder: str = ""

    def read(self, first, last):
        mark = Path(self.folder) / str(self.seed)
        with contextlib.suppress(FileExistsError):
            mark.mkdir()
            hold(mark / str(os.getpid()))
        yield from super().read(first, last)


def hold(path):
    """Hold a lock until this process is killed."""
    while True:
        with contextlib.suppress(BlockingIOError), locked(path):  # somebody may look at it
            time.sleep(GUARD)


def stuck(folder):
    """Return which processes are stuck."""
    return {int(path.name) for path in Path(folder).glob("*/*") if is_locked(path)}


@dataclass(frozen=True)
class Slow(Drawn):
    """Rows that do not come."""

    seconds: float = 2 * GUARD

    def read(self, first, last):
        time.sleep(self.seconds)
        yield from super().read(first, last)


@dataclass(frozen=True)
class Wide(Drawn):
    """Rows that take so many bytes to read."""

    n_bytes: int = 0

    def read(self, first, last):
        held = np.ones(self.n_bytes, np.uint8)
        yield from super().read(first, last)
        del held


def leave(n_bytes):
    """Leave so much memory to this process, once it has compiled what it needs."""
    import resource

    OnlineNMF(ATOMS, random_state=0).fit_stream(Shards([Drawn(0)]), slots=2)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + n_bytes,) * 2)


class Fickle(Executor):
    """Runs a third of the tasks twice, delays them, and finishes them in any order."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self.n_runs = 0

    def submit(self, fn, /, *args):
        future, twice = Future(), self._random.random() < 0.3
        delay = 0.02 * self._random.random()

        def run():
            time.sleep(delay)
            for _ in range(1 + twice):
                self.n_runs += 1
                try:
                    value, error = fn(*args), None
                except Exception as raised:
                    value, error = None, raised
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future


class Forgetful(Executor):
    """Never finishes the first so many tasks."""

    def __init__(self, n_lost):
        self.n_lost = n_lost

    def submit(self, fn, /, *args):
        future = Future()
        if self.n_lost:
            self.n_lost -= 1
        else:
            future.set_result(fn(*args))
        return future
