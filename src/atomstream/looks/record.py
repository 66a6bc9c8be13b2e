"""What looks are given, a model and what is known of it, and the tables and codes they return."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Choice
from atomstream.exceptions import InputError
from atomstream.io import Labels, naming_source, whole_file
from atomstream.watch import History

EDITS = "edits.json"
FORMAT = 1
STATES = ("accepted", "rejected")
LONGEST = 120  # characters of a name
MOST_BYTES = 1 << 24


@dataclass(frozen=True)
class Record:
    """A model, and what is known of how it came to be; a model in memory comes alone.

    Attributes
    ----------
    model : fitted estimator
    path : pathlib.Path
        Of the run or of the model file.
    notes : dict
        What the newest checkpoint holds besides the model; empty for a model file.
    task : type of Task, or None
        The kind of run; None for a model file.
    settings : Settings or None
    run : RunFolder or None
        The folder of the run, where it is one.
    shape : tuple of int or None
        Of one sample, where samples are images.
    names : list of str or None
        Of the features, where they have some.
    history : History
        The objective along the stream.
    held_out : ndarray or csr_array of shape (n_rows, n_features), or None
        Rows that were not learned from.
    held_out_names : list of str or None
        What these are called, where they have names.
    skips : bool or None
        Whether rows that cannot be coded are left without codes; None is as in the settings.
    uncertainty : pathlib.Path or None
        Table of the uncertainties of what is coded.
    reading : dict
        How tables are read, where not as the run has read its own: options of
        `atomstream.io.TableOptions`.
    """

    model: Any
    path: Path = Path()
    notes: dict[str, Any] = field(default_factory=dict)
    task: Any = None
    settings: Any = None
    run: Any = None
    shape: tuple[int, ...] | None = None
    names: list[str] | None = None
    history: History = field(default_factory=History)
    held_out: Any = None
    held_out_names: list[str] | None = None
    skips: bool | None = None
    uncertainty: Path | None = None
    reading: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where results go: the folder of the run, or the one that the model file lies in."""
        return self.path if self.path.is_dir() else self.path.parent

    @property
    def results(self) -> Path:
        """Where reports and edits go: the folder of the run, or one beside the model file."""
        return self.path if self.path.is_dir() else self.path.with_name(f"{self.path.stem}-report")

    @property
    def skips_bad_rows(self) -> bool:
        """Whether rows that cannot be coded are left without codes; by default an error."""
        asked = getattr(self.settings, "on_bad_line", "raise") == "skip"
        return asked if self.skips is None else self.skips

    @property
    def learner(self) -> Any:
        """The dictionary estimator inside, or the model itself."""
        return getattr(self.model, "learner_", self.model)

    @property
    def chosen(self) -> Mapping[str, Choice]:
        """What settings became that were left to the model, as its ``chosen_``."""
        return getattr(self.model, "chosen_", {})

    @property
    def n_steps(self) -> int:
        """Number of batches learned from."""
        return int(getattr(self.learner, "n_steps_", 0))

    @property
    def objective(self) -> float:
        """Mean objective per sample of recent batches, before their update."""
        past = self.history
        return past.recent if past.objective else float(self.learner.batch_objective_)

    @property
    def complete(self) -> bool | None:
        """Whether all that was asked for is done; None where that cannot be said."""
        if self.task is None:
            return None
        return self.task.finished(self.settings, self.model, self.notes)


@dataclass(frozen=True)
class Table:
    """The most important parts of a model, as a table: one row for each atom, topic or cluster.

    Attributes
    ----------
    name : str
        What a row is, such as "atom".
    columns : dict of str to str
        Names for machines to heads for people, without that of the first column.
    rows : sequence of tuples
        Each begins with the number of the atom; shares are floats between 0 and 1.
    """

    name: str
    columns: dict[str, str]
    rows: Sequence[tuple[Any, ...]] = field(default_factory=list)


@dataclass(frozen=True)
class Encoded:
    """The codes of inputs, block by block.

    Attributes
    ----------
    n_atoms : int
    blocks : iterator of (labels, codes)
        The labels have an array for each name in ``labels``; codes are (n_rows, n_atoms).
    labels : sequence of str, default=()
        Names of the columns that name the rows.
    atom : str, default="atom"
        What columns are called, with the number of each.
    """

    n_atoms: int
    blocks: Iterator[tuple[Labels, NDArray]]
    labels: Sequence[str] = ()
    atom: str = "atom"


