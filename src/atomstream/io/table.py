"""One table: named columns, read in blocks, from lines of text and lines of JSON."""

import csv
import json
import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted, library
from atomstream.exceptions import InputError, MissingLibraryError
from atomstream.io import Block, InputOptions, Source, lines, need, numbered, reading
from atomstream.io.lines import NOTHING, chosen, dropped, head_of, refuse_texts, texts_in

Rows = tuple[NDArray, tuple[NDArray, ...]]  # numbers, and the columns that name rows

SAMPLE_BYTES = 1 << 16  # that are read to detect delimiter, header and text columns
BLANK_LINE = re.compile(rb"\n[ \r]*(?=\n)")
BYTES_PER_COLUMN = 6000  # that Arrow takes while it reads a table


class Table(Source):
    """Named columns in a file: numbers, and perhaps columns that name the rows.

    Rows come in blocks. Empty fields and texts such as ``NA`` and ``null`` are missing entries.

    Attributes
    ----------
    columns : list of str
        Names of the columns of numbers; where the file has no names, their numbers from 1.
    """

    has_columns = True

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
        found = options.naming.places(all_names, self.name, rows, bool(options.columns))
        aside = list(dict.fromkeys([*own, *found]))
        self._all_names = all_names
        left_out = {*aside, *dropped(all_names, options.drop, self.name)}
        places = chosen(all_names, options.columns, self.name, texts)
        self._numbers = [place for place in places if place not in left_out]
        if not self._numbers:
            raise InputError(
                f"{self.name} has no column of numbers beside those that name rows or are left "
                "out; choose others with --columns."
            )
        refuse_texts({all_names[i]: texts[i] for i in self._numbers if i in texts}, self.name)
        self._sentinels = options.numbers.sentinels()
        self._labels = aside if options.naming.kept else []
        self.names = self.columns = [all_names[i] for i in self._numbers]
        self.row_names = [all_names[i] for i in self._labels]
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

    _header = False

    def __init__(self, path: Path | None, options: InputOptions) -> None:
        self.name = "standard input" if path is None else str(path)
        self.files = [] if path is None else [path]
        self.live, self.waiting = path is None, False
        self._path, self._form, self._skip = path, options.numbers, options.skip
        stream = lines.chunks_of(self._available, self.name)
        self._stream: Iterator[bytes | memoryview] = stream  # of a live table

    def _available(self, size: int) -> bytes:
        self.waiting = True
        came = lines.standard_input(size)
        self.waiting = False
        return came

    @contextmanager
    def _chunks(self) -> Iterator[Iterator[bytes | memoryview]]:
        if self._path is None:
            yield self._stream
            return
        with lines.opened(self._path) as file:
            yield lines.chunks_of(file.read, self.name)

    def _first_lines(self) -> bytes:
        """Return the first lines: about 64 kB of them, and at least two if there are two."""
        with self._chunks() as chunks:
            sample = b""
            while sample.count(b"\n") < 2 and (chunk := next(chunks, b"")):
                sample += bytes(chunk)
            if self.live:  # which yields them as its beginning
                self._stream = chain([sample], chunks)
        second = sample.find(b"\n", sample.find(b"\n") + 1)
        return sample[: sample.rfind(b"\n", 0, max(SAMPLE_BYTES, second + 1)) + 1]

    def about_rows(self) -> int | None:
        """Return about the number of rows: the length of the file over that of its lines."""
        if self._path is None:
            return None
        with reading(self.name):
            return max(1, lines.about(self._path) - self._header)

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows; rows before ``start`` are skipped without parsing."""
        row = first = start if self.live else 0  # a live stream continues where it is
        header = self._header
        with self._chunks() as chunks:
            for chunk in chunks:
                if header:  # the first line that is not blank
                    head, _, chunk = bytes(chunk).lstrip(lines.BLANKS).partition(b"\n")
                    header = not head
                # Counting lines is far cheaper than parsing them.
                n_rows = _n_rows(chunk) if row < start else 0
                if row + n_rows <= start and row < start:
                    row += n_rows
                    continue
                for X, labels in self._rows(chunk, row):
                    new, n_read = slice(max(start - row, 0), None), len(X)
                    if row + n_read > start:
                        X = self._with_missing(X[new])
                        yield numbered(X, max(row, start), tuple(part[new] for part in labels))
                    row += n_read
        if row == first and self._path:
            raise InputError(f"{self.name} has a header and no rows.")

    def _rows(self, chunk: bytes | memoryview, row: int) -> Iterator[Rows]:
        """Yield the rows of whole lines: all at once, or one by one where a line may be bad."""
        if bytes(chunk[:80]).isspace() and not bytes(chunk).strip(lines.BLANKS):
            return  # tabs alone would be empty fields
        # All lines at once where they are good; only a chunk with a bad one is read line by line.
        if (found := self._converted(chunk)) is not None:
            yield found
            return
        numbers: list[list[float]] = []
        labels, failure = [], None
        for line in bytes(chunk).split(b"\n"):
            if not line.strip(lines.BLANKS):
                continue
            fields: list[Any] = []
            try:
                fields = self._fields(line)
                numbers.append(self._entries(fields, row + len(numbers)))
            except (ValueError, RecursionError, csv.Error) as error:
                failure = self._refusal(error, row + len(numbers))
                if not self._skip:
                    break
                # A bad line that is passed over keeps its number: it stands for a row of nothing.
                numbers.append([np.nan] * self.n_features)
            labels.append([fields[i] if i < len(fields) else "" for i in self._labels])
        # Good lines before a bad one are learned where they cannot be read again.
        if numbers and (self._skip or self.live or failure is None):
            columns = zip(*labels, strict=True) if self._labels else ()
            yield np.array(numbers), tuple(_objects(column) for column in columns)
        if failure is not None and not self._skip:
            raise failure

    def _converted(self, chunk: bytes | memoryview) -> Rows | None:
        """Return the rows of whole lines if they can be read together, else None."""
        return None

    @abstractmethod
    def _fields(self, line: bytes) -> list[Any]:
        """Return the fields of a line."""

    def _entries(self, fields: list[Any], row: int) -> list[float]:
        """Return the numbers in the fields of a row."""
        if len(fields) != len(self._all_names):
            raise InputError(
                f"Expected {counted(len(self._all_names), 'column')} in row {row} of {self.name} "
                f"(counted from 0), got {len(fields)}."
            )
        entry = self._form.entry
        try:
            return [
                value if type(value := fields[place := i]) is float else entry(value)
                for i in self._numbers
            ]
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"Column {self._all_names[place]!r} has {fields[place]!r:.40} in row {row} of "
                f"{self.name} (counted from 0), needed are numbers; choose others with --columns."
            ) from None

    def _refusal(self, error: Exception, row: int) -> InputError:
        """Return an error that names the row."""
        if isinstance(error, InputError):
            return error
        return InputError(f"Row {row} of {self.name} (counted from 0) cannot be read: {error}.")


class DelimitedTable(TextTable):
    """Lines of fields, with commas, semicolons, tabs or bars between them.

    The first lines tell the delimiter and whether there is a header. A field must not contain a
    line end. pyarrow reads them fast; without it, and from a bad line on, they are read one by one.

    Parameters
    ----------
    path : path, or None for standard input
    options : InputOptions
        A first column without a name, as pandas and R write it, names rows unless it is chosen.
    """

    def __init__(self, path: Path | None, options: InputOptions) -> None:
        super().__init__(path, options)
        sample = self._first_lines().decode("utf-8", "replace")
        head = head_of(sample, self.name, options.numbers)
        width = len(head.names)
        need(BYTES_PER_COLUMN * width, f"{self.name}, with {counted(width, 'column')},")
        # A first column without a name is the index that pandas writes.
        own = [0] if head.names[0] == "" and "" not in options.columns else []
        texts = texts_in(head.rows, width, options.skip or self.live, options.numbers)
        self._choose(head.names, options, texts, own, head.rows)
        self._delimiter, self._header = head.delimiter, head.header
        if not self._header:
            self.names = None
        self._options = self._arrow_options()

    def _arrow_options(self) -> Any:
        """Return the options of Arrow, only the chosen columns; None without Arrow."""
        try:
            pa, pc = library("pyarrow", "Tables"), library("pyarrow.csv", "Tables")
        except MissingLibraryError:
            return None
        ids = [str(number) for number in range(len(self._all_names))]
        kinds = {ids[i]: pa.float64() for i in self._numbers}
        kinds |= {ids[i]: pa.string() for i in self._labels}
        return (
            # One thread, because the other cores are for learning.
            pc.ReadOptions(column_names=ids, use_threads=False, block_size=lines.MAX_LINE_BYTES),
            pc.ParseOptions(delimiter=self._delimiter),
            pc.ConvertOptions(
                column_types=kinds,
                include_columns=[ids[i] for i in (*self._numbers, *self._labels)],
                null_values=[*NOTHING, *self._form.missing],
                decimal_point=self._form.decimal,
            ),
        )

    def _converted(self, chunk: bytes | memoryview) -> Rows | None:
        """Return the rows of whole lines as Arrow reads them; None where it cannot."""
        if self._options is None:
            return None
        pa, pc = library("pyarrow", "Tables"), library("pyarrow.csv", "Tables")
        try:
            return split_arrow(pc.read_csv(pa.BufferReader(chunk), *self._options), self.n_features)
        except pa.ArrowInvalid:
            return None

    def _fields(self, line: bytes) -> list[str]:
        return next(csv.reader([line.decode()], delimiter=self._delimiter, strict=True))


class JsonTable(TextTable):
    """Lines of JSON: a row each, as a list of numbers or as an object of named numbers.

    Parameters
    ----------
    path : path
    options : InputOptions
        Without columns, the names are those of the first line.
    """

    def __init__(self, path: Path, options: InputOptions) -> None:
        super().__init__(path, options)
        try:
            first = json.loads(next(filter(bytes.strip, self._first_lines().split(b"\n")), b"null"))
        except (ValueError, RecursionError):
            first = None
        if not isinstance(first, dict | list) or not first:
            raise InputError(f"{path} has no rows: needed are lists or objects of numbers.")
        self._kind: Any = type(first)
        named = [*first] if self._kind is dict else [str(n + 1) for n in range(len(first))]
        values = first.values() if isinstance(first, dict) else first
        texts = {i: value for i, value in enumerate(values) if isinstance(value, str)}
        missing = options.numbers.is_missing
        self._choose(named, options, {i: text for i, text in texts.items() if not missing(text)})
        if self._kind is list:
            self.names = None

    def _fields(self, line: bytes) -> list[Any]:
        value = json.loads(line)
        if not isinstance(value, self._kind):
            raise ValueError(f"it is not a {self._kind.__name__}, as the first one is")
        return value if isinstance(value, list) else [*map(value.get, self._all_names)]


def _n_rows(chunk: bytes | memoryview) -> int:
    """Return the number of lines that are not blank: these become rows."""
    return bytes(chunk).count(b"\n") - len(BLANK_LINE.findall(b"\n" + bytes(chunk)))


def split_arrow(table: Any, n_numbers: int) -> Rows:
    """Return the first columns of an Arrow table as rows of numbers, and the others as objects.

    Missing entries become NaN. The rows are float32 if all columns are, else float64.
    """
    pa = library("pyarrow", "Tables")
    labels = tuple(_objects(column.to_pylist()) for column in table.columns[n_numbers:])
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


def _objects(values: Sequence[Any]) -> NDArray:
    """Return values as an array of objects."""
    found = np.empty(len(values), object)
    found[:] = values
    return found
