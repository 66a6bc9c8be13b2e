"""Files of edges, damaged by `fuzz.py`, and how each is read."""

from atomstream.exceptions import InputError
from atomstream.fields.networks.edges import entries_of


def edges_of(path):
    try:
        return type(entries_of(str(path))).__name__
    except ValueError as error:  # what people read in Python, too
        raise InputError(str(error)) from error


CASES = {
    "edges": (
        "x.txt",
        lambda: [b"1 2 0.5\n2 3 1\n# no\n3 1\n"],
        edges_of,
        None,
    ),
}
