"""Atoms that are directions: the sphere is not convex, and one atom on it still has its minimum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import OnlineDictionaryLearning, load, save
from atomstream.dictionaries import Rows
from atomstream.exceptions import IncompatiblePartsError
from atomstream.losses import Squared
from atomstream.memory import Aggregates, Usage
from atomstream.memory.state import State
from atomstream.penalties import Box, Free, TopK, UnitSphere
from atomstream.problem.clock import Clock
from atomstream.problem.objective import Objective
from atomstream.schedules import Harmonic
from atomstream.updates import BlockCoordinate

SPHERE = UnitSphere()


def planted(n_rows=600, n_atoms=20, n_features=12, k=2, dtype=np.float64):
    """Return signed, centred rows of a few of many directions, and these."""
    rng = np.random.default_rng(0)
    atoms = SPHERE.normalize(rng.standard_normal((n_atoms, n_features)))
    codes = np.zeros((n_rows, n_atoms))
    for row in codes:
        row[rng.choice(n_atoms, k, replace=False)] = rng.choice([-1, 1], k) * rng.uniform(1, 2, k)
    X = codes @ atoms
    return (X - X.mean(axis=0)).astype(dtype), atoms


def test_the_nearest_point_beats_all_others():
    rng, turn = np.random.default_rng(0), np.linspace(0, 2 * np.pi, 721)
    points = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    X = rng.standard_normal((50, 2))
    near = SPHERE.prox(X, 0.7)
    assert_allclose(np.linalg.norm(near, axis=1), 1)
    best = ((X[:, None] - points) ** 2).sum(axis=2).min(axis=1)
    assert (((X - near) ** 2).sum(axis=1) <= best + 1e-12).all()
    assert_array_equal(SPHERE.prox(np.zeros((1, 3)), 0.0), [[1, 0, 0]])
    assert SPHERE.prox(X.astype(np.float32), 0.0).dtype == np.float32
    assert_array_equal(SPHERE.value(np.array([[0.6, 0.8], [0.6, 0.7]])), [0, np.inf])


def test_each_atom_has_the_least_surrogate_of_its_sphere():
    rng = np.random.default_rng(1)
    codes, X = rng.standard_normal((30, 1)), rng.standard_normal((30, 2))
    memory = Aggregates(1, 2)
    memory.gram[:], memory.cross[:] = codes.T @ codes / 30, codes.T @ X / 30
    state = State(Rows(SPHERE.normalize(rng.standard_normal((1, 2)))), memory, Usage(1))
    objective = Objective(Squared(), Free(), SPHERE)
    BlockCoordinate().update(state, objective, Clock(Harmonic()))
    found = BlockCoordinate().value(state, objective)
    for angle in np.linspace(0, 2 * np.pi, 1_000):
        state.dictionary.assign(np.array([[np.cos(angle), np.sin(angle)]]))
        assert BlockCoordinate().value(state, objective) >= found - 1e-12


@pytest.mark.parametrize("codes", ["free", "nonnegative", Box(-1, 1), TopK(2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_atoms_stay_on_the_sphere_and_no_update_raises_the_surrogate(codes, dtype):
    X, _ = planted(dtype=dtype)
    alpha = 0.0 if isinstance(codes, TopK) else 0.1
    model = OnlineDictionaryLearning(20, codes=codes, atoms="unit_sphere", alpha=alpha)
    for start in range(0, 600, 100):
        model.partial_fit(X[start : start + 100])
        assert model.components_.dtype == dtype
        assert_allclose(np.linalg.norm(model.components_, axis=1), 1, rtol=1e-5)
        state, algorithm = model.state_, model.algorithm_
        before = algorithm.updater.value(state, algorithm.objective)
        algorithm.updater.update(state, algorithm.objective, model.clock_)
        slack = 1e-12 if dtype == np.float64 else 1e-5
        assert algorithm.updater.value(state, algorithm.objective) <= before + slack * abs(before)


def test_directions_of_a_sparse_model_are_found_and_kept_in_files(tmp_path, room):
    X, atoms = planted(3_000)
    model = OnlineDictionaryLearning(
        20, codes=TopK(2), atoms=UnitSphere(), alpha=0, n_epochs=20, random_state=0
    ).fit(X)
    cosines = np.abs(model.components_ @ atoms.T).max(axis=0)
    room.share((cosines > 0.9).mean(), at_least=0.7)
    save(model, tmp_path / "model.atoms")
    assert load(tmp_path / "model.atoms").atoms == UnitSphere()


def test_steps_need_convex_sets():
    X, _ = planted()
    for settings in ({"codes": "unit_sphere"}, {"codes": TopK(2), "coder": "projected_gradient"}):
        with pytest.raises(IncompatiblePartsError, match="needs codes that are convex"):
            OnlineDictionaryLearning(3, alpha=0, **settings).fit(X)
    with pytest.raises(IncompatiblePartsError, match="needs atoms that are convex"):
        OnlineDictionaryLearning(3, atoms="unit_sphere", updater="spsg").fit(X)
    with pytest.raises(ValueError, match="is no bounded convex set"):
        OnlineDictionaryLearning.convergent(
            3, alpha=0.1, ridge=0.1, damping=0.1, atoms="unit_sphere"
        )
