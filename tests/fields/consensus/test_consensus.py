"""Consensus of replicates: what returns, how many atoms there are, and what it costs."""

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.exceptions import NotFittedError

from atomstream import (
    ConsensusNMF,
    OnlineDictionaryLearning,
    OnlineNMF,
    align,
    load,
    save,
)
from atomstream.base.bootstrap import RowDraws
from atomstream.fields.consensus.agreement import Consensus
from atomstream.fields.consensus.clusters import cluster
from atomstream.fields.consensus.rank_reason import _advice


def planted(rank=3, n_rows=400, n_features=16, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    parts = rng.random((rank, n_features)) * (rng.random((rank, n_features)) < 0.5)
    X = rng.exponential(size=(n_rows, rank)) @ parts
    return X + noise * rng.random(X.shape), parts


def test_the_planted_atoms_return_and_their_number_is_chosen(room, seeds):
    learned = []
    for seed in seeds:  # one planted atom in few rows is lost now and then
        X, parts = planted(seed=seed)
        model = ConsensusNMF(range(2, 6), n_replicates=6, random_state=seed).fit(X)
        found = align(parts, model).similarity.min(), model.stability_.min()
        learned.append((*found, model.n_components_))
    similarity, stability, n_components = np.median(learned, axis=0)
    room.share(similarity, at_least=0.95)
    room.share(stability, at_least=0.65)
    assert n_components == 3
    assert "3" in model.choice_.reason
    assert_array_equal(model.choice_.ranks, [2, 3, 4, 5])
    codes = model.transform(X)
    room.error(np.linalg.norm(model.inverse_transform(codes) - X), at_most=0.2 * np.linalg.norm(X))


def test_data_without_structure_are_said_to_have_none():
    X = np.random.default_rng(0).random((300, 12))
    model = ConsensusNMF([2, 3], n_replicates=10, n_epochs=5, random_state=0).fit(X)
    assert model.choice_.structured is False
    assert "no structure" in model.choice_.reason


def test_a_replicate_is_the_model_that_learns_from_its_rows_alone():
    """Replicates differ from single models in nothing but their rows, and the weights of these."""
    X, _ = planted()
    batches = [X[:150], X[150:310], X[310:]]
    model = ConsensusNMF([2, 3], n_replicates=3, bootstrap=True, random_state=5)
    model.fit_stream(batches)
    weights = RowDraws(model.seed_, 10).weights(3, np.arange(400))
    for rank, replicates in model.replicates_.items():
        for number, learned in enumerate(replicates):
            alone = OnlineNMF(rank, random_state=learned.random_state)
            at = 0
            for batch in batches:
                w = weights[number, at : at + len(batch)]
                alone.partial_fit(batch[w > 0], sample_weight=w[w > 0])
                at += len(batch)
            assert_array_equal(alone.components_, learned.components_)
            assert learned.n_samples_seen_ == (weights[number] > 0).sum()


def test_weights_belong_to_rows_however_the_stream_is_cut():
    rows = RowDraws(7, 10)
    whole = rows.weights(5, np.arange(1000))
    cuts = [0, 1, 17, 500, 1000]
    parts = [rows.weights(5, np.arange(a, b)) for a, b in pairwise(cuts)]
    assert_array_equal(np.concatenate(parts, axis=1), whole)
    assert_array_equal(RowDraws(7, 10).weights(2, np.arange(1000)), whole[:2])
    assert not np.array_equal(RowDraws(8, 10).weights(5, np.arange(1000)), whole)
    blocks = RowDraws(7, 10, block_size=4).weights(5, np.arange(400))
    assert_array_equal(blocks, RowDraws(7, 10).weights(5, np.arange(100)).repeat(4, axis=1))


def test_weights_are_those_of_a_bootstrap_without_a_tenth_of_the_rows():
    n, rows = 60_000, RowDraws(3, 10)
    weights, part = rows.weights(12, np.arange(n)), rows.part(np.arange(n))
    assert_allclose(np.bincount(part), n / 10, rtol=0.05)
    for number, w in enumerate(weights):
        assert (w[part == number % 10] == 0).all()
        rest = w[part != number % 10]
        assert rest.mean() == pytest.approx(1, abs=0.03)
        assert rest.var() == pytest.approx(1, abs=0.05)
        assert (rest == 0).mean() == pytest.approx(np.exp(-1), abs=0.01)
    apart = np.corrcoef(weights[:, (part > 1)])
    assert np.abs(apart - np.eye(12))[:2, :2].max() < 0.03  # replicates are independent


def test_without_bootstrap_a_replicate_has_each_row_once_that_it_does_not_leave_out():
    rows = RowDraws(3, 10, bootstrap=False)
    weights, part = rows.weights(12, np.arange(500)), rows.part(np.arange(500))
    assert_array_equal(part, RowDraws(3, 10).part(np.arange(500)))
    for number, w in enumerate(weights):
        assert_array_equal(w, part != number % 10)


def test_errors_are_those_on_entries_that_neither_atoms_nor_codes_have_seen():
    X, _ = planted(n_rows=120)
    model = ConsensusNMF([3], n_replicates=4, random_state=1).fit_stream([X[:60], X[60:]])
    rows = RowDraws(model.seed_, 10)
    part, columns = rows.part(np.arange(120)), rows.columns(16)
    for number, learned in enumerate(model.replicates_[3]):
        D, squares = learned.components_, []
        for i in np.flatnonzero(part == number):
            for hidden in columns:
                seen = np.setdiff1d(np.arange(16), hidden)
                h, _ = nnls(D[:, seen].T, X[i, seen])
                squares.append((X[i, hidden] - h @ D[:, hidden]) ** 2)
        expected = np.concatenate(squares).mean()
        assert model.choice_.errors[0, number] == pytest.approx(expected, rel=1e-4)


def test_batches_one_by_one_and_as_a_stream_are_the_same():
    X, _ = planted(n_rows=90)
    settings = {"n_components": [2, 3], "n_replicates": 3, "random_state": 0}
    stream = ConsensusNMF(**settings).fit_stream([X[:40], X[40:]])
    steps = ConsensusNMF(**settings).partial_fit(X[:40]).partial_fit(X[40:])
    whole = ConsensusNMF(**settings, batch_size=45, n_epochs=1, shuffle=False).fit(X)
    halves = ConsensusNMF(**settings).fit_stream([X[:45], X[45:]])
    assert_array_equal(stream.components_, steps.components_)
    assert_array_equal(whole.components_, halves.components_)
    assert_array_equal(whole.choice_.errors, halves.choice_.errors)


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_sparse_data_give_what_dense_data_give(loss, room):
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.exponential(size=(120, 2)) @ rng.gamma(0.5, 2, (2, 10))).astype(float)
    X = X[X.sum(axis=1) > 0]
    settings = {
        "n_components": [2, 3],
        "n_replicates": 3,
        "loss": loss,
        "n_epochs": 10,
        "random_state": 0,
    }
    dense, sparse = (ConsensusNMF(**settings).fit(A) for A in (X, sp.csr_array(X)))
    room.share(align(dense, sparse).similarity.min(), at_least=0.999)
    room.near(dense.choice_.error, sparse.choice_.error, rel=0.02)


