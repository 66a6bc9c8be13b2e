"""Atoms that stay: the first ones, those of a mask, or those with given indices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import OnlineDictionaryLearning, OnlineNMF, load, save
from atomstream.coders import Auto

X = np.random.default_rng(1).random((120, 10))
ATOMS = np.random.default_rng(0).random((4, 10))
KINDS = {
    "squared": lambda **more: OnlineNMF(4, n_epochs=3, random_state=0, **more),
    "kl": lambda **more: OnlineNMF(4, loss="kl", n_epochs=3, random_state=0, **more),
    "spsg": lambda **more: OnlineNMF(4, updater="spsg", n_epochs=3, random_state=0, **more),
    "signed": lambda **more: OnlineDictionaryLearning(4, n_epochs=3, random_state=0, **more),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chosen", [[False, True, False, True], (1, 3), np.array([3, 1])])
def test_these_atoms_stay_and_the_others_move(kind, chosen):
    model = KINDS[kind](init=ATOMS, fixed_components=chosen).fit(X)
    start = KINDS[kind](init=ATOMS, fixed_components=4).fit(X).components_
    assert_array_equal(model.components_[[1, 3]], start[[1, 3]])
    assert (np.abs(model.components_ - start)[[0, 2]].max(axis=1) > 1e-3).all()


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_same_problem_in_another_order(kind):
    order = [1, 3, 0, 2]
    places = KINDS[kind](init=ATOMS, fixed_components=(1, 3), coder=Auto(tol=1e-9)).fit(X)
    first = KINDS[kind](init=ATOMS[order], fixed_components=2, coder=Auto(tol=1e-9)).fit(X)
    assert_allclose(places.components_[order], first.components_, rtol=1e-4, atol=1e-6)
    assert places.surrogate() == pytest.approx(first.surrogate(), rel=1e-5)
    assert places.stationarity(X) == pytest.approx(first.stationarity(X), rel=1e-2, abs=1e-7)


def test_first_atoms_in_any_words_are_the_same_bits():
    plain = KINDS["squared"](init=ATOMS, fixed_components=2).fit(X)
    for chosen in ([0, 1], [True, True, False, False], np.array([1, 0])):
        other = KINDS["squared"](init=ATOMS, fixed_components=chosen).fit(X)
        assert_array_equal(other.components_, plain.components_)
    nothing = KINDS["squared"](init=ATOMS).fit(X)
    none = KINDS["squared"](init=ATOMS, fixed_components=[False] * 4).fit(X)
    assert_array_equal(none.components_, nothing.components_)


def test_these_atoms_stay_while_the_scale_is_learned():
    model = OnlineNMF(4, init=ATOMS, fixed_components=[1, 3], scale="std", random_state=0)
    model.partial_fit(X[:50])
    before = model.components_[[1, 3]]
    model.partial_fit(3 * X[50:])
    assert_array_equal(model.components_[[1, 3]], before)


def test_an_unused_atom_that_stays_is_not_replaced():
    data = np.abs(np.random.default_rng(0).normal(size=(400, 4)))
    data[:, 1] = 0
    model = OnlineNMF(
        3, init=np.eye(3, 4), fixed_components=[1], batch_size=20, n_epochs=2, random_state=0
    ).fit(data)
    assert_array_equal(model.components_[1], np.eye(3, 4)[1])


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ([True, False], r"a mask of shape \(4,\), or indices of atoms"),
        ([0.5], r"a mask of shape \(4,\), or indices of atoms"),
        ([4], "must name atoms from 0 to 3"),
        ([-1], "must name atoms from 0 to 3"),
        (-1, "must be a whole number from 0"),
        ("first", "must be a whole number from 0 to .* or an array-like"),
        (None, "must be a whole number from 0 to .* or an array-like"),
    ],
)
def test_choices_that_are_none_are_refused(chosen, words):
    with pytest.raises(ValueError, match="fixed_components.*" + words):
        OnlineNMF(4, init=ATOMS, fixed_components=chosen).fit(X)


def test_a_saved_model_keeps_the_same_atoms(tmp_path):
    model = KINDS["squared"](init=ATOMS, fixed_components=np.array([False, True, False, True]))
    save(model.fit(X), tmp_path / "a.atoms")
    again = load(tmp_path / "a.atoms").partial_fit(X)
    assert_array_equal(again.components_[[1, 3]], model.components_[[1, 3]])
