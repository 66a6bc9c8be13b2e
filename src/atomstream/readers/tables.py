"""Tables: .csv and .csv.gz in chunks of lines, lines that come on standard input, .parquet by row groups."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.exceptions import InputError
from atomstream.readers.source import Block, Source, fingerprint, numbered

__all__ = ["Lines", "Parquet"]

CHUNK = 1 << 22
SAMPLE = 1 << 16  # bytes looked at to find delimiter, header and columns that are no numbers
NOTHING = ["", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "#N/A"]
BLANK = re.compile(rb"\n\r?(?=\n)")
MOST_BLANK = 1 << 10
MOST_LINE = 1 << 27
BOM = b"\xef\xbb\xbf"
MOST_NAMED = 5  # columns that a message lists


class Lines(Source):
    """Comma-separated lines of a file, of a compressed file, or of a stream that is read once.

    Delimiter (comma, semicolon, tab or bar) and header are found by looking at the first lines. A field must not
    contain a line end. Empty fields and ``NA``, ``NaN``, ``null`` are missing entries.

    Parameters
    ----------
    path : path, or None for standard input
    columns : sequence of str
        Names, numbers from 1, or ranges of numbers ("3-7"); none means all.
    """

    def __init__(self, path: Path | None, columns: Sequence[str] = ()) -> None:
        arrow()
        self.name = "standard input" if path is None else str(path)
        self._path, self.live = path, path is None
        # What was read of a stream to find the columns is its beginning.
        self._stream = Stream(_standard_input, self.name) if path is None else None
        with self._open() as stream:
            sample = stream.peek(SAMPLE)
        self._delimiter, rows = _parsed(sample.decode("utf-8", "replace"), self.name)
        self._width = len(rows[0])
        self._header = _has_header(rows)
        all_names = rows[0] if self._header else [str(number + 1) for number in range(self._width)]
        self._kept = chosen(all_names, columns, self.name)
        _check_sample(rows[self._header :], all_names, self._kept, self.name)
        self._all_names = all_names
        self.names = [all_names[i] for i in self._kept] if self._header else None
        self.n_features = len(self._kept)

    @contextmanager
    def _open(self) -> Iterator[Stream]:
        if self._path is None:
            assert self._stream is not None
            yield self._stream
            return
        with (gzip.open if self._path.suffix == ".gz" else open)(self._path, "rb") as file:
            yield Stream(file.read, self.name)

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows; those before ``start`` are passed over without being parsed."""
        row = 0 if self._path else start  # a stream cannot be gone back to: it goes on where it is
        first = row
        with self._open() as stream:
            for chunk in stream.chunks(skip_first=self._header):
                X, n_rows = None, _n_rows(chunk) if row < start else 0
                if row + n_rows > start or row >= start:
                    X = self._convert(chunk, row)
                    n_rows = len(X)
                    yield numbered(X[max(start - row, 0) :], max(row, start))
                row += n_rows
        if row == first and self._path:
            raise InputError(f"{self.name} has a header and no rows.")

    def _convert(self, chunk: bytes, row: int) -> NDArray:
        pa, pc = arrow()
        ids = [str(number) for number in range(self._width)]
        kept = [ids[i] for i in self._kept]
        try:
            table = pc.read_csv(
                io.BytesIO(chunk),
                pc.ReadOptions(column_names=ids, use_threads=False, block_size=len(chunk) + 1),
                pc.ParseOptions(delimiter=self._delimiter),
                pc.ConvertOptions(
                    column_types=dict.fromkeys(kept, pa.float64()), include_columns=kept, null_values=NOTHING
                ),
            )
        except pa.ArrowInvalid as error:
            raise InputError(self._explained(str(error), row)) from None
        return rows_of(table)

    def _explained(self, error: str, row: int) -> str:
        """Return what Arrow complained about, in terms of the file."""
        place, value = re.search(r"Row #(\d+)", error), re.search(r"invalid value '(.*)'", error)
        where = f"row {row + int(place[1])} of {self.name}" if place else f"{self.name} after row {row}"
        column = re.search(r"In CSV column #(\d+)", error)
        if column and value:
            name = self._all_names[int(column[1])]
            return (
                f"Column {name!r} has {value[1]!r:.40} in {where}, needed are numbers; choose others with --columns."
            )
        counts = re.search(r"Expected (\d+) columns, got (\d+)", error)
        if counts:
            return f"Expected {counts[1]} columns in {where}, got {counts[2]}."
        return f"Cannot read {where}: {error:.200}"

    def fingerprint(self) -> str | None:
        """Return the digest of the file."""
        return None if self._path is None else fingerprint([self._path])


