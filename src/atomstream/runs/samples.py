"""The samples that use each atom most, kept beside a model for its report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST", "Sample", "Samples"]

MOST = 4  # samples kept of each atom
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
        best = np.unique(np.argsort(-np.abs(codes), axis=0, kind="stable")[:MOST])
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
