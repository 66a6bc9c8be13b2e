"""Inside the theorems of the other papers: what `convergent` sets, refuses, and comes to."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import atomstream
from atomstream import OnlineConvexMF, OnlineCPDictionary, RandomWalkFactorization
from atomstream.memory import Aggregates
from atomstream.penalties import Box, UnitBall
from atomstream.samplers import RandomWalk
from atomstream.schedules import Harmonic, LogPolynomial, check_conditions


@pytest.mark.parametrize(
    ("model_class", "settings", "message"),
    [
        (OnlineConvexMF, {"schedule": "power"}, "schedule is settled by the theorem"),
        (OnlineConvexMF, {"n_epochs": 3}, "n_epochs is settled by the theorem"),
        (OnlineConvexMF, {"missing": True}, "missing is settled by the theorem"),
        (OnlineConvexMF, {"ridge": 0.0}, "ridge must be above 0"),
        (OnlineConvexMF, {"damping": 0}, "damping must be above 0"),
        (OnlineConvexMF, {"assignment": "code"}, "assignment='code' is not covered"),
        (OnlineConvexMF, {"assignment": "pooled"}, "assignment='pooled' is not covered"),
        (OnlineCPDictionary, {"updater": "auto"}, "updater is settled by the theorem"),
        (OnlineCPDictionary, {"coder": "auto"}, "coder is settled by the theorem"),
        (OnlineCPDictionary, {"shuffle": True}, "shuffle is settled by the theorem"),
        (OnlineCPDictionary, {"ridge": 0.0}, "ridge must be above 0"),
        (OnlineCPDictionary, {"ridge": -1.0}, "ridge must be a number of at least 0"),
        (OnlineCPDictionary, {"radius": None}, "radius must be a number or 'auto'"),
        (OnlineCPDictionary, {"codes": "nonnegative"}, "codes='nonnegative' is no bounded"),
        (OnlineCPDictionary, {"atoms": "free"}, "atoms='free' is no bounded"),
        (OnlineCPDictionary, {"atoms": ["unit_ball", "nonnegative"]}, "is no bounded convex set"),
        (OnlineCPDictionary, {"atoms": "nonnegative"}, "is no bounded convex set"),
        (OnlineCPDictionary, {"schedule": "constant"}, "breaks condition \\(A3\\)"),
        (OnlineCPDictionary, {"schedule": LogPolynomial(1.0)}, "breaks condition \\(A3\\)"),
        (RandomWalkFactorization, {"averaging": True}, "averaging is settled by the theorem"),
        (RandomWalkFactorization, {"scaling": "none"}, "scaling is settled by the theorem"),
        (RandomWalkFactorization, {"step": "auto"}, "step must be a number of at least 0"),
        (RandomWalkFactorization, {"step": 0}, "step must be above 0"),
        (RandomWalkFactorization, {"tau": 1}, "tau must be a whole number of at least 2"),
    ],
)
def test_settings_outside_the_theorem_are_refused(model_class, settings, message):
    with pytest.raises(ValueError, match=message):
        model_class.convergent(3, **settings)


# -- convex factorization: independent samples, uniform on a cube


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


# -- CP dictionaries: a chain on a ring of tensors

N_STATES = 40
RNG = np.random.default_rng(0)
TENSORS = np.einsum(
    "nr,ir,jr->nij", *(RNG.random((n, 3)) * (RNG.random((n, 3)) < 0.7) for n in (N_STATES, 5, 4))
)


def chain(n_batches, size=10, seed=1):
    """Yield batches of a walk on a ring of tensors: a finite chain with the uniform law."""
    rng, state = np.random.default_rng(seed), 0
    for _ in range(n_batches):
        places = (state + np.cumsum(rng.integers(-3, 4, size))) % N_STATES
        state = places[-1]
        yield TENSORS[places]


def test_cp_settings_keep_every_condition():
    model = OnlineCPDictionary.convergent(3, random_state=0).fit_stream(chain(30))
    algorithm, clock = model.algorithm_, model.clock_
    # (A2): compact sets of loadings and codes.
    assert [part.shape.radius for part in algorithm.objective.atoms.sets] == [1, 1]
    assert algorithm.objective.codes.shape[:2] == (0.0, 1e6)
    # (A3), and the radius c' w_t.
    assert check_conditions(clock.schedule).met
    assert clock.weight == pytest.approx(1 / 30)
    assert model.radius_ == pytest.approx(10 * 3**0.5)
    # (A4): unique codes.
    assert algorithm.objective.codes.l2 > 0
    # Exact minima, in the end.
    assert [clock.accuracy(10**k) for k in (0, 2, 6)] == pytest.approx([1e-3, 1e-3, 1e-5])
    # Nothing but the scheme moves a loading, and samples come once, as they are.
    assert math.isinf(algorithm.reseeding.patience)
    assert (model.n_epochs, model.shuffle, model.missing) == (1, False, False)


@pytest.mark.parametrize("atoms", ["nonnegative_ball", "unit_ball", "bounded", "simplex"])
def test_all_bounded_sets_are_taken(atoms):
    codes = Box(-2.0, 2.0) if atoms == "unit_ball" else Box(0.0, 9.0)
    model = OnlineCPDictionary.convergent(2, atoms=atoms, codes=codes, schedule="power")
    model.fit_stream(chain(3))
    assert np.abs(model.transform(TENSORS)).max() <= codes.high
    assert OnlineCPDictionary.convergent(2, codes=UnitBall()).codes == UnitBall()


def test_no_loading_is_reseeded_or_scaled(monkeypatch):
    idle = [np.eye(5)[:, 3:5] * [0.3, 1.0], np.eye(4)[:, :2] * [0.3, 1.0]]
    X = TENSORS[:10] * (np.arange(5) < 4)[:, None]  # without what the second atom is for
    default = OnlineCPDictionary(2, init=idle, random_state=0).fit_stream([X] * 10)
    assert default.n_reseeded_ > 0

    def refuse(*_):
        raise AssertionError("past codes were scaled")

    monkeypatch.setattr(Aggregates, "rescale", refuse)
    model = OnlineCPDictionary.convergent(2, init=idle, random_state=0).fit_stream([X] * 10)
    assert model.n_reseeded_ == 0
    for U, start in zip(model.loadings_, idle, strict=True):
        assert_array_equal(U[:, 1], start[:, 1])
    with pytest.raises(AssertionError, match="past codes were scaled"):
        OnlineCPDictionary(2, init=idle, random_state=0).fit_stream([X / 100] * 10)


def along_the_chain(seed):
    """Return (stationarity, gap) after 10 and 1,000 batches, and the largest t times a move."""
    model = OnlineCPDictionary.convergent(3, radius=2.0, random_state=seed)
    counts, before, largest, figures = np.zeros(N_STATES), None, 0.0, []
    for t, batch in enumerate(chain(1000, seed=seed + 1), start=1):
        model.partial_fit(batch)
        counts += (batch[:, None] == TENSORS[None]).all(axis=(2, 3)).sum(axis=0)
        if before is not None:
            for U, V in zip(model.loadings_, before, strict=True):
                largest = max(largest, t * np.linalg.norm(U - V))
        before = [U.copy() for U in model.loadings_]
        if t in (10, 1000):
            gap = model.state_.memory.value(model.state_.dictionary)
            gap -= model.objective(TENSORS, sample_weight=counts)
            figures.append((model.stationarity(TENSORS), gap))
    return figures, largest


def test_runs_of_tensors_on_a_markov_chain_converge(room, seeds):
    """The law of the chain is uniform, so the expected figures are means over its states."""
    figures, moves = zip(*map(along_the_chain, seeds), strict=True)
    assert max(moves) <= 2.0 * (1 + 1e-9)  # the radius c' w_t, which holds in every step
    assert np.min(figures) > -1e-9
    (far, wide), (near, narrow) = np.mean(figures, axis=0)
    room.fall(near, far, at_least=0.35)
    room.fall(narrow, wide, at_least=0.5)


def test_more_sweeps_come_closer_to_the_minimum_of_each_block(room):
    off = []
    for n_sweeps in (1, 50):
        model = OnlineCPDictionary.convergent(3, n_sweeps=n_sweeps, random_state=0)
        model.fit_stream(chain(20))
        memory, (U, V) = model.memory_, model.loadings_
        cross = np.asarray(memory.cross).reshape(3, 5, 4)
        worst = 0.0
        for own, other, sums in (
            (U, V, np.einsum("rij,jr->ri", cross, V)),
            (V, U, np.einsum("rij,ir->rj", cross, U)),
        ):
            A = memory.gram * (other.T @ other)
            rows = own.T - (A @ own.T - sums) / np.linalg.eigvalsh(A)[-1]
            moved = np.maximum(rows, 0)
            moved /= np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1)
            worst = max(worst, np.linalg.norm(moved - own.T))
        off.append(worst)
    room.error(off[1], at_most=0.1 * off[0])


# -- random walks: a lumpable chain of two blocks

WEIGHTS = np.kron([[6.0, 1.0], [1.0, 6.0]], np.ones((4, 4)))
P = WEIGHTS / WEIGHTS.sum(axis=1, keepdims=True)


def walk(n, seed):
    return RandomWalk(WEIGHTS).run(np.random.default_rng(seed), np.array([0]), n)[0]


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


# -- all of them


@pytest.mark.parametrize("kind", ["convex", "tensor", "walk"])
def test_a_convergent_model_is_cloned_and_saved_as_any_other(kind, tmp_path):
    made, batches = {
        "convex": (OnlineConvexMF.convergent(3, n_representatives=9), [cube(20, 0), cube(20, 1)]),
        "tensor": (OnlineCPDictionary.convergent(3), list(chain(2))),
        "walk": (RandomWalkFactorization.convergent(2), [walk(50, 0), walk(50, 1)]),
    }[kind]
    made.set_params(random_state=0)
    model, twin = (clone(made).partial_fit(batches[0]) for _ in range(2))
    atomstream.save(model, tmp_path / "model.atoms")
    loaded = atomstream.load(tmp_path / "model.atoms")
    assert repr(loaded.get_params(deep=False)) == repr(made.get_params(deep=False))
    for one in (twin, loaded):
        one.partial_fit(batches[1])
    figure = "singular_values_" if kind == "walk" else "components_"
    assert_array_equal(getattr(loaded, figure), getattr(twin, figure))
