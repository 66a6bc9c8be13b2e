"""Coherence of topics: how often their words occur together in documents."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def npmi(counts: sp.csr_array, words: NDArray) -> NDArray:
    """Return the mean normalized pointwise mutual information of the pairs of words of each topic.

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
