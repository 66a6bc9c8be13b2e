"""Tensors that stay on disk, in batches and in rounds."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from atomstream import OnlineCPDictionary, streams


@pytest.mark.filterwarnings("ignore:fit ended after 500 rounds")
def test_nearly_parallel_loadings_settle_on_a_stream_as_in_memory(room, seeds):
    ratios = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        codes, U, V = (rng.random((n, 3)) for n in (90, 8, 7))
        U, V = (part + rng.random((len(part), 1)) for part in (U, V))
        clean = np.einsum("nr,ar,br->nab", codes, U, V)
        X = np.abs(clean + 0.01 * clean.std() * rng.standard_normal(clean.shape))
        settings = {"n_epochs": 1, "batch_size": 30, "random_state": seed}
        here, there = (OnlineCPDictionary(3, **settings).fit(X) for _ in range(2))
        here.settle(X)
        while not there.settle_stream([X[:50], X[50:]]).end_round():
            pass
        ratios.append(there.objective(X) / here.objective(X))
    room.ratio(max(ratios), at_most=1.005)


def test_tensors_on_disk_are_learned_as_in_memory():
    X = np.einsum("nr,ar,br->nab", *(np.random.default_rng(0).random((n, 2)) for n in (90, 5, 6)))
    here, there = (
        OnlineCPDictionary(2, n_epochs=2, batch_size=30, random_state=0).fit(data).components_
        for data in (X, streams.OnDisk(X))
    )
    assert_array_equal(there, here)
