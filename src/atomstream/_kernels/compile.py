"""Compilation of kernels: without the interpreter's lock, kept on disk where possible."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any


def _apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that works in a thread of its own, and is waited for.

    Python raises KeyboardInterrupt in the main thread only, and numba does not survive it while it
    is imported, or while it compiles or loads a kernel.
    """

    @wraps(function)
    def apart(*arguments: Any, **named: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(function, *arguments, **named).result()

    return apart


numba = _apart(import_module)("numba")
_apart(import_module)("numba.extending")
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
        compiled._cache._cache_file._source_stamp = STAMP
    except RuntimeError:  # numba: "no locator available", no folder is writable
        compiled = numba.njit(**OPTIONS)(function)
    compiled._compile_for_args = _apart(compiled._compile_for_args)
    return compiled
