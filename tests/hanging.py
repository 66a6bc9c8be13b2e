"""How long a test waits for what should come at once on a machine that has nothing else to do."""

import time

GUARD = 600.0  # seconds; a guard against hanging, never a bound on how long something takes


def until(reached):
    """Wait until a function returns something true, and return that."""
    end = time.monotonic() + GUARD
    while not (found := reached()):
        if time.monotonic() > end:
            raise AssertionError("it does not come")
        time.sleep(0.02)
    return found
