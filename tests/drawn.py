"""Models that pictures are drawn of, learned once, and what they learned from."""

import functools

import numpy as np
from sklearn.base import clone
from zoo import ZOO

from atomstream import OnlineNMF
from atomstream.watch.callbacks import History

PICTURE = np.add.outer(np.sin(np.arange(24) / 3), np.cos(np.arange(24) / 4)) + 2


@functools.cache
def of(name):
    """Return a model of the zoo that has learned."""
    model, data, _ = ZOO[name]
    return clone(model).fit(data())


@functools.cache
def of_patches():
    """Return a model of the patches of a picture, the history of it, and the patches."""
    history = History()
    model = OnlineNMF(6, batch_size=20, n_epochs=10, random_state=0).set_callbacks(history)
    patches = np.lib.stride_tricks.sliding_window_view(PICTURE, (4, 4)).reshape(-1, 16)
    return model.fit(patches), history, patches
