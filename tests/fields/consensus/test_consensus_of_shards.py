"""A consensus learns shards by the names of their columns."""

import pytest
from frames_on_disk import NAMES, written
from numpy.testing import assert_allclose

from atomstream import ConsensusNMF
from atomstream.cluster import shards


@pytest.fixture(scope="module", params=["csv", "jsonl", "parquet", "arrow"])
def folder(request, tmp_path_factory):
    """Return a folder of four files, and of the same with one whose columns are turned."""
    return written(tmp_path_factory.mktemp(request.param), request.param)


def test_a_consensus_learns_shards_by_name(folder):
    found = [
        ConsensusNMF([2], n_replicates=3, random_state=0).fit_stream(shards(f"{folder}/{name}-*"))
        for name in ("straight", "mixed")
    ]
    assert_allclose(found[0].components_, found[1].components_, rtol=1e-9)
    assert found[1].feature_names_in_.tolist() == NAMES
