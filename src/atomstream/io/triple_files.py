"""Tables given entry by entry: lines of row, column and value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted, listed
from atomstream.exceptions import InputError
from atomstream.io import inputs as files
from atomstream.io import source
from atomstream.io.input_options import AUTO, NO, REFUSE, Find, InputOptions, Naming
from atomstream.io.source import Source, need
from atomstream.streams.triples import Triples

BYTES_PER_ENTRY = 64  # at the peak, while entries are put in order
ORDER = "name rows, columns and values in this order, such as --columns user,item,rating"
WHAT = "--triples needs three columns, of rows, columns and values"


class TripleRows(Source):
    """The rows of a table whose entries are the lines of files; all files are one table.

    Rows and columns are called by their labels, and sorted by these. Of an array the first two
    columns are the numbers of rows and columns.

    Parameters
    ----------
    inputs : sequence of str
        Tables, or arrays of three columns.
    options : InputOptions
        With ``columns`` as the names of the three columns, where a table has more.
    """

    def __init__(self, inputs: Sequence[str], options: InputOptions) -> None:
        if files.STANDARD_INPUT in inputs:
            raise InputError(
                "Triples are sorted into rows, and standard input can be read only once: name a "
                "file."
            )
        if options.naming.ids:
            raise InputError(
                f"{options.naming.ids[0]!r} names rows, and rows of triples are named by the first "
                "of their three columns; leave it out."
            )
        if options.index not in (AUTO, NO):
            raise InputError("--index names rows, and rows of triples are named by their labels.")
        naming = _TripleColumns(kept=True, columns=options.columns, drop=options.drop)
        inner = replace(options, triples=False, duplicates=REFUSE, naming=naming)
        try:
            sources = files.open_inputs(inputs, inner)
        except InputError as error:
            said, numeric, _ = str(error).partition(" not numeric ")
            if not numeric:
                raise
            raise InputError(f"{said} not a column of values; {ORDER}.") from None
        self._skips = options.skips
        self.files = [path for each in sources for path in each.files]
        self.name = sources[0].name
        if len(sources) > 1:
            self.name += f" and {counted(len(sources) - 1, 'more input')}"
        self.guesses = {name: why for each in sources for name, why in each.guesses.items()}
        entries, self.row_names = _entries(sources, skips=options.skips)
        self.n_left_out = entries.n_left_out
        try:
            table = Triples(
                *entries.of_each,
                duplicates=options.duplicates,
                place=partial(_words, sources, entries),
            )
        except ValueError as error:
            sentence = str(error).replace("by duplicates", "by --duplicates")
            raise InputError(f"{self.name}: {sentence}") from None
        self._take(table)

    def _take(self, table: Triples) -> None:
        self._table, self.names = table, table.names
        self.n_rows, self.n_features = table.shape
        self._labels = np.array(table.row_names, object)

    def take_columns(self, names: Sequence[str] | None, learned: str) -> None:
        """Let blocks have the columns that were learned from; some may be empty here."""
        if names is None:
            return
        try:
            self._take(self._table.with_columns(names))
        except ValueError:
            new = [name for name in self.names or () if name not in set(names)]
            if not self._skips or len(new) == len(self.names or ()):
                raise InputError(
                    f"{self.name} has entries in other columns than {learned}: {listed(new)}; "
                    "leave them out with --on-bad-line skip."
                ) from None
            self._take(self._table.among(names))

    def _blocks(self, start: int, epoch: int) -> Iterator[source.Block]:
        """Yield blocks of rows."""
        row_bytes = self.n_features * self._table.dtype.itemsize
        for rows in source.row_blocks(self.n_rows or 0, start, row_bytes):
            yield source.numbered(self._table[rows].X, rows.start, (self._labels[rows],))


@dataclass(frozen=True)
class _TripleColumns(Naming):
    """The columns that hold the labels of rows and columns: the first two of three."""

    judges: ClassVar = True
    columns: Sequence[str] = ()
    drop: Sequence[str] = ()

    def places(
        self, names: list[str], find: Find, rows: Sequence[Sequence[str]] = (), some: bool = False
    ) -> list[int]:
        """Return the places of these columns.

        Raises
        ------
        InputError
            Where there are not three columns.
        """
        left_out = {*find(self.drop)} if self.drop else set()
        # A column without a name, as pandas writes an index, numbers the entries.
        unnamed = {place for place, name in enumerate(names) if not name}
        among = find(self.columns) if self.columns else range(len(names))
        found = [place for place in among if place not in left_out]
        if len(found) != 3:
            found = [place for place in found if place not in unnamed]
        if len(found) != 3:
            there = listed([names[place] for place in found])
            raise InputError(f"{WHAT}, and there are {len(found)} ({there}); {ORDER}.")
        return found[:2]


@dataclass
class _Entries:
    """Entries as they are read: labels, values, and where each comes from."""

    rows: Any
    columns: Any
    values: NDArray
    at: NDArray  # number of the source, and of the row in it, (n_entries, 2)
    n_left_out: int = 0

    @property
    def of_each(self) -> tuple[Any, Any, NDArray]:
        """Rows, columns and values."""
        return self.rows, self.columns, self.values


class _Labels:
    """Labels that come in parts, as numbers."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def places(self, labels: Any) -> NDArray:
        """Return the numbers of the next labels; -1 where one is missing."""
        import pandas as pd  # loaded where a table is read

        codes, different = pd.factorize(labels)
        known = [self._place(label) for label in different]
        return np.array([*known, -1], np.int64)[codes]  # missing ones are the last

    def _place(self, label: Any) -> int:
        whole = isinstance(label, float) and label.is_integer()
        text = str(int(label) if whole else label).strip()
        return self._places.setdefault(text, len(self._places)) if text else -1

    def sorted(self, codes: NDArray) -> Any:
        """Return labels by their numbers as a categorical; whole numbers in their order."""
        import pandas as pd  # loaded where a table is read

        names = [*self._places]
        try:
            order = sorted(range(len(names)), key=lambda place: int(names[place]))
        except ValueError:
            order = sorted(range(len(names)), key=names.__getitem__)
        ranks = np.append(np.argsort(order), -1)
        found = pd.Categorical.from_codes(ranks[codes], [names[place] for place in order])
        return pd.Series(found)


