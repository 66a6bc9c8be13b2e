"""Files that runs of walks read, and what is read of them."""

import numpy as np
from written import TABLES, write


def write_states(path, entry, _):
    """Write states of a walk."""
    if path.suffix == ".npy":
        np.save(path, np.arange(20) % 3)
    else:
        path.write_text("\n".join(["red", "blue", entry] * 5))


ENDS = {"origin": ("a", "b"), "destination": ("c", "d")}
CASES = {
    "walk": (
        (*TABLES, ".npy"),
        write,
        lambda kind, settings: [*kind(settings)._positions(0)],
        lambda path: ENDS,
    ),
    "walk of states": (
        (".txt", ".npy"),
        write_states,
        lambda kind, settings: [*kind(settings)._states(0)],
        lambda path: {"states": True},
    ),
}
