"""Masks and weights of the entries of tensors."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from atomstream import OnlineCPDictionary
from atomstream.exceptions import IncompatiblePartsError


def test_masks_of_tensors():
    rng = np.random.default_rng(0)
    X, mask = rng.random((20, 3, 4)), rng.random((20, 3, 4)) < 0.8
    masked, plain = (
        OnlineCPDictionary(2, missing=True, random_state=0, n_epochs=2) for _ in range(2)
    )
    masked.fit(X, mask=mask)
    plain.fit(np.where(mask, X, np.nan))
    assert_array_equal(masked.components_, plain.components_)


def test_models_that_cannot_weigh_entries_say_so():
    X = np.random.default_rng(0).random((60, 2, 4))
    with pytest.raises(IncompatiblePartsError, match="entry_weight needs"):
        OnlineCPDictionary(3).fit(X, entry_weight=X)
