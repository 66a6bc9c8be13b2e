"""Topics: counts against scikit-learn, names of hashed words, planted topics, spans of time."""

import itertools
import tracemalloc
import unicodedata
from dataclasses import replace
from itertools import pairwise
from time import process_time

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

import atomstream
from atomstream import OnlineNMF, TopicModel, plots, text
from atomstream.exceptions import DataWarning
from atomstream.fields.text import model as topics
from atomstream.fields.text.topic_shares import npmi, spans
from atomstream.fields.text.vocabulary import Vocabulary
from atomstream.loop.coordinates import Alternation
from atomstream.watch.callbacks import History

LONG = {"max_iter": 2000, "tol": 1e-6}
THEMES = {
    "animals": ["cat", "dog", "horse", "mouse", "sheep", "goat", "lion", "tiger"],
    "money": ["stock", "bond", "market", "trade", "price", "bank", "loan", "fund"],
    "sport": ["goal", "match", "team", "league", "player", "coach", "stadium", "referee"],
}


def corpus(n=120, seed=0, length=12):
    """Documents of one theme each, and their themes."""
    rng = np.random.default_rng(seed)
    themes = rng.integers(3, size=n)
    words = [list(THEMES.values())[theme] for theme in themes]
    return [" ".join(rng.choice(of, length)) for of in words], themes


def learned(documents, **settings):
    settings = {"vectorizer": "counts", "batch_size": 30, "random_state": 0} | settings
    return TopicModel(3, **settings).fit(documents)


# -- counting
# --------------------------------------------------------------------------------------------------

TEXTS = [
    "The Cat, the dog.",
    "A dog and a DOG is 42 times a dog",
    "na\u00efve caf\u00e9 cat",
    "of the and",
]


def test_counts_are_those_of_scikit_learn():
    for stop_words in (None, "english", ["cat"]):
        words = Vocabulary("counts", stop_words=stop_words).learned(TEXTS)
        theirs = CountVectorizer(stop_words=stop_words)
        assert_array_equal(words.count(TEXTS).toarray(), theirs.fit_transform(TEXTS).toarray())
        assert list(words.names) == list(theirs.get_feature_names_out())
        tfidf = Vocabulary("tfidf", stop_words=stop_words).learned(TEXTS)
        expected = TfidfVectorizer(stop_words=stop_words).fit_transform(TEXTS).toarray()
        assert_allclose(tfidf.count(TEXTS).toarray(), expected, atol=1e-15)
        hashed = Vocabulary("hashing", n_features=50, stop_words=stop_words).count(TEXTS)
        theirs = HashingVectorizer(
            n_features=50, stop_words=stop_words, norm=None, alternate_sign=False
        )
        assert_array_equal(hashed.toarray(), theirs.transform(TEXTS).toarray())


def test_the_most_frequent_words_are_kept_and_unknown_ones_left_out():
    words = Vocabulary("counts", n_features=2, stop_words=None).learned(
        ["bb bb aa", "cc cc cc", "aa"]
    )
    assert list(words.names) == ["aa", "cc"]  # of equals the first in the alphabet
    assert_array_equal(words.count(["bb cc", "zz"]).toarray(), [[0, 1], [0, 0]])
    assert list(Vocabulary("counts", min_df=2, stop_words=None).learned(["aa bb", "aa"]).names) == [
        "aa"
    ]


def test_a_word_that_is_most_of_its_feature_names_it_in_any_order():
    words = [f"word{number}" for number in range(40)]
    rng = np.random.default_rng(0)
    often = rng.integers(1, 30, size=40)
    said = rng.permutation(np.repeat(words, often))
    hashed = Vocabulary(n_features=16, stop_words=None)
    place = hashed.count(words).indices
    met = hashed
    for part in np.array_split(said, 7):
        met = met.learned([" ".join(part)])
    for feature in range(16):
        here = [(often[i], word) for i, word in enumerate(words) if place[i] == feature]
        if here and 2 * max(here)[0] > sum(count for count, _ in here):
            assert met.word(feature) == max(here)[1]
    assert hashed.names is None  # a value
    assert hashed.word(3) == "#3"


