"""Negative entries, as noise makes them: factors are nonnegative, data under squared errors need
not be.

OnlineNMF(3).fit(X)                                         # refuses, and names what takes them
"""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import atomstream
from atomstream import OnlineDictionaryLearning, OnlineNMF


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
