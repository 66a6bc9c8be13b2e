"""Change points of several series: times at which their mean or variance changes."""

from dataclasses import dataclass

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

from atomstream.base import Samples, check_count, checked_array

# Least variance of a segment, as a share of the whole: a constant one would gain infinitely much.
MIN_SPREAD = 0.1
MAX_SURROGATE_NUMBERS = 2**22  # most numbers of surrogates in memory at a time


@dataclass(frozen=True, eq=False)
class ChangePoints:
    """Times at which series change, in order.

    Attributes
    ----------
    times : ndarray of int of shape (n_changes,)
        The first time of each new regime, counted from 0.
    p_values : ndarray of shape (n_changes,)
        Share of surrogates without a change whose best split is as good, in all series or in one.
        The series itself counts as one of them.
    gains : ndarray of shape (n_times,)
        Gain of a split of the whole before each time, a difference of log-likelihoods; 0 where a
        side would be too short.
    """

    times: NDArray
    p_values: NDArray
    gains: NDArray


def change_points(
    series: Samples,
    *,
    level: float = 0.01,
    block: int | None = None,
    min_size: int = 8,
    n_draws: int = 499,
    random_state: int | np.random.Generator | None = 0,
) -> ChangePoints:
    r"""Find the times at which the mean or the variance of any of several series changes.

    Values are replaced by the normal scores of their ranks, so that heavy tails have no more
    influence than others. A split of n times into :math:`n_1 + n_2` gains
    :math:`\tfrac12 \sum_j (n \log s_j^2 - n_1 \log s_{1j}^2 - n_2 \log s_{2j}^2)`, summed over
    the series j. The best split is a change if at most a share ``level`` of surrogates has a split
    as good, by the sum over the series or by the largest gain of one series: a change of few among
    many series is lost in the sum. Each surrogate is judged by the better of its two ranks, too, so
    that looking twice costs no false alarms. Then both sides are searched in the same way.
    Surrogates are made of blocks of consecutive times, drawn with replacement, all series together.
    Within a block they have the autocorrelation of the series; the order of the blocks leaves
    nothing of a change.

    Parameters
    ----------
    series : array-like of shape (n_times, n_series)
    level : float, default=0.01
        Probability of a false alarm in each search, above 0 and below 1.
    block : int, optional
        Length of a block, which must exceed the autocorrelation time of the series. By default it
        is five times the mean autocorrelation time of what splits leave. It is never more than an
        eighth of the times that are searched.
    min_size : int, default=8
        Smallest number of times between two changes, at least 2.
    n_draws : int, default=499
        Number of surrogates; a p-value is at least 1 / (n_draws + 1).
    random_state : int, Generator or None, default=0

    Raises
    ------
    ValueError
        For settings out of range, and for series that are not a table of finite numbers or are
        shorter than two times ``min_size``.

    Notes
    -----
    Temporary changes are hard to detect, because the method compares before with after. Where
    the autocorrelation of the series is strong there are more false alarms than the level says,
    and other kinds of dependence may give more, too, as in the temporal atoms of synthetic flames
    (experiment 003-7).

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
    series = checked_array(series, "series", np.float64)
    length = 1 if block is None else block
    _check(series, level, min_size, n_draws)
    check_count("block", length)
    rng = np.random.default_rng(random_state)
    gains, found = np.zeros(len(series)), []
    parts = [(0, len(series))]
    while parts:
        start, stop = parts.pop()
        if stop - start < 2 * min_size:
            continue
        scores = normal_scores(series[start:stop])
        # Gains of all series add up where they change together.
        each = series_gains(scores[None], min_size)[0]
        here = each.sum(axis=1)
        gains = here if stop - start == len(series) else gains
        place = int(here.argmax())
        if here[place] <= 0:
            continue
        # Surrogates keep what neighbours have to do with each other within a block.
        size = _block_length(scores, place, min_size) if block is None else block
        # Eight blocks at least, or surrogates would hardly differ from the series.
        best = _surrogates(scores, min(size, -(-len(scores) // 8)), min_size, n_draws, rng)
        p_value, alone = _p_value(np.array([here.max(), each.max()]), best)
        place = int(each.max(axis=1).argmax()) if alone else place
        if p_value <= level:
            found.append((start + place, p_value))
            parts += [(start, start + place), (start + place, stop)]
    found.sort()
    return ChangePoints(
        np.array([t for t, _ in found], dtype=int), np.array([p for _, p in found]), gains
    )


def normal_scores(series: NDArray) -> NDArray:
    """Return the normal quantile of the rank of each value in its series; ties share a rank."""
    from scipy.stats import rankdata  # slow to load

    # Half a rank off, for the quantiles of 0 and 1 are infinite.
    return scipy.special.ndtri((rankdata(series, axis=0) - 0.5) / len(series))


def split_gains(series: NDArray, min_size: int) -> NDArray:
    """Return the gain of a split before each time, of shape (n_sets, n_times).

    The series are of shape (n_sets, n_times, n_series).
    """
    return series_gains(series, min_size).sum(axis=2)


def series_gains(series: NDArray, min_size: int) -> NDArray:
    """Return what each series gains by a split, of the shape of the series, as `split_gains`."""
    n = series.shape[1]
    centred = series - series.mean(axis=1, keepdims=True)
    whole = (centred**2).mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt(np.where(whole > 0, whole, 1))  # constant series gain nothing
    before = np.arange(min_size, n - min_size + 1)[:, None]
    sums, squares = (
        np.cumsum(part, axis=1)[:, min_size - 1 : n - min_size] for part in (scaled, scaled**2)
    )
    # Variances of both sides; of a normal law the gain is half of the fall of n log(variance).
    left = squares / before - (sums / before) ** 2
    right = (n - squares) / (n - before) - (sums / (n - before)) ** 2
    left, right = np.log(np.maximum(left, MIN_SPREAD)), np.log(np.maximum(right, MIN_SPREAD))
    logs = before * left + (n - before) * right
    gains = np.zeros(series.shape)
    gains[:, min_size : n - min_size + 1] = -0.5 * np.where(whole > 0, logs, 0)
    return gains


def _p_value(found: NDArray, best: NDArray) -> tuple[float, bool]:
    """Return the share of surrogates as good by the better rank, and whether that is one series'.

    The series itself, first, counts as one of them; ``best`` is of shape (n_draws, 2).
    """
    # The series itself is one of the pool: no p-value is 0.
    pool = np.vstack([found, best])
    ranks = np.column_stack([len(pool) - np.searchsorted(np.sort(part), part) for part in pool.T])
    joint = ranks.min(axis=1)
    return float((joint <= joint[0]).mean()), bool(ranks[0, 1] < ranks[0, 0])


def _block_length(scores: NDArray, place: int, min_size: int) -> int:
    """Return five times the mean autocorrelation time of what splits leave.

    The best splits of both sides are removed first, because a second change would look like a
    long autocorrelation. This also removes some of the true autocorrelation, hence the factor.
    """
    rest = np.concatenate([_centred(side, min_size) for side in (scores[:place], scores[place:])])
    n, energy = len(rest), np.maximum((rest**2).sum(axis=0), np.finfo(float).tiny)
    times, standing = np.ones(rest.shape[1]), np.ones(rest.shape[1], dtype=bool)
    for lag in range(1, n // 4):
        correlation = (rest[lag:] * rest[:-lag]).sum(axis=0) / energy
        # Once a correlation is within its noise, larger lags of that series no longer count.
        standing &= correlation > 1 / np.sqrt(n)
        if not standing.any():
            break
        times += 2 * np.where(standing, correlation, 0)
    return int(np.ceil(5 * times.mean()))


def _centred(side: NDArray, min_size: int) -> NDArray:
    """Return series minus their means before and after their best split."""
    place = int(split_gains(side[None], min_size)[0].argmax()) if len(side) >= 2 * min_size else 0
    return np.concatenate(
        [part - part.mean(axis=0) for part in (side[:place], side[place:]) if len(part)]
    )


def _surrogates(
    scores: NDArray, block: int, min_size: int, n_draws: int, rng: np.random.Generator
) -> NDArray:
    """Return the best gain of all series, and of one, of ``n_draws`` surrogates made of blocks."""
    n, best = len(scores), np.empty((n_draws, 2))
    several = max(1, MAX_SURROGATE_NUMBERS // scores.size)
    for first in range(0, n_draws, several):
        n_sets = min(several, n_draws - first)
        starts = rng.integers(n, size=(n_sets, -(-n // block), 1))
        # Blocks run around the end (circular bootstrap), so that all times are equally likely.
        places = ((starts + np.arange(block)) % n).reshape(n_sets, -1)[:, :n]
        each = series_gains(scores[places], min_size)
        best[first : first + n_sets, 0] = each.sum(axis=2).max(axis=1)
        best[first : first + n_sets, 1] = each.max(axis=(1, 2))
    return best


def _check(series: NDArray, level: float, min_size: int, n_draws: int) -> None:
    if series.ndim != 2 or not series.size or not np.isfinite(series).all():
        raise ValueError(
            f"series must be finite numbers of shape (n_times, n_series), got shape {series.shape}."
        )
    if not 0 < level < 1:
        raise ValueError(f"level must be above 0 and below 1, got {level!r}.")
    check_count("min_size", min_size, 2)
    check_count("n_draws", n_draws)
    if len(series) < 2 * min_size:
        raise ValueError(
            f"series has {len(series)} times, a change needs min_size={min_size} before and after "
            f"it: {2 * min_size}."
        )
    if 1 / (n_draws + 1) > level:
        raise ValueError(
            f"n_draws={n_draws} cannot resolve a level of {level!r}; take at least "
            f"{1 / level - 1:.0f}."
        )
