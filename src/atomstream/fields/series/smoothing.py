"""Exponential smoothing of many settings at once; the one with the smallest errors forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.saved_fields import array, count

JUDGED = np.array([1, 6, 12])  # steps ahead whose errors decide between settings
REACH = 500  # rows after which an error weighs 1/e of the latest


@dataclass(frozen=True)
class ExponentialSmoothing:
    r"""A level, a damped trend and an additive season, followed with every setting of a grid.

    With the error e of the row, l' = l + phi b + alpha e, b' = phi b + alpha beta e, and the part
    of the season s' = s + gamma (1 - alpha) e. One more row costs as many sums as there are
    settings; nothing is fitted again.

    Parameters
    ----------
    season : int, default=1
        Rows in a season; 1 for none.
    levels : tuple of float, default=(0.05, 0.2, 0.5, 0.9, 1.0)
        Values of alpha.
    trends : tuple of float, default=(0.0, 0.05, 0.2)
        Values of beta.
    seasons : tuple of float, default=(0.1, 0.4)
        Values of gamma.
    dampings : tuple of float, default=(0.9, 0.98, 1.0)
        Values of phi.

    References
    ----------
    Hyndman, Koehler, Ord, Snyder (2008), "Forecasting with exponential smoothing", model (A, Ad, A)
    of table 2.2; ours keeps all settings and takes the best so far, at 1, 6 and 12 steps.
    """

    season: int = 1
    levels: tuple[float, ...] = (0.05, 0.2, 0.5, 0.9, 1.0)
    trends: tuple[float, ...] = (0.0, 0.05, 0.2)
    seasons: tuple[float, ...] = (0.1, 0.4)
    dampings: tuple[float, ...] = (0.9, 0.98, 1.0)

    @cached_property
    def _grid(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """All settings, each of shape (n_settings, 1)."""
        seasons = self.seasons if self.season > 1 else (0.0,)
        grid = product(self.levels, self.trends, seasons, self.dampings)
        kept = [setting for setting in grid if setting[1] > 0 or setting[3] == self.dampings[-1]]
        alpha, beta, gamma, phi = np.array(kept).T[:, :, None]
        return alpha, beta, gamma, phi

    @property
    def n_first(self) -> int:
        """How many rows it takes to begin."""
        return 2 * self.season

    def begin(self, n_series: int) -> Smoothed:
        """Return what is known before the first row."""
        k = len(self._grid[0])
        zeros, steps = np.zeros((k, n_series)), int(JUDGED[-1])
        return Smoothed(
            *(zeros.copy(), zeros.copy(), np.zeros((k, self.season, n_series)), zeros.copy()),
            np.full((steps, len(JUDGED), k, n_series), np.nan),
            0,
        )

    def learned(self, state: Smoothed, rows: NDArray, row: NDArray, place: int) -> None:
        """Learn from one more row, in place.

        Parameters
        ----------
        state : Smoothed
        rows : ndarray of shape (at least n_first - 1, n_series)
            The rows before, without missing entries.
        row : ndarray of shape (n_series,)
            NaN where missing.
        place : int
            Number of the row.
        """
        m = self.season
        if not state.n_rows:
            if len(rows) + 1 >= self.n_first:
                self._started(state, rows, row, place)
            return
        alpha, beta, gamma, phi = self._grid
        steps = len(state.made)
        made = state.made[(place - JUDGED) % steps, np.arange(len(JUDGED))]
        errors = np.nan_to_num((made - row) ** 2).sum(axis=0)
        state.errors *= 1 - 1 / REACH
        state.errors += errors
        left = np.nan_to_num(row - (state.level + phi * state.trend + state.season[:, place % m]))
        state.level += phi * state.trend + alpha * left
        state.trend *= phi
        state.trend += alpha * beta * left
        if m > 1:
            state.season[:, place % m] += gamma * (1 - alpha) * left
        self._note(state, place)

    def _started(self, state: Smoothed, rows: NDArray, row: NDArray, place: int) -> None:
        """Take the level, trend and season from the first two seasons."""
        m, beta = self.season, self._grid[1]
        last = np.where(np.isnan(row), rows[-1], row)
        first = np.concatenate([rows, last[None]])[-2 * m :]
        before, after = first[:m].mean(axis=0), first[m:].mean(axis=0)
        trend = (after - before) / m
        state.trend[:] = np.where(beta > 0, trend, 0)
        state.level[:] = after + state.trend * (m - 1) / 2
        if m > 1:
            level = np.stack([before, after])[:, None] + np.zeros((2, m, 1))
            shape = (first.reshape(2, m, -1) - level).mean(axis=0)
            shape -= trend * (np.arange(m) - (m - 1) / 2)[:, None]
            state.season[:, (place + 1 + np.arange(m)) % m] = shape
        state.n_rows = 1
        self._note(state, place)

    def _note(self, state: Smoothed, place: int) -> None:
        """Note what every setting forecasts, to be judged by the rows to come."""
        at = self._at(JUDGED)[:, :, None]
        seasons = state.season[:, (place + JUDGED) % self.season].transpose(1, 0, 2)
        state.made[place % len(state.made)] = state.level + at * state.trend + seasons

    def _at(self, steps: NDArray) -> NDArray:
        """Return how many trends lie between the level and each step, (n_steps, n_settings)."""
        phi = self._grid[3].T
        sums = np.cumsum(phi ** np.arange(1, steps[-1] + 1)[:, None], axis=0)
        return sums[steps - 1]

    def ahead(self, state: Smoothed, place: int, horizon: int) -> NDArray:
        """Return forecasts by the best setting of each series, (horizon, n_series).

        Parameters
        ----------
        state : Smoothed
        place : int
            Number of the first row to be forecast.
        horizon : int

        Returns
        -------
        ndarray of shape (horizon, n_series)
            NaN before two seasons are there.
        """
        best, series = state.errors.argmin(axis=0), np.arange(state.errors.shape[1])
        if not state.n_rows:
            return np.full((horizon, len(series)), np.nan)
        trends = self._at(np.arange(1, horizon + 1))[:, best] * state.trend[best, series]
        seasons = state.season[best, :, series][:, (place + np.arange(horizon)) % self.season].T
        return state.level[best, series] + trends + seasons


@dataclass(eq=False)
class Smoothed:
    """What an `ExponentialSmoothing` has learned, with each of its settings.

    Attributes
    ----------
    level, trend : ndarray of shape (n_settings, n_series)
    season : ndarray of shape (n_settings, season, n_series)
    errors : ndarray of shape (n_settings, n_series)
        Sums of squared errors, older ones weighing less.
    made : ndarray of shape (12, 3, n_settings, n_series)
        The last forecasts of `JUDGED` steps; NaN where there is none.
    n_rows : int
        0 before it has begun, else 1.
    """

    SAVED: ClassVar = (
        *(
            array(name, "settings d", np.float64, finite=True)
            for name in ("level", "trend", "errors")
        ),
        array("season", "settings season d", np.float64, finite=True),
        array("made", "rows steps settings d", np.float64),
        count("n_rows"),
    )

    level: NDArray
    trend: NDArray
    season: NDArray
    errors: NDArray
    made: NDArray
    n_rows: int
