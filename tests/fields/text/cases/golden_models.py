"""A golden model of topics: how it was learned, and what it gives."""

from pathlib import Path

import numpy as np

from atomstream import TopicModel

HERE = Path(__file__).parents[1] / "golden"


def learned(documents):
    model = TopicModel(
        n_components=3,
        n_epochs=3,
        n_features=256,
        vectorizer="counts",
        batch_size=20,
        random_state=0,
    )
    return model.fit(documents.tolist())


def topics(model, documents):
    documents = documents.tolist()
    yield "components", model.components_
    yield "transform", model.transform(documents)
    yield "shares", model.topic_shares(documents)
    yield "words", np.array(repr(model.top_words(3)))
    yield "after_components", model.partial_fit(documents[:20]).components_


CASES = {"TopicModel": (HERE, learned, topics)}
assert len(CASES) == 1