def test_streams_yield_batches_of_counts():
    documents, _ = corpus()
    batches = list(text.stream(documents, batch_size=50))
    assert [batch.shape for batch in batches] == [(50, 2**15), (50, 2**15), (20, 2**15)]
    assert_array_equal(batches[0].toarray(), Vocabulary().count(documents[:50]).toarray())
    words = Vocabulary("tfidf").learned(documents)
    assert_array_equal(
        next(text.stream(documents, words)).toarray(), words.count(documents).toarray()
    )
    assert next(text.stream(itertools.cycle(documents), "counts")).shape == (256, 24)
    model = OnlineNMF(3, loss="kl", random_state=0).fit_stream(
        text.stream(documents, words, batch_size=40)
    )
    assert model.n_samples_seen_ == 120


# -- topics
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vectorizer", ["counts", "tfidf", "hashing"])
def test_planted_topics_are_found(vectorizer):
    documents, themes = corpus()
    model = learned(documents, vectorizer=vectorizer, n_features=1000)
    assert_allclose(model.components_.sum(axis=1), 1)
    found = [{word for word, _ in topic} for topic in model.top_words(8)]
    assert sorted(map(sorted, found)) == sorted(sorted(words) for words in THEMES.values())
    shares = model.topic_shares(documents)
    assert_allclose(shares.sum(axis=1), 1)
    for theme in range(3):
        assert len(set(shares[themes == theme].argmax(axis=1))) == 1
    assert [share for _, share in model.top_words(3)[0]] == sorted(model.components_[0])[::-1][:3]
    if vectorizer == "counts":
        assert_allclose(model.transform(documents).sum(axis=1), 12, rtol=1e-6)


@pytest.mark.parametrize("vectorizer", ["counts", "tfidf", "hashing"])
def test_documents_without_known_words_have_zeros(tmp_path, vectorizer):
    model = learned(corpus()[0], vectorizer=vectorizer, n_epochs=2)
    unknown = ["zebra giraffe cheetah leopard", "xyzzy", "the of", "", " \n"]
    atomstream.save(model, tmp_path / "m.atoms")
    for each in (model, atomstream.load(tmp_path / "m.atoms")):
        with pytest.warns(DataWarning, match=r"^2 of 5 documents are empty: rows of zeros\.$"):
            assert_array_equal(each.topic_shares(unknown), np.zeros((5, 3)))
        assert_array_equal(each.transform(unknown[:3]), np.zeros((3, 3)))
    counts = model.topics_over_time(unknown[:3], range(3), bins=1).n_documents
    assert_array_equal(counts, [0])
    with pytest.warns(DataWarning, match="1 of 2 documents is empty"):
        shares = model.topic_shares(["", "cat goat"])
    assert_array_equal(shares[1:], model.topic_shares(["cat goat"]))


@pytest.mark.parametrize("vectorizer", ["counts", "tfidf", "hashing"])
@pytest.mark.parametrize("call", ["fit", "partial_fit", "fit_stream"])
def test_empty_documents_are_rows_of_zeros_and_counted_once(vectorizer, call):
    good, _ = corpus(40)
    nothing = ["", " \n", None, np.nan, np.float32("nan"), np.datetime64("NaT")]
    holes, stops = list(good), list(good)
    for place, empty in enumerate(nothing):
        holes[5 * place + 1], stops[5 * place + 1] = empty, "of the"
    settings = {"vectorizer": vectorizer, "batch_size": 20, "random_state": 0}
    models = [TopicModel(3, **settings) for _ in range(2)]
    with pytest.warns(DataWarning) as told:
        getattr(models[0], call)(iter(holes) if call == "fit_stream" else holes)
    assert [str(each.message) for each in told] == ["6 of 40 documents are empty: rows of zeros."]
    # No stop word counts: these are rows of zeros too, and nobody is warned.
    getattr(models[1], call)(stops)
    assert_array_equal(models[0].components_, models[1].components_)
    assert "nan" not in {word for topic in models[0].top_words(99) for word, _ in topic}
    pd = pytest.importorskip("pandas")
    for series in (pd.Series(holes), pd.Series(holes[:17], dtype="string")):
        with pytest.warns(DataWarning, match="are empty"):
            codes = models[0].transform(series)
        zeros = ~codes.any(axis=1)
        assert_array_equal(np.flatnonzero(zeros), [1, 6, 11, 16, 21, 26][: zeros.sum()])
        assert zeros.sum() == (6 if len(series) == 40 else 4)


