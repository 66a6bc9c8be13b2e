"""A model of tensors that more passes make no worse."""

import numpy as np

from atomstream import OnlineCPDictionary


def mixed():
    rng = np.random.default_rng(0)
    rows = rng.random((150, 4)) ** 3 @ rng.random((4, 24)) + 0.02 * rng.random((150, 24))
    return rows.reshape(150, 4, 6)


CASES = {"tensors": (OnlineCPDictionary, {}, mixed)}
