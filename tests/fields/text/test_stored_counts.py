"""Sparse counts of words mean the sums of their stored parts."""

from numpy.testing import assert_array_equal
from sparse_parts import stored

from atomstream import TopicModel


def test_counts_of_words_are_sums():
    documents = ["the cat chased a mouse", "stocks fell", "bonds and stocks fell"] * 6
    models = [TopicModel(2, vectorizer="counts", n_epochs=2, random_state=0) for _ in range(2)]
    whole, found = (model.begin(documents) for model in models)
    found = stored(found.toarray().astype(float), lie=True)
    topics = [
        model.fit_counts(counts).learner_.components_
        for model, counts in zip(models, (whole, found), strict=True)
    ]
    assert_array_equal(*topics)
