"""The first rows of a table of text, and whether a line above them names their columns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.io.number_format import NumberFormat

WHOLE = re.compile(r"\s*[+-]?\d+\s*")
FRACTION = re.compile(r"[.,eE]")  # in a number that is written as no whole one
ROWS_COMPARED = 20  # first ones
MIN_ROWS, MIN_NAMES = 3, 3  # below which chance would do


class Record(NamedTuple):
    """The fields of a record, and the number of its first line."""

    line: int
    fields: list[str]


@dataclass
class Sample:
    """The first rows of a table, by which its columns are judged.

    Attributes
    ----------
    rows : list of Record
    numbers, empty : ndarray of bool of shape (n_rows, n_columns)
        Which fields are numbers, and which stand for missing entries; of rows of another width
        neither.
    """

    rows: list[Record]
    width: int
    form: NumberFormat
    numbers: NDArray = field(init=False)
    empty: NDArray = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = np.zeros((len(self.rows), self.width), bool)
        self.empty = self.numbers.copy()
        whole = [i for i, row in enumerate(self.rows) if len(row.fields) == self.width]
        cells = [text for i in whole for text in self.rows[i].fields]
        for kind, found in zip((self.numbers, self.empty), self.form.kinds(cells), strict=True):
            kind[whole] = found.reshape(-1, self.width)

    def column(self, place: int) -> list[str]:
        """Return the fields of a column."""
        return [row.fields[place] for row in self.rows if len(row.fields) == self.width]

    def names_rows(self) -> bool:
        """Return whether lines have a field more than the first one with reason.

        They have a name in front that differs from row to row, or nothing behind the last
        delimiter.
        """
        first, last = self.column(0), self.column(self.width - 1)
        return not any(map(str.strip, last)) or (
            self.width > 2 and 1 < len(set(first)) == len(first)
        )

    def texts(self) -> dict[int, str]:
        """Return the columns of texts, each with one: most of what is there is no number."""
        whole = np.array([len(row.fields) == self.width for row in self.rows], bool)
        words = ~self.numbers & ~self.empty & whole[:, None]
        of_text = 2 * words.sum(axis=0) > (words | self.numbers).sum(axis=0)
        places = np.flatnonzero(of_text).tolist()
        return {i: self.rows[int(words[:, i].argmax())].fields[i] for i in places}


def are_names(first: Sequence[str], below: Sample, form: NumberFormat, *, short: bool) -> bool:
    """Return whether the first line names the columns.

    Parameters
    ----------
    first : sequence of str
        Its fields.
    below : Sample
        The lines below.
    form : NumberFormat
    short : bool
        Whether it has a field less than these, for the column that names rows or an empty one.
    """
    numbers, empty = form.kinds(first)
    texts = ~numbers & ~empty
    if texts.any() and (texts | empty).all():
        return True
    shift = int(short and bool(below.rows) and _has_row_names(below))
    places = np.arange(len(first)) + shift
    if (texts & _mostly(below.numbers, below.empty)[places]).any():
        return True
    # Fields that are no numbers may stand above the names of rows, and only there.
    aside = np.flatnonzero(~numbers)
    if not numbers.any() or not (aside == np.arange(len(aside))).all():
        return False
    if (texts & ~_mostly(~below.numbers & ~below.empty, below.empty)[places]).any():
        return False
    kept = np.flatnonzero(numbers).tolist()
    named = bool(short and shift) or bool(len(aside))
    return _are_numeric_names([first[i] for i in kept], below, places[kept], form, named)


def _has_row_names(below: Sample) -> bool:
    whole = (row.fields for row in below.rows if len(row.fields) == below.width)
    return any(fields[-1].strip() for fields in whole)


def _mostly(kind: NDArray, empty: NDArray) -> NDArray:
    """Return the columns in which most of what is there is of a kind."""
    return np.asarray(2 * kind.sum(axis=0) > (~empty).sum(axis=0))


def _are_numeric_names(
    first: Sequence[str], below: Sample, places: NDArray, form: NumberFormat, named: bool
) -> bool:
    """Return whether numbers in a first line are labels such as years, wavelengths or 0, 1, 2.

    ``named`` says that rows have names, so that columns probably have some too.
    """
    rows = [row.fields for row in below.rows if len(row.fields) == below.width][:ROWS_COMPARED]
    values, n_names = np.array([form.entry(text) for text in first]), len(first)
    if not rows or not np.isfinite(values).all():
        return False
    whole = all(WHOLE.fullmatch(text) for text in first)
    texts = [[row[i] for i in places] for row in rows]
    fractions = [sum(bool(FRACTION.search(text)) for text in row) for row in texts]
    if n_names == 1:
        return whole and values[0] == 0 and len(rows) >= MIN_ROWS and all(fractions)
    steps = np.diff(values)
    if not ((steps > 0).all() or (steps < 0).all()):
        return False
    if whole and all(fractions):  # whole numbers above others
        return True
    if len(rows) < MIN_ROWS - named:
        return False
    known = np.array([[_number(text, form) for text in row] for row in texts])
    if n_names >= MIN_NAMES - named and whole and (steps == steps[0]).all():
        inner = np.diff(known, axis=1)
        return not (inner == inner[:, :1]).all(axis=1).any()
    return n_names >= MIN_NAMES - named and _far_outside(values, known)


def _number(text: str, form: NumberFormat) -> float:
    return form.entry(text) if form.is_entry(text) else np.nan


def _far_outside(values: NDArray, known: NDArray) -> bool:
    """Return whether each value is further from all below it than these are from each other."""
    if np.isnan(known).all(axis=0).any():
        return False
    low, high = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
    return bool((np.maximum(low - values, values - high) > (high - low)).all())
