"""Declared fields: which attributes of an object are saved, and what a file may hold of each.

A class lists its fields once, in ``SAVED`` (a model in ``LEARNED``). The codec writes these, and
`check_saved` refuses a file in which one of them is of another kind, size or range.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

ANY = "biufOUM"  # kinds of numbers, texts and dates
NUMBERS = "iuf"
MAX_COUNT = 2**63 - 1
Sizes: TypeAlias = dict[str, int]


@dataclass(frozen=True)
class Field:
    """A saved attribute.

    Parameters
    ----------
    name : str
    needed : str
        What it must be, for messages; sizes are given by symbols.
    fits : callable
        From a value and the sizes known so far to whether it is that; adds sizes that the value
        determines.
    optional : bool, default=False
        Whether it may be None or absent.
    """

    name: str
    needed: str
    fits: Callable[[Any, Sizes], bool]
    optional: bool = False

    def check(self, value: Any, sizes: Sizes, owner: str) -> None:
        """Refuse a value of another kind, size or range.

        Parameters
        ----------
        value : object
            None where there is none.
        sizes : dict of str to int
            Sizes by their symbols, to which this value may add.
        owner : str
            What the field belongs to, for messages.

        Raises
        ------
        ValueError
        """
        if value is None and self.optional:
            return
        if value is None or not self.fits(value, sizes):
            known = ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())
            where = f" where {known}" if known and "shape" in self.needed else ""
            raise ValueError(
                f"{self.name} of {owner} must be {self.needed}{where}, got {_words(value)}"
            )


def array(
    name: str, shape: str = "", kind: str | type = "f", *, optional: bool = False, **bounds: Any
) -> Field:
    """Return the field of an array or sparse matrix.

    Parameters
    ----------
    name : str
    shape : str, default=""
        A symbol, a number or a multiple ("2m") for each axis; "..." for any shape. Equal symbols
        stand for equal sizes, here and in all fields of the object; r is the number of atoms, d
        that of the features.
    kind : str or type, default="f"
        Letters of the kinds of its numbers as NumPy has them, or their one type.
    optional : bool, default=False
        Whether it may be None or absent.
    **bounds
        ``at_least``, ``above``, ``below`` (a number, or the symbol of a size), ``finite``.
    """
    letters = kind if isinstance(kind, str) else np.dtype(kind).name

    def fits(value: Any, sizes: Sizes) -> bool:
        """Whether the value has the declared shape, kind and bounds."""
        known, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
        if not isinstance(known, tuple) or not isinstance(dtype, np.dtype):
            return False
        good = dtype.kind in kind if isinstance(kind, str) else dtype == kind
        good = good and (shape == "..." or _same_shape(known, shape.split(), sizes))
        return good and _within(value.data if sp.issparse(value) else value, sizes, **bounds)

    needed = f"an array of shape ({', '.join(shape.split())}) and kind {letters}{_range(bounds)}"
    return Field(name, needed, fits, optional)


def number(name: str, *, optional: bool = False, **bounds: Any) -> Field:
    """Return the field of a number, with bounds as in `array`."""

    def fits(value: Any, sizes: Sizes) -> bool:
        real = isinstance(value, Real) and not isinstance(value, bool)
        return real and _within(value, sizes, **bounds)

    return Field(name, f"a number{_range(bounds)}", fits, optional)


def count(name: str, at_least: int = 0, *, optional: bool = False) -> Field:
    """Return the field of a whole number."""

    def fits(value: Any, sizes: Sizes) -> bool:
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        return whole and at_least <= value <= MAX_COUNT

    return Field(name, f"a whole number of at least {at_least}", fits, optional)


def one_of(name: str, choices: Iterable[Any]) -> Field:
    """Return the field of a value that is one of these, of the same type."""
    known = tuple(choices)

    def fits(value: Any, sizes: Sizes) -> bool:
        # By type too: True equals 1.
        return any(type(value) is type(choice) and value == choice for choice in known)

    return Field(name, f"one of {', '.join(map(repr, known))}", fits)


def texts(name: str, *, at_least: int = 0, optional: bool = False) -> Field:
    """Return the field of an array of so many texts."""

    def fits(value: Any, sizes: Sizes) -> bool:
        listed = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "O"
        long = listed and len(value) >= at_least
        return long and all(isinstance(item, str) for item in value)

    return Field(name, "an array of texts", fits, optional)


def part(name: str, kind: type | str, *, optional: bool = False) -> Field:
    """Return the field of an object, whose own fields are checked too.

    Parameters
    ----------
    name : str
    kind : type or str
        Its class, or the name of a method that it must have.
    optional : bool, default=False
    """

    def fits(value: Any, sizes: Sizes) -> bool:
        """Whether the value is such an object, and its own fields agree with the sizes."""
        good = hasattr(value, kind) if isinstance(kind, str) else isinstance(value, kind)
        if good:
            check_saved(value, **sizes)
        return good

    named = f"an object with {kind!r}" if isinstance(kind, str) else f"a {kind.__name__}"
    return Field(name, named, fits, optional)


def each(field: Field, *, at_most: int = MAX_COUNT, at_least: int = 0) -> Field:
    """Return the field of a list or tuple, every item of which is like ``field``."""

    def fits(value: Any, sizes: Sizes) -> bool:
        listed = isinstance(value, list | tuple) and at_least <= len(value) <= at_most
        # A size that belongs to one item says nothing of the next.
        return listed and all(field.fits(item, dict(sizes)) for item in value)

    return Field(field.name, f"a list in which each is {field.needed}", fits, field.optional)


def either(*fields: Field, optional: bool = False) -> Field:
    """Return the field of a value that is one of several things, each a field of the same name."""

    def fits(value: Any, sizes: Sizes) -> bool:
        return any(field.fits(value, sizes) for field in fields)

    return Field(fields[0].name, " or ".join(field.needed for field in fields), fits, optional)


def of_table(name: str, given: Mapping[str, Any]) -> Field:
    """Return the field that a declaration describes: which function makes it, and its arguments.

    Parameters
    ----------
    name : str
    given : mapping
        Such as ``{"is": "array", "shape": "n k", "at_least": 0}``; of "each", the ``item``.
    """
    makers = {make.__name__: make for make in (array, number, count, texts)}
    options = {option: value for option, value in given.items() if option not in ("is", "item")}
    if given["is"] == "each":
        return each(of_table(name, given["item"]), **options)
    return makers[given["is"]](name, **options)


def field_names(fields: Iterable[Field | str]) -> tuple[str, ...]:
    """Return the names of declared fields; a name alone declares a field that may be anything."""
    return tuple(field if isinstance(field, str) else field.name for field in fields)


def check_fields(owner: Any, fields: Iterable[Field | str], **sizes: int) -> None:
    """Refuse an object read from a file whose declared fields do not fit together.

    Parameters
    ----------
    owner : object
    fields : iterable of Field or str
    **sizes
        What is known of it: r atoms, d features ...

    Raises
    ------
    ValueError
        One sentence that names the field, what came and what was needed.
    """
    for field in fields:
        if isinstance(field, Field):
            field.check(vars(owner).get(field.name), sizes, type(owner).__name__)


def check_saved(owner: Any, **sizes: int) -> None:
    """Refuse an object read from a file whose ``SAVED`` fields do not fit together.

    What fields alone cannot say, the object checks afterwards in its method ``check_saved``.

    Raises
    ------
    ValueError
    """
    check_fields(owner, getattr(type(owner), "SAVED", ()), **sizes)
    if hasattr(type(owner), "check_saved"):
        owner.check_saved(**sizes)


def _same_shape(shape: tuple[int, ...], symbols: list[str], sizes: Sizes) -> bool:
    """Return whether a shape is that of the symbols, and note the sizes that it determines."""
    if len(shape) != len(symbols):
        return False
    for size, symbol in zip(shape, symbols, strict=True):
        digits, name = re.fullmatch(r"(\d*)(\w*)", symbol).groups()  # type: ignore[union-attr]
        factor = int(digits or 1)
        # The first field with a symbol determines its size, all others are held against it.
        if size != factor * (sizes.setdefault(name, size // factor) if name else 1):
            return False
    return True


def _within(
    values: Any,
    sizes: Sizes,
    *,
    at_least: float | None = None,
    above: float | None = None,
    below: float | str | None = None,
    finite: bool = False,
) -> bool:
    """Return whether all values are within bounds; NaN is within none."""
    limit = sizes[below] if isinstance(below, str) else below
    good = at_least is None or bool(np.all(values >= at_least))
    good = good and (above is None or bool(np.all(values > above)))
    good = good and (limit is None or bool(np.all(values < limit)))
    # Comparisons, because numbers in notes may be larger than any float.
    return good and (not finite or bool(np.all((values > -np.inf) & (values < np.inf))))


def _range(bounds: dict[str, Any]) -> str:
    """Return bounds in words."""
    if not bounds:
        return ""
    words = {"finite": "finite"}
    said = [words.get(name, f"{name.replace('_', ' ')} {bounds[name]}") for name in bounds]
    return f", {', '.join(said)}"


def _words(value: Any) -> str:
    """Return what came, in a few words."""
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{value.dtype} of shape {value.shape}"
    return f"{value!r:.80}"
