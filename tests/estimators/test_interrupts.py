"""Ctrl-C at any moment: the process lives, and each model is as after some whole batches.

ATOMSTREAM_INTERRUPTS sets how many interrupts there are in all; by default few enough for a test.
"""

import copy
import functools
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from cases import of_fields
from torn import INTERRUPTS, PIECES, ROWS, interrupted, state, steps

from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream._kernels import compile
from atomstream.estimators import _calls


@pytest.fixture(autouse=True)
def _nobody_is_called():
    """Let no other test hear of a model that an interrupt left behind as the one called."""
    yield
    _calls._called.set(None)


# For each model: what is made, a call that learns, and in how many batches it does.
CASES = {
    "nmf": (lambda: OnlineNMF(4, random_state=0), steps, 3),
    "kl": (lambda: OnlineNMF(4, loss="kl", random_state=0), steps, 3),
    "huber": (lambda: OnlineNMF(3, loss="huber", random_state=0), steps, 3),
    "signed": (lambda: OnlineDictionaryLearning(4, random_state=0, n_jobs=2), steps, 3),
    "sparse": (
        lambda: OnlineNMF(4, random_state=0),
        lambda m: steps(m, [sp.csr_array(part) for part in PIECES]),
        3,
    ),
    "fit": (
        lambda: OnlineNMF(4, random_state=np.random.default_rng(3), batch_size=20, n_epochs=2),
        lambda m: m.fit(ROWS),
        1,
    ),
    **of_fields("interrupts"),
}


def learned_already(make, learn):
    """A model that has learned once: what an interrupt may tear."""
    model = make()
    learn(model)
    return model


def states_between(model, learn, n_batches):
    """The states after 0, 1, ... batches, learned one by one with a callback that counts."""
    found, twin = [state(model)], copy.deepcopy(model)
    whole = copy.deepcopy(model)
    learn(whole)
    if n_batches > 1:
        for n in range(1, n_batches):
            twin = copy.deepcopy(model)
            learn(Stopping(twin, n))
            found.append(state(twin))
    return [*found, state(whole)]


class Stopping:
    """A model whose streams end after some batches."""

    def __init__(self, model, n):
        self.model, self.n = model, n

    def fit_stream(self, batches):
        size = getattr(self.model, "batch_size", 1) if isinstance(batches[0], str) else 1
        self.model.fit_stream(batches[: self.n * size])


pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here"),
    # Within a callback of the garbage collector (hypothesis has one) an interrupt is swallowed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_an_interrupt_leaves_a_model_after_whole_batches(name):
    make, learn, n_batches = CASES[name]
    model = learned_already(make, learn)
    states = states_between(model, learn, n_batches)
    length, rng = min(seconds_of(learn, model) for _ in range(3)), np.random.default_rng(1)
    after: Counter = Counter()
    while after.total() < INTERRUPTS // len(CASES):
        twin = copy.deepcopy(model)
        if interrupted(functools.partial(learn, twin), rng.uniform(0, length)):
            assert state(twin) in states, f"torn; the others stand after {after} batches"
            after[states.index(state(twin))] += 1
    print(name, dict(after))  # shown with -s


def seconds_of(learn, model):
    twin, began = copy.deepcopy(model), time.perf_counter()
    learn(twin)
    return time.perf_counter() - began


COLD = """
import signal, sys
import numpy as np
from atomstream import OnlineNMF

def learn():
    return OnlineNMF(2, random_state=0).fit(np.random.default_rng(0).random((30, 4)))

def ring(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
try:
    learn()
except KeyboardInterrupt:
    pass
signal.setitimer(signal.ITIMER_REAL, 0)
print(learn().n_steps_)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "seconds", [0.2, *(pytest.param(seconds, marks=pytest.mark.long) for seconds in (0.05, 0.4))]
)
def test_an_interrupt_while_the_compiler_is_loaded_breaks_nothing(seconds):
    words = [sys.executable, "-c", COLD, str(seconds)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, int(done.stdout or 0) > 0) == (0, True), done.stderr


def test_the_compiler_is_loaded_and_works_in_a_thread_of_its_own():
    assert compile._apart(threading.current_thread)() is not threading.main_thread()
    assert compile.kernel(_plain)._compile_for_args.__wrapped__


def _plain(x):
    return x
