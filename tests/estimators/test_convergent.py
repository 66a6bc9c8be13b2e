"""Inside the theorem: the settings of `convergent`, and the warning of schedules outside."""

import math
import warnings

import numpy as np
import pytest
from cases import of_fields
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from sklearn.base import clone

import atomstream
from atomstream import BatchNMF, OnlineDictionaryLearning, OnlineNMF, ScheduleWarning
from atomstream.memory import Aggregates
from atomstream.penalties import NonnegativeBall
from atomstream.schedules import (
    Constant,
    Harmonic,
    LogPolynomial,
    Polynomial,
    Power,
    check_conditions,
)

N_STATES = 40
RNG = np.random.default_rng(0)
STATES = RNG.random((N_STATES, 4)) @ (RNG.random((4, 12)) * (RNG.random((4, 12)) < 0.5))


def chain(n_batches, size=10, seed=1):
    """Yield batches of a walk on a ring of samples: a finite chain with the uniform law."""
    rng, state = np.random.default_rng(seed), 0
    for _ in range(n_batches):
        moves = rng.integers(-3, 4, size)  # 0 among them: aperiodic
        places = (state + np.cumsum(moves)) % N_STATES
        state = places[-1]
        yield STATES[places]


@pytest.mark.parametrize("model_class", [OnlineNMF, OnlineDictionaryLearning])
def test_every_condition_on_settings_is_kept(model_class):
    model = model_class.convergent(6, alpha=0.01, random_state=0)
    model.fit_stream(chain(30))
    algorithm, clock = model.algorithm_, model.clock_
    # w_t = 1/t, the law of (3) and (32), which keeps (A3) of the other paper too.
    assert check_conditions(clock.schedule).met
    assert clock.schedule == Harmonic()
    assert clock.weight == pytest.approx(1 / 30)
    assert math.isinf(clock.horizon)
    # (34) with K = 1, and with it (32) with K = 2.2.
    for step in (1, 10, 1000, 10**6):
        assert clock.accuracy(step) <= step**-0.5
        assert clock.accuracy(step) <= 2.2 / math.log(max(step, 2)) ** 2
    # (A2): atoms in a compact set; lambda > 0 bounds the codes (Proposition 7.2).
    assert algorithm.objective.atoms.shape.radius == 1
    assert algorithm.objective.codes.l1 == 0.01
    # (C1), (C2): kappa_2 and kappa_1.
    assert algorithm.objective.codes.l2 > 0
    assert algorithm.updater.damping > 0
    # Nothing but the scheme moves an atom, and rows come once, as they are.
    assert math.isinf(algorithm.reseeding.patience)
    assert (model.n_epochs, model.shuffle, model.missing) == (1, False, False)


def test_no_atom_is_reseeded_or_scaled(monkeypatch):
    X = STATES * (np.arange(12) < 11)
    init = np.vstack([STATES[:3], np.eye(12)[-1:]]) / 10  # short ones, and one that nothing uses
    settings = {"alpha": 0.01, "init": init, "random_state": 0}
    default = OnlineNMF(4, **settings)
    default.fit_stream([X[:10]] * 10)
    assert default.n_reseeded_ > 0

    def refuse(*_):
        raise AssertionError("past codes were scaled")

    monkeypatch.setattr(Aggregates, "rescale", refuse)
    model = OnlineNMF.convergent(4, **settings).fit_stream([X[:10]] * 10)
    assert model.n_reseeded_ == 0
    assert_array_equal(model.components_[-1], init[-1])
    with pytest.raises(AssertionError, match="past codes were scaled"):
        OnlineNMF(4, **settings).fit_stream([X[:10] / 100] * 10)


def test_a_run_on_a_markov_chain_converges(room):
    """The law of the chain is uniform, so every expected figure is a mean over its states."""
    model = OnlineNMF.convergent(4, alpha=0.01, random_state=0)
    counts, before, steps, figures = np.zeros(N_STATES), None, [], {}
    for t, batch in enumerate(chain(1000), start=1):
        model.partial_fit(batch)
        counts += (batch[:, None] == STATES[None]).all(axis=2).sum(axis=0)
        if before is not None:
            steps.append(t * np.linalg.norm(model.components_ - before))
        before = model.components_.copy()
        if t in (10, 100, 1000):
            surrogate = model.state_.memory.value(model.state_.dictionary)
            gap = surrogate - model.objective(STATES, sample_weight=counts)
            figures[t] = model.stationarity(STATES), model.objective(STATES), gap
    stationarity, objective, gap = np.array([figures[t] for t in (10, 100, 1000)]).T
    assert (np.diff(stationarity) < 0).all()
    room.fall(stationarity[-1], stationarity[0], at_least=0.35)
    assert (np.diff(objective) < 0).all()
    assert (gap > -1e-12).all()  # the surrogate is above the empirical loss
    room.fall(gap[-1], gap[0], at_least=0.5)
    # Proposition 7.4: moves are O(1/t).
    room.error(max(steps[500:]), at_most=1.5 * max(steps[:500]))


def test_more_sweeps_come_closer_to_the_minimum_of_the_surrogate(room):
    few, many = (
        OnlineNMF.convergent(4, alpha=0.01, n_sweeps=n, random_state=0).fit_stream(chain(20))
        for n in (1, 50)
    )
    for model in (few, many):
        A = model.memory_.gram + model.damping * np.eye(4)
        slope = A @ model.components_ - np.asarray(model.memory_.cross)
        step = 1 / np.linalg.eigvalsh(A)[-1]
        moved = model.algorithm_.objective.atoms.prox(model.components_ - step * slope, 0.0)
        model.off = np.linalg.norm(moved - model.components_)
    room.error(many.off, at_most=1e-6)
    assert many.off < few.off


