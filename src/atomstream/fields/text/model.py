"""Topics of documents: dictionaries of word distributions, learned from counted words."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, field
from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from atomstream.base import checked_numbers
from atomstream.base.saved_fields import part
from atomstream.estimators._calls import Transaction, blame
from atomstream.estimators._estimator import estimator
from atomstream.estimators._learner_inside import LEARNER, drawn_seed
from atomstream.estimators._validation import check_size
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.registry import ScheduleChoice
from atomstream.fields.text.anchors import anchor_rows, anchored_settings
from atomstream.fields.text.figures import TOGETHER
from atomstream.fields.text.merging import TopicMerging
from atomstream.fields.text.parameters import TOPICS
from atomstream.fields.text.topic_shares import npmi
from atomstream.fields.text.vocabulary import Documents, Vocabulary, blocks_of, check_documents

PASSES = 10  # before the rounds over all documents
N_WORDS = 10  # of a topic, whose coherence is looked at
N_HALVES = 4  # of the documents, that topics begin from besides all of them


def settles(n_epochs: int | None) -> bool:
    """Return whether rounds over all documents follow so many passes."""
    return n_epochs is None or n_epochs > PASSES


def _coherence(counts: sp.csr_array, learner: OnlineNMF) -> float:
    """Return the mean coherence of topics; those whose words the documents lack count as worst."""
    words = np.argsort(-learner.components_, axis=1)[:, :N_WORDS]
    return float(np.nan_to_num(npmi(counts, words), nan=-1.0).mean())


@estimator
class TopicModel(TopicMerging):
    r"""Topics of a stream of documents.

    Topics are distributions over words, of which every document is a mixture. Words are counted
    (`Vocabulary`) and the counts taught to an `OnlineNMF` under the Kullback-Leibler divergence: an
    atom is a topic, its entries sum to one, and the code of a document tells how many of its words
    a topic explains. Empty documents, None, NaN and NA are rows of zeros; a warning counts them.

    Parameters
    ----------
    n_components : int, default=20
        Number of topics.
    vectorizer : {"hashing", "counts", "tfidf"}, default="hashing"
        How words become features. "hashing" needs no first look at the documents and suits streams
        whose words are not known beforehand; "counts" and "tfidf" keep a vocabulary: of all
        documents in `fit`, of the first batch in `partial_fit` and `fit_stream`.
    n_features : int, default=32768
        Number of features of "hashing"; otherwise the largest number of words to keep.
    stop_words : "english", sequence of str or None, default="english"
        Words that do not count. In a sequence "english" stands for all of that language, as in
        ``["english", "mr", "said"]``.
    min_df : int, default=1
        For "counts" and "tfidf": the least number of documents that a word must occur in.
    ngrams : int, default=1
        Runs of up to so many words, stop words left out, count as words too.
    anchors : dict of str to sequence of str, optional
        Words that the first topics are about, by names of your own, as in ``{"space": ["orbit",
        "shuttle"]}``. Each of these topics begins with its words, and with every batch comes a
        document of these alone.
    anchor_weight : float, default=0.05
        How long these documents are, over the words of the batch that a topic has on average. From
        about 0.2 on topics may consist of their anchors alone; 0 only begins with them.
    hard_anchors : bool, default=False
        Whether the words of an anchor stand in its topic alone: in all others their entries stay at
        next to nothing, 1e-8 of a mean entry. A word may belong to several anchors.
    schedule : str or callable, default="power"
        As in `OnlineNMF`.
    batch_size : int, default=256
        Documents per step of `fit` and `fit_stream`.
    n_epochs : int or None, default=None
        Passes of `fit` over the documents, each in a new random order; by default, and after more
        than ten, rounds over all documents follow until one gains next to nothing. Of these topics
        and those that rounds from five other starts lead to, `fit` takes the most coherent ones.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The topics; rows sum to one.
    vocabulary_ : Vocabulary
    importance_ : ndarray of shape (n_components,)
        Share of each topic in all words.
    learner_ : OnlineNMF
        Codes rows of counts, and scores them.
    n_steps_ : int
    settled_ : bool
        Whether the rounds that follow the passes are complete; only where these were made.

    Raises
    ------
    ValueError
        For settings out of range, for documents that are not text, and where none has a word that
        counts; the model stays as it was.

    References
    ----------
    Zhao, Tan, Xu (2017), "Online nonnegative matrix factorization with general divergences",
    section VIII-E. Weinberger and others (2009), "Feature hashing for large scale multitask
    learning".

    Examples
    --------
    >>> from atomstream import TopicModel
    >>> documents = ["the cat chased a mouse", "cat and mouse"] * 20
    >>> documents += ["stocks fell", "the stocks and bonds fell"] * 20
    >>> model = TopicModel(2, vectorizer="counts", random_state=0).fit(documents)
    >>> sorted(sorted(word for word, _ in topic) for topic in model.top_words(2))
    [['cat', 'mouse'], ['fell', 'stocks']]
    """

    ACCEPTS = ("one_d_array", "string")
    PARAMETERS: ClassVar = TOPICS
    LEARNED = (LEARNER, part("vocabulary_", Vocabulary), "settled_")

    learner_: OnlineNMF = field(init=False)

    n_components: int = 20
    _: KW_ONLY
    vectorizer: str = "hashing"
    n_features: int = 2**15
    stop_words: str | Sequence[str] | None = "english"
    min_df: int = 1
    ngrams: int = 1
    anchors: Mapping[str, Sequence[str]] | None = None
    anchor_weight: float = 0.05
    hard_anchors: bool = False
    schedule: ScheduleChoice = "power"
    batch_size: int = 256
    n_epochs: int | None = None

    # -- learning

    def fit(self, documents: Iterable[str], y: object = None) -> Self:
        """Learn from scratch from documents in memory.

        Their words are counted once, and the counts kept for all passes.

        Parameters
        ----------
        documents : iterable of str
            Looked at twice: those of an iterator are kept meanwhile.
        y : ignored
        """
        with Transaction(self, anew=True):
            counts = self.begin(documents)
            self.fit_counts(counts).settle_counts(counts)
        return self

    def partial_fit(self, documents: Iterable[str], y: object = None) -> Self:
        """Make one step on these documents; the first call also makes vocabulary and topics.

        Parameters
        ----------
        documents : iterable of str
        y : ignored
        """
        with Transaction(self):
            self.check()
            block = list(texts := Documents(documents))
            if not block:
                raise ValueError("There are no documents.")
            self._learn(self._counted([block]), 1)
        texts.tell_empty()
        return self

    def fit_stream(self, documents: Iterable[str], *, n_batches: int | None = None) -> Self:
        """Go on learning from a stream of documents, finite or not, in its order.

        Where a document is refused, or the stream breaks, the model is as after the last good
        batch.

        Parameters
        ----------
        documents : iterable of str
        n_batches : int, optional
            How many batches to take at most; without it all there are.
        """
        blocks = islice(blocks_of(texts := Documents(documents), self.batch_size), n_batches)
        self._learn(self._counted(blocks), n_batches)
        texts.tell_empty()
        return self

    def begin(self, documents: Iterable[str]) -> sp.csr_array:
        """Start anew: learn the vocabulary, and return the counted documents for `fit_counts`.

        Parameters
        ----------
        documents : iterable of str

        Returns
        -------
        csr_array of shape (n_documents, n_features)
        """
        self._start()
        if check_documents(documents) is iter(documents):
            documents = list(documents)  # looked at twice
        self.vocabulary_ = self.vocabulary_.learned(documents)
        return _check_counts(self.count(documents))

    def count(self, documents: Iterable[str]) -> sp.csr_array:
        """Return documents as rows of counts under the vocabulary, (n_documents, n_features).

        Parameters
        ----------
        documents : iterable of str
        """
        texts = Documents(documents)
        counts = [self.vocabulary_.count(block) for block in blocks_of(texts, TOGETHER)]
        if not counts:
            raise ValueError("There are no documents.")
        texts.tell_empty()
        return sp.csr_array(sp.vstack(counts, format="csr"))

    def fit_counts(self, counts: sp.csr_array, *, shuffle: bool = True) -> Self:
        """Make what is left of the passes over counted documents.

        A callback may end it; another call goes on from there.

        Parameters
        ----------
        counts : csr_array of shape (n_documents, n_features)
            What `begin` returned, or `count` of the same documents.
        shuffle : bool, default=True
            Whether each pass has an order of its own; else documents come as they are.
        """
        counts = checked_numbers(counts, "counts")
        n_documents, size = counts.shape[0], self.batch_size
        per_pass, done = -(-n_documents // size), self._n_steps
        n_epochs = self.n_epochs or PASSES
        seed: Any = self.learner_.random_state

        def batches() -> Iterator[sp.csr_array]:
            """Yield what is left; the order of a pass depends on seed and pass alone."""
            for step in range(done, per_pass * n_epochs):
                epoch, place = divmod(step, per_pass)
                rows: Any = slice(place * size, (place + 1) * size)
                if shuffle:
                    # Drawn anew for each batch of a pass, so that a resumed run needs no order from
                    # before.
                    rows = np.random.default_rng((seed, epoch)).permutation(n_documents)[rows]
                yield counts[rows]

        # The mass of a pass, with the documents of anchors.
        horizon = n_documents + per_pass * len(self.anchors or ())
        self._learn(batches(), per_pass * n_epochs - done, horizon=horizon)
        return self

    def settle_counts(self, counts: sp.csr_array) -> Self:
        """Make the rounds over counted documents that follow all passes, as ``n_epochs`` says.

        A callback may end them; the model stays as the passes left it then.

        Parameters
        ----------
        counts : csr_array of shape (n_documents, n_features)
            Those of `fit_counts`.
        """
        counts = checked_numbers(counts, "counts")
        n_steps = (self.n_epochs or PASSES) * -(-counts.shape[0] // self.batch_size)
        if not settles(self.n_epochs) or self._n_steps != n_steps or vars(self).get("settled_"):
            return self
        # A twin: a model that is saved meanwhile is whole, and a resumed one makes the same rounds.
        twin = copy(self.learner_)
        with self._followed(twin):
            ended = twin._settled(self._with_anchors(counts), None)
        if ended:
            # Other starts would lose which topic has which anchor.
            best = twin if self.anchors else self._more_coherent(twin, counts)
            self.learner_, self.settled_ = best, True
        return self

    def _more_coherent(self, learner: OnlineNMF, counts: sp.csr_array) -> OnlineNMF:
        """Return the learner, perhaps with topics that other starts led to.

        The passes begin with the first batch, which may know little of some topics; others begin
        with the singular vectors of all documents, and of random halves of them. The coherence of
        the likeliest words in these documents decides: it says more of other documents than the
        divergence, in which such topics hardly differ.
        """
        best, found, seed = _coherence(counts, learner), None, learner.random_state
        rng, some = np.random.default_rng(seed), np.flatnonzero(np.diff(counts.indptr))
        for n_rows in (len(some), *N_HALVES * [-(-len(some) // 2)]):
            other: Any = clone(learner)
            # All documents are one step, so that weights of the past mean nothing.
            other.set_params(init="svd", schedule="harmonic")
            with blame(self):
                other.partial_fit(counts[rng.permutation(some)[:n_rows]])._settled(counts, None)
            if (coherence := _coherence(counts, other)) > best:
                best, found = coherence, other
        if found is not None:
            learner._learner.state = found.state_
        return learner

    def _start(self) -> None:
        self.check()
        self.learner_ = OnlineNMF(
            self.n_components, loss="kl", random_state=drawn_seed(self.random_state)
        )
        self.vocabulary_ = Vocabulary(
            self.vectorizer, self.n_features, self.stop_words, self.min_df, self.ngrams
        )

    def _counted(self, blocks: Iterable[list[str]]) -> Iterator[sp.csr_array]:
        """Yield the counts of lists of documents, whose words are forgotten if no step is made."""
        for block in blocks:
            before, n_steps = vars(self).get("vocabulary_"), self._n_steps
            try:
                yield self._count_next(block)
            finally:
                if self._n_steps == n_steps:
                    if before is not None:
                        self.vocabulary_ = before
                    else:
                        for name in ("learner_", "vocabulary_"):
                            self.__dict__.pop(name, None)

    def _count_next(self, block: list[str]) -> sp.csr_array:
        """Return the counts of documents, in a vocabulary that has taken in their words."""
        if "learner_" not in self.__dict__:
            self._start()
        known = self.vocabulary_
        self._refuse_change(vectorizer=known.kind, n_features=known.n_features)
        # A hash names its features as words come; counts settle with the first block.
        if self.vectorizer == "hashing" or not self.vocabulary_.ready:
            self.vocabulary_ = self.vocabulary_.learned(block)
        counts = self.vocabulary_.count(block)
        return counts if self._n_steps else _check_counts(counts)

    def _learn(
        self, batches: Iterator[sp.csr_array], n_batches: int | None, horizon: float = np.inf
    ) -> None:
        """Hand batches to the learner; the first makes it where there is none."""
        self.check()
        first = next(batches, None)
        if first is None:
            return
        vars(self).pop("settled_", None)
        check_size(self, self.learner_.n_components)

        def all_batches() -> Generator[sp.csr_array]:
            """Yield the first batch again, and the others, with the documents of anchors."""
            yield self._with_anchors(first)
            yield from map(self._with_anchors, batches)

        settings: dict[str, Any] = {"alpha": self.alpha, "schedule": self.schedule, "init": "auto"}
        seed: Any = self.learner_.random_state
        if self.anchors and not self._n_steps:
            rows = anchor_rows(self.vocabulary_, self.anchors)
            start = (first, rows, self.n_components, seed)
            settings |= anchored_settings(*start, self.hard_anchors)
        self._teach(all_batches(), n_batches, horizon, **settings)
        self.learner_.set_params(init="auto")  # as large as the topics, and of no more use

    def _with_anchors(self, counts: sp.csr_array) -> sp.csr_array:
        """Return documents and those of the anchors below them."""
        if not self.anchors:
            return counts
        size = self.anchor_weight * counts.sum() / self.n_components
        rows = anchor_rows(self.vocabulary_, self.anchors)
        return sp.csr_array(sp.vstack([counts, size * rows]))

    # -- checks

    def check(self) -> None:
        """Refuse settings out of range."""
        super().check()
        if len(self.anchors or ()) > self.n_components:
            raise ValueError(
                f"anchors has {len(self.anchors or ())} topics and n_components is "
                f"{self.n_components}; each needs a topic of its own."
            )
        Vocabulary(self.vectorizer, self.n_features, self.stop_words, self.min_df, self.ngrams)

    def _validate_learned(self) -> None:
        super()._validate_learned()
        self.vocabulary_.validate(getattr(self.learner_, "n_features_in_", None))


def _check_counts(counts: sp.csr_array) -> sp.csr_array:
    """Refuse to begin with documents without any word."""
    if not counts.nnz:
        raise ValueError(f"No word of the {counts.shape[0]} documents counts; stop words do not.")
    return counts
