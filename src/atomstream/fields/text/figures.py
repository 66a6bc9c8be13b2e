"""What topics say: their words, how coherent these are, and how documents use them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import ArrayLike, check_count, of_sum_one
from atomstream.estimators._learner_inside import LearnerInside
from atomstream.fields.text.topic_shares import TopicsOverTime, npmi, typical
from atomstream.fields.text.vocabulary import Documents, blocks_of, check_documents

TOGETHER = 256  # documents coded at a time


class TopicFigures(LearnerInside):
    """The methods of a topic model that look at topics and at documents, and change nothing."""

    vocabulary_: Any

    # -- what was learned

    def top_words(self, n_words: int = 10) -> list[list[tuple[str, float]]]:
        """Return the most likely words of each topic with their shares of it, the likeliest first.

        Under "hashing" a feature is named by its most frequent word; "#7" is feature 7 of
        which none is known.

        Parameters
        ----------
        n_words : int, default=10
            Words of each topic.

        Returns
        -------
        list of list of (str, float)
            One list per topic, in the order of `components_`.
        """
        check_is_fitted(self)
        check_count("n_words", n_words)
        order = np.argsort(-self.components_, axis=1, kind="stable")[:, :n_words]
        return [
            [(self.vocabulary_.word(feature), float(topic[feature])) for feature in row]
            for topic, row in zip(self.components_, order.tolist(), strict=True)
        ]

    def coherence(self, documents: Iterable[str], n_words: int = 10) -> NDArray:
        """Return how often the likeliest words of each topic occur together in documents.

        The mean normalised pointwise mutual information (NPMI) of their pairs: 1 where they always
        occur together, 0 where they are independent, -1 where they never meet.

        Parameters
        ----------
        documents : iterable of str
            Better not those that were learned from.
        n_words : int, default=10
            Words of each topic.

        Returns
        -------
        ndarray of shape (n_components,)
            NaN where fewer than two of the words occur.

        References
        ----------
        Bouma (2009), "Normalized (pointwise) mutual information in collocation extraction";
        Lau, Newman, Baldwin (2014), "Machine reading tea leaves", for topics.
        """
        check_is_fitted(self)
        check_count("n_words", n_words)
        order = np.argsort(-self.components_, axis=1, kind="stable")[:, :n_words]
        return npmi(self.vocabulary_.count_known(check_documents(documents)), order)

    # -- documents

    def transform(self, documents: Iterable[str]) -> NDArray:
        """Return how many words of each document each topic explains.

        Parameters
        ----------
        documents : iterable of str

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows sum to the number of known words ("tfidf": to their weights). Under "hashing" a
            word is known if it, or another word of the same feature, was learned from.
        """
        check_is_fitted(self)
        blocks = blocks_of(texts := Documents(documents), TOGETHER)
        codes = [self.learner_.transform(self.vocabulary_.count_known(block)) for block in blocks]
        texts.tell_empty()
        return np.concatenate([np.zeros((0, len(self.components_))), *codes])

    def _served(self, data: Any, params: Any) -> Any:
        """Return the shares of the topics in documents, in a column where a frame holds them."""
        return self.topic_shares(data.iloc[:, 0] if hasattr(data, "iloc") else data)

    def topic_shares(self, documents: Iterable[str]) -> NDArray:
        """Return the share of each topic in each document.

        Parameters
        ----------
        documents : iterable of str

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows sum to one; a document without known words, such as an empty one, has zeros.
        """
        return of_sum_one(self.transform(documents))

    def top_documents(
        self, documents: Iterable[str], n_documents: int = 5
    ) -> list[list[tuple[int, float]]]:
        """Return the documents that are the best examples of each topic, the best first.

        They have many words of the topic and not many others: what counts is the words that it
        explains over the root of all known ones.

        Parameters
        ----------
        documents : iterable of str
        n_documents : int, default=5
            Documents of each topic.

        Returns
        -------
        list of list of (int, float)
            One list per topic: numbers of documents from 0, and the shares of the topic in them.
        """
        check_count("n_documents", n_documents)
        codes = self.transform(documents)
        best, shares = typical(codes, n_documents), of_sum_one(codes)
        return [
            [(document, float(shares[document, topic])) for document in column.tolist()]
            for topic, column in enumerate(best.T)
        ]

    def topics_over_time(
        self,
        documents: Iterable[str],
        times: ArrayLike,
        *,
        freq: str | None = None,
        bins: int | ArrayLike | None = None,
    ) -> TopicsOverTime:
        """Return the mean shares of the topics in spans of time.

        Parameters
        ----------
        documents : iterable of str
        times : array-like of shape (n_documents,)
            When each was written: numbers, or dates (datetime64, datetime, or text as 2003-02-19).
        freq : {"day", "week", "month", "year"}, optional
            Spans of dates; weeks begin on Monday, and NumPy's letters D, W, M, Y will do. By
            default the longest spans of which there are 8 or more.
        bins : int or array-like, optional
            Instead of ``freq``: a number of equal spans, or their edges, the last one included.
        """
        return TopicsOverTime.of(self.topic_shares(documents), times, freq, bins)
