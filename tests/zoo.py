"""One small model of every kind of estimator, and data of its own that it learns from."""

import pickle

import numpy as np
from cases import of_fields, rows

from atomstream import BatchNMF, OnlineDictionaryLearning, OnlineNMF

# Each estimator with its data, and what it does with data once it has learned.
ZOO = {
    "nmf": (OnlineNMF(3, random_state=0), rows, "transform"),
    "dictionary learning": (OnlineDictionaryLearning(3, random_state=0), rows, "transform"),
    "data sets": (BatchNMF(2, 1, n_epochs=2, random_state=0), rows, "transform"),
    **of_fields("zoo"),
}


def use(name, model, data):
    """Return what a fitted model makes of data, as an array."""
    way = ZOO[name][2]
    return np.asarray(getattr(model, way)(data) if isinstance(way, str) else way(model, data))


def used_elsewhere(pickles):
    """Return what pickled models make of the data of the zoo; called in other processes."""
    return {name: use(name, pickle.loads(model), ZOO[name][1]()) for name, model in pickles.items()}
