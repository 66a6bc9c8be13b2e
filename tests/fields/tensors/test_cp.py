"""Online CP dictionaries: loadings against dense oracles, the matrix twin, radius, invariants."""

import copy
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize, nnls
from sklearn.utils import get_tags

from atomstream import OnlineCPDictionary, OnlineNMF, load, online_parafac, save
from atomstream.coders import Auto
from atomstream.dictionaries.low_rank import LowRank
from atomstream.fields.tensors import parafac
from atomstream.fields.tensors.loadings import Loadings, contract, khatri_rao
from atomstream.fields.tensors.update import minimise_within, project_within
from atomstream.penalties import Free, Nonnegative, NonnegativeBall, NormBall, Simplex, UnitBall
from atomstream.schedules import LogPolynomial
from atomstream.updates import LoadingSweep

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


ONE_SWEEP = LoadingSweep(radius=None, n_sweeps=1)


def model(**settings):
    """Return a model; ``radius`` and ``n_sweeps`` are those of its updater."""
    own = {name: settings.pop(name) for name in ("radius", "n_sweeps") if name in settings}
    settings = {"n_components": 3, "batch_size": 20, "random_state": 0, **settings}
    return OnlineCPDictionary(**settings, updater=LoadingSweep(**own))


# -- the dictionary of loadings against its atoms
# ------------------------------------------------------------------


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
    assert_allclose(
        dictionary.correlate(sp.csr_array(X * (X > 0.7))), (X * (X > 0.7)) @ rows.T, atol=1e-12
    )
    assert_allclose(dictionary.decode(codes), codes @ rows, atol=1e-12)
    assert_allclose(dictionary.overlap(cross), np.vdot(cross, rows), atol=1e-12)
    observed = rng.random(rows.shape[1]) < 0.6
    assert_allclose(
        dictionary.gram_on(observed), rows[:, observed] @ rows[:, observed].T, atol=1e-12
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factored", [False, True])
def test_contracting_all_modes_but_one_is_the_tensor_product(shape, factored):
    matrices = loadings(shape, signed=True)
    rng = np.random.default_rng(2)
    left, right = rng.random((2, 3)), rng.random((2, np.prod(shape)))
    cross = LowRank(left, right) if factored else left.T @ right
    dense = (left.T @ right).reshape(3, *shape)
    for mode in range(len(shape)):
        expected = np.empty((3, shape[mode]))
        for j in range(3):
            part = dense[j]
            for other in reversed(range(len(shape))):
                if other != mode:
                    part = np.tensordot(part, matrices[other][:, j], (other, 0))
            expected[j] = part
        assert_allclose(contract(Loadings(matrices), cross, mode), expected, atol=1e-12)


def test_a_product_is_kept_while_it_is_smaller_and_becomes_an_array_then():
    rng = np.random.default_rng(0)
    pairs = [(rng.random((2, 5)), rng.random((2, 7))) for _ in range(3)]
    total, dense = LowRank.empty(5, 7), np.zeros((5, 7))
    for number, (left, right) in enumerate(pairs):
        total = 0.5 * total + 2.0 * LowRank(left, right)
        dense = 0.5 * dense + 2.0 * left.T @ right
        assert isinstance(total, LowRank) == (number < 2)
        assert_allclose(np.asarray(total), dense)


# -- the radius
# --------------------------------------------------------------------------------------------------


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
        for _ in range(
            50
        ):  # variational inequality at feasible points: segments from the start stay inside
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
    again = (
        penalty.prox(moved, 0.0)
        if radius == np.inf
        else project_within(moved, start, radius, penalty)
    )
    assert_allclose(again, found, atol=2e-5)


def test_block_problem_agrees_with_a_general_solver():
    rng = np.random.default_rng(5)
    H = rng.random((30, 2))
    gram, cross, start = H.T @ H / 30, rng.random((2, 3)), 0.3 * rng.random((2, 3))

    def value(flat):
        V = flat.reshape(2, 3)
        return 0.5 * np.vdot(V, gram @ V) - np.vdot(V, cross)

    ball = {"type": "ineq", "fun": lambda flat: 0.2**2 - ((flat - start.ravel()) ** 2).sum()}
    oracle = minimize(
        value, start.ravel(), bounds=[(0, None)] * 6, constraints=[ball], options={"ftol": 1e-14}
    )
    found = minimise_within(start, gram, cross, Nonnegative(), 0.2)
    assert value(found.ravel()) <= oracle.fun + 1e-8


# -- the model
# --------------------------------------------------------------------------------------------------


def test_one_mode_is_online_nmf():
    X = tensors(shape=(8,))
    init = np.random.default_rng(0).random((3, 8))
    init /= np.linalg.norm(init, axis=1, keepdims=True)
    known = dict(
        alpha=0.01,
        schedule="harmonic",
        batch_size=20,
        n_epochs=2,
        coder=Auto(tol="root"),
        random_state=1,
    )
    nmf = OnlineNMF(3, init=init, **known).fit(X)
    cp = OnlineCPDictionary(3, init=[init.T], updater=ONE_SWEEP, **known).fit(X)
    assert_allclose(cp.loadings_[0].T, nmf.components_, atol=1e-10)
    assert_allclose(cp.transform(X), nmf.transform(X), atol=1e-10)
    assert_allclose(cp.surrogate(), nmf.surrogate(), atol=1e-10)


def test_one_mode_starts_and_reseeds_as_online_nmf():
    X = tensors(shape=(8,))
    known = dict(
        alpha=0.01,
        batch_size=20,
        n_epochs=8,
        coder=Auto(tol="root"),
        schedule="power",
        random_state=3,
    )
    nmf = OnlineNMF(3, **known).fit(X)
    cp = OnlineCPDictionary(3, init="samples", updater=ONE_SWEEP, **known).fit(X)
    assert_allclose(cp.loadings_[0].T, nmf.components_, atol=1e-9)
    init = np.random.default_rng(0).random((3, 8))
    init /= np.linalg.norm(init, axis=1, keepdims=True)  # to which matrix models bring given atoms
    init[1] = 0
    known["coder"] = Auto(tol=0.0)
    nmf = OnlineNMF(3, init=init, **known).fit(X)
    cp = OnlineCPDictionary(3, init=[init.T], updater=ONE_SWEEP, **known).fit(X)
    assert nmf.n_reseeded_ == cp.n_reseeded_ == 1
    assert_allclose(cp.loadings_[0].T, nmf.components_, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(6, 5), (4, 3, 5), (3, 2, 3, 2)])