@pytest.mark.parametrize("vectorizer", ["counts", "hashing"])
def test_a_batch_of_empty_documents_teaches_nothing(vectorizer):
    model = learned(corpus()[0], vectorizer=vectorizer, n_epochs=1)
    before, n_steps = model.components_, model.n_steps_
    with pytest.warns(DataWarning, match="2 of 2 documents are empty"):
        model.partial_fit(["", None])
    assert model.n_steps_ == n_steps + 1
    assert_allclose(model.components_, before, atol=1e-15)
    # Nor does it make the work of later steps go by all features.
    assert (model.learner_.memory_.columns is not None) == (vectorizer == "hashing")


WORDS = {
    "Hindi": "\u0939\u093f\u0928\u094d\u0926\u0940 \u0939\u0948",
    "Tamil": "\u0ba4\u0bae\u0bbf\u0bb4\u0bcd \u0bae\u0bca\u0bb4\u0bbf",
    "Thai": "\u0e40\u0e23\u0e47\u0e27 \u0e14\u0e35",
    "Hebrew with points": "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
    "Arabic with points": "\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f",
    "Persian with a joiner": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "no composed form": "x\u0302y xx\u0302",
    "beyond the first plane": "\U00011315\U0001133f\U00011315",
}


@pytest.mark.parametrize("language", WORDS)
def test_marks_belong_to_letters(language):
    words = Vocabulary("counts", stop_words=None).learned([f"({WORDS[language]}), _12_."])
    expected = unicodedata.normalize("NFC", WORDS[language]).split()
    assert list(words.names) == sorted([*expected, "12"])


def test_letters_and_accents_are_one_sign_however_they_are_written():
    texts = ["caf\u00e9 th\u00e9", "cafe\u0301 the\u0301", "CAFE\u0301"]
    words = Vocabulary("counts", stop_words=["the\u0301"]).learned(texts)
    assert list(words.names) == ["caf\u00e9"]
    assert_array_equal(words.count(texts).toarray(), [[1], [1], [1]])


def test_stop_words_are_cut_as_documents_are():
    texts = ["Mr. Smith didn't go, of course, to the caf\u00e9"]
    for listed in (["Mr.", "didn't", "of course"], ["mr", "didn", "of", "course"]):
        words = Vocabulary("counts", stop_words=listed).learned(texts)
        assert list(words.names) == ["caf\u00e9", "go", "smith", "the", "to"]


def test_the_work_of_topics_goes_by_the_words_that_occur(monkeypatch):
    texts = [" ".join(f"word{8 * i + j}" for j in range(8)) for i in range(4)]
    shapes, swept = set(), Alternation.swept
    monkeypatch.setattr(
        Alternation, "swept", lambda all_, f: shapes.add(f.loads.shape) or swept(all_, f)
    )
    began = process_time()
    TopicModel(50, random_state=0).fit(texts)
    assert process_time() - began < 6  # about 1, and 10 when all features are swept
    # The 32 words, and one feature for all that occur nowhere.
    assert shapes == {(33, 50)}


