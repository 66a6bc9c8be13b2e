"""Signatures as ``help`` shows them: `X: ArrayLike`, and no union of 1,691 characters."""

import inspect
import pydoc
from types import ModuleType

import numpy as np
import pytest
from cases import of_fields

import atomstream

MAX_SHOWN = 200  # characters of a type: a tuple of arrays as NumPy shows it takes 131


def public(module, depth=0):
    """Yield the public functions, classes and methods of a module and those in it, with names."""
    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    for name in names:
        thing = getattr(module, name)
        if isinstance(thing, ModuleType):
            if thing.__name__.startswith("atomstream") and depth < 2:
                yield from public(thing, depth + 1)
        elif inspect.isclass(thing):
            yield thing
            for each in dir(thing):
                method = inspect.getattr_static(thing, each)
                method = inspect.unwrap(getattr(method, "__func__", method))
                if inspect.isfunction(method) and not each.startswith("_"):
                    yield method
        elif inspect.isfunction(thing):
            yield thing


def shown(annotation):
    return "" if annotation is inspect.Parameter.empty else inspect.formatannotation(annotation)


def signatures():
    for thing in {id(each): each for each in public(atomstream)}.values():
        if not (thing.__module__ or "").startswith("atomstream"):
            continue
        try:
            yield thing, inspect.signature(thing)
        except (TypeError, ValueError):  # of protocols and exceptions
            continue


def test_no_annotation_is_longer_than_a_line():
    checked = 0
    for thing, signature in signatures():
        for parameter in signature.parameters.values():
            text = shown(parameter.annotation)
            assert len(text) <= MAX_SHOWN, (thing, parameter.name, text)
            assert "numpy._typing" not in text, (thing, parameter.name)
            checked += not thing.__module__.startswith("atomstream.fields")
        assert "numpy._typing" not in shown(signature.return_annotation), thing
    assert checked > 1400  # of core and tools, which stay


def test_data_are_array_like_to_a_reader():
    found = {}
    for thing, signature in signatures():
        if "X" in signature.parameters and "estimators" in thing.__module__:
            found.setdefault(shown(signature.parameters["X"].annotation), []).append(thing)
    assert {*found} <= {"ArrayLike", "Any", "object", "ArrayLike | None", "NDArray"}, found.keys()
    assert len(found["ArrayLike"]) > 15


@pytest.mark.parametrize(
    "named",
    ["OnlineNMF.fit", "OnlineNMF.transform", "sparse_encode", *of_fields("shown_names")],
)
def test_help_shows_a_name(named):
    thing = atomstream
    for name in named.split("."):
        thing = getattr(thing, name)
    assert "X: ArrayLike" in pydoc.plain(pydoc.render_doc(thing))


def test_what_is_shown_is_what_numpy_takes():
    """The name is one for people; arrays, lists and numbers are taken as before."""
    for X in ([[1.0, 2.0], [3.0, 4.0]], np.eye(2), ((1, 2), (3, 4))):
        assert atomstream.OnlineNMF(1, random_state=0).fit(X).transform(X).shape == (2, 1)
