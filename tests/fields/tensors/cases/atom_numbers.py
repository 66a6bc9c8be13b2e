"""A model of tensors whose atoms have shares that differ, and its picture."""

import numpy as np

from atomstream import OnlineCPDictionary, plots

RNG = np.random.default_rng(0)
X = RNG.exponential(size=(200, 4)) * [1, 3, 1, 2] @ RNG.random((4, 9))
CASES = {
    "loadings": (
        lambda: OnlineCPDictionary(4, random_state=0).fit(X.reshape(200, 3, 3)),
        plots.loadings,
    ),
}