def test_spans_of_dates_have_the_words_of_the_command_line_and_a_default():
    documents, themes = corpus()
    model = learned(documents, n_epochs=2)
    times = np.datetime64("2003-01-01") + np.arange(len(documents))
    for word, letter in (("day", "D"), ("week", "W"), ("month", "M"), ("year", "Y")):
        over = [model.topics_over_time(documents, times, freq=freq) for freq in (word, letter)]
        assert_array_equal(over[0].starts, over[1].starts)
        assert_array_equal(over[0].shares, over[1].shares)
    weeks = model.topics_over_time(documents, times, freq="week").starts
    default = model.topics_over_time(documents, times)
    spans = [
        len(model.topics_over_time(documents, times, freq=f).starts) for f in ("month", "week")
    ]
    assert len(default.starts) == next(n for n in spans if n >= 8)
    numbers = [int(str(time).replace("-", "")) for time in times]  # as 20030101
    assert_array_equal(model.topics_over_time(documents, numbers, freq="week").starts, weeks)
    with pytest.raises(ValueError, match="freq must be one of day, week, month, year"):
        model.topics_over_time(documents, times, freq="hour")
    with pytest.raises(ValueError, match="numbers need bins"):
        model.topics_over_time(documents, themes)
    with pytest.raises(ValueError, match="either freq or bins, got both"):
        model.topics_over_time(documents, times, freq="day", bins=2)


def test_underscores_that_mark_words_are_none_of_them():
    words = Vocabulary("counts", stop_words=None).learned(
        ["_you_ snake_case __a x_ caf\u00e9 don't"]
    )
    assert list(words.names) == ["caf\u00e9", "don", "snake_case", "you"]


def test_runs_of_words_count_as_words():
    texts = ["the new york times", "new york is new"]
    words = Vocabulary("counts", ngrams=2).learned(texts)
    assert list(words.names) == ["new", "new york", "times", "york", "york new", "york times"]
    theirs = CountVectorizer(stop_words="english", ngram_range=(1, 2)).fit_transform(texts)
    assert_array_equal(words.count(texts).toarray(), theirs.toarray())
    model = TopicModel(2, vectorizer="counts", ngrams=2, random_state=0).fit(texts * 20)
    assert "new york" in {word for topic in model.top_words(3) for word, _ in topic}


def test_stop_words_are_added_to_those_of_the_language():
    words = Vocabulary("counts", stop_words=["english", "mr"]).learned(["the cat and mr dog"])
    assert list(words.names) == ["cat", "dog"]
    words = Vocabulary("counts", stop_words=["mr"]).learned(["the cat and mr dog"])
    assert list(words.names) == ["and", "cat", "dog", "the"]


def test_of_several_starts_the_most_coherent_topics_are_taken(monkeypatch, seeds):
    looked_at, judge = [], topics._coherence
    monkeypatch.setattr(
        topics, "_coherence", lambda *given: looked_at.append(judge(*given)) or looked_at[-1]
    )
    rng = np.random.default_rng(0)
    words = np.array([f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(200)])
    shares = rng.dirichlet(np.full(200, 0.05), 12)
    texts = [
        " ".join(rng.choice(words, 9, p=rng.dirichlet(np.full(12, 0.2)) @ shares))
        for _ in range(300)
    ]
    better = 0
    for seed in seeds:
        one = TopicModel(12, vectorizer="counts", batch_size=10, n_epochs=10, random_state=seed)
        one.fit(texts)
        one.learner_.settle(one.count(texts))  # as before other starts were compared
        whole = clone(one).set_params(n_epochs=None).fit(texts)
        assert len(looked_at) == 6 * (seed + 1)
        assert judge(whole.count(texts), whole.learner_) == max(looked_at[-6:])
        told = [np.mean(model.coherence(texts)) for model in (one, whole)]
        assert told[1] >= told[0]
        if told[1] > told[0]:
            better += 1
            codes = whole.transform(texts)
            assert_allclose(whole.importance_, codes.sum(axis=0) / codes.sum(), rtol=1e-3)
    assert better > 0


