"""The end under Kullback-Leibler: entry by entry, and where batch methods do not get to."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_wine
from sklearn.decomposition import NMF
from twins import plain_sweep

from atomstream import OnlineNMF
from atomstream._kernels.divergence import sweep
from atomstream.loop import coordinates
from atomstream.loop.coordinates import Alternation, Factors
from atomstream.problem import Accuracy, Batch


def planted(n=60, d=12, r=3, seed=0, share=1.0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, r)) @ rng.random((r, d)) + 0.1 * rng.random((n, d))
    return X * (rng.random((n, d)) < share)


def begun(X, r, seed=1):
    rng = np.random.default_rng(seed)
    return Factors(rng.random((X.shape[0], r)), rng.random((X.shape[1], r)))


def divergence(X, found, weights=1.0):
    Y = found.codes @ found.loads.T
    logs = X * np.log(np.where(X > 0, X, 1) / np.where(X > 0, Y, 1))
    return float((weights * (logs - X + Y)).sum())


@pytest.mark.parametrize("share", [1.0, 0.4])
@pytest.mark.parametrize("n_totals", [1, 60])
def test_the_kernel_is_its_plain_function(share, n_totals):
    X = sp.csr_array(planted(share=share))
    start, still = begun(X, 4), np.array([[False, True, False, False]])
    if n_totals > 1:  # every row may keep entries of its own
        still = np.arange(60)[:, None] % 5 == [0, 1, 2, 3]
    atoms, stored = np.ascontiguousarray(start.loads.T), (X.indptr, X.indices, X.data)
    totals = np.random.default_rng(4).uniform(0.5, 1, (n_totals, 12)) @ start.loads
    ends = []
    for function in (sweep, plain_sweep):
        codes, fitted = start.codes.copy(), np.empty(X.nnz)
        for _ in range(3):
            function(codes, stored, atoms, totals, still, fitted)
        ends.append((codes, fitted))
    assert_allclose(ends[0][0], ends[1][0], rtol=1e-9, atol=1e-12)
    assert_allclose(ends[0][1], ends[1][1], rtol=1e-9, atol=1e-12)
    kept = np.broadcast_to(still, start.codes.shape)
    assert (ends[0][0][kept] == start.codes[kept]).all()


def test_an_entry_ends_at_its_minimum():
    rng = np.random.default_rng(0)
    x, atom = rng.random(20), rng.random(20)
    X, code, fitted = sp.csr_array(x[None]), np.array([[50.0]]), np.empty(20)
    for _ in range(3):
        stored, total = (X.indptr, X.indices, X.data), np.array([[atom.sum()]])
        sweep(code, stored, atom[None], total, np.array([[False]]), fitted)
    best = minimize_scalar(
        lambda h: (h * atom - x * np.log(h * atom)).sum(), bounds=(1e-3, 50), method="bounded"
    ).x
    assert code[0, 0] == pytest.approx(best, rel=1e-4)
    assert_allclose(fitted, code[0, 0] * atom, rtol=1e-12)


@pytest.mark.parametrize("share", [1.0, 0.4])
@pytest.mark.parametrize("weighs", ["rows", "entries", "mask"])
def test_no_sweep_raises_the_divergence_and_it_is_told_exactly(share, weighs):
    X, rng, shares = planted(share=share), np.random.default_rng(2), None
    weights = rng.uniform(0.5, 2, (60, 1))
    if weighs != "rows":
        shares = rng.random(X.shape) if weighs == "entries" else 1.0 * (rng.random(X.shape) < 0.8)
        X = np.where(shares > 0, X, 0)
    descent = Alternation(X, weights[:, 0], np.zeros(4, bool), shares).descend(begun(X, 4))
    weights = weights if shares is None else weights * shares
    last = np.inf
    for _ in range(60):
        found, value = next(descent)
        assert value <= last * (1 + 1e-14)
        assert value == pytest.approx(divergence(X, found, weights), rel=1e-9)
        last = value


def test_weights_are_repetitions():
    X, times = planted(20), np.random.default_rng(3).integers(1, 4, 20)
    still, start = np.zeros(3, bool), begun(X, 3)
    once = Alternation(X, times.astype(float), still).descend(start)
    again = Factors(np.repeat(start.codes, times, axis=0), start.loads)
    often = Alternation(np.repeat(X, times, axis=0), np.ones(times.sum()), still).descend(again)
    for _ in range(5):
        (one, value), (other, same) = next(once), next(often)
    assert value == pytest.approx(same, rel=1e-9)
    assert_allclose(one.loads, other.loads, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("fixed", [0, 1])
def test_features_without_entries_count_as_one(monkeypatch, fixed):
    X, rng, models = np.zeros((60, 50)), np.random.default_rng(5), []
    X[:, rng.choice(50, 12, replace=False)] = planted()
    init = rng.random((3, 50)) + 0.1  # the fixed atom has most of its entries elsewhere
    init /= init.sum(axis=1, keepdims=True)
    settings = {"loss": "kl", "fixed_components": fixed, "random_state": 0}
    monkeypatch.setattr(coordinates, "ROUGH", Accuracy(violation=1e-10))
    for form in (sp.csr_array, np.asarray):
        model = OnlineNMF.from_components(init, **settings).settle(form(X))
        assert model.memory_.columns is not None
        models.append(model)
    monkeypatch.setattr(Batch, "touched", None)
    whole = OnlineNMF.from_components(init, **settings).settle(X)
    assert whole.memory_.columns is None
    for model in models:
        assert_allclose(model.components_, whole.components_, atol=1e-4)
        assert model.objective(X) == pytest.approx(whole.objective(X), rel=1e-6)
        assert model.surrogate() == pytest.approx(whole.surrogate(), rel=1e-6)


def test_data_that_can_be_fitted_exactly_are(room):
    X = np.random.default_rng(0).random((50, 7)) + 0.1
    model = OnlineNMF(7, loss="kl", random_state=0).fit(X)
    room.error(model.batch_objective_, at_most=1e-9)


def test_the_end_is_that_of_batch_updates_which_take_thousands_of_rounds(room):
    X = load_wine().data
    kl = {"solver": "mu", "beta_loss": "kullback-leibler", "tol": 0}
    batch = NMF(4, init="nndsvda", max_iter=8000, random_state=0, **kl).fit(X)
    model = OnlineNMF(4, loss="kl", random_state=0).fit(X)
    end = 0.5 * batch.reconstruction_err_**2
    room.ratio(model.batch_objective_ * len(X) / end, at_most=1.01)


def test_what_is_settled_by_coordinates(monkeypatch):
    X, asked = planted(), []
    found = coordinates.settles_by_coordinates

    def watched(batches, algorithm):
        asked.append(found(batches, algorithm))
        return asked[-1]

    monkeypatch.setattr("atomstream.loop.coordinates.settles_by_coordinates", watched)
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    for data, how in [
        (X, {}),
        (sp.csr_array(X), {}),
        (X, {"atoms": "simplex"}),
        (X, {"loss": "is"}),
        (X, {"alpha": 0.1}),
        (X, {"codes": "simplex"}),
        (holes, {"missing": True}),
    ]:
        OnlineNMF(3, **{"loss": "kl", "random_state": 0, **how}).fit(data)
    assert asked == [True, True, True, False, False, False, True]


def test_fixed_atoms_and_rows_of_weight_zero_stay_out_of_it():
    X, known = planted(), np.random.default_rng(5).random((3, 12)).astype(float)
    weights = np.r_[np.zeros(10), np.ones(50)]
    how = {"loss": "kl", "init": known, "fixed_components": 1, "random_state": 0}
    model = OnlineNMF(3, **how).fit(X, sample_weight=weights)
    assert (model.components_[0] == known[0]).all()
    noise = np.vstack([100 * X[:10], X[10:]])
    other = OnlineNMF(3, **how).fit(noise, sample_weight=weights)
    assert_allclose(model.components_, other.components_, rtol=1e-6, atol=1e-9)
