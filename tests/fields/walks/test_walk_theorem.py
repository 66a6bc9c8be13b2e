"""Inside the theorem of walks: what `convergent` sets, refuses, and comes to."""

import numpy as np
import pytest
from fields.walks.walking import walked
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import atomstream
from atomstream import RandomWalkFactorization


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"averaging": True}, "averaging is settled by the theorem"),
        ({"scaling": "none"}, "scaling is settled by the theorem"),
        ({"step": "auto"}, "step must be a number of at least 0"),
        ({"step": 0}, "step must be above 0"),
        ({"tau": 1}, "tau must be a whole number of at least 2"),
    ],
)
def test_settings_outside_the_theorem_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        RandomWalkFactorization.convergent(3, **settings)


WEIGHTS = np.kron([[6.0, 1.0], [1.0, 6.0]], np.ones((4, 4)))
P = WEIGHTS / WEIGHTS.sum(axis=1, keepdims=True)


def walk(n, seed):
    return walked(P, n, seed)


def test_a_convergent_walk_is_algorithm_1():
    rng, states = np.random.default_rng(3), walk(91, 0)
    start = rng.standard_normal((16, 2))
    model = RandomWalkFactorization.convergent(
        2, step=0.05, tau=3, n_states=8, init=start
    ).partial_fit(states)
    assert model.n_steps_ == 30
    W = np.linalg.qr(start)[0]
    for k in range(3, 91, 3):  # Z^(k) has the ends of every third transition
        A = np.zeros((16, 16))
        A[states[k - 1], 8 + states[k]] = A[8 + states[k], states[k - 1]] = 1
        W = W + 0.05 * (A @ W - W @ (W.T @ A @ W))
    for found, half in ((model.left_, W[:8]), (model.right_, W[8:])):
        Q = np.linalg.qr(half)[0]
        assert_allclose(found @ found.T, Q @ Q.T, atol=1e-10)


def test_the_error_of_a_walk_falls_to_a_level_that_steps_are_proportional_to(room):
    """The limit of Theorem 2: a variance of the order of eta around the true subspace."""
    U, _, Vt = np.linalg.svd(P / 8)  # the law of the chain is uniform
    truth, levels, states = (U[:, :2], Vt[:2].T), [], walk(400_000, 1)
    for step in (0.2, 0.02):
        model = RandomWalkFactorization.convergent(2, step=step, n_states=8, random_state=0)
        errors = []
        for piece in (states[:100], *np.array_split(states[100:], 100)):
            model.partial_fit(piece)
            sides = zip(truth, (model.left_, model.right_), strict=True)
            errors.append(sum(2 - np.linalg.norm(true.T @ own) ** 2 for true, own in sides))
        levels.append(np.mean(errors[31:]))
    assert errors[0] > 10 * levels[1]
    room.between(levels[1] / levels[0], 0.0, 0.3)


def test_a_convergent_model_is_cloned_and_saved_as_any_other(tmp_path):
    made, batches = RandomWalkFactorization.convergent(2), [walk(50, 0), walk(50, 1)]
    made.set_params(random_state=0)
    model, twin = (clone(made).partial_fit(batches[0]) for _ in range(2))
    atomstream.save(model, tmp_path / "model.atoms")
    loaded = atomstream.load(tmp_path / "model.atoms")
    assert repr(loaded.get_params(deep=False)) == repr(made.get_params(deep=False))
    for one in (twin, loaded):
        one.partial_fit(batches[1])
    assert_array_equal(loaded.singular_values_, twin.singular_values_)
