"""Invertible transformers of series: moving averages, logarithms, scaling."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from atomstream.base import Samples, check_count
from atomstream.fields.series.frames import Table, in_series, labels_on


class _SeriesTransformer(TransformerMixin, BaseEstimator, ABC):
    """A transformer from a table to a table of the same form."""

    def fit(self, Y: Samples, y: object = None) -> Self:
        """Check the values, and learn what the transformer needs of them.

        Parameters
        ----------
        Y : table of shape (n_times, n_series)
            NaN where an entry is missing.
        y : ignored
        """
        table = Table.of(Y)
        self.n_features_in_, self.form_ = table.values.shape[1], table.form
        self._learn(table)
        return self

    def transform(self, Y: Samples) -> Any:
        """Return the transformed values.

        Parameters
        ----------
        Y : table of shape (n_times, n_series)
        """
        table = self._checked(Y)
        return table.wrap(self._transformed(table.values))

    def inverse_transform(self, Y: Samples) -> Any:
        """Return the values before they were transformed.

        Parameters
        ----------
        Y : table of shape (n_times, n_series)
        """
        table = self._checked(Y)
        return table.wrap(self._undone(table.values))

    def _checked(self, Y: Samples) -> Table:
        check_is_fitted(self)
        return in_series(Table.of(Y), self.form_, self.n_features_in_, "Y")

    @abstractmethod
    def _learn(self, table: Table) -> None:
        """Keep what the transformer needs of the values."""

    @abstractmethod
    def _transformed(self, values: NDArray) -> NDArray:
        """Return the transformed values."""

    @abstractmethod
    def _undone(self, values: NDArray) -> NDArray:
        """Return the values before they were transformed."""


class MovingAverage(_SeriesTransformer):
    """The mean of each value and the ones before it, without missing ones.

    The first rows are means of fewer values. No value depends on later ones.

    Parameters
    ----------
    size : int, default=5
        Number of times in a mean.
    follows : bool, optional
        Whether the rows given to `inverse_transform` follow those of `fit`, as forecasts do, or
        start where `transform` started. By default the labels of frames decide, and arrays start
        anew.

    Examples
    --------
    >>> average = MovingAverage(2)
    >>> means = average.fit_transform([[1.0], [3.0], [5.0]])
    >>> means.ravel(), average.inverse_transform(means).ravel()
    (array([1., 2., 4.]), array([1., 3., 5.]))
    """

    def __init__(self, size: int = 5, *, follows: bool | None = None) -> None:
        self.size = size
        self.follows = follows

    def _learn(self, table: Table) -> None:
        """Keep the last values, which are needed to invert means that follow the table."""
        check_count("size", self.size)
        self.last_ = table.values[max(len(table.values) - self.size + 1, 0) :]

    def _transformed(self, values: NDArray) -> NDArray:
        """Return trailing means; NaN where all values of a mean are missing."""
        observed = ~np.isnan(values)
        total = _trailing(np.where(observed, values, 0), self.size)
        count = _trailing(observed.astype(float), self.size)
        return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)

    def inverse_transform(self, Y: Samples, *, follows: bool | None = None) -> Any:
        """Return the values with these trailing means; exact up to rounding if none is missing.

        Parameters
        ----------
        Y : table of shape (n_times, n_series)
            Trailing means; after a missing one the rest of its series is NaN.
        follows : bool, optional
            Overrides the setting of that name.
        """
        table = self._checked(Y)
        follows = self.follows if follows is None else follows
        follows = self._follow(table) if follows is None else follows
        return table.wrap(self._undone(table.values, self.last_ if follows else None))

    def _undone(self, values: NDArray, known: NDArray | None = None) -> NDArray:
        """Return the values with these trailing means, behind those that are known."""
        known = values[:0] if known is None else known
        values = np.concatenate([known, values])
        for row in range(len(known), len(values)):
            before = values[max(0, row - self.size + 1) : row]
            # The mean times its number less the values before: each row needs those that were
            # undone first.
            values[row] = values[row] * (len(before) + 1) - before.sum(axis=0)
        return values[len(known) :]

    def _follow(self, table: Table) -> bool:
        """Return whether the labels of a table continue those of `fit`."""
        labels, times = labels_on(table, self.form_), self.form_.times
        return labels is not None and times is not None and bool(times.at(1, 1)[0] == labels[0])


class Log1p(_SeriesTransformer):
    """The logarithm of one plus a value, for counts that grow by factors.

    Examples
    --------
    >>> Log1p().fit_transform([[0.0], [np.e - 1]]).ravel()
    array([0., 1.])
    """

    def _learn(self, table: Table) -> None:
        self._transformed(table.values)

    def _transformed(self, values: NDArray) -> NDArray:
        least = np.nanmin(values, initial=0)
        if least <= -1:
            raise ValueError(f"log1p needs values above -1, got {least:.4g}.")
        return np.log1p(values)

    def _undone(self, values: NDArray) -> NDArray:
        return np.expm1(values)


class NonnegativeScaler(_SeriesTransformer):
    """Shift and scale each series so that its values in `fit` go from 0 to 1.

    Values below 0 after scaling become 0.

    Parameters
    ----------
    margin : float, default=0.0
        Room below the smallest value, as a share of the range. Later values that fall into it are
        not cut.
    shift : bool, default=True
        If False, series are only divided by their largest values in `fit`. They must not be
        negative then, no later value is cut, and ``margin`` has no effect.

    Attributes
    ----------
    low_, scale_ : ndarray of shape (n_series,)
        ``transform`` is (y - low) / scale.

    Examples
    --------
    >>> scaler = NonnegativeScaler().fit([[-1.0], [3.0]])
    >>> scaler.transform([[1.0], [-5.0]]).ravel(), scaler.inverse_transform([[0.5]]).ravel()
    (array([0.5, 0. ]), array([1.]))
    """

    def __init__(self, margin: float = 0.0, *, shift: bool = True) -> None:
        self.margin = margin
        self.shift = shift

    def _learn(self, table: Table) -> None:
        """Learn the range of each series; a constant one has the scale 1."""
        if not 0 <= self.margin < np.inf:
            raise ValueError(f"margin must be a number of at least 0, got {self.margin!r}.")
        values = table.values
        empty = np.flatnonzero(np.isnan(values).all(axis=0))
        if len(empty):
            raise ValueError(f"Series {int(empty[0])} has no observed value; leave it out.")
        self._check_range(values)
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        self.low_ = low - self.margin * (high - low) if self.shift else np.zeros_like(low)
        low = low if self.shift else self.low_
        self.scale_ = np.where(high > low, high - self.low_, 1.0)

    def _transformed(self, values: NDArray) -> NDArray:
        self._check_range(values)
        # Values below those of `fit` would be negative.
        return np.maximum((values - self.low_) / self.scale_, 0)

    def _undone(self, values: NDArray) -> NDArray:
        """Return low + scale y: exact, up to rounding, for values that were not cut."""
        return self.low_ + self.scale_ * values

    def _check_range(self, values: NDArray) -> None:
        least = np.nanmin(values, initial=0)
        if least < 0 and not self.shift:
            raise ValueError(f"With shift=False values must not be negative, got {least:.4g}.")


def _trailing(values: NDArray, size: int) -> NDArray:
    """Return the sum of each row and the ``size - 1`` rows before it."""
    total = np.zeros_like(values)
    for lag in range(min(size, len(values))):
        total[lag:] += values[: len(values) - lag]
    return total
