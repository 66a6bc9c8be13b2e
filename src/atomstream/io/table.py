"""One table: named columns, read in blocks, and the lines of text that it may consist of."""

import csv
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import library
from atomstream.exceptions import InputError
from atomstream.io import Block, InputOptions, Source, numbered, reading, texts
from atomstream.io.column_names import chosen, dropped, refuse_field, refuse_texts, refuse_width
from atomstream.io.records import Dialect, LineChunk
from atomstream.io.text_file import TextFile

Rows = tuple[NDArray, tuple[NDArray, ...]]  # numbers, and the columns that name rows

BYTES_PER_COLUMN = 6000  # that Arrow takes while it reads a table


class Table(Source):
    """Named columns in a file: numbers, and perhaps columns that name the rows.

    Rows come in blocks. Empty fields and texts such as ``NA`` and ``null`` are missing entries.

    Attributes
    ----------
    columns : list of str
        Names of the columns of numbers; where the file has no names, their numbers from 1.
    """

    columns: list[str]
    has_columns = True
    uses = frozenset({"columns", "drop", "index", "missing"})
    _empty: Sequence[int] = ()  # places of columns that must be empty

    def _choose(
        self,
        all_names: list[str],
        options: InputOptions,
        texts: dict[int, str],
        own: Sequence[int] = (),
        rows: Sequence[Sequence[str]] = (),
    ) -> None:
        """Choose the columns of numbers, and those that name rows: its own ones come first.

        ``texts`` maps the places of columns that do not hold numbers to an example.
        """
        find = partial(chosen, all_names, source=self.name)
        found = options.naming.places(all_names, find, rows, bool(options.columns))
        aside = list(dict.fromkeys([*own, *found]))
        self._all_names = all_names
        left_out = {*aside, *self._empty, *dropped(all_names, options.drop, self.name)}
        places = chosen(all_names, options.columns, self.name, texts)
        self._numbers = [place for place in places if place not in left_out]
        if not self._numbers:
            raise InputError(
                f"{self.name} has no column of numbers beside those that name rows or are left "
                "out; choose others with --columns."
            )
        words = {all_names[i]: texts[i] for i in self._numbers if i in texts}
        refuse_texts(words, self.name, options.numbers, n_columns=len(self._numbers))
        self._sentinels = options.numbers.sentinels
        self._labels = aside if options.naming.kept else []
        self.names = self.columns = [all_names[i] for i in self._numbers]
        names = [all_names[i] for i in self._labels]
        # Several columns without a name are called as pandas calls them.
        if names.count("") > 1:
            names = [name or f"level_{place}" for place, name in enumerate(names)]
        self.row_names = names
        self.n_features = len(self._numbers)

    def _with_missing(self, X: NDArray) -> NDArray:
        """Return rows with NaN where a number stands for a missing entry."""
        if not self._sentinels:
            return X
        return np.where(np.isin(X, np.array(self._sentinels, X.dtype)), X.dtype.type(np.nan), X)


