"""Tables of series: validated values, times and names, and results in the form of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from atomstream.base import checked_array, checked_numbers, column_names, library, order_of
from atomstream.io.dates import labels_of_index
from atomstream.io.time_index import Times


@dataclass(frozen=True)
class Form:
    """The form of a table: its kind, names and times.

    Parameters
    ----------
    kind : {"array", "frame", "xarray"}, default="array"
    names : tuple of str or int, optional
        Names of the series.
    times : Times, optional
        Times of the rows.
    calendar : str, default=""
        The time zone of dates, or the frequency of periods, which are stored as numbers.
    wall : bool, default=False
        Whether dates with a time zone are stored as local time; otherwise they are UTC.
    axes : tuple of (str or None), default=(None, None)
        Names of the two axes.
    """

    kind: str = "array"
    names: tuple[Any, ...] | None = None
    times: Times | None = None
    calendar: str = ""
    wall: bool = False
    axes: tuple[Any, ...] = (None, None)

    def __post_init__(self) -> None:
        if self.kind not in ("array", "frame", "xarray") or len(self.axes) != 2:
            raise ValueError(f"{self!r} is not a valid form of a table.")

    def validate(self, n_series: int) -> None:
        """Refuse names and times read from a file that do not fit together."""
        good = self.times is None or len(self.times.at(1, 1)) == 1
        if not good or (self.names is not None and len(self.names) != n_series):
            raise ValueError("names or times that do not fit together")

    def name_of(self, series: int) -> str:
        """Return a series for messages: its name, or its number counted from 0."""
        name = series if self.names is None else self.names[series]
        return repr(name) if isinstance(name, str) else f"series {name}"

    def wrap(self, values: NDArray, labels: NDArray | None) -> Any:
        """Return values of shape (n, n_series) in this form, with these times as index."""
        if self.kind == "array":
            return values
        import pandas as pd  # loaded where a frame is made

        index = None if labels is None else self._index(pd, labels)
        frame = pd.DataFrame(
            values, index=index, columns=None if self.names is None else list(self.names)
        )
        frame = frame.rename_axis(index=self.axes[0], columns=self.axes[1])
        if self.kind == "frame":
            return frame
        xr = library("xarray", "Labelled arrays")
        names = [
            axis or default for axis, default in zip(self.axes, ("time", "series"), strict=True)
        ]
        coords = {names[0]: frame.index, names[1]: frame.columns}
        return xr.DataArray(values, dims=names, coords=coords)

    def _index(self, pd: Any, labels: NDArray) -> Any:
        if labels.dtype.kind != "M":
            if self.calendar:
                return pd.PeriodIndex.from_ordinals(labels, freq=self.calendar)
            return pd.Index(labels)
        index = pd.DatetimeIndex(labels)
        if self.wall:  # of two equal local times take the first; shift skipped ones forward
            first = np.ones(len(index), dtype=bool)
            return index.tz_localize(self.calendar, ambiguous=first, nonexistent="shift_forward")
        return index.tz_localize("UTC").tz_convert(self.calendar) if self.calendar else index


@dataclass(frozen=True)
class Table:
    """A validated table: rows are times, columns are series.

    Attributes
    ----------
    values : ndarray of float64 of shape (n_times, n_series)
        NaN where an entry is missing.
    labels : ndarray of shape (n_times,), or None
        Times of the rows: numbers, or dates of NumPy.
    form : Form
        Of the data, as they were given.
    order : ndarray of int of shape (n_series,), or None
        Which of the series given each of the values is, where they were brought into another order.
    """

    values: NDArray
    labels: NDArray | None
    form: Form
    order: NDArray | None = None

    @classmethod
    def of(cls, data: Any, name: str = "Y") -> Table:
        """Return a validated table.

        Parameters
        ----------
        data : array, frame or xarray.DataArray of shape (n_times, n_series)
            The index of a frame or the first coordinate of a DataArray must be dates, periods or
            whole numbers, evenly spaced.
        name : str, default="Y"
            Name of the table in messages.

        Raises
        ------
        ValueError
            For other shapes, data that are not numeric, infinity, and times that repeat, go
            backwards or leave gaps.
        TypeError
            For sparse data.
        """
        if issparse(data):
            raise TypeError(
                f"{name} is sparse and sparse data are not supported here; give {name}.toarray()."
            )
        data = checked_numbers(data, name)
        shape = np.shape(data)
        if len(shape) != 2 or 0 in shape:
            raise ValueError(
                f"{name} must be of shape (n_times, n_series) with something in it, got {shape}; "
                f"for one series use {name}"
                f"{'.to_frame()' if hasattr(data, 'to_frame') else '[:, None]'}."
            )
        kind = "array"
        axes: tuple[str | None, ...] = (None, None)
        if hasattr(data, "dims") and hasattr(data, "to_pandas"):
            kind, axes, data = "xarray", tuple(map(str, data.dims)), data.to_pandas()
        elif hasattr(data, "iloc"):
            kind = "frame"
            axes = tuple(
                None if a is None else str(a) for a in (data.index.name, data.columns.name)
            )
        try:
            values = np.array(checked_array(data, name), dtype=np.float64)
        except ValueError:
            raise ValueError(
                f"{name} must hold numbers, NaN where an entry is missing; got {_odd(data)}."
            ) from None
        if np.isinf(values).any():
            row, column = np.argwhere(np.isinf(values))[0]
            raise ValueError(
                f"{name} must be finite, NaN where an entry is missing; row {row}, column {column} "
                "(counted from 0) is not."
            )
        form = Form(kind, _names(data, name), axes=axes)
        if kind == "array":
            return cls(values, None, form)
        labels, calendar, wall = labels_of_index(data.index, name)
        times = Times.of(labels) if len(labels) > 1 else None
        return cls(values, labels, replace(form, times=times, calendar=calendar, wall=wall))

    def wrap(self, values: NDArray) -> Any:
        """Return other values in the form of this table, in the order in which it was given."""
        values = values if self.order is None else values[:, np.argsort(self.order)]
        return self.form.wrap(values, self.labels)


def nonnegative_table(data: object, name: str) -> Table:
    """Return a validated table without negative values."""
    table = Table.of(data, name)
    if np.nanmin(table.values, initial=0) < 0:
        row, column = np.argwhere(table.values < 0)[0]
        names = table.form.names
        of = column if names is None else repr(str(names[column]))
        raise ValueError(
            f"{name} must not be negative, got {table.values[row, column]:.4g} in row {row}, "
            f"column {of}, counted from 0; give center=True."
        )
    return table


def in_series(table: Table, form: Form, n_series: int, name: str) -> Table:
    """Return a table with the expected series in their order; they are found by their names.

    Raises
    ------
    ValueError
        For another number of series, and one sentence for other names.
    """
    if table.values.shape[1] != n_series:
        raise ValueError(f"{name} has {table.values.shape[1]} series, needed are {n_series}.")
    order = order_of(table.form.names, form.names, name, "has other series than were learned")
    if order is not None:
        return replace(table, values=table.values[:, order], order=order)
    if form.names is not None and table.form.names not in (None, form.names):
        raise ValueError(
            f"{name} has the series {list(table.form.names or ())}, needed are {list(form.names)}."
        )
    return table


def n_shared(table: Table, other: Table) -> int:
    """Return the number of rows up to the last one that the other table also has.

    If both tables have dates, rows with the same date are the same. Otherwise rows are the same if
    all of their entries are.
    """
    dates, others = _dates(table), None if _dates(other) is None else labels_on(other, table.form)
    if dates is not None and others is not None and dates.dtype.kind == others.dtype.kind:
        same = np.isin(dates, others)
    else:
        # Adding 0 turns -0 into 0, whose bytes differ.
        held = {row.tobytes() for row in other.values + 0.0 if not np.isnan(row).all()}
        same = np.array([row.tobytes() in held for row in table.values + 0.0])
    return int(np.flatnonzero(np.append(True, same))[-1])


def labels_on(table: Table, form: Form) -> Any:
    """Return the labels of a table in the time zone of another form."""
    labels, here = table.labels, table.form
    if labels is None or labels.dtype.kind != "M" or not (here.calendar and form.calendar):
        return labels
    if (here.calendar, here.wall) == (form.calendar, form.wall):
        return labels
    import pandas as pd  # loaded where dates are converted

    index = here._index(pd, labels).tz_convert(form.calendar if form.wall else "UTC")
    return index.tz_localize(None).to_numpy()


def _dates(table: Table) -> NDArray | None:
    """Return the dates or periods of rows, or None: plain numbers may count anything."""
    labels = table.labels
    return (
        labels if labels is not None and (labels.dtype.kind == "M" or table.form.calendar) else None
    )


def _names(data: object, name: str) -> tuple[Any, ...] | None:
    """Return the names of the columns, or None."""
    if not hasattr(data, "columns"):
        return None
    names = tuple(n.item() if isinstance(n, np.generic) else n for n in column_names(data))
    names = tuple(n if isinstance(n, str | int) else str(n) for n in names)
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise ValueError(f"{name} has two columns with the name {twice!r}; names must differ.")
    return names


def _odd(data: Any) -> str:
    """Return a description of the column or value that is not a number."""
    for name in getattr(data, "columns", ()):
        try:
            np.asarray(data[name], dtype=np.float64)
        except (TypeError, ValueError):
            return f"column {name!r}"
    return type(data).__name__ if not hasattr(data, "dtype") else f"values of {data.dtype}"
