"""What a run on series was asked to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atomstream.estimators.series import SeriesDictionary
from atomstream.exceptions import InputError
from atomstream.io.series_table import SeriesTable
from atomstream.runs.settings import RunSettings
from atomstream.schedules import Constant

__all__ = ["SERIES", "ForecastSettings", "ImputeSettings", "SeriesSettings", "check_table"]


@dataclass(frozen=True)
class SeriesSettings(RunSettings):
    """Settings of a run on a table of series; the names are those of the command line.

    Parameters
    ----------
    inputs : tuple of str
        One file.
    domain : str
        What kind of run this is.
    time : str, optional
        Column of the times, see `atomstream.io.series_table.read_series`.
    columns : tuple of str
        Of the series.
    log, scale : bool
        Whether to learn logarithms of one plus the values, and each series scaled: for a forecast
        divided by its largest value in the first rows, those that the initialisation sees; else
        from 0 to 1.
    atoms, init_rows, init_batches
        As ``n_components``, ``n_init`` and ``n_init_batches`` of `atomstream.SeriesDictionary`.
    window, memory, alpha, ridge
        As the model's parameters.
    weight : float
        How much the last ``memory`` rows weigh at each step against all before them; 1 forgets what
        came before, 0 stands for the power schedule, which forgets nothing for good.
    seed : int
    """

    domain: str = ""
    time: str | None = None
    columns: tuple[str, ...] = ()
    log: bool = False
    scale: bool = False
    atoms: int = 20
    window: int = 12
    memory: int | None = None
    alpha: float = 0.0
    ridge: float = 0.01
    weight: float = 0.0
    init_rows: int | None = None
    init_batches: int = 20
    seed: int = 0

    LEAST = {  # noqa: RUF012 - declared in the base
        **dict.fromkeys(("atoms", "init_rows", "memory"), 1),
        **dict.fromkeys(("alpha", "ridge", "weight", "init_batches", "seed"), 0),
        "window": 2,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if f"{self.domain}" not in SERIES or SERIES[self.domain] is not type(self):
            raise ValueError(f"domain is {self.domain!r}, needed is {self.COMMAND}.")
        if len(self.inputs) != 1:
            raise ValueError(f"Series are learned from one file, got {len(self.inputs)}.")
        if self.init_rows is not None and self.init_rows < self.window:
            raise ValueError(
                f"init_rows is {self.init_rows}, needed is at least the window, {self.window}."
            )
        self.new_model().check()

    def new_model(self) -> SeriesDictionary:
        """Return the model that will learn."""
        return SeriesDictionary(
            self.atoms,
            self.window,
            memory=self.memory,
            alpha=self.alpha,
            ridge=self.ridge,
            schedule=Constant(weight=self.weight) if self.weight else "power",
            n_init=self.init_rows,
            n_init_batches=self.init_batches,
            random_state=self.seed,
        )


@dataclass(frozen=True)
class ForecastSettings(SeriesSettings):
    """Settings of a forecast; by default it goes by the last ``memory`` rows.

    Parameters
    ----------
    horizon : int
        Rows to foretell.
    coverage : float
        Of the bands.
    average : int
        Times in a trailing mean that is learned in place of the values.
    """

    domain: str = "series forecast"
    weight: float = 1.0
    horizon: int = 1
    coverage: float = 0.9
    average: int = 1

    LEAST = SeriesSettings.LEAST | {"horizon": 1, "average": 1, "coverage": 0}
    COMMAND = "series forecast"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.coverage < 1:
            raise ValueError(
                f"coverage is {self.coverage!r}, needed is a share above 0 and below 1."
            )


@dataclass(frozen=True)
class ImputeSettings(SeriesSettings):
    """Settings of a run that fills missing entries: as `SeriesSettings`, scaled by default."""

    domain: str = "series impute"
    scale: bool = True

    COMMAND = "series impute"


SERIES: dict[str, type[SeriesSettings]] = {
    "series forecast": ForecastSettings,
    "series impute": ImputeSettings,
}


def check_table(table: SeriesTable, settings: SeriesSettings, n_first: int) -> None:
    """Refuse a table that cannot be learned from with these settings.

    Parameters
    ----------
    table : SeriesTable
    settings : SeriesSettings
    n_first : int
        Rows that the preparation goes by.

    Raises
    ------
    InputError
    """
    forecasts, path, n_rows = (
        isinstance(settings, ForecastSettings),
        settings.inputs[0],
        len(table.values),
    )
    needed = n_first if forecasts else settings.window
    if n_rows < needed:
        rows, fewer = "1 row" if n_rows == 1 else f"{n_rows} rows", " or --init-rows" * forecasts
        raise InputError(
            f"{path} has {rows}, needed are {needed}: give more, or choose a smaller --window{fewer}."
        )
    _check_observed(table.values, table.names, path)
    if settings.scale and forecasts:
        where = (
            f" in the first {n_first} rows, by which --scale goes; take more with --init-rows or"
        )
        _check_observed(table.values[:n_first], table.names, path, where)
    _check_not_negative(table, settings, forecasts)


def _check_observed(values: NDArray, names: list[str], path: str, where: str = ";") -> None:
    empty = np.flatnonzero(np.isnan(values).all(axis=0))
    if len(empty):
        raise InputError(
            f"Series {names[empty[0]]!r} of {path} has no value{where} leave it out with --columns."
        )


def _check_not_negative(table: SeriesTable, settings: SeriesSettings, forecasts: bool) -> None:
    """Refuse values that neither logarithm nor scale bring to 0 and above."""
    shifted = settings.scale and not forecasts
    low = table.values <= (-1 if settings.log else -np.inf) if shifted else table.values < 0
    if not low.any():
        return
    row, column = np.argwhere(low)[0]
    value, place = table.values[row, column], table.labels[row]
    remedy = (
        "--log and --scale do not shift, add a constant" if forecasts else "--scale shifts series"
    )
    needed = (
        "--log needs values above -1"
        if shifted
        else f"{settings.COMMAND} needs values of at least 0; {remedy}"
    )
    raise InputError(
        f"Series {table.names[column]!r} of {settings.inputs[0]} is {value:.4g} at {place}: {needed}."
    )
