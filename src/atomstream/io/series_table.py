"""Tables of series, from files and from frames: columns of numbers, and a column of times."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import DUPLICATES, check_keywords, counted
from atomstream.exceptions import InputError
from atomstream.io import InputOptions, existing, log_guesses, need, open_inputs, write_table
from atomstream.io.column_names import ROWS_JUDGED, chosen
from atomstream.io.dates import (
    EXAMPLES,
    DateError,
    Dates,
    dates_of_texts,
    labels_of_index,
    look_like_dates,
)
from atomstream.io.frame_columns import FrameColumns, columns_of_frame
from atomstream.io.input_options import AUTO, ORDERS, REFUSE, Find, Naming, check_choice
from atomstream.io.time_index import regular_grid

SENTINEL = re.compile(r"-1|-9+(\.9+)?")  # as tables often write what is missing
BYTES_PER_TIME = 80  # as text
LIKE_DATE = re.compile(r"\d+(/\d+|([.-]\d+){2})")  # also forms that cannot be read
ALL_OPTIONS = [each.name for each in fields(InputOptions)]
TIME_NAMES = {"date", "time", "datetime", "timestamp", "day", "month", "quarter", "week", "period"}


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
    zone : {"", "UTC", "local"}
        Of dates with zones, whether they are those of Greenwich, or local times.
    guesses : mapping of str to (value, str)
        What was guessed of options, and why.
    """

    values: NDArray
    names: list[str]
    labels: NDArray
    time: str
    path: str
    known: NDArray | None = None
    zone: str = ""
    guesses: Mapping[str, tuple[Any, str]] = field(default_factory=dict)

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
        zone = "Z" if self.zone == "UTC" and labels.dtype.kind == "M" else ""
        rows = (
            (label + zone, *("" if np.isnan(value) else repr(value) for value in row))
            for label, row in zip(labels.astype(str).tolist(), values.tolist(), strict=True)
        )
        write_table(out, (self.time, *names), rows)


def read_series(
    source: Any,
    *,
    time: str | None = None,
    dates: str = AUTO,
    known: Sequence[str] = (),
    regular: bool = False,
    duplicates: str = REFUSE,
    **options: Any,
) -> SeriesTable:
    """Return a table of series of a file or a frame.

    Parameters
    ----------
    source : path or frame
        A table of text (.csv, .tsv, also .gz), lines of JSON, a Parquet or an Arrow file; or a
        frame of pandas or polars.
    time : str, optional
        Name or number from 1 of the column of times: dates in a form of `dates_of_texts`, or whole
        numbers. By default the index of a frame that has one; the first column, if it holds dates;
        or the column of dates that is called date, time, day, month or alike.
    dates : {"auto", "day-first", "month-first"}, default="auto"
        What comes first in dates such as 4/12/2020.
    known : sequence of str, default=()
        Columns known ahead. The series then end with the last row in which one of them
        has a value; these columns go on.
    regular : bool, default=False
        Whether rows that are absent between evenly spaced times are filled in as missing.
    duplicates : {"refuse", "mean", "sum", "first", "last"}, default="refuse"
        What becomes of several rows of one time.
    **options
        How a table is read, as in `TableOptions`: columns, drop, header, delimiter, decimal, ...

    Raises
    ------
    InputError
        For files that cannot be read, dates of another kind, and columns that are not numeric.
    """
    check_choice("dates", dates, ORDERS)
    check_choice("duplicates", duplicates, DUPLICATES)
    check_keywords("The reader of tables", options, InputOptions)
    how = InputOptions(**options)
    if known:
        chosen_ = replace(how, columns=known, drop=())
        ahead = _arranged(_read(source, time, dates, chosen_), regular, duplicates)
        how = replace(how, drop=(*how.drop, *ahead.names))
        table = _arranged(_read(source, time, dates, how), regular, duplicates)
        return _beside(table, ahead)
    return _arranged(_read(source, time, dates, how), regular, duplicates)


