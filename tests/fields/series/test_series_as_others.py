"""What models of series do as all models do."""

import numpy as np

from atomstream import SeriesDictionary
from atomstream.watch.callbacks import EarlyStopping


def test_it_stops_models_that_learn_through_another():
    Y = 50 + np.cumsum(np.random.default_rng(0).normal(size=(300, 2)), axis=0)
    stopping = EarlyStopping(patience=1, min_delta=0.99, every=1)
    SeriesDictionary(3, window=6, random_state=0).set_callbacks(stopping).fit(Y)
    assert stopping.stopped
