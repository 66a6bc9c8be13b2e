"""All that can be typed: verbs that work on every run, and a group of commands for each domain."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

import atomstream
from atomstream.cli.options import (
    MAX_MEMORY,
    as_json,
    max_memory_option,
    path_option,
    run_argument,
)
from atomstream.runs import GROUPS, TASKS

# The commands that begin runs: the words typed, and the name of the task.
LEARNING = {tuple(kind.command.split()): name for name, kind in TASKS.items()}
RESUME = "resume"
# Modules with further commands of a domain, each named ``commands``.
FURTHER = {"image": "atomstream.cli.image", "network": "atomstream.cli.network"}


class _Group(click.Group):
    """A group whose commands are loaded when they are asked for: help for one loads no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        words = [name for *group, name in LEARNING if tuple(group) == self._words]
        further = import_module(FURTHER[self.name]).commands if self.name in FURTHER else ()
        own = [RESUME, *GROUPS] if not self._words else []
        return sorted({*super().list_commands(ctx), *words, *(c.name for c in further), *own})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command by its name; each but a group can limit the memory for reading."""
        command = self._named(ctx, name)
        if command is None or isinstance(command, click.Group):
            return command
        if MAX_MEMORY not in (option for each in command.params for option in each.opts):
            command.params.append(max_memory_option())
        return command

    def _named(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command of that name; None where there is none."""
        from atomstream.cli.running import learning_command, resume_command

        if not self._words and name == RESUME:
            return resume_command(RESUME, LEARNING)
        if (task := LEARNING.get((*self._words, name))) is not None:
            return learning_command(task, name)
        if not self._words and name in GROUPS:
            return _Group(name, help=GROUPS[name])
        if self.name in FURTHER:
            for command in import_module(FURTHER[self.name]).commands:
                if command.name == name:
                    return command
        return super().get_command(ctx, name)

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


@commands.command(short_help="Write the codes of inputs.")
@run_argument
@click.argument("inputs", nargs=-1, required=True)
@path_option("--out", "codes.parquet, codes.csv or codes.npz.", required=True)
@click.option(
    "--id", "ids", multiple=True, help="Column that names the rows, written before the codes."
)
@click.option(
    "--on-bad-line",
    type=click.Choice(["raise", "skip"]),
    help="raise: a line that cannot be coded ends the command; skip: its codes are NaN "
    "(default: as in the settings of RUN, else raise).",
)
@as_json
def encode(
    run: Path,
    inputs: tuple[str, ...],
    out: Path,
    ids: tuple[str, ...],
    on_bad_line: str | None,
    as_json: bool,
) -> int:
    """Write the codes of INPUTS under the dictionary of RUN, or of a model file.

    The codes of a row are in the columns atom_0, atom_1 and so on; those of a document are the
    shares of the topics in it, topic_0, topic_1 and so on. Before them come the columns of --id,
    here or in the settings of RUN, an index that pandas has written, and the names of files where
    each is one sample.
    """
    from atomstream.cli import looking

    return looking.encode(run, inputs, out, ids, on_bad_line, as_json)


@commands.command(short_help="Rebuild an image or a network from atoms.")
@run_argument
@click.argument("source", metavar="INPUT", type=click.Path(path_type=Path))
@path_option("--out", "File to write; by default in the folder of RUN.")
@click.option(
    "--stride",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Pixels between the patches of an image.",
)
@as_json
def reconstruct(run: Path, source: Path, out: Path | None, stride: int, as_json: bool) -> int:
    """Rebuild INPUT, an image or a network, from the atoms of RUN or of a model file."""
    from atomstream.cli import looking

    return looking.reconstruct(run, source, out, stride, as_json)


@commands.command(short_help="Show a run on one screen.")
@run_argument
@as_json
def inspect(run: Path, as_json: bool) -> int:
    """Show on one screen what RUN has learned, from which inputs, and how far it is."""
    from atomstream.cli import looking

    return looking.inspect(run, as_json)


@commands.command(short_help="Write a report with all pictures.")
@run_argument
@as_json
def report(run: Path, as_json: bool) -> int:
    """Write RUN/report.html, one page with all pictures inside, and the pictures as PNG and SVG."""
    from atomstream.cli import looking

    return looking.report(run, as_json)


@commands.command(short_help="Name, accept, reject and merge atoms.")
@run_argument
@click.argument("edits", type=click.Path(path_type=Path))
@as_json
def edit(run: Path, edits: Path, as_json: bool) -> int:
    """Apply EDITS, a list saved from the report, to RUN or a model file.

    The model does not change, and neither does what a run learns. Names stand in the tables and
    codes that are written from now on; the shares and codes of atoms that were merged are added;
    rejected atoms are left out of both, hidden ones of tables. A new list replaces the one before.
    """
    from atomstream.cli import looking

    return looking.edit(run, edits, as_json)


@commands.command(short_help="Write the pictures.")
@run_argument
@as_json
def plot(run: Path, as_json: bool) -> int:
    """Write the pictures of RUN as PNG and SVG into RUN/figures."""
    from atomstream.cli import looking

    return looking.plot(run, as_json)


@commands.command(short_help="Follow a run in the terminal.")
@run_argument
@click.option("--once", is_flag=True, help="Show it once, and end.")
@path_option("--html", "Page to write as well; it loads itself again while the run goes on.")
def watch(run: Path, once: bool, html: Path | None) -> int:
    """Follow RUN in the terminal: how the objective falls, how atoms move, what they are.

    It ends when the run is complete or its process has ended. Ctrl-C ends the watching; the run
    goes on.
    """
    from atomstream.cli import watching

    return watching.watch(run, once=once, html=html)
