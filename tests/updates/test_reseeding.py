"""Atoms of no use: which count as such, and what takes their place."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from atomstream import OnlineNMF
from atomstream.memory import Usage
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy


def few_rows():
    """Return five rows along five axes, and ten rows of zeros."""
    X = np.zeros((15, 10))
    X[range(5), range(5)] = [0.28, 0.14, 0.2, 1.38, 0.33]
    return X


@pytest.mark.parametrize("loss", ["kl", "squared"])
@pytest.mark.parametrize("init", ["svd", "random", "samples"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.long) for s in (1, 2))])
@pytest.mark.cover(2)
def test_few_rows_in_the_same_order_again_and_again_are_learned(loss, init, seed, room):
    X = few_rows()
    model = OnlineNMF(
        5, loss=loss, init=init, batch_size=3, n_epochs=300, shuffle=False, random_state=seed
    ).fit(X)
    rest = X - model.transform(X) @ model.components_
    room.error(np.linalg.norm(rest), at_most=1e-6)


def test_an_atom_that_repeats_a_stronger_one_is_idle():
    angles = np.array([0.3, 0.3 + 1e-5, 1.0, 0.3])
    atoms = np.column_stack([np.cos(angles), np.sin(angles)]) * [[1.0], [3.0], [1.0], [2.0]]
    usage = Usage(4)
    usage.age(1.0, np.array([1.0, 2.0, 1.0, 2.0]), atoms @ atoms.T)
    assert_array_equal(usage.idle, [1, 0, 0, 1])  # of equal ones the first stays
    usage.age(1.0, np.array([1.0, 2.0, 1e-9, 3.0]), atoms @ atoms.T)
    assert_array_equal(usage.idle, [2, 1, 1, 0])


def test_an_atom_nearly_parallel_to_a_stronger_one_is_idle_if_little_is_lost():
    angles = np.array([0.3, 0.31, 1.0, 0.36])
    atoms, energy = (
        np.column_stack([np.cos(angles), np.sin(angles)]),
        np.array([1.0, 2.0, 1.0, 2.0]),
    )
    lost = np.sin(0.01) ** 2
    for spare, idle in [(0.0, 0), (0.9 * lost, 0), (1.1 * lost, 1), (1e3 * lost, 1)]:
        usage = Usage(4)
        usage.age(1.0, energy, atoms @ atoms.T, spare)
        assert_array_equal(usage.idle, [idle, 0, 0, 0])  # a cosine of .9992 is near, .9988 is not


@pytest.mark.parametrize("kept", [0, 2])
def test_nearly_parallel_atoms_get_a_new_start_unless_they_are_fixed(kept):
    rng = np.random.default_rng(0)
    atoms = rng.random((2, 20))
    X = rng.exponential(size=(600, 2)) @ atoms + 0.3 * rng.random((600, 20))
    start = np.vstack([atoms[0], atoms[0] + 0.005 * rng.random(20)])
    how = {"random_state": 0, "fixed_components": kept, "init": start}
    model = OnlineNMF(2, **how, damping=1e6, batch_size=50, n_epochs=1).fit(X)
    assert model.n_reseeded_ == (0 if kept else 1)


@pytest.mark.parametrize("kind", ["long", "doubled", "zero", "mixed", "parallel"])
def test_a_start_outside_its_set_is_as_good_as_one_inside(kind, room):
    rng = np.random.default_rng(0)
    X = rng.gamma(0.3, size=(3000, 5)) @ rng.random((5, 20)) + 0.05 * rng.random((3000, 20))
    rows = X[:5] / np.linalg.norm(X[:5], axis=1)[:, None]
    if kind == "zero":
        rows[4] = 0
    if kind == "parallel":
        rows[4] = rows[3]
    lengths = {"doubled": [2.0] * 5, "mixed": [20.0, 0.05, 3.0, 0.6, 1.0]}
    given = rows * np.reshape(lengths.get(kind, [20.0, 3.0, 8.0, 2.0, 1.5]), (5, 1))
    ends = []
    for start in (rows, given):
        model = OnlineNMF.from_components(start, random_state=0)
        for part in np.split(X[:300], 3):
            model.partial_fit(part)
        ends.append(model.objective(X))
    room.near(ends[1], ends[0], rel=0.01)


def test_opposite_atoms_and_atoms_of_zeros_repeat_nothing():
    atoms = np.array([[1.0, 2.0], [-1.0, -2.0], [0.0, 0.0], [0.0, 0.0]])
    usage = Usage(4)
    usage.age(1.0, np.ones(4), atoms @ atoms.T)
    assert_array_equal(usage.idle, 0)
    atoms[1] = 2 * atoms[0]
    usage.age(1.0, np.ones(4), atoms @ atoms.T)
    assert_array_equal(usage.idle, [0, 1, 0, 0])


@pytest.mark.parametrize("loss", ["kl", "squared", "huber"])
def test_rows_of_zeros_make_no_atoms(loss):
    X = few_rows()
    model = OnlineNMF(5, loss=loss, n_epochs=50, random_state=0).fit(X)
    state, rng = model.state_, np.random.default_rng(0)
    state.usage.idle = np.full(5, 1e9)
    batch = Batch(np.zeros((4, 10)))
    codes = model.algorithm_.coder.encode(
        batch, state.dictionary, model.algorithm_.objective, Accuracy(gap=1e-9)
    )
    codes.values[:] = 1e-100  # what some coders leave
    assert model.algorithm_.reseed(batch, codes, state, rng) == 0
