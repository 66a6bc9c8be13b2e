"""Compilation of kernels: without the interpreter's lock, kept on disk where possible."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba

OPTIONS = {"nogil": True, "fastmath": {"reassoc", "contract"}, "error_model": "numpy"}


def source_stamp(folder: Path) -> str:
    """Return a digest of all sources in a folder.

    Numba compiles a kernel anew when the kernel's own file changes; ours contain functions of other
    files too.
    """
    sources = sorted(folder.glob("*.py"))
    return sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


STAMP = source_stamp(Path(__file__).parent)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` into its callers, where a call would cost more than its work.

    Parameters
    ----------
    function : callable
        Plain Python in numba's dialect.

    Returns
    -------
    callable
        The compiled function, for use in kernels.
    """
    return numba.njit(**OPTIONS, forceinline=True)(function)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` and cache the result on disk, or in memory where that fails.

    Parameters
    ----------
    function : callable
        Plain Python in numba's dialect.

    Returns
    -------
    callable
        The compiled function.
    """
    try:
        compiled = numba.njit(**OPTIONS, cache=True)(function)
    except RuntimeError:  # numba: "no locator available", no folder is writable
        return numba.njit(**OPTIONS)(function)
    compiled._cache._cache_file._source_stamp = STAMP
    return compiled
