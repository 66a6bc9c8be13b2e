"""Learning from a table of series as a run: a forecast with bands, or missing entries filled."""

from __future__ import annotations

import csv
import io
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.callbacks import History
from atomstream.domains.series.time_index import Times
from atomstream.domains.series.transforms import Log1p, MovingAverage, NonnegativeScaler
from atomstream.estimators.series import SeriesDictionary
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file
from atomstream.io.series_table import read_series
from atomstream.io.source import fingerprint
from atomstream.runs.folder import RunFolder
from atomstream.runs.series_settings import ForecastSettings, SeriesSettings, check_table

__all__ = ["SeriesRun"]

KEPT = 240  # of the last rows, for the report


class _File:
    """An input: its name, and a mark to know its content again."""

    def __init__(self, path: str) -> None:
        self.name, self.path = path, Path(path)

    def fingerprint(self) -> str:
        """Return what changes when the content does."""
        return fingerprint([self.path])


class SeriesRun:
    """A dictionary of series, what it learns from, and what is written beside it.

    Parameters
    ----------
    folder : RunFolder
    settings : ForecastSettings or ImputeSettings
    """

    def __init__(self, folder: RunFolder, settings: SeriesSettings) -> None:
        self.folder, self.settings = folder, settings
        self.sources = [_File(settings.inputs[0])]
        self.table = read_series(settings.inputs[0], time=settings.time, columns=settings.columns)
        self.model: SeriesDictionary = settings.new_model()
        self._forecasts = isinstance(settings, ForecastSettings)
        self.history = History()
        self.warnings: list[str] = []
        self.out = folder.path / ("forecast.csv" if self._forecasts else "imputed.csv")
        self.figures: dict[str, float] = {}
        average = getattr(settings, "average", 1)
        scaler = NonnegativeScaler(shift=not self._forecasts)
        self._undone: list[Any] = [*[Log1p()] * settings.log, *[scaler] * settings.scale]
        self._steps: list[Any] = [*[MovingAverage(average)] * (average > 1), *self._undone]
        check_table(self.table, settings, self._n_first)

    @property
    def _n_first(self) -> int:
        """How many rows the beginning sees, and preparation goes by: for a forecast none that is then foretold."""
        return self.model._n_init if self._forecasts else len(self.table.values)

    def run(self, bar: Any) -> None:
        """Learn, and write everything.

        Parameters
        ----------
        bar : callback
            Shows the progress.
        """
        began = time.monotonic()
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("default")
            try:
                times = Times.of(self.table.labels)
                values = self.table.values
                for step in self._steps:
                    values = step.fit(values[: self._n_first]).transform(values)
                self.model.set_callbacks(bar, self.history)
                shown = self._forecast(values, times) if self._forecasts else self._impute(values)
            except ValueError as error:
                raise InputError(str(error)) from None
            finally:
                self.model.set_callbacks()
        self.warnings += [str(message.message) for message in heard]
        notes = shown | {
            "seconds": time.monotonic() - began,
            "warnings": np.array(self.warnings, object),
            "n_samples": np.array(self.history.n_samples, np.int64),
            "objective": np.array(self.history.objective, np.float64),
            "figures": self.figures,
            "series": np.array(self.table.names, object),
            "labels": self.table.labels[-KEPT:].astype(str).astype(object),
            "n_times": len(values),
            "n_missing": int(np.isnan(self.table.values).sum()),
        }
        self.folder.save(self.model, notes, keep=1)

    def undo(self, values: NDArray) -> NDArray:
        """Return prepared values in the units of the table; trailing means stay."""
        for step in reversed(self._undone):
            values = step.inverse_transform(values)
        return values

    def _forecast(self, values: NDArray, times: Times) -> dict[str, Any]:
        """Follow the series, foretell what comes, and write it."""
        settings: Any = self.settings
        lags = settings.window - 1
        if np.isnan(values[-lags:]).all():
            raise ValueError(
                f"The last {lags} rows of {settings.inputs[0]} are empty, and a forecast goes by these (one less "
                "than --window): leave empty rows at the end out."
            )
        self.model.fit(values)
        middle = self.undo(self.model.predict(settings.horizon))
        columns = [("", middle)]
        try:
            band = self.model.predict_interval(settings.horizon, settings.coverage)
            columns += [("_low", self.undo(band.low)), ("_high", self.undo(band.high))]
        except ValueError as error:
            self.warnings.append(f"No bands: {error}")
        ahead = times.at(1, settings.horizon)
        parts = [part for _, part in columns]
        table = np.stack(parts, axis=2).reshape(len(middle), -1)
        mean = f"_mean{settings.average}" if settings.average > 1 else ""
        self._write(
            [name + mean + end for name in self.table.names for end, _ in columns], ahead, table
        )
        steps = self.model.one_step_
        self._judge(steps, values)
        seen = self.undo(values[-len(steps) :])
        return {
            "observed": seen[-KEPT:],
            "predicted": self.undo(steps)[-KEPT:],
            "ahead": np.stack(parts),
            "ahead_labels": ahead.astype(str).astype(object),
        }

    def _judge(self, steps: NDArray, values: NDArray) -> None:
        """Note the error of honest predictions, beside that of taking the last row for the next."""
        last = np.concatenate([np.full((1, values.shape[1]), np.nan), values])[-len(steps) - 1 : -1]
        seen = values[-len(steps) :]
        both = ~np.isnan(steps) & ~np.isnan(seen) & ~np.isnan(last)
        if both.any():
            error = {"one step ahead": steps - seen, "last row again": last - seen}
            self.figures = {
                f"RMSE, {name}": float(np.sqrt(np.mean(e[both] ** 2))) for name, e in error.items()
            }

    def _impute(self, values: NDArray) -> dict[str, Any]:
        """Learn the whole table, fill it, and write it."""
        self.model.fit(values, init=values)
        seen = ~np.isnan(values)
        rebuilt = self.undo(self.model.reconstruct(values))
        filled = np.where(seen, self.table.values, rebuilt)
        left = int(np.isnan(filled).sum())
        if left:
            self.warnings.append(
                f"{left} entries stay missing: nothing was observed within a window of them."
            )
        self._write(self.table.names, self.table.labels, filled)
        error = (rebuilt - self.table.values)[seen]
        self.figures = {"RMSE of observed entries, in-sample": float(np.sqrt(np.mean(error**2)))}
        return {"observed": self.table.values[-KEPT:], "predicted": rebuilt[-KEPT:]}

    def _write(self, names: list[str], labels: NDArray, values: NDArray) -> None:
        """Write a table like the one that was read."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow((self.table.time, *names))
        for label, row in zip(labels.astype(str).tolist(), values.tolist(), strict=True):
            writer.writerow((label, *("" if value != value else repr(value) for value in row)))
        with whole_file(self.out) as file:
            file.write(text.getvalue().encode())
