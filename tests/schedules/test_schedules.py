"""Schedules: values, the weights they imply, the papers' conditions."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strategies import SCHEDULES

import atomstream.schedules as schedules
from atomstream.problem.clock import Clock
from atomstream.schedules import (
    Constant,
    Harmonic,
    LogPolynomial,
    Polynomial,
    Power,
    check_conditions,
)

MASSES = [3.0, 10.0, 0.5, 20.0, 7.0, 1.0]


def weights_of_batches(schedule, masses):
    """Share of each batch in the memory at the end, and the weights given."""
    clock, shares = Clock(schedule), np.zeros(len(masses))
    for i, mass in enumerate(masses):
        weight = clock.tick(mass)
        shares *= 1 - weight
        shares[i] = weight
    return shares


def test_every_schedule_is_in_the_list():
    public = {getattr(schedules, name) for name in schedules.__all__}
    classes = {part for part in public if isinstance(part, type) and hasattr(part, "decay")}
    assert {type(part) for part in SCHEDULES} == classes
    assert len(SCHEDULES) == 9


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_weights_lie_in_the_unit_interval_and_start_at_one(schedule):
    total = 0.0
    for t, mass in enumerate(MASSES * 20, start=1):
        total += mass
        weight = schedule(t, mass, total)
        assert 0 < weight <= 1
        assert t > 1 or weight == 1


def test_harmonic_weighs_each_sample_the_same():
    assert_allclose(weights_of_batches(Harmonic(), MASSES), np.array(MASSES) / sum(MASSES))


def test_power_weighs_a_sample_at_place_s_as_s_to_the_p_minus_1():
    ends = np.cumsum([0, *MASSES]) / sum(MASSES)
    assert_allclose(weights_of_batches(Power(5), MASSES), np.diff(ends**5))
    assert_allclose(weights_of_batches(Power(1), MASSES), weights_of_batches(Harmonic(), MASSES))


def test_polynomials_follow_the_step():
    assert Polynomial(0.75)(16, 5, 80) == pytest.approx(16**-0.75)
    assert LogPolynomial(0.75)(16, 5, 80) == pytest.approx(16**-0.75 / math.log(16))
    assert LogPolynomial(0.5)(2, 5, 80) == 1.0


def test_half_life_does_not_depend_on_the_cut():
    assert Constant(half_life=40)(2, 40, 80) == pytest.approx(0.5)
    halves = weights_of_batches(Constant(half_life=40), [10, 20, 20, 40])
    assert halves[:3].sum() == pytest.approx(0.5)


def test_the_clock_stays_at_one_pass():
    clock = Clock(Harmonic(), horizon=30.0)
    weights = [clock.tick(10.0) for _ in range(6)]
    assert_allclose(weights, [1, 1 / 2, 1 / 3, 1 / 3, 1 / 3, 1 / 3])
    assert clock.mass == 30


@pytest.mark.parametrize("weight", [0.0, -0.1, 1.5, math.nan])
def test_a_weight_out_of_range_is_refused_and_the_clock_stands(weight):
    clock = Clock(lambda t, n, total: weight)
    clock.tick(5.0)
    with pytest.raises(ValueError, match=r"at step 2; weights must lie in \(0, 1\]"):
        clock.tick(5.0)
    assert (clock.step, clock.mass) == (1, 5.0)


@pytest.mark.parametrize(
    ("schedule", "parts"),
    [
        (Harmonic(), (True, True, True)),
        (Power(8), (True, True, True)),
        (Polynomial(0.8), (True, True, True)),
        (Polynomial(0.75), (True, False, True)),
        (Polynomial(1.0), (True, True, True)),
        (LogPolynomial(0.75), (True, True, True)),
        (LogPolynomial(1.0), (True, True, False)),
        (Constant(0.1), (True, False, True)),
        (Constant(half_life=10), (True, False, True)),
    ],
)
def test_conditions_of_the_papers(schedule, parts):
    conditions = check_conditions(schedule)
    assert conditions[:3] == parts
    assert conditions.met == all(parts)
    assert not conditions.estimated


def test_conditions_of_a_callable_are_estimated():
    good = check_conditions(lambda t, n, total: t**-0.9)
    bad = check_conditions(lambda t, n, total: t**-0.5)
    slow = check_conditions(lambda t, n, total: min(1.0, 0.5 / t) if t > 1 else 1.0)
    assert good.met
    assert good.estimated
    assert not bad.squares_converge
    assert not slow.slow_decay  # increments of 1/w are 2


@pytest.mark.parametrize("schedule", [Harmonic(), Power(4), Polynomial(0.9)])
def test_conditions_agree_with_the_numbers(schedule):
    t = np.arange(1, 20001)
    w = np.array([schedule(int(s), 1.0, float(s)) for s in t])
    increments = np.diff(1 / w)[100:]
    assert increments.max() <= 1 + 1e-9
    tail = (w**2 * np.sqrt(t))[10000:].sum()
    assert tail < (w**2 * np.sqrt(t))[1000:10000].sum()


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match=r"p to be a number from 1 .*got 0\.5"):
        Power(0.5)
    with pytest.raises(ValueError, match=r"beta to be a number above 0, at most 1, got 1.5"):
        Polynomial(1.5)
    with pytest.raises(ValueError, match="exactly one of weight and half_life"):
        Constant(0.1, half_life=3)
    with pytest.raises(
        ValueError, match=r"weight to be a number above 0, at most 1 or None, got 2"
    ):
        Constant(2)
    with pytest.raises(ValueError, match="half_life to be a number above 0 or None, got -1"):
        Constant(half_life=-1)
