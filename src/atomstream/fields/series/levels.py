"""What a forecast needs beside atoms: levels of series, the width of bands, and persistence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-10  # a standard deviation below this share of the values is rounding: a constant


@dataclass(frozen=True, eq=False)
class Levels:
    """The offset and scale of each series: a value is offset + scale * unit.

    Parameters
    ----------
    offset, scale : ndarray of float64 of shape (n_series,)
        NaN where a series has none yet; its values are NaN in the units of atoms.

    Examples
    --------
    >>> levels = Levels.unknown(1).learned([[280.0], [282.0], [278.0], [280.0]])
    >>> levels.offset.round(3).item(), levels.scale.round(3).item()
    (276.586, 1.414)
    >>> levels.undo(levels.apply(np.array([[279.0], [0.0]]))).ravel().round(3)
    array([279.   , 276.586])
    """

    offset: NDArray
    scale: NDArray

    def __post_init__(self) -> None:
        offset, scale = self.offset, self.scale
        good = offset.shape == scale.shape == (len(offset),)
        good &= offset.dtype == scale.dtype == np.float64
        if not good or not (np.isnan(offset + scale) | (np.isfinite(offset) & (scale > 0))).all():
            raise ValueError("offsets and scales of series that do not fit together")

    @classmethod
    def identity(cls, n_series: int) -> Levels:
        """Return the offset 0 and the scale 1 for every series."""
        return cls(np.zeros(n_series), np.ones(n_series))

    @classmethod
    def unknown(cls, n_series: int) -> Levels:
        """Return levels of series of which nothing was observed."""
        return cls(np.full(n_series, np.nan), np.full(n_series, np.nan))

    def learned(self, rows: NDArray) -> Levels:
        """Return these levels, and those of further series from the values in these rows.

        The scale is the standard deviation. The offset lies one scale below the minimum: with the
        minimum itself, forecasts were worse, and every later value below it would be lost to the
        atoms. A constant series takes the median of the other scales, or 1 if there is none.

        Parameters
        ----------
        rows : ndarray of shape (n, n_series)
        """
        rows = np.asarray(rows, dtype=np.float64)
        new = np.isnan(self.offset) & ~np.isnan(rows).all(axis=0)
        if not new.any():
            return self
        offset, scale, values = self.offset.copy(), self.scale.copy(), rows[:, new]
        spread = np.nanstd(values, axis=0)
        constant = spread <= ROUNDING * np.nanmax(np.abs(values), axis=0)
        others = np.append(scale[~np.isnan(scale)], spread[~constant])
        scale[new] = np.where(constant, np.median(others) if len(others) else 1.0, spread)
        offset[new] = np.nanmin(values, axis=0) - scale[new]
        return Levels(offset, scale)

    def following(self, rows: NDArray, size: int) -> Levels:
        """Return the levels after the last of these rows.

        A series without levels takes them from its first ``size`` rows, counted from its first
        observed value.

        Parameters
        ----------
        rows : ndarray of shape (n, n_series)
            The last rows, with every observed value of the series that have no levels.
        size : int
        """
        if len(rows) < size or not np.isnan(self.offset).any():
            return self
        rows = rows[-size:]
        return self.learned(np.where(np.isnan(rows[0]), np.nan, rows))

    def apply(self, values: NDArray) -> NDArray:
        """Return values in the units of atoms; those below the offset become 0."""
        return np.maximum((values - self.offset) / self.scale, 0)

    def undo(self, units: NDArray) -> NDArray:
        """Return values from units of atoms."""
        return units * self.scale + self.offset


@dataclass(frozen=True, eq=False)
class LastKnown:
    """What stays known of each series when its last observed row is no longer kept.

    Parameters
    ----------
    values : ndarray of float64 of shape (n_series,)
        The last observed value; NaN where nothing was observed.
    ages : ndarray of int64 of shape (n_series,)
        Rows since then, 0 for the last row.
    errors : ndarray of float64 of shape (n, n_series)
        Its last errors of honest one-step predictions, the latest last; NaN where there are fewer.
    """

    values: NDArray
    ages: NDArray
    errors: NDArray

    def __post_init__(self) -> None:
        values, ages, errors = self.values, self.ages, self.errors
        good = values.shape == ages.shape == errors.shape[1:] and values.ndim == 1
        good &= values.dtype == errors.dtype == np.float64 and ages.dtype == np.int64
        if not good or not (ages >= 0).all():
            raise ValueError("last values, ages and errors of series that do not fit together")

    @classmethod
    def nothing(cls, n_series: int, n_errors: int) -> LastKnown:
        """Return what is known before the first row."""
        values, ages = np.full(n_series, np.nan), np.zeros(n_series, dtype=np.int64)
        return cls(values, ages, np.full((n_errors, n_series), np.nan))

    def after(self, row: NDArray, errors: NDArray) -> LastKnown:
        """Return what is known after one more row.

        Parameters
        ----------
        row, errors : ndarray of shape (n_series,)
            The row and the errors of its honest prediction; NaN where there is none.
        """
        missing, later = np.isnan(row), np.concatenate([self.errors[1:], errors[None]])
        return LastKnown(
            np.where(missing, self.values, row),
            np.where(missing, self.ages + 1, 0),
            np.where(np.isnan(errors), self.errors, later),
        )


def min_errors(coverage: float) -> int:
    """Return the number of past errors that a band of this coverage needs."""
    return math.ceil(round(coverage / (1 - coverage), 9))


def half_widths(errors: NDArray, coverage: float) -> NDArray:
    """Return half the width of a band for each series.

    It is the ceil((n + 1) coverage)-th smallest of n past absolute errors. If past and new errors
    are exchangeable, a new error is larger with a probability of at most 1 - coverage, for any n
    and any distribution.

    Parameters
    ----------
    errors : ndarray of shape (n, n_series)
        NaN where there is no error.
    coverage : float
        Share of new values inside the band, above 0 and below 1.

    Returns
    -------
    ndarray of shape (n_series,)
        NaN for series with too few errors: at least coverage / (1 - coverage) are needed.

    References
    ----------
    Vovk, Gammerman, Shafer (2005), "Algorithmic learning in a random world", split (inductive)
    conformal prediction.

    Examples
    --------
    >>> half_widths(np.arange(1.0, 10.0)[:, None], 0.8)
    array([8.])
    """
    counts = (~np.isnan(errors)).sum(axis=0)
    places = np.array([math.ceil(round((n + 1) * coverage, 9)) for n in counts], dtype=np.intp)
    ordered = np.pad(np.sort(np.abs(errors), axis=0), ((0, 1), (0, 0)), constant_values=np.nan)
    return np.take_along_axis(ordered, places[None] - 1, axis=0)[0]  # NaN beyond the last error


FEWEST = 10  # rows that a comparison needs
REACH = 1000  # rows after which one weighs 1/e of the latest


class BetterLag(NamedTuple):
    """An earlier row that predicts better, with root mean squares of errors.

    Attributes
    ----------
    lag : int
        The row so many times before is taken for the next; 1 is persistence.
    own : float
        Error of the predictions.
    error : float
        Error of the earlier row, where both are known.
    """

    lag: int
    own: float
    error: float


def rms(errors: NDArray) -> float:
    """Return the root mean square of the errors that are not NaN; NaN where there is none."""
    known = errors[~np.isnan(errors)]
    return float(np.sqrt(np.mean(known**2))) if len(known) else np.nan


def no_errors(n_lags: int) -> NDArray:
    """Return what `compared` adds to, before anything was compared: zeros, (4, n_lags)."""
    return np.zeros((4, n_lags))


def compared(sums: NDArray, row: NDArray, predicted: NDArray, before: NDArray) -> NDArray:
    """Return the sums with one more row, in which its prediction stands beside earlier rows.

    Older rows weigh less: the last `REACH` rows or so count.

    Parameters
    ----------
    sums : ndarray of shape (4, n_lags)
        For each lag, over entries where both are known: squared errors of the predictions, squared
        errors of the row so many times before, the number of entries, and the number of rows.
    row, predicted : ndarray of shape (n_series,)
        NaN where there is none.
    before : ndarray of shape (any, n_series)
        The rows before, the latest last.
    """
    added = np.zeros_like(sums)
    others = (before[::-1] - row)[: sums.shape[1]]
    own = np.broadcast_to(predicted - row, others.shape)
    both = ~np.isnan(own) & ~np.isnan(others)
    for place, errors in enumerate((own, others)):
        added[place, : len(others)] = np.where(both, errors, 0) ** 2 @ np.ones(len(row))
    added[2, : len(others)], added[3, : len(others)] = both.sum(axis=1), both.any(axis=1)
    return (1 - 1 / REACH) * sums + added


def better_lag(sums: NDArray) -> BetterLag | None:
    """Return the lag whose persistence beats predictions by most; None where none does.

    Each lag is judged on all rows that it reaches, so that a season is found without being named.

    Parameters
    ----------
    sums : ndarray of shape (4, n_lags)
        As `compared` returns them.

    Returns
    -------
    BetterLag or None
        None also where fewer than ten rows can be compared.
    """
    known = np.flatnonzero(sums[3] > FEWEST * (1 - FEWEST / REACH))  # ten rows, the oldest less
    own, others = np.sqrt(sums[:2, known] / sums[2, known])
    if not (own > others).any():
        return None
    best = np.where(own > others, others / np.maximum(own, 1e-300), 1).argmin()
    return BetterLag(int(known[best]) + 1, float(own[best]), float(others[best]))