@pytest.mark.parametrize("atoms", ["nonnegative_ball", "bounded", "free", "simplex", "nonnegative"])
@pytest.mark.parametrize("radius", [None, "auto", 0.3])
@pytest.mark.cover(3)
def test_invariants_after_every_batch(shape, atoms, radius):
    X = tensors(shape=shape)
    learner = model(atoms=atoms, radius=radius, alpha=0.01, schedule="harmonic", init="random")
    for start in range(0, 60, 12):
        batch = X[start : start + 12]
        learner.partial_fit(batch)  # makes the start on the first call
        before = copy.deepcopy(learner)
        codes = before.algorithm_.coder.encode(
            before._batch(batch),
            before.state_.dictionary,
            before.algorithm_.objective,
            before.clock_.tolerance,
        )
        objective, state = before.algorithm_.objective, before.state_
        delta = before.algorithm_.statistics.measure(
            before._batch(batch), codes, state.dictionary, objective
        )
        state.memory.absorb(delta, before.clock_.tick(delta.mass))
        old, value = [U.copy() for U in state.dictionary.matrices], before.surrogate()
        before.algorithm_.updater.update(state, objective, before.clock_)
        assert before.surrogate() <= value + 1e-12 * abs(value)
        limit = before.radius_
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
    codes = []
    for batch in (X[12:18], X[18:]):
        before = copy.deepcopy(learner)
        learner.partial_fit(batch)
        algorithm = before.algorithm_
        found = algorithm.coder.encode(
            before._batch(batch),
            before.state_.dictionary,
            algorithm.objective,
            before.clock_.tolerance,
        )
        codes.append(found.values)
    first = copy.deepcopy(model(alpha=0.02, schedule="harmonic", damping=0.1, ridge=0.05))
    first.partial_fit(X[:12])
    # past codes of the first batch enter through the memory alone; take them off by brute force on
    # the rest
    h = np.concatenate(codes)
    parts = np.tensordot(h, learner.components_, 1)
    rest = 0.5 * ((X[12:] - parts) ** 2).sum() + 0.02 * np.abs(h).sum() + 0.025 * (h**2).sum()
    old = first.state_.memory.value(learner.state_.dictionary)
    damping = 0.05 * (learner.components_**2).sum()
    assert_allclose(learner.surrogate(), (12 * old + rest) / 24 + damping, rtol=1e-10)


