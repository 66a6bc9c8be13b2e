"""Hebbian steps against the dense update, and what they must do in expectation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from twins import plain_advance

from atomstream.fields.walks.update import HebbianFactor, Moves, Steps


def start(m, r, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((2 * m, r)))[0]


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.parametrize(("m", "r", "n"), [(12, 3, 10_000), (7, 1, 3000), (60, 10, 5_000)])
@pytest.mark.parametrize(
    "steps", [Steps(0.05, 0.2, 80.0, 0.6, 2.0), Steps(0.03, 0.0, 0.0, 0.0, 0.0)]
)
def test_lazy_steps_are_those_of_the_dense_update(m, r, n, steps):
    rng = np.random.default_rng(1)
    # Skewed and dependent: neighbours on a ring, sometimes anywhere.
    origins = (
        np.cumsum(rng.integers(-2, 3, n)) + (rng.random(n) < 0.1) * rng.integers(0, m, n)
    ) % m
    destinations = np.roll(origins, -1)
    weights = np.where(rng.random(n) < 0.5, 1.0, rng.random(n))
    W, numbers, total = start(m, r), np.zeros(4), np.zeros((2 * m, r))
    factor = HebbianFactor(W)
    moves = Moves(origins, destinations, weights, 1 - weights / 2)
    plain_advance(W, moves, steps, numbers, total)
    for part in np.array_split(np.arange(n), 7):
        factor.advance(Moves(*(column[part] for column in moves)), steps)
    assert factor.n_reorthonormalized == 0
    assert_allclose(factor.iterate(), W, atol=1e-10)
    assert_allclose(factor.average(), total / numbers[2], atol=1e-10)
    assert_allclose(factor.numbers, numbers, rtol=1e-10)


def test_cuts_do_not_matter_to_the_bit_of_what_counts():
    rng = np.random.default_rng(0)
    origins, destinations = rng.integers(0, 20, (2, 5000))
    whole, parts = (HebbianFactor(start(20, 4)) for _ in range(2))
    steps, ones = Steps(0.05, 0.2, 80.0, 0.6, 2.0), np.ones(5000)
    moves = Moves(origins, destinations, ones, ones)
    whole.advance(moves, steps)
    for begin in range(0, 5000, 617):
        parts.advance(moves.part(slice(begin, begin + 617)), steps)
    assert_allclose(parts.iterate(), whole.iterate(), atol=1e-12)
    assert_allclose(parts.average(), whole.average(), atol=1e-12)


def test_singular_vectors_are_a_fixed_point_in_expectation():
    rng = np.random.default_rng(0)
    m, r = 8, 3
    joint = rng.random((m, m))
    joint /= joint.sum()
    left, _, right = np.linalg.svd(joint)
    W = np.concatenate([left[:, :r], right[:r].T]) / np.sqrt(2)
    mean = np.zeros_like(W)
    for i in range(m):
        for j in range(m):
            after = W.copy()
            plain_advance(
                after,
                Moves([i], [j], [1.0], [1.0]),
                Steps(1e-3, 0.0, 0.0, 0.0, 0.0),
                np.zeros(4),
                np.zeros_like(W),
            )
            mean += joint[i, j] * (after - W)
    assert np.linalg.norm(mean) < 1e-15


def test_new_states_change_nothing_of_what_is_there():
    rng = np.random.default_rng(0)
    origins, destinations = rng.integers(0, 10, (2, 500))
    steps, ones = Steps(0.05, 0.2, 80.0, 0.6, 2.0), np.ones(500)
    small, grown = (HebbianFactor(start(10, 3)) for _ in range(2))
    grown.grow(13)
    for factor in (small, grown):
        factor.advance(Moves(origins, destinations, ones, ones), steps)
    for what in ("iterate", "average"):
        rows = getattr(grown, what)().reshape(2, 13, 3)
        assert_allclose(rows[:, :10].reshape(20, 3), getattr(small, what)(), atol=1e-14)
        assert not rows[:, 10:].any()


def test_steps_that_are_too_long_are_held_and_drift_is_mended():
    rng = np.random.default_rng(0)
    origins, destinations = rng.integers(0, 12, (2, 50_000))
    factor = HebbianFactor(3.0 * start(12, 3))
    ones = np.ones(50_000)
    factor.advance(Moves(origins, destinations, ones, ones), Steps(5.0, 0.0, 0.0, 0.0, 0.0))
    factor.fold()
    assert factor.n_reorthonormalized > 0
    W = factor.iterate()
    assert np.linalg.norm(W.T @ W - np.eye(3)) <= 0.5
