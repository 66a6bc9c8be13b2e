"""Topics that say the same become one: codes, sums of the memory, and what comes after."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from test_topics import corpus

from atomstream import OnlineNMF, TopicModel, load, save
from atomstream.coders import Codes
from atomstream.dictionaries import Rows
from atomstream.loop.explaining import CodingOptions
from atomstream.problem import Batch

DOCUMENTS, _ = corpus()
RNG = np.random.default_rng(0)
COUNTS = np.zeros((200, 60))  # few features have entries, as in a batch of short documents
COUNTS[:, :15] = RNG.poisson(RNG.gamma(0.5, 2, (200, 3)) @ RNG.gamma(0.5, 2, (3, 15)) + 0.1)
ROWS = RNG.dirichlet(np.ones(60), 3)
SAME = np.array([[1.0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])  # the third atom is the first again


class Given:
    """A coder that knows the codes."""

    def __init__(self, codes):
        self.codes = codes

    def encode(self, batch, dictionary, objective, accuracy, start=None):
        return Codes(self.codes, np.zeros(len(self.codes)))


def remembered(codes, atoms, X):
    """Return the memory of one batch with these codes, and the loss that it bounds."""
    algorithm = OnlineNMF(len(atoms), loss="kl", atoms="simplex")._assemble()
    algorithm = replace(algorithm, coder=Given(codes))
    memory = algorithm.statistics.start(*atoms.shape, algorithm.objective.loss)
    delta = algorithm.explain(Batch(X), Rows(atoms), CodingOptions(None))[1]
    memory.absorb(delta, 1.0)
    return memory, delta.objective / delta.mass


@pytest.mark.parametrize("sparse", [False, True])
def test_the_memory_is_as_if_there_had_been_one_atom(sparse):
    codes = RNG.gamma(0.5, 1, (200, 4))
    X = sp.csr_array(COUNTS) if sparse else COUNTS + 0.01
    joined, loss = remembered(codes, ROWS[[0, 1, 0, 2]], X)
    atoms = joined.join(SAME, ROWS[[0, 1, 0, 2]])
    plain, same = remembered(codes @ SAME.T, ROWS, X)
    assert (joined.columns is not None) == (plain.columns is not None) == sparse
    assert_allclose(atoms, ROWS, rtol=1e-12)
    assert_allclose(loss, same)
    for ours, theirs in zip(joined._coefficients(), plain._coefficients(), strict=True):
        assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    assert_allclose(joined.gram, plain.gram, rtol=1e-10)
    if not sparse:
        assert_allclose(joined.cross, plain.cross, rtol=1e-9, atol=1e-9)
    # What is left of the constant is a bound: the surrogate touches the loss, or lies above it.
    assert_allclose(plain.value(Rows(ROWS)), loss, rtol=1e-9)
    assert joined.value(Rows(ROWS)) >= loss * (1 - 1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_topics_that_differ_become_their_mean_by_the_words_of_each(sparse):
    codes, groups = RNG.gamma(0.5, 1, (200, 3)), np.array([[1.0, 0, 1], [0, 1, 0]])
    memory, _ = remembered(codes, ROWS, sp.csr_array(COUNTS) if sparse else COUNTS + 0.01)
    sums, before = codes.mean(axis=0), memory._coefficients()[1]
    atoms = memory.join(groups, ROWS)
    assert_allclose(atoms[0], (sums[0] * ROWS[0] + sums[2] * ROWS[2]) / (sums[0] + sums[2]))
    assert_allclose(memory._coefficients()[1][0], before[0] + before[2], rtol=1e-12)


@pytest.mark.parametrize("vectorizer", ["counts", "hashing"])
def test_merged_topics_take_the_words_of_both_and_learn_on(vectorizer, tmp_path):
    model = TopicModel(5, vectorizer=vectorizer, batch_size=30, random_state=0).fit(DOCUMENTS)
    codes, words, shares = model.transform(DOCUMENTS), model.components_, model.importance_
    assert model.merge([4, 1]) is model
    assert model.n_components == 4
    assert_allclose(model.importance_[[0, 2, 3]], shares[[0, 2, 3]])
    assert_allclose(model.importance_[1], shares[1] + shares[4])
    assert_allclose(model.components_.sum(axis=1), 1)
    assert_allclose(model.components_[[0, 2, 3]], words[[0, 2, 3]], rtol=1e-12)
    both = np.clip(model.components_[1], *np.sort(words[[1, 4]], axis=0))
    assert_allclose(model.components_[1], both, atol=1e-15)
    # Codes of topics that are nothing alike add up in the mean, not for every document.
    added = codes[:, [1, 4]].sum(axis=1).mean()
    assert_allclose(model.transform(DOCUMENTS)[:, 1].mean(), added, rtol=0.4)
    save(model, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms")
    for each in (model, again):
        each.partial_fit(DOCUMENTS[:30])
    assert_array_equal(again.components_, model.components_)
    assert again.components_.shape[0] == 4
    assert len(model.fit(DOCUMENTS).components_) == 4


def test_codes_of_equal_topics_add_up():
    model = TopicModel(3, vectorizer="counts", random_state=0).fit(DOCUMENTS)
    twice = TopicModel(4, vectorizer="counts", random_state=0).fit(DOCUMENTS)
    twice.learner_.state_.dictionary.assign(model.components_[[0, 1, 0, 2]])
    twice.merge([0, 2])
    assert_allclose(twice.components_, model.components_, rtol=1e-12)
    assert_allclose(twice.transform(DOCUMENTS), model.transform(DOCUMENTS), atol=1e-6)


@pytest.mark.parametrize(
    ("topics", "words"),
    [
        ([1], "two or more"),
        ([1, 1], "different numbers"),
        ([0, 3], "from 0 to 2"),
        (["a", "b"], "different numbers"),
        ([0, 1], "Topics 0 and 1 have anchors of their own"),
    ],
)
def test_what_cannot_be_merged_is_refused_and_the_model_stays(topics, words):
    anchors = {"sport": ["goal"], "animals": ["goat"]}
    model = TopicModel(3, vectorizer="counts", anchors=anchors, random_state=0).fit(DOCUMENTS)
    before = model.components_
    with pytest.raises(ValueError, match=words):
        model.merge(topics)
    assert model.n_components == 3
    assert_array_equal(model.components_, before)
    model.merge([1, 2]).partial_fit(DOCUMENTS[:30])  # one of them may have an anchor
    assert model.n_components == 2


def test_sums_that_are_not_linear_in_the_codes_join_no_atoms():
    for loss in ("squared", "is"):
        model = OnlineNMF(3, loss=loss, random_state=0).fit(COUNTS + 1)
        with pytest.raises(ValueError, match="join"):
            model._learner.join(np.ones((1, 3)))
