"""Parts from other packages, found by their names: registered in Python, or by an entry point."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import is_dataclass
from typing import Any, TypeVar

GROUP = (
    "atomstream.parts"  # of entry points; a line of it is ``mypackage-huber = "mypackage:Huber"``
)
# The package, a hyphen, and the part: no name of the library has a hyphen.
NAME = re.compile(r"[a-z0-9_.]+-[a-z0-9_.-]+")
PartT = TypeVar("PartT", bound=type)

_parts: dict[str, type] = {}


def register(part: PartT, name: str | None = None) -> PartT:
    """Make a part of your own known by a name, in this process: for arguments and saved models.

    A package that is installed does the same for good with an entry point of the group
    ``atomstream.parts``, and its names also work on the command line.

    Parameters
    ----------
    part : type
        A dataclass, or a class whose ``SAVED`` lists the attributes that make it up, by their names
        or as declared fields (`atomstream.base.saved_fields`).
    name : str, optional
        By default the package and the class in small letters: ``mypackage-huber``.

    Returns
    -------
    type
        The part, so that this is a decorator too.

    Raises
    ------
    TypeError
        For anything but such a class.
    ValueError
        For a name of another form, and for one that is taken.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import atomstream
    >>> @atomstream.register
    ... @dataclass(frozen=True)
    ... class Slow:
    ...     pace: float = 0.1
    ...
    ...     def __call__(self, step, mass, total):
    ...         return self.pace
    >>> model = atomstream.OnlineNMF(2, schedule=f"{Slow.__module__.split('.')[0]}-slow:0.2")
    """
    if not _is_part(part):
        raise TypeError(
            "register needs a dataclass, or a class whose SAVED lists its attributes, got "
            f"{part!r:.80}."
        )
    default = f"{part.__module__.split('.')[0]}-{part.__name__}".lower()
    chosen = default if name is None else name
    if not NAME.fullmatch(chosen):
        raise ValueError(
            f"name must be that of a package, a hyphen and that of a part, as in {default!r}, "
            f"got {chosen!r:.80}."
        )
    known = _parts.get(chosen)
    # The same class may be registered again, as when a notebook's cell runs twice.
    if known is not None and _place(known) != _place(part):
        raise ValueError(f"{chosen!r} is the name of {':'.join(_place(known))} already.")
    _parts[chosen] = part
    return part


def registered(name: str) -> type | None:
    """Return the class that a name stands for, importing the package that offers it; or None.

    Raises
    ------
    ValueError
        Where a package offers the name and has no such part.
    """
    if name in _parts:
        return _parts[name]
    point = next((point for point in _points() if point.name == name), None)
    if point is None:
        return None
    try:
        found = point.load()
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{name!r} stands for {point.value}, which fails: {error}.") from None
    if not _is_part(found):
        raise ValueError(f"{name!r} stands for {point.value}, which is no dataclass.")
    return found


def name_of(part: type) -> str | None:
    """Return the name that a class is registered by; nothing is imported."""
    here = (name for name, known in _parts.items() if known is part)
    there = (point.name for point in _points() if (point.module, point.attr) == _place(part))
    return next(here, None) or next(there, None)


def part_of(argument: str, choice: str, need: str, known: Sequence[str]) -> Any:
    """Return the part that a name with a hyphen stands for, made of the numbers after a colon.

    Parameters
    ----------
    argument : str
        Name of the argument, for messages.
    choice : str
        "mypackage-huber" or "mypackage-huber:2" or, for two fields, "mypackage-huber:2,0.5".
    need : str
        A method that the part must have.
    known : sequence of str
        Names of the library's own parts, for messages.

    Raises
    ------
    ValueError, TypeError
        One sentence that lists the known names, or says what the part refused.
    """
    name, _, numbers = choice.partition(":")
    kind: Callable[..., Any] | None = registered(name)
    if kind is None:
        others = ", ".join(sorted({*_parts, *(point.name for point in _points())})) or "none"
        raise ValueError(
            f"{argument}={choice!r} is unknown; choose one of {', '.join(known)}, or a registered "
            f"part (registered are: {others}; see atomstream.register)."
        )
    try:
        part = kind(*(float(number) for number in numbers.split(",") if number))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument}={choice!r} cannot be made: {error}") from None
    if not hasattr(part, need):
        raise TypeError(f"{argument} must be a part with a method {need!r}, got {part!r:.80}.")
    return part


def _is_part(thing: object) -> bool:
    """Return whether a thing is a class that files can hold."""
    return isinstance(thing, type) and (is_dataclass(thing) or hasattr(thing, "SAVED"))


def _place(part: type) -> tuple[str, str]:
    return part.__module__, part.__qualname__


def _points() -> Iterator[Any]:
    from importlib.metadata import entry_points  # here, for it loads what reads mail

    return iter(entry_points(group=GROUP))