def test_it_learns_what_made_the_data(room):
    X = tensors(n=400, noise=0.0)
    learner = model(n_epochs=30, batch_size=100).fit(X)
    room.error(-learner.score(X), at_most=2e-3 * 0.5 * (X**2).sum() / len(X))


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
    moved = model(init="random", schedule="harmonic").fit(
        X.transpose(0, 1, 3, 2).reshape(60, 20, 3)
    )
    assert_allclose(
        crossed.components_.transpose(0, 1, 3, 2).reshape(3, 20, 3), moved.components_, atol=1e-12
    )
    assert_allclose(crossed.inverse_transform(crossed.transform(X)).shape, X.shape)


def test_sparse_tensors_are_dense_ones():
    X = tensors(shape=(4, 3, 5))
    X[X < 0.5] = 0
    coords = np.nonzero(X)
    stored = sp.coo_array((X[coords], coords), shape=X.shape)
    settings = dict(schedule="harmonic", shuffle=False, n_epochs=2, reshape=[(1,), (0, 2)])
    dense, sparse = model(**settings).fit(X), model(**settings).fit(stored)
    for one, other in zip(dense.loadings_, sparse.loadings_, strict=True):
        assert_allclose(one, other, atol=1e-8)
    assert_allclose(dense.transform(X), sparse.transform(stored), atol=1e-7)
    assert_allclose(dense.score(X), sparse.score(stored), rtol=1e-7)


def test_missing_entries_do_not_matter_and_are_completed(room):
    X = tensors(n=200, noise=0.0)
    rng = np.random.default_rng(0)
    hidden = rng.random(X.shape) < 0.3
    holes = np.where(hidden, np.nan, X)
    learner = model(missing=True, n_epochs=40, batch_size=50, ridge=1e-4).fit(holes)
    filled = learner.impute(holes)
    assert_array_equal(filled[~hidden], X[~hidden])
    room.error(np.abs(filled - X)[hidden].mean(), at_most=0.1 * np.abs(X)[hidden].mean())
    whole = model(missing=True).fit(X)
    assert_array_equal(whole.components_, model().fit(X).components_)


def test_a_code_under_missing_entries_is_the_dense_solution():
    X = tensors(n=3)
    learner = model(missing=True).fit(X)
    seen = np.random.default_rng(0).random(X.shape) < 0.6
    codes = learner.transform(np.where(seen, X, np.nan))
    atoms = learner.components_.reshape(3, -1)
    for x, mask, code in zip(X.reshape(3, -1), seen.reshape(3, -1), codes, strict=True):
        assert_allclose(code, nnls(atoms[:, mask].T, x[mask])[0], atol=1e-7)


def test_weights_repeat_and_float32_stays(room):
    X = tensors()
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, 60)
    weights[0] = 1
    known = dict(batch_size=200, shuffle=False, n_epochs=3, init="samples")
    one = model(**known).fit(X, sample_weight=weights)
    other = model(**known).fit(np.repeat(X, weights, axis=0))
    assert_allclose(one.components_, other.components_, atol=1e-9)
    small = model().fit(X.astype(np.float32))
    assert {U.dtype for U in small.loadings_} == {np.dtype(np.float32)}
    assert small.transform(X.astype(np.float32)).dtype == np.float32
    room.error(abs(small.score(X) / model().fit(X).score(X) - 1), at_most=0.05)


