"""Tables of series: columns of numbers, and optionally a column of times."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted
from atomstream.exceptions import InputError
from atomstream.io import DelimitedTable, InputOptions, existing, need, reading, write_table
from atomstream.io.columns import Naming, chosen

DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?)?")

SENTINEL = re.compile(r"-1|-9+(\.9+)?")  # as tables often write what is missing
BYTES_PER_TIME = 80  # as text
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
    known : ndarray of shape (at least n_times, n_known), or None
        Columns that are known ahead.
    """

    values: NDArray
    names: list[str]
    labels: NDArray
    time: str
    path: str
    known: NDArray | None = None

    def check_rows(self, needed: int, remedy: str) -> None:
        """Raise InputError for too few rows, or a series without any value."""
        n_rows = len(self.values)
        if n_rows < needed:
            raise InputError(
                f"{self.path} has {counted(n_rows, 'row')}, needed are {needed}: give more, or "
                f"choose a smaller --window{remedy}."
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

    def check_above(self, low: NDArray, needed: str, remedy: str) -> None:
        """Raise InputError for the first of the values that are too low."""
        if low.any():
            row, column = np.argwhere(low)[0]
            value, label = self.values[row, column], self.labels[row]
            said = f"Series {self.names[column]!r} of {self.path} is {value:.4g} at {label}"
            if SENTINEL.fullmatch(f"{value:g}"):
                remedy = f"if {value:g} stands for missing entries, give --na {value:g}"
            raise InputError(f"{said}: {needed}; {remedy}.")

    def check_known(self, horizon: int) -> None:
        """Raise InputError where columns known ahead lack a value, also in rows to be forecast."""
        if self.known is None:
            return
        needed = len(self.values) + horizon
        whole = len(self.known) >= needed and not np.isnan(self.known[:needed]).any()
        if not whole:
            raise InputError(
                f"Columns known ahead need a value in each of {needed} rows, the {horizon} to be "
                f"forecast included; {self.path} has {len(self.known)} rows."
            )

    def known_of(self, row: int, n_rows: int | None = None) -> NDArray | None:
        """Return the columns known ahead from a row on, or of so many rows."""
        if self.known is None:
            return None
        return self.known[row:] if n_rows is None else self.known[row : row + n_rows]

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
    drop: Sequence[str] = (),
    decimal: str = ".",
    missing: Sequence[str] = (),
    known: Sequence[str] = (),
) -> SeriesTable:
    """Return a table of series from comma-separated lines, plain or compressed (.gz).

    Parameters
    ----------
    path : path
    time : str, optional
        Name or number from 1 of the column of times: dates (2020-04, 2020-04-12, 2020-04-12 18:00,
        or 6/22/2001 0:00 where only one order of day and month makes them rise) or whole numbers.
        By default the first column, if it holds dates.
    columns : sequence of str, default=()
        Names, numbers or ranges of the series, or "numeric"; none means all other columns.
    drop : sequence of str, default=()
        Columns that are left out.
    decimal : {".", ","}, default="."
        Decimal sign of the numbers.
    missing : sequence of str, default=()
        What stands for a missing entry besides empty fields, such as "-99".
    known : sequence of str, default=()
        Columns known ahead. The series then end with the last row in which one of them
        has a value; these columns go on.

    Raises
    ------
    InputError
        For files that cannot be read, dates of another kind, and columns that are not numeric.
    """
    if known:
        read = partial(read_series, path, time=time, decimal=decimal, missing=missing)
        ahead = read(columns=known)
        return _beside(read(columns=columns, drop=(*drop, *ahead.names)), ahead)
    path = existing(path)
    with reading(str(path)):
        naming = _TimeColumn(kept=True, time=time)
        options = InputOptions(columns, decimal=decimal, naming=naming, drop=drop, missing=missing)
        table = DelimitedTable(path, options)
    blocks: list[NDArray] = []
    times: list[str] = []
    for block in table.blocks(0, 0):
        blocks.append(block.X)
        times += [field.strip() for part in block.labels[-1:] for field in part]
        # Checked with every block, for packed lines may stand for any number.
        held = 2 * sum(block.nbytes for block in blocks)  # once apart, once together
        need(held + BYTES_PER_TIME * len(times), str(path))
    values, name = np.concatenate(blocks), table.row_names[-1] if table.row_names else "row"
    labels = _times(times, name, path) if times else np.arange(1, len(values) + 1)
    return SeriesTable(values, table.columns, labels, name, str(path))


def _beside(table: SeriesTable, ahead: SeriesTable) -> SeriesTable:
    """Return the rows up to the last with a value, with the columns known ahead beside them."""
    filled = np.flatnonzero(~np.isnan(table.values).all(axis=1))
    end = int(filled[-1]) + 1 if len(filled) else 0
    values, labels = table.values[:end], table.labels[:end]
    return replace(table, values=values, labels=labels, known=ahead.values)


@dataclass(frozen=True)
class _TimeColumn(Naming):
    """The column of times: the one with this name, or the first one, if it holds dates."""

    time: str | None = None

    def places(
        self, names: list[str], source: str, rows: Sequence[Sequence[str]] = (), some: bool = False
    ) -> list[int]:
        """Return its place, if there is one; a number in it would not look like a date."""
        if self.time is not None:
            return chosen(names, (self.time,), source)
        first = rows[0][0].strip() if rows else ""
        return [0] if DATE.fullmatch(first) or (not some and LIKE_DATE.match(first)) else []


def _from_slashes(fields: Sequence[str], name: str, path: Path) -> list[str] | None:
    """Return dates such as 6/22/2001 0:00 as 2001-06-22 00:00:00; None where they are others.

    Raises
    ------
    InputError
        Where day and month could be either way round.
    """
    read: list[list[str]] = []
    for order in ("%m/%d/%Y", "%d/%m/%Y"):
        for clock in ("", " %H:%M", " %H:%M:%S"):
            with suppress(ValueError):  # another form, or no such day or month
                dates = [datetime.strptime(field, order + clock) for field in fields]
                if all(earlier < later for earlier, later in pairwise(dates)):
                    read.append([date.isoformat(" ", "seconds") for date in dates])
    if len(read) > 1 and read[0] != read[1]:
        raise InputError(
            f"Column {name!r} of {path} holds {fields[0]!r}, and which number is the month is not "
            "clear; write dates such as 2020-04-12."
        )
    return read[0] if read else None


def _times(fields: Sequence[str], name: str, path: Path) -> NDArray:
    """Return a column as dates or whole numbers."""
    if all(re.fullmatch(r"-?\d+(\.0*)?", field) for field in fields):  # years come as 1700.0, too
        return np.array([field.partition(".")[0] for field in fields], dtype=np.int64)
    fields = _from_slashes(fields, name, path) or fields
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
