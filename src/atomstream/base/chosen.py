"""What became of settings that were left to a model, and how that is told."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Self

from atomstream.base.saved_fields import Field
from atomstream.base.saved_fields import one_of as field_of

log = logging.getLogger(__name__)

GIVEN = "as given"
PLAIN = (bool, int, float, str, type(None))  # what JSON holds as it is


@dataclass(frozen=True)
class Choice:
    """What a setting became, and why.

    Attributes
    ----------
    value : object
        A number, a word, or a part.
    why : str
        The reason in a few words, such as "the loss is quadratic".
    guessed : bool, default=False
        Whether it was read off the data, decides what is learned, and may be wrong: the command
        line says so.
    """

    SAVED: ClassVar[tuple[Field | str, ...]] = (
        Field("value", "a number or a word", lambda value, _: isinstance(value, PLAIN)),
        Field("why", "a text", lambda value, _: isinstance(value, str)),
        field_of("guessed", (False, True)),
    )

    value: Any
    why: str
    guessed: bool = False

    @classmethod
    def given(cls, value: Any) -> Self:
        """Return the choice of a setting that was not left to the model."""
        return cls(value, GIVEN)

    def __str__(self) -> str:
        return f"{shown(self.value)} ({self.why})"

    def as_dict(self) -> dict[str, Any]:
        """Return value and reason for JSON; a part as its text."""
        value = self.value if isinstance(self.value, PLAIN) else shown(self.value)
        return {"value": value, "why": self.why}


def shown(value: Any) -> str:
    """Return a value in a few words: of a part its class, and the settings that are no defaults."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if not is_dataclass(value):
        return str(value)
    changed = {
        each.name: getattr(value, each.name)
        for each in fields(value)
        if each.repr and each.init and not _is_default(getattr(value, each.name), each.default)
    }
    return f"{type(value).__name__}({', '.join(f'{n}={shown(v)}' for n, v in changed.items())})"


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, PLAIN) and value == default)


def told(choices: Mapping[str, Choice]) -> str:
    """Return as one line what was left to the model: "coder ActiveSet() (the set ...); ..."."""
    made = {name: choice for name, choice in choices.items() if choice.why != GIVEN}
    return "; ".join(f"{name} {choice}" for name, choice in made.items())


def tell(what: str, choices: Mapping[str, Choice]) -> None:
    """Write what was chosen for a model or an input as one record of ``atomstream.base.chosen``.

    Parameters
    ----------
    what : str
        What the choices are of, such as the name of a class or of a file.
    choices : mapping of str to Choice
        The record carries them as ``choices``, and ``what``, for handlers that show them in another
        way.
    """
    if line := told(choices):
        log.info("%s: %s", what, line, extra={"what": what, "choices": choices})
