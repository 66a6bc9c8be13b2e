"""Settings of runs: dataclasses whose fields are options, TOML keys and checks at once."""

import json
import math
import os
import re
import tomllib
import types
import typing
from copy import copy
from dataclasses import Field, dataclass, field, fields, replace
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Self

from atomstream.base.parameters import Kind, Parameter, number, whole
from atomstream.runs import kind_named

MAX_COUNT = 2**31
DOMAIN = "domain"  # the key of a run.toml that names the task


SENTINELS = (
    "Text or number that stands for a missing entry in tables, such as - or -99, besides empty "
    "fields and NA; may be repeated."
)


def option(default: Any, text: str, kind: Kind | Parameter | None = None, **known: Any) -> Any:
    """Return a field of settings that knows all that its option needs.

    Parameters
    ----------
    default : value
        None stands for the default of the estimator, or for "not given".
    text : str
        Help, without the default.
    kind : Kind or Parameter, optional
        What it may be, besides of its type.
    **known
        ``sets`` : the parameter of the estimator that it sets; ``shown`` : what the help says of a
        default of None; ``duration`` : whether it is a time; ``whole`` : whether items are never
        split at commas; ``also`` : another name of the option; ``listed`` : whether commas part the
        items of one option; ``free`` : whether it only says how long, how often saved, or on how
        many cores, and does not decide what is learned.
    """
    return field(default=default, metadata={"help": text, "kind": kind, **known})


def sets(model: Any, name: str, **known: Any) -> Any:
    """Return a field of settings that sets a parameter of an estimator, as it is declared there.

    Parameters
    ----------
    model : type
    name : str
        Of the parameter.
    **known
        As for `option`; ``default`` and ``help`` where those of the estimator do not serve.
    """
    declared = model.PARAMETERS[name]
    default = known.pop("default", signature(model).parameters[name].default)
    text = known.pop("help", declared.help)
    return option(default, text, declared, sets=name, model=model, **known)


@dataclass(frozen=True)
class Settings:
    """Settings of any kind of run."""

    inputs: tuple[str, ...] = ()

    TASK: ClassVar[str] = ""  # written to run.toml, but for rows, which came first
    MODEL: ClassVar[Any]  # the estimator that learns
    ONE_INPUT: ClassVar[str] = ""  # where there can be only one: a sentence that says so
    OTHER_FILES: ClassVar[tuple[str, ...]] = ()  # settings that name further files to read

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for each in fields(self):
            value = getattr(self, each.name)
            if value is each.default:  # which is of its kind: a test holds all against it
                continue
            made = _converted(value, hints[each.name])
            if made is None and value is not None:
                needed = _described(hints[each.name])
                raise ValueError(f"{each.name} is {value!r:.80}, needed is {needed}.")
            object.__setattr__(self, each.name, made)
            _check_text(made)
            if made is not None:
                _check_bounds(each, made)
        self.check()

    @classmethod
    def command(cls) -> str:
        """Return the command that begins such a run."""
        known = kind_named(cls.TASK)
        return "" if known is None else known.command

    def new_model(self) -> Any:
        """Return the model that will learn."""
        return self.MODEL(**self.parameters())

    def check(self) -> None:
        """Raise ValueError where the settings do not go together, or the model refuses them."""
        if self.ONE_INPUT and len(self.inputs) != 1:
            raise ValueError(f"{self.ONE_INPUT}, got {len(self.inputs)}.")
        self.new_model().check()

    def parameters(self, model: type | None = None, *, free: bool = False) -> dict[str, Any]:
        """Return the parameters of the estimator that fields set; those of None are left out.

        Parameters
        ----------
        model : type, optional
            Leave out what fields set of other estimators.
        free : bool, default=False
            Return only those that a run may change when it is continued.
        """
        return {
            each.metadata["sets"]: value
            for each in fields(self)
            # A value of None leaves the parameter to the estimator, whose default may depend on
            # others.
            if "sets" in each.metadata and (value := getattr(self, each.name)) is not None
            if each.metadata.get("free") or not free
            if model is None or each.metadata.get("model", model) is model
        }

    def placed(self, inputs: tuple[str, ...]) -> Self:
        """Return the same settings with inputs named otherwise; no others are checked again."""
        # A run may have begun in another folder, or its files may have moved; checking the rest
        # again would build a model for nothing.
        _check_text(inputs)
        made = copy(self)
        object.__setattr__(made, "inputs", inputs)
        for name in filter(self.__getattribute__, self.OTHER_FILES):
            object.__setattr__(made, name, os.path.abspath(getattr(self, name)))
        return made

    @property
    def files(self) -> list[str]:
        """The inputs, and the other files that were given."""
        return [*self.inputs, *filter(None, map(self.__getattribute__, self.OTHER_FILES))]

    def changed(self, **changes: Any) -> Self:
        """Return settings with some changed."""
        return replace(self, **changes)

    def differences(self, before: Self) -> list[tuple[str, Any, Any]]:
        """Return names of settings that decide what is learned and were others, with both values.

        Free settings say how far and how fast to go: changing them on resume leaves what was
        learned as it would have been.
        """
        decisive = [each.name for each in fields(self) if not each.metadata.get("free")]
        pairs = ((name, getattr(before, name), getattr(self, name)) for name in decisive)
        return [(name, was, now) for name, was, now in pairs if was != now]

    def written(self) -> list[Field[Any]]:
        """Return the fields that files hold."""
        return [*fields(self)]

    def decisive(self, *, whole: bool = False) -> list[str]:
        """Return, as lines of TOML, the settings that decide what is learned.

        Parameters
        ----------
        whole : bool, default=False
            Whether those that files need not hold are among them.
        """
        told = fields(self) if whole else self.written()
        return _lines(self, [each.name for each in told if not each.metadata.get("free")])


