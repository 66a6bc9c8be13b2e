"""Files of atoms made of samples."""

import numpy as np
import pytest
import scipy.sparse as sp

import atomstream
from atomstream import CorruptModelError, OnlineConvexMF

X = np.random.default_rng(0).random((90, 8))


def test_sparse_parts_whose_last_pointer_is_negative_are_refused(tmp_path):
    """Products with them end the process, and the checks of scipy let them pass."""
    model = OnlineConvexMF(2, random_state=0).fit(sp.csr_array(X))
    hulls = model.state_.dictionary
    hulls.samples.indptr[-1] = -1_453_320_672
    hulls.samples.data, hulls.samples.indices = np.zeros(0), np.zeros(0, np.int32)
    atomstream.save(model, tmp_path / "model.atoms")
    with pytest.raises(CorruptModelError, match="contradicts itself"):
        atomstream.load(tmp_path / "model.atoms")
