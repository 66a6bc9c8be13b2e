"""How much memory reading may take: what a file claims is held against it before it is taken."""

from __future__ import annotations

import os
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from atomstream.exceptions import InputError

__all__ = ["allowed", "max_memory", "need", "size_of"]

SHARE = 0.5  # of the memory of the machine, unless told otherwise
GROUPS = Path("/sys/fs/cgroup")
UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")

# Bytes that one thing that is read may take; None is `SHARE` of what there is.
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
    return _half() if told is None else told


def size_of(n_bytes: float) -> str:
    """Return a number of bytes in words, such as "2.1 GB"."""
    for unit in UNITS:
        if n_bytes < 1000 or unit == UNITS[-1]:
            break
        n_bytes /= 1000
    return f"{n_bytes:.3g} {unit}"


@lru_cache(maxsize=1)
def _half() -> float:
    """Return half of the memory of the machine, or of the control group of the process."""
    limits = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))] if _told() else []
    for file in _group_limits():
        with suppress(OSError, ValueError):  # "max" is no number: no limit
            limits.append(float(file.read_text()))
    return SHARE * min(limits, default=float("inf"))


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
