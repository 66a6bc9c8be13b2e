"""Persistence: an earlier row taken for the next, the forecast that every other must beat."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["BetterLag", "better_lag", "rms"]

FEWEST = 10  # rows that a comparison needs


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


def better_lag(predicted: NDArray, rows: NDArray) -> BetterLag | None:
    """Return the lag whose persistence beats predictions by most; None where none does.

    Lags up to half of the rows are tried, each on all rows that it reaches, so that a season is
    found without being named.

    Parameters
    ----------
    predicted : ndarray of shape (at most n, n_series)
        Of the last rows; NaN where there is no prediction.
    rows : ndarray of shape (n, n_series)

    Returns
    -------
    BetterLag or None
        None also where fewer than ten rows can be compared.
    """
    errors = np.full_like(rows, np.nan)
    errors[len(rows) - len(predicted) :] = predicted - rows[len(rows) - len(predicted) :]
    found = []
    for lag in range(1, len(rows) // 2 + 1):
        own, others = errors[lag:], rows[:-lag] - rows[lag:]
        both = ~np.isnan(own) & ~np.isnan(others)
        if both.any(axis=1).sum() >= FEWEST:
            found.append(BetterLag(lag, rms(own[both]), rms(others[both])))
    beating = [each for each in found if each.own > each.error]
    return max(beating, key=lambda each: each.own - each.error, default=None)
