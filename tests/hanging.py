"""How long a test waits for what should come at once on a machine that has nothing else to do."""

import threading
import time
from concurrent.futures import Future

import pytest

GUARD = 600.0  # seconds; a guard against hanging, never a bound on how long something takes


def until(reached):
    """Wait until a function returns something true, and return that."""
    end = time.monotonic() + GUARD
    while not (found := reached()):
        if time.monotonic() > end:
            raise AssertionError("it does not come")
        time.sleep(0.02)
    return found


def in_time(function, *arguments):
    """Return what a function returns or raises, where it ends."""
    ended = Future()

    def work():
        try:
            ended.set_result(function(*arguments))
        except Exception as error:
            ended.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        return ended.result(GUARD)
    except TimeoutError:
        pytest.fail("it does not end")
