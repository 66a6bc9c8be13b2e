"""A model of labelled rows, saved to a file, for all verbs that look."""

import numpy as np

from atomstream import SupervisedDictionary

CASES = {
    "SupervisedDictionary": {
        "learned": lambda rng: SupervisedDictionary(3, n_epochs=2, random_state=0).fit(
            rng.random((60, 6)), np.arange(60) % 3
        ),
        "codes": "x.csv",
        "shape": (8, 4),
    },
}