def test_copies_go_on_alike_and_saved_models_too(tmp_path):
    X = tensors()
    whole = model().partial_fit(X[:30])
    twin = copy.copy(whole)
    save(whole, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms")
    for part in (whole, twin, again):
        part.partial_fit(X[30:])
    for part in (twin, again):
        assert_array_equal(part.components_, whole.components_)
        assert_array_equal(part.memory_.cross, whole.memory_.cross)
    assert again.radius_ == whole.radius_


def test_a_factored_memory_is_saved(tmp_path):
    X = tensors()
    few = model(n_components=12, batch_size=2, init="random").partial_fit(X[:2]).partial_fit(X[2:4])
    assert isinstance(few.memory_.cross, LowRank)
    save(few, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms").partial_fit(X[4:6])
    assert_array_equal(again.components_, few.partial_fit(X[4:6]).components_)
    dense = model(n_components=12, init="random")
    for start in range(0, 6, 2):
        dense.partial_fit(X[start : start + 2])
        if start == 0:
            dense.state_.memory.cross = np.asarray(dense.state_.memory.cross)
    assert_allclose(dense.components_, few.components_, atol=1e-9)


BAD = {
    "order": (np.ones((4, 6, 5, 2)), "samples of shape \\(6, 5, 2\\)"),
    "shape": (np.ones((4, 5, 5)), "samples of shape \\(5, 5\\)"),
    "one axis": (np.ones(4), "n_samples, I_1"),
    "nan": (np.full((4, 6, 5), np.nan), "NaN"),
    "infinite": (np.full((4, 6, 5), np.inf), "infinity"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_tensors_are_refused_and_change_nothing(kind):
    X, message = BAD[kind]
    learner = model().fit(tensors())
    before, step = learner.components_.copy(), learner.n_steps_
    for call in (learner.partial_fit, learner.transform, learner.score):
        with pytest.raises(ValueError, match=message):
            call(X)
    assert learner.n_steps_ == step
    assert_array_equal(learner.components_, before)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"radius": 0}, "radius to be a number above 0"),
        ({"radius": -1.0}, "radius to be"),
        ({"radius": "wide"}, "radius to be"),
        ({"n_sweeps": 0}, "n_sweeps"),
        ({"atoms": "box"}, "atoms='box' is unknown"),
        ({"atoms": ["free"]}, "one per mode, 2 here, got 1"),
        ({"reshape": [(0,), (0, 1)]}, "each once"),
        ({"reshape": [0, 1]}, "reshape must group"),
        ({"init": [np.ones((6, 3))]}, "a matrix for each of 2 modes, got 1"),
        ({"init": [np.ones((6, 3)), np.ones((4, 3))]}, "shape"),
        ({"init": "svd"}, "'init' .* must be random or samples"),
        ({"fixed_components": 1}, "needs init to be"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        model(**settings).fit(tensors())


def test_a_schedule_that_breaks_the_condition_is_named():
    with pytest.warns(UserWarning, match="noise to average out"):
        model(schedule="constant").fit(tensors())
    with pytest.warns(UserWarning, match="late samples weigh less"):
        model(schedule=LogPolynomial(1.0)).fit(tensors())


def test_fixed_atoms_stay_in_every_mode():
    X = tensors()
    init = [np.abs(U) / 3 for U in loadings((6, 5))]
    for atoms in ("nonnegative_ball", "bounded"):
        learner = model(init=init, fixed_components=1, atoms=atoms, n_epochs=3).fit(X)
        for U, V in zip(learner.loadings_, init, strict=True):
            assert_array_equal(U[:, 0], V[:, 0])
            assert np.abs(U[:, 1:] - V[:, 1:]).max() > 1e-3


def test_known_loadings_code_at_once_and_learn_on():
    X, known = tensors(), [U / 3 for U in loadings((6, 5))]
    learner = OnlineCPDictionary.from_components(known, updater=LoadingSweep(radius=0.1))
    assert_allclose(learner.components_, outer(known))
    assert learner.transform(X).shape == (60, 3)
    learner.partial_fit(X)
    for U, V in zip(learner.loadings_, known, strict=True):
        assert 0 < np.linalg.norm(U - V) <= 0.1 + 1e-9


def test_stationarity_falls_to_nothing_at_a_critical_point(room):
    X = tensors(n=100, noise=0.05)
    learner = model(batch_size=100, n_epochs=300, coder=Auto(tol=0.0)).fit(X)
    assert model(n_epochs=1).fit(X).stationarity(X) > 1e-4
    room.error(learner.stationarity(X), at_most=1e-4)


def nearly_parallel(parallel):
    """Return a tensor whose columns share a direction in two modes, and its noise."""
    rng = np.random.default_rng(3)
    codes, U, V = (rng.random((size, 4)) for size in (100, 20, 15))
    U, V = (part + parallel * rng.random((len(part), 1)) for part in (U, V))
    clean = np.einsum("nr,ir,jr->nij", codes, U, V)
    noise = 0.01 * clean.std() * rng.standard_normal(clean.shape)
    return np.abs(clean + noise), noise


def test_a_tensor_in_memory_is_polished_and_one_in_a_file_on_request(tmp_path, room):
    X, noise = nearly_parallel(1.0)
    found = online_parafac(X, 4, random_state=0)
    room.ratio(found.relative_error * np.linalg.norm(X) / np.linalg.norm(noise), at_most=1.1)
    np.save(tmp_path / "tensor.npy", X)
    mapped = np.load(tmp_path / "tensor.npy", mmap_mode="r")
    passes = online_parafac(mapped, 4, random_state=0)
    assert passes.relative_error == online_parafac(X, 4, n_epochs=10, random_state=0).relative_error
    asked = online_parafac(mapped, 4, n_polish=None, random_state=0)
    assert asked.relative_error == pytest.approx(found.relative_error)


@pytest.mark.parametrize("parallel", [1.0, 3.0])
def test_nearly_parallel_columns_are_learned_down_to_the_noise(parallel, room):
    X, noise = nearly_parallel(parallel)
    learner = OnlineCPDictionary(4, random_state=0).fit(X)
    left = np.linalg.norm(learner.inverse_transform(learner.transform(X)) - X)
    room.ratio(left / np.linalg.norm(noise), at_most=1.1)


def test_labelled_data_give_labelled_loadings(tmp_path):
    xr = pytest.importorskip("xarray")
    X = tensors(shape=(4, 3, 5))
    cities, hours = ["a", "b", "c", "d"], np.arange(5) * 1.5
    data = xr.DataArray(
        X, dims=["day", "city", "kind", "hour"], coords={"city": cities, "hour": hours}
    )
    learner = model(reshape=[(0,), (1, 2)]).fit(data)
    save(learner, tmp_path / "model.atoms")
    for part in (learner, load(tmp_path / "model.atoms")):
        city, rest = part.labelled_loadings()
        assert city.dims == ("city", "atom")
        assert list(city.coords["city"].values) == cities
        assert rest.dims == ("kind", "hour", "atom")
        assert_array_equal(rest.coords["hour"].values, hours)
        assert_array_equal(rest.values.reshape(15, 3), part.loadings_[1])
    with pytest.raises(ValueError, match="labelled"):
        model().fit(X).labelled_loadings()


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.parametrize("mode", [0, 1, 2, -1])
def test_one_tensor_is_factorized_by_slices_of_any_mode(mode, tmp_path, room):
    factors = loadings((12, 10, 8), r=2)
    X = outer(factors).sum(axis=0)
    weights, found = cp = online_parafac(
        X, 2, sample_mode=mode, n_epochs=20, n_polish=60, random_state=0
    )
    assert [factor.shape for factor in found] == [(12, 2), (10, 2), (8, 2)]
    error = np.linalg.norm(cp.to_tensor() - X) / np.linalg.norm(X)
    assert_allclose(cp.relative_error, error, atol=1e-6)
    room.error(error, at_most=0.02)
    assert_array_equal(weights, np.ones(2))
    np.save(tmp_path / "tensor.npy", X)
    mapped = np.load(tmp_path / "tensor.npy", mmap_mode="r")
    again = online_parafac(mapped, 2, sample_mode=mode, n_epochs=20, n_polish=60, random_state=0)
    assert_array_equal(again.factors[0], found[0])


def test_a_zarr_array_is_read_slice_by_slice(tmp_path):
    zarr = pytest.importorskip("zarr")
    X = outer(loadings((12, 10, 8), r=2)).sum(axis=0)
    stored = zarr.create_array(tmp_path / "x.zarr", shape=X.shape, chunks=(3, 10, 8), dtype="f8")
    stored[:] = X
    for mode in (0, 1):
        one = online_parafac(stored, 2, sample_mode=mode, random_state=0)
        assert_allclose(
            one.factors[0],
            online_parafac(X, 2, sample_mode=mode, n_polish=0, random_state=0).factors[0],
        )


def test_polishing_never_raises_the_error():
    X = tensors(n=40, shape=(9, 7), r=4, noise=0.3)
    errors = [
        online_parafac(X, 3, n_epochs=2, n_polish=n, random_state=0).relative_error
        for n in range(8)
    ]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(errors))


def test_at_the_end_of_polishing_exact_least_squares_of_a_mode_gain_nothing():
    X = tensors(n=40, shape=(9, 7), r=4, noise=0.3)
    found = online_parafac(X, 3, n_epochs=2, n_polish=500, random_state=0)
    weights, factors = found
    factors = [np.asarray(U, dtype=float) for U in factors]
    factors[0] = factors[0] * weights
    for mode in range(3):
        others = khatri_rao([U for m, U in enumerate(factors) if m != mode])
        rows = np.moveaxis(X, mode, 0).reshape(X.shape[mode], -1)
        rest = sum(nnls(others, row)[1] ** 2 for row in rows)
        error = np.sqrt(rest / (X**2).sum())
        assert found.relative_error * (1 - 1e-4) <= error <= found.relative_error * (1 + 1e-6)


@pytest.mark.parametrize("shape", [(9, 7), (4, 5, 3), (6,)])
@pytest.mark.parametrize("mode", [0, 1])
def test_a_sparse_tensor_is_factorized_as_a_dense_one(shape, mode):
    rng = np.random.default_rng(3)
    X = tensors(n=30, shape=shape, r=3) * (rng.random((30, *shape)) < 0.1)
    X[0] = 0.0
    X[:, 0] += 0.01 * rng.random(X[:, 0].shape)
    settings = {"sample_mode": mode, "n_epochs": 2, "n_polish": 6, "random_state": 0}
    entries = np.nonzero(X)
    stored = sp.coo_array((X[entries], entries), shape=X.shape)
    sparse, dense = online_parafac(stored, 3, **settings), online_parafac(X, 3, **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            parafac, "MAX_STORED_SHARE", -1.0
        )  # as a dense tensor that is read for every sweep
        read = online_parafac(X, 3, **settings)
    for found in (sparse, dense):
        assert found.relative_error == pytest.approx(read.relative_error, rel=1e-6)
        for one, other in zip(found.factors, read.factors, strict=True):
            assert_allclose(one, other, rtol=1e-4, atol=1e-6)
        memory, expected = found.model.memory_, read.model.memory_
        assert_allclose(memory.gram, expected.gram, rtol=1e-4, atol=1e-9)
        assert_allclose(np.asarray(memory.cross), np.asarray(expected.cross), rtol=1e-4, atol=1e-8)
        assert memory.constant == pytest.approx(expected.constant)
    found.model.partial_fit(X[:5] if mode == 0 else np.moveaxis(X, 1, 0)[:5])


def test_polishing_ends_where_it_gains_next_to_nothing(monkeypatch):
    X = tensors(n=40, shape=(9, 7), r=4, noise=0.3)
    settings = {"n_epochs": 2, "random_state": 0}
    settled = online_parafac(X, 3, n_polish=None, **settings)
    further = online_parafac(X, 3, n_polish=300, **settings)
    assert settled.relative_error == pytest.approx(further.relative_error, rel=1e-3)
    sweeps = []
    swept = parafac._swept
    monkeypatch.setattr(parafac, "_swept", lambda *args: sweeps.append(swept(*args)) or sweeps[-1])
    online_parafac(X, 3, n_polish=None, **settings)
    gains = -np.diff(sweeps) / sweeps[1:]
    assert 2 < len(sweeps) < 200
    assert gains[-1] <= parafac.MIN_GAIN < gains[:-1].min()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sample_mode": 3}, "sample_mode"),
        ({"fraction": 0}, "fraction"),
        ({"n_polish": -1}, "n_polish"),
        ({"n_epochs": 0}, "n_epochs"),
        ({"rank": 0}, "n_components"),
    ],
)
def test_bad_requests_for_one_tensor_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        online_parafac(np.ones((3, 4, 5)), **{"rank": 2, **settings})


