"""Tensors with negative entries, as noise makes them: their factors stay nonnegative."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from atomstream import OnlineCPDictionary, online_parafac
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


def test_data_that_nonnegative_factors_cannot_fit_are_told():
    X = np.random.default_rng(0).standard_normal((40, 5, 4))
    told = (
        r"Negative entries have \d+% of the energy of X, .*say codes='free' and atoms='unit_ball'"
    )
    with pytest.warns(DataWarning, match=told):
        model = OnlineCPDictionary(3, n_epochs=2, random_state=0).fit(-np.abs(X))
    assert np.isfinite(model.components_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OnlineCPDictionary(3, codes="free", atoms="unit_ball", n_epochs=2, random_state=0).fit(X)


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
