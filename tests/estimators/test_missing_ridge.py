"""Missing entries: the ridge that is found for them, and what is said of reconstructions."""

import numpy as np
import pytest
import scipy.sparse as sp

from atomstream import BatchNMF, OnlineDictionaryLearning, OnlineNMF, load, save
from atomstream.exceptions import DataWarning
from atomstream.loop.ridge import RIDGES
from atomstream.streams import OnDisk

FEW = {"n_components": 5, "missing": True, "random_state": 0}


def ratings(seed=0, shape=(120, 90), share=0.15):
    """Return made stars from 1 to 5, all of them, and with most of them missing."""
    rng = np.random.default_rng(seed)
    tastes = rng.standard_normal((shape[0], 3)) @ rng.standard_normal((3, shape[1]))
    true = 3.5 + 0.5 * rng.standard_normal((shape[0], 1)) + 0.5 * rng.standard_normal(shape[1])
    stars = np.clip(np.round(true + 0.4 * tastes + 0.5 * rng.standard_normal(shape)), 1, 5)
    seen = rng.random(shape) < share
    seen[np.arange(shape[0])[:, None], rng.integers(shape[1], size=(shape[0], 8))] = True
    return stars, np.where(seen, stars, np.nan)


def error(model, stars, X):
    unseen = np.isnan(X)
    predicted = model.inverse_transform(model.transform(X))
    return float(np.sqrt(np.mean((predicted - stars)[unseen] ** 2)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:In .* unseen entries:UserWarning")  # of the weakest ridges
def test_the_plain_call_predicts_as_well_as_the_best_ridge(room):
    ratios = []
    for seed in range(3):
        stars, X = ratings(seed)
        plain = error(OnlineNMF(**FEW).fit(X), stars, X)
        tried = [error(OnlineNMF(**FEW, ridge=ridge).fit(X), stars, X) for ridge in RIDGES[:6]]
        ratios.append(plain / min(tried))
    room.ratio(np.mean(ratios), at_most=1.05)


def test_a_ridge_that_was_found_is_the_same_as_one_given():
    X = ratings()[1]
    found = OnlineNMF(**FEW).fit(X)
    choice = found.chosen_["ridge"]
    assert RIDGES[-1] <= choice.value <= RIDGES[0]
    assert choice.guessed
    given = OnlineNMF(**FEW, ridge=choice.value).fit(X)
    np.testing.assert_array_equal(found.components_, given.components_)
    np.testing.assert_array_equal(found.transform(X), given.transform(X))


def test_a_second_fit_finds_its_ridge_anew():
    fresh, again = OnlineNMF(**FEW), OnlineNMF(**FEW)
    for seed in (0, 1):
        again.fit(ratings(seed)[1])
    fresh.fit(ratings(1)[1])
    assert again.chosen_["ridge"] == fresh.chosen_["ridge"]
    np.testing.assert_array_equal(again.components_, fresh.components_)


@pytest.mark.parametrize("kind", [OnlineNMF, OnlineDictionaryLearning])
def test_where_nothing_is_missing_nothing_changes(kind):
    X = ratings()[0]
    settings = {"n_components": 5, "alpha": 0.0, "n_epochs": 2, "random_state": 0}
    plain = kind(**settings, missing=True).fit(X)
    assert plain.chosen_["ridge"].value == 0
    np.testing.assert_array_equal(plain.components_, kind(**settings, ridge=0.0).fit(X).components_)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"loss": "kl"}, "the loss is not quadratic"),
        ({"alpha": 0.1}, "the penalty or the set of the codes holds them back"),
        ({"codes": "simplex"}, "the penalty or the set of the codes holds them back"),
    ],
)
@pytest.mark.filterwarnings("ignore:In .* unseen entries:UserWarning")
def test_no_ridge_is_sought_where_something_else_holds_codes_back(settings, why):
    model = OnlineNMF(**FEW, n_epochs=1, **settings).fit(ratings()[1])
    assert (model.chosen_["ridge"].value, model.chosen_["ridge"].why) == (0.0, why)