def test_topics_settle_after_the_passes_unless_their_number_is_given(room):
    single = corpus()[0]
    # Two themes each and few words: passes over batches of them come to no rest.
    documents = [" ".join(a.split()[:4] + b.split()[:3]) for a, b in pairwise(single)]
    passes = TopicModel(3, vectorizer="counts", n_epochs=10, random_state=0).fit(documents)
    whole = TopicModel(3, vectorizer="counts", random_state=0).fit(documents)
    assert whole.settled_
    assert not hasattr(passes, "settled_")
    counts = whole.vocabulary_.count(documents)
    batch = min(
        NMF(3, beta_loss="kullback-leibler", solver="mu", init="random", random_state=seed, **LONG)
        .fit(counts)
        .reconstruction_err_
        ** 2
        / (2 * len(documents))
        for seed in range(3)
    )
    # Of the scale of batch's end: three starts of theirs against one of ours.
    room.ratio(-whole.learner_.score(counts) / batch, at_most=1.05)
    assert -passes.learner_.score(counts) > -whole.learner_.score(counts)
    again = whole.partial_fit(documents[:20])
    assert not hasattr(again, "settled_")


def test_coherence_is_the_mean_npmi_of_pairs():
    counts = sp.csr_array([[1, 1, 0, 2], [3, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=float)
    log = np.log
    pairs = {  # worked out by hand: shares 1/2, 1/2, 1/4, 1/2
        (0, 1): log(0.5 / 0.25) / -log(0.5),
        (0, 2): -1.0,
        (0, 3): log(0.25 / 0.25) / -log(0.25),
    }
    for pair, value in pairs.items():
        assert npmi(counts, np.array([pair]))[0] == pytest.approx(value, abs=1e-12)
    both = npmi(counts, np.array([[0, 1, 2], [0, 1, 3]]))
    assert both[0] == pytest.approx((pairs[0, 1] - 1 - 1) / 3)
    always = sp.csr_array(np.ones((3, 2)))
    assert npmi(always, np.array([[0, 1]]))[0] == 1
    silent = sp.csr_array(np.eye(3)[:, :2])
    assert np.isnan(npmi(sp.csr_array(([1.0], ([0], [0])), shape=(2, 2)), np.array([[0, 1]]))[0])
    assert npmi(silent, np.array([[0, 1]]))[0] == -1


def test_topics_are_coherent_and_have_best_documents():
    documents, themes = corpus()
    model = learned(documents, vectorizer="counts")
    assert model.coherence(documents, 3).min() > model.coherence(documents[::-1] * 2, 12).min()
    for topic, best in enumerate(model.top_documents(documents, 3)):
        assert len(best) == 3
        shares = model.topic_shares([documents[place] for place, _ in best])
        assert_allclose([share for _, share in best], shares[:, topic])
        assert len({themes[place] for place, _ in best}) == 1
    with pytest.raises(ValueError, match="n_documents must be"):
        model.top_documents(documents, 0)


def test_unknown_words_do_not_change_the_codes_of_known_ones():
    model = learned(corpus()[0], vectorizer="hashing", n_epochs=2)
    for known in ("cat dog", "cat stock stock goal"):
        assert_array_equal(
            model.transform([f"{known} zebra giraffe zebra"]), model.transform([known])
        )
        counts = model.vocabulary_.count([known])
        assert_array_equal(model.transform([known]), model.learner_.transform(counts))


def test_words_become_known_along_a_stream():
    model = TopicModel(2, batch_size=40, random_state=0).fit_stream(["cat dog", "stock bond"] * 20)
    assert not model.topic_shares(["goal team"]).any()
    model.partial_fit(["goal team", "cat dog"] * 20)
    assert_allclose(model.topic_shares(["goal team"]).sum(), 1)


def test_an_unknown_word_that_shares_the_feature_of_a_known_one_counts_as_it():
    model = TopicModel(2, n_features=1, random_state=0).fit(["cat dog", "stock bond"] * 20)
    assert_array_equal(model.transform(["zebra"]), model.transform(["cat"]))


def test_fit_takes_any_iterable_of_documents():
    documents, _ = corpus()
    expected = learned(documents).components_
    assert_array_equal(learned(iter(documents)).components_, expected)
    assert_array_equal(learned(np.array(documents)).components_, expected)
    assert learned(documents, n_epochs=1).transform([]).shape == (0, 3)


def test_a_stream_is_learned_in_steps():
    documents, _ = corpus()
    streamed = TopicModel(3, batch_size=40, random_state=0).fit_stream(iter(documents))
    stepped = TopicModel(3, batch_size=40, random_state=0)
    for start in (0, 40, 80):
        stepped.partial_fit(documents[start : start + 40])
    assert_array_equal(streamed.components_, stepped.components_)
    assert streamed.top_words() == stepped.top_words()
    endless = TopicModel(3, batch_size=40, random_state=0).fit_stream(
        itertools.cycle(documents), n_batches=3
    )
    assert_array_equal(endless.components_, streamed.components_)
    words = TopicModel(3, vectorizer="counts", random_state=0).partial_fit(documents).vocabulary_
    assert len(words.names) == 24


def test_words_that_come_late_make_topics_too():
    old = ["cat mouse dog purr", "stock bond market trade"] * 60
    model = TopicModel(3, batch_size=20, random_state=0).fit_stream(old)
    model.fit_stream(["goal team match league", *old] * 3 + ["goal team match league"] * 200)
    assert {"goal", "league", "match", "team"} in [
        {word for word, _ in topic} for topic in model.top_words(4)
    ]


@pytest.mark.slow
def test_memory_does_not_grow_on_an_endless_stream():
    def documents():
        """Yield documents of words of which there are ever new ones."""
        for number in itertools.count():
            yield " ".join(
                f"w{number % 50} x{number} y{number // 7} {'z' * 200}{number}".split() * 3
            )

    model = TopicModel(3, n_features=2**10, batch_size=50, random_state=0)
    endless = documents()
    model.fit_stream(endless, n_batches=3)
    tracemalloc.start()
    model.fit_stream(endless, n_batches=25)  # libraries and caches fill
    tracemalloc.reset_peak()
    held, _ = tracemalloc.get_traced_memory()
    model.fit_stream(endless, n_batches=25)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - held < 100_000
    assert peak - held < 1_500_000
    assert max(map(len, model.vocabulary_.names)) == 100


def test_callbacks_watch():
    history = History()
    learned_ = (
        TopicModel(3, batch_size=30, n_epochs=2, random_state=0)
        .set_callbacks(history)
        .fit(corpus()[0])
    )
    assert len(history.n_samples) == 8
    assert not hasattr(learned_.learner_, "_skl_callbacks")


# -- time
# --------------------------------------------------------------------------------------------------


def test_spans_of_dates():
    days = ["2003-02-19", "2003-02-23", "2003-02-24", "2003-04-01"]
    _, starts, span = spans(days, "W", None)
    assert [str(starts[place]) for place in span] == [
        "2003-02-17",
        "2003-02-17",
        "2003-02-24",
        "2003-03-31",
    ]
    assert len(starts) == 7
    _, starts, span = spans(np.array(days, "datetime64[D]"), "M", None)
    assert list(map(str, starts)) == ["2003-02-01", "2003-03-01", "2003-04-01"]
    assert_array_equal(span, [0, 0, 0, 2])
    assert_array_equal(spans(days, "D", None)[2], [0, 4, 5, 41])
    assert_array_equal(spans(days, "Y", None)[2], 0)
    _, starts, span = spans(days, None, ["2003-02-20", "2003-03-01", "2003-04-01"])
    assert_array_equal(span, [-1, 0, 0, 1])
    assert str(starts[1].astype("datetime64[D]")) == "2003-03-01"


def test_spans_of_zones_are_what_clocks_show():
    pd = pytest.importorskip("pandas")
    times = pd.DatetimeIndex(["2020-01-01 00:30", "2020-07-01 00:30"], tz="Europe/Berlin")
    for given in (times, pd.Series(times), list(times), [time.to_pydatetime() for time in times]):
        _, starts, span = spans(given, "M", None)
        assert_array_equal(span, [0, 6])
        assert str(starts[0]) == "2020-01-01"


def test_spans_of_numbers():
    _, starts, span = spans([0.0, 1, 2, 10], None, 5)
    assert_array_equal(starts, [0, 2, 4, 6, 8])
    assert_array_equal(span, [0, 0, 1, 4])
    assert_array_equal(spans([0, 1, 2, 10], None, [1, 2, 10])[2], [-1, 0, 1, 1])


def test_shares_over_time_are_means_of_shares():
    documents, themes = corpus()
    order = np.argsort(themes, kind="stable")
    documents, themes = [documents[i] for i in order], themes[order]
    model = learned(documents)
    over = model.topics_over_time([*documents, "unheard"], [*themes, 0], bins=[0, 1, 2, 3, 4])
    assert_array_equal(over.n_documents, [*np.bincount(themes), 0])  # unknown words do not count
    shares = model.topic_shares(documents)
    for theme in range(3):
        assert_allclose(over.shares[theme], shares[themes == theme].mean(axis=0))
    assert np.isnan(over.shares[3]).all()
    with pytest.raises(ValueError, match="120 documents and 3 times"):
        model.topics_over_time(documents, [1, 2, 3], bins=2)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((["x"], "D", None), "numbers or dates"),
        (([1, 2], "D", None), "times must be dates"),
        (([20030101, 20030132], "D", None), "times must be dates"),
        (([1, 2], None, None), "numbers need bins"),
        (([1, 2], "D", 3), "either freq or bins"),
        ((["2003-01-01"], "H", None), "freq must be one of day, week, month, year"),
        (([1, np.nan], None, 2), "times has a missing entry"),
        (([[1, 2]], None, 2), "one known time"),
        (([1, 2], None, [1]), "at least two edges"),
    ],
)
def test_times_that_are_none(arguments, told):
    with pytest.raises(ValueError, match=told):
        spans(*arguments)


