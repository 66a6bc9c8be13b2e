"""Which kinds of runs there are, and the commands that begin them."""

from typing import NamedTuple

from atomstream.base.declared import declared, find


class Kind(NamedTuple):
    """A kind of run: the command that begins it, its line of help, and the place of its task."""

    command: str
    summary: str
    task: str


# Runs on rows have no name in a run.toml; fields declare the others.
ROWS = Kind("learn", "Learn a dictionary from INPUTS.", "atomstream.runs.tasks.rows:RowsTask")


def kinds_of_runs() -> dict[str, Kind]:
    """Return all kinds of runs by the names that a ``run.toml`` has."""
    return {"": ROWS} | {name: Kind(**given) for name, given in declared("tasks").items()}


def kind_named(name: str) -> Kind | None:
    """Return the kind of run of a name; None where there is none."""
    given = find("tasks", name)
    return Kind(**given) if given else ROWS if name == "" else None
