"""A model of series that learns under a schedule."""

import numpy as np

from atomstream import SeriesDictionary

TABLE = np.random.default_rng(0).random((40, 2))
CASES = {"series": lambda schedule: SeriesDictionary(2, 3, schedule=schedule).fit(TABLE)}
