"""Tables of series: columns of numbers, and optionally a column of times."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.exceptions import InputError
from atomstream.io.budget import need
from atomstream.io.heads import NOTHING, chosen, has_header, number_of, parsed, refuse_texts
from atomstream.io.outputs import write_table

__all__ = ["SeriesTable", "read_series"]

DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?)?")

CHUNK, FIELDS = 1 << 20, 40  # bytes read at a time; memory for a byte of text, as fields at the end
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
    try:
        text = _whole(path).decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"There is no {path}.") from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error}).") from None
    _, rows = parsed(text, str(path), decimal)
    width, header = len(rows[0]), has_header(rows, decimal)
    names = rows[0] if header else [str(number + 1) for number in range(width)]
    rows = rows[header:]
    uneven = next((number for number, row in enumerate(rows) if len(row) != width), None)
    if uneven is not None or not rows:
        raise InputError(
            f"{path} has a header and no rows."
            if uneven is None
            else f"Expected {counted(width, 'column')} in row {uneven} of {path} (counted "
            "from 0), got "
            f"{len(rows[uneven])}."
        )
    fields = dict(enumerate(zip(*rows, strict=True)))
    place = None if time is None else chosen(names, (time,), str(path))[0]
    if place is None and all(DATE.fullmatch(field.strip()) for field in fields[0]):
        place = 0
    if place is None and not columns and LIKE_DATE.match(fields[0][0].strip()):
        _times(fields[0], names[0], path)
    kept = [i for i in chosen(names, columns, str(path)) if columns or i != place]
    if place in kept or not kept:
        raise InputError(
            f"{path} has no column of numbers beside the times; choose others with --columns."
        )
    labels = (
        np.arange(1, len(rows) + 1) if place is None else _times(fields[place], names[place], path)
    )
    values = np.column_stack([_numbers(fields[i], names[i], path, decimal) for i in kept])
    time = "row" if place is None else names[place]
    return SeriesTable(values, [names[i] for i in kept], labels, time, str(path))


def _times(fields: Sequence[str], name: str, path: Path) -> NDArray:
    """Return a column as dates or whole numbers."""
    stripped = [field.strip() for field in fields]
    if all(re.fullmatch(r"-?\d+", field) for field in stripped):
        return np.array(stripped, dtype=np.int64)
    odd = next((field for field in stripped if not DATE.fullmatch(field)), None)
    try:
        if odd is None:
            return np.array(stripped, dtype="datetime64")
    except ValueError as error:
        odd = str(error)
    raise InputError(
        f"Column {name!r} of {path} holds {odd!r:.60}, needed are dates such as 2020-04, "
        "2020-04-12 or 2020-04-12 18:00, or whole numbers."
    )


def _numbers(fields: Sequence[str], name: str, path: Path, decimal: str) -> NDArray:
    """Return a column as numbers."""
    values = np.empty(len(fields))
    for place, field in enumerate(fields):
        try:
            values[place] = np.nan if field.strip() in NOTHING else number_of(field, decimal)
        except ValueError:
            refuse_texts({name: field}, str(path))
    return values


def _whole(path: Path) -> bytes:
    """Return the bytes of a file, unpacked; refuse it as soon as they need too much memory."""
    parts: list[bytes] = []
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        while part := file.read(CHUNK):
            parts.append(part)
            need(FIELDS * CHUNK * len(parts) if len(parts) > 1 else 0, str(path))
    return b"".join(parts)
