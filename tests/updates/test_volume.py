"""Atoms of small volume: pure materials of which no row is pure."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from atomstream import OnlineDictionaryLearning, align, load, save
from atomstream.updates import BlockCoordinate
from atomstream.updates.block_coordinate import _spread


def mixtures(seed, n=1500, d=30):
    """Return rows of length one that mix three spectra, hardly any of them pure, and these."""
    rng, x = np.random.default_rng(seed), np.linspace(0, 1, d)
    spectra = 0.3 + np.exp(-0.5 * ((x - rng.permutation([0.2, 0.5, 0.8])[:, None]) / 0.2) ** 2)
    X = np.minimum(rng.dirichlet(np.full(3, 0.4), n), 0.85) @ spectra
    X = np.abs(X + 0.01 * rng.standard_normal(X.shape))
    return X / np.linalg.norm(X, axis=1)[:, None], spectra


def model(volume, **settings):
    shares = {"codes": "simplex", "atoms": "nonnegative", "alpha": 0.0, "init": "spread"}
    updater = BlockCoordinate(volume=volume)
    return OnlineDictionaryLearning(3, updater=updater, random_state=0, **shares, **settings)


def test_the_bound_has_the_slope_of_the_volume_where_it_touches():
    atoms = np.random.default_rng(0).random((3, 5))
    half = approx_fprime(
        atoms.ravel(), lambda a: 0.5 * np.linalg.slogdet(_spread(a.reshape(3, 5)))[1], 1e-7
    )
    added = BlockCoordinate(volume=1.0)._narrowed(np.zeros((3, 3)), atoms)
    assert np.abs(added @ atoms - half.reshape(3, 5)).max() < 1e-5


@pytest.mark.parametrize("volume", [0.01, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_law_2_a_sweep_never_raises_the_surrogate(volume, weighted):
    X, _ = mixtures(1, n=300)
    rng, learner = np.random.default_rng(0), model(volume)
    for start in range(0, 300, 60):
        batch = X[start : start + 60]
        weights = {"entry_weight": rng.uniform(0.5, 2, batch.shape)} if weighted else {}
        learner.partial_fit(batch, **weights)
        state, updater = learner.state_, learner.algorithm_.updater
        before = updater.value(state, learner.algorithm_.objective)
        updater.update(state, learner.algorithm_.objective, learner.clock_)
        assert updater.value(state, learner.algorithm_.objective) <= before + 1e-12 * abs(before)


def test_materials_are_found_that_hardly_a_row_shows_alone(room):
    """Without the volume the angle is .02 to .29, as the start will have it."""
    for seed in range(3):
        X, spectra = mixtures(seed)
        found = model(0.0005, n_epochs=50).fit(X).components_
        cosines = align(spectra, found).similarity
        room.error(np.arccos(np.minimum(cosines, 1)).mean(), at_most=0.06)


def test_the_weight_is_kept_in_files_and_checked(tmp_path):
    X, _ = mixtures(0, n=100)
    save(model(0.5, n_epochs=1).fit(X), tmp_path / "model.atoms")
    assert load(tmp_path / "model.atoms").algorithm_.updater.volume == 0.5
    with pytest.raises(ValueError, match="needs volume to be a number from 0"):
        model(-1.0).fit(X)
