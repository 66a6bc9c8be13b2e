"""Settings of the whole suite, one compiler at a time, and what tests of kernels share."""

import os

# Before numpy is loaded: two workers on two cores gain nothing from threads of BLAS that wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import contextlib
import gc
import hashlib
import importlib
import pkgutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from room import ELSEWHERE, MOST_ROOM, Room

# Scripts: a type checker reads the one, and the other hides the optional libraries. And cases of
# fields, which laws read: those of one law have the same name in all fields.
collect_ignore = ["typed", "without_extras.py"]
collect_ignore_glob = ["fields/*/cases/*", "fields/*/typed_*.py"]

SEED = "ATOMSTREAM_TEST_SEED"  # which base seed: make test-elsewhere

# Derandomised: the same examples on every machine. No deadline: the first call of a kernel
# compiles. `make test-long` takes the profile "long".
settings.register_profile("short", deadline=None, derandomize=True, max_examples=8)
settings.register_profile("long", settings.get_profile("short"), max_examples=60)
settings.load_profile("short")


def pytest_configure(config):
    """Shift seeds where that was asked for, and let one worker at a time compile a kernel."""
    _shift_seeds(int(os.environ.get(SEED, "0")))
    _compile_in_turn()


def _shift_seeds(shift):
    """Add to every whole number that seeds a generator, before a module of tests draws from one."""
    if not shift:
        return
    default_rng = np.random.default_rng

    def shifted(seed=None):
        whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
        return default_rng(int(seed) + 1000 * shift if whole else seed)

    np.random.default_rng = shifted


def _compile_in_turn():
    """Let one worker compile a kernel while others wait for what numba keeps on disk."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_now = Dispatcher.compile

    def compile_once(self, signature):
        name = f"{self.py_func.__module__}.{self.py_func.__qualname__}".encode()
        path = Path(tempfile.gettempdir()) / f"atomstream-{hashlib.sha256(name).hexdigest()}.lock"
        with global_compiler_lock, _waited_for(path):
            return compile_now(self, signature)

    Dispatcher.compile = compile_once


@contextlib.contextmanager
def _waited_for(path):
    """Hold a lock as soon as no other process does."""
    from atomstream.runs.lock import locked

    with contextlib.ExitStack() as held:
        while True:
            try:
                held.enter_context(locked(path))
                break
            except BlockingIOError:
                time.sleep(0.05)
        yield


@pytest.fixture(autouse=True, scope="session")
def _compile_in_silence():
    """Let commands print the same whether kernels are on disk or not."""
    from atomstream._kernels import compile

    compile.PATIENCE = 1e6


@pytest.fixture
def room(request):
    """Bounds on what was learned, which report how much of their room was used."""
    bounds = Room()
    yield bounds
    used = max(bounds.used, default=0.0)
    request.node.user_properties.append(("room", used))
    if ELSEWHERE in os.environ and used > MOST_ROOM:
        pytest.fail(f"{used:.2f} of the room of a bound is used; at most {MOST_ROOM} may be")


def pytest_generate_tests(metafunc):
    """Give tests that take ``seeds`` one of them in make test, and three in their long form."""
    if "seeds" in metafunc.fixturenames:
        one = pytest.param([0], id="one seed", marks=pytest.mark.short)
        three = pytest.param([0, 1, 2], id="three seeds", marks=pytest.mark.long)
        metafunc.parametrize("seeds", [one, three])


def pytest_collection_modifyitems(items):
    """Mark the tests that bound something learned, and the cases that are left to the long form.

    Of the cases of a test with ``cover(n)`` those stay whose places in all lists of values add up
    to a multiple of n: one in n, in which every value stands beside others.
    """
    known = {}
    for item in items:
        if "room" in getattr(item, "fixturenames", ()):
            item.add_marker("learned")
        cover = item.get_closest_marker("cover")
        if cover and sum(_places(item, known)) % cover.args[0]:
            item.add_marker("long")


def _places(item, known):
    """Yield the place of the values of a case in each of the lists of its test.

    Places are counted here, for `callspec.indices` numbers cases in some versions of pytest. The
    values met so far are kept in ``known``.
    """
    values = item.callspec.params
    lists = [mark.args[0] for mark in item.iter_markers("parametrize")]
    lists = [it.replace(",", " ").split() if isinstance(it, str) else list(it) for it in lists]
    of_fixtures = values.keys() - {name for names in lists for name in names}
    for names in [*lists, *([name] for name in sorted(of_fixtures))]:
        order = known.setdefault((item.path, item.originalname, *names), {})
        yield order.setdefault(tuple(id(values[name]) for name in names), len(order))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Spare the collector of garbage what lives to the end: thousands of tests and modules."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 10, 10)  # looking for cycles takes 4 % of the time by default


def pytest_terminal_summary(terminalreporter):
    """Print the ten tests that are nearest to their bounds."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    used = {
        report.nodeid: share
        for report in reports
        for name, share in getattr(report, "user_properties", ())
        if name == "room"
    }
    nearest = sorted(used, key=used.get, reverse=True)[:10]
    if nearest:
        terminalreporter.section("bounds on what was learned: room used")
    for nodeid in nearest:
        terminalreporter.write_line(f"{used[nodeid]:.2f} {nodeid}")


@pytest.fixture
def undrawn(monkeypatch):
    """Reports whose pictures are made and not drawn, which is most of their time.

    For tests that ask about the text of a report; pictures of the same kind are drawn in others.
    """
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *_, **__: None)


@pytest.fixture
def interpreted():
    """A context in which every kernel, and every helper in it, is its plain Python function."""
    return _interpreted


@contextlib.contextmanager
def _interpreted():
    import atomstream._kernels as kernels
    import atomstream.fields as fields

    # All are imported before the first is patched: a module that another imports from while it is
    # patched would keep the plain function for good.
    modules = [
        importlib.import_module(found.name)
        for package in (kernels, fields)
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if package is kernels or found.name.rpartition(".")[2].startswith("kernel")
    ]
    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            for name, value in vars(module).copy().items():
                if hasattr(value, "py_func"):
                    patch.setattr(module, name, value.py_func)
        yield


@pytest.fixture
def any_work(monkeypatch):
    """Let the smallest work be worth other threads."""
    monkeypatch.setattr("atomstream.base.machine.WORTH", 0)
