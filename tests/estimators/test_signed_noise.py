"""Negative entries, as noise makes them: factors are nonnegative, data under squared errors need
not be.

OnlineCPDictionary(3).fit(T); online_parafac(T, 3)          # T may be negative here and there
OnlineNMF(3).fit(X)                                         # refuses, and names what takes them
"""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import atomstream
from atomstream import (
    OnlineCPDictionary,
    OnlineDictionaryLearning,
    OnlineNMF,
    SupervisedDictionary,
    online_parafac,
)
from atomstream.exceptions import DataWarning
from atomstream.fields.tensors.loadings import khatri_rao

SHAPE = (24, 14, 10)


def tensor(noise, seed=0):
    """Return a tensor of three nonnegative parts with noise, and its loadings."""
    rng = np.random.default_rng(seed)
    first = rng.exponential(size=(SHAPE[0], 3))
    others = [rng.random((size, 3)) ** 4 for size in SHAPE[1:]]
    T = np.einsum("ir,jr,kr->ijk", first, *others)
    return T + noise * rng.standard_normal(T.shape), [first, *others]


def cosines(found, true):
    """Return the cosines of the rank-one parts of loadings with the true ones, best first."""
    one, other = (
        khatri_rao([each / np.linalg.norm(each, axis=0) for each in a]) for a in (found, true)
    )
    return (one.T @ other).max(axis=0)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"atoms": "nonnegative"},
        {"atoms": "bounded", "coder": "projected_gradient"},
        {"init": "samples"},
        {"coder": "multiplicative"},
        {"missing": True},
        {"sample_mode": 2},
        {"sparse": True},
    ],
    ids=str,
)
def test_nonnegative_factors_of_a_tensor_with_signed_noise(given, room):
    T, true = tensor(0.03)
    assert 0.01 < (T < 0).mean() < 0.2
    sparse = given.pop("sparse", False) if (given := dict(given)) else False
    if given.get("missing"):
        T[3, 2, 1], T[5] = np.nan, np.where(T[5] < 0, np.nan, T[5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cp = online_parafac(sp.coo_array(T) if sparse else T, 3, random_state=0, **given)
    assert min(factor.min() for factor in cp.factors) >= 0
    clean, _ = tensor(0.0)
    left = np.linalg.norm(cp.to_tensor() - clean) / np.linalg.norm(clean)
    room.error(left, at_most=0.1)
    room.share(cosines(cp.factors, true).min(), at_least=0.97)


def test_a_dictionary_of_tensors_learns_from_a_stream_with_signed_noise(room):
    T, true = tensor(0.03)
    model = OnlineCPDictionary(3, batch_size=12, n_epochs=40, random_state=0).fit(T)
    assert min(U.min() for U in model.loadings_) >= 0
    assert model.transform(T).min() >= 0
    room.share(cosines(model.loadings_, true[1:]).min(), at_least=0.97)
    before = model.objective(T)
    model.partial_fit(T)
    assert model.objective(T) <= 1.01 * before


@pytest.mark.parametrize("coder", ["auto", "multiplicative", "projected_gradient"])
def test_codes_of_rows_with_signed_noise_are_minima(coder):
    rng = np.random.default_rng(0)
    atoms, X = rng.random((4, 9)), rng.standard_normal((60, 9))
    given = {"codes": "nonnegative", "alpha": 0.05, "coder": coder}
    codes = OnlineDictionaryLearning.from_components(atoms, **given).transform(X)
    slope = (codes @ atoms - X) @ atoms.T + 0.05
    assert slope.min() > -1e-5
    assert np.abs(slope * codes).max() < 1e-5


@pytest.mark.parametrize("updater", ["majorise", "spsg"])
def test_updates_of_nonnegative_atoms_by_signed_rows_go_down(updater, room):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(300, 3)) @ rng.random((3, 10)) + 0.2 * rng.standard_normal((300, 10))
    sets = {"codes": "nonnegative", "atoms": "nonnegative_ball", "alpha": 0.0, "random_state": 0}
    best = OnlineDictionaryLearning(3, **sets).fit(X).objective(X)
    model = OnlineDictionaryLearning(3, updater=updater, **sets).fit(X)
    room.ratio(model.objective(X) / best, at_most=1.3)


def test_subgradient_steps_learn_signed_atoms(room):
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((4, 10))
    X = rng.laplace(size=(200, 4)) @ atoms + 0.05 * rng.standard_normal((200, 10))
    best = OnlineDictionaryLearning(4, alpha=0.01, random_state=0).fit(X).objective(X)
    for given in ({"updater": "spsg"}, {"coder": "projected_subgradient"}):
        model = OnlineDictionaryLearning(4, alpha=0.01, n_epochs=20, random_state=0, **given).fit(X)
        room.ratio(model.objective(X) / best, at_most=1.6)


def test_labels_are_predicted_from_rows_with_signed_noise(room):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = rng.random((200, 1)) * np.eye(2)[y] @ rng.random((2, 8)) + 0.05 * rng.standard_normal(
        (200, 8)
    )
    model = SupervisedDictionary(3, random_state=0).fit(X, y)
    assert model.components_.min() >= 0
    room.share(model.score(X, y), at_least=0.7)


def test_data_that_nonnegative_factors_cannot_fit_are_told():
    X = np.random.default_rng(0).standard_normal((40, 5, 4))
    told = (
        r"Negative entries have \d+% of the energy of X, .*say codes='free' and atoms='unit_ball'"
    )
    with pytest.warns(DataWarning, match=told):
        model = OnlineCPDictionary(3, n_epochs=2, random_state=0).fit(-np.abs(X))
    assert np.isfinite(model.components_).all()
    with pytest.warns(DataWarning, match=told):
        SupervisedDictionary(3, random_state=0).fit(X[:, 0], np.arange(40) % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OnlineCPDictionary(3, codes="free", atoms="unit_ball", n_epochs=2, random_state=0).fit(X)


# -- where they are refused


@pytest.mark.parametrize("loss", ["squared", "kl", "is", "huber", "hellinger", "trimmed"])
def test_a_refusal_names_a_model_that_takes_the_data(loss):
    rng = np.random.default_rng(0)
    X = rng.random((60, 3)) @ rng.random((3, 8)) + 0.3 * rng.standard_normal((60, 8))
    with pytest.raises(ValueError, match="Negative values") as refusal:
        OnlineNMF(3, loss=loss).fit(X)
    named = re.search(r"use (OnlineDictionaryLearning\(.*?\))", str(refusal.value))[1]
    model = eval(named, vars(atomstream)).set_params(n_components=3, alpha=0.0).fit(X)
    assert model.components_.min() >= 0
    assert model.transform(X).min() >= 0


def test_no_message_tells_to_shift_data():
    folder = Path(atomstream.__file__).parent
    said = [
        p.name for p in folder.rglob("*.py") if re.search("shift the data|shift it", p.read_text())
    ]
    assert said == []


def test_places_are_those_of_the_data_as_they_were_given(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = np.abs(np.random.default_rng(0).standard_normal((30, 3))) + 0.1
    X[7, 1] = -1
    with pytest.raises(ValueError, match=r"first in row 7, column 1, counted from 0"):
        OnlineNMF(2).fit(X)
    with pytest.raises(ValueError, match=r"first in row 7, column 1, counted from 0"):
        OnlineNMF(2).fit(sp.csr_array(X))
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"first in row 7, column 'b', counted from 0"):
        OnlineNMF(2).fit(frame)
    frame.loc[7, "b"] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN \(first in row 7, column 'b', counted"):
        OnlineNMF(2).fit(frame)
    X[7, 1] = 0
    # Batches have the rows in another order.
    with pytest.raises(ValueError, match=r"contains zeros \(first in row 7, column 1, counted"):
        OnlineNMF(2, loss=atomstream.losses.ItakuraSaito("refuse"), batch_size=4).fit(X)


@pytest.mark.parametrize("reshape", [None, [(1, 0)], [(1,), (0,)]])
def test_places_in_tensors_are_those_of_their_axes(reshape):
    T, _ = tensor(0.0)
    T[5, 4, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN \(first in sample 5, entry \(4, 2\), counted from"):
        OnlineCPDictionary(2, reshape=reshape).fit(T)
    flat = T.reshape(len(T), -1)
    with pytest.raises(ValueError, match=r"NaN \(first in sample 5, entry 42, counted from 0"):
        OnlineCPDictionary(2).fit(flat)


def test_places_in_labelled_tensors_have_names():
    xarray = pytest.importorskip("xarray")
    T, _ = tensor(0.0)
    T[5, 4, 2] = np.inf
    named = xarray.DataArray(T, dims=["sample", "excitation", "emission"])
    with pytest.raises(ValueError, match=r"first in sample 5, excitation 4, emission 2, counted"):
        OnlineCPDictionary(2).fit(named)


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("sparse", [False, True])
def test_places_in_streamed_tensors_are_those_of_the_whole(mode, sparse):
    T, _ = tensor(0.0)
    T[5, 4, 2] = np.nan
    X = sp.coo_array(np.where(T > 0.1, T, 0) + np.where(np.isnan(T), T, 0)) if sparse else T
    with pytest.raises(ValueError, match=r"contains NaN \(first at \(5, 4, 2\), counted from 0\)"):
        online_parafac(X, 2, sample_mode=mode, random_state=0)


def test_coordinates_that_are_not_negative_keep_their_bits():
    """Squares have a split of their own for negative entries; others are as they were."""
    rng = np.random.default_rng(0)
    X, Y = rng.random((5, 6)), rng.random((5, 6))
    plus, minus = atomstream.losses.Squared().split(X, Y)
    assert_allclose(plus, Y, rtol=0, atol=0)
    assert_allclose(minus, X, rtol=0, atol=0)
    plus, minus = atomstream.losses.Squared().split(X - 0.5, Y)
    assert min(plus.min(), minus.min()) >= 0
    assert_allclose(plus - minus, Y - X + 0.5, atol=1e-15)
