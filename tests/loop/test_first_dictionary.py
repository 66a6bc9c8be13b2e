"""The first dictionary under robust losses: least squares, unless outliers have spoilt that."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import OnlineNMF
from atomstream.loop.explaining import cross_fit
from atomstream.loop.first_dictionary import first_dictionary
from atomstream.problem.batch import Batch
from atomstream.updates import Majorise
from atomstream.updates.reseeding import starting_atoms

N_ATOMS, N_FEATURES = 4, 40


def contaminated(n_samples, share, n_atoms=N_ATOMS):
    """Return rows of a few atoms with outliers, and the same rows without them."""
    rng = np.random.default_rng(0)
    atoms = rng.gamma(0.5, 1.0, (n_atoms, N_FEATURES))
    clean = rng.gamma(1.0, 1.0, (n_samples, n_atoms)) @ atoms
    wrong = rng.random(clean.shape) < share
    return np.maximum(clean + wrong * rng.uniform(-8, 8, clean.shape), 0), clean


def first(X, how="auto", seed=0, **settings):
    """Return the first atoms, and the mixed ones that would be the other choice."""
    settings = {"n_components": N_ATOMS, "loss": "l1", **settings}
    algorithm = OnlineNMF(**settings, random_state=0).partial_fit(X).algorithm_
    batch, size = Batch(X), settings["n_components"]
    found = first_dictionary(batch, size, how, algorithm, np.random.default_rng(seed)).atoms()
    rng = np.random.default_rng(seed)
    return found, starting_atoms(batch, size, "svd", algorithm.objective.atoms, rng, soft=True)


@pytest.mark.parametrize("loss", ["l1", "l2", "huber:0.1"])
def test_rows_of_few_atoms_start_from_least_squares(loss, room):
    X, _ = contaminated(200, 0.0)
    found, mixed = first(X, loss=loss)
    models = [OnlineNMF.from_components(np.ascontiguousarray(atoms)) for atoms in (found, mixed)]
    left = [((X - model.clean(X)) ** 2).sum() for model in models]
    room.error(left[0], at_most=1e-2 * left[1])
    assert_allclose(np.linalg.norm(found, axis=1), 1)


def test_too_few_rows_for_the_atoms_start_mixed_with_their_mean():
    rng = np.random.default_rng(0)
    atoms, codes = (1 + np.abs(rng.normal(0, 5, shape)) for shape in [(20, 100), (100, 20)])
    clean = codes @ atoms
    outliers = (rng.random(clean.shape) < 0.3) * rng.uniform(-2_000, 2_000, clean.shape)
    found, mixed = first(np.maximum(clean + outliers, 0), n_components=20)
    assert_array_equal(found, mixed)


@pytest.mark.parametrize("settings", [{"updater": Majorise()}, {"loss": "kl"}, {"updater": "spsg"}])
def test_where_entries_explain_themselves_nothing_is_compared(settings):
    X, _ = contaminated(200, 0.0)
    found, mixed = first(X, **settings)
    assert_array_equal(found, mixed)


def test_a_start_that_was_asked_for_is_made():
    X, _ = contaminated(200, 0.0)
    found, mixed = first(X, how="svd")
    assert_array_equal(found, mixed)


def test_missing_entries_and_sparse_rows_start_from_least_squares_too(room):
    X, clean = contaminated(400, 0.05)
    holes = np.random.default_rng(1).random(X.shape) < 0.2
    model = OnlineNMF(N_ATOMS, loss="l1", missing=True, random_state=0)
    filled = model.fit(np.where(holes, np.nan, X)).clean(np.where(holes, np.nan, X))
    room.error(np.abs(filled - clean).mean(), at_most=0.035 * clean.mean())
    dense, sparse = (
        OnlineNMF(N_ATOMS, loss="l1", random_state=0).partial_fit(rows).components_
        for rows in (X, sp.csr_array(X))
    )
    assert_allclose(dense, sparse, rtol=1e-6, atol=1e-9)


def test_repeated_rows_start_as_weighted_ones():
    X, _ = contaminated(60, 0.0)
    weights = np.random.default_rng(1).integers(1, 4, len(X))
    weighted, repeated = (
        OnlineNMF(N_ATOMS, loss="l1", random_state=0).partial_fit(rows, **given).components_
        for rows, given in ((X, {"sample_weight": weights}), (np.repeat(X, weights, axis=0), {}))
    )
    assert_allclose(weighted, repeated, rtol=1e-5, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["l1", "huber:0.1"])
def test_with_few_features_outliers_still_decide(loss):
    rng = np.random.default_rng(0)
    atoms, codes = rng.gamma(0.5, 1.0, (4, 12)), rng.gamma(1.0, 1.0, (800, 4))
    wrong = (rng.random((800, 12)) < 0.3) * rng.uniform(-30, 30, (800, 12))
    found, mixed = first(np.maximum(codes @ atoms + wrong, 0), loss=loss)
    assert_array_equal(found, mixed)
    found, mixed = first(codes @ atoms, loss=loss)
    assert np.abs(found - mixed).max() > 0.1


def test_no_entry_of_the_start_is_so_small_that_it_would_stay():
    X, _ = contaminated(200, 0.0)
    X[:, 3] *= 1e-3
    found, mixed = first(X)
    assert np.abs(found - mixed).max() > 0.1
    mean = X.mean(axis=0) / np.linalg.norm(X.mean(axis=0))
    assert (found >= 0.03 * mean).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "fall"),
    [
        (0.05, 0.3),
        pytest.param(0.0, 0.6, marks=pytest.mark.long),  # with 30 % outliers there is no fall
    ],
)
def test_l1_ends_nearer_to_clean_rows_than_from_the_mixed_start(share, fall, room, seeds):
    X, clean = contaminated(500, share)
    # The default end would begin once more from least squares.
    how = {"loss": "l1", "n_epochs": 10}
    errors = {
        init: np.mean(
            [
                np.abs(
                    OnlineNMF(N_ATOMS, init=init, random_state=seed, **how).fit(X).clean(X) - clean
                ).mean()
                for seed in seeds
            ]
        )
        for init in ("auto", "svd")
    }
    room.fall(errors["auto"], errors["svd"], at_least=fall)


def test_both_starts_are_judged_on_the_same_halves(monkeypatch):
    drawn = []

    def spy(batch, start, algorithm, accuracy, rng):
        drawn.append(rng.bit_generator.state["state"]["state"])
        return cross_fit(batch, start, algorithm, accuracy, rng)

    X, _ = contaminated(200, 0.1)
    first(X)  # another call of `partial_fit` compiles
    monkeypatch.setattr("atomstream.loop.first_dictionary.cross_fit", spy)
    for seed in (0, 0, 1):
        first(X, seed=seed)
    one, other, third = (drawn[-6:][at : at + 2] for at in (0, 2, 4))
    assert one[0] == one[1] == other[0] == other[1] != third[0]
