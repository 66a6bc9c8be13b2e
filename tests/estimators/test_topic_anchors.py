"""Topics that are pulled towards given words."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from shared import DATA, needs_data
from test_topics import THEMES, corpus

from atomstream import TopicModel, load, save

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
        room.share(carried(model, ANCHORS), at_least=0.8)
        assert carried(plain, ANCHORS) < 0.5
        room.ratio(perplexity(model, held_out) / perplexity(plain, held_out), at_most=1.03)


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


def test_anchors_that_cannot_be_are_refused():
    documents, _ = corpus()
    with pytest.raises(ValueError, match="none of the words of the anchor 'snow'"):
        TopicModel(3, vectorizer="counts", anchors={"snow": ["sleet"]}).fit(documents)
    with pytest.raises(ValueError, match="anchors has 2 topics and n_components is 1"):
        TopicModel(1, anchors=GIVEN).fit(documents)
    with pytest.raises(ValueError, match="anchors"):
        TopicModel(3, anchors=["goal"]).fit(documents)