def test_counts_that_are_mostly_zero_are_learned_from_as_sparse_ones(room):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.2 * rng.exponential(size=(120, 2)) @ rng.gamma(0.5, 2, (2, 30))).astype(float)
    X = X[X.sum(axis=1) > 0]
    assert (X > 0).mean() < 0.33
    model = ConsensusNMF([2], n_replicates=3, loss="kl", n_epochs=2, random_state=0)
    dense = model.fit(X).components_
    assert_array_equal(dense, model.fit(sp.csr_array(X)).components_)
    model.set_params(loss="squared", model=OnlineNMF(loss="kl", missing=True))
    room.share(
        align(dense, model.fit(X)).similarity.min(), at_least=0.99
    )  # with gaps rows stay dense
    X[rng.random(X.shape) < 0.02] = np.nan
    room.share(align(dense, model.fit(X)).similarity.min(), at_least=0.95)


def test_a_batch_that_is_refused_leaves_the_model_as_it_was():
    X, _ = planted(n_rows=90)
    model = ConsensusNMF([2], n_replicates=3, random_state=0).partial_fit(X[:50])
    before = model.components_.copy()
    with pytest.raises(ValueError, match="Negative values"):
        model.partial_fit(-X)
    assert_array_equal(model.components_, before)
    again = ConsensusNMF([2], n_replicates=3, random_state=0).partial_fit(X[:50])
    assert_array_equal(model.partial_fit(X[50:]).components_, again.partial_fit(X[50:]).components_)


