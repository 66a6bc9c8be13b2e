"""Text: words as features, documents as counts, and networks of words."""

from atomstream.domains.text.vocabulary import Vocabulary, stream
from atomstream.domains.text.word_network import FUNCTION_WORDS, word_adjacency

__all__ = ["FUNCTION_WORDS", "Vocabulary", "stream", "word_adjacency"]