class Stream:
    """Whole lines out of a stream of bytes.

    Parameters
    ----------
    read : callable
        Returns up to so many bytes, none at the end.
    name : str
    """

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._read, self._name = read, name
        self._ahead = b""

    def peek(self, size: int) -> bytes:
        """Return the first lines, at least two if there are, without taking them."""
        while len(self._ahead) < size and self._ahead.count(b"\n") < 2:
            data = self._read(size)
            if not data:
                break
            self._ahead += data
        return self._ahead[:size]

    def chunks(self, *, skip_first: bool) -> Iterator[bytes]:
        """Yield bytes that end with a line, each line once."""
        rest, self._ahead = self._ahead.removeprefix(BOM), b""
        ended = False
        while True:
            lines, line_end, rest = rest.rpartition(b"\n")
            lines += line_end
            if skip_first and lines:
                lines = lines.lstrip(b"\r\n")
                skip_first, lines = not lines, lines.partition(b"\n")[2]
            if lines and (len(lines) > MOST_BLANK or lines.strip()):
                yield lines  # before waiting for more: a live stream may pause here
            if ended:
                return
            data = self._read(CHUNK)
            ended = not data
            rest += data or b"\n"  # the last line may lack its end
            if len(rest) > MOST_LINE:
                raise InputError(f"{self._name} has a line of more than {MOST_LINE} bytes; it is no table.")


def _standard_input(size: int) -> bytes:
    """Return what has come, up to so many bytes; waits for the first.

    Reads past Python's own buffer, whose lock would hold up the end of the program.
    """
    data = os.read(0, size)
    while data and len(data) < size and select.select([0], [], [], 0)[0]:
        more = os.read(0, size - len(data))
        if not more:
            break
        data += more
    return data


def _n_rows(chunk: bytes) -> int:
    """Return how many lines of a chunk are not empty: those that Arrow makes rows of."""
    return chunk.count(b"\n") - len(BLANK.findall(b"\n" + chunk))


def _parsed(sample: str, name: str) -> tuple[str, list[list[str]]]:
    """Return the delimiter and the fields of the first lines, the last of which may be cut off and is left out."""
    lines = [line for line in sample.removeprefix("\ufeff").splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{name} has no lines.")
    if len(lines) > 2:
        lines.pop()
    unquoted = re.sub(r'"[^"]*"', "", lines[0])
    delimiter = max(",;\t|", key=unquoted.count)
    if "\0" in sample:
        raise InputError(f"{name} holds zero bytes, needed are lines of text.")
    return delimiter, list(csv.reader(lines, delimiter=delimiter))


def _is_number(field: str) -> bool:
    try:
        float(field.replace("_", "x"))
    except ValueError:
        return field.strip() in NOTHING
    return True


def _has_header(rows: list[list[str]]) -> bool:
    """Say whether the first line names the columns: it holds texts alone, or a text above a number."""
    texts = [not _is_number(field) for field in rows[0]]
    if any(texts) and all(text or field.strip() in NOTHING for text, field in zip(texts, rows[0], strict=True)):
        return True
    return any(text and _is_number(field) for text, field in zip(texts, rows[1] if rows[1:] else [], strict=False))


def chosen(names: list[str], columns: Sequence[str], source: str) -> list[int]:
    """Return the places of the columns that were asked for by name, number or range; all where none was."""
    if not columns:
        return list(range(len(names)))
    places: list[int] = []
    for column in columns:
        span = re.fullmatch(r"(\d+)-(\d+)", column)
        if column in names:
            places.append(names.index(column))
        elif column.isdecimal() and 1 <= int(column) <= len(names):
            places.append(int(column) - 1)
        elif span and 1 <= int(span[1]) <= int(span[2]) <= len(names):
            places.extend(range(int(span[1]) - 1, int(span[2])))
        else:
            raise InputError(f"{source} has no column {column!r}; it has {_listed(names)}.")
    return places


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name)[:40] for name in names[:MOST_NAMED])
    return shown + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")