# -- laws
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vectorizer", ["counts", "tfidf", "hashing"])
def test_saved_and_loaded_models_are_the_same_and_go_on(tmp_path, vectorizer):
    documents, _ = corpus()
    model = learned(documents, vectorizer=vectorizer, n_features=300, stop_words=["caf\u00e9"])
    atomstream.save(model, tmp_path / "m.atoms")
    again = atomstream.load(tmp_path / "m.atoms")
    assert again.top_words() == model.top_words()
    assert_array_equal(again.topic_shares(documents), model.topic_shares(documents))
    more, _ = corpus(seed=1)
    more[0] += " newword"
    assert_array_equal(again.partial_fit(more).components_, model.partial_fit(more).components_)
    assert list(again.vocabulary_.names) == list(model.vocabulary_.names)


@pytest.mark.parametrize(
    ("vectorizer", "damage"),
    [
        ("counts", {"names": None}),
        ("counts", {"names": np.array(["a", "b"], object)}),
        ("counts", {"names": np.arange(24)}),
        ("tfidf", {"weights": None}),
        ("hashing", {"weights": np.zeros(3)}),
        ("hashing", {"n_features": 9}),
    ],
)
def test_files_that_make_no_sense_are_refused(tmp_path, vectorizer, damage):
    model = learned(corpus()[0], vectorizer=vectorizer, n_features=100)
    model.vocabulary_ = replace(model.vocabulary_, **damage)
    atomstream.save(model, tmp_path / "m.atoms")
    with pytest.raises(atomstream.CorruptModelError, match="no model that makes sense"):
        atomstream.load(tmp_path / "m.atoms")


