"""Errors of forecasts from many origins, each by a model that has seen earlier rows only."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from atomstream.base.checks import check_count
from atomstream.base.progress import track
from atomstream.domains.series.levels import rms
from atomstream.estimators.series import SeriesDictionary
from atomstream.exceptions import DataWarning

MAX_ORIGINS = 100  # origins by default
LONGEST = 10_000  # rows of a season
ALIKE = 1.05  # errors of two seasons that differ by less are alike: of these the shorter one counts


class Baselines(NamedTuple):
    """Errors of earlier rows that are taken for those that follow, for every step ahead.

    Attributes
    ----------
    persistence : ndarray of shape (horizon,)
        Of the last row.
    seasonal : ndarray of shape (horizon,)
        Of the rows ``season`` times before.
    season : int
        The shortest whose mean error is within 5 % of the smallest.
    """

    persistence: NDArray
    seasonal: NDArray
    season: int


def first_origin(
    n_rows: int, horizon: int, n_origins: int | None, *, needed: int
) -> tuple[int, int]:
    """Return the number of origins and the number of rows before the first.

    Parameters
    ----------
    n_rows : int
    horizon : int
    n_origins : int or None
        By default a third of the rows, at most 100.
    needed : int
        Rows that must come before the first origin.
    """
    check_count("horizon", horizon, 1)
    n_origins = min(MAX_ORIGINS, n_rows // 3) if n_origins is None else n_origins
    check_count("n_origins", n_origins, 1)
    first = n_rows - n_origins - horizon + 1
    if first < needed:
        raise ValueError(
            f"Y has {n_rows} rows, {n_origins} origins and a horizon of {horizon} leave {first}; "
            f"needed are at least {needed} before the first origin."
        )
    return n_origins, first


def prepared(base: SeriesDictionary, settings: dict[str, Any], first: int) -> SeriesDictionary:
    """Return a model with these settings whose initialisation sees no more rows than there are."""
    model = clone(base).set_params(**settings)
    model.check()
    return model.set_params(n_init=first) if model._n_init > first else model


def rolled(
    model: SeriesDictionary, values: NDArray, first: int, n_origins: int, horizon: int
) -> NDArray:
    """Return the root mean square error of each step ahead, over all origins."""
    model, errors = clone(model).fit(values[:first]), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        origins = range(first, first + n_origins)
        for origin in track(origins, n_origins, "judging forecasts"):
            errors.append(model.predict(horizon) - values[origin : origin + horizon])
            model.partial_fit(values[origin : origin + 1])
    return np.array([rms(step) for step in np.stack(errors, axis=1)])


def baselines(values: NDArray, first: int, n_origins: int, horizon: int) -> Baselines:
    """Return the errors of persistence and of the best season."""
    lags = range(1, min(first, LONGEST) + 1)
    naive = np.array([_naive(values, first, n_origins, horizon, lag) for lag in lags])
    means = naive[1:].mean(axis=1)
    season = int(np.argmax(means <= ALIKE * np.nanmin(means))) + 2
    return Baselines(naive[0], naive[season - 1], season)


def _naive(values: NDArray, first: int, n_origins: int, horizon: int, lag: int) -> NDArray:
    """Return these errors where a row some lag before an origin, or a season of these, is taken."""
    origins = np.arange(first, first + n_origins)
    steps = range(horizon)
    return np.array(
        [rms(values[origins - lag + step % lag] - values[origins + step]) for step in steps]
    )
