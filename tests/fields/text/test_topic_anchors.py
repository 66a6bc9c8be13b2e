"""Topics that are pulled towards given words."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from shared import DATA, needs_data
from test_topics import THEMES, corpus

from atomstream import OnlineNMF, TopicModel, load, save
from atomstream.fields.text.anchors import anchor_rows
from atomstream.updates import Majorise

ANCHORS = {"space": ["orbit", "shuttle"], "guns": ["gun", "firearm"], "cars": ["car", "dealer"]}
GIVEN = {"sport": ["goal", "coach"], "animals": ["goat"]}


def news():
    """Return documents of 20 Newsgroups, to learn from and held out."""
    stored = np.load(DATA / "news20/news20_train_counts_w1000.npz", allow_pickle=True)
    parts = stored["data"], stored["indices"], stored["indptr"]
    counts, terms = sp.csr_array(parts, shape=tuple(stored["shape"])), stored["terms"]
    rows = counts[np.random.default_rng(0).permutation(counts.shape[0])[:3000]]
    rows = rows[np.flatnonzero(rows.sum(axis=1) > 5)]
    ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    words = [np.repeat(terms[rows.indices[a:b]], rows.data[a:b].astype(int)) for a, b in ends]
    documents = [" ".join(map(str, each)) for each in words]
    return documents[:2000], documents[2000:]


def perplexity(model, documents):
    counts = model.vocabulary_.count_known(documents).tocoo()
    chances = model.topic_shares(documents) @ model.components_
    logs = np.log(np.maximum(chances[counts.row, counts.col], 1e-12))
    return np.exp(-(counts.data @ logs) / counts.data.sum())


def carried(model, anchors, n_words=10):
    """Return the share of the anchors that are among the likeliest words of their topics."""
    tops = model.top_words(n_words)
    pairs = [
        (word, top) for words, top in zip(anchors.values(), tops, strict=False) for word in words
    ]
    return np.mean([word in dict(top) for word, top in pairs])


@needs_data
def test_topics_of_news_carry_their_anchors_and_predict_as_well(seeds, room):
    learned, held_out = news()
    for seed in seeds:
        settings = {"vectorizer": "counts", "stop_words": None, "random_state": seed}
        plain = TopicModel(20, **settings).fit(learned)
        model = TopicModel(20, anchors=ANCHORS, **settings).fit(learned)
        assert carried(plain, ANCHORS) < 0.5
        hard = TopicModel(20, anchors=ANCHORS, hard_anchors=True, **settings).fit(learned)
        assert in_other_topics(hard, ANCHORS) < 1e-6
        for anchored in (model, hard):
            room.share(carried(anchored, ANCHORS), at_least=0.8)
            ratio = perplexity(anchored, held_out) / perplexity(plain, held_out)
            room.ratio(ratio, at_most=1.03)


@pytest.mark.parametrize("vectorizer", ["counts", "hashing", "tfidf"])
def test_first_topics_are_those_of_the_anchors(vectorizer, tmp_path):
    documents, _ = corpus()
    settings = {"vectorizer": vectorizer, "anchors": GIVEN, "batch_size": 30, "random_state": 0}
    fitted = TopicModel(3, **settings).fit(documents)
    streamed = TopicModel(3, **settings).fit_stream(documents * 3)
    for model in (fitted, streamed):
        for name, top in zip(GIVEN, model.top_words(6), strict=False):
            assert len({word for word, _ in top} & set(THEMES[name])) >= 5
        assert model.learner_.init == "auto"
    save(streamed, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms")
    for model in (streamed, again):
        model.partial_fit(documents[:30])
    assert again.anchors == GIVEN
    assert_array_equal(again.components_, streamed.components_)


def test_documents_of_anchors_are_as_long_as_their_weight_says():
    documents, _ = corpus()
    model = TopicModel(3, vectorizer="counts", anchors=GIVEN, anchor_weight=0.5, random_state=0)
    counts = model.begin(documents)
    both = model._with_anchors(counts)
    assert both.shape[0] == counts.shape[0] + 2
    assert both[-2:].sum(axis=1) == pytest.approx(0.5 * counts.sum() / 3)
    names = list(model.vocabulary_.names)
    assert set(both[[-2]].indices) == {names.index("goal"), names.index("coach")}
    # Without weight they only begin with their words.
    start = TopicModel(3, vectorizer="counts", anchors=GIVEN, anchor_weight=0, random_state=0)
    assert carried(start.fit(documents), GIVEN, 8) == 1


def in_other_topics(model, anchors):
    """Return the largest entry of a word of an anchor in another topic, over the mean entry."""
    rows = anchor_rows(model.vocabulary_, anchors).toarray() > 0
    own = np.zeros(model.components_.shape, bool)
    own[: len(rows)] = rows
    anchored = rows.any(axis=0)
    assert (model.components_[own] > 1e-4).all()
    return model.components_[:, anchored][~own[:, anchored]].max() * len(anchored)


@pytest.mark.parametrize("vectorizer", ["counts", "hashing", "tfidf"])
def test_words_of_hard_anchors_stand_in_their_topics_alone(vectorizer, tmp_path):
    documents, _ = corpus()
    # The words of an anchor come in documents of other themes, too.
    mixed = [f"{text} goal goat" if number % 3 else text for number, text in enumerate(documents)]
    settings = {"vectorizer": vectorizer, "anchors": GIVEN, "batch_size": 30, "random_state": 0}
    soft = TopicModel(3, **settings).fit(mixed)
    assert in_other_topics(soft, GIVEN) > 0.01
    fitted = TopicModel(3, hard_anchors=True, **settings).fit(mixed)
    streamed = TopicModel(3, hard_anchors=True, **settings).fit_stream(mixed * 3)
    save(streamed, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms")
    for model in (streamed, again):
        model.partial_fit(mixed[:30])
    assert_array_equal(again.components_, streamed.components_)
    for model in (fitted, streamed, again):
        assert in_other_topics(model, GIVEN) < 1e-6
        assert carried(model, GIVEN, 8) == 1


def test_a_feature_may_have_several_owners():
    features, others = Majorise(owners=((5, 0), (2, 1), (5, 2))).owned(3)
    assert_array_equal(features, [2, 5])
    assert_array_equal(others, [[True, False, True], [False, True, False]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("atoms", ["auto", "simplex"])
def test_features_stay_with_their_owners_in_every_way_to_learn(form, atoms):
    rng = np.random.default_rng(0)
    X = form(rng.poisson(rng.gamma(0.5, 2, (200, 3)) @ rng.gamma(0.5, 2, (3, 12)) + 0.5))
    updater = Majorise(owners=((0, 0), (7, 2)))
    model = OnlineNMF(3, loss="kl", atoms=atoms, updater=updater, batch_size=50, random_state=0)

    def others(model):
        rows = model.components_ / model.components_.mean(axis=1, keepdims=True)
        assert min(rows[0, 0], rows[2, 7]) > 1e-3
        return max(rows[1, 0], rows[2, 0], rows[0, 7], rows[1, 7])

    assert others(model.fit(X)) < 1e-6
    before = model.objective(X)
    assert others(model.partial_fit(X[:50])) < 1e-6
    model.settle_stream([X]).end_round()
    assert others(model) < 1e-6
    # It costs what these entries were worth, and no more.
    plain = OnlineNMF(3, loss="kl", atoms=atoms, batch_size=50, random_state=0).fit(X)
    assert plain.objective(X) < before < 1.5 * plain.objective(X)


def test_anchors_that_cannot_be_are_refused():
    documents, _ = corpus()
    with pytest.raises(ValueError, match="none of the words of the anchor 'snow'"):
        TopicModel(3, vectorizer="counts", anchors={"snow": ["sleet"]}).fit(documents)
    with pytest.raises(ValueError, match="anchors has 2 topics and n_components is 1"):
        TopicModel(1, anchors=GIVEN).fit(documents)
    with pytest.raises(ValueError, match="anchors"):
        TopicModel(3, anchors=["goal"]).fit(documents)
