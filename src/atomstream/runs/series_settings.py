"""What a run on series was asked to do."""

from __future__ import annotations

from dataclasses import dataclass

from atomstream.models.series import SeriesDictionary
from atomstream.runs.settings import RunSettings
from atomstream.schedules import Constant

__all__ = ["SERIES", "ForecastSettings", "ImputeSettings", "SeriesSettings"]


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
        Column of the times, see `atomstream.readers.series.read_series`.
    columns : tuple of str
        Of the series.
    log, scale : bool
        Whether to learn logarithms of one plus the values, and values from 0 to 1 per series.
    atoms, init_rows, init_batches
        As ``n_components``, ``n_init`` and ``n_init_batches`` of `atomstream.SeriesDictionary`.
    window, memory, alpha, ridge
        As the model's parameters.
    weight : float
        How much the last ``memory`` rows weigh at each step against all before them; 1 forgets what came before, 0
        stands for the power schedule, which forgets nothing for good.
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
            raise ValueError(f"coverage is {self.coverage!r}, needed is a share above 0 and below 1.")


@dataclass(frozen=True)
class ImputeSettings(SeriesSettings):
    """Settings of a run that fills missing entries: as `SeriesSettings`, scaled by default."""

    domain: str = "series impute"
    scale: bool = True

    COMMAND = "series impute"


SERIES: dict[str, type[SeriesSettings]] = {"series forecast": ForecastSettings, "series impute": ImputeSettings}
