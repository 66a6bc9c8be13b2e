"""What the head of a dictionary of series has learned."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.saved_fields import array, count, each, part
from atomstream.fields.series.lag_regression import LagCoefficients
from atomstream.fields.series.levels import Levels
from atomstream.fields.series.smoothing import Smoothed


class HeadState:
    """What a `Head` has learned.

    Attributes
    ----------
    regressions, smoothed, dynamics : list
        What its parts have learned.
    rows : ndarray of shape (n, n_series)
        The last rows, forecasts in place of missing entries.
    codes : ndarray of shape (2, n_codes)
        Of the last two windows; NaN where there was none.
    paths : ndarray of shape (horizon, n_members + 2, horizon, n_series)
        The last forecasts of all members, of the head and of persistence.
    errors : ndarray of shape (n, horizon, n_series)
        The last errors of the head at each step ahead; NaN where there is none.
    sums : ndarray of shape (3, n_members, horizon, n_series)
        Squared errors of members, those of persistence on the same rows, and their number; older
        rows weigh less.
    limit, n_far : ndarray of shape (n_series,)
        How far from its forecast a value may lie, NaN if unknown, and how many of the last ones lay
        further.
    n_rows : int
    levels : Levels
        The units of all this.
    """

    SAVED: ClassVar = (
        each(part("regressions", LagCoefficients), at_most=3),
        each(part("smoothed", Smoothed), at_most=1),
        each(part("dynamics", LagCoefficients), at_most=1),
        array("rows", "lags d", np.float64, finite=True),
        array("codes", "2 codes", np.float64),
        *(
            array("paths", "horizon paths horizon d", np.float64),
            array("errors", "errors horizon d", np.float64),
        ),
        array("sums", "3 members horizon d", np.float64, at_least=0, finite=True),
        *(array("limit", "d", np.float64), array("n_far", "d", np.float64, at_least=0)),
        *(count("n_rows"), part("levels", Levels)),
    )

    def __init__(self, **learned: Any) -> None:
        vars(self).update(learned)

    regressions: list[LagCoefficients]
    smoothed: list[Smoothed]
    dynamics: list[LagCoefficients]
    rows: NDArray
    codes: NDArray
    paths: NDArray
    errors: NDArray
    sums: NDArray
    limit: NDArray
    n_far: NDArray
    n_rows: int
    levels: Levels