def cell(value: object) -> str:
    """Return an entry of a table as text: shares in percent, whole numbers with commas."""
    return f"{100 * value:.1f} %" if isinstance(value, float) else f"{value:,}"


@dataclass(frozen=True)
class Edit:
    """What was decided about one atom.

    Attributes
    ----------
    atom : int
    name : str
        Empty: it has none but its number.
    state : {"", "accepted", "rejected"}
        A rejected atom is left out of tables and codes.
    hidden : bool
        Whether it is left out of tables, though not of codes.
    into : int or None
        The atom that it is one with: their shares and codes are added.
    """

    atom: int
    name: str = ""
    state: str = ""
    hidden: bool = False
    into: int | None = None


@dataclass(frozen=True)
class Edits:
    """A list of edits.

    Attributes
    ----------
    n_atoms : int
        Of the model that was edited.
    made : dict of int to Edit
    run : str
        Which run that was, where it was one.
    step : int
        Number of batches that it had learned from.
    """

    n_atoms: int
    made: Mapping[int, Edit] = field(default_factory=dict)
    run: str = ""
    step: int = 0

    def root(self, atom: int) -> int:
        """Return the atom that stands for this one."""
        # Merges may form chains, which were checked for circles when the list was read.
        while atom in self.made and self.made[atom].into is not None:
            atom = int(self.made[atom].into or 0)
        return atom

    def of(self, atom: int) -> Edit:
        """Return what was decided about an atom."""
        return self.made.get(atom, Edit(atom))

    @property
    def kept(self) -> list[int]:
        """The atoms that stand for themselves and were not rejected."""
        atoms = range(self.n_atoms)
        return [n for n in atoms if self.root(n) == n and self.of(n).state != "rejected"]

    def table(self, table: Table, most: int) -> Table:
        """Return a table of all atoms as it reads with the edits, at most so many rows of it."""
        # As it was, to the bit: most runs are never edited.
        if not self.made:
            return replace(table, rows=table.rows[:most])
        columns = [table.name, *table.columns]
        shares = [place for place, name in enumerate(columns) if name.endswith("_share")]
        rows = {row[0]: list(row) for row in table.rows}
        for atom, row in rows.items():
            root = rows.get(self.root(atom), row)
            for place in shares:
                # Shares add up: what was two atoms is one now.
                root[place] += row[place] if root is not row else 0.0
        shown = [rows[n] for n in rows if n in set(self.kept) and not self.of(n).hidden]
        # Again by importance: a merged atom may have overtaken others.
        shown.sort(key=lambda row: -row[shares[0]] if shares else 0)
        heads = dict(table.columns)
        if any(edit.name for edit in self.made.values()):
            if "features" not in heads:
                heads["features"] = "name"
                shown = [[*row, ""] for row in shown]
            for row in shown:
                row[-1] = ": ".join(filter(None, (self.of(row[0]).name, str(row[-1]))))
        return Table(table.name, heads, [tuple(row) for row in shown[:most]])

    def columns(self, noun: str) -> list[str]:
        """Return the names of the columns of codes.

        Raises
        ------
        InputError
            Where the name of an atom is the number of another.
        """
        names = [self.of(atom).name or f"{noun}_{atom}" for atom in self.kept]
        # Two columns of one name could not be told apart by who reads the file.
        if repeated := {name for name in names if names.count(name) > 1}:
            raise InputError(f"Two columns would be called {min(repeated)!r}; rename that {noun}.")
        return names

    def codes(self, encoded: Encoded) -> Iterable[tuple[Any, NDArray]]:
        """Yield blocks of codes: columns of one atom added, those of rejected atoms left out."""
        if not self.made:
            return encoded.blocks
        roots = [self.root(atom) for atom in range(self.n_atoms)]
        sums = np.equal.outer(roots, self.kept).astype(np.float64)
        return ((labels, codes @ sums) for labels, codes in encoded.blocks)

    def counts(self) -> dict[str, int]:
        """Return how many atoms were renamed, accepted, rejected, hidden and merged."""
        made = self.made.values()
        return {
            "renamed": sum(bool(edit.name) for edit in made),
            **{state: sum(edit.state == state for edit in made) for state in STATES},
            "hidden": sum(edit.hidden for edit in made),
            "merged": sum(edit.into is not None for edit in made),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the list as ``edits.json`` holds it."""
        # What was not decided is left out; 0 is an atom, so nothing is dropped for being false.
        edits = [
            {k: v for k, v in vars(edit).items() if v is not None and v is not False and v != ""}
            for _, edit in sorted(self.made.items())
        ]
        origin = {"format": FORMAT, "run": self.run, "step": self.step, "atoms": self.n_atoms}
        return {**origin, "edits": edits}

    def write(self, folder: Path) -> Path:
        """Write the list into a folder, whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / EDITS) as file:
            file.write(json.dumps(self.as_dict(), indent=1).encode())
        return folder / EDITS


