"""Dictionaries whose atoms are rows: free ones, or rows formed from something else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import Matrix
from atomstream.base.saved_fields import array, number
from atomstream.dictionaries.base import LEFT, same_in_any_company
from atomstream.dictionaries.low_rank import LARGE, Sums
from atomstream.penalties.base import Penalty

FEATURES = 4096  # that are in float64 at a time


class Rows:
    """A dictionary whose atoms are the rows of one matrix.

    Parameters
    ----------
    rows : ndarray of shape (n_components, n_features)
        The atoms. `assign` puts another matrix in their place and leaves this one as it is, so
        atoms that were handed out never change.
    scale : float, optional
        The robust scale of the errors that a trimmed loss measures by; it travels with the atoms.
    """

    SAVED = (array("_rows", "r d"), number("scale", optional=True, at_least=0, finite=True))
    scale: float | None = None
    _gram: NDArray | None = None
    _totals: NDArray | None = None

    def __init__(self, rows: NDArray, scale: float | None = None) -> None:
        self._rows = np.ascontiguousarray(rows)
        if scale is not None:
            self.scale = scale

    @property
    def shape(self) -> tuple[int, int]:
        """Number of atoms and of features."""
        return self._rows.shape[0], self._rows.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """Type of the atoms' entries."""
        return self._rows.dtype

    def atoms(self) -> NDArray:
        """Return the atoms, (n_components, n_features), read-only."""
        view = self._rows.view()
        view.flags.writeable = False
        return view

    def on(self, features: NDArray) -> Rows:
        """Return the atoms on some of the features."""
        return Rows(np.take(self._rows, features, axis=1), self.scale)

    def gram(self) -> NDArray:
        """Return the inner products of the atoms in float64; computed once per dictionary."""
        if self._gram is None:
            gram = np.zeros((len(self._rows), len(self._rows)))
            # Some features at a time: no copy in float64 that is as large as the atoms.
            for start in range(0, self._rows.shape[1], FEATURES):
                part = self._rows[:, start : start + FEATURES].astype(np.float64, copy=False)
                gram += part @ part.T
            self._gram = gram
        return self._gram

    def totals(self) -> NDArray:
        """Return the sums of the atoms in float64; computed once per dictionary."""
        if self._totals is None:
            self._totals = self._rows.sum(axis=1, dtype=np.float64)
        return self._totals

    def gram_on(self, observed: NDArray) -> NDArray:
        """Return the inner products of the atoms over the observed features, in float64.

        Numbers in place of truths are weights of the features. Where fewer features are missing
        than observed, what they add is taken off the full products, unless so little of an atom is
        left that rounding would show.
        """
        if observed.dtype != bool:
            rows = self._rows.astype(np.float64, copy=False)
            return (rows * observed) @ rows.T
        whole, n_observed = self.gram(), int(observed.sum())
        if n_observed == len(observed):
            return whole
        # Where most is observed, taking off the hidden part is cheaper. Where an atom loses nearly
        # all of its energy that way the difference has lost its digits, and the sum is formed anew.
        if 2 * n_observed > len(observed):
            hidden = self._rows[:, ~observed].astype(np.float64, copy=False)
            rest = whole - hidden @ hidden.T
            if (rest.diagonal() >= LEFT * whole.diagonal()).all():
                return rest
        shown = self._rows[:, observed].astype(np.float64, copy=False)
        return shown @ shown.T

    def correlate(self, X: Matrix) -> NDArray:
        """Return the inner products of samples and atoms, (n_samples, n_components)."""
        return (
            np.asarray(X @ self._rows.T) if sp.issparse(X) else same_in_any_company(X, self._rows.T)
        )

    def decode(self, codes: NDArray) -> NDArray:
        """Return the reconstructions, (n_samples, n_features)."""
        return codes @ self._rows

    def overlap(self, cross: Sums) -> float:
        """Return the sum of the inner products of every row of ``cross`` with its atom."""
        if self._rows.size < LARGE:
            return float(np.vdot(np.asarray(cross, dtype=np.float64), self._rows))
        # Row by row: types that differ would be brought to one in a copy.
        whole = np.asarray(cross)
        return float(sum(np.dot(one, row) for one, row in zip(whole, self._rows, strict=True)))

    def replace(self, index: NDArray, rows: NDArray, atoms: Penalty) -> None:
        """Put rows in the places of some atoms; all are projected if the set ties them together."""
        whole = self._rows.copy()
        whole[index] = rows
        # A set that ties rows together may not hold any more once some of them are exchanged.
        self.assign(whole if atoms.rowwise else atoms.prox(whole, 0.0))

    @classmethod
    def average(cls, parts: Sequence[Rows], shares: NDArray) -> Rows:
        """Return the average of dictionaries by their shares, added in their order."""
        mean = sum(w * part.atoms().astype(float) for w, part in zip(shares, parts, strict=True))
        scales = [part.scale or 0.0 for part in parts]
        scale = float(np.dot(shares, scales)) if any(scales) else None
        return cls(np.asarray(mean, dtype=parts[0].dtype), scale)

    def assign(self, rows: NDArray) -> None:
        """Replace the atoms; their type stays."""
        own = np.ascontiguousarray(rows, dtype=self._rows.dtype)
        vars(self).update(_rows=own, _gram=None, _totals=None)


class Derived(ABC):
    """A dictionary whose atoms are formed from something else: it has the products of its rows."""

    @property
    @abstractmethod
    def rows(self) -> Rows:
        """The atoms as a dictionary of rows."""

    def atoms(self) -> NDArray:
        """Return the atoms as rows, read-only."""
        return self.rows.atoms()

    def gram(self) -> NDArray:
        """Return the inner products of the atoms in float64."""
        return self.rows.gram()

    def gram_on(self, observed: NDArray) -> NDArray:
        """Return the inner products of the atoms over some features, in float64."""
        return self.rows.gram_on(observed)

    def correlate(self, X: Matrix) -> NDArray:
        """Return the inner products of samples and atoms."""
        return self.rows.correlate(X)

    def decode(self, codes: NDArray) -> NDArray:
        """Return the reconstructions."""
        return self.rows.decode(codes)

    def overlap(self, cross: Sums) -> float:
        """Return the sum of the inner products of every row of ``cross`` with its atom."""
        return self.rows.overlap(cross)
