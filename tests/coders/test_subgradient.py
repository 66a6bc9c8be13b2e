"""The paper's projected stochastic subgradient method: its set, its steps, its rules for codes."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from strategies import LOSS_NAMES, LOSSES, positive

from atomstream import OnlineNMF
from atomstream.coders import Multiplicative, ProjectedSubgradient
from atomstream.dictionaries import Rows
from atomstream.exceptions import IncompatiblePartsError
from atomstream.files.codec import Decoder
from atomstream.penalties import Box, Covering, Free
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy
from atomstream.problem.objective import Objective
from atomstream.schedules import Constant
from atomstream.updates import BlockCoordinate, SubgradientStep

# Subgradient steps refuse a loss whose scale moves (tests/losses/test_divergences.py).
FIXED = [name for name in LOSS_NAMES if name != "trimmed"]


@given(seed=st.integers(0, 2**32 - 1))
def test_the_projection_on_the_covering_set_is_the_closest_point(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(0.2, 0.8, (3, 4))
    rows[:, 0] = -rng.random(3)  # a column that no atom reaches
    penalty = Covering(0.3)
    found = penalty.prox(rows, 0.0)
    assert np.isfinite(penalty.value(found)).all()
    for column, target in zip(found.T, rows.T, strict=True):
        best = minimize(
            lambda u, target=target: 0.5 * ((u - target) ** 2).sum(),
            np.full(3, 0.4),
            bounds=[(0, 1)] * 3,
            constraints=[{"type": "ineq", "fun": lambda u: u.sum() - 0.3}],
            options={"ftol": 1e-12},
        )
        assert_allclose(column, best.x, atol=1e-5)


def test_the_covering_set_knows_who_is_outside():
    penalty = Covering(0.5)
    assert np.isinf(penalty.value(np.array([[0.1, 1.0], [0.1, 0.0]]))).all()
    assert np.isinf(penalty.value(np.array([[0.6, 1.2]]))).all()
    assert (penalty.value(np.array([[0.6, 0.5]])) == 0).all()


def test_a_set_that_couples_atoms_is_refused_where_atoms_are_minimised_one_by_one():
    for loss, updater in (("squared", BlockCoordinate()), ("kl", "majorise")):
        with pytest.raises(IncompatiblePartsError, match="needs atoms that are rowwise"):
            OnlineNMF(3, loss=loss, atoms="covering", updater=updater).fit(positive())


@pytest.mark.parametrize("name", FIXED)
def test_atoms_stay_in_their_set_after_every_step(name):
    X = positive()
    model = OnlineNMF(4, loss=name, updater="spsg", random_state=0)
    for start in range(0, 120, 20):
        model.partial_fit(X[start : start + 20])
        assert model.components_.min() >= 0
        assert model.components_.max() <= 1
        assert (model.components_.sum(axis=0) >= 1e-8 * (1 - 1e-6)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize(
    "scale", [1e3, *(pytest.param(scale, marks=pytest.mark.long) for scale in (1e-3, 1.0))]
)
def test_one_default_step_serves_every_loss_and_scale(name, scale, room):
    X = scale * positive(100)
    settings = {
        "loss": name if name != "huber" else f"huber:{0.5 * scale}",
        "updater": "spsg",
        "random_state": 0,
    }
    started = OnlineNMF(4, batch_size=20, n_epochs=1, **settings).fit(X[:20]).objective(X)
    learned = OnlineNMF(4, batch_size=20, n_epochs=20, **settings).fit(X).objective(X)
    room.fall(learned, started, at_least=0.15)  # noise that nothing explains is most of l1 and l2


@pytest.mark.cover(4)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "rule"),
    [
        (loss, rule)
        for loss in LOSSES
        for rule in ("armijo", "constant", "polyak")
        if rule == "polyak" or not loss.has_kinks or loss.smoothness  # kinks need Polyak's rule
        # A long first step can end in the corner, where what is not convex may be critical.
        if loss.convex or rule != "armijo"
    ],
    ids=repr,
)
def test_every_rule_finds_nearly_the_best_codes(loss, rule, room):
    X = positive(2, 3)[:1]
    atoms = np.random.default_rng(1).random((2, 3)) + 0.1
    objective = Objective(loss, Box(1e-8, 1e8, l2=0.1), Free())
    coder = ProjectedSubgradient(rule=rule, max_iter=3000)
    codes = coder.encode(Batch(X), Rows(atoms), objective, Accuracy(1e-6, 1e-12)).values
    values = objective.values(Batch(X), codes, Rows(atoms))
    for x, value in zip(X, values, strict=True):
        best = min(
            minimize(
                lambda h, x=x: float(objective.values(Batch(x[None]), h[None], Rows(atoms))[0]),
                start,
                bounds=[(1e-8, 1e8)] * 2,
                method="L-BFGS-B" if not loss.has_kinks else "Powell",
            ).fun
            for start in np.array([[0.5, 0.5], [2.0, 1.0], [1.0, 3.0]])
        )
        room.ratio((value - 1e-6) / best, at_most=1.03)


@pytest.mark.cover(2)
@pytest.mark.parametrize("unit", ["curvature", "printed"])
@pytest.mark.parametrize(("a", "b"), [(5.0, 50.0), (500.0, 50.0)])
@pytest.mark.parametrize("name", ["kl", "huber:2", "l2"])
def test_every_step_is_that_of_equation_8_and_stays_in_the_set(name, unit, a, b):
    class Patient(SubgradientStep):
        """Long steps may make all atoms equal: none of them is to start anew here."""

        patience = math.inf

    updater = Patient(a=a, b=b, unit=unit)
    model = OnlineNMF(3, loss=name, updater=updater, random_state=0)
    X, lengths = positive(400), []
    model.partial_fit(X[:20])
    # The batches differ in size: a small one must not bring back the long steps of the beginning.
    for start, stop in pairwise([20, 40, 47, 50, 150, 170, 171, 400]):
        before, seen = model.components_, stop
        model.partial_fit(X[start:stop])
        lengths.append(a / (seen + b))
        slope = model.memory_.slope
        if unit == "curvature":
            slope = slope / model.memory_.curvature
        expected = Covering().prox(before - lengths[-1] * slope, 0.0)
        assert_allclose(model.components_, expected, rtol=1e-12, atol=1e-15)
        assert (Covering().value(model.components_) == 0).all()
    assert (np.diff(lengths) < 0).all()


def test_an_unknown_unit_of_steps_is_refused():
    with pytest.raises(ValueError, match=r"needs unit to be curvature or printed, got 'raw'"):
        SubgradientStep(unit="raw")


def test_steps_that_were_saved_without_their_unit_are_read():
    saved = {"part": "SubgradientStep", "fields": {"a": 3.0, "b": 4.0, "fixed": 1}}
    assert Decoder([], []).decode(saved) == SubgradientStep(3.0, 4.0, 1)


@pytest.mark.slow
def test_losses_without_a_majoriser_take_the_steps_by_themselves(room):
    from atomstream.losses import Alpha, Mahalanobis

    X = positive(200, 3)
    metric = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.4]])
    for loss in (Alpha(0.0), Mahalanobis(metric)):
        model = OnlineNMF(2, loss=loss, batch_size=20, n_epochs=12, random_state=0)
        assert isinstance(model.algorithm_.coder, ProjectedSubgradient)
        first = (
            OnlineNMF(2, loss=loss, batch_size=20, n_epochs=1, random_state=0)
            .fit(X[:20])
            .objective(X)
        )
        room.fall(model.fit(X).objective(X), first, at_least=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["kl", *(pytest.param(name, marks=pytest.mark.long) for name in ("is", "huber", "l2"))]
)
def test_both_doors_reach_critical_points_of_the_same_objective(name, room):
    X = positive(60, 5)
    fast = OnlineNMF(
        2, loss=name, batch_size=60, n_epochs=1000, schedule=Constant(0.5), random_state=0
    ).fit(X)
    room.error(fast.stationarity(X), at_most=4e-3)
    slow = OnlineNMF(
        2,
        loss=name,
        updater="spsg",
        coder=Multiplicative(),
        batch_size=60,
        n_epochs=1000,
        random_state=0,
    ).fit(X)
    room.error(slow.stationarity(X), at_most=1e-2)
    room.near(slow.objective(X), fast.objective(X), rel=0.03)
