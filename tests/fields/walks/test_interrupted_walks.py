"""A walk that an interrupt ends has learned nothing or all."""

import signal

import pytest
from fields.walks.cases.interrupts import WALK
from torn import state

from atomstream import RandomWalkFactorization
from atomstream.estimators import _calls
from atomstream.fields.walks.update import HebbianFactor


@pytest.fixture(autouse=True)
def _nobody_is_called():
    """Let no other test hear of a model that an interrupt left behind as the one called."""
    yield
    _calls._called.set(None)


pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here"),
    # Within a callback of the garbage collector (hypothesis has one) an interrupt is swallowed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


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
