"""What the machine has: threads for blocks of rows, and memory."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Lock, local
from typing import Any

BLOCK_ROWS, MIN_BLOCK_ROWS = 256, 64  # rows of a block, and of those that a small batch is cut into
MIN_BLOCKS = 4  # into so many at least, where there are rows enough
_pools: dict[int, ThreadPoolExecutor] = {}  # of each number of threads, kept for the next call
_here = local()  # whether this thread works for a pool
if hasattr(os, "register_at_fork"):  # threads do not live on in a child
    os.register_at_fork(after_in_child=_pools.clear)


def over_rows(function: Callable[[slice], None], n_rows: int, n_jobs: int) -> None:
    """Call ``function`` on slices that cover all rows, on ``n_jobs`` threads.

    BLAS is held at one thread: two pools of threads that take turns wait for each other. The slices
    depend on the number of rows alone, so the bits are the same whatever ``n_jobs``. Calls from
    within ``function`` run where they are made.

    Parameters
    ----------
    function : callable
        Takes a slice of rows; must release the interpreter's lock to gain from threads, and write
        to its rows only.
    n_rows : int
    n_jobs : int
    """
    # Multiples of eight rows: kernels and BLAS work on that many together.
    size = min(max(-(-n_rows // (8 * MIN_BLOCKS)) * 8, MIN_BLOCK_ROWS), BLOCK_ROWS)
    blocks = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    with one_blas_thread:
        if n_jobs == 1 or len(blocks) == 1 or getattr(_here, "works", False):
            for block in blocks:
                function(block)
            return
        # Blocks in flight are waited for, others cancelled, when one fails or at an interrupt.
        calls = [_pool(n_jobs).submit(_work, function, block) for block in blocks]
        try:
            for call in calls:
                call.result()
        finally:
            for call in calls:
                call.cancel()
            wait(calls)


def _pool(n_jobs: int) -> ThreadPoolExecutor:
    """Return the pool of so many threads, which are started as they are needed."""
    if n_jobs not in _pools:
        _pools[n_jobs] = ThreadPoolExecutor(n_jobs, thread_name_prefix="atomstream rows")
    return _pools[n_jobs]


def _work(function: Callable[[slice], None], block: slice) -> None:
    # A pool that waits for its own threads would wait forever.
    _here.works = True
    function(block)


class _OneBlasThread:
    """Hold BLAS at one thread: sums have the same bits, and other threads get their share.

    Holders may nest and overlap; the last one to leave restores the number of threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            self._holders += 1
            try:
                for library in _blas() if self._holders == 1 else ():
                    if (n_threads := library.get_num_threads()) != 1:
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
