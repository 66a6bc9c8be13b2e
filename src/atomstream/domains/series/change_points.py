"""Moments at which several series change their level or spread, told apart from what their own memory makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

__all__ = ["ChangePoints", "change_points"]

FLOOR = (
    0.1  # least variance of a segment, of that of all: one that stands still would say everything
)
MOST = 2**22  # numbers of surrogates at a time


@dataclass(frozen=True, eq=False)
class ChangePoints:
    """Moments of change, in their order.

    Attributes
    ----------
    times : ndarray of int of shape (n_changes,)
        The first time of each new regime, counted from 0.
    p_values : ndarray of shape (n_changes,)
        Share of surrogates without a change, the series itself counted as one, whose best split is
        as good.
    gains : ndarray of shape (n_times,)
        What a split of the whole before each time gains, a difference of log-likelihoods; 0 where a
        side would be too short.
    """

    times: NDArray
    p_values: NDArray
    gains: NDArray


def change_points(
    series: Any,
    *,
    level: float = 0.01,
    block: int | None = None,
    min_size: int = 8,
    n_draws: int = 499,
    random_state: Any = 0,
) -> ChangePoints:
    r"""Find the times at which the mean or the variance of any of several series changes.

    Values are replaced by the normal scores of their ranks, so that heavy tails say no more than
    others. A split of n times into :math:`n_1 + n_2` gains
    :math:`\tfrac12 \sum_j (n \log s_j^2 - n_1 \log s_{1j}^2 - n_2 \log s_{2j}^2)` over the series j. The best split
    is a change if at most a share ``level`` of surrogates has one as good; then both sides are
    searched likewise. Surrogates are made of blocks of consecutive times drawn with replacement,
    all series together: within a block they remember as the series do, from block to block nothing
    is left of a change.

    Parameters
    ----------
    series : array-like of shape (n_times, n_series)
    level : float, default=0.01
        Chance of a false alarm at each search, above 0 and below 1.
    block : int, optional
        Times in a block: more than the series remember. By default five times the mean
        autocorrelation time of what splits leave. At most an eighth of the times searched is taken.
    min_size : int, default=8
        Least times from change to change, at least 2.
    n_draws : int, default=499
        Surrogates; a p-value is at least 1 / (n_draws + 1).
    random_state : int, Generator or None, default=0

    Returns
    -------
    ChangePoints

    Raises
    ------
    ValueError
        For settings out of range and series that are no table of finite numbers or shorter than two
        times ``min_size``.

    Notes
    -----
    A bump from which all series come back to where they were is hard to see: its first side may
    look like its last. Measured on 150 series of 150 times and 4 columns: at a level of 0.05 a
    false alarm in 3, 5, 7 and 12 % where the autocorrelation of the series is 0, 0.5, 0.8 and 0.9;
    at 0.01 in none. Where series remember otherwise it may be more: at 0.01 in 3 % of the temporal
    atoms of 150 synthetic flames (experiment 003-7).

    References
    ----------
    Vostrikova (1981), "Detecting disorder in multidimensional random processes", for splits of
    splits; Kuensch (1989), "The jackknife and the bootstrap for general stationary observations",
    for blocks.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> series = rng.standard_normal((100, 3))
    >>> series[60:] += 2
    >>> change_points(series).times
    array([60])
    """
    series = np.asarray(series, dtype=np.float64)
    _check(
        series,
        level,
        {
            "block": (1 if block is None else block, 1),
            "min_size": (min_size, 2),
            "n_draws": (n_draws, 1),
        },
    )
    rng = np.random.default_rng(random_state)
    gains, found = np.zeros(len(series)), []
    parts = [(0, len(series))]
    while parts:
        start, stop = parts.pop()
        if stop - start < 2 * min_size:
            continue
        scores = normal_scores(series[start:stop])
        here = split_gains(scores[None], min_size)[0]
        gains = here if stop - start == len(series) else gains
        place = int(here.argmax())
        if here[place] <= 0:
            continue
        size = _memory(scores, place, min_size) if block is None else block
        best = _surrogates(scores, min(size, -(-len(scores) // 8)), min_size, n_draws, rng)
        p_value = (1 + int((best >= here[place]).sum())) / (1 + n_draws)
        if p_value <= level:
            found.append((start + place, p_value))
            parts += [(start, start + place), (start + place, stop)]
    found.sort()
    return ChangePoints(
        np.array([t for t, _ in found], dtype=int), np.array([p for _, p in found]), gains
    )


def normal_scores(series: NDArray) -> NDArray:
    """Return the normal quantile of the rank of each value in its series, equal values in the middle of theirs."""
    return ndtri((rankdata(series, axis=0) - 0.5) / len(series))


def split_gains(series: NDArray, min_size: int) -> NDArray:
    """Return what a split before each time gains, (n_sets, n_times), for sets (n_sets, n_times, n_series)."""
    n = series.shape[1]
    centred = series - series.mean(axis=1, keepdims=True)
    whole = (centred**2).mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt(
        np.where(whole > 0, whole, 1)
    )  # a series that never moves gains nothing
    before = np.arange(min_size, n - min_size + 1)[:, None]
    sums, squares = (
        np.cumsum(part, axis=1)[:, min_size - 1 : n - min_size] for part in (scaled, scaled**2)
    )
    left = squares / before - (sums / before) ** 2
    right = (n - squares) / (n - before) - (sums / (n - before)) ** 2
    logs = before * np.log(np.maximum(left, FLOOR)) + (n - before) * np.log(
        np.maximum(right, FLOOR)
    )
    gains = np.zeros(series.shape[:2])
    gains[:, min_size : n - min_size + 1] = -0.5 * np.where(whole > 0, logs, 0).sum(axis=2)
    return gains


def _memory(scores: NDArray, place: int, min_size: int) -> int:
    """Return five times the mean autocorrelation time of what is left in four parts.

    Splits of both sides are taken off first: a second change would pass for a long memory. That
    takes some of the memory off as well, which the factor makes good.
    """
    rest = np.concatenate([_centred(side, min_size) for side in (scores[:place], scores[place:])])
    n, energy = len(rest), np.maximum((rest**2).sum(axis=0), np.finfo(float).tiny)
    times, standing = np.ones(rest.shape[1]), np.ones(rest.shape[1], dtype=bool)
    for lag in range(1, n // 4):
        correlation = (rest[lag:] * rest[:-lag]).sum(axis=0) / energy
        standing &= correlation > 1 / np.sqrt(n)
        if not standing.any():
            break
        times += 2 * np.where(standing, correlation, 0)
    return int(np.ceil(5 * times.mean()))


def _centred(side: NDArray, min_size: int) -> NDArray:
    """Return series without their means before and after their best split."""
    place = int(split_gains(side[None], min_size)[0].argmax()) if len(side) >= 2 * min_size else 0
    return np.concatenate(
        [part - part.mean(axis=0) for part in (side[:place], side[place:]) if len(part)]
    )


def _surrogates(
    scores: NDArray, block: int, min_size: int, n_draws: int, rng: np.random.Generator
) -> NDArray:
    """Return the best gain in each of many series made of blocks of these, (n_draws,)."""
    n, best = len(scores), np.empty(n_draws)
    several = max(1, MOST // scores.size)
    for first in range(0, n_draws, several):
        n_sets = min(several, n_draws - first)
        starts = rng.integers(n, size=(n_sets, -(-n // block), 1))
        places = ((starts + np.arange(block)) % n).reshape(n_sets, -1)[:, :n]
        best[first : first + n_sets] = split_gains(scores[places], min_size).max(axis=1)
    return best


def _check(series: NDArray, level: float, counts: dict[str, tuple[int, int]]) -> None:
    if series.ndim != 2 or not series.size or not np.isfinite(series).all():
        raise ValueError(
            f"series must be finite numbers of shape (n_times, n_series), got shape {series.shape}."
        )
    if not 0 < level < 1:
        raise ValueError(f"level must be above 0 and below 1, got {level!r}.")
    for name, (value, least) in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    n_draws, least = counts["n_draws"][0], 2 * counts["min_size"][0]
    if len(series) < least:
        raise ValueError(
            f"series has {len(series)} times, a change needs min_size={least // 2} before and after it: {least}."
        )
    if 1 / (n_draws + 1) > level:
        raise ValueError(
            f"n_draws={n_draws} cannot tell a level of {level!r}; take at least {1 / level - 1:.0f}."
        )
