"""Persistence: an earlier row taken for the next, the forecast that every other must beat."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
