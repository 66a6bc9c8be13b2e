"""Shares of topics in documents, averaged over spans of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atomstream.domains.text.time_bins import spans


def shares_of(codes: NDArray) -> NDArray:
    """Return codes of documents as shares; rows sum to one, or to zero where nothing is known."""
    total = codes.sum(axis=1, keepdims=True)
    return codes / np.where(total > 0, total, 1)


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
        known = shares.any(axis=1) & (span >= 0)
        counts = np.bincount(span[known], minlength=len(starts))
        sums = np.stack(
            [np.bincount(span[known], row[known], len(starts)) for row in shares.T], axis=1
        )
        some = counts[:, None] > 0
        means = np.divide(sums, counts[:, None], out=np.full(sums.shape, np.nan), where=some)
        return cls(starts, means, counts)
