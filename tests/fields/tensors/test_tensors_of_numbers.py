"""Sparse tensors that contradict themselves, and loadings whose products are no numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
from no_numbers import COLUMNS, ROWS, data

from atomstream import OnlineCPDictionary


def test_places_of_coo_are_checked_too():
    cube = sp.coo_array(data())
    cube.coords[0][0] = ROWS
    model = OnlineCPDictionary(3, random_state=0, batch_size=10).fit(data())
    with pytest.raises(ValueError, match="entry 0 stands at 30 of 30 along axis 0"):
        model.transform(cube)


def test_loadings_whose_products_are_no_numbers_are_refused():
    atoms = np.random.default_rng(1).random((3, COLUMNS))
    for scale in (1e100, 1e-100):
        with pytest.raises(ValueError, match="components has an atom whose largest entry"):
            OnlineCPDictionary.from_components([scale * atoms.T, scale * atoms.T])
