"""Models as MLflow serves them."""

from sklearn.base import clone
from zoo import ZOO

import atomstream
from atomstream.files.pyfunc import ServedModel


def served(model, folder):
    atomstream.save(model, folder / "model.atoms")
    return ServedModel(folder / "model.atoms")


def fitted(name):
    """Return a model of the zoo that has learned."""
    model, data, _ = ZOO[name]
    return clone(model).fit(data())
