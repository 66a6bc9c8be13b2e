"""Conformal prediction: the width of bands from past errors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def n_errors_needed(coverage: float) -> int:
    """Return the number of past errors that a band of this coverage needs."""
    return math.ceil(round(coverage / (1 - coverage), 9))


def half_widths(errors: NDArray, coverage: float) -> NDArray:
    """Return half the width of a band for each series.

    It is the ceil((n + 1) coverage)-th smallest of n past absolute errors. If past and new errors
    are exchangeable, a new error is larger with a probability of at most 1 - coverage, for any n
    and any distribution.

    Parameters
    ----------
    errors : ndarray of shape (n, n_series)
        NaN where there is no error.
    coverage : float
        Share of new values inside the band, above 0 and below 1.

    Returns
    -------
    ndarray of shape (n_series,)
        NaN for series with too few errors: at least coverage / (1 - coverage) are needed.

    References
    ----------
    Vovk, Gammerman, Shafer (2005), "Algorithmic learning in a random world", split (inductive)
    conformal prediction.

    Examples
    --------
    >>> half_widths(np.arange(1.0, 10.0)[:, None], 0.8)
    array([8.])
    """
    counts = (~np.isnan(errors)).sum(axis=0)
    places = np.array([math.ceil(round((n + 1) * coverage, 9)) for n in counts], dtype=np.intp)
    ordered = np.pad(np.sort(np.abs(errors), axis=0), ((0, 1), (0, 0)), constant_values=np.nan)
    return np.take_along_axis(ordered, places[None] - 1, axis=0)[0]  # NaN beyond the last error
