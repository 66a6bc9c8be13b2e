"""Threads over blocks of rows: the only parallelism of the library."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Lock
from typing import Any

__all__ = ["one_blas_thread", "over_rows"]

BLOCK = 256  # rows; fixed, so that results do not depend on the number of threads


def over_rows(function: Callable[[slice], None], n_rows: int, n_jobs: int) -> None:
    """Call ``function`` on slices that cover all rows, on ``n_jobs`` threads.

    BLAS is held at one thread: two pools of threads that take turns wait for each other, and with
    one thread the bits are the same whatever ``n_jobs``.

    Parameters
    ----------
    function : callable
        Takes a slice of rows; must release the interpreter's lock to gain from threads, and write
        to its rows only.
    n_rows : int
    n_jobs : int
    """
    blocks = [slice(start, min(start + BLOCK, n_rows)) for start in range(0, n_rows, BLOCK)]
    if n_jobs == 1 or len(blocks) == 1:
        with one_blas_thread:
            for block in blocks:
                function(block)
        return
    with one_blas_thread, ThreadPoolExecutor(min(n_jobs, len(blocks))) as pool:
        try:
            for done in [pool.submit(function, block) for block in blocks]:
                done.result()
        except BaseException:  # an interrupt waits for the blocks in flight, not for all
            pool.shutdown(cancel_futures=True)
            raise


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
                for library in _blas():
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
            library, n_threads = self._before.pop()
            library.set_num_threads(n_threads)


one_blas_thread = _OneBlasThread()


@lru_cache(maxsize=1)
def _blas() -> list[Any]:
    """Return what controls the BLAS libraries of this process."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers
