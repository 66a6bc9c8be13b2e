"""Streams of documents as batches of word counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import scipy.sparse as sp

from atomstream.base.checks import check_count
from atomstream.domains.text.vocabulary import Vocabulary, blocks_of


def stream(
    documents: Iterable[str], vocabulary: Vocabulary | str = "hashing", *, batch_size: int = 256
) -> Iterator[sp.csr_array]:
    """Yield the word counts of documents in batches of sparse rows, for any dictionary.

    Parameters
    ----------
    documents : iterable of str
        May be endless: only one batch is in memory.
    vocabulary : Vocabulary or {"hashing", "counts", "tfidf"}, default="hashing"
        The words to count. With the names "counts" and "tfidf" they are the words of the first
        batch; for other words learn a vocabulary first (`Vocabulary.learned`).
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
    check_count("batch_size", batch_size)
    words = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary)
    check_documents(documents)
    for block in blocks_of(documents, batch_size):
        words = words if words.ready else words.learned(block)
        yield words.count(block)


def check_documents(documents: object) -> Iterable[str]:
    """Check for an iterable of texts: a single text would be read letter by letter."""
    # mappings and frames iterate over names, not over texts
    table = isinstance(documents, Mapping) or hasattr(documents, "columns")
    if table or isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        column = ": give its column of texts" if hasattr(documents, "columns") else ""
        raise ValueError(
            f"documents must be an iterable of str, got {type(documents).__name__}{column}."
        )
    return documents
