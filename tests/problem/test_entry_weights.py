"""Masks are missing entries in other words; weights of entries, against exact least squares."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import of_fields
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.coders import Auto
from atomstream.exceptions import DataWarning, IncompatiblePartsError
from atomstream.losses import Beta

MODELS = {
    "nmf": lambda **more: OnlineNMF(3, random_state=0, batch_size=20, **more),
    "kl": lambda **more: OnlineNMF(3, loss="kl", random_state=0, batch_size=20, n_epochs=2, **more),
    "signed": lambda **more: OnlineDictionaryLearning(3, random_state=0, n_epochs=2, **more),
    **of_fields("masks"),
}


def data(n=60, m=8, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, k)) @ rng.random((k, m)) + 0.05 * rng.random((n, m))
    return X, rng.random((n, m)) < 0.8


# -- masks


@pytest.mark.parametrize("name", MODELS)
def test_a_mask_equals_nan_to_the_bit(name):
    X, mask = data()
    holes = np.where(mask, X, np.nan)
    masked, plain = (MODELS[name](missing=True) for _ in range(2))
    masked.fit(X, mask=mask)
    plain.fit(holes)
    assert_array_equal(masked.components_, plain.components_)
    assert_array_equal(masked.transform(X, mask=mask), plain.transform(holes))
    assert_array_equal(masked.impute(X, mask=mask), plain.impute(holes))
    masked.partial_fit(X, mask=mask)
    plain.partial_fit(holes)
    assert_array_equal(masked.components_, plain.components_)


def test_what_stands_behind_a_mask_does_not_count():
    X, mask = data()
    other = np.where(mask, X, np.inf)
    other[~mask & (np.arange(8) % 2 == 0)] = -7.0
    known, odd = (MODELS["nmf"](missing=True).fit(it, mask=mask) for it in (X, other))
    assert_array_equal(odd.components_, known.components_)


def test_masked_arrays_keep_their_own_convention():
    """numpy.ma says True where an entry does not count; mask= says True where it does."""
    X, mask = data()
    learned = MODELS["nmf"](missing=True).fit(np.ma.masked_array(X, ~mask))
    assert_array_equal(
        learned.components_, MODELS["nmf"](missing=True).fit(X, mask=mask).components_
    )


@pytest.mark.parametrize("kind", [sp.csr_array, pd.DataFrame, np.ndarray.tolist])
def test_masks_of_other_kinds_of_data(kind):
    X, mask = data()
    learned = MODELS["nmf"](missing=True).fit(kind(X), mask=mask.astype(int))
    assert_allclose(
        learned.components_, MODELS["nmf"](missing=True).fit(X, mask=mask).components_, rtol=1e-12
    )


def test_fit_transform_hides_the_same_entries():
    X, mask = data()
    model = MODELS["nmf"](missing=True)
    assert_array_equal(model.fit_transform(X, mask=mask), model.transform(X, mask=mask))


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (np.ones((60, 7), bool), r"mask must be of shape \(60, 8\)"),
        (np.full((60, 8), 0.5), "mask must hold True where an entry was observed"),
    ],
)
def test_masks_that_are_none_are_refused(mask, words):
    with pytest.raises(ValueError, match=words):
        MODELS["nmf"](missing=True).fit(data()[0], mask=mask)


def test_a_mask_without_missing_says_what_to_write():
    X, mask = data()
    with pytest.raises(ValueError, match=r"mask hides \d+ entries; say missing=True"):
        MODELS["nmf"]().fit(X, mask=mask)
    full = np.ones_like(mask)
    assert_array_equal(
        MODELS["nmf"]().fit(X, mask=full).components_, MODELS["nmf"]().fit(X).components_
    )


# -- weights of entries


@pytest.mark.parametrize("name", ["nmf", "signed"])
def test_one_weight_for_all_entries_of_a_row_is_a_sample_weight(name):
    X, _ = data()
    rows = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    by_entry = MODELS[name]().fit(X, entry_weight=np.repeat(rows[:, None], 8, axis=1))
    by_row = MODELS[name]().fit(X, sample_weight=rows)
    assert_array_equal(by_entry.components_, by_row.components_)


def test_one_weight_for_all_entries_of_a_row_repeats_the_row():
    X, _ = data(12)
    counts = np.arange(12) % 4
    weights = np.repeat(counts[:, None], 8, axis=1)
    settings = {"init": X[:3], "random_state": 0, "coder": Auto(tol=1e-9)}
    weighted = OnlineNMF(3, **settings).partial_fit(X, entry_weight=weights)
    repeated = OnlineNMF(3, **settings).partial_fit(np.repeat(X, counts, axis=0))
    assert_allclose(weighted.components_, repeated.components_, rtol=1e-7)
    assert_allclose(weighted.memory_.gram, repeated.memory_.gram, rtol=1e-7)


@pytest.mark.parametrize("name", ["nmf", "signed"])
def test_weights_of_zero_and_one_are_a_mask(name):
    X, mask = data()
    by_weight = MODELS[name]().fit(X, entry_weight=mask)
    # A weight of zero alone does not call for a ridge.
    by_mask = MODELS[name](missing=True, ridge=0.0).fit(X, mask=mask)
    assert_allclose(by_weight.components_, by_mask.components_, rtol=1e-9)
    assert_allclose(
        by_weight.transform(X, entry_weight=mask), by_mask.transform(X, mask=mask), atol=1e-9
    )


@pytest.mark.parametrize("coder", ["active_set", "projected_gradient"])
def test_codes_are_those_of_weighted_least_squares(coder):
    X, mask = data()
    W = np.random.default_rng(2).uniform(0, 3, X.shape) * mask
    model = OnlineNMF(3, coder=coder, random_state=0).fit(X)
    codes, D = model.transform(X, entry_weight=W), model.components_
    for x, w, h in zip(X, W, codes, strict=True):
        exact, _ = nnls(D.T * np.sqrt(w)[:, None], x * np.sqrt(w))
        assert_allclose(h, exact, atol=1e-5)


def test_codes_with_a_penalty_take_weights_relative_to_the_largest_of_the_row():
    X, _ = data()
    W = np.random.default_rng(2).uniform(0.1, 3, X.shape)
    model = OnlineDictionaryLearning(3, alpha=0.1, ridge=0.05, random_state=0).fit(X)
    codes, D = model.transform(X, entry_weight=W), model.components_
    shares = W / W.max(axis=1, keepdims=True)
    slope = -((X - codes @ D) * shares) @ D.T + 0.05 * codes
    used = codes != 0
    assert_allclose(slope[used], -0.1 * np.sign(codes[used]), atol=1e-6)
    assert (np.abs(slope[~used]) <= 0.1 + 1e-6).all()
    assert_allclose(model.transform(X, entry_weight=7 * W), codes, atol=1e-8)


def test_the_end_is_that_of_exact_weighted_least_squares(room):
    """Alternating weighted least squares, row by row and column by column, is the oracle."""
    rng = np.random.default_rng(3)
    X = rng.random((40, 3)) @ rng.random((3, 6)) + 0.3 * rng.random((40, 6))
    W = 10 ** rng.uniform(-2, 0, X.shape)
    model = OnlineNMF(3, atoms="nonnegative", random_state=0).fit(X, entry_weight=W)

    def weighted(A, b, w):
        return nnls(A * np.sqrt(w)[:, None], b * np.sqrt(w))[0]

    def loss(H, D):
        return 0.5 * (W * (X - H @ D) ** 2).sum()

    H, D = model.transform(X, entry_weight=W), model.components_.copy()
    ours = loss(H, D)
    for _ in range(300):  # from our end: exact steps find next to nothing more
        D = np.stack([weighted(H, x, w) for x, w in zip(X.T, W.T, strict=True)]).T
        H = np.stack([weighted(D.T, x, w) for x, w in zip(X, W, strict=True)])
    room.ratio(ours / loss(H, D), at_most=1.02)
    plain = OnlineNMF(3, atoms="nonnegative", random_state=0).fit(X)
    room.fall(ours, loss(plain.transform(X, entry_weight=W), plain.components_), at_least=0.005)


def test_a_step_never_raises_the_weighted_objective():
    X, mask = data()
    W = np.random.default_rng(2).uniform(0, 3, X.shape) * mask
    # Of a model that begins with data the first batch would be learned to its end.
    model = OnlineNMF.from_components(X[:3], schedule="constant", random_state=0)
    model.set_params(schedule=lambda step, mass, total: 1.0)  # the last batch alone
    shares, tops = W / W.max(axis=1, keepdims=True), W.max(axis=1)
    values = []
    for _ in range(15):
        model.partial_fit(X, entry_weight=W)
        H = model.transform(X, entry_weight=W)
        rest = (shares * (X - H @ model.components_) ** 2).sum(axis=1)
        values.append(0.5 * (tops @ rest) / tops.sum())
    assert (np.diff(values) <= 1e-9).all()
    # what a step reports is the objective at the atoms before it
    model.set_params(coder__tol=1e-9).partial_fit(X, entry_weight=W)
    assert model.batch_objective_ == pytest.approx(values[-1], rel=1e-6)


def test_the_surrogate_is_the_weighted_loss_for_all_atoms():
    X, mask = data()
    W = np.random.default_rng(2).uniform(0, 3, X.shape) * mask
    # Atoms of any size: in a ball they would be scaled, and the codes of the memory with them.
    settings = {"atoms": "nonnegative", "coder": Auto(tol=1e-9), "random_state": 0}
    model = OnlineNMF.from_components(X[:3], **settings).partial_fit(X, entry_weight=W)
    shares, tops = W / W.max(axis=1, keepdims=True), W.max(axis=1)
    start = model.algorithm_.objective.atoms.prox(X[:3].copy(), 0.0)
    H = OnlineNMF.from_components(start).transform(X, entry_weight=W)
    rng = np.random.default_rng(4)

    def loss(D):
        return 0.5 * (tops @ (shares * (X - H @ D) ** 2).sum(axis=1)) / tops.sum()

    dictionary = model.state_.dictionary
    for D in (start, model.components_.copy(), rng.random((3, 8)), rng.random((3, 8))):
        dictionary.assign(D)
        assert model.memory_.value(dictionary) == pytest.approx(loss(D), rel=1e-5)


def test_weights_beside_missing_entries():
    X, mask = data()
    W = np.random.default_rng(2).uniform(0.1, 3, X.shape)
    holes = np.where(mask, X, np.nan)
    both = OnlineNMF(3, missing=True, ridge=0.0, random_state=0).fit(holes, entry_weight=W)
    zero = OnlineNMF(3, random_state=0).fit(np.where(mask, X, 0), entry_weight=W * mask)
    assert_allclose(both.components_, zero.components_, rtol=1e-9)


@pytest.mark.parametrize("scale", ["std", "max"])
def test_entries_without_weight_do_not_count_in_the_scale(scale):
    X, mask = data()
    settings = {"scale": scale, "batch_size": 20, "n_epochs": 3, "ridge": 0.0, "random_state": 0}
    odd = np.where(mask, X, 1e6)
    weighted = OnlineNMF(3, **settings).fit(odd, entry_weight=mask)
    masked = OnlineNMF(3, missing=True, **settings).fit(odd, mask=mask)
    assert_allclose(weighted.scaling_.divisor, masked.scaling_.divisor)
    assert_allclose(weighted.components_, masked.components_, rtol=1e-7)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones((60, 7)), r"entry_weight must be of shape \(60, 8\)"),
        (np.full((60, 8), -1.0), "entry_weight must be finite and not negative"),
        (np.full((60, 8), np.nan), "entry_weight must be finite and not negative"),
        (np.zeros((60, 8)), "positive weight"),
    ],
)
def test_weights_that_are_none_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        OnlineNMF(3).fit(data()[0], entry_weight=weights)


@pytest.mark.parametrize("model", [OnlineNMF(3, loss="l2"), OnlineNMF(3, updater="spsg")])
def test_models_that_cannot_weigh_entries_say_so(model):
    X, _ = data()
    with pytest.raises(IncompatiblePartsError, match="entry_weight needs"):
        model.fit(X, entry_weight=np.random.default_rng(0).random(X.shape))


# -- divergences and robust losses

LOSSES = ["kl", "huber", "hellinger", Beta(1.5)]


@pytest.mark.cover(2)
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_of_zero_and_one_are_a_mask_under_other_losses(loss):
    X, mask = data()
    model = OnlineNMF(3, loss=loss, missing=True, random_state=0, n_epochs=2).fit(X, mask=mask)
    half = np.where(mask, 1.0, 0.0)
    half[:, 0] *= 1 - 1e-12  # weights, and next to a mask
    assert_allclose(
        model.transform(X, entry_weight=half), model.transform(X, mask=mask), rtol=1e-4, atol=1e-5
    )
    near = OnlineNMF(3, loss=loss, missing=True, random_state=0, n_epochs=2)
    assert np.isfinite(near.fit(X, entry_weight=half).components_).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_codes_are_stationary_under_other_losses(loss):
    X, _ = data()
    W = np.random.default_rng(2).uniform(0.1, 3, X.shape)
    model = OnlineNMF(3, loss=loss, random_state=0).fit(X)
    codes, D = model.transform(X, entry_weight=W), model.components_
    slope = (W * model.algorithm_.objective.loss.gradient(X, codes @ D)) @ D.T
    size = (W * X).sum(axis=1).max() * D.sum(axis=1).max()
    assert (slope >= -1e-4 * size).all()
    assert (np.abs(slope * codes) <= 1e-4 * size).all()


def test_learning_weighted_divergences_ends_as_weighted_multiplicative_updates_do(room):
    X, _ = data(80, 10)
    X += 0.2 * np.random.default_rng(1).random(X.shape)
    W = 10 ** np.random.default_rng(2).uniform(-1, 1, X.shape)

    def loss(H, D):
        Y = H @ D
        return float((W * (X * np.log(X / Y) - X + Y)).sum())

    ends = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        H, D = rng.random((80, 3)), rng.random((3, 10))
        for _ in range(2000):
            H *= (W * X / (H @ D)) @ D.T / (W @ D.T)
            D *= H.T @ (W * X / (H @ D)) / (H.T @ W)
        ends.append(loss(H, D))
    model = OnlineNMF(3, loss="kl", random_state=0).fit(X, entry_weight=W)
    ours = loss(model.transform(X, entry_weight=W), model.components_)
    room.ratio(ours / min(ends), at_most=1.05)


@pytest.mark.parametrize("loss", ["kl", "huber"])
def test_one_weight_for_all_entries_gives_the_bits_of_none(loss):
    X, _ = data()
    settings = {"loss": loss, "random_state": 0, "n_epochs": 2}
    plain = OnlineNMF(3, **settings).fit(X)
    alike = OnlineNMF(3, **settings).fit(X, entry_weight=np.ones_like(X))
    assert_array_equal(alike.components_, plain.components_)


def test_a_stream_of_weighted_entries_is_told_of_too_few_first_rows():
    rng = np.random.default_rng(0)
    rows, weights = rng.random((120, 8)), rng.random((120, 8)) + 0.1
    few = "The first batch has 59 rows for 3 atoms.*give 60 rows or more at first"
    with pytest.warns(DataWarning, match=few) as told:
        model = OnlineNMF(3, random_state=0).partial_fit(rows[:59], entry_weight=weights[:59])
    assert len(told) == 1
    assert told[0].filename == __file__
    model.partial_fit(rows[:5], entry_weight=weights[:5])  # once
    OnlineNMF(3, random_state=0).partial_fit(rows[:60], entry_weight=weights[:60])
    # Rows that weigh nothing do not count; and where entries weigh alike nothing is wrong.
    weights[:3] = 0
    with pytest.warns(DataWarning, match="has 57 rows for 3 atoms"):
        OnlineNMF(3, random_state=0).partial_fit(rows[:60], entry_weight=weights[:60])
    OnlineNMF(3, random_state=0).partial_fit(rows[:5], entry_weight=np.ones((5, 8)))
    OnlineNMF(3, random_state=0).partial_fit(rows[:5])
    known = OnlineNMF.from_components(rows[:3], random_state=0)
    known.partial_fit(rows[:5], entry_weight=rng.random((5, 8)))
    held = OnlineNMF(3, init=rows[:3], fixed_components=2, random_state=0)
    held.partial_fit(rows[:20], entry_weight=rng.random((20, 8)))
    # `fit` has all rows.
    OnlineNMF(3, n_epochs=2, random_state=0).fit(rows[:10], entry_weight=rng.random((10, 8)))
