"""Compilation of kernels: without the interpreter's lock, kept on disk where possible."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import cache, update_wrapper, wraps
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

LOGGER = logging.getLogger(__name__)
PATIENCE = 1.0  # seconds of compiling, added up, after which a line of the log says so
THREAD = "atomstream compiler"  # name of the threads that compile, or load the compiler
_state = {"spent": 0.0, "told": False}


def _apart(
    function: Callable[..., Any], compiled: Callable[[], int] = lambda: 0
) -> Callable[..., Any]:
    """Return a function that works in a thread of its own, and is waited for.

    Python raises KeyboardInterrupt in the main thread only, and numba does not survive it while it
    is imported, or while it compiles or loads a kernel. The thread goes on after an interrupt.
    ``compiled`` counts what was begun to be compiled and not found on disk.
    """

    @wraps(function)
    def in_a_thread(*arguments: Any, **named: Any) -> Any:
        """Return what the function returns, or raise what it raises."""
        done: Future[Any] = Future()

        def work() -> None:
            try:
                done.set_result(function(*arguments, **named))
            except BaseException as error:
                done.set_exception(error)

        before, began = compiled(), time.monotonic() - _state["spent"]
        Thread(target=work, name=THREAD).start()
        while wait([done], PATIENCE / 4).not_done:
            late = compiled() > before and time.monotonic() - began > PATIENCE
            if late and not _state["told"]:
                _state["told"] = True
                LOGGER.info("Compiling (once) ...")
        if compiled() > before:
            _state["spent"] = time.monotonic() - began
        return done.result()

    return in_a_thread


numba = _apart(import_module)("numba")
_apart(import_module)("numba.extending")
compiler: Any = _apart(import_module)("numba.core.compiler")
OPTIONS = {"nogil": True, "fastmath": {"reassoc", "contract"}, "error_model": "numpy"}


def source_stamp(folder: Path) -> str:
    """Return a digest of all sources in a folder.

    Numba compiles a kernel anew when the kernel's own file changes; ours contain functions of other
    files too.
    """
    sources = sorted(folder.glob("*.py"))
    return sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


HERE = Path(__file__).parent
STAMP = source_stamp(HERE)


@cache
def stamp_of(folder: Path) -> str:
    """Return a digest of all that kernels in a folder are made of: what is there, and what is here.

    Parameters
    ----------
    folder : pathlib.Path
        This one, or that of a field.

    Returns
    -------
    str
    """
    return STAMP if folder == HERE else STAMP + source_stamp(folder)


def _no_code(library: Any, *_: Any) -> Any:
    """Return a built-in function, another one for each part, where numba asks for its code."""
    return [library].count


class _Inner(compiler.Compiler):
    """The compiler of a part, which becomes code of the machine within each kernel that holds it.

    Numba would optimise a part by itself, write its code, and do both again with every part and
    kernel around it: a third of the time to compile the deepest kernel.
    """

    def define_pipelines(self) -> Any:
        """Return numba's passes, over a library that other libraries link and nothing runs."""
        context = self.state.targetctx
        library = context.codegen().create_library(self.state.func_id.func_qualname)
        library._optimize_final_module = lambda: None
        library._finalize_final_module = lambda: setattr(library, "_finalized", True)
        self.state.library = library
        self.state.targetctx = context.subtarget(get_executable=_no_code)
        return super().define_pipelines()


class _Part:
    """A part of kernels: compiled where one of them calls it, a plain function to Python.

    What Python and C call a compiled function by would take a fifth of the time to compile.

    Attributes
    ----------
    py_func : callable
    """

    def __init__(self, function: Callable[..., Any], **options: bool) -> None:
        self.py_func = function
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        self._compiled = numba.njit(**OPTIONS, **options, pipeline_class=_Inner)(function)
        self._numba_type_ = self._compiled._numba_type_  # asked for where a kernel names this
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` for kernels that call it; from Python it is called as it was written.

    Parameters
    ----------
    function : callable
        Plain Python in numba's dialect.

    Returns
    -------
    callable
    """
    return _Part(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` into its callers, where a call would cost more than its work.

    Parameters
    ----------
    function : callable
        Plain Python in numba's dialect.

    Returns
    -------
    callable
        As of `part`.
    """
    return _Part(function, forceinline=True)


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
        compiled = numba.njit(**OPTIONS, cache=True, no_cfunc_wrapper=True)(function)
        place = Path(function.__code__.co_filename)
        compiled._cache._cache_file._source_stamp = stamp_of(place.parent)
    except RuntimeError:  # numba: "no locator available", no folder is writable
        compiled = numba.njit(**OPTIONS, no_cfunc_wrapper=True)(function)
    misses = compiled._cache_misses
    compiled._compile_for_args = _apart(compiled._compile_for_args, lambda: sum(misses.values()))
    return compiled
