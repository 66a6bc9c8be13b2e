"""Law 3: a call that raises leaves the model as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


@contextmanager
def untouched(model: Any) -> Iterator[None]:
    """Put everything back if the body raises, wherever it does.

    State, memory and dictionary replace their arrays and never write into them, so a snapshot is a
    few references.
    """
    before: dict[str, Any] = dict(vars(model))
    clock = before.get("clock_")
    time = {} if clock is None else dict(vars(clock))
    state = before["state_"].snapshot() if "state_" in before else None
    sources = [_RandomSource(source) for source in (before.get("_rng"), model.random_state)]
    try:
        yield
    except BaseException:
        # What scikit-learn needs to tear callbacks down was made inside the call and must outlive
        # it.
        teardown = {name: value for name, value in vars(model).items() if "_callback" in name}
        vars(model).clear()
        vars(model).update(before | teardown)
        if state is not None:
            before["state_"].restore(state)
        if clock is not None:
            clock.__dict__.update(time)
        for source in sources:
            source.restore()
        raise


class _RandomSource:
    """The state of a source of randomness, to go back to; of a seed or None there is nothing to restore."""

    def __init__(self, source: Any) -> None:
        self._source = source
        if isinstance(source, np.random.Generator):
            self._state: Any = source.bit_generator.state
        elif isinstance(source, np.random.RandomState):
            self._state = source.get_state()

    def restore(self) -> None:
        """Undo what was drawn since."""
        if isinstance(self._source, np.random.Generator):
            self._source.bit_generator.state = self._state
        elif isinstance(self._source, np.random.RandomState):
            self._source.set_state(self._state)
