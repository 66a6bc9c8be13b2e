"""Sums of majorisers of sparse batches, at a cost that goes by what a batch touches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Columns
from atomstream.base.saved_fields import array, count, number, part
from atomstream.dictionaries.normalized import Normalized

# Of an atom's mean entry that each of its entries has more than its sums say.
MIN_ENTRY_SHARE = 1e-8
SMALLEST = 1e-60  # of the common factors: before, they are multiplied in
RENEWED = 4096  # changes after which running sums are formed anew: rounding adds up


@dataclass(frozen=True)
class ColumnSums:
    r"""Coefficients of a majoriser whose convex part is linear and alike for all features.

    That is the case for losses with a constant slope at zero, as Kullback-Leibler's: p is 1,
    :math:`P_{kf} = P_k`, and only entries of the data add to N. Its minimiser on a simplex is
    then proportional to :math:`N^{1/(1-q)}`, whatever the atoms are now. The weight of all that
    is past falls by a factor with every batch, which is kept apart: :math:`N_{kf} = u_k M_{fk}`,
    so M changes only in the features where a batch has an entry.

    Attributes
    ----------
    counts : Columns of shape (n_features, n_components)
        M.
    unit, plus : ndarray of shape (n_components,)
        u and P.
    power : float
        1 / (1 - q).
    sizes : ndarray of shape (n_components,)
        Sums of the columns of :math:`M^{1/(1-q)}`.
    inner : ndarray of shape (n_components, n_components)
        Inner products of these columns.
    age : int
        Number of changes since the last two were summed as a whole.
    """

    SAVED = (
        *(part("counts", Columns), array("unit", "r", above=0, finite=True)),
        *(array("plus", "r", finite=True), number("power", above=0, finite=True)),
        *(array("sizes", "r", finite=True), array("inner", "r r", finite=True), count("age")),
    )

    counts: Columns
    unit: NDArray
    plus: NDArray
    power: float
    sizes: NDArray
    inner: NDArray
    age: int = 0

    @classmethod
    def of(cls, minus: NDArray, plus: NDArray, power: float) -> Self:
        """Return sums whose coefficients N are the columns of a matrix (n_features, r)."""
        raised = _raised(minus, power)
        moments = raised.sum(axis=0), raised.T @ raised
        return cls(Columns(minus), np.ones(len(plus)), plus, power, *moments)

    def minus(self) -> NDArray:
        """Return N, (n_components, n_features)."""
        return (self.counts.array * self.unit).T

    def moved(self, keep: float, features: NDArray, minus: NDArray, plus: NDArray) -> ColumnSums:
        """Return ``keep`` times these sums plus those of a batch.

        Parameters
        ----------
        keep : float
            Above 0.
        features : ndarray of int of shape (n_touched,)
        minus : ndarray of shape (n_components, n_touched)
            What is added to N there.
        plus : ndarray of shape (n_components,)
            What is added to P.
        """
        plus, unit = keep * self.plus + plus, keep * self.unit
        if unit.min() < SMALLEST or self.age >= RENEWED:
            whole = self.counts.array * unit
            whole[features] += minus.T
            return type(self).of(whole, plus, self.power)
        # M is in units of u, which falls with every batch.
        after = self.counts.read(features) + minus.T / unit
        return replace(self._changed(features, after), unit=unit, plus=plus)

    def cleared(self, features: NDArray, atoms: NDArray) -> ColumnSums:
        """Return the sums without N of the atoms that a mask, (n_touched, r), marks."""
        return self._changed(features, np.where(atoms, 0, self.counts.read(features)))

    def _changed(self, features: NDArray, after: NDArray) -> ColumnSums:
        """Return the sums with other rows of M."""
        old, new = _raised(self.counts.read(features), self.power), _raised(after, self.power)
        # Only the touched features change what is summed over all of them.
        sizes = self.sizes + (new - old).sum(axis=0)
        inner = self.inner + (new.T @ new - old.T @ old)
        counts, age = self.counts.changed(features, after), self.age + 1
        return replace(self, counts=counts, sizes=sizes, inner=inner, age=age)

    def rescaled(self, scale: NDArray, exponent: float) -> ColumnSums:
        """Return the sums where P is multiplied by ``scale``, and N by a power of it."""
        # N enters as N z^q / q: codes that grow by a factor make it grow by that factor to the q.
        unit = self.unit if exponent == 0 else self.unit * scale**exponent
        parts = vars(self) | {"unit": unit, "plus": self.plus * scale}
        return type(self)(**parts)

    def without(self, atoms: NDArray) -> ColumnSums:
        """Return the sums that know nothing of these atoms."""
        minus, plus = self.minus().T.copy(), self.plus.copy()
        minus[:, atoms], plus[atoms] = 0, 0
        return type(self).of(minus, plus, self.power)

    def lengths(self) -> NDArray:
        """Return the sums of the atoms where P and N alone decide, without a set."""
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = self.sizes * _raised(self.unit / self.plus, self.power)
        return np.where(self.sizes > 0, lengths, 0.0) * (1 + MIN_ENTRY_SHARE)

    def atoms(self, total: float, dtype: Any) -> Normalized:
        """Return the atoms that minimise the majoriser on a simplex, none of their entries 0."""
        # With what every entry has more the sum is the total again.
        share = total / (1 + MIN_ENTRY_SHARE)
        sizes = np.where(self.sizes > 0, self.sizes, 1.0)
        scale = share / sizes, share * MIN_ENTRY_SHARE / self.counts.shape[0]
        return Normalized(self.counts, self.power, (self.sizes, self.inner), scale, dtype)


def _raised(rows: NDArray, power: float) -> NDArray:
    return rows if power == 1 else rows**power
