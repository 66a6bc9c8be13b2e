"""Columns of frames are taken by their names by a consensus."""

from named_columns import FRAME, MIXED, X, assert_same

from atomstream import ConsensusNMF


def test_a_new_fit_forgets_names():
    model = consensus()
    model.fit(FRAME)
    assert model.fit(X).transform(X).shape == (60, 2)
    assert not hasattr(model, "feature_names_in_")
    model.fit(FRAME.add_prefix("other "))
    assert model.feature_names_in_[0] == "other gene0"


def consensus():
    return ConsensusNMF([2], n_replicates=3, n_epochs=2, random_state=0)


def test_a_consensus_and_its_dictionary_know_the_names():
    model = consensus().fit(FRAME)
    codes = model.transform(FRAME)
    assert_same(model.transform(FRAME[MIXED]), codes)
    assert_same(model.dictionary().transform(FRAME[MIXED]), codes)
    turned = consensus().fit_stream([FRAME[:30], FRAME[30:][MIXED]])
    plain = consensus().fit_stream([FRAME[:30], FRAME[30:]])
    assert_same(turned.components_, plain.components_)
