"""Codes of rows from several data sets: each row uses shared atoms, and those of its own set."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.coders.base import Coder, Codes
from atomstream.dictionaries import Rows
from atomstream.dictionaries.base import Dictionary
from atomstream.problem import Accuracy, Batch, Objective


@dataclass(frozen=True)
class Grouped(Coder):
    """Code the rows of each data set with the atoms that they may use; their other codes are 0.

    The labels of a batch are the numbers of the data sets, or negative for rows of others. Rows of
    data set g use the first ``n_shared`` atoms, and ``n_own`` atoms after these and after those of
    the data sets before g; rows of others the shared ones alone.

    Parameters
    ----------
    inner : Coder
        What finds the codes; it takes what the batch holds.
    n_shared, n_own : int
    tol : float, {"log", "root"} or callable, optional
        As of every `Coder`.
    """

    inner: Coder
    n_shared: int
    n_own: int
    tol: Any = None
    handles_mask: ClassVar[bool] = True
    weighs_entries: ClassVar[bool] = True
    uses_all_atoms: ClassVar[bool] = False

    def places(self, group: int) -> NDArray:
        """Return the atoms that rows of a data set may use."""
        first = self.n_shared + group * self.n_own
        own = np.arange(first, first + self.n_own if group >= 0 else first)
        return np.concatenate([np.arange(self.n_shared), own])

    def encode(
        self,
        batch: Batch,
        dictionary: Dictionary,
        objective: Objective,
        accuracy: Accuracy,
        start: NDArray | None = None,
    ) -> Codes:
        """Return codes of this accuracy, searched from ``start`` on."""
        labels: Any = batch.labels
        atoms, n_rows = dictionary.atoms(), batch.X.shape[0]
        values = np.zeros((n_rows, len(atoms)), batch.X.dtype)
        residual = np.zeros(n_rows)
        for group in np.unique(labels):
            rows, places = np.flatnonzero(labels == group), self.places(int(group))
            part = Rows(atoms[places], getattr(dictionary, "scale", None))
            begin = None if start is None else start[np.ix_(rows, places)]
            found = self.inner.encode(batch.of(rows), part, objective, accuracy, begin)
            values[np.ix_(rows, places)], residual[rows] = found.values, found.residual
        return Codes(values, residual)