def test_a_fit_that_was_stopped_goes_on_to_the_bit():
    class Stop(History):
        def on_fit_task_end(self, estimator, context):
            return context.task_name == "batch" and estimator.n_steps_ == 7

    documents, _ = corpus()
    whole = learned(documents)
    stopped = (
        TopicModel(3, vectorizer="counts", batch_size=30, random_state=0)
        .set_callbacks(Stop())
        .fit(documents)
    )
    assert stopped.n_steps_ == 7
    counts = stopped.vocabulary_.count(documents)
    whole_again = stopped.set_callbacks().fit_counts(counts).settle_counts(counts)
    assert_array_equal(whole_again.components_, whole.components_)


def test_tables_and_documents_without_words_are_refused():
    pd = pytest.importorskip("pandas")
    for documents, told in (
        (
            pd.DataFrame({"text": ["cat dog"]}),
            "must be an iterable of str, got DataFrame: give its column of texts",
        ),
        ({"cat dog": 1}, "must be an iterable of str, got dict"),
        (["the and of"], "No word of the 1 documents counts"),
    ):
        for call in ("fit", "partial_fit", "fit_stream"):
            model = TopicModel(2, random_state=0)
            with pytest.raises(ValueError, match=told):
                getattr(model, call)(documents)
            assert not hasattr(model, "learner_")


