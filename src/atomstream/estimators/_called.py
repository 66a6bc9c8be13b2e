"""The model that a user has called, where data are checked by a learner inside of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sklearn.base import BaseEstimator

_called: ContextVar[BaseEstimator | None] = ContextVar("blame", default=None)


@contextmanager
def blame(model: BaseEstimator) -> Iterator[None]:
    """Let complaints about data in the body name this model; of nested ones the outermost."""
    before = _called.get()
    try:  # around the first line already: an interrupt may come anywhere
        _called.set(blamed_model(model))
        yield
    finally:
        _called.set(before)


def blamed_model(model: BaseEstimator) -> BaseEstimator:
    """Return the model that complaints about the data of a model name."""
    outermost = _called.get()
    return model if outermost is None else outermost
