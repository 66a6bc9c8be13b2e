"""Sums of codes with few entries are those of the same codes with their zeros."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from atomstream.coders import Codes
from atomstream.dictionaries import Rows
from atomstream.losses import Squared
from atomstream.memory import GramSums, gram
from atomstream.penalties import Free
from atomstream.problem import Batch, Objective


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_without_zeros_are_those_with_them(monkeypatch, weighted, stored):
    rng = np.random.default_rng(0)
    n, r, d = 60, gram.MIN_THIN_ATOMS, 7
    codes = np.where(rng.random((n, r)) < gram.MAX_THIN_SHARE / 2, rng.standard_normal((n, r)), 0.0)
    X, atoms = rng.standard_normal((n, d)), rng.standard_normal((r, d))
    weights = rng.random(n) if weighted else None
    batch = Batch(sp.csr_array(X) if stored else X, weights)
    objective = Objective(Squared(), Free(), Free())
    parts = (batch, Codes(codes, np.zeros(n)), Rows(atoms), objective)
    assert sp.issparse(gram._thin(codes))
    thin = GramSums().measure(*parts)
    assert thin.gram.flags.c_contiguous
    monkeypatch.setattr(gram, "MIN_THIN_ATOMS", r + 1)
    whole = GramSums().measure(*parts)
    for name in ("gram", "cross", "constant", "usage", "objective"):
        assert_allclose(getattr(thin, name), getattr(whole, name), rtol=1e-12, atol=1e-12)
