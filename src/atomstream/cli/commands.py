"""All that can be typed: verbs that work on every run, and a group of commands for each domain."""

from __future__ import annotations

from importlib import import_module

import click

import atomstream
from atomstream.cli.options import MAX_MEMORY, max_memory_option
from atomstream.runs import GROUPS, TASKS

# The commands that begin runs: the words typed, and the name of the task.
LEARNING = {tuple(kind.command.split()): name for name, kind in TASKS.items()}
RESUME = "resume"
LOOKING = ("edit", "encode", "inspect", "plot", "reconstruct", "report")
# The other commands: the words typed, and the module of this folder that has them.
FURTHER: dict[tuple[str, ...], str] = {
    **{(verb,): "looking" for verb in LOOKING},
    ("watch",): "watching",
    **{("image", verb): "image" for verb in ("denoise", "inpaint")},
    **{("network", verb): "network" for verb in ("denoise", "reconstruct")},
}


class _Group(click.Group):
    """A group whose commands are loaded when they are asked for: help for one loads no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        known = [*LEARNING, *FURTHER, (RESUME,), *((group,) for group in GROUPS)]
        return sorted(name for *group, name in known if tuple(group) == self._words)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command by its name; each but a group can limit the memory for reading."""
        command = self._named(ctx, name)
        # A group has no work of its own that could be limited.
        if command is None or isinstance(command, click.Group):
            return command
        # A command is made once and found many times; the option must not be added twice.
        if MAX_MEMORY not in (option for each in command.params for option in each.opts):
            command.params.append(max_memory_option())
        return command

    def _named(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command of that name; None where there is none."""
        from atomstream.cli.running import learning_command, resume_command

        words = (*self._words, name)
        if words == (RESUME,):
            return resume_command(RESUME, LEARNING)
        if words in LEARNING:
            return learning_command(LEARNING[words], name)
        if words in FURTHER:
            found: click.Command = getattr(import_module(f"atomstream.cli.{FURTHER[words]}"), name)
            return found
        return _Group(name, help=GROUPS[name]) if words in {(group,) for group in GROUPS} else None

    @property
    def _words(self) -> tuple[str, ...]:
        return (self.name,) if self.name in GROUPS else ()


@click.group(
    cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(atomstream.__version__, prog_name="atomstream")
def commands() -> None:
    """Learn interpretable dictionaries from data that never stops.

    A run is a folder: the model, its settings, checkpoints, a log, a report.
    """
