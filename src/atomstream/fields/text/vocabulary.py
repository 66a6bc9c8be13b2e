"""Vocabularies: the words that count, the feature of each, and documents as counts of words."""

from __future__ import annotations

import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, islice
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import check_count, counted, is_missing, without_mask
from atomstream.exceptions import DataWarning

KINDS = ("counts", "hashing", "tfidf")
LONGEST = 100  # characters of a word that are kept as the name of a feature
TOGETHER = 1000  # documents that are counted at a time while words are learned
JOINERS = "\u200c\u200d"  # within words of Persian and of Indic scripts
MARKED = range(0x300, 0x20000), range(0xE0100, 0xE01F0)  # planes of Unicode with marks
LATIN = r"[\0-\u02ff]"  # without marks: asked for first, for speed alone


@cache
def marks() -> str:
    """Return the combining marks: they belong to the letter before them, as vowel signs do."""
    signs = map(chr, chain(*MARKED))
    return "".join(sign for sign in signs if unicodedata.category(sign) in ("Mn", "Mc"))


def followed(letters: str) -> str:
    r"""Return the pattern of marks, which ``\w`` does not know, and of letters after them."""
    return rf"(?:(?!{LATIN})[{marks()}{JOINERS}]+{letters}*)*"


@cache
def word_pattern() -> str:
    """Return the pattern of a word.

    It has at least two characters, begins with a letter or digit, and ends with one or with a mark:
    the underscores that mark words in plain text, as in _you_, are none of the word.
    """
    # What stands before the end and is neither of the second pattern is a mark.
    return r"[^\W_]\w*" + followed(r"\w") + rf"(?:[^\W_]|(?<![\w{JOINERS}]))"


