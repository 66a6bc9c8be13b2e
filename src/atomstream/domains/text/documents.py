"""Streams of documents, counted in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import scipy.sparse as sp

from atomstream.core.checks import check_number
from atomstream.domains.text.vocabulary import Vocabulary, blocks_of

__all__ = ["check_documents", "stream"]


def stream(
    documents: Iterable[str], vocabulary: Vocabulary | str = "hashing", *, batch_size: int = 256
) -> Iterator[sp.csr_array]:
    """Count the words of documents, in batches of sparse rows for any dictionary.

    Parameters
    ----------
    documents : iterable of str
        Any, endless ones too: a batch of them is in memory.
    vocabulary : Vocabulary or {"hashing", "counts", "tfidf"}, default="hashing"
        One of words to be counted. By the names "counts" and "tfidf" words are those of the first
        batch; for others learn a vocabulary first (`Vocabulary.learned`).
    batch_size : int, default=256

    Yields
    ------
    csr_array of shape (at most batch_size, n_features)

    Examples
    --------
    >>> batches = stream(["the black cat", "a black dog", "a cat"], "counts", batch_size=2)
    >>> [batch.shape for batch in batches]
    [(2, 3), (1, 3)]
    """
    check_number("batch_size", batch_size)
    words = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary)
    check_documents(documents)
    for block in blocks_of(documents, batch_size):
        words = words if words.ready else words.learned(block)
        yield words.count(block)


def check_documents(documents: Any) -> Iterable[str]:
    """Refuse what is no iterable of texts: a text alone would be taken letter by letter."""
    table = isinstance(documents, Mapping) or hasattr(
        documents, "columns"
    )  # these iterate over names
    if table or isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        column = ": give its column of texts" if hasattr(documents, "columns") else ""
        raise ValueError(
            f"documents must be an iterable of str, got {type(documents).__name__}{column}."
        )
    return documents