def read_edits(path: Path, n_atoms: int) -> Edits:
    """Read a list of edits of a model with so many atoms.

    Raises
    ------
    InputError
        Where there is none, or where it does not fit the model.
    """
    try:
        # Before it is read: a wrong name may be that of a data set.
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path} is too large for a list of edits.")
        saved = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"There is no {path}.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is no list of edits: {error!s:.200}") from None
    if not isinstance(saved, dict) or not isinstance(saved.get("edits"), list):
        raise InputError(f"{path} is no list of edits; save one from the report of the run.")
    # Before its content is judged: a later format may well mean other things.
    if saved.get("format") != FORMAT:
        raise InputError(
            f"{path} has format {saved.get('format')!r:.20}, this release reads {FORMAT}."
        )
    if saved.get("atoms") != n_atoms or isinstance(saved["atoms"], bool):
        raise InputError(
            f"{path} is of a model with {saved.get('atoms')!r:.20} atoms, this one has {n_atoms}."
        )
    made = _checked(path, saved["edits"], n_atoms)
    run, step = saved.get("run"), saved.get("step")
    run, step = run if isinstance(run, str) else "", step if type(step) is int else 0
    return Edits(n_atoms, made, run, step)


def _checked(path: Path, listed: Sequence[Any], n_atoms: int) -> dict[int, Edit]:
    """Return edits by their atoms; refuse those that make no sense, alone or together."""
    made: dict[int, Edit] = {}
    for place, entry in enumerate(listed):
        with naming_source(f"{path}, edit {place}"):
            edit = _edit(entry, n_atoms)
            if edit.atom in made:
                raise ValueError(f"atom {edit.atom} was edited before.")
        made[edit.atom] = edit
    try:
        # A circle of merges has no atom that stands for all.
        TopologicalSorter({n: {edit.into} - {None} for n, edit in made.items()}).prepare()
    except CycleError as error:
        raise InputError(f"{path}: atom {min(error.args[1])} is merged into itself.") from None
    # Names of merged atoms are never shown.
    names = [edit.name for edit in made.values() if edit.name and edit.into is None]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise InputError(
            f"{path}: several atoms are called {min(repeated)!r}; merge them, or name them apart."
        )
    return made


def _edit(entry: Any, n_atoms: int) -> Edit:
    """Return an edit; raise ValueError for one that makes no sense by itself."""
    known = {"atom", "name", "state", "hidden", "into"}
    if not isinstance(entry, dict) or not entry.keys() <= known or "atom" not in entry:
        raise ValueError("an edit has an atom, and of name, state, hidden and into some.")
    edit = Edit(**entry)
    for number in [edit.atom] if edit.into is None else [edit.atom, edit.into]:
        if type(number) is not int or not 0 <= number < n_atoms:
            raise ValueError(f"{number!r:.20} is no atom; they go from 0 to {n_atoms - 1}.")
    # Names go into heads of tables, one line each.
    if not isinstance(edit.name, str) or len(edit.name) > LONGEST or not edit.name.isprintable():
        raise ValueError(f"name must be a line of at most {LONGEST} characters.")
    if edit.state not in ("", *STATES) or type(edit.hidden) is not bool:
        raise ValueError(f"state is {', '.join(STATES)} or empty, and hidden true or false.")
    return edit