def composed(text: str) -> str:
    """Return a text in which a letter and its accents are one sign where there is one (NFC)."""
    return unicodedata.normalize("NFC", text)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words that count, in one of three kinds.

    "counts": the most frequent words of the documents it was learned from; entries are the numbers
    of their occurrences. "tfidf": the same words, with counts times
    log((1 + n) / (1 + documents with the word)) + 1, and rows scaled to length one (scikit-learn's
    defaults). "hashing": the hash of a word is its feature, so that a stream needs no first pass;
    words that share a feature are added up.

    To name the features of "hashing", each holds one candidate and its votes (Boyer and Moore's
    majority vote). A word adds to its own votes or subtracts from those of another candidate, and
    becomes the candidate when none are left. A word with more than half of the occurrences of its
    feature becomes its name, whatever the order. Memory is that of ``n_features`` words of at most
    100 characters, however long the stream.

    A vocabulary does not change: methods that learn return another one.

    Parameters
    ----------
    kind : {"hashing", "counts", "tfidf"}, default="hashing"
    n_features : int, default=32768
        For "hashing" the number of features, else the largest number of words.
    stop_words : "english", sequence of str or None, default="english"
        Words that are left out. In a sequence "english" stands for all of that language.
    min_df : int, default=1
        For "counts" and "tfidf": the number of documents in which a word must occur.
    ngrams : int, default=1
        Runs of up to so many words, stop words left out, count as words too.
    names : ndarray of str of shape (n_features,), optional
        The word of each feature; "" if none is known. Learned.
    weights : ndarray of shape (n_features,), optional
        Votes ("hashing"), or factors of the counts ("tfidf"). Learned.

    Raises
    ------
    ValueError
        For settings out of range.

    Examples
    --------
    >>> words = Vocabulary("counts", stop_words=None).learned(["a cat and a dog", "the dog"])
    >>> list(words.names)
    ['and', 'cat', 'dog', 'the']
    >>> words.count(["dog and dog"]).toarray()
    array([[1., 0., 2., 0.]])
    """

    kind: str = "hashing"
    n_features: int = 2**15
    stop_words: Any = "english"
    min_df: int = 1
    ngrams: int = 1
    names: NDArray | None = None
    weights: NDArray | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"vectorizer={self.kind!r} is unknown; known are {', '.join(KINDS)}.")
        for name in ("n_features", "min_df", "ngrams"):
            check_count(name, getattr(self, name), most=2**31 - 1)
        words = self.stop_words
        listed = isinstance(words, list | tuple | set | frozenset) and all(
            isinstance(word, str) for word in words
        )
        if not (words is None or listed or (isinstance(words, str) and words == "english")):
            raise ValueError(
                f"stop_words must be 'english', None or a list of words, got {words!r:.80}."
            )

    def validate(self, n_features: int | None) -> None:
        """Refuse words read from a file that are not as many as the features."""
        known = len(self.names if self.names is not None else ())
        known = self.n_features if self.kind == "hashing" else known
        if n_features not in (None, known):
            raise ValueError(f"{known} words for {n_features} features")
        for part, kind in ((self.names, "O"), (self.weights, "f")):
            if part is not None and (part.shape != (known,) or part.dtype.kind != kind):
                raise ValueError(f"words of shape {part.shape} where ({known},) is needed")
        if self.kind == "tfidf" and self.names is not None and self.weights is None:
            raise ValueError("words without their factors")

    @property
    def ready(self) -> bool:
        """Whether documents can be counted."""
        return self.kind == "hashing" or self.names is not None

    def analyzer(self) -> Callable[[str], list[str]]:
        """Return the function that cuts a document into words.

        Words are in small letters and have at least two characters; a letter and its accents are
        one character (NFC). Stop words are cut in the same way.
        """
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

        cut = partial(CountVectorizer, strip_accents=composed, token_pattern=word_pattern())
        words = self.stop_words
        if words is not None and not isinstance(words, str):
            own = cut().build_analyzer()(" ".join(sorted(words)))
            words = sorted({*own} | (ENGLISH_STOP_WORDS if "english" in words else set()))
        return cut(stop_words=words, ngram_range=(1, self.ngrams)).build_analyzer()

    def learned(self, documents: Iterable[str]) -> Vocabulary:
        """Return the vocabulary after learning from documents.

        "counts" and "tfidf" learn their words anew; "hashing" adds names of features.

        Parameters
        ----------
        documents : iterable of str

        Raises
        ------
        ValueError
            If no word is left.
        """
        analyze = self.analyzer()
        if self.kind == "hashing":
            vocabulary: Vocabulary = self
            for block in blocks_of(documents, TOGETHER):
                vocabulary = vocabulary._voted(
                    Counter(word for document in Documents(block) for word in analyze(document))
                )
            return vocabulary
        counts, containing, n_documents = Counter[str](), Counter[str](), 0
        for document in Documents(documents):
            found = Counter(analyze(document))
            counts.update(found)
            containing.update(found.keys())
            n_documents += 1
        frequent = [word for word in counts if containing[word] >= self.min_df]
        if not n_documents:
            raise ValueError("There are no documents.")
        if not frequent:
            raise ValueError(
                f"No word of the {n_documents} documents is left: all are stop words or too rare."
            )
        # The most frequent ones, ties by the alphabet, and then in its order: no set decides.
        kept = sorted(sorted(frequent, key=lambda word: (-counts[word], word))[: self.n_features])
        factors = None
        if self.kind == "tfidf":
            often = np.array([containing[word] for word in kept], dtype=float)
            # scikit-learn's smoothed form, so that both give the same numbers.
            factors = np.log((1 + n_documents) / (1 + often)) + 1
        return replace(self, names=np.array(kept, dtype=object), weights=factors)

    def count(self, documents: Iterable[str]) -> sp.csr_array:
        """Return documents as sparse rows, (n_documents, n_features); unknown words are left out.

        "hashing" counts all words, also those of features without a name. An empty document is a
        row of zeros.

        Raises
        ------
        ValueError
            If words have not been learned.
        """
        return self._counted(iter(Documents(documents)))

    def count_known(self, documents: Iterable[str]) -> sp.csr_array:
        """Return the counts of the learned words alone, (n_documents, n_features).

        Under "hashing" a word counts as learned where its feature has a name: where it, or another
        word of the same feature, occurred in what was learned. A document without learned words,
        such as an empty one, is a row of zeros.

        Raises
        ------
        ValueError
            If words have not been learned.
        """
        counts = self.count(documents)
        if self.kind == "hashing" and self.names is not None:
            counts.data[self.names[counts.indices] == ""] = 0
            counts.eliminate_zeros()
        return counts

    def word(self, feature: int) -> str:
        """Return the word that names a feature, or its number if no word is known."""
        name = "" if self.names is None else str(self.names[feature])
        return name or f"#{feature}"

    def _counted(self, documents: Iterator[str]) -> sp.csr_array:
        if not self.ready:
            raise ValueError(
                f"The words of vectorizer={self.kind!r} have not been learned; call learned first."
            )
        from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

        words: Any = self.names
        shared = {"analyzer": self.analyzer(), "dtype": np.float64}
        if self.kind == "hashing":
            words = range(self.n_features)
            counter = HashingVectorizer(
                n_features=len(words), alternate_sign=False, norm=None, **shared
            )
        else:
            counter = CountVectorizer(vocabulary=words, **shared)
        first = list(islice(documents, 1))
        if not first:  # of which scikit-learn makes no table
            return sp.csr_array((0, len(words)))
        X = sp.csr_array(counter.transform(chain(first, documents)))
        return X if self.kind != "tfidf" else self._weighted(X)

    def _weighted(self, X: sp.csr_array) -> sp.csr_array:
        X.data *= np.asarray(self.weights)[X.indices]
        # Documents have length one; one without a known word stays at zero.
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X.data /= np.repeat(np.where(norms > 0, norms, 1), np.diff(X.indptr))
        return X

    def _hashed(self, words: list[str]) -> NDArray:
        """Return the features of words, (n_words,): scikit-learn's hash."""
        from sklearn.feature_extraction import FeatureHasher

        if not words:
            return np.zeros(0, dtype=np.int64)
        hasher = FeatureHasher(self.n_features, input_type="string", alternate_sign=False)
        return hasher.transform([[word] for word in words]).indices.astype(np.int64)

    def _voted(self, counts: Counter[str]) -> Vocabulary:
        """Return the vocabulary after each word has voted as often as it occurred."""
        n = self.n_features
        names = np.full(n, "", dtype=object) if self.names is None else self.names.copy()
        votes = np.zeros(n) if self.weights is None else np.array(self.weights)
        words = list(counts)
        # Boyer and Moore's majority vote: a feature is named by the word that most of its counts
        # come from.
        for word, feature in zip(words, self._hashed(words), strict=True):
            name, often = word[:LONGEST], counts[word]
            if names[feature] == name:
                votes[feature] += often
            elif votes[feature] >= often:
                votes[feature] -= often
            else:
                names[feature], votes[feature] = name, often - votes[feature]
        return replace(self, names=names, weights=votes)


