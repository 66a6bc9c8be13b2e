"""Tables as comma-separated lines, of files and of standard input."""

from __future__ import annotations

import csv
import gzip
import os
import re
import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.core.extras import library
from atomstream.exceptions import InputError
from atomstream.io.budget import need
from atomstream.io.heads import (
    NOTHING,
    UNNAMED,
    Naming,
    chosen,
    has_header,
    parsed,
    refuse_none,
    refuse_texts,
    texts_in,
)
from atomstream.io.source import Block, Source, numbered

__all__ = ["Lines"]

Named = tuple[NDArray, tuple[NDArray, ...]]  # rows, and what they are called

CHUNK = 1 << 22
SAMPLE = 1 << 16  # bytes that are read to detect delimiter, header and text columns
BLANK = re.compile(rb"\n\r?(?=\n)")
MOST_BLANK = 1 << 10
MOST_LINE = 1 << 27
BOM = b"\xef\xbb\xbf"
COLUMN_BYTES = 6000  # that Arrow takes for each column of a table while it is read


class Lines(Source):
    """Comma-separated lines of a file, of a compressed file, or of standard input.

    The first lines tell the delimiter (comma, semicolon, tab or bar) and whether there is a header.
    A field must not contain a line end. Empty fields and ``NA``, ``NaN``, ``null`` are missing
    entries.

    Parameters
    ----------
    path : path, or None for standard input
    columns : sequence of str, default=()
        Names, numbers from 1, or ranges of numbers ("3-7"); none means all.
    decimal : {".", ","}, default="."
        Decimal sign of the numbers.
    skip : bool, default=False
        Whether a line that cannot be read becomes a row of missing entries instead of an error, so
        that rows keep their numbers.
    naming : Naming, default=UNNAMED
        Columns that name rows; a first column without a name, as pandas and R write it, is one.
    """

    has_columns = True

    def __init__(
        self,
        path: Path | None,
        columns: Sequence[str] = (),
        decimal: str = ".",
        *,
        skip: bool = False,
        naming: Naming = UNNAMED,
    ) -> None:
        arrow()
        self.name = "standard input" if path is None else str(path)
        self._path, self.live = path, path is None
        self.files = [] if path is None else [path]
        # The sample of a live stream stays in its buffer and is yielded as its beginning.
        self._stream = Stream(_standard_input, self.name) if path is None else None
        with self._open() as stream:
            sample = stream.peek(SAMPLE)
        self._delimiter, rows = parsed(sample.decode("utf-8", "replace"), self.name, decimal)
        self._width = len(rows[0])
        need(COLUMN_BYTES * self._width, f"{self.name}, with {counted(self._width, 'column')},")
        self._header = has_header(rows, decimal)
        all_names = rows[0] if self._header else [str(number + 1) for number in range(self._width)]
        unnamed = [""] * (all_names[0] == "" and "" not in columns)
        aside = naming.places(all_names, self.name, unnamed)
        self._kept = [i for i in chosen(all_names, columns, self.name) if i not in aside]
        refuse_none(self._kept, self.name)
        self._aside = aside if naming.kept else []
        self.row_names = [all_names[i] for i in self._aside]
        # Good lines before a bad one are learned where they cannot be read again.
        self._skip, self._piecewise = skip, skip or self.live
        texts = texts_in(rows[self._header :], all_names, self._kept, self._piecewise, decimal)
        refuse_texts(texts, self.name)
        self._all_names = all_names
        self.names = [all_names[i] for i in self._kept] if self._header else None
        self.n_features = len(self._kept)
        self._options = _options(self._width, self._kept, self._aside, self._delimiter, decimal)

    @property
    def waiting(self) -> bool:  # type: ignore[override]
        """Whether a live stream waits for its writer at this moment."""
        return self._stream is not None and self._stream.waiting

    @contextmanager
    def _open(self) -> Iterator[Stream]:
        if self._path is None:
            assert self._stream is not None
            yield self._stream
            return
        compressed = self._path.suffix == ".gz"
        with gzip.open(self._path) if compressed else self._path.open("rb", buffering=0) as file:
            yield Stream(file.readinto, self.name)

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows; rows before ``start`` are skipped without parsing."""
        row = 0 if self._path else start  # a live stream continues where it is
        first = row
        with self._open() as stream:
            for chunk in stream.chunks(skip_first=self._header):
                n_rows = _n_rows(chunk) if row < start else 0
                if row + n_rows <= start and row < start:
                    row += n_rows
                    continue
                for X, labels in self._rows(chunk, row):
                    if row + len(X) > start:
                        new = slice(max(start - row, 0), None)
                        yield numbered(X[new], max(row, start), tuple(part[new] for part in labels))
                    row += len(X)
        if row == first and self._path:
            raise InputError(f"{self.name} has a header and no rows.")

    def _rows(self, chunk: bytes | memoryview, row: int) -> Iterator[Named]:
        """Yield the rows of whole lines, halving them until a bad line stands alone."""
        try:
            found = self._convert(chunk, row)
        except InputError:
            text = bytes(chunk)
            middle = text.find(b"\n", len(text) // 2) + 1
            if middle in (0, len(text)):
                middle = text.rfind(b"\n", 0, -1) + 1
            if not self._piecewise or (not middle and not self._skip):
                raise
            if middle:
                yield from self._rows(text[:middle], row)
                yield from self._rows(text[middle:], row + _n_rows(text[:middle]))
            elif text.strip():
                line = text.decode("utf-8", "replace")
                fields = next(csv.reader([line], delimiter=self._delimiter))
                names = (fields[i] if i < len(fields) else "" for i in self._aside)
                labels = tuple(np.array([name], object) for name in names)
                yield np.full((1, self.n_features), np.nan), labels
            return
        yield found

    def _convert(self, chunk: bytes | memoryview, row: int) -> Named:
        pa, pc = arrow()
        try:
            table = pc.read_csv(pa.BufferReader(chunk), *self._options)
            return rows_of(table.select(range(self.n_features))), labels_of(table, self.n_features)
        except pa.ArrowInvalid as error:
            raise InputError(self._explained(str(error), row)) from None

    def _explained(self, error: str, row: int) -> str:
        """Return an error message of Arrow in terms of the file."""
        place, value = re.search(r"Row #(\d+)", error), re.search(r"invalid value '(.*)'", error)
        where = (
            f"row {row + int(place[1]) - 1} of {self.name} (counted from 0)"  # Arrow counts from 1
            if place
            else f"{self.name} after {counted(row, 'row')}"
        )
        column = re.search(r"In CSV column #(\d+)", error)
        if column and value:
            name = self._all_names[int(column[1])]
            return (
                f"Column {name!r} has {value[1]!r:.40} in {where}, needed are numbers; choose "
                "others with --columns."
            )
        counts = re.search(r"Expected (\d+) columns, got (\d+)", error)
        if counts:
            return f"Expected {counted(int(counts[1]), 'column')} in {where}, got {counts[2]}."
        return f"Cannot read {where}: {error:.200}"


class Stream:
    """Chunks of whole lines from a stream of bytes, in one buffer that is reused.

    Parameters
    ----------
    fill : callable
        Writes into a buffer and returns the number of bytes, 0 at the end.
    name : str
    """

    def __init__(self, fill: Callable[[memoryview], int], name: str) -> None:
        self._fill, self._name = fill, name
        self._buffer, self._filled = bytearray(CHUNK), 0
        self.waiting = False

    def peek(self, size: int) -> bytes:
        """Return the first lines without removing them.

        They are about ``size`` bytes, and at least two lines if there are two.
        """
        while self._buffer.count(b"\n", 0, self._filled) < 2 and self._more():
            continue
        first = self._buffer.find(b"\n", 0, self._filled) + 1
        second = self._buffer.find(b"\n", first, self._filled) + 1
        end = self._buffer.rfind(b"\n", 0, min(max(size, second), self._filled)) + 1
        return bytes(self._buffer[: end if second else self._filled])

    def chunks(self, *, skip_first: bool) -> Iterator[memoryview]:
        """Yield chunks of whole lines; each is valid until the next one is requested."""
        if self.peek(len(BOM)).startswith(BOM):
            self._drop(len(BOM))
        while self._filled or self._more():
            end = self._buffer.rfind(b"\n", 0, self._filled) + 1
            if not end:
                if self._more():
                    continue
                self._make_room()
                self._buffer[self._filled : self._filled + 1] = b"\n"  # which the last line lacks
                end = self._filled = self._filled + 1
            self._check_line_ends(end)
            start = 0
            while skip_first and start < end:
                line_end = self._buffer.index(b"\n", start) + 1
                skip_first, start = not self._buffer[start:line_end].strip(), line_end
            if end - start > MOST_BLANK or self._buffer[start:end].strip():
                yield memoryview(self._buffer)[start:end]
            self._drop(end)

    def _check_line_ends(self, end: int) -> None:
        """Check that lines end with a line feed: others would not be counted."""
        if self._buffer.find(b"\r", 0, end) < 0:
            return
        if self._buffer.count(b"\r", 0, end) != self._buffer.count(b"\r\n", 0, end):
            raise InputError(
                f"{self._name} has carriage returns inside lines; save it with one kind of line "
                "end."
            )

    def _more(self) -> bool:
        """Fill the rest of the buffer; return whether any bytes came."""
        self._make_room()
        self.waiting = True
        came = self._fill(memoryview(self._buffer)[self._filled :])
        self.waiting = False
        self._filled += came
        return came > 0

    def _make_room(self) -> None:
        """Enlarge the buffer for a line that does not fit."""
        if self._filled >= MOST_LINE:
            raise InputError(
                f"{self._name} has a line of more than {MOST_LINE} bytes; it is not a table."
            )
        if self._filled == len(self._buffer):
            self._buffer = self._buffer + bytes(len(self._buffer))

    def _drop(self, size: int) -> None:
        """Remove the first bytes."""
        left = self._filled - size
        self._buffer[:left] = self._buffer[size : self._filled]
        self._filled = left


def _standard_input(room: memoryview) -> int:
    """Read the available bytes, and wait for the first one.

    Python's own buffer is not used, because its lock would delay the end of the program.
    """
    data = os.read(0, len(room))
    while data and len(data) < len(room) and select.select([0], [], [], 0)[0]:
        more = os.read(0, len(room) - len(data))
        if not more:
            break
        data += more
    room[: len(data)] = data
    return len(data)


def _options(
    width: int, kept: list[int], aside: list[int], delimiter: str, decimal: str
) -> tuple[Any, Any, Any]:
    """Return the options of Arrow: only the kept columns, as numbers, then names of rows."""
    pa, pc = arrow()
    ids = [str(number) for number in range(width)]
    kinds = {ids[i]: pa.float64() for i in kept} | {ids[i]: pa.string() for i in aside}
    return (
        # One thread, because the other cores are for learning, and because only then does Arrow
        # name the row of an error.
        pc.ReadOptions(column_names=ids, use_threads=False, block_size=MOST_LINE),
        pc.ParseOptions(delimiter=delimiter),
        pc.ConvertOptions(
            column_types=kinds,
            include_columns=[ids[i] for i in [*kept, *aside]],
            null_values=NOTHING,
            decimal_point=decimal,
        ),
    )


def _n_rows(chunk: bytes | memoryview) -> int:
    """Return the number of lines that are not empty: these become rows."""
    return bytes(chunk).count(b"\n") - len(BLANK.findall(b"\n" + bytes(chunk)))


def rows_of(table: Any) -> NDArray:
    """Return an Arrow table as rows of numbers; missing entries become NaN.

    The rows are float32 if all columns are, else float64.
    """
    pa, _ = arrow()
    if not len(table):
        return np.empty((0, table.num_columns))
    if set(table.schema.types) not in ({pa.float32()}, {pa.float64()}):
        table = pa.table([_floats(column) for column in table.columns], names=table.column_names)
    batches = table.to_batches()
    batch = batches[0] if len(batches) == 1 else table.combine_chunks().to_batches()[0]
    return batch.to_tensor(null_to_nan=True, row_major=True).to_numpy()


def labels_of(table: Any, first: int) -> tuple[NDArray, ...]:
    """Return the columns of an Arrow table from number ``first`` on, as objects."""
    found = []
    for column in table.columns[first:]:
        values = np.empty(len(column), object)
        values[:] = column.to_pylist()
        found.append(values)
    return tuple(found)


def _floats(column: Any) -> Any:
    """Return a column of numbers or booleans as floats."""
    pa, _ = arrow()
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    single = pa.types.is_float16(kind) or kind == pa.float32()
    return column.cast(pa.float32() if single else pa.float64())


def arrow() -> tuple[Any, Any]:
    """Return pyarrow and its CSV module."""
    return library("pyarrow", "Tables"), library("pyarrow.csv", "Tables")
