"""Words on the cards of topics."""

import numpy as np
import pytest

from atomstream import TopicModel
from atomstream.looks.pages import cards_of
from atomstream.runs.record import record_of


def test_relevant_words_are_the_best_of_every_weight():
    words = [f"w{i}" for i in range(40)]
    rng = np.random.default_rng(1)
    laws = rng.dirichlet(np.full(40, 0.2), 3)
    documents = [" ".join(rng.choice(words, 30, p=laws[i % 3])) for i in range(90)]
    model = TopicModel(3, vectorizer="counts", random_state=0).fit(documents)
    record = record_of(model)
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    overall = model.importance_ @ topics
    names = np.array([model.vocabulary_.word(i) for i in range(topics.shape[1])])
    for card in cards_of(record).cards:
        share = topics[card.number]
        held = share > 1e-6
        found = {term.word: term for term in card.terms}
        for weight in (0.0, 0.3, 1.0):
            relevance = weight * np.log(share[held])
            relevance += (1 - weight) * np.log(share[held] / overall[held])
            best = names[held][np.argsort(-relevance)[:10]]
            assert set(best) <= set(found)
        for i in np.flatnonzero(held):
            if names[i] in found:
                assert found[names[i]].share == pytest.approx(share[i])
                assert found[names[i]].lift == pytest.approx(share[i] / overall[i])