class TextTable(Table):
    """A table whose rows are lines of a file, of a compressed file, or of standard input.

    Parameters
    ----------
    path : path, or None for standard input
    options : InputOptions
    """

    uses = frozenset({*Table.uses, "decimal", "thousands", "below_limit"})
    _dialect = Dialect(",", 0, quoted=False)
    _n_lines = 0  # before the first row

    def __init__(self, path: Path | None, options: InputOptions) -> None:
        self.name = "standard input" if path is None else str(path)
        self.files = [] if path is None else [path]
        self.live, self._path = path is None, path
        self._form, self._skip = options.numbers, options.skips
        self._text = TextFile(path, self.name)
        self.guesses = self._text.guesses

    @property
    def waiting(self) -> bool:  # type: ignore[override]
        """Whether standard input waits for its writer at this moment."""
        return self._text.waiting

    def place_of(self, row: int) -> str:
        """Return the words for where a row stands: its line."""
        with self._text.parts(self._dialect, self._n_lines) as parts:
            for part in parts:
                if row < part.n_records:
                    return f"line {next(islice(part.records(), row, None))[0]} of {self.name}"
                row -= part.n_records
        raise IndexError(row)

    def about_rows(self) -> int | None:
        """Return about the number of rows: the length of the file over that of its lines."""
        if self._path is None:
            return None
        with reading(self.name):
            return max(1, texts.about(self._path) - self._n_lines)

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows; rows before ``start`` are skipped without parsing."""
        row = first = start if self.live else 0  # a live stream continues where it is
        with self._text.parts(self._dialect, self._n_lines) as parts:
            for part in parts:
                # Counting lines is far cheaper than parsing them.
                n_rows = part.n_records if row < start else 0
                if row + n_rows <= start and row < start:
                    row += n_rows
                    continue
                for X, labels in self._rows(part, row):
                    new, n_read = slice(max(start - row, 0), None), len(X)
                    if row + n_read > start:
                        X = self._with_missing(X[new])
                        yield numbered(X, max(row, start), tuple(part[new] for part in labels))
                    row += n_read
        if row == first and self._path:
            raise InputError(f"{self.name} has a header and no rows.")

    def _rows(self, part: LineChunk, row: int) -> Iterator[Rows]:
        """Yield the rows of whole lines: all at once, or one by one where a line may be bad."""
        # All lines at once where they are good; only a part with a bad one is read line by line.
        if (found := self._converted(part)) is not None:
            yield found
            return
        numbers: list[list[float]] = []
        labels, failure = [], None
        for line, record in part.records():
            fields: list[Any] = []
            try:
                fields = self._fields(record, line)
                numbers.append(self._entries(fields, line, row + len(numbers)))
            except (ValueError, RecursionError, csv.Error) as error:
                failure = self._refusal(error, line, row + len(numbers))
                if not self._skip:
                    break
                # A bad line that is passed over keeps its number: it stands for a row of nothing.
                numbers.append([np.nan] * self.n_features)
            labels.append([fields[i] if i < len(fields) else "" for i in self._labels])
        # Good lines before a bad one are learned where they cannot be read again.
        if numbers and (self._skip or self.live or failure is None):
            columns = zip(*labels, strict=True) if self._labels else ()
            yield np.array(numbers), tuple(objects(column) for column in columns)
        if failure is not None and not self._skip:
            raise failure

    def _converted(self, part: LineChunk) -> Rows | None:
        """Return the rows of whole lines if they can be read together, else None."""
        return None

    def cuts(self, rows: int) -> Iterator[tuple[int, int, int]]:
        """Yield first and last byte of parts of at most so many rows, and their number of rows."""
        return self._text.cuts(self._dialect, self._n_lines, rows)

    @abstractmethod
    def _fields(self, record: bytes, line: int) -> list[Any]:
        """Return the fields of a record."""

    def _entries(self, fields: list[Any], line: int, row: int) -> list[float]:
        """Return the numbers in the fields of a row."""
        if len(fields) != len(self._all_names):
            raise refuse_width(self.name, line, row, len(self._all_names), len(fields))
        for i in self._empty:
            if fields[i].strip():
                raise InputError(
                    f"Line {line} of {self.name} (row {row}, counted from 0) has {fields[i]!r:.40} "
                    "behind the delimiter that ends the lines before it."
                )
        entry, place = self._form.entry, 0
        try:
            return [
                value if type(value := fields[place := i]) is float else entry(value)
                for i in self._numbers
            ]
        except (TypeError, ValueError, OverflowError):
            names = self._all_names[place], fields[place]
            raise refuse_field(self._form, self.name, line, row, *names) from None

    def _refusal(self, error: Exception, line: int, row: int) -> InputError:
        """Return an error that names the line and the row."""
        if isinstance(error, InputError):
            return error
        return InputError(
            f"Line {line} of {self.name} (row {row}, counted from 0) cannot be read: {error}."
        )


def split_arrow(table: Any, n_numbers: int) -> Rows:
    """Return the first columns of an Arrow table as rows of numbers, and the others as objects.

    Missing entries become NaN. The rows are float32 if all columns are, else float64.
    """
    pa = library("pyarrow", "Tables")
    labels = tuple(objects(column.to_pylist()) for column in table.columns[n_numbers:])
    if not len(table):
        return np.empty((0, n_numbers)), labels
    # Nothing is copied where the columns are floats already, in one piece each.
    columns = [_floats(column) for column in table.columns[:n_numbers]]
    names = table.column_names[:n_numbers]
    batch = pa.table(columns, names=names).combine_chunks().to_batches()[0]
    return batch.to_tensor(null_to_nan=True, row_major=True).to_numpy(), labels


def _floats(column: Any) -> Any:
    """Return a column of numbers or booleans as floats."""
    pa = library("pyarrow", "Tables")
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    single = pa.types.is_float16(kind) or kind == pa.float32()
    return column.cast(pa.float32() if single else pa.float64())


def objects(values: Sequence[Any]) -> NDArray:
    """Return values as an array of objects."""
    found = np.empty(len(values), object)
    found[:] = values
    return found
