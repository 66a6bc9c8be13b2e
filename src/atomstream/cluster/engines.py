"""Engines: whatever has ``submit(function, *arguments)``, and what is asked of it."""

from __future__ import annotations

import logging
import os
import platform
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any

import numpy as np

import atomstream
from atomstream.base import library
from atomstream.exceptions import DataWarning, EngineError

log = logging.getLogger(__name__)
MAX_STARTS = 3  # of an executor whose workers die before they are ready
START_LIMIT = 600.0  # seconds in which the first worker of this machine must have started
NEW_WORKER = 600.0  # seconds to wait for a worker where a scheduler has none
BYTES_PER_TASK = 4 << 20  # that a task of Dask carries
FORK_CHECK = 5.0  # seconds between looks at who the parent is


class Engine:
    """An engine, and how strict to be with it.

    Parameters
    ----------
    engine : None, str, Executor or dask.distributed.Client
        None runs tasks one after the other in this process; "threads", "processes" and
        "processes:4" start workers on this machine; "dask://host:port" connects to a scheduler.
        Anything else has ``submit`` as `concurrent.futures.Executor` has it.
    mixed : {"refuse", "warn"}, default="refuse"
        What to do with a worker that has other versions of Python's libraries or another processor
        than this process: its results may differ in the last bits.
    round_timeout : float, optional
        Seconds without any result after which unfinished tasks are given out once more, and after
        which, the second time, learning ends with an `EngineError`. By default an hour for the
        slots of a round, and a day for tasks that go over all shards, such as replicates.
    """

    def __init__(
        self, engine: Any = None, *, mixed: str = "refuse", round_timeout: float | None = None
    ) -> None:
        if mixed not in ("refuse", "warn"):
            raise ValueError(f"mixed must be 'refuse' or 'warn', got {mixed!r}.")
        if round_timeout is not None and not round_timeout > 0:
            raise ValueError(f"round_timeout must be above 0 seconds, got {round_timeout!r}.")
        self.engine, self.mixed, self.round_timeout = engine, mixed, round_timeout

    @classmethod
    def of(cls, engine: Any) -> Engine:
        """Return an engine as it is, or one with the usual strictness."""
        return engine if isinstance(engine, cls) else cls(engine)


@dataclass
class Pool:
    """An executor while it is in use.

    Parameters
    ----------
    make : callable
        Returns the executor.
    owned : bool, default=False
        Whether the executor is started here, and started anew if it breaks.
    client : dask.distributed.Client, optional
        Whose executor it is.
    most_at_once : int, default=2**31
        Tasks to give out at a time: one where giving out is doing, so that few results are held.
    """

    make: Callable[[], Any]
    owned: bool = False
    client: Any = None
    most_at_once: int = 2**31

    def __post_init__(self) -> None:
        self._start()

    def _start(self) -> None:
        """Make the executor; workers that are started here start before any clock runs."""
        for _ in range(MAX_STARTS):
            self._executor = self.make()
            if not self.owned or self._has_worker():
                return
        raise EngineError(f"Workers died while they started, {MAX_STARTS} times in a row.")

    def _has_worker(self) -> bool:
        """Wait for the first worker; no worker is left behind where it dies or does not come."""
        ready = False
        try:
            self._executor.submit(facts).result(START_LIMIT)
            ready = True
        except BrokenExecutor:
            log.info("A worker died while it started.")
        except TimeoutError:
            raise EngineError(f"No worker started within {START_LIMIT:g} seconds.") from None
        finally:  # after an interrupt too
            if not ready:
                self.close()
        return ready

    def share(self, value: bytes, limit: float) -> Any:
        """Send bytes to where workers find them; return what stands for them in `submit`.

        Raises
        ------
        OSError, RuntimeError
            Where a scheduler is gone, has no workers, or has not answered for ``limit`` seconds.
        """
        if self.client is None:
            return value
        sent = _within(limit, partial(self._sent, value))
        failure = _within(min(limit, NEW_WORKER), sent.exception)
        if failure is not None:
            raise EngineError(f"Workers die while they take the model in ({failure!s:.200}).")
        return sent

    def _sent(self, value: bytes) -> Any:
        """Return bytes as the result of a task, which Dask repeats if the worker with it dies.

        What is scattered is lost with its worker, and a broadcast in which a worker dies never ends
        and holds up all later ones.
        """
        # Each call has a key of its own (pure=False), and no part is so large that Dask warns.
        submit = partial(self.client.submit, pure=False)
        starts = range(0, len(value), BYTES_PER_TASK)
        return submit(b"".join, [submit(bytes, value[at : at + BYTES_PER_TASK]) for at in starts])

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future:
        """Give a task out."""
        return self._executor.submit(task, *arguments)

    def workers(self, limit: float) -> list[str] | None:
        """Return the addresses of the workers; None where these cannot be told apart.

        Raises
        ------
        OSError, RuntimeError
            Where a scheduler is gone, or has not answered for ``limit`` seconds.
        """
        return None if self.client is None else list(_within(limit, self.client.nthreads))

    def everywhere(
        self, workers: list[str] | None, task: Callable[..., Any], *arguments: Any
    ) -> list[Future]:
        """Give a task to each worker; without addresses, as often as there are workers.

        Another worker takes the task of one that has died.
        """
        if workers is not None:
            make = partial(self.client.get_executor, pure=False, allow_other_workers=True)
            executors = [make(workers=[name]) for name in workers]
        else:
            executors = [self._executor] * getattr(self._executor, "_max_workers", 0)
        return [executor.submit(task, *arguments) for executor in executors]

    def renew(self) -> bool:
        """Start anew after workers died; return whether that is possible."""
        if self.client is not None:  # its scheduler replaces workers
            return bool(self.client.status == "running")
        if self.owned:
            self.close()
            self._start()
        return self.owned

    def close(self) -> None:
        """End workers that were started here; a thread ends with the task that it is at."""
        if not self.owned:
            return
        # Listed before the shutdown, which forgets them; one that hangs would keep Python from
        # ending.
        workers = list((getattr(self._executor, "_processes", None) or {}).values())
        self._executor.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()


