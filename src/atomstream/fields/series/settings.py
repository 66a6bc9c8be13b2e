"""Settings of runs on a table of time series."""

from dataclasses import dataclass
from typing import Any

from atomstream.base.parameters import number, one_of, whole
from atomstream.fields.series.head import HEADS
from atomstream.fields.series.model import SeriesDictionary
from atomstream.runs.reading import series_reading
from atomstream.runs.settings import Settings, checkpoints, option, sets
from atomstream.schedules import Constant

WEIGHT = (
    "Weight of the last rows against all before: 1 forgets the past, 0 stands for the power "
    "schedule."
)


@dataclass(frozen=True)
class SeriesSettings(checkpoints, series_reading, Settings):
    """Settings of a run on a table of series."""

    ONE_INPUT = "Series are learned from one file"

    log: bool = option(False, "Learn logarithms of one plus the values.")
    scale: bool = option(
        False,
        "Scale each series: for a forecast by its largest value in the first rows, to impute to 0 "
        "to 1.",
    )
    atoms: int = sets(SeriesDictionary, "n_components")
    window: int = sets(SeriesDictionary, "window")
    memory: int | None = sets(SeriesDictionary, "memory", shown="ten windows")
    alpha: float = sets(SeriesDictionary, "alpha")
    ridge: float = sets(SeriesDictionary, "ridge")
    center: bool = sets(SeriesDictionary, "center")
    weight: float = option(1.0, WEIGHT, number())
    init_rows: int | None = sets(SeriesDictionary, "n_init", shown="four windows")
    init_batches: int = sets(SeriesDictionary, "n_init_batches")

    def check(self) -> None:
        """Raise ValueError for settings that the model refuses."""
        if self.init_rows is not None and self.init_rows < self.window:
            raise ValueError(
                f"init_rows is {self.init_rows}, needed is at least the window, {self.window}."
            )
        super().check()

    def new_model(self, head: str | None = None) -> SeriesDictionary:
        """Return the model that will learn."""
        # 0 is no weight that learns anything: it is free to stand for the other schedule.
        schedule = Constant(weight=self.weight) if self.weight else "power"
        return SeriesDictionary(**self.parameters(), schedule=schedule, head=head)


@dataclass(frozen=True)
class ForecastSettings(SeriesSettings):
    """Settings of a forecast."""

    TASK = "series forecast"

    horizon: int = option(1, "Rows to forecast.", whole())
    coverage: float = option(
        0.9,
        "Share of next values that the bands hold, one step ahead.",
        number(0, 1, above=True, below=True),
    )
    average: int = option(
        1, "Learn and forecast trailing means of this many rows; 1 takes the values.", whole()
    )
    head: str = option(
        "mix",
        "What forecasts: a mix of regressions on lags (ridge), smoothing, persistence and "
        "seasonal, weighed by past errors; one of these; their mean; codes; or the atoms.",
        one_of(*HEADS, "atoms"),
    )
    season: int | None = sets(SeriesDictionary, "season", shown="no season")
    exogenous: tuple[str, ...] = option(
        (),
        "Columns known ahead: names, numbers from 1, or ranges. The table goes on with the rows to "
        "be forecast, in which only these columns are filled.",
        shown="none",
    )

    def check(self) -> None:
        """Raise ValueError for settings that the model refuses."""
        if self.exogenous and self.head == "atoms":
            raise ValueError("--exogenous is for a head; atoms take no other columns.")
        super().check()

    def reading(self) -> dict[str, Any]:
        """Return how the table is to be read."""
        return super().reading() | {"known": self.exogenous}

    def new_model(self, head: str | None = None) -> SeriesDictionary:
        """Return the model that will learn."""
        return super().new_model(None if self.head == "atoms" else self.head)


@dataclass(frozen=True)
class ImputeSettings(SeriesSettings):
    """Settings of a run that fills missing entries; series are scaled by default.

    Gaps are filled from all rows and with less ridge than a forecast has.
    """

    TASK = "series impute"

    ridge: float = sets(SeriesDictionary, "ridge", default=0.01)
    weight: float = option(0.0, WEIGHT, number())
    scale: bool = option(True, "Scale each series to 0 to 1.")
