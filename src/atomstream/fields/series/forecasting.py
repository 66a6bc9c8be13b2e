"""Forecasts of several series from a dictionary of windows, or by its head."""

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import Samples, check_count, counted
from atomstream.estimators._columns import in_noted_order, note_names
from atomstream.exceptions import DataWarning
from atomstream.fields.series import head_learning
from atomstream.fields.series.frames import Table
from atomstream.fields.series.levels import better_lag, half_widths, min_errors
from atomstream.fields.series.reconstruction import SeriesReconstruction
from atomstream.io.time_index import Times
from atomstream.loop import Algorithm

MAX_NAMED = 10  # series in a warning


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

    def _served(self, data: Any, params: Any) -> Any:
        """Return as many of the next rows as ``horizon`` says."""
        return self.predict(params.get("horizon", 1))

    def predict(self, horizon: int = 1, *, exogenous: Samples | None = None) -> Any:
        """Predict the next rows, each from those before it and the predictions so far.

        With a head it is the forecast of that. With ``head=None`` it is Algorithm 2, applied
        recursively, with the share ``correction`` of what the atoms leave of the row before added
        to each prediction. A series of which the last ``window - 1`` rows hold nothing is forecast
        at its last observed value.

        Parameters
        ----------
        horizon : int, default=1
            Rows to predict.
        exogenous : table of shape (at least horizon, n_known), optional
            Columns that are known ahead, if `fit` had some.

        Returns
        -------
        array or frame of shape (horizon, n_series)
            NaN for series that were never observed.

        Warns
        -----
        DataWarning
            Where the honest one-step errors so far are larger than those of persistence or seasonal
            persistence, which take an earlier row for the next; the last thousand rows or so count.
            Where series are forecast at their last observed value.
        """
        self._check_horizon(horizon)
        self._warn_of_loss()
        self._warn_of_silence()
        return self._ahead(self._forecast(horizon, exogenous))

    def predict_interval(
        self, horizon: int = 1, coverage: float = 0.9, *, exogenous: Samples | None = None
    ) -> Interval:
        """Return bands around `predict`.

        With a head the band of each step has the width that the last 200 honest errors at that
        step ask for. With ``head=None`` that of the first step has the width of the last one-step
        errors, and later steps are widened by the square root of the step, as if errors were
        independent and added up; so are steps that a head does not judge (`Head.horizon`). Where a
        series is forecast at its last observed value, the steps count from that.

        One step ahead the band is conformal: it holds the next value of a series with at least this
        chance, whatever the law of the errors, as far as the next error is exchangeable with the
        last ones. For later steps nothing is promised.

        Parameters
        ----------
        horizon : int, default=1
            Rows to predict.
        coverage : float, default=0.9
            Above 0 and below 1.
        exogenous : table of shape (at least horizon, n_known), optional
            As in `predict`.

        Returns
        -------
        Interval
            ``low`` (by atoms without centring not below 0) and ``high``, each of shape (horizon,
            n_series).
            NaN for series with too few honest predictions: coverage / (1 - coverage) are needed.

        Raises
        ------
        ValueError
            Where all series have too few.

        Warns
        -----
        DataWarning
            Where some series have too few, and where series are forecast at their last observed
            value.
        """
        self._check_horizon(horizon)
        if isinstance(coverage, bool) or not isinstance(coverage, float) or not 0 < coverage < 1:
            raise ValueError(f"coverage must be a number above 0 and below 1, got {coverage!r}.")
        self._warn_of_silence()
        silent = self._silent()
        width = self._widths(silent, coverage)
        middle = self._forecast(horizon, exogenous)
        steps = np.arange(1, horizon + 1)[:, None] + np.where(silent, self._known.ages, 0)
        reach = np.sqrt(steps) * width
        if self.head is not None:
            bands = head_learning.half_bands(self, horizon, coverage)
            reach = np.where(silent, reach, bands)
        low = np.maximum(middle - reach, self._floor)
        return Interval(self._ahead(low), self._ahead(middle + reach))

    def _widths(self, silent: NDArray, coverage: float) -> NDArray:
        """Return half the width of each band one step ahead; NaN for unknown series."""
        if self.head is not None:
            width = head_learning.half_bands(self, 1, coverage)[0]
        else:
            steps = self._predicted(honest=True)
            width = half_widths(steps - self._rows[len(self._rows) - len(steps) :], coverage)
        width[silent] = half_widths(self._known.errors[:, silent], coverage)
        known = self._seen | silent
        short = known & np.isnan(width)
        if short.any():
            needed = (
                f"coverage={coverage!r} needs at least {min_errors(coverage)} honest one-step "
                "predictions of each series"
            )
            if not (known & ~short).any():
                raise ValueError(f"{needed}; ask for less, or give more rows.")
            warnings.warn(
                f"{needed}, and these series have fewer: {self._named(short)}. They get no bands.",
                DataWarning,
                stacklevel=3,
            )
        return width

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

    @property
    def _memory(self) -> int:
        return 10 * self.window if self.memory is None else self.memory

    @property
    def _floor(self) -> float:
        """The smallest value of forecasts."""
        return -np.inf if self.center or self.head is not None else 0.0

    def _silent(self) -> NDArray:
        """Return which series the atoms cannot forecast, and that have a last observed value."""
        near = self.levels_.apply(self._rows[-(self.window - 1) :])
        return np.isnan(near).all(axis=0) & ~np.isnan(self._known.values)

    def _named(self, series: NDArray, more: list[str] | None = None) -> str:
        """Return the names of these series, each with more words; of very many the first."""
        places = np.flatnonzero(series).tolist()
        words = more or [""] * len(series)
        names = [self.form_.name_of(place) + words[place] for place in places[:MAX_NAMED]]
        left = len(places) - len(names)
        return ", ".join(names + [f"{left} more"] * (left > 0))

    def _predicted(self, *, honest: bool) -> NDArray:
        first = self._n_rows - len(self._steps)
        seen = honest & (np.arange(first, self._n_rows) < self._first_honest)
        return np.where(seen[:, None], np.nan, self._steps)

    def _forecast(self, horizon: int, exogenous: object) -> NDArray:
        """Return the forecast of the next rows, by the head if there is one."""
        had, known = self._n_ahead, np.empty((horizon, 0))
        if exogenous is not None:
            exogenous = in_noted_order(self, "_ahead_names", exogenous, "exogenous")
            known = Table.of(exogenous, "exogenous").values[:horizon]
        if known.shape != (horizon, had) or np.isnan(known).any():
            raise ValueError(
                f"exogenous must have {horizon} rows of {counted(had, 'column')} without NaN, got "
                f"{known.shape}."
            )
        if self.head is None:
            return self._extrapolated(horizon, self._algorithm(self.forecast_alpha))
        return self._or_last(head_learning.forecast(self, horizon, known))

    def _next_row(self, algorithm: Algorithm, ahead: NDArray) -> NDArray:
        """Return the prediction of the next row, by the head if there is one."""
        if self.head is None:
            return self._extrapolated(1, algorithm)
        return self._or_last(head_learning.foretold(self, ahead)[:1])

    def _or_last(self, made: NDArray) -> NDArray:
        """Return forecasts, or the last value of series that are silent or have hardly begun."""
        return np.where(self._silent() | np.isnan(made), self._known.values, made)

    def _count(self, seen: dict[str, Any], ahead: NDArray) -> None:
        """Count a row as seen, and let the head learn from it."""
        self.__dict__.update(seen)
        if self.head is not None:
            head_learning.learned(self, self._rows[-1], ahead)

    def _known_ahead(self, exogenous: object, n: int, *, first: bool = True) -> NDArray:
        """Return the columns known ahead, (at least n, n_known)."""
        if first:
            note_names(self, "_ahead_names", exogenous)
        exogenous = in_noted_order(self, "_ahead_names", exogenous, "exogenous")
        given = None if exogenous is None else Table.of(exogenous, "exogenous").values
        n_known = 0 if given is None else given.shape[1]
        if given is not None and self.head is None:
            raise ValueError("exogenous is for the head; give head='mix'.")
        if not first and n_known != self._n_ahead:
            raise ValueError(f"exogenous has {n_known} columns, needed are {self._n_ahead}.")
        if given is None:
            return np.empty((n, 0))
        if len(given) < n or np.isnan(given).any():
            raise ValueError(
                f"exogenous must have a row for each of the {n} rows of Y, without NaN."
            )
        if first:
            self._ahead_rows = given[:0]
        return given

    @property
    def _n_ahead(self) -> int:
        """Number of columns known ahead."""
        return 0 if self._ahead_rows is None else self._ahead_rows.shape[1]

    def _waited(self, ahead: NDArray, n: int) -> NDArray:
        """Return what is known ahead of the ``n`` rows that wait, and keep it with them."""
        if self._ahead_rows is None:
            return np.empty((n, 0))
        ahead = np.concatenate([self._ahead_rows[:n], ahead])
        self._ahead_rows = ahead[:n]
        return ahead

    def _extrapolated(self, horizon: int, algorithm: Algorithm) -> NDArray:
        """Return predictions: the last ``window - 1`` rows are coded, and decoded with one more."""
        rows, lags = self._rows, self.window - 1
        ahead = np.full((horizon, rows.shape[1]), np.nan)
        if len(rows) < lags or not self.__sklearn_is_fitted__():
            return ahead
        both = np.concatenate([rows[len(rows) - lags :], ahead])
        levels = self.levels_
        for step in range(horizon):
            sample = both[step : step + self.window]
            units = levels.apply(sample)
            if not np.isnan(units).all():
                made = levels.undo(self._from_atoms(units.reshape(1, -1), algorithm)[0])
                left = np.nan_to_num(sample[-2] - made[-2])  # nothing where the last is missing
                both[step + lags] = np.maximum(made[-1] + self.correction * left, self._floor)
        return self._or_last(both[lags:])

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

    def _warn_of_silence(self) -> None:
        """Warn of series that are forecast at their last observed value."""
        silent = self._silent()
        if silent.any():
            since = [f" ({counted(age, 'row')} ago)" for age in self._known.ages.tolist()]
            warnings.warn(
                "Forecast at the last observed value, in bands that widen with the time since "
                f"then: {self._named(silent, since)}. Atoms need an observed value in the last "
                f"{self.window - 1} rows, and a whole window to begin with.",
                DataWarning,
                stacklevel=3,
            )

    def _note_times(self, times: Times | None, n: int) -> None:
        """Note that the last row was taken ``n`` steps after the last of these times."""
        if times is not None and n:
            self.form_ = replace(self.form_, times=times.moved(n))

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

    def _check_shape(self) -> None:
        """Refuse settings of another shape than what was learned, and another head."""
        super()._check_shape()
        if (self.head is None) != (self._head is None):
            raise ValueError("head was set or taken away after learning; call fit to start anew.")
        if self._head is not None and not head_learning.fits(self):
            raise ValueError("head or season is another than the one that learned; call fit.")
