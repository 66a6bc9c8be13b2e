"""Bands from past errors: how wide they must be to hold a share of what comes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["half_widths"]


def half_widths(errors: NDArray, coverage: float) -> NDArray:
    """Return for each series the smallest width that a new error exceeds with a chance of at most 1 - coverage.

    Of n past absolute errors the ceil((n + 1) coverage)-th smallest: where past and new errors are
    exchangeable, the chance that the new one is larger is at most 1 - coverage, for any n and any
    law.

    Parameters
    ----------
    errors : ndarray of shape (n, n_series)
        NaN where there is none.
    coverage : float
        Above 0 and below 1.

    Returns
    -------
    ndarray of shape (n_series,)

    Raises
    ------
    ValueError
        For series with too few errors for that coverage: at least coverage / (1 - coverage) are
        needed.

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
            f"coverage={coverage!r} needs at least {math.ceil(round(coverage / (1 - coverage), 9))} honest one-step "
            f"predictions of each series, series {series} has {counts[series]}; ask for less, or give more rows."
        )
    ordered = np.sort(np.abs(errors), axis=0)  # NaN last
    return np.take_along_axis(ordered, places[None] - 1, axis=0)[0]