@dataclass(frozen=True)
class checkpoints:  # noqa: N801 - a group of fields, mixed into settings
    """The fields of every run that can be stopped and resumed."""

    seed: int = option(0, "Random seed.", whole(0), sets="random_state")
    checkpoint_every: float | None = option(
        None, "Time between checkpoints.", number(), duration=True, free=True, shown="1m"
    )
    keep: int = option(3, "Number of checkpoints to keep.", whole(), free=True)


def read_settings(path: str | Path, kind: type[Settings]) -> dict[str, Any]:
    """Return what a TOML file sets for one kind of run.

    Raises
    ------
    ValueError
        For what is not TOML, for another kind of run, and for unknown names, listing the known.
    """
    found = _parsed(path)
    named = found.pop(DOMAIN, kind.TASK)
    if named != kind.TASK:
        raise ValueError(
            f"{path} sets the domain {named!r}, which is not that of atomstream {kind.command()}."
        )
    known = [each.name for each in fields(kind)]
    for name in found:
        if name not in known:
            raise ValueError(
                f"{path} sets {name!r}, which is no setting; known are {', '.join(known)}."
            )
    return found


def kind_of(path: str | Path) -> str:
    """Return the name of the task that a TOML file is for."""
    return str(_parsed(path).get(DOMAIN, ""))


def write_settings(settings: Settings) -> str:
    """Return settings as TOML; those that are None are left out."""
    lines = [
        f"# atomstream {settings.command()} --config run.toml --out ANOTHER_RUN does the same again"
    ]
    lines += _lines(settings, [each.name for each in settings.written()])
    return "\n".join(lines) + "\n"


def _lines(settings: Settings, names: list[str]) -> list[str]:
    """Return settings of these names as lines of TOML, and the task that they are for."""
    values = {name: getattr(settings, name) for name in names}
    if settings.TASK:
        values[DOMAIN] = settings.TASK
    return [f"{name} = {_toml(value)}" for name, value in values.items() if value is not None]


def _parsed(path: str | Path) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read as TOML: {error}.") from None


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(item) for item in value)}]"
    # A text of JSON is one of TOML too, but for this one sign that TOML wants escaped.
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _check_bounds(each: Field[Any], value: object) -> None:
    """Raise ValueError for a value that is not of its kind."""
    kind, name = each.metadata.get("kind"), each.name
    if kind is not None and not kind.accepts(value):
        raise ValueError(f"{name} is {value!r}, needed is {kind}.")
    # Larger counts fit no index of the kernels, and would fail there without a sentence.
    if isinstance(value, int | float) and value > MAX_COUNT:
        raise ValueError(f"{name} is {value!r}, needed is at most {MAX_COUNT}.")


def _check_text(value: object) -> None:
    for text in value if isinstance(value, tuple) else [value]:
        # Names of files may hold bytes that are no text; Python carries them as lone surrogates,
        # which no file of ours can hold.
        if isinstance(text, str) and re.search("[\ud800-\udfff]", text):
            raise ValueError(f"{text!r} is not UTF-8; rename it.")


def _converted(value: object, kind: Any) -> Any:
    """Return the value as one of this type; None where it is not one."""
    kind = without_none(kind)
    if typing.get_origin(kind) is tuple:
        # One input may be written without the brackets of a list.
        items = [value] if isinstance(value, str) else value
        if isinstance(items, list | tuple) and all(isinstance(item, str) for item in items):
            return tuple(items)
        return None
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value) if abs(value) < 2**1000 else math.inf  # which no bounds allow
    return value if type(value) is kind else None


def without_none(kind: Any) -> Any:
    """Return the type that a hint allows besides None."""
    if isinstance(kind, types.UnionType):
        first, last = typing.get_args(kind)
        return last if first is type(None) else first
    return kind


def _described(kind: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    return names.get(without_none(kind), "a list of texts")
