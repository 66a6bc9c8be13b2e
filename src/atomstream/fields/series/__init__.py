"""Series: dictionaries of windows of several series, forecasts, gaps and changes.

Strohmeier (2023), "Online nonnegative CP-dictionary learning with applications to multimodal data",
chapters 2 and 3. Read `frames` (tables, times, names), `model`, the estimator with its
`parameters`, `reconstruction` (gaps filled) and `forecasting` (restrict and predict); the `head`
forecasts beside the atoms (`head_learning`, `head_state`, `lag_regression`, `levels`, `smoothing`),
and `choice` compares settings; then `change_points`, `transforms`, `forecaster` (for sktime),
`look`, and `run` with its `settings` (``atomstream series``).
"""

from atomstream.fields.series.change_points import ChangePoints, change_points
from atomstream.fields.series.transforms import Log1p, MovingAverage, NonnegativeScaler

__all__ = ["ChangePoints", "Log1p", "MovingAverage", "NonnegativeScaler", "change_points"]
