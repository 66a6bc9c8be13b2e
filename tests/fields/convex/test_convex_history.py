"""The history of a model of atoms made of samples."""

import json

import numpy as np

from atomstream import OnlineConvexMF
from atomstream.watch.callbacks import History

X = np.random.default_rng(0).random((400, 6))


def test_what_is_not_known_of_a_model_is_nan():
    history = History()
    OnlineConvexMF(2, n_epochs=1, random_state=0).set_callbacks(history).fit(X)
    assert len(history.points["violation"]) == len(history.n_samples) > 0
    for line in history.lines():
        assert None not in [json.loads(line)[name] for name in ("step", "objective", "memory")]