def test_exact_steps_solve_equation_3_to_rounding():
    """Codes by the nonnegative least squares of scipy, atoms by projected steps until they rest."""
    model = OnlineNMF.exact(4, alpha=0.02, init=STATES[:4])
    gram, cross, prox = np.zeros((4, 4)), np.zeros((4, 12)), NonnegativeBall().prox
    atoms = prox(STATES[:4], 0.0)
    for t, X in enumerate(chain(4), start=1):
        root = np.linalg.cholesky(atoms @ atoms.T)
        goals = np.linalg.solve(root, atoms @ X.T - 0.02)
        codes = np.array([nnls(root.T, goal)[0] for goal in goals.T])
        gram += (codes.T @ codes / len(X) - gram) / t
        cross += (codes.T @ X / len(X) - cross) / t
        step = 1 / np.linalg.eigvalsh(gram)[-1]
        for _ in range(5_000):
            atoms = prox(atoms - step * (gram @ atoms - cross), 0.0)
        model.partial_fit(X)
        assert_allclose(model.memory_.gram, gram, atol=1e-12)
        assert_allclose(model.memory_.cross, cross, atol=1e-12)
        assert_allclose(model.components_, atoms, atol=1e-11)
    with pytest.raises(ValueError, match="schedule is settled by the theorem; leave it out"):
        OnlineNMF.exact(4, schedule="power")


@pytest.mark.parametrize("kind", [BatchNMF])
@pytest.mark.parametrize("way", ["exact", "convergent"])
def test_models_with_another_objective_are_not_in_the_theorem(kind, way):
    with pytest.raises(ValueError, match=f"{kind.__name__} has no .* Take OnlineNMF"):
        getattr(kind, way)(alpha=0.1)


def test_a_convergent_model_is_cloned_and_saved_as_any_other(tmp_path):
    model = OnlineNMF.convergent(4, alpha=0.01, random_state=0)
    twin = clone(model).fit_stream(chain(5))
    assert_array_equal(model.fit_stream(chain(5)).components_, twin.components_)
    atomstream.save(model, tmp_path / "model.atomp")
    loaded = atomstream.load(tmp_path / "model.atomp")
    assert math.isinf(loaded.updater.patience)
    model.partial_fit(STATES)
    assert_array_equal(loaded.partial_fit(STATES).components_, model.components_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"schedule": "power"}, "schedule is settled by the theorem"),
        ({"loss": "kl"}, "loss is settled by the theorem"),
        ({"n_epochs": 3}, "n_epochs is settled by the theorem"),
        ({"alpha": 0.0}, "alpha must be above 0"),
        ({"ridge": 0}, "ridge must be above 0"),
        ({"damping": 0.0}, "damping must be above 0"),
        ({"damping": -1.0}, "damping must be a number of at least 0"),
        ({"atoms": "nonnegative"}, "is no bounded convex set and the theorem needs one"),
    ],
)
def test_settings_outside_the_theorem_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        OnlineNMF.convergent(4, **settings)


# -- schedules outside, in all models

# What begins to learn under a schedule.
KINDS = {
    "nmf": lambda schedule: OnlineNMF(2, schedule=schedule).fit(STATES),
    "stream": lambda schedule: OnlineNMF(2, schedule=schedule).fit_stream(chain(3)),
    "known": lambda schedule: OnlineNMF.from_components(STATES[:2], schedule=schedule),
    "signed": lambda schedule: OnlineDictionaryLearning(2, schedule=schedule).partial_fit(STATES),
    **of_fields("schedules"),
}


@pytest.mark.cover(2)
@pytest.mark.parametrize("kind", KINDS)
def test_every_model_says_which_condition_a_schedule_breaks(kind):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", ScheduleWarning)
        KINDS[kind]("constant")
    messages = [str(it.message) for it in found if it.category is ScheduleWarning]
    assert len(messages) == 1
    assert "schedule='constant' breaks condition (A3)" in messages[0]
    assert "too slowly for noise to average out" in messages[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScheduleWarning)
        KINDS[kind]("power")


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        (Constant(half_life=10.0), "the sum of w_t^2 sqrt(t) is infinite"),
        (Polynomial(), "the sum of w_t^2 sqrt(t) is infinite"),
        (LogPolynomial(1.0), "late samples weigh less than early ones"),
    ],
)
def test_the_part_that_fails_is_named(schedule, sentence):
    with pytest.warns(ScheduleWarning) as found:
        OnlineNMF(2, schedule=schedule).partial_fit(STATES)
    assert sentence in str(found[0].message)
    assert found[0].filename == __file__


def test_the_warning_comes_once_in_a_run_and_again_when_the_schedule_changes():
    model = OnlineNMF(2, schedule="power", random_state=0).partial_fit(STATES)
    with pytest.warns(ScheduleWarning):
        model.set_params(schedule="constant").partial_fit(STATES)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScheduleWarning)
        model.partial_fit(STATES).set_params(alpha=0.1).partial_fit(STATES)
        model.set_params(schedule=Power(3)).partial_fit(STATES)


def test_a_function_of_the_user_is_called_for_its_steps_only():
    calls = []

    def own(step, mass, total):
        calls.append(step)
        return 0.5

    with warnings.catch_warnings():
        warnings.simplefilter("error", ScheduleWarning)
        OnlineNMF(2, schedule=own).fit_stream(chain(3))
    assert calls == [2, 3]
