"""Sums by feature: exact for every dictionary, additive, and bounds where features share them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream._kernels.feature_sweeps import sweep_by_feature
from atomstream.coders import Codes
from atomstream.dictionaries.rows import Rows
from atomstream.losses import Squared
from atomstream.memory import Aggregates, GramSums, by_feature
from atomstream.penalties import Nonnegative, NonnegativeBall, Simplex
from atomstream.penalties.base import kernel_form
from atomstream.problem.batch import Batch
from atomstream.problem.objective import Objective

OBJECTIVE = Objective(Squared(), Nonnegative(), NonnegativeBall())


def case(n=30, d=7, r=3, seed=0):
    rng = np.random.default_rng(seed)
    batch = Batch(rng.random((n, d)), rng.random(n), rng.random((n, d)))
    return batch, rng.random((n, r)), Rows(rng.random((r, d)))


def measured(batch, codes, dictionary):
    coded = Codes(codes, np.zeros(len(codes)))
    return GramSums(by_feature=True).measure(batch, coded, dictionary, OBJECTIVE)


def loss(batch, codes, dictionary):
    errors = batch.mask * (batch.X - codes @ dictionary.atoms()) ** 2
    return 0.5 * float(batch.weights @ errors.sum(axis=1))


def part_of(batch, rows):
    return Batch(batch.X[rows], batch.weights[rows], batch.mask[rows])


def test_the_value_is_the_weighted_loss_for_every_dictionary():
    batch, codes, start = case()
    memory = Aggregates(3, 7)
    delta = measured(batch, codes, start)
    memory.absorb(delta, 1.0)
    assert delta.objective == pytest.approx(loss(batch, codes, start), rel=1e-12)
    for seed in range(3):
        other = Rows(np.random.default_rng(seed).random((3, 7)))
        assert memory.value(other) == pytest.approx(loss(batch, codes, other) / batch.mass)


def test_features_that_share_a_matrix_bound_the_loss_and_touch_it(monkeypatch):
    batch, codes, start = case()
    monkeypatch.setattr(by_feature, "MAX_BYTES", 8 * 9 * 3)
    delta = measured(batch, codes, start)
    assert len(delta.grams) == 3
    memory = Aggregates(3, 7)
    memory.absorb(delta, 1.0)
    assert memory.value(start) == pytest.approx(loss(batch, codes, start) / batch.mass)
    for seed in range(5):
        other = Rows(np.random.default_rng(seed).random((3, 7)))
        assert memory.value(other) >= loss(batch, codes, other) / batch.mass


def test_deltas_add_up_and_cuts_do_not_matter():
    batch, codes, start = case()
    whole, memory, clock = Aggregates(3, 7), Aggregates(3, 7), 0.0
    whole.absorb(measured(batch, codes, start), 1.0)
    cuts = [slice(0, 4), slice(4, 19), slice(19, 30)]
    deltas = [measured(part_of(batch, rows), codes[rows], start) for rows in cuts]
    for delta in deltas:
        clock += delta.mass
        memory.absorb(delta, delta.mass / clock)
    added = Aggregates(3, 7)
    added.absorb(deltas[0] + deltas[1] + deltas[2], 1.0)
    for other in (memory, added):
        assert_allclose(other.grams, whole.grams, rtol=1e-12)
        assert_allclose(other.cross, whole.cross, rtol=1e-12)


def test_the_first_unequal_batch_gives_all_features_the_past_of_all():
    batch, codes, start = case()
    plain = Batch(batch.X, batch.weights)
    one = measured(plain, codes, start)
    assert one.grams is None
    memory = Aggregates(3, 7)
    memory.absorb(one, 1.0)
    assert memory.grams is None
    memory.absorb(measured(batch, codes, start), 0.5)
    other = Rows(np.random.default_rng(1).random((3, 7)))
    both = loss(Batch(batch.X, batch.weights, np.full((30, 7), 0.999999999)), codes, other)
    expected = 0.5 * (both + loss(batch, codes, other)) / batch.mass
    assert memory.value(other) == pytest.approx(expected, rel=1e-7)
    memory.absorb(one, 1.0)  # nothing of the past is left
    assert memory.grams is None


@pytest.mark.parametrize("penalty", [Nonnegative(), NonnegativeBall(), Simplex()])
def test_a_sweep_never_raises_the_surrogate_and_ends_where_steps_end(penalty):
    batch, codes, start = case()
    delta, atoms = measured(batch, codes, start), penalty.normalize(start.atoms().copy())

    def value():
        return 0.5 * np.vdot(by_feature.times(delta.grams, atoms), atoms) - np.vdot(
            delta.cross, atoms
        )

    values = [value()]
    for _ in range(300):
        args = (kernel_form(penalty), 0.0, np.arange(3), 1)
        sweep_by_feature(atoms, delta.grams, delta.cross, *args)
        values.append(value())
    assert np.diff(values).max() <= 1e-12 * abs(values[0])
    slope = by_feature.times(delta.grams, atoms) - delta.cross
    step = 1e-3
    assert_allclose(penalty.prox(atoms - step * slope, step), atoms, atol=1e-7)


def test_fixed_atoms_stay():
    batch, codes, start = case()
    delta, atoms = measured(batch, codes, start), start.atoms().copy()
    args = (kernel_form(Nonnegative()), 0.0, np.array([1]), 2)
    sweep_by_feature(atoms, delta.grams, delta.cross, *args)
    assert_array_equal(atoms[[0, 2]], start.atoms()[[0, 2]])