def test_callbacks_see_tensors_dense_and_sparse():
    from atomstream.watch.callbacks import Callback

    shapes = []

    class Look(Callback):
        """Notes shapes."""

        def on_fit_task_end(self, estimator, context, **kwargs):
            if context.task_name == "batch":
                shapes.append(estimator._samples(estimator._progress.batch.X).shape)

    X = tensors()
    X[X < 0.5] = 0
    stored = sp.coo_array((X[np.nonzero(X)], np.nonzero(X)), shape=X.shape)
    for data in (X, stored):
        learner = model(n_epochs=1)
        learner.set_callbacks(Look())
        learner.fit(data)
    assert shapes == [(20, 6, 5)] * 6
    rows = learner.axes_.flatten(stored)
    assert_array_equal(learner.axes_.restore(rows).toarray() if rows.ndim == 2 else rows, X)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-6, 0.03, 1.0, 1e4])
@pytest.mark.parametrize("init", ["random", "samples"])
@pytest.mark.cover(2)
def test_bounded_loadings_learn_at_every_scale(scale, init, room):
    X = tensors(noise=0.0)
    learner = model(atoms="bounded", init=init, n_epochs=40).fit(scale * X)
    for U in learner.loadings_:
        assert np.linalg.norm(U) <= learner.norm_ * (1 + 1e-9)
    room.error(-learner.score(scale * X), at_most=3e-2 * 0.5 * scale**2 * (X**2).sum() / len(X))


