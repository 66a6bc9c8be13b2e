"""Time series: transformers and change points."""

from atomstream.domains.series.change_points import ChangePoints, change_points
from atomstream.domains.series.transforms import Log1p, MovingAverage, NonnegativeScaler

__all__ = ["ChangePoints", "Log1p", "MovingAverage", "NonnegativeScaler", "change_points"]
