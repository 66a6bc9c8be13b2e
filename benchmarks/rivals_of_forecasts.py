"""Simple forecasters: regressions on lags, exponential smoothing, both persistences."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from statsmodels.tsa.holtwinters import ExponentialSmoothing

LAGS = 12
PENALTIES = 10.0 ** np.arange(-2, 5)
LONGEST = 1000  # rows that exponential smoothing is fitted to


def persistence(past: NDArray, season: int, horizon: int) -> NDArray:
    """Return the last row, again and again."""
    return np.repeat(past[-1:], horizon, axis=0)


def seasonal(past: NDArray, season: int, horizon: int) -> NDArray:
    """Return the rows of the last season."""
    return past[len(past) - season + np.arange(horizon) % season]


def smoothing(past: NDArray, season: int, horizon: int) -> NDArray:
    """Return forecasts by exponential smoothing with a damped trend and an additive season."""
    ahead = np.empty((horizon, past.shape[1]))
    for column, values in enumerate(past[-LONGEST:].T):
        form = {"seasonal": "add", "seasonal_periods": season} if season > 1 else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = ExponentialSmoothing(values, trend="add", damped_trend=True, **form).fit()
        ahead[:, column] = fitted.forecast(horizon)
    return ahead


def ridge(past: NDArray, season: int, horizon: int) -> NDArray:
    """Return forecasts by a ridge regression on the last twelve rows of all columns."""
    mean, scale = past.mean(axis=0), past.std(axis=0)
    rows = (past - mean) / np.where(scale > 0, scale, 1)
    coefficients = regression(rows)
    for _ in range(horizon):
        lagged = rows[-LAGS:].ravel()
        rows = np.concatenate([rows, [coefficients[0] + lagged @ coefficients[1:]]])
    return rows[-horizon:] * scale + mean


def own_ridge(past: NDArray, season: int, horizon: int) -> NDArray:
    """Return forecasts by a ridge regression of each column on its own last twelve values."""
    return np.hstack([ridge(column[:, None], season, horizon) for column in past.T])


def regression(rows: NDArray) -> NDArray:
    """Return an intercept and coefficients; the penalty is best on the last quarter of the rows."""
    n, d = rows.shape
    lagged = np.lib.stride_tricks.sliding_window_view(rows, (LAGS, d))[:-1, 0].reshape(-1, LAGS * d)
    later, cut = rows[LAGS:], (3 * (n - LAGS)) // 4
    errors = []
    for penalty in PENALTIES:
        fitted = solved(lagged[:cut], later[:cut], penalty)
        errors.append(np.mean((predicted(fitted, lagged[cut:]) - later[cut:]) ** 2))
    return solved(lagged, later, PENALTIES[int(np.argmin(errors))])


def solved(lagged: NDArray, later: NDArray, penalty: float) -> NDArray:
    """Return the intercept and coefficients of a ridge regression; the intercept is free."""
    middle, goal = lagged.mean(axis=0), later.mean(axis=0)
    centred = lagged - middle
    gram = centred.T @ centred + penalty * np.eye(lagged.shape[1])
    slopes = np.linalg.solve(gram, centred.T @ (later - goal))
    return np.vstack([goal - middle @ slopes, slopes])


def predicted(coefficients: NDArray, lagged: NDArray) -> NDArray:
    """Return predictions of the rows that follow these lags."""
    return coefficients[0] + lagged @ coefficients[1:]


RIVALS = {
    "ridge on 12 rows": ridge,
    "ridge, own lags": own_ridge,
    "exponential smoothing": smoothing,
    "persistence": persistence,
    "seasonal persistence": seasonal,
}