def _read(source: Any, time: str | None, order: str, options: InputOptions) -> SeriesTable:
    """Return the table of a file or a frame, row by row as it stands there."""
    if not isinstance(source, str | Path):
        return _of_frame(source, time, order, options)
    path = existing(source)
    naming = _TimeColumn(kept=True, time=time)
    table = open_inputs([str(path)], replace(options, naming=naming))[0]
    if not table.has_columns:
        raise InputError(f"{path} is not a table; series need columns with names.")
    blocks: list[NDArray] = []
    times: list[Any] = []
    for block in table.blocks(0, 0):
        blocks.append(block.X)
        times += [label for part in block.labels[-1:] for label in part]
        # Checked with every block, for packed lines may stand for any number.
        held = 2 * sum(block.nbytes for block in blocks)  # once apart, once together
        need(held + BYTES_PER_TIME * len(times), str(path))
    values = np.concatenate(blocks).astype(np.float64, copy=False)
    name = table.row_names[-1] if table.row_names else "row"
    name = "time" if name.startswith("__index_level_") else name  # as pandas stores one without
    names = table.columns  # type: ignore[attr-defined]
    guesses = dict(table.guesses)
    if not times:
        return SeriesTable(
            values, names, np.arange(1, len(values) + 1), name, str(path), guesses=guesses
        )
    if options.skips:
        kept = _with_times(times, values)
        times, values = [times[i] for i in kept], values[kept]
    found = _labels(times, name, path, order)
    if found.guess:
        guesses["dates"] = _order_of(found.guess), found.guess
    if time is None and name and found.labels.dtype.kind == "M":
        guesses["time"] = name, f"column {name!r} taken as times"
    return SeriesTable(values, names, found.labels, name, str(path), None, found.zone, guesses)


def _of_frame(data: Any, time: str | None, order: str, options: InputOptions) -> SeriesTable:
    """Return the table of a frame."""
    where = "the frame"
    if unused := [name for name in options.given(ALL_OPTIONS) if name not in FrameColumns.uses]:
        raise InputError(f"{unused[0]} is for files, and a frame was given.")
    frame, form = columns_of_frame(data), options.numbers
    find = partial(chosen, frame.names, source=where)
    index = frame.index if time is None else None
    first = [] if index is not None else frame.first_rows()
    places = [] if index is not None else _TimeColumn(time=time).places(frame.names, find, first)
    aside = {*places, *(find(options.drop) if options.drop else [])}
    wanted = chosen(frame.names, options.columns, where, frame.texts(form))
    series = [place for place in wanted if place not in aside]
    values, guesses = frame.numbers(series, form), dict[str, tuple[Any, str]]()
    name, found = "row", Dates(np.arange(1, len(values) + 1))
    if places:
        name = frame.names[places[0]]
        found = _labels(frame.column(places[0]), name, where, order)
        if time is None:
            guesses["time"] = name, f"column {name!r} taken as times"
    elif index is not None:
        name = "time" if index.name is None else str(index.name)
        found = _of_index(index, where)
    if found.guess:
        guesses["dates"] = _order_of(found.guess), found.guess
    log_guesses(where, guesses)
    names = [frame.names[place] for place in series]
    return SeriesTable(values, names, found.labels, name, "The frame", None, found.zone, guesses)


def _of_index(index: Any, where: str) -> Dates:
    """Return the times of the index of a frame as those of a file come."""
    if hasattr(index, "to_timestamp"):  # periods, which texts name by their beginnings
        if index.freqstr.startswith(("Y", "A")):
            return Dates(index.year.to_numpy(np.int64))
        labels = index.to_timestamp().to_numpy()
        is_of_months = index.freqstr.startswith(("M", "Q"))
        return Dates(labels.astype("M8[M]") if is_of_months else _coarsest(labels))
    try:
        labels, calendar, is_local = labels_of_index(index, where)
    except ValueError as error:
        raise InputError(str(error)) from None
    zone = "local" if is_local else "UTC" if calendar else ""
    return Dates(_coarsest(labels), zone)


def _coarsest(labels: NDArray) -> NDArray:
    """Return dates in the coarsest unit that holds them, as texts would have it."""
    if labels.dtype.kind != "M":
        return labels
    for unit in ("D", "m", "s", "ms", "us"):
        coarse = labels.astype(f"M8[{unit}]")
        if (coarse == labels).all():
            return coarse
    return labels


def _order_of(guess: str) -> str:
    """Return the option that says what was guessed of dates."""
    return "day-first" if guess.startswith("the day") else "month-first"


