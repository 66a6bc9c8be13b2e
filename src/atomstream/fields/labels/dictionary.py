"""A dictionary that also predicts: rows, and a linear head on the codes."""

import numpy as np
from numpy.typing import NDArray

from atomstream.base.saved_fields import array
from atomstream.dictionaries.rows import Rows
from atomstream.penalties.base import Penalty


class Predicting(Rows):
    """Atoms, and what each of them adds to the scores of the labels.

    Parameters
    ----------
    rows : ndarray of shape (n_components, n_features)
        The atoms, as of `Rows`.
    head : ndarray of shape (n_components + n_covariates + 1, n_outputs)
        Coefficients of codes, of covariates, and the intercepts.
    """

    SAVED = (*Rows.SAVED, array("head", "p o", finite=True))  # type: ignore[assignment]

    def __init__(self, rows: NDArray, head: NDArray) -> None:
        super().__init__(rows)
        self.head = head

    @property
    def n_covariates(self) -> int:
        """Number of columns that stand beside the codes."""
        return len(self.head) - len(self._rows) - 1

    @property
    def slopes(self) -> NDArray:
        """Coefficients of the codes alone, (n_components, n_outputs)."""
        return self.head[: len(self._rows)]

    def inputs(self, codes: NDArray, covariates: NDArray | None) -> NDArray:
        """Return codes, covariates and ones side by side: what the head multiplies."""
        beside = [] if covariates is None else [covariates]
        return np.column_stack([codes.astype(np.float64), *beside, np.ones(len(codes))])

    def replace(self, index: NDArray, rows: NDArray, atoms: Penalty) -> None:
        """Put rows in the places of some atoms; nothing is known of what they predict."""
        head = self.head.copy()
        head[index] = 0
        self.head = head
        super().replace(index, rows, atoms)

    def check_saved(self, **sizes: int) -> None:
        """Refuse a head of fewer rows than atoms and an intercept need."""
        if self.n_covariates < 0:
            raise ValueError(f"a head of {len(self.head)} rows for {len(self._rows)} atoms")
