"""Data with missing entries, of every kind that doors take, and what calls make of them."""

import inspect
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd

RNG = np.random.default_rng(0)
WHOLE = np.round(RNG.gamma(1, 1, (14, 2)) @ RNG.random((2, 6)) + 0.1, 3)

# Rows in which no entry is small.
POSITIVE = np.abs(np.random.default_rng(0).standard_normal((40, 6))) + 0.1


def holes(X, *places):
    """Return a copy with NaN at these places of the flattened array."""
    X = np.array(X, float)
    X.flat[list(places)] = np.nan
    return X


TABLE, ATOMS, CODES = holes(WHOLE, 5, 20, 50), holes(WHOLE[:2], 3), holes(WHOLE[:, :2], 3, 8)
ROW, WEIGHTS = holes(WHOLE[0], 2), holes(np.ones(14), 3)
OBSERVED, ERRORS = holes(np.ones(WHOLE.shape), 7), holes(0.05 * WHOLE + 0.01, 9)
LABELS = holes(np.arange(14) % 2, 1, 6)
TENSOR, VIDEO = TABLE.reshape(14, 2, 3), holes(RNG.random((16, 4, 4)), 40)
IMAGE, FLAGS = holes(RNG.random((20, 20)), 33), holes(RNG.random((20, 20)) < 0.1, 33)
GRAPH = 1.0 - np.eye(6)
HOLED_GRAPH, MOTIF, NODES = holes(GRAPH, 3), holes([[0, 1], [0, 0]], 1), holes(np.ones(6), 2)
PLACES = holes([0, 1, 2, 1, 0, 2, 1, 0], 4)
PAIRS = holes([[0, 1], [2, 3]], 1)
NORTH = holes(40 + RNG.random(14) / 10, 3)
COUNTS = holes(RNG.poisson(9.0, (4, 5)), 6)
P = holes(np.full((3, 3), 1 / 3), 4)
WALK = np.arange(60) * 7 % 3
DOCUMENTS = ["the cat chased a mouse", "stocks and bonds fell"] * 7
SPECIES = [f"c{number}" for number in range(6)]
CLEAN_ERRORS = 0.05 * WHOLE + 0.01
WHOLE_IMAGE, WHOLE_VIDEO = np.nan_to_num(IMAGE), np.nan_to_num(VIDEO)
HOURS = np.datetime64("2020-01-06", "h") + np.arange(14)


def framed(table):
    """Return a frame as it is; of others one with the columns that frames of `holes` have."""
    if hasattr(table, "columns"):
        return table
    table = np.ma.array(table, float) if isinstance(table, list) else table
    return pd.DataFrame(table, columns=[f"c{number}" for number in range(np.shape(table)[1])])


def figures(made):
    """Return what a call returned as numbers."""
    found = made.components_ if hasattr(made, "components_") else made
    found = np.concatenate(list(found)) if inspect.isgenerator(found) else found
    for name in ("code", "values", "matrix", "out", "profiles", "factors", "errors"):
        found = getattr(found, name) if hasattr(found, name) and name != "values" else found
    found = found.toarray() if hasattr(found, "toarray") else found
    return np.asarray(found, float)


def outcome(call, given):
    """Return the numbers that a call makes of data, or None where it refuses them in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return figures(call(given))
        except (TypeError, ValueError):
            return None


class Tensor:
    """Stands for a tensor of torch: an array behind its protocol."""

    def __init__(self, values):
        self.values, self.shape, self.ndim = values, values.shape, values.ndim
        self.dtype = SimpleNamespace(kind=values.dtype.kind)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)

    def __len__(self):
        return len(self.values)

    def detach(self):
        return self
