"""Every plot of topics."""

import functools

import numpy as np

from atomstream import TopicModel, plots

WORDS = [f"{kind} {other}" for kind in ("rain", "war", "cup") for other in ("now", "then", "soon")]


@functools.cache
def topics():
    documents = [WORDS[i % 9] for i in range(90)]
    model = TopicModel(3, vectorizer="counts", random_state=0).fit(documents)
    return model, model.topics_over_time(documents, np.arange(90), bins=9)


CASES = {
    "topics": lambda: plots.topics(topics()[0]),
    "topics_over_time": lambda: plots.topics_over_time(topics()[1]),
}
