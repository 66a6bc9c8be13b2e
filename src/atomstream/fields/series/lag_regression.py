"""Regressions of the next row on the rows before it, learned row by row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.saved_fields import array

MAX_INVERSE = 1e3  # mean of the inverse's diagonal: beyond it old rows are forgotten no further
MAX_UNITS = 1e3  # forecasts beyond so many standard deviations are cut


@dataclass(frozen=True)
class Regressors:
    """Which of the regressors of a `LagRegression` one regression has.

    Parameters
    ----------
    level : bool, default=True
        The last row and an intercept; without them the forecast goes by changes alone.
    changes : int, default=11
        How many of the last changes.
    season : bool, default=False
        The change of one season ago, and how far the row before that was from the last.
    waves : bool, default=False
        Sines and cosines of the season.
    penalty : float, default=1.0
        Of the squares of the coefficients: large ones stay near persistence.
    keep : float, default=1.0
        Weight of the past in each row; below 1 old rows are forgotten.
    reverts : bool, default=False
        Whether the penalty leads to the mean of the series, in place of the last row.
    """

    level: bool = True
    changes: int = 11
    season: bool = False
    waves: bool = False
    penalty: float = 1.0
    keep: float = 1.0
    reverts: bool = False


@dataclass(frozen=True)
class LagRegression:
    r"""Several ridge regressions of the next change of series on lags, by recursive least squares.

    After row t the coefficients C minimise the sum of ||y_s - y_(s-1) - C x_s||^2 over the rows s
    up to t, older ones weighted by ``keep``, plus the penalty times ||C||^2: without data the
    forecast is the last row; or times ||C - C_0||^2, where C_0 takes the last row away and leaves
    zero, which stands near the mean (``reverts``). One more row costs the square of the number of
    regressors. Series are in groups: each alone, or all in one, where the lags of all predict each.

    Parameters
    ----------
    kinds : tuple of Regressors
        One regression each.
    lags : int
        How many rows the regressors reach back, apart from the season.
    season : int, default=1
        Rows in a season; 1 for none.
    n_waves : int, default=0
        Sines and cosines of a season.
    n_known : int, default=0
        Columns that are known ahead.

    References
    ----------
    Ljung (1999), "System identification", section 11.2, recursive least squares; ours has no
    dead zone, and the trace of the inverse is bounded.
    """

    kinds: tuple[Regressors, ...]
    lags: int
    season: int = 1
    n_waves: int = 0
    n_known: int = 0

    @property
    def reach(self) -> int:
        """How many rows back the regressors go."""
        return max(self.lags, self.season + 1 if self.season > 1 else 0)

    @cached_property
    def _from_lags(self) -> NDArray:
        """What each regressor takes of the last rows, the latest last, (n_regressors, reach)."""
        last = np.eye(self.reach)[::-1]  # last[j] picks the row j + 1 before
        rows = [last[0], *(last[:-1] - last[1:])[: self.lags - 1]]
        if self.season > 1:
            m = self.season
            rows += [last[m - 1] - last[m], last[m] - last[0]]
        return np.stack(rows)

    def begin(self, n_groups: int, width: int) -> LagCoefficients:
        """Return coefficients of 0, persistence, and those of kinds that revert."""
        taken = _taken(self, width)
        k = taken.shape[1]
        inverse = np.zeros((len(self.kinds), n_groups, k, k))
        penalties = np.array([kind.penalty for kind in self.kinds])
        inverse[:] = np.eye(k) / penalties[:, None, None, None]
        coefficients = np.zeros((len(self.kinds), n_groups, k, width))
        reverting = [kind.reverts for kind in self.kinds]
        coefficients[reverting, :, :width] = -np.eye(width)  # the change is minus the last row
        return LagCoefficients(inverse, coefficients)

    def _others(self, first: int, n: int, known: NDArray) -> NDArray:
        """Return the regressors that are no lags: intercept, waves, known columns, (n, any)."""
        angles = 2 * np.pi * np.outer(np.arange(first, first + n), np.arange(1, self.n_waves + 1))
        angles /= self.season
        waves = [0.5 * np.sin(angles), 0.5 * np.cos(angles)]
        return np.hstack([np.ones((n, 1)), *waves, known[:n, : self.n_known]])

    def learned(
        self, state: LagCoefficients, rows: NDArray, row: NDArray, place: int, known: NDArray
    ) -> None:
        """Learn from one more row, in place.

        Parameters
        ----------
        state : LagCoefficients
        rows : ndarray of shape (at least reach, n_groups, width)
            The rows before, without missing entries.
        row : ndarray of shape (n_groups, width)
            NaN where missing: nothing is learned from that.
        place : int
            Number of the row.
        known : ndarray of shape (1, n_known)
        """
        others = self._others(place, 1, known)
        if np.isnan(others).any():
            return
        n_groups, width = row.shape
        lagged = np.einsum("fl,lgw->gfw", self._from_lags, rows[len(rows) - self.reach :])
        x = np.hstack([lagged.reshape(n_groups, -1), np.repeat(others, n_groups, axis=0)])
        x = x * _taken(self, width)[:, None]
        keep = np.array([kind.keep for kind in self.kinds])[:, None]
        towards = (state.inverse @ x[..., None])[..., 0]
        gain = towards / (keep + (towards * x).sum(axis=-1))[..., None]
        left = row - rows[-1] - (x[:, :, None] @ state.coefficients)[:, :, 0]
        state.coefficients += gain[..., None] * np.nan_to_num(left)[:, :, None]
        state.inverse -= gain[..., None] * towards[:, :, None]
        if (keep < 1).any():
            traces = np.trace(state.inverse, axis1=2, axis2=3) / x.shape[-1]
            grown = np.where(traces / keep > MAX_INVERSE, 1.0, keep)
            state.inverse /= grown[..., None, None]

    def ahead(
        self, state: LagCoefficients, rows: NDArray, place: int, horizon: int, known: NDArray
    ) -> NDArray:
        """Return forecasts, each from the rows before it and the forecasts so far.

        Parameters
        ----------
        state, rows
            As in `learned`.
        place : int
            Number of the first row to be forecast.
        horizon : int
        known : ndarray of shape (horizon, n_known)

        Returns
        -------
        ndarray of shape (n_kinds, horizon, n_groups, width)
        """
        n_kinds, n_groups, _, width = state.coefficients.shape
        matrix, reach = self._from_lags, self.reach
        n_lagged = len(matrix) * width
        of_lags = state.coefficients[:, :, :n_lagged].reshape(
            n_kinds, n_groups, len(matrix), width, width
        )
        step = np.einsum("fl,egfvw->eglvw", matrix, of_lags)
        step[:, :, -1] += np.eye(width)  # the change is added to the last row
        step = np.ascontiguousarray(step.reshape(n_kinds, n_groups, reach * width, width))
        others = self._others(place, horizon, known) @ state.coefficients[:, :, n_lagged:]
        path = np.empty((n_kinds, n_groups, 1, (reach + horizon) * width))
        last = rows[len(rows) - reach :].transpose(1, 0, 2).reshape(n_groups, 1, reach * width)
        path[..., : reach * width] = last
        with np.errstate(over="ignore", invalid="ignore"):
            for s in range(horizon):
                lagged = path[..., s * width : (s + reach) * width]
                place_of = slice((s + reach) * width, (s + reach + 1) * width)
                path[..., place_of] = lagged @ step + others[:, :, s : s + 1]
        made = path[..., reach * width :].reshape(n_kinds, n_groups, horizon, width)
        return np.clip(np.moveaxis(made, 2, 1), -MAX_UNITS, MAX_UNITS)


class LagCoefficients:
    """What a `LagRegression` has learned.

    Attributes
    ----------
    inverse : ndarray of shape (n_kinds, n_groups, n_regressors, n_regressors)
        Of the penalised gram matrix of the regressors.
    coefficients : ndarray of shape (n_kinds, n_groups, n_regressors, width)
    """

    SAVED: ClassVar = (
        array("inverse", "kinds groups regressors regressors", np.float64, finite=True),
        array("coefficients", "kinds groups regressors width", np.float64, finite=True),
    )

    def __init__(self, inverse: NDArray, coefficients: NDArray) -> None:
        self.inverse, self.coefficients = inverse, coefficients


@lru_cache(maxsize=64)
def _taken(part: LagRegression, width: int) -> NDArray:
    """Return which regressors each kind has, 0 or 1, (n_kinds, n_regressors)."""
    taken = []
    for kind in part.kinds:
        lags = [kind.level, *(j < kind.changes for j in range(part.lags - 1))]
        lags += [kind.season] * (2 * (part.season > 1))
        others = [kind.level, *[kind.waves] * (2 * part.n_waves), *[True] * part.n_known]
        taken.append([*np.repeat(lags, width), *others])
    return np.array(taken, dtype=np.float64)