def test_a_stream_finds_it_in_the_first_batch_with_missing_entries():
    stars, X = ratings()
    model = OnlineNMF(**FEW).partial_fit(stars[:40])
    assert model.chosen_["ridge"].value == 0
    model.partial_fit(X[40:80])
    found = model.chosen_["ridge"]
    assert found.value > 0
    model.partial_fit(X[80:])
    assert model.chosen_["ridge"] is found


def test_a_model_from_a_file_goes_on_with_the_ridge_it_had(tmp_path):
    X = ratings()[1]
    model = OnlineNMF(**FEW).partial_fit(X[:60])
    save(model, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms").partial_fit(X[60:])
    model.partial_fit(X[60:])
    np.testing.assert_array_equal(model.components_, again.components_)
    np.testing.assert_array_equal(model.transform(X), again.transform(X))


def test_a_fit_of_its_own_finds_its_own():
    X = ratings()[1]
    model = OnlineNMF(**FEW, n_epochs=1).fit(X)
    first = model.chosen_["ridge"].value
    assert model.fit(ratings(1)[0]).chosen_["ridge"].value == 0
    assert model.fit(X).chosen_["ridge"].value == first


@pytest.mark.parametrize(
    "form",
    [
        np.ma.masked_invalid,
        OnDisk,
        sp.csr_array,
    ],
    ids=["masked", "stored", "sparse"],
)
def test_every_form_of_the_data_finds_the_same(form):
    X = ratings()[1]
    expected = OnlineNMF(**FEW, n_epochs=1).fit(X).chosen_["ridge"].value
    assert OnlineNMF(**FEW, n_epochs=1).fit(form(X)).chosen_["ridge"].value == expected


def test_float32_and_weights_of_entries_find_nearly_the_same():
    X = ratings()[1]
    expected = OnlineNMF(**FEW, n_epochs=1).fit(X).chosen_["ridge"].value
    single = OnlineNMF(**FEW, n_epochs=1).fit(X.astype(np.float32))
    assert single.components_.dtype == np.float32
    assert single.chosen_["ridge"].value == pytest.approx(expected, rel=0.1)
    ones = OnlineNMF(**FEW, n_epochs=1).fit(X, entry_weight=np.ones(X.shape))
    assert ones.chosen_["ridge"].value == pytest.approx(expected, rel=0.1)


def test_a_model_of_several_data_sets_finds_one_ridge_for_all():
    X = ratings()[1]
    model = BatchNMF(3, 1, missing=True, n_epochs=1, random_state=0)
    assert model.fit(X, batch=np.repeat([0, 1], 60)).chosen_["ridge"].value > 0


# -- what is said of reconstructions that cannot be believed


def wild():
    """Return rows of which some have one entry, which no code is determined by."""
    rng = np.random.default_rng(0)
    full = rng.random((80, 3)) @ rng.random((3, 12))
    few = np.where(rng.random((40, 12)) < 0.12, rng.random((40, 12)) * 3, np.nan)
    few[:, 0] = 1e-3
    return np.concatenate([full, few])


def test_reconstructions_beyond_the_data_are_told_by_fit_transform_and_impute():
    X = wild()
    model = OnlineNMF(8, missing=True, ridge=0.0, n_epochs=3, random_state=0)
    said = r"unseen entries are reconstructed as up to .* where observed ones lie between 0\.001 "
    with pytest.warns(DataWarning, match=said):
        model.fit(X)
    with pytest.warns(DataWarning, match=said):
        model.transform(X)
    with pytest.warns(DataWarning, match=r"ridge='auto', or 0.001 \(weak\) to 0.3 \(strong\)"):
        model.impute(X)


def test_zeros_of_sparse_rows_are_no_missing_entries_and_that_is_said():
    X = sp.csr_array(np.nan_to_num(ratings()[1]))
    with pytest.warns(DataWarning, match=r"give mask=X != 0; zeros that are stored then count"):
        OnlineNMF(**FEW, n_epochs=1).fit(X)
    masked = OnlineNMF(**FEW, n_epochs=1).fit(X, mask=X != 0)  # and says nothing
    assert masked.chosen_["ridge"].value > 0
