"""Tables of which some entries were observed, kept by their entries: row, column and value."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import DUPLICATES, NamedColumns, checked_array, listed
from atomstream.base.matrices import column_names, without_mask
from atomstream.streams.on_disk import OnDisk


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
                "rows, columns and values must hold one label or number for each entry, got "
                f"arrays of shapes {', '.join(map(str, lengths))}."
            )
        at_row, self.row_names = _places(rows, "rows", place)
        at_column, self.column_names = _places(columns, "columns", place)
        self.shape = len(self.row_names), len(self.column_names)
        self.names = [*map(str, self.column_names)]  # by which models know them
        self.dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
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
        known = column_names(frame)
        names = known if columns is None else [*columns]
        unknown = [name for name in names if name not in known]
        if len(names) != 3 or unknown:
            there = f"{unknown[0]!r} is no column of the frame" if unknown else f"got {len(names)}"
            raise ValueError(
                "columns must name three columns, of rows, columns and values, and "
                f"{there}; the frame has {listed(known)}."
            )
        row, column, value = (frame[name] for name in names)
        place = "row {} of the frame (counted from 0)".format
        return cls(row, column, value, duplicates=duplicates, place=place)

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
            raise ValueError(f"columns has labels that were not learned from: {listed(unknown)}.")
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        found._columns = np.array([places[name] for name in self.names])[self._columns]
        found.shape, found.column_names = (self.shape[0], len(places)), [*names]
        found.names = [*places]
        return found

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

    found = labels if hasattr(labels, "iloc") else np.asarray(without_mask(labels))
    if getattr(found.dtype, "kind", "") == "f" and (found % 1 == 0).all():
        found = found.astype(np.int64)  # numbers of rows in a table of floats
    places, different = pd.factorize(found, sort=True)
    if (places < 0).any():
        raise ValueError(f"{name} has no label in {place(int(np.argmin(places)))}.")
    names = different.tolist()
    if len({*map(str, names)}) < len(names):
        raise ValueError(f"{name} has different labels that are the same text; give one kind.")
    return places.astype(np.int64), names


def _merged(values: NDArray, starts: NDArray, how: str) -> NDArray:
    """Return one value for each run of values that begins at one of ``starts``."""
    ends = np.append(starts[1:], len(values))
    if how in ("mean", "sum"):
        sums = np.add.reduceat(values.astype(np.float64), starts) if len(starts) else values
        return sums / (ends - starts) if how == "mean" else sums
    return values[ends - 1] if how == "last" else values[starts]