def _within(limit: float, ask: Callable[[], Any]) -> Any:
    """Return what a scheduler answers, asked by a thread that is given up after a while.

    Raises
    ------
    TimeoutError
        After ``limit`` seconds without an answer.
    """
    # A daemon: a scheduler that never answers must not keep the process alive.
    answer: Future = Future()
    Thread(target=_settle, args=(answer, ask), name="atomstream asks", daemon=True).start()
    return answer.result(limit)


def _settle(future: Future, ask: Callable[[], Any]) -> None:
    """Give a future what a function returns or raises."""
    try:
        future.set_result(ask())
    except BaseException as error:
        future.set_exception(error)


class _Here(Executor):
    """Runs every task in this thread, when it is given out."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Run a task and return its result as a future that is done."""
        future: Future = Future()
        _settle(future, partial(fn, *args, **kwargs))
        return future


@contextmanager
def opened(engine: Any) -> Iterator[Pool]:
    """Open an engine, and close what was started for it.

    Raises
    ------
    TypeError
        For what has no ``submit``.
    ValueError
        For a name that is not known.
    """
    with ExitStack() as stack:
        if isinstance(engine, str) and engine.startswith("dask://"):
            address = f"tcp://{engine.removeprefix('dask://')}"
            distributed = library("distributed", "Dask clusters")
            try:
                engine = distributed.Client(address, timeout=5, set_as_default=False)
            except OSError as error:
                raise EngineError(
                    f"There is no Dask scheduler at {address} ({error!s:.200})."
                ) from None
            stack.callback(engine.close)
        pool = _pool(engine)
        stack.callback(pool.close)  # before the client, which was opened first
        yield pool


def _pool(engine: Any) -> Pool:
    if engine is None:
        return Pool(_Here, most_at_once=1)
    if isinstance(engine, str):
        kind, _, number = engine.partition(":")
        if kind not in ("threads", "processes") or not (number or "1").isdigit():
            raise ValueError(
                f"engine={engine!r} is not known; known are 'threads', 'processes', 'processes:4' "
                "and 'dask://host:port'."
            )
        count = int(number) if number else os.cpu_count() or 1
        if kind == "threads":
            return Pool(lambda: ThreadPoolExecutor(count), owned=True)
        # A forked process would inherit the locks of threads that it does not have.
        spawn = get_context("spawn")
        start = partial(ProcessPoolExecutor, count, spawn, initializer=end_with_parent)
        return Pool(start, owned=True)
    if hasattr(engine, "scatter") and hasattr(engine, "get_executor"):
        # Tasks of one key would be run once: each has a key of its own.
        return Pool(lambda: engine.get_executor(pure=False), client=engine)
    if not hasattr(engine, "submit"):
        raise TypeError(
            f"engine must have a method submit, as concurrent.futures.Executor, got "
            f"{type(engine).__name__}."
        )
    return Pool(lambda: engine)


def end_with_parent() -> None:
    """Let this process end when the one that started it has ended, even if that was killed."""
    # A daemon: it must not keep a process alive whose work is done.
    Thread(target=_follow, args=(parent_process(),), name="atomstream follows", daemon=True).start()


def _follow(parent: Any) -> None:
    """Wait until a process has ended, then end this one in the middle of what it does."""
    # The system closes a pipe from the parent with it, unless the parent has forked a process that
    # lives on; then the system still gives this one another parent (not on Windows, without forks).
    first = os.getppid()
    while parent.is_alive() and os.getppid() == first:
        parent.join(FORK_CHECK)
    os._exit(1)


@lru_cache
def facts() -> dict[str, str]:
    """Return what must agree between two processes for them to give the same bits."""
    import llvmlite.binding as llvm  # type: ignore[import-untyped]
    import numba
    import scipy

    return {
        "atomstream": atomstream.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "processor": f"{platform.machine()} {llvm.get_host_cpu_name()}",
    }


def check_alike(other: dict[str, str], engine: Engine) -> None:
    """Refuse the results of a worker with other facts, or warn of it, as the engine says."""
    ours = facts()
    unlike = {name: theirs for name, theirs in other.items() if theirs != ours[name]}
    if not unlike:
        return
    said = ", ".join(f"{name} {theirs} (here {ours[name]})" for name, theirs in unlike.items())
    sentence = f"A worker has {said}, so its results may differ in the last bits"
    if engine.mixed == "refuse":
        raise EngineError(f"{sentence}; make them alike, or allow it with mixed='warn'.")
    warnings.warn(f"{sentence}.", DataWarning, stacklevel=8)
