"""Settings of the whole suite, one compiler at a time, and what tests of kernels share."""

import os

# Before numpy is loaded: two workers on two cores gain nothing from threads of BLAS that wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import contextlib
import hashlib
import importlib
import pkgutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# Scripts: a type checker reads the one, and the other hides the optional libraries.
collect_ignore = ["typed", "without_extras.py"]

# Derandomised: the same examples on every machine. No deadline: the first call of a kernel
# compiles.
settings.register_profile("atomstream", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("atomstream")


def pytest_configure(config):
    """Let one worker compile a kernel while others wait for what numba keeps on disk."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    import fcntl

    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_now = Dispatcher.compile

    def compile_once(self, signature):
        name = f"{self.py_func.__module__}.{self.py_func.__qualname__}".encode()
        path = Path(tempfile.gettempdir()) / f"atomstream-{hashlib.sha256(name).hexdigest()}.lock"
        with global_compiler_lock, path.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return compile_now(self, signature)

    Dispatcher.compile = compile_once


@pytest.fixture(autouse=True, scope="session")
def _compile_in_silence():
    """Let commands print the same whether kernels are on disk or not."""
    from atomstream._kernels import compile

    compile.PATIENCE = 1e6


@pytest.fixture
def interpreted():
    """A context in which every kernel, and every helper in it, is its plain Python function."""
    return _interpreted


@contextlib.contextmanager
def _interpreted():
    import atomstream._kernels as kernels

    # All are imported before the first is patched: a module that another imports from while it is
    # patched would keep the plain function for good.
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.iter_modules(kernels.__path__, "atomstream._kernels.")
    ]
    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            for name, value in vars(module).copy().items():
                if hasattr(value, "py_func"):
                    patch.setattr(module, name, value.py_func)
        yield
