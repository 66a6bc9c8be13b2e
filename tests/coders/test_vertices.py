"""Codes of least absolute error against a linear program solved by another library."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from atomstream import OnlineNMF
from atomstream.coders import Multiplicative
from atomstream.dictionaries.rows import Rows
from atomstream.losses import L1
from atomstream.penalties import Box, Nonnegative
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy
from atomstream.problem.objective import Objective


def least(x, atoms, penalty):
    """Return the least |x - h D|_1 + l1 sum(h), NaN in x left out."""
    seen = ~np.isnan(x)
    n_seen = int(seen.sum())
    # The solver keeps bounds to 1e-7: in units in which atoms are of size one.
    size = np.where(atoms[:, seen].any(axis=1), atoms[:, seen].max(axis=1), 1.0)
    atoms, low = atoms / size[:, None], penalty.shape.low * size
    high = [limit if limit < np.inf else None for limit in penalty.shape.high * size]
    result = linprog(
        np.concatenate([penalty.l1 / size, np.ones(2 * n_seen)]),
        A_eq=np.hstack([atoms[:, seen].T, np.eye(n_seen), -np.eye(n_seen)]),
        b_eq=x[seen],
        bounds=[*zip(low, high, strict=True), *[(0, None)] * 2 * n_seen],
    )
    return result.fun


@given(
    n_atoms=st.integers(1, 12),
    n_features=st.integers(1, 30),
    penalty=st.sampled_from([Nonnegative(), Nonnegative(l1=0.4), Box(0.1, 1.5)]),
    holes=st.booleans(),
    kind=st.sampled_from(["dense", "whole", "binary", "uneven"]),
    seed=st.integers(0, 1000),
)
def test_codes_of_least_absolute_error_are_those_of_a_linear_program(
    n_atoms, n_features, penalty, holes, kind, seed
):
    rng = np.random.default_rng(seed)
    atoms = rng.gamma(0.7, 1.0, (n_atoms, n_features))
    X = np.maximum(rng.gamma(1.0, 1.0, (5, n_atoms)) @ atoms + rng.laplace(size=(5, n_features)), 0)
    if kind == "whole":  # many ties: errors that vanish together
        atoms, X = np.ceil(atoms), np.floor(X)
    elif kind == "binary":  # normals that depend on each other
        atoms, X = (rng.random(atoms.shape) < 0.3) * 1.0, (rng.random(X.shape) < 0.3) * 1.0
    elif kind == "uneven":
        atoms *= 10 ** rng.uniform(-8, 8, (n_atoms, 1))
    mask = rng.random(X.shape) < 0.8 if holes else np.ones(X.shape, bool)
    mask[:, 0] = True
    objective = Objective(L1(), penalty, Nonnegative())
    codes = Multiplicative().encode(
        Batch(X, mask=mask if holes else None), Rows(atoms), objective, Accuracy()
    )
    found = (np.abs(X - codes.values @ atoms) * mask).sum(axis=1)
    found += penalty.l1 * codes.values.sum(axis=1)
    best = [
        least(np.where(seen, x, np.nan), atoms, penalty) for x, seen in zip(X, mask, strict=True)
    ]
    assert_allclose(found, best, rtol=1e-8, atol=1e-8)
    assert_array_equal(codes.residual, 0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_outliers_that_are_few_leave_no_trace(dtype):
    rng = np.random.default_rng(0)
    atoms, true = rng.gamma(0.5, 1.0, (8, 60)), rng.gamma(1.0, 1.0, (50, 8))
    X = true @ atoms
    X[rng.random(X.shape) < 0.15] = 20.0
    model = OnlineNMF.from_components(atoms.astype(dtype), loss="l1", atoms="nonnegative")
    codes = model.transform(X.astype(dtype))
    assert codes.dtype == dtype
    assert_allclose(codes, true, atol=1e-9 if dtype is np.float64 else 1e-4)
