"""Offset and scale of columns (scale="zscore"): learned from the first rows, frozen, undone."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from commands import refused, run

from atomstream import OnlineDictionaryLearning, OnlineNMF, load, save
from atomstream.looks.rows import _in_units
from atomstream.loop import Learner, Scaling


def sensors(n=1500, seed=0):
    """Return rows of sensors far from zero, with three parts around their means."""
    rng = np.random.default_rng(seed)
    around = rng.standard_normal((n, 3)) @ rng.standard_normal((3, 8))
    means, sizes = rng.uniform(100, 3000, 8), rng.uniform(0.1, 10, 8)
    return means + sizes * (around + 0.1 * rng.standard_normal((n, 8)))


SIGNED = {"n_components": 3, "alpha": 0.0, "scale": "zscore", "random_state": 0}


def test_a_fit_learns_what_the_columns_do_around_their_means():
    X = sensors()
    model = OnlineDictionaryLearning(**SIGNED).fit(X)
    np.testing.assert_allclose(model.scaling_.offset, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.scaling_.divisor, X.std(axis=0), rtol=1e-9)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(
        model.transform(X),
        OnlineDictionaryLearning.from_components(model.components_, alpha=0.0).transform(standard),
        atol=1e-8,
    )
    left = np.mean((model.inverse_transform(model.transform(X)) - X) ** 2 / X.var(axis=0))
    assert left < 0.03


def test_a_stream_follows_the_first_thousand_rows_and_no_later_one():
    X = sensors(2000)
    X[1200:] += 50
    model = OnlineDictionaryLearning(**SIGNED)
    for start in range(0, 2000, 100):
        model.partial_fit(X[start : start + 100])
    np.testing.assert_allclose(model.scaling_.offset, X[:1000].mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(model.scaling_.divisor, X[:1000].std(axis=0), rtol=1e-9)


def test_atoms_move_into_new_units_and_stay_in_their_set():
    X = sensors()
    model = OnlineDictionaryLearning(**SIGNED).partial_fit(X[:50])
    before, old = model.components_, model.scaling_
    model.partial_fit(X[50:150])
    assert model.scaling_ is not old
    assert np.linalg.norm(model.components_, axis=1).max() <= 1 + 1e-12
    assert model.components_.shape == before.shape


def test_sums_follow_the_offset_and_the_scale(monkeypatch):
    """Sums are what the same codes give in the units of now, under equal weights."""
    X, codes, note = sensors(400), [], Learner._note
    monkeypatch.setattr(
        Learner,
        "_note",
        lambda run, done, *rest: codes.append(done.codes) or note(run, done, *rest),
    )
    model = OnlineDictionaryLearning(**SIGNED, schedule="harmonic")
    for start in range(0, 400, 100):
        model.partial_fit(X[start : start + 100])
    H, rows = np.concatenate([found.values for found in codes]), model.scaling_.apply(X)
    memory, D = model.memory_, model.components_
    np.testing.assert_allclose(memory.cross, H.T @ rows / 400, atol=1e-9)
    np.testing.assert_allclose(memory.gram, H.T @ H / 400, atol=1e-9)
    value = 0.5 * np.mean(np.sum((rows - H @ D) ** 2, axis=1))
    assert memory.value(model.state_.dictionary) == pytest.approx(value, rel=1e-9)


def test_a_stream_that_is_stopped_goes_on_to_the_bit(tmp_path):
    X = sensors()
    model = OnlineDictionaryLearning(**SIGNED).partial_fit(X[:300]).partial_fit(X[300:600])
    save(model, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms")
    for start in range(600, 1500, 300):
        model.partial_fit(X[start : start + 300])
        again.partial_fit(X[start : start + 300])
    np.testing.assert_array_equal(model.components_, again.components_)
    np.testing.assert_array_equal(model.scaling_.offset, again.scaling_.offset)


def test_offset_and_scale_can_be_given_and_no_row_changes_them():
    X = sensors()
    given = Scaling.of(np.full(8, 100.0), np.full(8, 2.0))
    model = OnlineDictionaryLearning(**{**SIGNED, "scale": given}).fit(X)
    model.partial_fit(X + 7)
    np.testing.assert_array_equal(model.scaling_.offset, 100.0)
    np.testing.assert_array_equal(model.scaling_.divisor, 2.0)
    coded = OnlineDictionaryLearning.from_components(np.eye(8)[:2], alpha=0.0, scale=given)
    np.testing.assert_allclose(coded.transform(np.full((1, 8), 104.0)), [[2.0, 2.0]])
    np.testing.assert_allclose(coded.inverse_transform([[2.0, 2.0]])[0, :3], [104.0, 104.0, 100.0])
    with pytest.raises(ValueError, match="offset and scale must be finite numbers"):
        Scaling.of([1.0, 2.0], [1.0, 0.0])


def test_missing_entries_sparse_rows_and_float32_mean_the_same():
    X = sensors()
    expected = OnlineDictionaryLearning(**SIGNED, n_epochs=1).fit(X)
    sparse = OnlineDictionaryLearning(**SIGNED, n_epochs=1).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.components_, expected.components_, atol=1e-9)
    single = OnlineDictionaryLearning(**SIGNED, n_epochs=1).fit(X.astype(np.float32))
    assert single.components_.dtype == np.float32
    np.testing.assert_allclose(single.scaling_.divisor, expected.scaling_.divisor, rtol=1e-3)
    holes = X.copy()
    holes[::5, 2] = np.nan
    model = OnlineDictionaryLearning(**SIGNED, missing=True, n_epochs=1).fit(holes)
    np.testing.assert_allclose(model.scaling_.offset, np.nanmean(holes, axis=0), rtol=1e-12)
    filled = model.impute(holes)
    around = np.abs(filled - X)[::5, 2] / X[:, 2].std()
    assert np.median(around) < 0.3


def test_constant_columns_keep_their_units():
    X = sensors()
    X[:, 4] = 77.0
    model = OnlineDictionaryLearning(**SIGNED, n_epochs=1).fit(X)
    assert model.scaling_.divisor[4] == 1
    np.testing.assert_allclose(model.inverse_transform(model.transform(X))[:, 4], 77.0)


def test_atoms_are_drawn_without_the_offset():
    model = OnlineDictionaryLearning(**SIGNED, n_epochs=1).fit(sensors())
    shown, said = _in_units(model, of_data=True)
    np.testing.assert_allclose(shown.components_, model.components_ * model.scaling_.divisor)
    assert said == " Atoms are drawn in the units of the data."


def test_nonnegative_models_refuse_it_by_name():
    with pytest.raises(ValueError, match=r"scale='zscore' subtracts .* OnlineDictionaryLearning"):
        OnlineNMF(3, scale="zscore").fit(sensors())


# -- on the command line


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("plant") / "plant.csv"
    np.savetxt(path, sensors(), delimiter=",", header=",".join("abcdefgh"), comments="")
    return path


def test_the_share_beyond_the_means_is_told_where_these_are_nearly_all(table, tmp_path, capsys):
    signed = ("--model", "dictionary", "--alpha", 0, "--atoms", 3, "--epochs", 2)
    run("learn", table, *signed, "--out", tmp_path / "plain")
    run("learn", table, *signed, "--scale", "zscore", "--out", tmp_path / "centred")
    capsys.readouterr()
    run("inspect", tmp_path / "plain")
    assert "% of what the means of the columns leave (held-out rows)" in capsys.readouterr().out
    run("inspect", tmp_path / "centred", "--json")
    figures = json.loads(capsys.readouterr().out)["held_out"]
    assert figures["unexplained share of the energy"] < 0.05
    assert "unexplained share of what the column means leave" not in figures


def test_center_is_refused_for_tables(table, tmp_path, capsys):
    words = ("learn", table, "--model", "dictionary", "--center", "--out", tmp_path / "run")
    assert "--scale zscore" in refused(capsys, *words)
    assert not (tmp_path / "run").exists()