def test_a_first_batch_that_is_refused_leaves_nothing_learned():
    model = ConsensusNMF([2], n_replicates=3, random_state=0)
    for learn in (model.fit, model.partial_fit, lambda X: model.fit_stream([X])):
        with pytest.raises(ValueError, match="Negative values"):
            learn(-np.ones((5, 3)))
        with pytest.raises(NotFittedError):
            model.transform(np.ones((5, 3)))


def test_intervals_hold_the_atoms_and_their_order_is_right():
    X, _ = planted()
    model = ConsensusNMF([3], n_replicates=20, bootstrap=True, n_epochs=5, random_state=0).fit(X)
    low, high = model.intervals_
    assert low.shape == high.shape == model.components_.shape
    assert (low <= model.components_ + 1e-12).all()
    assert (model.components_ <= high + 1e-12).all()
    low, high = model.importance_intervals_
    assert (low <= high).all()
    assert_allclose(model.importance_.sum(), 1)


def test_settings_out_of_range_are_refused_in_a_sentence():
    X, _ = planted(n_rows=30)
    for wrong, sentence in (
        ({"n_components": []}, "n_components must be a whole number or several"),
        ({"n_components": [0, 2]}, "n_components must be a whole number or several"),
        (
            {"n_replicates": 1},
            "'n_replicates' parameter of ConsensusNMF must be a whole number from 2",
        ),
        (
            {"holdout": 0.7},
            "must be a number above 0, at most 0.5",
        ),
        ({"model": object()}, "'model' parameter of ConsensusNMF must be"),
        ({"model": OnlineNMF(scale="std")}, "scale the rows first"),
        ({"model": OnlineNMF(), "loss": "kl"}, "belongs into model="),
    ):
        with pytest.raises(ValueError, match=sentence):
            ConsensusNMF(**{"n_components": [2], "n_replicates": 3, **wrong}).fit(X)
    with pytest.raises(NotFittedError):
        ConsensusNMF().transform(X)


def test_a_model_is_cloned_and_pickled():
    X, _ = planted(n_rows=90)
    model = ConsensusNMF([2, 3], n_replicates=3, random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.components_, model.components_)
    assert clone(model).get_params()["n_replicates"] == 3
    assert_array_equal(clone(model).fit(X).components_, model.components_)


def test_where_one_replicate_raises_none_has_learned(monkeypatch):
    X, _ = planted(n_rows=90)
    model = ConsensusNMF([2, 3], n_replicates=3, random_state=0).partial_fit(X[:50])
    before = [learned.components_.copy() for learned in model.replicates_[3]]
    steps = model.replicates_[2][0].n_steps_

    def fails(batches):
        raise MemoryError

    monkeypatch.setattr(model.replicates_[3][1], "_learn", fails, raising=False)
    with pytest.raises(MemoryError):
        model.partial_fit(X[50:])
    after = [learned.components_ for learned in model.replicates_[3]]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    assert model.replicates_[2][0].n_steps_ == steps
    assert model.n_samples_seen_ == 50


