"""Frames of pandas and polars as tables: the same columns, names and kinds as of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.exceptions import InputError
from atomstream.io.column_names import ROWS_JUDGED, as_texts, refuse_texts
from atomstream.io.number_format import NumberFormat


@dataclass(frozen=True)
class FrameColumns:
    """The columns of a frame.

    Attributes
    ----------
    frame : DataFrame
    names : list of str
    index : Index or None
        None where rows are only numbered.
    """

    uses: ClassVar = {"columns", "drop", "missing", "decimal", "thousands", "below_limit", "index"}
    frame: Any
    names: list[str]
    index: Any

    def column(self, place: int) -> list[Any]:
        """Return the entries of a column."""
        entries = self.frame.iloc[:, place]
        missing = entries.isna().to_numpy()
        return [None if gone else it for gone, it in zip(missing, entries.tolist(), strict=True)]

    def first_rows(self) -> list[list[str]]:
        """Return the first rows as texts; a number is none of a date."""
        few = FrameColumns(self.frame.iloc[:ROWS_JUDGED], self.names, None)
        columns = [as_texts(few.column(place)) for place in range(len(self.names))]
        return [list(row) for row in zip(*columns, strict=True)]

    def texts(self, form: NumberFormat) -> dict[int, str]:
        """Return the columns that hold no numbers, each with an example."""
        found = {}
        for place in range(len(self.names)):
            column = self.frame.iloc[:, place]
            if column.dtype.kind in "fiub":
                continue
            entries = [it for it in self.column(place)[: 50 * ROWS_JUDGED] if it is not None]
            odd = [it for it in entries if not form.is_entry(it)]
            if odd and 2 * len(odd) > len(entries):
                found[place] = str(odd[0])
        return found

    def numbers(self, places: Sequence[int], form: NumberFormat) -> NDArray:
        """Return columns as numbers, NaN where an entry is missing.

        Raises
        ------
        InputError
            For entries that are no numbers.
        """
        texts = self.texts(form)
        words = {self.names[i]: texts[i] for i in places if i in texts}
        refuse_texts(words, "The frame", form)
        if not places:
            raise InputError("The frame has no column of numbers.")
        found = np.column_stack([self._numbers_of(place, form) for place in places])
        return np.where(np.isin(found, form.sentinels), np.nan, found) if form.sentinels else found

    def _numbers_of(self, place: int, form: NumberFormat) -> NDArray:
        column = self.frame.iloc[:, place]
        if column.dtype.kind in "fiub":
            return np.asarray(column.to_numpy(np.float64, na_value=np.nan))
        found = np.empty(len(column))
        for row, entry in enumerate(self.column(place)):
            try:
                found[row] = form.entry(entry)
            except (TypeError, ValueError):
                advice = form.advice(entry) if isinstance(entry, str) else ""
                raise InputError(
                    f"Row {row} of the frame (counted from 0) has {entry!r:.40} in column "
                    f"{self.names[place]!r:.80}, needed are numbers; {advice}leave the row or the "
                    "column out."
                ) from None
        return found


def columns_of_frame(data: Any) -> FrameColumns:
    """Return the columns of a frame of pandas or polars, or of a labelled array.

    Raises
    ------
    InputError
        For what is none.
    """
    if not hasattr(data, "iloc"):
        if hasattr(data, "to_pandas"):
            data = data.to_pandas()
        elif hasattr(data, "to_dict") and hasattr(data, "columns"):  # polars without pyarrow
            import pandas as pd  # loaded where a table is read

            data = pd.DataFrame(data.to_dict(as_series=False))
    if not hasattr(data, "iloc") or not hasattr(data, "columns"):
        raise InputError(f"A table must be a path or a frame, got {type(data).__name__}.")
    # An index that only counts the rows says nothing of them.
    counts = type(data.index).__name__ == "RangeIndex" and data.index.name is None
    return FrameColumns(data, [*map(str, data.columns)], None if counts else data.index)
