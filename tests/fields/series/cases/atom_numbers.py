"""A model of series whose atoms have shares that differ, and its picture."""

import numpy as np

from atomstream import SeriesDictionary, plots

TABLE = np.random.default_rng(0).random((60, 2)) + np.sin(np.arange(60))[:, None] + 1


def series():
    return SeriesDictionary(4, window=5, random_state=0).fit(TABLE, init=TABLE)


CASES = {"series": (series, plots.series_atoms)}
