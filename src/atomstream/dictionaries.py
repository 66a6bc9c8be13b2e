"""What coders and statistics see of a dictionary: its atoms and the products with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows"]


class Rows:
    """A dictionary whose atoms are the rows of one matrix.

    Coders ask for products only, so a dictionary that can form them without its atoms (loading matrices, say)
    offers the same methods.

    Parameters
    ----------
    rows : ndarray of shape (n_components, n_features)
        The atoms; kept and changed in place by `assign`.
    """

    def __init__(self, rows: NDArray) -> None:
        self._rows = np.ascontiguousarray(rows)
        self._gram: NDArray | None = None

    def atoms(self) -> NDArray:
        """Return the atoms, (n_components, n_features), read-only."""
        view = self._rows.view()
        view.flags.writeable = False
        return view

    def gram(self) -> NDArray:
        """Return the inner products of the atoms, (n_components, n_components); computed once per dictionary."""
        if self._gram is None:
            self._gram = self._rows @ self._rows.T
        return self._gram

    def correlate(self, X: Any) -> NDArray:
        """Return the inner products of samples and atoms, (n_samples, n_components)."""
        return np.asarray(X @ self._rows.T)

    def decode(self, codes: NDArray) -> NDArray:
        """Return the reconstructions, (n_samples, n_features)."""
        return codes @ self._rows

    def assign(self, rows: NDArray) -> None:
        """Replace the atoms; their type stays."""
        self._rows[...] = rows
        self._gram = None
