"""What looks are given, a model and what is known of it, and the tables and codes they return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from atomstream.io.outputs import Labels
from atomstream.watch.callbacks import History


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
    def n_steps(self) -> int:
        """Number of batches learned from."""
        return int(getattr(self.learner, "n_steps_", 0))

    @property
    def objective(self) -> float:
        """Mean objective per sample of recent batches, before their update."""
        return (
            self.history.recent if self.history.objective else float(self.learner.batch_objective_)
        )

    @property
    def complete(self) -> bool | None:
        """Whether all that was asked for is done; None where that cannot be said."""
        if self.task is None:
            return None
        finished: bool | None = self.task.finished(self.settings, self.model, self.notes)
        return finished


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

    @property
    def numbers(self) -> list[str]:
        """The names for machines of all columns but the first and that of text."""
        return [name for name in self.columns if name != "features"]


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
