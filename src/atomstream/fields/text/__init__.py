"""Text: topics of documents, which are dictionaries of distributions over words.

Zhao, Tan and Xu, "Online nonnegative matrix factorization with general divergences", and Strohmeier
(2023), whose tables of documents over time they are also learned from. Read `vocabulary` (words as
features, documents as counts) and `word_network` (how often one word follows another), `model`, the
estimator with its `parameters`, `anchors` (topics that begin with given words), `merging` (topics
that say the same), `figures` and `topic_shares` (what topics say, how coherent they are, their
shares over time), then `documents` (files), `look` and `run` (``atomstream text topics``).
"""

from atomstream.fields.text.vocabulary import Vocabulary, stream
from atomstream.fields.text.word_network import FUNCTION_WORDS, word_adjacency

__all__ = ["FUNCTION_WORDS", "Vocabulary", "stream", "word_adjacency"]
