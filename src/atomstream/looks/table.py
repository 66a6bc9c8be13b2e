"""What looks return for people and machines to read: tables of atoms, and codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from atomstream.io.outputs import Labels

__all__ = ["Encoded", "Table"]


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