def blocks_of(documents: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield documents in lists of ``size``."""
    rest = iter(documents)
    while block := list(islice(rest, size)):
        yield block


class Documents:
    """Documents as texts, those that are missing as empty ones, as often as they can be read.

    Parameters
    ----------
    documents : iterable of str
        None, NaN and NA stand for a missing one.

    Attributes
    ----------
    n_read, n_empty : int
        How many were read, and how many of them have no text.
    """

    def __init__(self, documents: Any) -> None:
        self._given = without_mask(check_documents(documents))
        self.n_read = self.n_empty = 0

    def __iter__(self) -> Iterator[str]:
        """Yield the texts."""
        self.n_read = self.n_empty = 0
        for number, document in enumerate(self._given):
            text = document
            if not isinstance(document, str):
                text = "" if np.ndim(document) == 0 and is_missing(document) else None
            if text is None:
                records = isinstance(document, Mapping)
                help_ = "; give the texts of records, as in (r['text'] for r in records)" * records
                raise ValueError(
                    f"Document {number} must be a str, got {type(document).__name__}{help_}."
                )
            self.n_read, self.n_empty = number + 1, self.n_empty + (not text.strip())
            yield text

    def tell_empty(self) -> None:
        """Warn where some had no text."""
        if self.n_empty:
            warnings.warn(
                f"{self.n_empty} of {counted(self.n_read, 'document')} "
                f"{'is' if self.n_empty == 1 else 'are'} empty: rows of zeros.",
                DataWarning,
                stacklevel=3,
            )


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
