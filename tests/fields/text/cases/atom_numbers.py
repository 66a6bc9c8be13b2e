"""A model of topics whose shares differ, and its picture."""

import numpy as np

from atomstream import TopicModel, plots

WORDS = ["cat dog mouse", "stock bond market", "goal team match", "rain snow wind"]


def topics():
    texts = [WORDS[i] for i in np.random.default_rng(0).integers(0, 4, 100)]
    return TopicModel(4, vectorizer="counts", n_epochs=2, random_state=0).fit(texts)


CASES = {"topics": (topics, plots.topics)}
