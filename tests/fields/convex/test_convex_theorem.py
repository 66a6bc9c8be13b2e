"""Inside the theorem of atoms made of samples: what `convergent` sets, refuses, and comes to."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import atomstream
from atomstream import OnlineConvexMF
from atomstream.schedules import Harmonic


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"schedule": "power"}, "schedule is settled by the theorem"),
        ({"n_epochs": 3}, "n_epochs is settled by the theorem"),
        ({"missing": True}, "missing is settled by the theorem"),
        ({"ridge": 0.0}, "ridge must be above 0"),
        ({"damping": 0}, "damping must be above 0"),
        ({"assignment": "code"}, "assignment='code' is not covered"),
        ({"assignment": "pooled"}, "assignment='pooled' is not covered"),
    ],
)
def test_settings_outside_the_theorem_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        OnlineConvexMF.convergent(3, **settings)


def cube(n, seed):
    return np.random.default_rng(seed).random((n, 3))


def far_from_critical(model, X):
    """Return how far atoms are from a critical point of the loss over all convex hulls."""
    codes, D = model.transform(X), model.components_
    A = codes.T @ codes / len(X) + model.damping * np.eye(len(D))
    slope = A @ D - codes.T @ X / len(X)
    moved = np.clip(D - slope / np.linalg.eigvalsh(A)[-1], 0, 1)
    return np.linalg.norm(moved - D) / np.linalg.norm(D)


@pytest.mark.parametrize("assignment", ["random", "labels"])
def test_convex_settings_keep_every_condition(assignment):
    model = OnlineConvexMF.convergent(3, assignment=assignment, random_state=0)
    X = cube(400, 0)
    for start in range(0, 400, 100):
        rows = X[start : start + 100]
        model.partial_fit(rows, y=rows.argmax(axis=1))
    algorithm, clock = model.algorithm_, model.clock_
    # (A.2): kappa_1; (A.3): unique codes.
    assert algorithm.updater.damping > 0
    assert algorithm.objective.codes.l2 > 0
    # Averages of weight 1/t, a step for every row, each row once and as it comes.
    assert clock.schedule == Harmonic()
    assert clock.weight == pytest.approx(1 / 400)
    assert math.isinf(clock.horizon)
    assert (model.n_epochs, model.shuffle, model.missing) == (1, False, False)


def along(alpha, look):
    """Return means over three streams of a figure after 100 and after 40,000 rows."""
    found = []
    for seed in range(3):
        model = OnlineConvexMF.convergent(3, n_representatives=12, alpha=alpha, random_state=seed)
        rows = cube(40_000, 10 + seed)
        early = look(model.partial_fit(rows[:100]), rows[:100])
        found.append((early, look(model.partial_fit(rows[100:]), rows)))
    return np.mean(found, axis=0)


def test_convex_atoms_come_near_a_critical_point_over_all_samples(room):
    law = cube(20_000, 1)
    early, late = along(0.1, lambda model, rows: far_from_critical(model, law))
    room.fall(late, early, at_least=0.35)


def test_the_surrogate_of_convex_atoms_meets_the_empirical_loss(room):
    def gap(model, rows):
        return model.state_.memory.value(model.state_.dictionary) - model.objective(rows)

    early, late = along(0.01, gap)
    assert late > -1e-9  # the surrogate is above
    room.fall(late, early, at_least=0.28)


def test_a_convergent_model_is_cloned_and_saved_as_any_other(tmp_path):
    made, batches = OnlineConvexMF.convergent(3, n_representatives=9), [cube(20, 0), cube(20, 1)]
    made.set_params(random_state=0)
    model, twin = (clone(made).partial_fit(batches[0]) for _ in range(2))
    atomstream.save(model, tmp_path / "model.atoms")
    loaded = atomstream.load(tmp_path / "model.atoms")
    assert repr(loaded.get_params(deep=False)) == repr(made.get_params(deep=False))
    for one in (twin, loaded):
        one.partial_fit(batches[1])
    assert_array_equal(loaded.components_, twin.components_)
