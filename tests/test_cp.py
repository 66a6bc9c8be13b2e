"""Online CP-dictionaries: loadings against dense oracles, the matrix twin, the radius, invariants after batches."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from atomstream import OnlineCPDictionary, OnlineNMF
from atomstream.factored import Product
from atomstream.loadings import Loadings
from atomstream.penalties import Free, Nonnegative, NonnegativeBall, NormBall, Simplex, UnitBall
from atomstream.radius import minimise_within, project_within

SHAPES = [(7,), (5, 4), (3, 4, 2), (2, 3, 2, 3)]


def loadings(shape, r=3, seed=0, signed=False):
    rng = np.random.default_rng(seed)
    draw = rng.standard_normal if signed else rng.random
    return [draw((size, r)) for size in shape]


def outer(matrices):
    """Atoms by brute force."""
    r = matrices[0].shape[1]
    atoms = []
    for j in range(r):
        atom = np.ones(())
        for U in matrices:
            atom = np.multiply.outer(atom, U[:, j])
        atoms.append(atom)
    return np.array(atoms)


def tensors(n=60, shape=(6, 5), r=3, seed=0, noise=0.02):
    rng = np.random.default_rng(seed)
    codes = rng.exponential(size=(n, r)) * (rng.random((n, r)) < 0.7)
    atoms = outer([rng.random((size, r)) ** 3 for size in shape])
    return np.tensordot(codes, atoms, 1) + noise * rng.random((n, *shape))


def model(**settings):
    return OnlineCPDictionary(**{"n_components": 3, "batch_size": 20, "random_state": 0, **settings})


# -- the dictionary of loadings against its atoms ------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_loadings_are_those_of_their_atoms(shape):
    matrices = loadings(shape, signed=True)
    rows = outer(matrices).reshape(3, -1)
    dictionary = Loadings(matrices)
    rng = np.random.default_rng(1)
    X, codes, cross = rng.random((11, rows.shape[1])), rng.random((11, 3)), rng.random(rows.shape)
    assert_allclose(dictionary.atoms(), rows, atol=1e-14)
    assert dictionary.shape == rows.shape
    assert_allclose(dictionary.gram(), rows @ rows.T, atol=1e-12)
    assert_allclose(dictionary.correlate(X), X @ rows.T, atol=1e-12)
    assert_allclose(dictionary.correlate(sp.csr_array(X * (X > 0.7))), (X * (X > 0.7)) @ rows.T, atol=1e-12)
    assert_allclose(dictionary.decode(codes), codes @ rows, atol=1e-12)
    assert_allclose(dictionary.overlap(cross), np.vdot(cross, rows), atol=1e-12)
    observed = rng.random(rows.shape[1]) < 0.6
    assert_allclose(dictionary.gram_on(observed), rows[:, observed] @ rows[:, observed].T, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factored", [False, True])
def test_contracting_all_modes_but_one_is_the_tensor_product(shape, factored):
    matrices = loadings(shape, signed=True)
    rng = np.random.default_rng(2)
    left, right = rng.random((2, 3)), rng.random((2, np.prod(shape)))
    cross = Product(left, right) if factored else left.T @ right
    dense = (left.T @ right).reshape(3, *shape)
    for mode in range(len(shape)):
        expected = np.empty((3, shape[mode]))
        for j in range(3):
            part = dense[j]
            for other in reversed(range(len(shape))):
                if other != mode:
                    part = np.tensordot(part, matrices[other][:, j], (other, 0))
            expected[j] = part
        assert_allclose(Loadings(matrices).contract(cross, mode), expected, atol=1e-12)


def test_a_product_is_kept_while_it_is_smaller_and_becomes_an_array_then():
    rng = np.random.default_rng(0)
    pairs = [(rng.random((2, 5)), rng.random((2, 7))) for _ in range(3)]
    total, dense = Product.empty(5, 7), np.zeros((5, 7))
    for number, (left, right) in enumerate(pairs):
        total = 0.5 * total + 2.0 * Product(left, right)
        dense = 0.5 * dense + 2.0 * left.T @ right
        assert isinstance(total, Product) == (number < 2)
        assert_allclose(np.asarray(total), dense)


# -- the radius ----------------------------------------------------------------------------------------------------


SETS = [NonnegativeBall(), Nonnegative(), Free(), UnitBall(), Simplex(), NormBall(1.5)]


@pytest.mark.parametrize("penalty", SETS, ids=repr)
def test_projection_on_a_set_and_a_ball_beats_every_feasible_point(penalty):
    rng = np.random.default_rng(3)
    for _ in range(20):
        start = penalty.prox(rng.standard_normal((3, 4)), 0.0)
        target, radius = 2 * rng.standard_normal((3, 4)), rng.uniform(0.05, 1)
        found = project_within(target, start, radius, penalty)
        assert np.linalg.norm(found - start) <= radius * (1 + 1e-9)
        assert_allclose(penalty.prox(found, 0.0), found, atol=1e-9)
        for _ in range(50):  # variational inequality at feasible points: segments from the start stay inside
            other = penalty.prox(start + rng.standard_normal((3, 4)), 0.0)
            length = np.linalg.norm(other - start)
            other = start + (other - start) * min(1.0, radius / max(length, 1e-12))
            assert np.vdot(target - found, other - found) <= 1e-7


def test_clip_then_shrink_is_not_the_projection():
    start, target = np.array([[0.0, 1.0]]), np.array([[-3.0, 2.0]])
    found = project_within(target, start, 0.5, Nonnegative())
    assert_allclose(found, [[0.0, 1.5]], atol=1e-9)


@pytest.mark.parametrize("penalty", SETS, ids=repr)
@pytest.mark.parametrize("radius", [0.1, 0.5, np.inf])
def test_block_problem_is_solved_inside_the_radius(penalty, radius):
    rng = np.random.default_rng(4)
    H = rng.random((30, 3))
    gram, cross = H.T @ H / 30, 2 * rng.random((3, 4))
    start = penalty.prox(rng.random((3, 4)), 0.0)
    found = minimise_within(start, gram, cross, penalty, radius)
    assert np.linalg.norm(found - start) <= radius * (1 + 1e-9)
    # optimal: the projected gradient step stays
    slope = gram @ found - cross
    step = 1 / np.linalg.eigvalsh(gram)[-1]
    moved = found - step * slope
    again = penalty.prox(moved, 0.0) if radius == np.inf else project_within(moved, start, radius, penalty)
    assert_allclose(again, found, atol=2e-5)


def test_block_problem_agrees_with_a_general_solver():
    rng = np.random.default_rng(5)
    H = rng.random((30, 2))
    gram, cross, start = H.T @ H / 30, rng.random((2, 3)), 0.3 * rng.random((2, 3))

    def value(flat):
        V = flat.reshape(2, 3)
        return 0.5 * np.vdot(V, gram @ V) - np.vdot(V, cross)

    ball = {"type": "ineq", "fun": lambda flat: 0.2**2 - ((flat - start.ravel()) ** 2).sum()}
    oracle = minimize(value, start.ravel(), bounds=[(0, None)] * 6, constraints=[ball], options={"ftol": 1e-14})
    found = minimise_within(start, gram, cross, Nonnegative(), 0.2)
    assert value(found.ravel()) <= oracle.fun + 1e-8


# -- the model -----------------------------------------------------------------------------------------------------


def test_one_mode_is_online_nmf():
    X = tensors(shape=(8,))
    init = np.random.default_rng(0).random((3, 8))
    init /= np.linalg.norm(init, axis=1, keepdims=True)
    known = dict(alpha=0.01, schedule="harmonic", batch_size=20, n_epochs=2, random_state=1)
    nmf = OnlineNMF(3, init=init, **known).fit(X)
    cp = OnlineCPDictionary(3, init=[init.T], radius=None, **known).fit(X)
    assert_allclose(cp.loadings_[0].T, nmf.components_, atol=1e-10)
    assert_allclose(cp.transform(X), nmf.transform(X), atol=1e-10)
    assert_allclose(cp.surrogate(), nmf.surrogate(), atol=1e-10)


def test_one_mode_starts_and_reseeds_as_online_nmf():
    X = np.repeat(tensors(n=4, shape=(8,)), 30, axis=0)
    known = dict(alpha=0.01, batch_size=20, n_epochs=8, random_state=3)
    nmf = OnlineNMF(3, **known).fit(X)
    cp = OnlineCPDictionary(3, init="samples", radius=None, **known).fit(X)
    assert_allclose(cp.loadings_[0].T, nmf.components_, atol=1e-9)


@pytest.mark.parametrize("shape", [(6, 5), (4, 3, 5), (3, 2, 3, 2)])
@pytest.mark.parametrize("atoms", ["nonnegative_ball", "bounded", "free", "simplex", "nonnegative"])
@pytest.mark.parametrize("radius", [None, "auto", 0.3])
def test_invariants_after_every_batch(shape, atoms, radius):
    X = tensors(shape=shape)
    learner = model(atoms=atoms, radius=radius, alpha=0.01, schedule="harmonic", init="random")
    for start in range(0, 60, 12):
        batch = X[start : start + 12]
        learner.partial_fit(batch)  # makes the start on the first call
        before = copy.deepcopy(learner)
        codes = before.method_.coder.encode(
            before._batch(batch), before.state_.dictionary, before.method_.objective, before.clock_.tolerance
        )
        objective, state = before.method_.objective, before.state_
        delta = before.method_.statistics.measure(before._batch(batch), codes, state.dictionary, objective)
        state.memory.absorb(delta, before.clock_.tick(delta.mass))
        old, value = [U.copy() for U in state.dictionary.matrices], before.surrogate()
        before.method_.updater.update(state, objective, before.clock_)
        assert before.surrogate() <= value + 1e-12 * abs(value)
        limit = before.method_.updater.radius
        for mode, (U, V) in enumerate(zip(before.loadings_, old, strict=True)):
            part = objective.atoms.sets[mode]
            assert_allclose(part.prox(U.T, 0.0), U.T, atol=1e-9)
            if limit is not None:
                assert np.linalg.norm(U - V) <= limit * before.clock_.weight * (1 + 1e-9)
        assert np.linalg.eigvalsh(state.memory.gram)[0] >= -1e-12
        seen = X[: start + 12]
        assert learner.surrogate() >= learner.objective(seen) - 1e-9


def test_surrogate_is_the_brute_force_sum():
    X = tensors(n=24)
    learner = model(alpha=0.02, schedule="harmonic", damping=0.1, ridge=0.05)
    learner.partial_fit(X[:12])
    codes, start = [], learner.state_.dictionary
    for batch in (X[12:18], X[18:]):
        before = copy.deepcopy(learner)
        learner.partial_fit(batch)
        method = before.method_
        found = method.coder.encode(
            before._batch(batch), before.state_.dictionary, method.objective, before.clock_.tolerance
        )
        codes.append(found.values)
    assert start is not None
    first = copy.deepcopy(model(alpha=0.02, schedule="harmonic", damping=0.1, ridge=0.05))
    first.partial_fit(X[:12])
    # past codes of the first batch enter through the memory alone; take them off by brute force on the rest
    h = np.concatenate(codes)
    parts = np.tensordot(h, learner.components_, 1)
    rest = 0.5 * ((X[12:] - parts) ** 2).sum() + 0.02 * np.abs(h).sum() + 0.025 * (h**2).sum()
    old = first.state_.memory.value(learner.state_.dictionary)
    damping = 0.05 * (learner.components_**2).sum()
    assert_allclose(learner.surrogate(), (12 * old + rest) / 24 + damping, rtol=1e-10)


def test_it_learns_what_made_the_data():
    X = tensors(n=400, noise=0.0)
    learner = model(n_epochs=30, batch_size=100).fit(X)
    assert -learner.score(X) < 2e-3 * 0.5 * (X**2).sum() / len(X)


def test_components_are_tensors_and_factors_suit_a_cp_tensor():
    X = tensors(shape=(4, 3, 5))
    learner = model().fit(X)
    assert learner.components_.shape == (3, 4, 3, 5)
    assert_allclose(learner.components_, outer(learner.loadings_), atol=1e-14)
    weights, factors = learner.to_cp(X)
    assert weights.shape == (3,)
    assert [factor.shape for factor in factors] == [(60, 3), (4, 3), (3, 3), (5, 3)]
    rebuilt = np.einsum("r,nr,ir,jr,kr->nijk", weights, *factors)
    assert_allclose(rebuilt, learner.inverse_transform(learner.transform(X)), atol=1e-12)
    assert_array_equal(learner.weights, np.ones(3))
    assert len(learner.factors) == 3


def test_joined_modes_are_one_and_come_back_in_shape():
    X = tensors(shape=(4, 3, 5))
    joined = model(reshape=[(0,), (1, 2)], init="random", schedule="harmonic").fit(X)
    flat = model(init="random", schedule="harmonic").fit(X.reshape(60, 4, 15))
    assert joined.components_.shape == (3, 4, 3, 5)
    assert_allclose(joined.components_.reshape(3, 4, 15), flat.components_, atol=1e-12)
    crossed = model(reshape=[(0, 2), (1,)], init="random", schedule="harmonic").fit(X)
    moved = model(init="random", schedule="harmonic").fit(X.transpose(0, 1, 3, 2).reshape(60, 20, 3))
    assert_allclose(crossed.components_.transpose(0, 1, 3, 2).reshape(3, 20, 3), moved.components_, atol=1e-12)
    assert_allclose(crossed.inverse_transform(crossed.transform(X)).shape, X.shape)
