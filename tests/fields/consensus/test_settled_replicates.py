"""Replicates of data at hand that go to their end, and models of some ranks joined to one."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from atomstream import ConsensusNMF, OnlineNMF, align


def everywhere(n_rows=150, n_features=24, seed=0):
    """Counts of which every row holds all three parts, which leaves them hard to find."""
    rng = np.random.default_rng(seed)
    parts = rng.dirichlet(np.full(n_features, 0.4), 3)
    return np.rint(rng.dirichlet(np.full(3, 1.5), n_rows) * 5000 @ parts), parts


def learned(X, ranks, **settings):
    template = OnlineNMF(loss="kl", init="random")
    known = {"n_replicates": 8, "random_state": 1} | settings
    return ConsensusNMF(ranks, model=template, **known).fit(X)


def divergence(model, X):
    """Of all replicates, each with its own rows, per row."""
    weights = model.ensemble_.draws.weights(model.n_replicates, np.arange(len(X)))
    found = [
        -learner.score(X, sample_weight=own)
        for learner, own in zip(model.ensemble_.learners[0], weights, strict=True)
    ]
    return float(np.mean(found))


def test_bootstraps_that_go_to_the_end_fit_their_rows_as_single_models_do(room):
    X, parts = everywhere()
    before, after = learned(X, [3]), learned(X, [3], to_the_end=True)
    weights = after.ensemble_.draws.weights(8, np.arange(len(X)))
    ends = [
        -OnlineNMF(3, loss="kl", init="random", random_state=0)
        .fit(X, sample_weight=own)
        .score(X, sample_weight=own)
        for own in weights
    ]
    room.ratio(divergence(after, X) / np.mean(ends), at_most=1.1)
    assert divergence(before, X) > 1.5 * np.mean(ends)
    room.share(align(after, parts).similarity.min(), at_least=0.97)


def test_models_of_some_ranks_joined_are_the_model_of_all():
    X, _ = everywhere()
    few = {"to_the_end": True, "n_replicates": 4}
    whole = learned(X, [2, 3, 4], **few)
    joined = learned(X, [3], **few).joined(learned(X, [2, 4], **few))
    assert joined.n_components == [2, 3, 4]
    assert joined.choice_.rank == whole.choice_.rank
    for rank in (2, 3, 4):
        assert_array_equal(joined.consensus(rank).atoms, whole.consensus(rank).atoms)
        assert_array_equal(joined.choice_.errors, whole.choice_.errors)


def test_models_that_did_not_learn_alike_are_not_joined():
    X, _ = everywhere()
    few = {"n_replicates": 2}
    model = learned(X, [2], **few)
    for other in (
        learned(X, [3], random_state=2, **few),
        learned(X[:-1], [3], **few),
        learned(X, [2], **few),
    ):
        with pytest.raises(ValueError, match="joined needs models of different ranks"):
            model.joined(other)
