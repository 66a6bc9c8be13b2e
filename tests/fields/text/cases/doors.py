"""Calls of what takes times of documents."""

import numpy as np
from given import DOCUMENTS, WEIGHTS, holes

from atomstream import TopicModel

TOPICS = TopicModel(2, vectorizer="counts", random_state=0, n_epochs=1)
TOPICS.fit(DOCUMENTS)

CASES = {
    "TopicModel.topics_over_time(times)": (
        WEIGHTS + np.arange(14),
        lambda X: TOPICS.topics_over_time(DOCUMENTS, X, bins=3).shares,
    ),
    "TopicModel.topics_over_time(bins)": (
        holes([0, 5, 14], 1),
        lambda X: TOPICS.topics_over_time(DOCUMENTS, np.arange(14.0), bins=X).shares,
    ),
}
assert len(CASES) == 2
