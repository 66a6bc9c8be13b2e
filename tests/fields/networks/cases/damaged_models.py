"""A model whose file `fuzz.py` damages, and what it does after it was loaded."""

import numpy as np

from atomstream import NetworkDictionary

EDGES = np.ones((5, 5))
CASES = {
    "NetworkDictionary": (
        lambda: NetworkDictionary("path:3", 2, batch_size=9, random_state=0).fit(EDGES),
        lambda model: model.partial_fit(EDGES).components_.shape,
    ),
}
