"""Sparse tensors mean the sums of their stored parts."""

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sparse_parts import data, parts

from atomstream import OnlineCPDictionary, online_parafac


def test_tensors_of_three_axes_are_sums():
    X = data()
    values, rows, columns = parts(X)
    places = (rows, *np.unravel_index(columns, (2, 4)))
    S = sp.coo_array((values, places), (len(X), 2, 4))
    S.has_canonical_format = True
    for model in (OnlineCPDictionary(2, n_epochs=1), OnlineCPDictionary(2, reshape=[(1,), (0,)])):
        found, whole = (
            model.set_params(random_state=0).fit(part).components_
            for part in (S, X.reshape(-1, 2, 4))
        )
        assert_allclose(found, whole, rtol=1e-6, atol=1e-9)
    found, whole = (
        online_parafac(part, 2, n_epochs=1, random_state=0).to_tensor()
        for part in (S, X.reshape(-1, 2, 4))
    )
    assert_allclose(found, whole, rtol=1e-6, atol=1e-9)