def _entries(sources: Sequence[Source], *, skips: bool) -> tuple[_Entries, list[str]]:
    """Return the entries that the rows of sources hold, and the name of what names rows."""
    rows, columns, name = _Labels(), _Labels(), "row"
    parts: list[tuple[NDArray, ...]] = []
    n_left_out = n_entries = 0
    for number, each in enumerate(sources):
        if each.n_features != (1 if each.has_columns else 3):
            raise InputError(f"{WHAT}, and {each.name} has {counted(each.n_features, 'column')}.")
        name = each.row_names[-2] if each.has_columns and each.names else name
        for block in each.blocks(0, 0):
            labels = block.labels[-2:] if each.has_columns else _numbers(block.X[:, :2], each.name)
            value = np.asarray(block.X[:, -1], np.result_type(block.X.dtype, np.float32))
            row, column = rows.places(labels[0]), columns.places(labels[1])
            nothing, unnamed = np.isnan(value), (row < 0) | (column < 0)
            # A line that holds nothing says nothing; one that is bad holds no value.
            kept = ~unnamed | ~(nothing | skips)
            n_left_out += int((nothing | unnamed).sum()) if skips else 0
            at = np.column_stack([np.full(len(value), number), block.ids])
            parts.append(tuple(part[kept] for part in (row, column, value, at)))
            n_entries += len(value)
            need(BYTES_PER_ENTRY * n_entries, f"{each.name}, with {n_entries:,} entries,")
    row, column, value, at = (np.concatenate(part) for part in zip(*parts, strict=True))
    if np.isnan(value).all():
        raise InputError(f"{sources[0].name} has no entry with a value.")
    found = _Entries(rows.sorted(row), columns.sorted(column), value, at, n_left_out)
    return found, [name]


def _numbers(X: NDArray, name: str) -> NDArray:
    """Return the numbers of rows and columns of entries in an array, (2, n_entries)."""
    numbers = X.T.astype(np.int64)
    if not (numbers == X.T).all():
        raise InputError(f"{name} has rows or columns that are no whole numbers.")
    return numbers


def _words(sources: Sequence[Source], entries: _Entries, entry: int) -> str:
    """Return the words for where an entry stands."""
    number, row = entries.at[entry].tolist()
    return sources[number].place_of(row)