def test_a_saved_model_goes_on_as_the_one_that_was_saved(tmp_path):
    X, _ = planted(n_rows=120)
    model = ConsensusNMF(range(2, 4), n_replicates=3, random_state=0).fit(X[:80])
    save(model, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms", kind=ConsensusNMF)
    assert_array_equal(again.transform(X), model.transform(X))
    assert again.choice_.reason == model.choice_.reason
    assert again.choice_.verdict == model.choice_.verdict
    assert_array_equal(again.choice_.spread, model.choice_.spread)
    assert_array_equal(again.partial_fit(X[80:]).components_, model.partial_fit(X[80:]).components_)


def test_a_choice_of_before_there_were_verdicts_gets_one(tmp_path):
    X, _ = planted(n_rows=120)
    model = ConsensusNMF([2, 3], n_replicates=3, random_state=0).fit(X)
    choice = model.choice_
    model._found["choice"] = replace(choice, structured=False, verdict=None, spread=None)
    save(model, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms", kind=ConsensusNMF).choice_
    assert again.verdict == choice.verdict
    assert again.reason == choice.reason


def test_another_rank_may_be_looked_at():
    X, _ = planted(n_rows=120)
    model = ConsensusNMF([2, 3], n_replicates=3, random_state=0).fit(X)
    assert model.consensus(2).atoms.shape == (2, 16)
    assert model.dictionary(2).transform(X[:4]).shape == (4, 2)
    with pytest.raises(ValueError, match=r"rank must be one that was tried \(2, 3\), got 4"):
        model.consensus(4)


def test_threads_change_nothing():
    X, _ = planted(n_rows=120)
    settings = {"n_components": [2, 3], "n_replicates": 4, "random_state": 0, "n_epochs": 2}
    one, two = (ConsensusNMF(**settings, n_jobs=n).fit(X) for n in (1, 2))
    assert_array_equal(one.components_, two.components_)


def test_signed_atoms_are_matched_whatever_their_sign(room, seeds):
    back, alike = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        parts = rng.standard_normal((3, 12))
        usages = rng.choice([-1, 1], (300, 3)) * rng.uniform(1, 3, (300, 3))
        usages *= rng.random((300, 3)) < 0.4
        X = usages @ parts + 0.1 * rng.standard_normal((300, 12))
        model = OnlineDictionaryLearning(alpha=0.1)
        consensus = ConsensusNMF([2, 3, 4], n_replicates=10, model=model, random_state=0).fit(X)
        back.append(consensus.choice_.by_reproducibility or 0)
        alike.append(align(parts, consensus).similarity.min())
    room.error(abs(np.median(back) - 3), at_most=0.5)
    room.share(np.median(alike), at_least=0.95)
    flipped = consensus.consensus(3).labels
    assert (np.sort(flipped, axis=1) == np.arange(3)).all(axis=1).mean() > 0.5


def test_replicates_of_a_small_table_end_with_rounds_over_all_of_their_rows(room):
    """The passes are the same; only the rounds tell the two apart."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(300, 4)) @ rng.random((4, 15)) ** 3 + 0.1 * rng.random((300, 15))
    settings = {"n_replicates": 6, "bootstrap": True, "random_state": 0}
    rounds, passes = ConsensusNMF(4, **settings), ConsensusNMF(4, n_epochs=10, **settings)
    draws = RowDraws(rounds.fit(X).seed_, 10).weights(6, np.arange(300))
    pairs = zip(rounds.replicates_[4], passes.fit(X).replicates_[4], draws, strict=True)
    for ended, begun, weights in pairs:
        rows = weights > 0
        mean = [each.objective(X[rows], weights[rows]) for each in (ended, begun)]
        room.fall(mean[0], mean[1], at_least=0.1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_bootstrap_replicates_of_a_small_table_end_where_batch_learning_does(room):
    rng = np.random.default_rng(1)
    X = rng.exponential(size=(300, 4)) @ rng.random((4, 15)) ** 3 + 0.1 * rng.random((300, 15))
    model = ConsensusNMF(4, n_replicates=6, bootstrap=False, random_state=0).fit(X)
    draws = RowDraws(model.seed_, 10, bootstrap=False).weights(6, np.arange(300))
    for learned, weights in zip(model.replicates_[4], draws, strict=True):
        own, codes = X[weights > 0], learned.transform(X[weights > 0])
        batch = NMF(4, init="custom", max_iter=1000)
        ended = batch.fit(own, W=codes.copy(), H=learned.components_.copy()).reconstruction_err_
        room.ratio(np.linalg.norm(own - codes @ learned.components_) / ended, at_most=1.001)


def test_starts_alone_find_an_atom_that_few_rows_carry_and_a_bootstrap_says_what_to_change(room):
    """Three rows in a hundred carry the last atom; it lies on columns of its own."""
    rng = np.random.default_rng(0)
    X, _ = planted(noise=0.02)
    rare = np.zeros(22)
    rare[16:] = 1
    X = np.hstack([X, 0.02 * rng.random((400, 6))])
    X[:12] += (1 + rng.exponential(size=(12, 1))) * rare
    alone, drawn = (
        ConsensusNMF([4], n_replicates=20, bootstrap=each, random_state=0).fit(X)
        for each in (None, True)
    )
    room.share(align(rare[None], alone).similarity[0], at_least=0.9)
    assert alone.stability_.min() >= 0.95
    assert alone.stability_.mean() >= drawn.stability_.mean()
    for model, change in ((alone, "fewer atoms"), (drawn, "--no-bootstrap")):
        assert change in _advice(0.5, model.ensemble_.draws.bootstrap)
    assert _advice(0.9, True) == ""


def test_of_replicates_that_have_the_same_rows_the_half_that_fits_better_makes_the_atoms():
    X, _ = planted()
    for bootstrap, n_votes in ((None, 13), (True, 23)):  # ten parts: ten pairs, three of three
        model = ConsensusNMF(3, n_replicates=23, bootstrap=bootstrap, n_epochs=1, random_state=0)
        ensemble = model.fit(X).ensemble_
        votes, ends = ensemble.voting(0), [each.batch_objective_ for each in ensemble.learners[0]]
        assert votes.sum() == n_votes
        for part in range(10):
            alike = np.arange(part, 23, 10)
            assert votes[alike[np.argmin(np.array(ends)[alike])]]
        found, voted = ensemble.atoms(0), model.consensus().atoms
        again = Consensus.of(found[votes], ensemble.importances(0)[votes]).atoms
        assert_array_equal(align(again, voted).similarity > 1 - 1e-12, True)


def test_intervals_need_a_bootstrap_and_atoms_that_most_replicates_have():
    X, _ = planted()
    alone = ConsensusNMF([3], n_replicates=4, random_state=0).fit(X)
    assert np.isnan(alone.intervals_).all()
    assert np.isnan(alone.importance_intervals_).all()
    noise = np.random.default_rng(0).random((200, 12))
    model = ConsensusNMF([8], n_replicates=10, bootstrap=True, random_state=0).fit(noise)
    few = model.stability_ < 0.5
    assert few.any()
    for end in (*model.intervals_, model.importance_intervals_[0][:, None]):
        assert_array_equal(np.isnan(end), np.broadcast_to(few[:, None], end.shape))


@pytest.mark.parametrize("noise", ["cut at zero", "counts", "gamma"])
def test_intervals_hold_zeros_and_others_under_noise(noise, room, seeds):
    held = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        parts = rng.random((5, 40)) * (rng.random((5, 40)) < 0.4)
        parts /= np.linalg.norm(parts, axis=1, keepdims=True)
        signal = (rng.exponential(size=(500, 5)) * (rng.random((500, 5)) < 0.7)) @ parts
        if noise == "counts":
            X = rng.poisson(10 * signal) / 10
        elif noise == "gamma":
            X = signal * rng.gamma(10, 0.1, signal.shape)
        else:
            spread = 0.2 * signal.std()
            X = np.maximum(signal + spread * rng.standard_normal(signal.shape), 0)
        model = ConsensusNMF(5, n_replicates=40, bootstrap=True, random_state=seed).fit(X)
        low, high = (end[align(parts, model).order] for end in model.intervals_)
        inside = (low <= parts) & (parts <= high)
        held.append([inside[parts == 0].mean(), inside[parts > 0].mean(), (~np.isnan(low)).mean()])
    zeros, others, told = np.mean(held, axis=0)
    room.share(zeros, at_least=0.95)
    room.share(others, at_least=0.95)
    assert told >= 0.8


def test_of_counts_the_largest_number_that_comes_back_is_taken_and_both_rules_are_told(room, seeds):
    settings, found = {"loss": "kl", "n_replicates": 10, "random_state": 0}, []
    for seed in seeds:
        rng = np.random.default_rng(3 + seed)
        parts = rng.dirichlet(np.full(24, 0.2), 4)
        usages = rng.lognormal(0, 1, (150, 4)) * [1, 0.3, 0.05, 0.05]
        counts = rng.poisson(2000 * usages @ parts).astype(float)
        model = ConsensusNMF(range(2, 7), **settings).fit(counts)
        found.append(model.n_components_)
    room.near(np.median(found), 4, abs=1.5)
    choice = model.choice_
    assert choice.rule == "reproducibility"
    assert model.n_components_ == choice.by_reproducibility
    assert choice.reason.startswith("For counts the rule is reproducibility: errors on hidden")
    back = [model.consensus(rank).share.min() for rank in choice.ranks]
    assert_allclose(choice.weakest, back)
    by_error = ConsensusNMF([2, 4], rule="error", n_epochs=2, **settings).fit(counts).choice_
    assert by_error.rule == "error"
    assert by_error.rank == by_error.by_error
    real = ConsensusNMF([2, 3], n_epochs=2, **settings).fit(counts + 0.5).choice_
    assert real.rule == "error"
    assert real.reason.startswith("For measurements under a divergence the rule is error")


def test_starts_alone_under_a_divergence_differ():
    """Singular vectors, where a single model begins, would be one start for all."""
    X, _ = planted(n_rows=90)
    settings = {"n_replicates": 4, "holdout": 0.5, "bootstrap": False, "random_state": 0}
    found = []
    for init in ("auto", "svd"):
        model = ConsensusNMF([3], model=OnlineNMF(loss="kl", init=init), **settings)
        first, _, third, _ = model.partial_fit(X).replicates_[3]  # two that have the same rows
        found.append(np.abs(first.components_ - third.components_).max())
    assert found[0] > 1e-3
    assert found[1] < 1e-9  # what is asked for is kept


def test_an_atom_that_most_replicates_have_is_not_lost_to_one_that_varies(room):
    """Eight replicates in ten have both of two atoms that are alike; a third one has two forms.

    Distances within clusters are least with the two in one cluster, and one for each form.
    """
    rng, unit = np.random.default_rng(0), np.eye(30)
    fixed = np.array([unit[0], 0.7 * unit[0] + np.sqrt(0.51) * unit[1]])
    found = []
    for number in range(20):
        third = np.sqrt(0.3) * unit[10] + np.sqrt(0.7) * unit[11 + number % 2]
        second = fixed[1] if number % 5 else unit[13]
        found.append(np.abs([fixed[0], second, third] + 0.02 * rng.standard_normal((3, 30))))
    clusters = cluster(np.array(found))
    room.share((clusters.atoms @ fixed.T).max(axis=0).min(), at_least=0.95)
    room.share(np.sort(clusters.share)[1], at_least=0.7)


def test_replicates_refuse_to_move_the_rows():
    template = OnlineDictionaryLearning(3, scale="zscore")
    with pytest.raises(ValueError, match="scale the rows first"):
        ConsensusNMF([2], model=template).fit(np.random.default_rng(0).random((100, 8)))
