"""Topics in an order."""

import numpy as np
from fields.text.cases.gallery import topics

from atomstream import plots


def rain(model, order):
    """Return how much each topic is about rain."""
    found = plots.topics_data(model, order=order)
    return np.array([dict(words).get("rain", 0.0) for _, _, words in found])[:, None]


CASES = {"topics": (lambda: topics()[0], plots.topics, rain)}
