"""Settings of the whole suite, and what tests of kernels share."""

import os

# Before numpy is loaded: two workers on two cores gain nothing from threads of BLAS that wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import contextlib
import importlib
import pkgutil

import pytest
from hypothesis import settings

# Derandomised: the same examples on every machine. No deadline: the first call of a kernel
# compiles.
settings.register_profile("atomstream", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("atomstream")


@pytest.fixture
def interpreted():
    """A context in which every kernel, and every helper in it, is its plain Python function."""
    return _interpreted


@contextlib.contextmanager
def _interpreted():
    import atomstream._kernels as kernels

    with pytest.MonkeyPatch.context() as patch:
        for found in pkgutil.iter_modules(kernels.__path__, "atomstream._kernels."):
            module = importlib.import_module(found.name)
            for name, value in vars(module).copy().items():
                if hasattr(value, "py_func"):
                    patch.setattr(module, name, value.py_func)
        yield
