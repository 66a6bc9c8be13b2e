"""Rounds over all of the data: they never raise the objective and end where batch methods end."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from cases import of_fields
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from atomstream import BatchNMF, NotConvergedWarning, OnlineDictionaryLearning, OnlineNMF
from atomstream.loop import settling


def mixed(n=150, d=20, r=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, r)) ** 3 @ rng.random((r, d)) + 0.02 * rng.random((n, d))


def batches(model, X, size=64):
    return [model._to_batch(X[start : start + size]) for start in range(0, X.shape[0], size)]


CASES = {
    "squared": (OnlineNMF, {}),
    "lasso": (OnlineNMF, {"alpha": 0.05}),
    "kl": (OnlineNMF, {"loss": "kl"}),
    "is": (OnlineNMF, {"loss": "is"}),
    "beta:1.5": (OnlineNMF, {"loss": "beta:1.5", "alpha": 0.01}),
    "sparse kl": (OnlineNMF, {"loss": "kl", "sparse": True}),
    "missing": (OnlineNMF, {"missing": True}),
    "simplex": (OnlineNMF, {"codes": "simplex"}),
    "signed": (OnlineDictionaryLearning, {}),
}


@pytest.mark.cover(2)
@pytest.mark.parametrize("case", CASES)
def test_no_round_raises_the_objective(case):
    kind, params = CASES[case]
    params = dict(params)
    X = mixed()
    if params.pop("sparse", False):
        X = sp.csr_array(np.where(np.median(X) < X, X, 0))
    if params.get("missing"):
        X = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    model = kind(4, n_epochs=1, random_state=0, **params).fit(X)
    found = [
        progress.delta.objective / progress.delta.mass
        for progress in settling.rounds(
            batches(model, X), model.state_, model.algorithm_, model.clock_
        )
    ]
    assert len(found) > 2
    # codes are searched to an accuracy, so that a round may be worse by about that
    assert (np.diff(found) <= 1e-4 * np.abs(found[:-1])).all()
    assert found[-1] < found[0]


def test_the_memory_holds_what_the_last_codes_add_up_to_and_nothing_else(room):
    X = mixed()
    model = OnlineNMF(4, random_state=0).fit(X)
    codes = model.transform(X)
    room.near(model.memory_.gram, codes.T @ codes / len(X), rel=0.02)
    room.near(model.memory_.cross, codes.T @ X / len(X), rel=0.02)


@pytest.mark.parametrize(
    ("name", "rank"),
    [("iris", 2), ("mixed", 4), pytest.param("digits", 10, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("loss", ["squared", "kl"])
@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
@pytest.mark.filterwarnings("ignore:Column 0")  # of iris, more than half of the energy
def test_fit_ends_where_batch_factorization_ends(name, rank, loss, room, seeds):
    X = {"iris": lambda: load_iris().data, "digits": lambda: load_digits().data, "mixed": mixed}[
        name
    ]()
    kl = {"solver": "mu", "beta_loss": "kullback-leibler"} if loss == "kl" else {}
    batch = NMF(rank, init="nndsvda", max_iter=500, random_state=0, **kl).fit(X)
    ends = [
        np.sqrt(2 * OnlineNMF(rank, loss=loss, random_state=seed).fit(X).losses(X).sum())
        for seed in seeds
    ]
    room.ratio(np.median(ends) / batch.reconstruction_err_, at_most=1.01)


def test_passes_that_are_asked_for_are_all_there_is(room):
    X = mixed()
    asked = OnlineNMF(4, n_epochs=3, batch_size=50, random_state=0).fit(X)
    assert asked.n_steps_ == 9
    default = OnlineNMF(4, random_state=0).fit(X)
    room.error(default.losses(X).sum(), at_most=asked.losses(X).sum())


def test_a_fit_that_has_not_settled_warns(monkeypatch):
    monkeypatch.setattr(settling, "MIN_GAIN", -1.0)
    with pytest.warns(ConvergenceWarning, match="ended after 500 rounds over all rows") as told:
        OnlineNMF(2, random_state=0).fit(mixed(30, 5, 2))
    assert told[0].category is NotConvergedWarning


@pytest.mark.parametrize("weigh", [False, True])
def test_a_fit_that_leaves_next_to_nothing_does_not_warn(weigh, monkeypatch, recwarn):
    monkeypatch.setattr(settling, "MIN_GAIN", -1.0)
    monkeypatch.setattr(settling, "FINE_GAIN", -1.0)
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(60, 3)) @ rng.random((3, 8))
    more = {"entry_weight": 10 ** rng.uniform(-2, 2, X.shape)} if weigh else {}
    OnlineNMF(3, random_state=0).fit(X, **more)
    assert not recwarn


def test_time_ends_the_rounds(monkeypatch, recwarn):
    monkeypatch.setattr(settling, "MIN_GAIN", -1.0)  # they would not end by themselves
    model = OnlineNMF(4, max_time=1e-9, random_state=0).fit(mixed())
    assert model.n_steps_ == 1
    assert not recwarn


def test_robust_losses_end_with_codes_of_all_features_on_clean_rows():
    X = mixed()
    ten = OnlineNMF(4, loss="huber", n_epochs=10, random_state=0).fit(X)
    default = OnlineNMF(4, loss="huber", random_state=0).fit(X)
    assert default.losses(X).sum() < ten.losses(X).sum()


def test_a_settled_model_goes_on_with_a_stream(room):
    X = mixed()
    model = OnlineNMF(4, random_state=0).fit(X)
    before = model.losses(X).sum()
    model.partial_fit(X[:50])
    room.ratio(model.losses(X).sum() / before, at_most=1.1)


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_rounds_do_not_depend_on_how_the_data_are_cut(loss):
    X, ends = mixed(), []
    for size in (150, 37):
        model = OnlineNMF(4, loss=loss, n_epochs=1, random_state=0).fit(X)
        steps = settling.rounds(
            batches(model, X, size), model.state_, model.algorithm_, model.clock_
        )
        ends.append([(next(steps).delta.objective, model.components_.copy()) for _ in range(3)])
    for (one, atoms), (other, others) in zip(*ends, strict=True):
        assert_allclose(one, other, rtol=1e-9)
        assert_allclose(atoms, others, rtol=1e-6, atol=1e-12)


def test_codes_are_searched_from_their_last_values(monkeypatch):
    X, starts = mixed(), []
    model = OnlineNMF(4, n_epochs=1, random_state=0).fit(X)
    coder = type(model.algorithm_.coder)
    encode = coder.encode

    def watched(self, batch, dictionary, objective, accuracy, start=None):
        found = encode(self, batch, dictionary, objective, accuracy, start)
        starts.append((start, found.values))
        return found

    monkeypatch.setattr(coder, "encode", watched)
    steps = settling.rounds(batches(model, X, 200), model.state_, model.algorithm_, model.clock_)
    for _ in range(3):
        next(steps)
    assert starts[0][0] is None
    assert all(later[0] is earlier[1] for earlier, later in pairwise(starts))


def test_codes_of_many_more_atoms_than_features_are_rough_and_still_never_worse(room):
    X = mixed()
    model = OnlineNMF(65, n_epochs=1, random_state=0).fit(X)
    assert model.algorithm_.objective.loss.quadratic
    steps = settling.rounds(batches(model, X), model.state_, model.algorithm_, model.clock_)
    found = [step.delta.objective / step.delta.mass for step in steps]
    assert len(found) > 2
    assert (np.diff(found) <= 1e-9 * found[0]).all()
    room.error(found[-1], at_most=1e-3 * found[0])


@pytest.mark.parametrize(("n_atoms", "violation"), [(4, 1e-3), (64, 1e-3), (65, 0.05)])
def test_how_exactly_codes_are_searched(monkeypatch, n_atoms, violation):
    X, asked = mixed(), []
    model = OnlineNMF(n_atoms, n_epochs=1, random_state=0).fit(X)
    coder = type(model.algorithm_.coder)
    encode = coder.encode

    def watched(self, batch, dictionary, objective, accuracy, start=None):
        asked.append(accuracy.violation)
        return encode(self, batch, dictionary, objective, accuracy, start)

    monkeypatch.setattr(coder, "encode", watched)
    next(settling.rounds(batches(model, X), model.state_, model.algorithm_, model.clock_))
    assert set(asked) == {violation}


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_settling_after_passes_is_the_end_of_a_fit(loss):
    X = np.random.default_rng(0).gamma(0.5, size=(120, 8))
    whole = OnlineNMF(3, loss=loss, batch_size=32, random_state=0).fit(X)
    passes = OnlineNMF(3, loss=loss, batch_size=32, n_epochs=10, random_state=0).fit(X)
    assert not np.array_equal(passes.components_, whole.components_)
    assert_array_equal(passes.settle(X).components_, whole.components_)


def test_settling_needs_a_model_and_leaves_it_where_rows_are_wrong():
    X = np.random.default_rng(0).random((60, 5))
    with pytest.raises(NotFittedError):
        OnlineNMF(2).settle(X)
    model = OnlineNMF(2, n_epochs=2, random_state=0).fit(X)
    before = model.components_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.settle(np.where(X > 0.9, np.nan, X))
    assert_array_equal(model.components_, before)
    assert model.objective(X) > model.settle(X).objective(X)


def noisy_powers(seed=0):
    rng = np.random.default_rng(seed)
    return (rng.gamma(0.5, size=(300, 5)) @ rng.gamma(0.3, size=(5, 40)) + 1e-3) * rng.gamma(
        1.0, size=(300, 40)
    ) + 1e-6


MORE = {
    "squared": (OnlineNMF, {}, lambda: load_digits().data[:400] / 16),
    "kl": (OnlineNMF, {"loss": "kl"}, lambda: load_digits().data[:400] / 16),
    "is": (OnlineNMF, {"loss": "is"}, noisy_powers),
    "signed": (OnlineDictionaryLearning, {"alpha": 0.05}, mixed),
    "data sets": (BatchNMF, {"n_shared": 3, "n_own": 1}, lambda: mixed()),
    **of_fields("more_passes"),
}


@pytest.mark.parametrize("case", MORE)
def test_more_passes_do_not_end_worse(case, room):
    kind, params, make = MORE[case]
    X, ratios = make(), []
    known = params if kind is BatchNMF else {"n_components": 5} | params
    data = {"batch": np.arange(len(X)) % 2} if kind is BatchNMF else {}
    for seed in range(3):
        default = kind(**known, random_state=seed).fit(X, **data)
        more = kind(**known, n_epochs=40, random_state=seed).fit(X, **data)
        ratios.append(more.objective(X) / default.objective(X))
    room.ratio(max(ratios), at_most=1.05)
    room.ratio(np.exp(np.log(ratios).mean()), at_most=1.02)


def test_rounds_follow_more_than_ten_passes():
    X = mixed()
    ten, eleven = (OnlineNMF(4, n_epochs=n, random_state=0).fit(X) for n in (10, 11))
    assert (ten.n_iter_, ten.n_steps_, eleven.n_steps_) == (10, 10, 11)
    assert eleven.n_iter_ > 11
    assert eleven.objective(X) < ten.objective(X)
