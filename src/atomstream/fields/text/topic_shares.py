"""Topics of documents: how coherent they are, and their shares over time."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import ArrayLike, complete_array


def npmi(counts: sp.csr_array, words: NDArray) -> NDArray:
    """Return the mean normalised pointwise mutual information of the pairs of words of each topic.

    For words in shares p_i and p_j of the documents, and together in p_ij of them,
    log(p_ij / (p_i p_j)) / -log(p_ij); -1 where they never meet (Bouma 2009, eq. 6).

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_features)
    words : ndarray of int of shape (n_topics, n_words)
        Features of the words of each topic.

    Returns
    -------
    ndarray of shape (n_topics,)
        NaN where fewer than two of the words occur.
    """
    kinds, places = np.unique(words, return_inverse=True)
    there = sp.csc_array(counts)[:, kinds].astype(bool).astype(np.float64)
    together = (there.T @ there).toarray() / max(counts.shape[0], 1)
    return np.array([_mean_npmi(together[np.ix_(row, row)]) for row in places.reshape(words.shape)])


def _mean_npmi(together: NDArray) -> float:
    """Return the mean over pairs; ``together`` holds the shares of documents with both words."""
    alone = np.diag(together)
    first, second = np.triu_indices(len(together), 1)
    # A word that these documents lack says nothing about the topic.
    some = (alone[first] > 0) & (alone[second] > 0)
    first, second = first[some], second[some]
    if not len(first):
        return np.nan
    both, apart = together[first, second], alone[first] * alone[second]
    # In all documents together: the limit is 1. Never together: it is -1.
    meet = (both > 0) & (both < 1)
    values = np.where(both > 0, 1.0, -1.0)
    values[meet] = np.log(both[meet] / apart[meet]) / -np.log(both[meet])
    return float(values.mean())


UNITS = {"day": "D", "week": "W", "month": "M", "year": "Y"}  # spans, and NumPy's letters
TINY = 1e-12  # words of a document without any
MIN_SPANS = 8  # spans that show a course


def spans(
    times: ArrayLike, freq: str | None, bins: int | ArrayLike | None
) -> tuple[NDArray, NDArray, NDArray]:
    """Return times, the starts of the bins, and the bin of each time (-1 for none).

    Times with a zone count as local time. Dates without spans get `fitting` ones.
    """
    times = _check_times(times)
    if freq is not None and bins is not None:
        raise ValueError("Give either freq or bins, got both.")
    if freq is not None and times.dtype.kind in "iu":
        with suppress(ValueError):  # days as 20030219, which the command line takes too
            days = [datetime.fromisoformat(str(day)) for day in times.tolist()]
            times = np.array(days, "datetime64[s]")
    if freq is None and bins is None and times.dtype.kind == "M":
        freq = fitting(times)
    if freq is None and bins is None:
        raise ValueError("Times that are numbers need bins: their number, or their edges.")
    starts, place = _calendar(times, freq) if freq is not None else _equal_or_given(times, bins)
    return times, starts, place


def fitting(times: NDArray) -> str:
    """Return the longest span of which dates cover 8 or more; days where there is none."""
    long = (freq for freq in reversed(UNITS) if len(_calendar(times, freq)[0]) >= MIN_SPANS)
    return next(long, "day")


def typical(codes: NDArray, n_documents: int) -> NDArray:
    """Return the documents that are the best examples of each topic, (n_documents, n_topics).

    The score lies between the most words of a topic, which long documents have, and the largest
    share, which short ones have: words of the topic over the root of all words.
    """
    scores = codes / np.sqrt(np.maximum(codes.sum(axis=1, keepdims=True), TINY))
    return np.argsort(-scores, axis=0, kind="stable")[:n_documents]


def _check_times(times: ArrayLike) -> NDArray:
    """Return times as numbers or dates, one for each document."""
    times = complete_array(times, "times")
    if times.dtype.kind == "O" and times.ndim == 1:
        zoned = (getattr(time, "tzinfo", None) is not None for time in times)
        times = np.array(
            [t.replace(tzinfo=None) if z else t for t, z in zip(times, zoned, strict=True)], object
        )
    if times.dtype.kind in "OU":
        try:
            times = times.astype("datetime64[s]")
        except (ValueError, TypeError):
            raise ValueError(
                f"times must be numbers or dates, got {str(times.ravel()[:1])!r:.60}."
            ) from None
    if (
        times.ndim != 1
        or times.dtype.kind not in "iufM"
        or not len(times)
        or not (times == times).all()
    ):
        raise ValueError(
            f"times must be one known time for each document, got {times.dtype} of {times.shape}."
        )
    return times


def _calendar(times: NDArray, freq: str) -> tuple[NDArray, NDArray]:
    """Return the starts of days, weeks, months or years, and the bin of each time."""
    unit = UNITS.get(freq, freq)
    if unit not in UNITS.values() or times.dtype.kind != "M":
        raise ValueError(
            f"freq must be one of {', '.join(UNITS)} and times must be dates, got {freq!r} and "
            f"{times.dtype}."
        )
    days = times.astype("datetime64[D]")
    if unit == "W":
        number = (days.astype(np.int64) + 3) // 7  # day 0 was a Thursday
        starts = 7 * np.arange(number.min(), number.max() + 1) - 3
    else:
        number = days.astype(f"datetime64[{unit}]").astype(np.int64)
        starts = np.arange(number.min(), number.max() + 1).astype(f"datetime64[{unit}]")
    return starts.astype("datetime64[D]"), number - number.min()


def _equal_or_given(times: NDArray, bins: int | ArrayLike | None) -> tuple[NDArray, NDArray]:
    """Return the starts of equal bins, or of bins with given edges, and the bin of each time."""
    numbers = times.astype("datetime64[s]").astype(np.int64) if times.dtype.kind == "M" else times
    if not isinstance(bins, int | np.integer):
        bins = complete_array(bins, "bins")
        bins = bins.astype("datetime64[s]").astype(np.int64) if bins.dtype.kind in "MU" else bins
    edges = np.histogram_bin_edges(numbers, bins)
    if len(edges) < 2:
        raise ValueError("bins must be a number of bins or at least two edges.")
    place = np.searchsorted(edges, numbers, side="right") - 1
    # The last bin holds its right edge too, as NumPy's histograms have it.
    place = np.where(numbers == edges[-1], len(edges) - 2, place)
    starts = (
        edges[:-1].astype(np.int64).astype("datetime64[s]")
        if times.dtype.kind == "M"
        else edges[:-1]
    )
    return starts, np.where(place < len(edges) - 1, place, -1)


@dataclass(frozen=True, eq=False)
class TopicsOverTime:
    """Shares of topics in spans of time.

    Attributes
    ----------
    starts : ndarray of shape (n_spans,)
        When each span begins: days (datetime64) or numbers.
    shares : ndarray of shape (n_spans, n_components)
        Mean share of each topic in the documents of the span that hold known words; NaN where there
        is none.
    n_documents : ndarray of int of shape (n_spans,)
    """

    starts: NDArray
    shares: NDArray
    n_documents: NDArray

    @classmethod
    def of(
        cls, shares: NDArray, times: ArrayLike, freq: str | None, bins: int | ArrayLike | None
    ) -> Self:
        """Return the means over the documents of each span, from the shares of each document."""
        times, starts, span = spans(times, freq, bins)
        if len(shares) != len(times):
            raise ValueError(
                f"There are {len(shares)} documents and {len(times)} times; give one for each."
            )
        # A document of which no word is known says nothing of its span.
        known = shares.any(axis=1) & (span >= 0)
        counts = np.bincount(span[known], minlength=len(starts))
        sums = np.stack(
            [np.bincount(span[known], row[known], len(starts)) for row in shares.T], axis=1
        )
        some = counts[:, None] > 0
        means = np.divide(sums, counts[:, None], out=np.full(sums.shape, np.nan), where=some)
        return cls(starts, means, counts)
