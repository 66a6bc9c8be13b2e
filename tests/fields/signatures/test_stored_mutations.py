"""Sparse counts of mutations mean the sums of their stored parts."""

import numpy as np
from numpy.testing import assert_array_equal
from sparse_parts import annotated, data, stored

from atomstream import signatures


def test_counts_of_mutations_are_sums():
    X = np.rint(20 * data()[:, [0, 1, 2, 3, 5]])
    found = annotated(stored(X, is_array=False))
    assert_array_equal(signatures.read(found).values, X)
