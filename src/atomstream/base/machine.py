"""Available memory, and whether a model fits."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

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
