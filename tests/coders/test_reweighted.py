"""Robust codes by the compiled kernel: as its plain version, and the minimiser it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from atomstream._kernels import reweighted

SIGNS = {"nonnegative": (0.0, np.inf), "signed": (-np.inf, np.inf), "box": (-1.0, 2.0)}
LIMITS = (20, 0.7, 5, 200, 1e-6, 0.0, 3.0)


def problem(seed=0, n_features=40, n_atoms=6):
    rng = np.random.default_rng(seed)
    atoms = rng.random((n_atoms, n_features))
    X = rng.random((5, n_atoms)) @ atoms + rng.normal(0, 0.01, (5, n_features))
    X[:, ::7] += 50
    return X, atoms


@pytest.mark.parametrize("l1", [0.0, 0.3])
@pytest.mark.parametrize("bounds", SIGNS.values(), ids=SIGNS)
def test_compiled_codes_are_those_of_the_plain_version(bounds, l1):
    X, atoms = problem()
    seen, penalty = np.ones(X.shape, bool), (l1, 0.1, *bounds)
    compiled, plain = np.zeros((2, len(X), len(atoms)))
    reweighted.encode(compiled, X, seen, atoms, penalty, LIMITS)
    reweighted.encode.py_func(plain, X, seen, atoms, penalty, LIMITS)
    assert_allclose(compiled, plain, rtol=1e-6, atol=1e-8)


def test_codes_are_least_squares_of_the_entries_within_the_threshold():
    X, atoms = problem()
    atoms[1] = atoms[0] + 1e-3 * atoms[2]  # sweeps alone would crawl
    codes = np.zeros((len(X), len(atoms)))
    reweighted.encode(codes, X, np.ones(X.shape, bool), atoms, (0.0, 0.0, 0.0, np.inf), LIMITS)
    kept = np.ones(X.shape[1], bool)
    kept[::7] = False
    for x, h in zip(X, codes, strict=True):
        inside = kept & (np.abs(x - h @ atoms) < 1)
        best = nnls(atoms[:, inside].T, x[inside])[1]
        assert np.linalg.norm((x - h @ atoms)[inside]) <= best * (1 + 0.05) + 1e-9
