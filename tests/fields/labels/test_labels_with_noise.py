"""Rows with negative entries, as noise makes them, and their labels."""

import numpy as np
import pytest

from atomstream import SupervisedDictionary
from atomstream.exceptions import DataWarning


def test_labels_are_predicted_from_rows_with_signed_noise(room):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = rng.random((200, 1)) * np.eye(2)[y] @ rng.random((2, 8)) + 0.05 * rng.standard_normal(
        (200, 8)
    )
    model = SupervisedDictionary(3, random_state=0).fit(X, y)
    assert model.components_.min() >= 0
    room.share(model.score(X, y), at_least=0.7)


def test_data_that_nonnegative_factors_cannot_fit_are_told():
    X = np.random.default_rng(0).standard_normal((40, 4))
    told = (
        r"Negative entries have \d+% of the energy of X, .*say codes='free' and atoms='unit_ball'"
    )
    with pytest.warns(DataWarning, match=told):
        SupervisedDictionary(3, random_state=0).fit(X, np.arange(40) % 2)
