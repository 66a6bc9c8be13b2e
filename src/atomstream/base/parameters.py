"""Parameters, each declared once: what it may be, in a test and in words, and what it is for.

Checks of estimators and of parts, options of the command line, the check of a ``run.toml`` and the
page of reference are read from these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass, replace
from numbers import Integral, Real
from operator import methodcaller
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from atomstream.base.checks import MAX_COUNT, MAX_NUMBER


class Part:
    """A part of an algorithm: its parameters are read and changed by their names.

    So ``loss__beta`` or ``coder__tol`` work wherever scikit-learn takes names of parameters. A part
    is frozen, so a change makes another part. What a parameter may be stands in ``BOUNDS``, by its
    name.
    """

    BOUNDS: ClassVar[Mapping[str, Kind | Parameter]] = {}

    def __post_init__(self) -> None:
        for name, kind in self.BOUNDS.items():
            value = getattr(self, name)
            if not kind.accepts(value):
                part = type(self).__name__
                raise ValueError(f"{part} needs {name} to be {kind}, got {value!r}.")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by their names; none of a class that is no dataclass."""
        known: Any = self
        names = [each.name for each in fields(known) if each.init] if is_dataclass(known) else []
        return {name: getattr(self, name) for name in names}

    def with_params(self, **params: Any) -> Self:
        """Return the part with some parameters changed.

        Parameters
        ----------
        **params
            New values by their names.

        Raises
        ------
        ValueError
            For names that the part does not have, and values that it refuses.
        """
        known, part = self.get_params(), type(self).__name__
        for name in params:
            if name not in known:
                raise ValueError(f"{part} has no {name!r}, it has {', '.join(known) or 'none'}.")
        changed: Any = self
        return replace(changed, **params)

    def __sklearn_clone__(self) -> Self:
        # What is frozen may be shared.
        return self if is_dataclass(self) else deepcopy(self)


@dataclass(frozen=True)
class Kind:
    """What a value may be.

    Attributes
    ----------
    words : str
        As a complaint says it: "a whole number from 1 to 9".
    accepts : callable
        Whether a value is of this kind.
    names : tuple of str
        The values themselves, where they are a few names.
    """

    words: str
    accepts: Callable[[Any], bool]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Parameter:
    """What one parameter is for, and the kinds of values that it takes."""

    help: str
    kinds: tuple[Kind, ...]

    def accepts(self, value: Any) -> bool:
        """Return whether a value is of one of the kinds."""
        return any(map(methodcaller("accepts", value), self.kinds))

    def __str__(self) -> str:
        *others, last = map(str, self.kinds)
        return f"{', '.join(others)} or {last}" if others else last


def parameter(text: str, *kinds: Kind) -> Parameter:
    """Return the parameter with this help that is of one of these kinds."""
    return Parameter(text, kinds)


def _is_number(value: Any, kind: Any = Real) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def whole(least: int = 1, most: int = MAX_COUNT) -> Kind:
    """Return the whole numbers within these bounds; True and False are none."""
    words = f"a whole number from {least} to {'2^62' if most == MAX_COUNT else most}"
    return Kind(words, lambda value: _is_number(value, Integral) and least <= value <= most)


def number(
    least: float = 0, most: float = MAX_NUMBER, *, above: bool = False, below: bool = False
) -> Kind:
    """Return the numbers within these bounds, or ``above`` and ``below`` them."""
    words = f"a number {'above' if above else 'from'} {least}"
    if below or (above and most < MAX_NUMBER):
        words += f", {'below' if below else 'at most'} {most}"
    elif not above:
        words += f" to {most}"

    def accepts(value: Any) -> bool:
        low = _is_number(value) and (value > least if above else value >= least)
        return bool(low and (value < most if below else value <= most))

    return Kind(words, accepts)


def one_of(*names: str) -> Kind:
    """Return a few names, which are listed in their order."""
    words = " or ".join(names) if len(names) < 3 else f"one of {', '.join(names)}"
    return Kind(words, lambda value: isinstance(value, str) and value in names, names)


def implementing(method: str, words: str = "") -> Kind:
    """Return the objects, no classes, that have a method."""
    words = words or f"an object implementing {method!r}"
    return Kind(
        words, lambda value: not isinstance(value, type) and callable(getattr(value, method, None))
    )


def part(method: str, known: Collection[str]) -> Kind:
    """Return the parts with a method, and all names: the registry refuses unknown ones."""
    own = (
        "a function" if method == "__call__" else f"an instance of a part with a method {method!r}"
    )
    has = implementing(method).accepts
    listed = ", ".join(sorted(known))
    return Kind(f"one of {listed}, {own}", lambda value: isinstance(value, str) or has(value))


def instance(kind: type) -> Kind:
    """Return the instances of a class."""
    return Kind(f"an instance of {kind.__name__!r}", lambda value: isinstance(value, kind))


def _is_array(value: Any) -> bool:
    like = any(hasattr(value, name) for name in ("__len__", "shape", "__array__"))
    return like and not sp.issparse(value) and not isinstance(value, str | bytes)


NONE = Kind("None", lambda value: value is None)
FLAG = Kind("True or False", lambda value: isinstance(value, bool | np.bool_))
ARRAYS = Kind("an array-like", _is_array)
SPARSE = Kind("a sparse matrix", sp.issparse)
FUNCTION = Kind("a callable", callable)
THREADS = Kind(
    "a number of threads (-1 for all)", lambda value: _is_number(value, Integral) and value != 0
)
SOURCE = Kind(
    "a whole number of at least 0, a Generator, a RandomState",
    lambda value: (
        isinstance(value, np.random.Generator | np.random.RandomState)
        or (_is_number(value, Integral) and value >= 0)
    ),
)


# -- what parameters became
