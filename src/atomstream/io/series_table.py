"""Tables of series: columns of numbers, and optionally a column of times."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.exceptions import InputError
from atomstream.io.budget import need
from atomstream.io.heads import NOTHING, chosen, has_header, number_of, parsed, refuse_texts
from atomstream.io.outputs import write_table
from atomstream.io.source import reading
from atomstream.io.tables import SAMPLE, Stream

__all__ = ["SeriesTable", "read_series"]

DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?)?")

FIELDS = 1 << 16  # that are read together
LABEL = 80  # bytes of a time as text
LIKE_DATE = re.compile(r"\d+(/\d+|([.-]\d+){2})")  # also forms that cannot be read


@dataclass(frozen=True)
class SeriesTable:
    """A table of several series over time.

    Attributes
    ----------
    values : ndarray of shape (n_times, n_series)
        NaN where an entry is missing.
    names : list of str
        Names of the series.
    labels : ndarray of int64 or datetime64 of shape (n_times,)
        Times of the rows; without a column of times their numbers from 1.
    time : str
        Name of the column of times.
    path : str
        Where it was read from.
    """

    values: NDArray
    names: list[str]
    labels: NDArray
    time: str
    path: str

    def check_rows(self, needed: int, remedy: str) -> None:
        """Raise InputError for too few rows, or a series without any value."""
        n_rows = len(self.values)
        if n_rows < needed:
            raise InputError(
                f"{self.path} has {counted(n_rows, 'row')}, needed are {needed}: give more, "
                "or choose a smaller "
                f"--window{remedy}."
            )
        self.check_observed(n_rows, ";")

    def check_observed(self, n_rows: int, where: str) -> None:
        """Raise InputError for a series without any value in the first rows."""
        empty = np.flatnonzero(np.isnan(self.values[:n_rows]).all(axis=0))
        if len(empty):
            raise InputError(
                f"Series {self.names[empty[0]]!r} of {self.path} has no value{where} leave it out "
                "with --columns."
            )

    def check_above(self, low: NDArray, needed: str) -> None:
        """Raise InputError for the first of the values that are too low."""
        if low.any():
            row, column = np.argwhere(low)[0]
            value, label = self.values[row, column], self.labels[row]
            raise InputError(
                f"Series {self.names[column]!r} of {self.path} is {value:.4g} at {label}: {needed}."
            )

    def write(self, out: Path, names: list[str], labels: NDArray, values: NDArray) -> None:
        """Write a table like this one, with other columns and rows; NaN makes an empty field."""
        rows = (
            (label, *("" if np.isnan(value) else repr(value) for value in row))
            for label, row in zip(labels.astype(str).tolist(), values.tolist(), strict=True)
        )
        write_table(out, (self.time, *names), rows)


def read_series(
    path: str | Path,
    *,
    time: str | None = None,
    columns: Sequence[str] = (),
    decimal: str = ".",
) -> SeriesTable:
    """Return a table of series from comma-separated lines, plain or compressed (.gz).

    Parameters
    ----------
    path : path
    time : str, optional
        Name or number from 1 of the column of times: dates (2020-04, 2020-04-12, 2020-04-12 18:00)
        or whole numbers. By default the first column, if it holds dates.
    columns : sequence of str, default=()
        Names, numbers or ranges of the series; none means all other columns.
    decimal : {".", ","}, default="."
        Decimal sign of the numbers.

    Raises
    ------
    InputError
        For files that cannot be read, dates of another kind, and columns that are not numeric.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"There is no {path}.")
    packed = path.suffix == ".gz"
    with (
        reading(str(path)),
        gzip.open(path) if packed else path.open("rb", buffering=0) as file,
    ):
        stream = Stream(file.readinto, str(path))
        delimiter, rows = parsed(stream.peek(SAMPLE).decode("utf-8-sig"), str(path), decimal)
        header = has_header(rows, decimal)
        names = rows[0] if header else [str(number + 1) for number in range(len(rows[0]))]
        place = None if time is None else chosen(names, (time,), str(path))[0]
        if place is None and rows[header:] and _like_dates(rows[header][0], bool(columns)):
            place = 0
        kept = [i for i in chosen(names, columns, str(path)) if columns or i != place]
        if place in kept or not kept:
            raise InputError(
                f"{path} has no column of numbers beside the times; choose others with --columns."
            )
        lines = csv.reader(_lines(stream.chunks(skip_first=header), path), delimiter=delimiter)
        labels: list[str] = []
        blocks = [np.empty((0, len(kept)))]
        for rows in _some(lines, len(names), path):
            labels += () if place is None else (row[place].strip() for row in rows)
            block = np.empty((len(rows), len(kept)))
            for row, fields in zip(block, rows, strict=True):
                row[:] = [_number(fields[i], names[i], path, decimal) for i in kept]
            blocks.append(block)
            held = 2 * sum(block.nbytes for block in blocks)  # once apart, once together
            need(held + LABEL * len(labels), str(path))
    values = np.concatenate(blocks)
    if not len(values):
        raise InputError(f"{path} has a header and no rows.")
    times = np.arange(1, len(values) + 1) if place is None else _times(labels, names[place], path)
    name = "row" if place is None else names[place]
    return SeriesTable(values, [names[i] for i in kept], times, name, str(path))


def _like_dates(field: str, columns: bool) -> bool:
    """Return whether the first column holds times: a number in it would not look like a date."""
    field = field.strip()
    return bool(DATE.fullmatch(field) or (not columns and LIKE_DATE.match(field)))


def _lines(chunks: Iterable[memoryview], path: Path) -> Iterator[str]:
    """Yield the lines of text that are not empty."""
    for chunk in chunks:
        for line in bytes(chunk).decode("utf-8").split("\n"):
            if "\0" in line:
                raise InputError(f"{path} holds zero bytes, needed are lines of text.")
            if line.strip():
                yield line


def _some(lines: Iterator[list[str]], width: int, path: Path) -> Iterator[list[list[str]]]:
    """Yield rows of equal width, some at a time."""
    n_rows = 0
    while rows := list(islice(lines, max(1, FIELDS // width))):
        for number, row in enumerate(rows, n_rows):
            if len(row) != width:
                raise InputError(
                    f"Expected {counted(width, 'column')} in row {number} of {path} (counted "
                    f"from 0), got {len(row)}."
                )
        yield rows
        n_rows += len(rows)


def _times(fields: Sequence[str], name: str, path: Path) -> NDArray:
    """Return a column as dates or whole numbers."""
    if all(re.fullmatch(r"-?\d+", field) for field in fields):
        return np.array(fields, dtype=np.int64)
    odd = next((field for field in fields if not DATE.fullmatch(field)), None)
    try:
        if odd is None:
            return np.array(fields, dtype="datetime64")
    except ValueError as error:
        odd = str(error)
    raise InputError(
        f"Column {name!r} of {path} holds {odd!r:.60}, needed are dates such as 2020-04, "
        "2020-04-12 or 2020-04-12 18:00, or whole numbers."
    )


def _number(field: str, name: str, path: Path, decimal: str) -> float:
    """Return the number in a field of a column; NaN where it is missing."""
    try:
        return number_of(field, decimal)
    except ValueError:
        if field.strip() not in NOTHING:
            refuse_texts({name: field}, str(path))
        return np.nan
