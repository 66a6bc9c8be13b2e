"""Reconstructions and forecasts of several series from a dictionary of windows."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base.checks import check_count, counted
from atomstream.base.progress import track
from atomstream.domains.series.frames import Table, check_series, nonnegative_table
from atomstream.domains.series.levels import LastKnown, Levels, better_lag, half_widths, min_errors
from atomstream.estimators._learner_inside import LearnerInside
from atomstream.estimators._validation import check_size, observe
from atomstream.estimators.encoding import encode_exactly
from atomstream.estimators.nmf import OnlineNMF
from atomstream.exceptions import DataWarning
from atomstream.loop.algorithm import Algorithm
from atomstream.streams import windows

WINDOWS_AT_ONCE = 4096  # windows reconstructed at a time


class SeriesReconstruction(LearnerInside):
    """A learned dictionary of series that reconstructs and imputes whole tables."""

    window: int
    alpha: float
    center: bool
    form_: Any
    levels_: Levels
    _rows: NDArray
    _seed: int
    partial_fit: Any
    n_components: int
    ridge: float
    _seen: NDArray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.center
        return tags

    def reconstruct(self, Y: object, *, online: bool = False) -> Any:
        """Reconstruct a table from the atoms.

        Parameters
        ----------
        Y : table of shape (n_times, n_series)
            At least ``window`` rows; NaN where an entry is missing.
        online : bool, default=False
            Without it every window is coded with the last dictionary, and a row is the mean of all
            windows over it. With it a model of the same settings learns the table from its
            beginning, and each row is the last of the window that ends with it, reconstructed with
            the dictionary of that moment (section 3.4; rows before the first dictionary are
            reconstructed with that).

        Returns
        -------
        array, frame or DataArray of shape (n_times, n_series)
            NaN where no window with an observed entry reaches.
        """
        table = self._validated(Y)
        if not online:
            return table.wrap(self._reconstructed(table.values))
        twin = type(self)(**self.get_params(deep=False) | {"random_state": self._seed})
        reconstruction = np.full_like(table.values, np.nan)
        for row in range(len(reconstruction)):
            begun = twin.__sklearn_is_fitted__()
            twin.partial_fit(table.values[row : row + 1])
            if twin.__sklearn_is_fitted__():
                first = max(0, row + 1 - self.window) if begun else 0
                now = twin._reconstructed(table.values[first : row + 1])
                reconstruction[row if begun else 0 : row + 1] = now[-1:] if begun else now
        return table.wrap(reconstruction)

    def impute(self, Y: object) -> Any:
        """Fill missing entries with reconstructions from the observed ones around them.

        Parameters
        ----------
        Y : table of shape (n_times, n_series)
            At least ``window`` rows; NaN where an entry is missing: here and there, or a whole
            series for a while.

        Returns
        -------
        array, frame or DataArray of shape (n_times, n_series)
            Observed entries as they are; NaN stays where no window with an observed entry reaches.
        """
        table = self._validated(Y)
        return table.wrap(
            np.where(np.isnan(table.values), self._reconstructed(table.values), table.values)
        )

    def _table(self, data: object, name: str) -> Table:
        """Return a validated table; without centering it must not be negative."""
        return Table.of(data, name) if self.center else nonnegative_table(data, name)

    def _validated(self, Y: object) -> Table:
        """Return a table to reconstruct, checked."""
        check_is_fitted(self)
        self.check()
        self._check_shape()
        table = self._table(Y, "Y")
        check_series(table, self.form_, self._rows.shape[1], "Y")
        if len(table.values) < self.window:
            raise ValueError(
                f"Y has {len(table.values)} rows, needed is a window of {self.window} at least."
            )
        return table

    def _reconstructed(self, values: NDArray) -> NDArray:
        """Return the mean of all windows over each row, of those that hold an observed entry."""
        total, count = np.zeros_like(values), np.zeros((len(values), 1))
        algorithm, start = self._algorithm(self.alpha), 0
        n_blocks = -(-(len(values) - self.window + 1) // WINDOWS_AT_ONCE)
        blocks = windows(self.levels_.apply(values), self.window, WINDOWS_AT_ONCE)
        for rows in track(blocks, n_blocks, "coding windows"):
            seen = ~np.isnan(rows).all(axis=1)
            reconstruction = self._from_atoms(rows, algorithm)
            for lag in range(self.window):
                place = slice(start + lag, start + lag + len(rows))
                total[place] += np.where(seen[:, None], reconstruction[:, lag], 0)
                count[place, 0] += seen
            start += len(rows)
        mean = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
        return self.levels_.undo(mean)

    def _algorithm(self, alpha: float) -> Algorithm:
        """Return the parts that code windows; checked when the model was."""
        return OnlineNMF(self.n_components, alpha=alpha, ridge=self.ridge).algorithm_

    def _from_atoms(self, rows: NDArray, algorithm: Algorithm) -> NDArray:
        """Return reconstructions of windows from their observed entries, in the units of atoms.

        NaN in unknown series.
        """
        dictionary = self.learner_.state_.dictionary
        codes = encode_exactly(
            algorithm.coder, observe(rows, missing=True), dictionary, algorithm.objective
        )
        return np.where(self._seen, self._shaped(dictionary.decode(codes.values)), np.nan)

    def _shaped(self, rows: NDArray) -> NDArray:
        """Return rows as windows, (n, window, n_series)."""
        return rows.reshape(len(rows), -1, self._rows.shape[1])

    def _check_shape(self) -> None:
        """Refuse settings of another shape than what was learned."""
        if self.__sklearn_is_fitted__():
            check_size(self, len(self.learner_.components_))
            learned = self.learner_.n_features_in_ // self._rows.shape[1]
            if self.window != learned:
                raise ValueError(
                    f"window is {self.window}, the atoms have {learned} times; call fit to start "
                    "anew."
                )
        if not self.center and (self.levels_.offset.any() or (self.levels_.scale != 1).any()):
            raise ValueError(
                "center is False, the atoms were learned with center=True; call fit to start anew."
            )


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

    forecast_alpha: float
    correction: float
    memory: int | None
    _steps: NDArray
    _n_rows: int
    _first_honest: int
    _known: LastKnown
    _lag_errors: NDArray

    def predict(self, horizon: int = 1) -> Any:
        """Predict the next rows, each from those before it and the predictions so far.

        This is Algorithm 2, applied recursively, with the share ``correction`` of what the atoms
        leave of the row before added to each prediction. A series of which the last ``window - 1``
        rows hold nothing is forecast at its last observed value.

        Parameters
        ----------
        horizon : int, default=1
            Rows to predict.

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
        return self._ahead(self._extrapolated(horizon, self._algorithm(self.forecast_alpha)))

    def predict_interval(self, horizon: int = 1, coverage: float = 0.9) -> Interval:
        """Return bands around `predict`.

        They are as wide as the honest errors of the last one-step predictions ask for.

        One step ahead the band is conformal: it holds the next value of a series with at least this
        chance, whatever the law of the errors, as far as the next error is exchangeable with the
        last ones. For later steps nothing is promised: the band is widened by the square root of
        the step, as if errors were independent and added up. Where a series is forecast at its
        last observed value, the steps count from that.

        Parameters
        ----------
        horizon : int, default=1
            Rows to predict.
        coverage : float, default=0.9
            Above 0 and below 1.

        Returns
        -------
        Interval
            ``low`` (without centering not below 0) and ``high``, each of shape (horizon, n_series).
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
        middle = self._extrapolated(horizon, self._algorithm(self.forecast_alpha))
        steps = np.arange(1, horizon + 1)[:, None] + np.where(silent, self._known.ages, 0)
        reach = np.sqrt(steps) * width
        low = np.maximum(middle - reach, self._floor)
        return Interval(self._ahead(low), self._ahead(middle + reach))

    def _widths(self, silent: NDArray, coverage: float) -> NDArray:
        """Return half the width of each band one step ahead; NaN for unknown series."""
        rows, steps = self._honest()
        width = half_widths(steps - rows, coverage)
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
        return -np.inf if self.center else 0.0

    def _honest(self) -> tuple[NDArray, NDArray]:
        """Return the last rows, and the honest predictions of them."""
        steps = self._predicted(honest=True)
        return self._rows[len(self._rows) - len(steps) :], steps

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
        return np.where(self._silent(), self._known.values, both[lags:])

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
