"""All that can be typed: verbs that work on every run, and a group of commands for each domain."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NamedTuple

import click

import atomstream
from atomstream.base.declared import declared, find, loaded
from atomstream.runs.kinds import ROWS


class _Verb(NamedTuple):
    """A command: its line of help, and its place or the kind of run that it begins."""

    summary: str
    place: str = ""
    task: str = ""


# Imported by scikit-learn and SciPy, which use them in a few functions. They take three quarters of
# the time in which these are loaded, a second, and most commands never use them. With each are the
# functions of it that others take as they are loaded.
DEFERRED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("pandas", "scipy.stats", "scipy.special", "numpy.f2py", "numpy.testing"), ()),
    **dict.fromkeys(("asyncio", "narwhals", "narwhals.stable", "narwhals.stable.v2"), ()),
    "scipy.sparse.csgraph": ("laplacian",),
    "scipy.linalg": (),
    "scipy.sparse.linalg": ("cg", "LinearOperator"),
    "psutil": ("Process",),
}
RESUME = ("resume",)
# The commands that begin no run, by the words typed; fields declare others.
FURTHER = {
    RESUME: ("running:resume_command", "Continue a run where it stopped."),
    ("edit",): ("looking:edit", "Name, accept, reject and merge atoms."),
    ("encode",): ("looking:encode", "Write the codes of inputs."),
    ("inspect",): ("looking:inspect", "Show a run on one screen."),
    ("plot",): ("looking:plot", "Write the pictures."),
    ("reconstruct",): ("looking:reconstruct", "Rebuild an image or a network from atoms."),
    ("report",): ("looking:report", "Write a report with all pictures."),
    ("watch",): ("watching:watch", "Follow a run in the terminal."),
}


@cache
def _verbs(*, outside: bool = True) -> dict[tuple[str, ...], _Verb]:
    """Return all commands by the words typed; ``outside``: those of other packages among them."""
    learning = {"": ROWS._asdict()} | declared("tasks", outside=outside)
    found = {
        tuple(each["command"].split()): _Verb(each["summary"], task=name)
        for name, each in learning.items()
    }
    for words, (place, summary) in FURTHER.items():
        found[words] = _Verb(summary, f"atomstream.cli.{place}")
    for name, each in declared("verbs", outside=outside).items():
        found[tuple(name.split())] = _Verb(each["summary"], each["verb"])
    return found


def learning() -> dict[tuple[str, ...], str]:
    """Return the words of the commands that begin runs, and the name of the task of each."""
    return {words: verb.task for words, verb in _verbs().items() if not verb.place}


class _Group(click.Group):
    """A group whose commands are loaded when they are asked for: help for one loads no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(self._summaries)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of all commands, each with its line of help; none of them is loaded."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self._summaries.items()))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command by its name; each but a group can limit the memory for reading."""
        with _no_collection() if ctx.find_root().obj else nullcontext():
            command = self._named(ctx, name)
        # A group has no work of its own that could be limited.
        if command is None or isinstance(command, click.Group):
            return command
        # Here, for help on a group needs no options, and their types load what reads files.
        from atomstream.cli.options import MAX_MEMORY, max_memory_option

        # A command is made once and found many times; the option must not be added twice.
        if MAX_MEMORY not in [option for each in command.params for option in each.opts]:
            command.params.append(max_memory_option())
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named first; an unknown name is answered with its like."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            like = get_close_matches(args[0].lower(), list(self._summaries), n=1)
            advice = f" Did you mean {like[0]!r}?" if like else ""
            raise click.UsageError(f"{error.message}{advice}", error.ctx) from None

    def _named(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command of that name; None where there is none."""
        words = (*self._words, name)
        # Other packages are only asked for what is not a command of this one.
        verb = _verbs(outside=False).get(words) or _verbs().get(words)
        if verb is None:
            text = find("help", name) if words == (name,) else None
            return None if text is None else _Group(name, help=text)
        _defer()
        if words == RESUME:
            return loaded(verb.place)(name, learning())
        if verb.place:
            return loaded(verb.place)
        from atomstream.cli.running import learning_command

        return learning_command(verb.task, name, verb.summary)

    @property
    def _words(self) -> tuple[str, ...]:
        return (self.name,) if self.name and find("help", self.name) is not None else ()

    @property
    def _summaries(self) -> dict[str, str]:
        """The line of help of each command, by its name."""
        known = {words: verb.summary for words, verb in _verbs().items()}
        known |= {(group,): text for group, text in declared("help").items()}
        return {name: text for (*group, name), text in known.items() if tuple(group) == self._words}


class _WhenUsed(ModuleType):
    """Stands for a module until something of it is used, and then loads it.

    The loader of that kind in ``importlib`` loads a module as soon as another one imports it.
    """

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Load modules in the body, and keep what they hold out of every search for cycles.

    These searches, the last one at the end of the process, take a quarter of a short command.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _call(module: str, function: str, *values: Any, **named: Any) -> Any:
    """Call a function of a module, which is loaded now."""
    return getattr(import_module(module), function)(*values, **named)


def _defer() -> None:
    """Load scikit-learn without the modules that it imports and seldom uses."""
    stand_ins: dict[str, _WhenUsed] = {}
    for name, functions in DEFERRED.items():
        package, _, short = name.rpartition(".")
        with suppress(ModuleNotFoundError):  # what is not there needs no stand-in
            # To look for a module within a stand-in would load what that stands for.
            found: Any = package in stand_ins or find_spec(name)
            if name in sys.modules or not found:
                continue
            stand_ins[name] = sys.modules[name] = _WhenUsed(name)
            known: dict[str, Any] = {each: partial(_call, name, each) for each in functions}
            if known:  # taken by name, for which Python asks whether the module is a package
                known["__path__"] = found.submodule_search_locations
            vars(stand_ins[name]).update(known)
            if package:  # which is asked for it, as after any import
                setattr(sys.modules[package], short, stand_ins[name])
    import sklearn.base  # noqa: F401 - keeps the stand-ins

    # Whoever imports one of these modules later gets the module itself.
    for name, stand_in in stand_ins.items():
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]


@click.group(
    cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(atomstream.__version__, prog_name="atomstream")
def commands() -> None:
    """Learn interpretable dictionaries from data that never stops.

    A run is a folder: the model, its settings, checkpoints, a log, a report.
    """