def test_known_loadings_outside_their_sets_enter_them_at_the_first_update():
    X = tensors()
    known = [50 * U for U in loadings((6, 5))]
    learner = OnlineCPDictionary.from_components(
        known, updater=LoadingSweep(radius=0.1)
    ).partial_fit(X)
    for U in learner.loadings_:
        assert np.linalg.norm(U, axis=0).max() <= 1 + 1e-9
    other = model(radius=0.01).partial_fit(X).set_params(atoms="simplex").partial_fit(X)
    for U in other.loadings_:
        assert_allclose(U.sum(axis=0), 1, atol=1e-9)


def test_weights_repeat_under_the_bound_too():
    X = tensors()
    weights = np.r_[np.full(10, 30), np.ones(50)].astype(int)
    known = dict(
        batch_size=5000, shuffle=False, n_epochs=10, init="samples", atoms="bounded", alpha=0.1
    )
    one = model(**known).fit(X, sample_weight=weights)
    other = model(**known).fit(np.repeat(X, weights, axis=0))
    assert_allclose(one.norm_, other.norm_)
    assert_allclose(one.components_, other.components_, atol=1e-7)


def test_reseeding_leaves_fixed_atoms_alone_under_a_bound():
    X = tensors()
    init = [np.zeros((6, 3)), np.zeros((5, 3))]
    for U in init:
        U[0] = [1.0, 0.0, 1.0]
    learner = model(init=init, fixed_components=1, atoms="bounded")
    for _ in range(10):
        learner.partial_fit(X[:10] * 0.2)
    assert learner.n_reseeded_ > 0
    for U, V in zip(learner.loadings_, init, strict=True):
        assert_array_equal(U[:, 0], V[:, 0])
        assert np.linalg.norm(U) <= max(learner.norm_, 1.0) * (1 + 1e-4)


