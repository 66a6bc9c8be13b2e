"""Runs on a table of time series: a forecast with bands, or missing entries filled."""

import warnings
from abc import abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, counted
from atomstream.exceptions import DataWarning, InputError
from atomstream.fields.series import Log1p, MovingAverage, NonnegativeScaler
from atomstream.fields.series.choice import (
    Baselines,
    baselines,
    first_origin,
    prepared,
    rolled,
)
from atomstream.fields.series.levels import rms
from atomstream.fields.series.model import SeriesDictionary
from atomstream.fields.series.settings import ForecastSettings, ImputeSettings
from atomstream.io import read_series
from atomstream.io.time_index import Times
from atomstream.looks.samples import samples_of_windows
from atomstream.runs.task import Pace, Task, pace_set

TABLE = "TABLE holds comma-separated lines, one row per time; empty fields are missing entries."
ABOVE_LOG = "--log needs values above -1", "leave it out"
KEPT = 240  # of the last rows, for the report


class _SeriesTask(Task):
    """A dictionary of series, and the table it learns from."""

    argument = "table"
    unit = "window"
    goal = None
    out: ClassVar[str]  # name of the file of results
    shifts: ClassVar[bool]  # whether scaling may move the zero
    model: SeriesDictionary

    def __init__(self, settings: Any) -> None:
        super().__init__(settings)
        # A batch is made of the last rows, with atoms alone at each of them, else once in a window.
        every = 1 if getattr(settings, "head", "atoms") == "atoms" else settings.window
        self.overlap = max((settings.memory or 10 * settings.window) // every, 1)
        self.table = read_series(settings.inputs[0], **settings.reading())
        self.sources[0].guesses = self.table.guesses
        self.figures: dict[str, float] = {}
        steps = np.diff(self.table.values[:, 0])
        if self.table.time == "row" and steps.any() and (steps == steps[0]).all():
            said = f"The first series counts evenly: as times it is --time {self.table.names[0]}."
            warnings.warn(said, DataWarning, stacklevel=2)
        scaler = NonnegativeScaler(shift=self.shifts)
        self.undone: list[Any] = [*[Log1p()] * settings.log, *[scaler] * settings.scale]
        # Before anything is transformed: complaints name values as the table has them.
        self.check()
        self.times = Times.of(self.table.labels)
        self.values = self.table.values
        # Fitted on the first rows alone: a scale that has seen the future would flatter the
        # forecast.
        average = getattr(settings, "average", 1)  # of forecasts alone
        for step in [*[MovingAverage(average)] * (average > 1), *self.undone]:
            self.values = step.fit(self.values[: self.n_first]).transform(self.values)

    omitted = (("entries", "_n_missing", "missing"),)

    @property
    @abstractmethod
    def n_first(self) -> int:
        """Number of first rows that scaling may use; never rows to be forecast."""

    @abstractmethod
    def check(self) -> None:
        """Raise InputError for a table that cannot be learned from with these settings."""

    @abstractmethod
    def begin(self) -> None:
        """Start the model, and learn until a pause is due."""

    @property
    def position(self) -> tuple[int, ...]:
        """Whether the table has been learned, and the number of its rows that have."""
        n_rows = self.model.n_rows_ if self.learned else 0
        return int(n_rows >= len(self.values)), n_rows

    def advance(self, pace: Pace) -> None:
        """Learn from the rows that are left."""
        with pace_set(self.model, pace):
            if self.learned:
                n_rows = self.model.n_rows_
                known = self.table.known_of(n_rows)
                self.model.partial_fit(self.values[n_rows:], exogenous=known)
            else:
                self.begin()

    def results(self) -> dict[str, Any]:
        """Return what the run came to."""
        times, series = self.table.values.shape
        known = {"out": self.out, "times": times, "series": series, "atoms": self.settings.atoms}
        return {**known, "figures": self.figures}

    @property
    def _n_missing(self) -> int:
        return int(np.isnan(self.table.values).sum())

    def undo(self, values: NDArray) -> NDArray:
        """Return prepared values in the units of the table; trailing means stay."""
        # Means stay: the value of one row cannot be had back from a mean over several.
        for step in reversed(self.undone):
            values = step.inverse_transform(values)
        return values

    def shown(self, **more: Any) -> dict[str, Any]:
        """Return what the report shows."""
        table, code = self.table, self.model.learner_.transform
        units = self.model.levels_.apply(self.values)
        return {
            **samples_of_windows(units, table, self.settings.window, code).notes(),
            **more,
            "figures": self.figures,
            "series": np.array(table.names, object),
            "labels": table.labels[-KEPT:].astype(str).astype(object),
            "n_times": len(self.values),
            "n_missing": self._n_missing,
        }

    @property
    def _learned_from(self) -> str:
        """How many times of how many series."""
        return f"{counted(len(self.values), 'time')} of {len(self.table.names)} series"


class ForecastTask(_SeriesTask):
    """A forecast: the series followed row by row, and the rows that come next."""

    settings_type = ForecastSettings
    help = f"{TABLE} Writes forecast.csv, with bands, to the folder of the run."
    out = "forecast.csv"
    shifts = False

    @property
    def n_first(self) -> int:
        """How many rows the initialisation sees."""
        return self.model._n_init

    def check(self) -> None:
        """Raise InputError for a table that cannot be forecast with these settings."""
        settings, values = self.settings, self.table.values
        self.table.check_rows(self.n_first, " or --init-rows")
        self.table.check_known(settings.horizon)
        if settings.scale:
            where = (
                f" in the first {self.n_first} rows, by which --scale goes; take more with "
                "--init-rows or"
            )
            self.table.check_observed(self.n_first, where)
        # A scale is a largest value, and without centring codes and atoms are nonnegative: negative
        # values go with neither.
        if settings.scale or not settings.center:
            needed = "series forecast needs values of at least 0 with --scale or --no-center"
            self.table.check_above(values < 0, needed, "leave it out, or add a constant")
        elif settings.log:
            self.table.check_above(values <= -1, *ABOVE_LOG)

    def begin(self) -> None:
        """Initialise from the first rows, and follow the table."""
        lags = self.settings.window - 1
        if np.isnan(self.values[-lags:]).all():
            raise InputError(
                f"The last {lags} rows of {self.settings.inputs[0]} are empty, and a forecast goes "
                "by these (one less than --window): leave empty rows at the end out."
            )
        self.model.fit(self.values, exogenous=self.table.known)

    def finish(self, folder: Path) -> dict[str, Any]:
        """Write the forecast with its bands, and judge the predictions of the past."""
        settings, names = self.settings, self.table.names
        self.model.form_ = replace(self.model.form_, names=tuple(names))  # for its warnings
        horizon = settings.horizon
        known = self.table.known_of(len(self.values), horizon)
        columns = [("", self.undo(self.model.predict(horizon, exogenous=known)))]
        try:
            band = self.model.predict_interval(horizon, settings.coverage, exogenous=known)
            # Ends of a band are undone like values: each step is monotone, so order and coverage
            # stay.
            columns += [("_low", self.undo(band.low)), ("_high", self.undo(band.high))]
        except ValueError as error:
            warnings.warn(f"No bands: {error}", DataWarning, stacklevel=2)
        ahead = self.times.at(1, horizon)
        parts = np.stack([part for _, part in columns])
        mean = f"_mean{settings.average}" if settings.average > 1 else ""
        heads = [name + mean + end for name in names for end, _ in columns]
        # Value, low and high of one series side by side, in the order of the heads.
        beside = np.moveaxis(parts, 0, 2).reshape(len(ahead), -1)
        self.table.write(folder / self.out, heads, ahead, beside)
        steps = self.model.one_step_
        self._judge(steps)
        return self.shown(
            observed=self.undo(self.values[-len(steps) :])[-KEPT:],
            predicted=self.undo(steps)[-KEPT:],
            ahead=parts,
            ahead_labels=ahead.astype(str).astype(object),
        )

    def _judge(self, steps: NDArray) -> None:
        """Note the errors of honest predictions, beside those of earlier rows taken for the next.

        One step ahead all rows are origins that the model has followed; further ahead it is fitted
        anew to the rows before the last origins.
        """
        values, horizon = self.values, self.settings.horizon
        # Rows that the initialisation has seen have no honest prediction.
        told = np.flatnonzero(~np.isnan(steps).all(axis=1))
        if not len(told):
            return
        steps = steps[told[0] :]
        first = len(values) - len(steps)
        self._note(1, [rms(steps - values[first:])], baselines(values, first, len(steps), 1))
        # Forecasts several rows ahead are judged by rolling a fresh model over the past: the one at
        # hand has learned from all of it.
        if horizon > 1:
            least = self.settings.window
            try:
                n_origins, first = first_origin(len(values), horizon, None, needed=least)
            except ValueError:  # too few rows: the forecast has the errors of one step alone
                return
            model = prepared(self.model, {"random_state": self.settings.seed}, first)
            errors = rolled(model, values, first, n_origins, horizon, self.table.known)
            self._note(horizon, errors, baselines(values, first, n_origins, horizon))

    def _note(self, step: int, errors: ArrayLike, known: Baselines) -> None:
        ahead = "one row ahead" if step == 1 else f"{step} rows ahead"
        self.figures |= {
            f"RMSE {ahead}": float(np.asarray(errors)[-1]),
            f"RMSE {ahead}, by the last row": float(known.persistence[-1]),
            f"RMSE {ahead}, by the row {known.season} before": float(known.seasonal[-1]),
        }


class ImputeTask(_SeriesTask):
    """Missing entries filled by what the whole table taught."""

    settings_type = ImputeSettings
    help = f"{TABLE} Writes imputed.csv to the folder of the run."
    out = "imputed.csv"
    shifts = True

    @property
    def n_first(self) -> int:
        """How many rows preparation goes by: all."""
        return len(self.table.values)

    def check(self) -> None:
        """Raise InputError for a table that cannot be learned from with these settings."""
        settings, values = self.settings, self.table.values
        self.table.check_rows(settings.window, "")
        if settings.scale or settings.center:
            low = values <= (-1 if settings.log else -np.inf)
            self.table.check_above(low, *ABOVE_LOG)
        else:
            needed = "series impute needs values of at least 0"
            self.table.check_above(values < 0, needed, "--scale and --center shift series")

    def begin(self) -> None:
        """Initialise from the whole table, and follow it."""
        self.model.fit(self.values, init=self.values)

    def finish(self, folder: Path) -> dict[str, Any]:
        """Write the table with its missing entries filled."""
        seen = ~np.isnan(self.values)
        rebuilt = self.undo(self.model.reconstruct(self.values))
        # Observed entries are written as they came, not as the model sees them.
        filled = np.where(seen, self.table.values, rebuilt)
        left = int(np.isnan(filled).sum())
        if left:
            said = "could not be filled: nothing was observed within a window."
            entries = counted(left, "entry", "entries")
            warnings.warn(f"{entries} {said}", DataWarning, stacklevel=2)
        self.table.write(folder / self.out, self.table.names, self.table.labels, filled)
        error = (rebuilt - self.table.values)[seen]
        rmse = float(np.sqrt(np.mean(error**2)))
        self.figures = {"RMSE of observed entries, in-sample": rmse}
        return self.shown(observed=self.table.values[-KEPT:], predicted=rebuilt[-KEPT:])
