"""What the machine has: threads for blocks of rows, and memory."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock, local
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs

BLOCK_ROWS, MIN_BLOCK_ROWS = 512, 128  # rows of a block, and of one of a small batch
MIN_BLOCKS = 8  # that rows are cut into, where there are enough of them
WORTH = 1 << 21  # multiplications, half a millisecond: less is done before other threads are awake
_pools: dict[int, ThreadPoolExecutor] = {}  # of each number of threads, kept for the next call
_here = local()  # whether this thread works for a pool
if hasattr(os, "register_at_fork"):  # threads do not live on in a child
    os.register_at_fork(after_in_child=_pools.clear)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Let what is done within use so many threads where it gains, and hold BLAS at one.

    Two pools of threads that take turns wait for each other.

    Parameters
    ----------
    n_jobs : int or None
        As joblib counts; -1 stands for all cores. None is what the code around says, and where
        that says nothing, as many as BLAS had.
    """
    around = getattr(_here, "n_jobs", None)
    _here.n_jobs = around if n_jobs is None else effective_n_jobs(n_jobs)
    try:
        with one_blas_thread:
            yield
    finally:
        _here.n_jobs = around


def over_rows(function: Callable[[slice], None], n_rows: int, work: int) -> None:
    """Call ``function`` on slices that cover all rows, on threads.

    The slices depend on the number of rows alone, so the bits are the same for any `threads`.

    Parameters
    ----------
    function : callable
        Takes a slice of rows; must release the interpreter's lock to gain from threads, and write
        to its rows only.
    n_rows : int
    work : int
        About how many multiplications a row takes.
    """
    # Multiples of eight rows: kernels and BLAS work on that many together.
    size = min(max(-(-n_rows // (8 * MIN_BLOCKS)) * 8, MIN_BLOCK_ROWS), BLOCK_ROWS)
    blocks = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    share_out([partial(function, block) for block in blocks], n_rows * work)


def share_out(tasks: Sequence[Callable[[], object]], work: float = np.inf) -> None:
    """Do tasks on threads, this one among them; each takes the next that is left.

    Tasks of a task are done where it is.

    Parameters
    ----------
    tasks : sequence of callable
        That write to places of their own.
    work : float, default=inf
        About how many multiplications all of them are.
    """
    left = deque(tasks)
    with one_blas_thread:
        n_threads = min(most_threads() if work >= WORTH else 1, len(left))
        if n_threads <= 1 or getattr(_here, "works", False):
            for task in tasks:
                task()
            return
        others = [_pool(n_threads).submit(_work, left) for _ in range(n_threads - 1)]
        try:
            _work(left)
            for other in others:
                # A thread that has not come yet finds nothing more to do.
                if not other.cancel():
                    other.result()
        finally:
            # Whatever happens, what was begun is waited for.
            wait([other for other in others if not other.cancel()])


def most_threads() -> int:
    """Return how many threads may be used within `threads`."""
    n_jobs = getattr(_here, "n_jobs", None)
    return one_blas_thread.n_before if n_jobs is None else int(n_jobs)


def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Return the pool that helps to be so many threads, which are started as they are needed."""
    if n_threads not in _pools:
        _pools[n_threads] = ThreadPoolExecutor(n_threads - 1, thread_name_prefix="atomstream rows")
    return _pools[n_threads]


def _work(left: deque[Callable[[], object]]) -> None:
    # A pool that waits for its own threads would wait forever.
    _here.works = True
    try:
        while True:
            try:
                task = left.popleft()
            except IndexError:
                return
            task()
    finally:
        left.clear()  # nobody begins what is left when one fails, or at an interrupt
        _here.works = False


class _OneBlasThread:
    """Hold BLAS at one thread: sums have the same bits, and other threads get their share.

    Holders may nest and overlap; the last one to leave restores the number of threads.

    Attributes
    ----------
    n_before : int
        How many threads BLAS had, but no more than there are cores.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._before: list[tuple[Any, int]] = []
        self.n_before = 1

    def __enter__(self) -> None:
        with self._lock:
            self._holders += 1
            try:
                if self._holders > 1:
                    return
                self.n_before = _n_cores()
                for library in _blas():
                    n_threads = library.get_num_threads()
                    self.n_before = min(self.n_before, n_threads)
                    if n_threads != 1:
                        self._before.append((library, n_threads))
                        library.set_num_threads(1)
            except BaseException:  # an interrupt: nobody will leave
                self._leave()
                raise

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._leave()

    def _leave(self) -> None:
        self._holders -= 1
        while not self._holders and self._before:
            # Taken off before it is set: an interrupt in between restores no library twice.
            library, n_threads = self._before.pop()
            library.set_num_threads(n_threads)


one_blas_thread = _OneBlasThread()


@lru_cache(maxsize=1)
def _n_cores() -> int:
    """Return how many cores the process may use."""
    return int(cpu_count())


@lru_cache(maxsize=1)
def _blas() -> list[Any]:
    """Return what controls the BLAS libraries of this process."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


GROUPS = Path("/sys/fs/cgroup")
# Matrices in float64 that a step holds at least: among the atoms, and of their size (for data of
# float32, of which the atoms have half).
SQUARES, TALLS = 5, 1.5


def check_memory(n_components: int, n_features: int) -> None:
    """Refuse a model whose matrices do not fit in memory."""
    # Eight bytes a number.
    needed = 8 * n_components * (SQUARES * n_components + TALLS * n_features)
    if needed > memory_there():
        raise ValueError(
            f"{n_components} atoms of {n_features} features need about {needed / 1e9:.3g} GB of "
            f"memory ({n_components} x {n_components} products among them), and there are "
            f"{memory_there() / 1e9:.3g} GB; take fewer atoms."
        )


@lru_cache(maxsize=1)
def memory_there() -> float:
    """Return the bytes of memory of the machine, or of the control group of the process."""
    limits = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))] if _told() else []
    for file in _group_limits():
        with suppress(OSError, ValueError):  # "max" is no number: no limit
            limits.append(float(file.read_text()))
    return min(limits, default=float("inf"))


def _told() -> bool:
    return "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {})


def _group_limits() -> list[Path]:
    """Return the files that may hold the limit of a group of the process, of both versions."""
    found = [GROUPS / "memory/memory.limit_in_bytes", GROUPS / "memory.max"]
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            path = GROUPS / line.rpartition(":")[2].lstrip("/")
            found += [place / "memory.max" for place in (path, *path.parents)]
    return [file for file in found if file.is_relative_to(GROUPS)]
