"""Ranks of a consensus learn apart, a task each."""

import numpy as np
import pytest
from rounds import drawn
from sklearn.base import clone
from strange import Bad, Drawn, Fickle, planted

from atomstream import BadShardError, ConsensusNMF, choose_rank
from atomstream.cluster import Shards


@pytest.mark.parametrize("engine", [None, "threads:2", Fickle(5)])
def test_ranks_of_a_consensus_learn_apart_what_they_learn_together(engine):
    listed = drawn(2)
    model = ConsensusNMF([2, 3, 4], n_replicates=4, batch_size=100, random_state=0)
    there = clone(model).fit_stream(listed, engine=engine)
    X = np.concatenate([*listed[0].read(0, 300), *listed[1].read(0, 300)])
    here = clone(model).fit_stream(np.split(X, 6))
    assert there.n_components_ == here.n_components_
    assert np.array_equal(there.components_, here.components_)
    assert there.choice_.table == here.choice_.table
    rank = choose_rank(listed, [2, 3, 4], n_seeds=4, random_state=0, engine=engine).rank
    assert rank == 3
    more = there.fit_stream(Shards([Drawn(7)]), engine=engine)
    here.fit_stream(np.split(planted(300, 7), 3))
    assert np.array_equal(more.components_, here.components_)


def test_a_consensus_that_fails_is_as_it_was():
    model = ConsensusNMF([2, 3], n_replicates=3, batch_size=100, random_state=0)
    with pytest.raises(BadShardError, match=r"drawn\[9\]"):
        model.fit_stream(Shards([*drawn(2), Bad(9)]))
    assert not hasattr(model, "ensemble_")
    with pytest.raises(TypeError, match="engine is for shards"):
        model.fit_stream([planted(50)], engine="threads")
