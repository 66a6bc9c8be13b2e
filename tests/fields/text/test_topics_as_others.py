"""What models of topics do as all models do."""

import pytest

from atomstream import TopicModel


def test_names_of_vectorizers_are_answered():
    with pytest.raises(TypeError, match=r"'ngram_range', .* write ngrams=2 for runs of up to two"):
        TopicModel(3, ngram_range=(1, 2))
