"""The docstrings of public estimators and functions are valid numpydoc.

Of numpydoc's codes all count but those of sections that this library does not use for everything
(an extended summary, "See Also", "Examples" of methods). A "Returns" section or its description may
be missing where the first line says what is returned, or where it is the model itself; and so may
the description of the one subject of a class, whose line of type and shape says what it is.
"""

import inspect
from typing import Self

import pytest

import atomstream

validate = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed").validate

# ES01, SA01, EX01: sections that are not used for everything; GL01: the summary stands in the first
# line; GL08: attributes and overloads, whose text stands in the class.
LEFT_OUT = {"ES01", "SA01", "EX01", "GL01", "GL08"}
SUBJECTS = {
    "X",
    "batches",
    "codes",
    "documents",
    "image",
    "images",
    "network",
    "random_state",
    "sample_weight",
    "states",
    "video",
    "y",
}


def public():
    """Yield public classes and functions, and methods and properties of the classes."""
    for name in atomstream.__all__:
        thing = getattr(atomstream, name)
        if inspect.isfunction(thing):
            yield thing
        if not inspect.isclass(thing) or issubclass(thing, Exception):
            continue
        yield thing
        for name, member in inspect.getmembers_static(thing):
            member = getattr(member, "__func__", getattr(member, "fget", member))
            ours = str(getattr(member, "__module__", "")).startswith("atomstream")
            if inspect.isfunction(member) and ours and not name.startswith("_"):
                yield member


PUBLIC = {f"{thing.__module__}.{thing.__qualname__}": thing for thing in public()}


def counts(thing, code, message):
    """Return whether an error of numpydoc counts here."""
    if code in LEFT_OUT:
        return False
    if code == "PR07":
        return message.split('"')[1] not in SUBJECTS
    if code in ("RT01", "RT03"):
        summary = inspect.getdoc(thing).partition("\n")[0]
        itself = inspect.unwrap(thing).__annotations__.get("return", "")
        return itself not in ("Self", "None", Self, None) and "return" not in summary.lower()
    return True


def test_docstrings_are_valid():
    wrong = [
        f"{name}: {code} {message}"
        for name, thing in PUBLIC.items()
        if "<locals>" not in name
        for code, message in validate(name)["errors"]
        if counts(thing, code, message)
    ]
    assert wrong == []


def test_the_public_names_are_found():
    assert len(PUBLIC) > 120
