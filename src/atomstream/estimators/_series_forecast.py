"""Forecasts of several series from a dictionary of windows."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.core.checks import check_count
from atomstream.core.method import Method
from atomstream.domains.series.conformal import half_widths
from atomstream.domains.series.persistence import better_lag
from atomstream.estimators._series_reconstruction import SeriesReconstruction
from atomstream.exceptions import DataWarning


class Interval(NamedTuple):
    """Bands of a forecast.

    Attributes
    ----------
    low, high : array or frame of shape (horizon, n_series)
    """

    low: Any
    high: Any


class SeriesForecast(SeriesReconstruction):
    """A learned dictionary of windows that predicts the next rows."""

    forecast_alpha: float
    correction: float
    _steps: NDArray
    _n_rows: int
    _first_honest: int

    def predict(self, horizon: int = 1) -> Any:
        """Predict the next rows, each from those before it and the predictions so far.

        This is Algorithm 2, applied recursively, with the share ``correction`` of what the atoms
        leave of the row before added to each prediction.

        Parameters
        ----------
        horizon : int, default=1
            Rows to predict.

        Returns
        -------
        array or frame of shape (horizon, n_series)
            NaN where the last ``window - 1`` rows hold nothing to go by.

        Warns
        -----
        DataWarning
            Where the honest one-step errors so far are larger than those of persistence or seasonal
            persistence, which take an earlier row for the next; the last thousand rows or so count.
        """
        self._check_horizon(horizon)
        self._warn_of_loss()
        return self._ahead(self._extrapolated(horizon, self._method(self.forecast_alpha)))

    def predict_interval(self, horizon: int = 1, coverage: float = 0.9) -> Interval:
        """Return bands around `predict`.

        They are as wide as the honest errors of the last one-step predictions ask for.

        One step ahead the band is conformal: it holds the next value of a series with at least this
        chance, whatever the law of the errors, as far as the next error is exchangeable with the
        last ones. For later steps nothing is promised: the band is widened by the square root of
        the step, as if errors were independent and added up.

        Parameters
        ----------
        horizon : int, default=1
            Rows to predict.
        coverage : float, default=0.9
            Above 0 and below 1.

        Returns
        -------
        Interval
            ``low`` (not below 0) and ``high``, each of shape (horizon, n_series).

        Raises
        ------
        ValueError
            Where there are too few honest predictions: coverage / (1 - coverage) of each series are
            needed.
        """
        self._check_horizon(horizon)
        if isinstance(coverage, bool) or not isinstance(coverage, float) or not 0 < coverage < 1:
            raise ValueError(f"coverage must be a number above 0 and below 1, got {coverage!r}.")
        steps = self._predicted(honest=True)
        errors = steps - self._rows[len(self._rows) - len(steps) :]
        width = np.full(steps.shape[1], np.nan)
        width[self._seen] = half_widths(errors[:, self._seen], coverage)
        middle = self._extrapolated(horizon, self._method(self.forecast_alpha))
        reach = np.sqrt(np.arange(1, horizon + 1))[:, None] * width
        return Interval(self._ahead(np.maximum(middle - reach, 0)), self._ahead(middle + reach))

    @property
    def one_step_(self) -> Any:
        """Honest predictions of the last rows, (at most memory, n_series)."""
        check_is_fitted(self)
        return self._behind(self._predicted(honest=True))

    @property
    def in_sample_(self) -> Any:
        """One-step predictions of the last rows, those seen by the initialisation included."""
        check_is_fitted(self)
        return self._behind(self._predicted(honest=False))

    def _predicted(self, *, honest: bool) -> NDArray:
        first = self._n_rows - len(self._steps)
        seen = honest & (np.arange(first, self._n_rows) < self._first_honest)
        return np.where(seen[:, None], np.nan, self._steps)

    def _extrapolated(self, horizon: int, method: Method) -> NDArray:
        """Return predictions: the last ``window - 1`` rows are coded, and decoded with one more."""
        rows, lags = self._rows, self.window - 1
        ahead = np.full((horizon, rows.shape[1]), np.nan)
        if len(rows) < lags or not self.__sklearn_is_fitted__():
            return ahead
        both = np.concatenate([rows[len(rows) - lags :], ahead])
        for step in range(horizon):
            sample = both[step : step + self.window]
            if not np.isnan(sample).all():
                made = self._from_atoms(sample.reshape(1, -1), method)[0]
                left = np.nan_to_num(sample[-2] - made[-2])  # nothing where the last is missing
                both[step + lags] = np.maximum(made[-1] + self.correction * left, 0)
        return both[lags:]

    def _warn_of_loss(self) -> None:
        """Warn where an earlier row is a better prediction than that of the atoms."""
        found = better_lag(self._lag_errors)
        if found:
            lag = found.lag
            other = (
                f"seasonal persistence (the row {lag} times before)" if lag > 1 else "persistence"
            )
            warnings.warn(
                f"The honest one-step errors so far, {found.own:.4g} in root mean square, are "
                f"larger than those of {other}, {found.error:.4g}; choose_forecaster compares "
                "other settings.",
                DataWarning,
                stacklevel=3,
            )

    def _ahead(self, values: NDArray) -> Any:
        times = self.form_.times
        return self.form_.wrap(values, None if times is None else times.at(1, len(values)))

    def _behind(self, values: NDArray) -> Any:
        times = self.form_.times
        return self.form_.wrap(
            values, None if times is None else times.at(1 - len(values), len(values))
        )

    def _check_horizon(self, horizon: object) -> None:
        check_is_fitted(self)
        check_count("horizon", horizon, 1)
        self._check_shape()
