"""The samples that use each atom most, kept beside a model for its report."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.io.series_table import SeriesTable
from atomstream.streams import windows

MAX_SAMPLES_PER_ATOM = 4  # samples kept of each atom
SHOWN = 3  # series of a window that are drawn
WINDOWS_AT_ONCE = 4096  # windows coded at a time
MOST_BYTES = 1 << 23  # of all pictures


class Sample(NamedTuple):
    """A sample that uses an atom.

    Attributes
    ----------
    label : str
        Its name, such as its date or its place in the stream.
    text : str
        Its parts by their names; empty where they have none.
    values : ndarray
        Its values as they are drawn; of one shape for all samples of a run.
    """

    label: str
    text: str
    values: NDArray


class Samples:
    """The samples that use each atom most, of those that were looked at so far.

    Attributes
    ----------
    n_seen : int
        Number of samples that were looked at.
    """

    def __init__(self) -> None:
        self.n_seen = 0
        self._codes: NDArray | None = None
        self._kept: list[Sample] = []

    def look(self, codes: NDArray, sample: Callable[[int], Sample]) -> None:
        """Look at a block of samples.

        Parameters
        ----------
        codes : ndarray of shape (n_samples, n_atoms)
        sample : callable
            Returns a sample by its row in the block; called only for those that are kept.
        """
        kept, self.n_seen = self._kept, self.n_seen + len(codes)
        codes = codes if self._codes is None else np.concatenate([self._codes, codes])
        best = np.unique(np.argsort(-np.abs(codes), axis=0, kind="stable")[:MAX_SAMPLES_PER_ATOM])
        self._codes = codes[best]
        self._kept = [kept[i] if i < len(kept) else sample(i - len(kept)) for i in best.tolist()]

    def notes(self) -> dict[str, Any]:
        """Return what a checkpoint keeps of them; pictures only as far as there is room."""
        if self._codes is None:
            return {}
        labels, texts, values = zip(*self._kept, strict=True)
        notes = {
            "n_looked_at": self.n_seen,
            "sample_codes": np.asarray(self._codes, np.float64),
            "sample_labels": np.array(labels, object),
            "sample_texts": np.array(texts, object),
        }
        pictures = np.array(values, np.float32)
        return notes | ({"sample_values": pictures} if pictures.nbytes <= MOST_BYTES else {})


def samples_of_windows(
    values: NDArray, table: SeriesTable, size: int, code: Callable[[NDArray], NDArray]
) -> Samples:
    """Return the windows of series that use each atom most, of those without missing entries.

    Half of a window lies between one and the next, or the same days were shown again and again.

    Parameters
    ----------
    values : ndarray of shape (n_times, n_series)
        As they were learned.
    table : SeriesTable
        Names the times and the series.
    size : int
        Number of times in a window.
    code : callable
        Returns the codes of windows, each flattened to a row.
    """
    found, stride, n_windows = Samples(), max(1, size // 2), 0

    def window(firsts: NDArray, i: int) -> Sample:
        """Return a window with the series that are largest in it."""
        first, last = int(firsts[i]), int(firsts[i]) + size - 1
        near = values[first : last + 1]
        largest = np.argsort(-np.abs(near).mean(axis=0), kind="stable")[:SHOWN]
        text = ", ".join(str(table.names[series]) for series in largest)
        return Sample(f"{table.labels[first]} to {table.labels[last]}", text, near[:, largest])

    for rows in windows(values, size, WINDOWS_AT_ONCE, stride=stride):
        whole = np.flatnonzero(~np.isnan(rows).any(axis=1))
        if len(whole):
            found.look(code(rows[whole]), partial(window, (n_windows + whole) * stride))
        n_windows += len(rows)
    return found
