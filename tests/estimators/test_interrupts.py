"""Ctrl-C at any moment: the process lives, and each model is as after some whole batches.

ATOMSTREAM_INTERRUPTS sets how many interrupts there are in all; by default few enough for a test.
"""

import copy
import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from atomstream import (
    ImageDictionary,
    NetworkDictionary,
    OnlineConvexMF,
    OnlineCPDictionary,
    OnlineDictionaryLearning,
    OnlineNMF,
    RandomWalkFactorization,
    SeriesDictionary,
    TopicModel,
    VideoDictionary,
)
from atomstream._kernels import compile
from atomstream.estimators import _calls
from atomstream.fields.walks.update import HebbianFactor
from atomstream.files.codec import Encoder
from atomstream.samplers import IsingGibbs, RandomWalk

INTERRUPTS = int(os.environ.get("ATOMSTREAM_INTERRUPTS", "400"))
RNG = np.random.default_rng(0)
ROWS = RNG.random((60, 12))
WEIGHTS = np.triu((RNG.random((40, 40)) < 0.2) * RNG.random((40, 40)), 1)
NETWORK = WEIGHTS + WEIGHTS.T + np.eye(40)
WALK = RNG.integers(0, 300, 4000)
TEXTS = ["a rose is a rose", "the sea is the sea", "a sea of rose petals"] * 8
PIECES = [ROWS[:20], ROWS[20:40], ROWS[40:]]


@pytest.fixture(autouse=True)
def _nobody_is_called():
    """Let no other test hear of a model that an interrupt left behind as the one called."""
    yield
    _calls._called.set(None)


def steps(model, pieces=PIECES):
    """One call, after each piece of which the model may stand."""
    model.fit_stream(pieces)


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
    "convex": (lambda: OnlineConvexMF(3, random_state=0), steps, 3),
    "cp": (
        lambda: OnlineCPDictionary(3, random_state=0),
        lambda m: steps(m, [part.reshape(-1, 4, 3) for part in PIECES]),
        3,
    ),
    "fit": (
        lambda: OnlineNMF(4, random_state=np.random.default_rng(3), batch_size=20, n_epochs=2),
        lambda m: m.fit(ROWS),
        1,
    ),
    "pivot": (
        lambda: NetworkDictionary("path:4", 4, batch_size=20, random_state=0),
        lambda m: m.partial_fit(NETWORK, n_batches=2),
        1,
    ),
    "glauber": (
        lambda: NetworkDictionary("cycle:3", 4, batch_size=20, chain="glauber", random_state=0),
        lambda m: m.partial_fit(NETWORK, n_batches=2),
        1,
    ),
    "walk": (
        lambda: RandomWalkFactorization(3, random_state=0),
        lambda m: m.fit_stream(np.split(WALK, 4)),
        4,
    ),
    "trips": (
        lambda: RandomWalkFactorization(3, random_state=0),
        lambda m: m.partial_fit_transitions(WALK[1:], WALK[:-1]),
        1,
    ),
    "series": (
        lambda: SeriesDictionary(3, window=4, n_init=20, n_init_batches=3, random_state=0),
        lambda m: m.partial_fit(ROWS[:30, :3]),
        1,
    ),
    "topics": (
        lambda: TopicModel(2, batch_size=8, random_state=0),
        lambda m: m.fit_stream(TEXTS),
        3,
    ),
    "video": (
        lambda: VideoDictionary(2, batch_size=5, snapshots=(5, 10), random_state=0),
        lambda m: m.partial_fit(ROWS[:15].reshape(15, 4, 3)),
        1,
    ),
    "image": (
        lambda: ImageDictionary(4, 4, n_patches=60, batch_size=20, random_state=0),
        lambda m: m.partial_fit(ROWS[:, :12]),
        1,
    ),
}


def state(model):
    """All that a file would hold of a model, sources of randomness included."""
    encoder = Encoder()
    content = encoder.model(model)
    return json.dumps([content, encoder.states]), *(part.tobytes() for part in encoder.arrays)


def learned_already(make, learn):
    """A model that has learned once: what an interrupt may tear."""
    model = make()
    learn(model)
    return model


class Alarm:
    """Raises KeyboardInterrupt once, after so many seconds, wherever Python then is."""

    def __init__(self, seconds):
        self.seconds, self.rang = seconds, False

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, self.ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        return self

    def ring(self, *_):
        self.rang = True
        raise KeyboardInterrupt

    def __exit__(self, kind, *_):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        return kind is KeyboardInterrupt


def interrupted(call, seconds):
    """Whether the call was interrupted."""
    try:
        with Alarm(max(seconds, 1e-6)) as alarm:
            call()
    except KeyboardInterrupt:  # it came while the alarm was set or put away
        return True
    except Exception:  # NumPy turns an interrupt inside of a comparison into another error
        if not alarm.rang:
            raise
    return alarm.rang


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "chain", [IsingGibbs((9, 9), 2.0), RandomWalk(NETWORK)], ids=["ising", "walk"]
)
def test_chains_survive_interrupts_in_compiled_calls(chain):
    rng = np.random.default_rng(0)
    at = chain.init(rng)
    for seconds in rng.uniform(0, 2e-3, INTERRUPTS // 6):

        def run(at=at):
            for _ in range(1000):
                at = chain.run(rng, at, 3)[1]

        interrupted(run, seconds)


def test_a_walk_that_fails_between_two_compiled_calls_has_learned_nothing(monkeypatch):
    model = RandomWalkFactorization(3, random_state=0).fit(WALK[:900])
    before, advance, calls = state(model), HebbianFactor.advance, []

    def failing(self, *arguments):
        calls.append(len(arguments[0]))
        if len(calls) > 1:
            raise KeyboardInterrupt
        advance(self, *arguments)

    monkeypatch.setattr(HebbianFactor, "advance", failing)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(WALK[900:])
    assert calls[0] > 0
    assert state(model) == before
    monkeypatch.undo()
    twin = RandomWalkFactorization(3, random_state=0).fit(WALK[:900]).partial_fit(WALK[900:])
    assert state(model.partial_fit(WALK[900:])) == state(twin)


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
