"""How much memory reading may take: what a file claims is held against it before it is taken."""

from __future__ import annotations

from contextvars import ContextVar

from atomstream.base.machine import memory_there
from atomstream.exceptions import InputError

MEMORY_SHARE = 0.5  # of the memory of the machine, unless told otherwise
UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")

# Bytes that one thing that is read may take; None is `MEMORY_SHARE` of what there is.
max_memory: ContextVar[int | None] = ContextVar("max_memory", default=None)


def need(n_bytes: float, what: str) -> None:
    """Refuse what needs more memory than reading may take.

    Parameters
    ----------
    n_bytes : float
        At its peak, about.
    what : str
        What needs it: the subject of a sentence.

    Raises
    ------
    InputError
    """
    if n_bytes > allowed():
        most = size_of(allowed()) + ", half of what there is" * (max_memory.get() is None)
        raise InputError(
            f"{what} needs about {size_of(n_bytes)} of memory, allowed are {most}; allow more with "
            "--max-memory where that is right."
        )


def allowed() -> float:
    """Return the bytes that one thing that is read may take."""
    told = max_memory.get()
    return MEMORY_SHARE * memory_there() if told is None else told


def size_of(n_bytes: float) -> str:
    """Return a number of bytes in words, such as "2.1 GB"."""
    for unit in UNITS:
        if n_bytes < 1000 or unit == UNITS[-1]:
            break
        n_bytes /= 1000
    return f"{n_bytes:.3g} {unit}"
