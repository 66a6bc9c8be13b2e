"""Conformal prediction: the width of bands from past errors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["half_widths"]


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

    Raises
    ------
    ValueError
        For series with too few errors: at least coverage / (1 - coverage) are needed.

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
    places = np.array([math.ceil(round((n + 1) * coverage, 9)) for n in counts])
    if (places > counts).any():
        series = int(np.flatnonzero(places > counts)[0])
        raise ValueError(
            f"coverage={coverage!r} needs at least "
            f"{math.ceil(round(coverage / (1 - coverage), 9))} honest one-step predictions of each "
            f"series, series {series} has {counts[series]}; ask for less, or give more rows."
        )
    ordered = np.sort(np.abs(errors), axis=0)  # NaN last
    return np.take_along_axis(ordered, places[None] - 1, axis=0)[0]