def refuse_texts(texts: dict[str, str], name: str) -> None:
    """Refuse columns that hold no numbers, by name, each with what it holds."""
    if texts:
        first = next(iter(texts.items()))
        raise InputError(
            f"{name}: {'columns' if len(texts) > 1 else 'column'} {_listed(list(texts))} "
            f"{'are' if len(texts) > 1 else 'is'} not numeric ({first[0]!r:.40} holds {first[1]!r:.40}); "
            "choose others with --columns."
        )


def _check_sample(rows: list[list[str]], names: list[str], kept: list[int], source: str) -> None:
    texts: dict[str, str] = {}
    for row in rows:
        for i in kept:
            if i < len(row) and not _is_number(row[i]):
                texts.setdefault(names[i], row[i])
    refuse_texts(texts, source)


def rows_of(table: Any) -> NDArray:
    """Return an Arrow table as rows of numbers, float32 where all columns are; missing entries become NaN."""
    pa, _ = arrow()
    dtype = np.float32 if all(kind == pa.float32() for kind in table.schema.types) else np.float64
    X, first = np.empty((len(table), table.num_columns), dtype), 0
    for batch in table.to_batches():
        for number, column in enumerate(batch.columns):
            X[first : first + len(batch), number] = column.to_numpy(zero_copy_only=False)
        first += len(batch)
    return X


def arrow() -> tuple[Any, Any]:
    """Return pyarrow and its reader of lines."""
    try:
        import pyarrow as pa
        from pyarrow import csv as pc
    except ImportError:
        raise InputError("Tables need pyarrow to be read: pip install 'atomstream[io]'.") from None
    return pa, pc


class Parquet(Source):
    """A Parquet file, read by row groups.

    Parameters
    ----------
    path : path
    columns : sequence of str
        As for `Lines`.
    """

    def __init__(self, path: Path, columns: Sequence[str] = ()) -> None:
        pa, _ = arrow()
        import pyarrow.parquet as pq

        self.name, self._path = str(path), path
        self._file = pq.ParquetFile(path)
        schema = self._file.schema_arrow
        kept = chosen(schema.names, columns, self.name)
        self.names = [schema.names[i] for i in kept]
        kinds = {schema.names[i]: schema.types[i] for i in kept}
        numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
        refuse_texts(
            {name: str(kind) for name, kind in kinds.items() if not any(is_(kind) for is_ in numeric)}, self.name
        )
        self.n_features, self.n_rows = len(kept), self._file.metadata.num_rows
        if not self.n_rows:
            raise InputError(f"{path} has no rows.")

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows, from the row group on that holds row ``start``."""
        pa, _ = arrow()
        sizes = [self._file.metadata.row_group(i).num_rows for i in range(self._file.metadata.num_row_groups)]
        first = int(np.searchsorted(np.cumsum(sizes), start, side="right"))
        row, groups = int(sum(sizes[:first])), list(range(first, len(sizes)))
        batch_rows = max(1, CHUNK // (8 * self.n_features))
        for batch in self._file.iter_batches(batch_rows, row_groups=groups, columns=self.names, use_threads=False):
            if row + len(batch) > start:
                columns = [_floats(column) for column in batch.select(self.names).columns]
                X = rows_of(pa.table(columns, names=self.names))
                yield numbered(X[max(start - row, 0) :], max(row, start))
            row += len(batch)

    def fingerprint(self) -> str:
        """Return the digest of the file."""
        return fingerprint([self._path])


def _floats(column: Any) -> Any:
    """Return a column of booleans or of half floats as one that becomes numbers."""
    pa, _ = arrow()
    kind = column.type
    if pa.types.is_boolean(kind):
        return column.cast(pa.uint8()).cast(pa.float64())
    return column.cast(pa.float32()) if pa.types.is_float16(kind) else column
