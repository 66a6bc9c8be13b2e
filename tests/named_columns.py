"""A table with names of columns, in its order and in another, as every kind of frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from atomstream.base import NamedColumns

NAMES = [f"gene{i}" for i in range(8)]
MIXED = [NAMES[i] for i in (5, 0, 7, 2, 1, 6, 3, 4)]
PLACES = np.array([MIXED.index(name) for name in NAMES])
rng = np.random.default_rng(0)
X = rng.random((60, 3)) @ rng.random((3, 8))
MASK, WEIGHTS = rng.random(X.shape) > 0.1, rng.random(X.shape)
FRAME = pd.DataFrame(X, columns=NAMES)
HALVES = np.repeat([0, 1], 30)


def assert_same(found, wanted):
    """Fail where numbers differ by more than the layout of columns in memory explains."""
    assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def containers(names, values=X):
    """Yield a table with these columns as each kind of frame."""
    columns = values[:, [NAMES.index(name) for name in names]]
    yield pd.DataFrame(columns, columns=names)
    yield pl.DataFrame(columns, schema=names)
    yield NamedColumns(columns, names)
    pa = pytest.importorskip("pyarrow")
    yield pa.table(dict(zip(names, columns.T, strict=True)))