@pytest.mark.parametrize(
    ("documents", "told"),
    [
        ("one text", "must be an iterable of str, got str"),
        (5, "must be an iterable of str, got int"),
        ([], "no documents"),
        (["cat", 5], "Document 1 must be a str, got int"),
        (["cat", np.array(["dog"])], "Document 1 must be a str, got ndarray"),
        (["the", "of"], "No word of the 2 documents is left"),
    ],
)
def test_bad_documents_get_one_sentence_and_change_nothing(documents, told):
    good, _ = corpus()
    model = learned(good)
    before = model.components_
    with pytest.raises(ValueError, match="There are no" if documents == [] else told):
        model.fit(documents)
    assert_array_equal(model.components_, before)
    if documents != ["the", "of"]:
        with pytest.raises(ValueError, match=told):
            model.partial_fit(documents)
    if documents != [] and documents != ["the", "of"]:
        with pytest.raises(ValueError, match=told):
            model.topic_shares(documents)
    assert model.n_steps_ == 40
    with pytest.raises(
        ValueError, match="n_features is 9 and the model has learned with n_features=32768"
    ):
        model.set_params(n_features=9).partial_fit(good)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"vectorizer": "words"},
            "'vectorizer' .* must be one of counts, hashing, tfidf",
        ),
        ({"n_features": 0}, "'n_features' .* must be"),
        ({"min_df": 0.5}, "'min_df' .* must be"),
        ({"stop_words": "german"}, "'stop_words' .* must be"),
        ({"n_components": 0}, "n_components"),
        ({"alpha": -1}, "alpha"),
        ({"batch_size": 0}, "batch_size"),
        ({"n_epochs": 1.5}, "n_epochs"),
        ({"schedule": "s"}, "schedule='s' is unknown"),
    ],
)
def test_settings_out_of_range(settings, told):
    with pytest.raises(ValueError, match=told):
        TopicModel(**settings).fit(corpus()[0])


def test_pictures_draw_their_data():
    documents, themes = corpus()
    model = learned(documents)
    with pytest.raises(ValueError, match="n_words must be"):
        plots.topics_data(model, 2, 0)
    drawn = plots.topics_data(model, 2, 5)
    assert len(drawn) == 2
    assert drawn[0][1] >= drawn[1][1]
    figure = plots.topics(model, n_topics=2, n_words=5)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        word for word, _ in drawn[0][2]
    ]
    assert_allclose(
        [bar.get_width() for bar in figure.axes[0].patches],
        [100 * share for _, share in drawn[0][2]],
    )
    over = model.topics_over_time(documents, np.datetime64("2003-02-19") + themes * 9, freq="day")
    starts, order, shares = plots.topics_over_time_data(over, 2)
    assert_array_equal(shares, over.shares[:, order])
    line = plots.topics_over_time(over, ["a", "b", "c"], n_topics=2).axes[0].lines[0]
    assert_array_equal(line.get_ydata(), 100 * shares[:, 0])
    assert len(starts) == 19


def test_mappings_are_no_texts():
    with pytest.raises(ValueError, match="got dict; give the texts of records"):
        TopicModel(2).fit([{"text": "a cat"}])
