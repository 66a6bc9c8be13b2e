"""Long work: its progress for a display that may be there, and the signals that end it."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

COMPILER = "atomstream compiler"  # name of threads, as in the kernels, which are not loaded here
T = TypeVar("T")
# Takes items, their number if it is known, and what is done with them; yields the items.
Show = Callable[[Iterable[Any], "int | None", str], Iterator[Any]]

_show: ContextVar[Show | None] = ContextVar("show", default=None)


def track(items: Iterable[T], n_items: int | None, text: str) -> Iterator[T]:
    """Return an iterator over items whose progress is shown, if `shown_by` says how.

    Parameters
    ----------
    items : iterable
    n_items : int or None
        Their number, if it is known.
    text : str
        What is done with them, such as "coding patches".
    """
    # Who shows belongs to the context: two runs in one process do not see each other's work.
    show = _show.get()
    return iter(items) if show is None else show(items, n_items, text)


class Counted:
    """Items that come once, whose number is expected: progress shows it, and nothing else knows."""

    def __init__(self, items: Iterable[Any], n_items: int | None) -> None:
        self._items, self._n_items = items, n_items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __length_hint__(self) -> int:
        return self._n_items or 0


@contextmanager
def shown_by(show: Show) -> Iterator[None]:
    """Let ``show`` follow all long work of the body."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


def compiling() -> set[threading.Thread]:
    """Return the threads that compile kernels, which go on after an interrupt."""
    return {thread for thread in threading.enumerate() if thread.name == COMPILER}


@contextmanager
def signals_handled(
    handler: Callable[..., None], numbers: Iterable[signal.Signals], before: dict[int, Any]
) -> Iterator[None]:
    """Let a function handle signals in the body; the handlers of before are kept where told."""
    # Python lets the main thread alone handle signals.
    for number in numbers if threading.current_thread() is threading.main_thread() else ():
        before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for known, former in before.items():
            signal.signal(known, former)
