"""Options of the command line: those of a run are made from the fields of its settings."""

import logging
import re
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

import click

from atomstream.io.source import log as GUESSES  # noqa: N812 - a constant here
from atomstream.io.source import max_memory
from atomstream.runs.settings import Settings, without_none

SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
METRES = {"": 1, "m": 1, "km": 1000}
BYTES = {"": 1, "kB": 1000, "MB": 10**6, "GB": 10**9, "TB": 10**12}
PATH = click.Path(path_type=Path)


class Quantity(click.ParamType):
    """A number with a unit.

    Parameters
    ----------
    name : str
        What it is: "duration" or "length".
    units : dict of str to numbers
        What each unit stands for.
    example : str
    """

    def __init__(self, name: str, units: dict[str, int], example: str) -> None:
        self.name, self.units, self.example = name, units, example

    def convert(self, value: object, param: Any, ctx: Any) -> float:
        """Return the number in the unit of 1."""
        units = "|".join(self.units)
        found = re.fullmatch(rf"(\d+\.?\d*|\.\d+)({units})", str(value).strip())
        if not found:
            self.fail(f"{value!r} is not a {self.name}; use e.g. {self.example}.", param, ctx)
        return float(found[1]) * self.units[found[2]]


DURATION = Quantity("duration", SECONDS, "90s, 10m or 2h")
LENGTH = Quantity("length", METRES, "250m or 1.5km")
MEMORY = Quantity("size", BYTES, "500MB or 2GB")
TYPES: dict[str, Any] = {"duration": DURATION, "length": LENGTH}

MAX_MEMORY = "--max-memory"
MEMORY_HELP = (
    "Most memory that one input may take while it is read (default: half of the machine's)."
)
STOP_AFTER = "Stop after this time, between two steps."
AS_JSON = "Print the result as JSON."


def max_memory_option() -> click.Option:
    """Return the option that sets how much memory reading may take, for the rest of the command."""

    def allow(ctx: click.Context, _param: click.Parameter, value: float | None) -> None:
        """Set the limit until the command ends."""
        if value is not None:
            # A context variable: a test or a program may call several commands in one process.
            before = max_memory.set(int(value))
            ctx.call_on_close(lambda: max_memory.reset(before))

    names = [MAX_MEMORY]
    return click.Option(names, type=MEMORY, help=MEMORY_HELP, expose_value=False, callback=allow)


as_json = click.option("--json", "as_json", is_flag=True, help=AS_JSON)
run_argument = click.argument("run", type=PATH)


def path_option(name: str, text: str, *, required: bool = False) -> Callable[..., Any]:
    """Return an option that takes a path."""
    return click.option(name, type=PATH, required=required, help=text)


def choice_option(name: str, choices: Sequence[str], text: str) -> Any:
    """Return an option that takes one of a few texts, by default the first."""
    kind = click.Choice(choices)
    return click.option(name, type=kind, default=choices[0], show_default=True, help=text)


def count_option(name: str, text: str, *, least: int, default: int | None = None) -> Any:
    """Return an option that takes a whole number."""
    kind, shown = click.IntRange(min=least), default is not None
    return click.option(name, type=kind, default=default, show_default=shown, help=text)


def options_of(kind: type[Any]) -> list[click.Option]:
    """Return the options of a run: one for each field of its settings (a dataclass) but the inputs.

    None has a default, so that a config file can speak; the help tells the default of the field.
    """
    hints = typing.get_type_hints(kind)
    return [_option(each, hints[each.name]) for each in fields(kind) if each.name != "inputs"]


def given(kind: type[Settings], options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that were given as options, lists of names split at commas."""
    found = {name: value for name, value in options.items() if value not in (None, ())}
    for each in fields(kind):
        if each.name in found and isinstance(each.default, tuple):
            if "whole" in each.metadata:  # names may hold commas
                continue
            texts = found[each.name]
            texts = [texts] if isinstance(texts, str) else texts
            found[each.name] = [part.strip() for text in texts for part in text.split(",")]
    return found


def _option(each: Field[Any], hint: Any) -> click.Option:
    known = each.metadata
    name, text = each.name.replace("_", "-"), f"{known['help'].rstrip('.')}{_default(each)}."
    plain = without_none(hint)
    if plain is bool:
        return click.Option([f"--{name}/--no-{name}"], default=None, help=text)
    if isinstance(each.default, tuple):
        return click.Option([f"--{name}"], multiple="listed" not in known, help=text)
    kind = next((TYPES[unit] for unit in TYPES if unit in known), plain)
    words = [each.name, f"--{name}", *([f"--{known['also']}"] if "also" in known else [])]
    return click.Option(words, type=kind, help=text)


def _default(each: Field[Any]) -> str:
    value, known = each.default, each.metadata
    if value is None or value == ():
        return f" (default: {known['shown']})" if "shown" in known else ""
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if "length" in known:
        value = f"{value:g}m"
    return f" (default: {','.join(value) if isinstance(value, tuple) else value})"


@contextmanager
def guesses_kept() -> Iterator[list[str]]:
    """Hand over what is guessed of inputs in the body, a sentence for each input."""
    sentences: dict[str, None] = {}  # an input may be opened twice
    handler, before = logging.Handler(), GUESSES.level
    handler.emit = lambda record: sentences.update({record.getMessage(): None})  # type: ignore[method-assign]
    GUESSES.addHandler(handler)
    GUESSES.setLevel(logging.INFO)
    kept: list[str] = []
    try:
        yield kept
    finally:
        kept += sentences
        GUESSES.setLevel(before)
        GUESSES.removeHandler(handler)


def warn(sentence: str) -> None:
    """Print a warning."""
    click.echo(f"Warning: {sentence}", err=True)
