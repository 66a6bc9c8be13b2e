"""Sparse counts of genes mean the sums of their stored parts."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sparse_parts import annotated, assert_canonical, data, stored

from atomstream import cells
from atomstream.base import dense


def test_counts_of_cells_are_sums(tmp_path):
    X = np.rint(20 * data()[:, [0, 1, 2, 3, 5]])
    whole, found = annotated(X), annotated(stored(X, is_array=False))
    found.write_h5ad(tmp_path / "cells.h5ad")
    genes = cells.overdispersed(whole, 3)
    for counts in (found, cells.read(tmp_path / "cells.h5ad")):
        chosen = cells.overdispersed(counts, 3)
        assert_array_equal(chosen.places, genes.places)
        assert_allclose(chosen.deviation, genes.deviation, rtol=1e-12)
        assert_canonical(
            cells.batches(counts, chosen), np.vstack([*map(dense, cells.batches(whole, genes))])
        )