def _arranged(table: SeriesTable, regular: bool, duplicates: str) -> SeriesTable:
    """Return a table with one row of each time, and without gaps, where that is asked for."""
    if table.time == "row" or (table.labels.dtype.kind == "M" and np.isnat(table.labels).any()):
        return table
    if duplicates != REFUSE:
        table = _merged(table, duplicates)
    steps = np.diff(table.labels)
    if not regular or not (steps > np.zeros((), steps.dtype)).all() or not len(steps):
        return table
    try:
        grid = regular_grid(table.labels)
    except ValueError as error:
        raise InputError(f"{table.path}: {error}") from None
    need(8.0 * len(grid) * table.values.shape[1], table.path)
    values = np.full((len(grid), table.values.shape[1]), np.nan)
    values[np.searchsorted(grid, table.labels)] = table.values
    said = f"{counted(len(grid) - len(table.values), 'absent row')} filled in as missing"
    guesses = dict(table.guesses) | (
        {"rows": ("filled in", said)} if len(grid) > len(steps) + 1 else {}
    )
    return replace(table, values=values, labels=grid, guesses=guesses)


def _merged(table: SeriesTable, how: str) -> SeriesTable:
    """Return a table in which rows of one time are one row."""
    import pandas as pd  # loaded where a table is read

    groups = pd.DataFrame(table.values).groupby(pd.Index(table.labels), sort=False)
    found = groups.sum(min_count=1) if how == "sum" else getattr(groups, how)()
    labels = found.index.to_numpy().astype(table.labels.dtype)
    return replace(table, values=found.to_numpy(), labels=labels)


def _beside(table: SeriesTable, ahead: SeriesTable) -> SeriesTable:
    """Return the rows up to the last with a value, with the columns known ahead beside them."""
    filled = np.flatnonzero(~np.isnan(table.values).all(axis=1))
    end = int(filled[-1]) + 1 if len(filled) else 0
    values, labels = table.values[:end], table.labels[:end]
    return replace(table, values=values, labels=labels, known=ahead.values)


@dataclass(frozen=True)
class _TimeColumn(Naming):
    """The column of times: the one with this name, or the first one, if it holds dates."""

    judges: ClassVar = True
    time: str | None = None

    def places(
        self, names: list[str], find: Find, rows: Sequence[Sequence[str]] = (), some: bool = False
    ) -> list[int]:
        """Return its place, if there is one; a number in it would not look like a date."""
        if self.time is not None:
            return find((self.time,))
        columns = [
            [str(row[place]) for row in rows[:ROWS_JUDGED] if len(row) == len(names)]
            for place in range(len(names))
        ]
        if not columns or not columns[0]:
            return []
        first = columns[0][0].strip()
        # A date alone, even if one below it is wrong: the complaint is then about that one.
        is_date = LIKE_DATE.match(first) or (not first.isdigit() and look_like_dates([first]))
        if look_like_dates(columns[0]) or (not some and is_date):
            return [0]
        called = [i for i, name in enumerate(names) if _is_called_a_time(name)]
        return [i for i in called if look_like_dates(columns[i], numbers=True)][:1]


def _is_called_a_time(name: str) -> bool:
    return bool(TIME_NAMES & {*re.split(r"[^a-z]+", name.lower())})


def _with_times(times: Sequence[Any], values: NDArray) -> list[int]:
    """Return the rows that have a time; others that were skipped as bad hold nothing."""
    nothing = np.isnan(values).all(axis=1)
    return [
        i
        for i, text in enumerate(times)
        if not nothing[i] or (str(text).strip() and _is_a_time(str(text).strip()))
    ]


def _is_a_time(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.0*)?", text) is not None or look_like_dates([text])


def _labels(entries: Sequence[Any], name: str, source: object, order: str) -> Dates:
    """Return a column as dates or whole numbers."""
    first = next((entry for entry in entries if entry is not None), "")
    if not isinstance(first, str):
        import pandas as pd  # loaded where a table is read

        return _of_index(pd.Index([*entries]), f"column {name!r} of {source}")
    texts = [("" if entry is None else entry).strip() for entry in entries]
    numbers = all(re.fullmatch(r"-?\d+(\.0*)?", text) for text in texts)
    if numbers and not look_like_dates(texts):  # years come as 1700.0, too
        return Dates(np.array([text.partition(".")[0] for text in texts], dtype=np.int64))
    if "" in texts:
        raise InputError(
            f"Column {name!r} of {source} holds '' in row {texts.index('')} (counted from 0), "
            f"needed are dates such as {EXAMPLES}, or whole numbers."
        )
    try:
        return dates_of_texts(texts, order)
    except DateError as error:
        raise error.explained(name, source) from None
