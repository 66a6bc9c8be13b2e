"""A lock that one process holds, and its file, which is there no longer than that."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

GLANCE = 0.05  # seconds after which a look at a lock is over


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock; the system frees it when the process ends, however that ends.

    Parameters
    ----------
    path : pathlib.Path
        Its file, which is made for it and removed with it; one that a killed process left behind
        is taken over.

    Raises
    ------
    BlockingIOError
        Where another process, or another file of this one, holds it.
    OSError
        Where the file cannot be made.
    """
    file = _held(path)
    try:
        yield
    finally:
        with suppress(OSError):
            _remove(file, path)


def _held(path: Path) -> IO[Any]:
    """Return the file of a lock that is held from now on."""
    while True:
        file = path.open("a+")
        try:
            _lock_soon(file)
        except OSError:
            file.close()
            raise BlockingIOError(f"{path} is held by another process.") from None
        if _is_at(file, path):
            return file
        # Who held it before removed it after it was opened here: a lock on that file locks nothing.
        file.close()


def _remove(file: IO[Any], path: Path) -> None:
    """Remove the file of a lock that is held, and free the lock."""
    with file:
        # Under the lock: whoever opens the file from now on finds that it is not there any more.
        if os.name != "nt" and _is_at(file, path):
            path.unlink()
    if os.name == "nt":  # where no open file can be removed, also not that of who holds it next
        path.unlink()


def _is_at(file: IO[Any], path: Path) -> bool:
    """Return whether a path leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _lock_soon(file: IO[Any]) -> None:
    """Take the lock; `is_locked` of another process may hold it for a moment."""
    try:
        lock(file)
    except OSError:
        time.sleep(GLANCE)
        lock(file)


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock at this moment."""
    try:
        file = path.open("rb")
    except OSError:
        return False
    with file:
        try:
            # Not held beyond this question: a writer that comes at this moment tries a second time.
            lock(file, "LOCK_SH")  # others who look hold nothing against each other
        except OSError:
            return True
    return False


def lock(file: IO[Any], kind: str = "LOCK_EX") -> None:
    """Take the lock of an open file.

    Raises
    ------
    OSError
        Where somebody else has it.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return
    fcntl.flock(file, getattr(fcntl, kind) | fcntl.LOCK_NB)
