"""Threads over blocks of rows: the only parallelism of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
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
        with one_blas_thread():
            for block in blocks:
                function(block)
        return
    with one_blas_thread(), ThreadPoolExecutor(min(n_jobs, len(blocks))) as pool:
        for done in [pool.submit(function, block) for block in blocks]:
            done.result()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS at one thread: sums have the same bits, other threads get their share."""
    with _blas().limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