def test_a_changed_radius_takes_effect_and_back():
    learner = model(radius=0.01).partial_fit(tensors())
    assert learner.set_params(updater__radius="auto").radius_ == 10 * np.sqrt(3)
    assert learner.set_params(updater__radius=None).radius_ is None


def test_one_tensor_stops_when_told():
    from atomstream.watch.callbacks import Callback

    class Stop(Callback):
        """Ends after the first batch."""

        def on_fit_task_end(self, estimator, context, **kwargs):
            return context.task_name == "batch"

    X = tensors()
    assert (
        online_parafac(X, 2, n_epochs=7, n_polish=3, max_time=0, random_state=0).model.n_steps_ == 1
    )
    assert (
        online_parafac(
            X, 2, n_epochs=7, n_polish=3, callbacks=[Stop()], random_state=0
        ).model.n_steps_
        == 1
    )
    with pytest.raises(ValueError, match="fraction"):
        online_parafac(X, 2, batch_size=3)


def test_axes_are_taken_by_name_and_others_refused():
    xr = pytest.importorskip("xarray")
    X = tensors(shape=(5, 5))
    learner, other = (model().fit(xr.DataArray(X, dims=["t", "lat", "lon"])) for _ in range(2))
    with pytest.raises(ValueError, match="axes"):
        learner.partial_fit(xr.DataArray(X, dims=["t", "lat", "depth"]))
    learner.partial_fit(xr.DataArray(X, dims=["t", "lat", "lon"]))
    other.partial_fit(xr.DataArray(X.transpose(0, 2, 1), dims=["t", "lon", "lat"]))
    assert_array_equal(learner.components_, other.components_)


