"""Tables of which some entries were observed, kept by their entries: row, column and value."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import DUPLICATES, NamedColumns, checked_array, listed
from atomstream.base.matrices import column_names, without_mask
from atomstream.streams.on_disk import OnDisk

EXACT = 2.0**53  # below it a float is the number that it stands for


class Triples(OnDisk):
    """A table given by its observed entries: the row, the column and the value of each.

    Models with ``missing=True`` learn from it and code it as any table with missing entries. Memory
    goes with the number of entries: a few rows at a time are written out, NaN where nothing was
    observed. A listed 0 was observed, and a listed NaN was not.

    Parameters
    ----------
    rows, columns : array-like of shape (n_entries,)
        Labels: numbers, texts or dates, such as users and items.
    values : array-like of shape (n_entries,)
    duplicates : {"refuse", "mean", "sum", "first", "last"}, default="refuse"
        What becomes of several values of one row and column.
    place : callable, optional
        Returns the words for where an entry stands, by its number; for messages.

    Attributes
    ----------
    shape : (int, int)
        Number of different rows and columns.
    row_names, column_names : list
        Their labels, sorted.
    n_entries : int
    dtype : numpy.dtype

    Raises
    ------
    ValueError
        For missing labels, arrays of different lengths, and an entry that comes twice.

    Examples
    --------
    >>> from atomstream import OnlineNMF
    >>> users, films, stars = ["ann", "bob", "bob"], ["Alien", "Alien", "Brazil"], [5, 4, 0]
    >>> ratings = Triples(users, films, stars)
    >>> ratings.shape, ratings.column_names
    ((2, 2), ['Alien', 'Brazil'])
    >>> np.asarray(ratings)
    array([[ 5., nan],
           [ 4.,  0.]])
    >>> model = OnlineNMF(1, missing=True, random_state=0).fit(ratings)
    >>> model.transform(Triples(["eve"], ["Brazil"], [3])).shape
    (1, 1)
    """

    ndim = 2
    names: list[str]
    chunks = None  # rows are written out when they are asked for

    def __init__(
        self,
        rows: Any,
        columns: Any,
        values: Any,
        *,
        duplicates: str = "refuse",
        place: Callable[[int], str] | None = None,
    ) -> None:
        place = place or "entry {} (counted from 0)".format
        if duplicates not in DUPLICATES:
            known = ", ".join(map(repr, DUPLICATES))
            raise ValueError(f"duplicates must be one of {known}, got {duplicates!r:.40}.")
        values = checked_array(values, "values")
        lengths = np.shape(rows), np.shape(columns), values.shape
        if values.ndim != 1 or len({*lengths}) > 1 or not len(values):
            raise ValueError(
                "rows, columns and values must hold one label or number for each entry, and one "
                f"entry at least, got arrays of shapes {', '.join(map(str, lengths))}."
            )
        at_row, self.row_names = _places(rows, "rows", place)
        at_column, self.column_names = _places(columns, "columns", place)
        self.shape = len(self.row_names), len(self.column_names)
        self.names = [*map(str, self.column_names)]  # by which models know them
        if np.isinf(values).any():
            raise ValueError(
                f"values has an infinite entry in {place(int(np.isinf(values).argmax()))}."
            )
        is_exact = values.dtype in (np.float32, np.float64)
        self.dtype = values.dtype if is_exact else np.dtype(np.float64)
        seen = np.flatnonzero(values == values)
        key = at_row[seen] * self.shape[1] + at_column[seen]
        order = np.argsort(key, kind="stable")
        key, seen = key[order], seen[order]
        starts = np.flatnonzero(np.diff(key, prepend=-1))
        if duplicates == "refuse" and len(starts) < len(key):
            self._refuse_twice(key, seen, place)
        # In float64 also where the values are of single precision, as their sum may be large.
        self._values = _merged(values[seen], starts, duplicates).astype(self.dtype)
        row, self._columns = np.divmod(key[starts], self.shape[1])
        self._pointers = np.searchsorted(row, np.arange(self.shape[0] + 1))
        self.n_entries = len(self._values)

    @classmethod
    def from_frame(
        cls, frame: Any, columns: Sequence[Any] | None = None, *, duplicates: str = "refuse"
    ) -> Self:
        """Return the table whose entries are the lines of a frame.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or table of pyarrow
        columns : sequence of three names, optional
            The columns of the frame that hold row, column and value; by default all three.
        duplicates : {"refuse", "mean", "sum", "first", "last"}, default="refuse"

        Raises
        ------
        ValueError
            Where the frame has other than three columns and none are named.
        """
        if not hasattr(frame, "columns") or hasattr(frame, "collect"):
            raise TypeError(f"frame must be a frame or a table, got {type(frame).__name__}.")
        known = column_names(frame)
        names = known if columns is None else [*columns]
        unknown = [name for name in names if name not in known]
        if len({*names}) != 3 or unknown:
            there = f"{unknown[0]!r} is no column of the frame" if unknown else f"got {len(names)}"
            raise ValueError(
                "columns must name three columns, of rows, columns and values, and "
                f"{there}; the frame has {listed(known)}."
            )
        row, column, value = (frame[name] for name in names)
        place = "row {} of the frame (counted from 0)".format
        return cls(row, column, value, duplicates=duplicates, place=place)

    def __repr__(self) -> str:
        return f"<Triples of shape {self.shape} with {self.n_entries} entries>"

    def __len__(self) -> int:
        return self.shape[0]

    def with_columns(self, names: Sequence[Any]) -> Self:
        """Return the same entries as a table with these columns, of which some may be empty.

        Parameters
        ----------
        names : sequence of labels or texts

        Raises
        ------
        ValueError
            Where entries lie in other columns.
        """
        places = {str(name): place for place, name in enumerate(names)}
        unknown = [name for name in self.names if name not in places]
        if unknown:
            raise ValueError(f"X has columns that were not learned from: {listed(unknown)}.")
        if len(places) < len(names):
            raise ValueError("names must differ, got some that are the same text.")
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        found._columns = np.array([places[name] for name in self.names])[self._columns]
        found.shape, found.column_names = (self.shape[0], len(places)), [*names]
        found.names = [*places]
        return found

    def among(self, names: Sequence[Any]) -> Self:
        """Return the entries in these columns alone, as a table with these columns."""
        kept = np.isin(np.array(self.names, object), [*map(str, names)])
        row = np.repeat(np.arange(len(self)), np.diff(self._pointers))
        here = kept[self._columns]
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        found._values, found.n_entries = self._values[here], int(here.sum())
        found._columns = (np.cumsum(kept) - 1)[self._columns[here]]
        found._pointers = np.searchsorted(row[here], np.arange(len(self) + 1))
        found.names = [name for name, stays in zip(self.names, kept, strict=True) if stays]
        found.shape = (len(self), len(found.names))
        return found.with_columns(names)

    def __getitem__(self, places: Any) -> NamedColumns:  # type: ignore[override]
        """Return the rows of a slice, or at places in any order, written out."""
        rows = np.atleast_1d(np.arange(len(self))[places])
        begin = self._pointers[rows]
        sizes = self._pointers[rows + 1] - begin
        ends = np.cumsum(sizes)
        entries = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begin - ends + sizes, sizes)
        block = np.full((len(rows), self.shape[1]), np.nan, self.dtype)
        block[np.repeat(np.arange(len(rows)), sizes), self._columns[entries]] = self._values[
            entries
        ]
        return NamedColumns(block, self.names)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        return np.asarray(self[:].X, dtype)

    def _refuse_twice(self, key: NDArray, seen: NDArray, place: Callable[[int], str]) -> None:
        """Refuse the first entry that comes again."""
        again = np.flatnonzero(np.diff(key) == 0) + 1
        second = again[np.argmin(seen[again])]
        row, column = divmod(int(key[second]), self.shape[1])
        raise ValueError(
            f"Row {self.row_names[row]!r:.60} and column {self.column_names[column]!r:.60} come "
            f"twice, in {place(int(seen[second - 1]))} and {place(int(seen[second]))}; leave one "
            "out, or say by duplicates what becomes of them: mean, sum, first or last."
        )


def _places(labels: Any, name: str, place: Callable[[int], str]) -> tuple[NDArray, list[Any]]:
    """Return the place of each label among the different ones, sorted, and these."""
    import pandas as pd  # loaded where a table is read

    # Lists first go to pandas, for NumPy makes texts of what is missing among texts.
    given = without_mask(labels)
    is_listed = hasattr(given, "iloc") or isinstance(given, list | tuple)
    places, different = pd.factorize(
        pd.Series(given if is_listed else np.asarray(given)), sort=True
    )
    names = [_plain(label) for label in different.tolist()]
    blank = [isinstance(label, str) and not label.strip() for label in names]
    missing = (places < 0) | np.array([*blank, False])[places]
    if missing.any():
        raise ValueError(f"{name} has no label in {place(int(np.argmax(missing)))}.")
    if len({*map(str, names)}) < len(names):
        raise ValueError(f"{name} has different labels that are the same text; give one kind.")
    return places.astype(np.int64), names


def _plain(label: Any) -> Any:
    """Return a whole number as such, though a table of floats may hold it."""
    return (
        int(label) if isinstance(label, float) and abs(label) < EXACT and label % 1 == 0 else label
    )


def _merged(values: NDArray, starts: NDArray, how: str) -> NDArray:
    """Return one value for each run of values that begins at one of ``starts``."""
    ends = np.append(starts[1:], len(values))
    if how in ("mean", "sum"):
        sums = np.add.reduceat(values.astype(np.float64), starts) if len(starts) else values
        return sums / (ends - starts) if how == "mean" else sums
    return values[ends - 1] if how == "last" else values[starts]
