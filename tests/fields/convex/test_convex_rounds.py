"""Frozen rounds are refused by a model that takes rows one by one."""

import pytest
from rounds import MODELS, drawn, fresh, shards_for
from strange import ATOMS

from atomstream import OnlineConvexMF
from atomstream.cluster import Rounds


def test_frozen_rounds_of_convex_models_are_refused():
    frozen = Rounds(256, 128, 1.5, 512, 64, "frozen")
    with pytest.raises(ValueError, match=r"take rounds of mode=.local"):
        fresh(MODELS["convex"]).fit_stream(shards_for("convex"), slots=3, rounds=frozen)


def test_models_that_do_not_add_up_refuse_before_the_first_round():
    model = OnlineConvexMF(ATOMS, n_representatives=9)
    with pytest.raises(ValueError, match="row by row"):
        model.fit_stream(drawn(2), slots=2, rounds=Rounds(mode="frozen"))
    assert not hasattr(model, "_learner")