def test_large_sums_do_not_depend_on_the_order_in_memory():
    from atomstream.dictionaries.low_rank import blend

    old, new = np.random.default_rng(0).random((2, 8, 2**16))
    expected = 0.3 * old + 0.7 * new
    for one in (old, np.asfortranarray(old)):
        for other in (new, np.asfortranarray(new)):
            assert_allclose(blend(one, 0.3, other, 0.7), expected)


@pytest.mark.parametrize("radius", [None, 0.3])
def test_damping_is_part_of_what_the_sweep_minimises(radius):
    X = tensors()
    learner = model(damping=50.0, radius=radius, n_sweeps=1).partial_fit(X[:20])
    codes_of, state, objective = (
        learner.algorithm_.coder,
        learner.state_,
        learner.algorithm_.objective,
    )
    batch = learner._batch(X[20:])
    codes = codes_of.encode(batch, state.dictionary, objective, learner.clock_.tolerance)
    delta = learner.algorithm_.statistics.measure(batch, codes, state.dictionary, objective)
    state.memory.absorb(delta, learner.clock_.tick(delta.mass))
    before, gain = learner.surrogate(), []
    for damping in (50.0, 0.0):
        trial = copy.copy(learner)
        trial.set_params(damping=damping)
        trial.algorithm_.updater.update(trial.state_, objective, trial.clock_)
        gain.append(before - trial.set_params(damping=50.0).surrogate())
    assert gain[0] >= 0
    assert gain[0] > gain[1]  # without it the sweep minimises something else


@pytest.mark.parametrize("name", ["mask", "sample_weight", "n_components"])
def test_keywords_that_are_no_parameters_are_refused_by_the_function(name):
    with pytest.raises(TypeError, match=rf"^online_parafac has no '{name}'; known are damping, .*"):
        online_parafac(np.ones((4, 3, 2)), 2, **{name: np.ones((4, 3, 2))})


def test_tags_follow_the_axes():
    assert not get_tags(OnlineCPDictionary(reshape=[(0,), (1, 2)])).input_tags.two_d_array
