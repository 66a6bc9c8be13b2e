"""Files of states, damaged by `fuzz.py`, and how each is read."""

from atomstream.fields.walks.trips import read_states

CASES = {
    "states": (
        "x.txt",
        lambda: [b"a\nb\na\n"],
        lambda path: sum(map(len, read_states(path, 0))),
        None,
    ),
}
