"""Memory, statistics and the dictionary update against explicit sums and plain twins."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import PENALTIES, SCHEDULES

from atomstream import OnlineNMF
from atomstream._kernels.block_coordinate import sweep
from atomstream.coders import ActiveSet, Multiplicative
from atomstream.dictionaries import Rows
from atomstream.dictionaries import rows as rows_module
from atomstream.exceptions import IncompatiblePartsError
from atomstream.loop.online import Algorithm, check_compatible, learn
from atomstream.losses import L1, Huber, Squared
from atomstream.memory import Aggregates, Usage
from atomstream.memory.majorant import MajorantSums
from atomstream.memory.state import State
from atomstream.penalties import Free, Nonnegative, NonnegativeBall, Simplex, UnitBall
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy, Clock
from atomstream.problem.objective import Objective
from atomstream.schedules import HalfLife, Harmonic, Polynomial
from atomstream.updates import BlockCoordinate, Majorise, block_coordinate
from atomstream.updates.block_coordinate import plain_sweep
from atomstream.updates.reseeding import Reseeding


def algorithm(codes=None, atoms=None, **settings):
    objective = Objective(Squared(), codes or Nonnegative(l1=0.05), atoms or NonnegativeBall())
    return Algorithm(objective, ActiveSet(), BlockCoordinate(**settings), Reseeding())


def start(r=4, d=7, seed=0):
    rng = np.random.default_rng(seed)
    atoms = rng.random((r, d))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    return rng, State(Rows(atoms), Aggregates(r, d), Usage(r))


BY_MASS = [schedule for schedule in SCHEDULES if not isinstance(schedule, HalfLife)]


@pytest.mark.parametrize("schedule", BY_MASS, ids=repr)
def test_memory_is_the_explicit_weighted_sum(schedule):
    rng, state = start()
    chosen, clock = algorithm(), Clock(schedule, accuracy=1e-10)
    history, shares = [], []
    for n in (5, 9, 1, 20, 3):
        batch = Batch(rng.random((n, 7)), rng.random(n))
        codes = chosen.coder.encode(batch, state.dictionary, chosen.objective, Accuracy(gap=1e-10))
        delta = chosen.statistics.measure(batch, codes, state.dictionary, chosen.objective)
        weight = clock.tick(delta.mass)
        shares = [s * (1 - weight) for s in shares] + [weight]
        history.append((batch, codes.values))
        state.absorb(delta, weight)
        chosen.updater.update(state, chosen.objective, clock, None)
    gram = sum(
        s * (h.T * b.weights) @ h / b.mass for s, (b, h) in zip(shares, history, strict=True)
    )
    cross = sum(
        s * (h.T * b.weights) @ b.X / b.mass for s, (b, h) in zip(shares, history, strict=True)
    )
    usage = sum(
        s * (b.weights @ np.abs(h)) / b.mass for s, (b, h) in zip(shares, history, strict=True)
    )
    assert_allclose(state.memory.gram, gram, atol=1e-13)
    assert_allclose(state.memory.cross, cross, atol=1e-13)
    assert_allclose(state.usage.mean, usage, rtol=1e-12)
    surrogate = sum(
        s * (b.weights @ chosen.objective.values(b, h, state.dictionary)) / b.mass
        for s, (b, h) in zip(shares, history, strict=True)
    )
    assert state.memory.value(state.dictionary) == pytest.approx(surrogate, rel=1e-12)


def test_delta_knows_the_objective_at_its_codes():
    rng, state = start()
    batch, chosen = Batch(rng.random((9, 7)), rng.random(9)), algorithm()
    codes = chosen.coder.encode(batch, state.dictionary, chosen.objective, Accuracy(gap=1e-3))
    delta = chosen.statistics.measure(batch, codes, state.dictionary, chosen.objective)
    values = chosen.objective.values(batch, codes.values, state.dictionary)
    assert delta.objective == pytest.approx(batch.weights @ values, rel=1e-12)


def test_surrogate_is_above_the_empirical_loss_and_tight_at_optimal_codes():
    rng, state = start()
    chosen, clock, seen = algorithm(), Clock(Harmonic(), accuracy=1e-11), []
    for _ in range(6):
        seen.append(rng.random((10, 7)))
        chosen.step(Batch(seen[-1]), state, clock, None)
        X = np.concatenate(seen)
        best = chosen.coder.encode(
            Batch(X), state.dictionary, chosen.objective, Accuracy(gap=1e-11)
        )
        loss = chosen.objective.values(Batch(X), best.values, state.dictionary).mean()
        assert state.memory.value(state.dictionary) >= loss - 1e-12
    delta = chosen.statistics.measure(Batch(X), best, state.dictionary, chosen.objective)
    fresh = Aggregates(4, 7)
    fresh.absorb(delta, 1.0)
    assert fresh.value(state.dictionary) == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("penalty", [p for p in PENALTIES if p.rowwise], ids=repr)
@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("many", [30, 41])  # atoms from which on blocks are the larger ones
def test_compiled_sweep_is_the_plain_one(penalty, damping, many, monkeypatch):
    monkeypatch.setattr("atomstream._kernels.block_coordinate.MANY_ATOMS", many)
    monkeypatch.setattr("atomstream._kernels.block_coordinate.LARGER_BLOCK_ATOMS", 25)
    rng = np.random.default_rng(0)
    codes, cross = rng.random((50, 40)), rng.standard_normal((40, 9))
    codes[:, 7] = 0
    gram = codes.T @ codes / 50
    plain = penalty.normalize(rng.random((40, 9)))
    compiled = plain.copy()
    plain_sweep(plain, gram, cross, penalty, damping, 2)
    net = (penalty.l1, penalty.l2, *penalty.shape)
    sweep(compiled, gram, cross, net, damping, 2)
    assert_allclose(compiled, plain, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [p for p in PENALTIES if p.rowwise], ids=repr)
@given(seed=st.integers(0, 10**6), damping=st.sampled_from([0.0, 0.1]))
def test_each_atom_step_is_exact_so_a_sweep_never_raises_the_surrogate(penalty, seed, damping):
    rng = np.random.default_rng(seed)
    codes, X = rng.random((12, 4)), rng.standard_normal((12, 6))
    chosen = Objective(Squared(), Free(), penalty)
    state = State(Rows(penalty.normalize(rng.standard_normal((4, 6)))), Aggregates(4, 6), Usage(4))
    state.memory.gram[:] = codes.T @ codes / 12
    state.memory.cross[:] = codes.T @ X / 12
    updater = BlockCoordinate(damping)
    values = [updater.value(state, chosen)]
    for _ in range(3):
        updater.update(state, chosen, None, None)
        values.append(updater.value(state, chosen))
        assert np.isfinite(penalty.value(state.dictionary.atoms())).all()
    assert all(b <= a + 1e-11 * (1 + abs(a)) for a, b in itertools.pairwise(values))


def test_short_atoms_are_scaled_up_with_their_codes_and_the_surrogate_stays():
    rng, state = start()
    chosen = algorithm(codes=Nonnegative())
    chosen.step(Batch(rng.random((30, 7))), state, Clock(Harmonic(), 1e-8), None)
    state.memory.rescale(np.array([1, 40.0, 1, 8.0]))  # as if codes had grown and atoms shrunk
    state.dictionary.assign(state.dictionary.atoms() / np.array([[1], [40.0], [1], [8.0]]))
    before = chosen.updater.value(state, chosen.objective)
    chosen.updater.update(state, chosen.objective, None, None)
    assert_allclose(np.linalg.norm(state.dictionary.atoms()[[1, 3]], axis=1), 1)
    assert chosen.updater.value(state, chosen.objective) <= before + 1e-12
    held = algorithm(
        codes=Simplex(), atoms=UnitBall()
    )  # codes of a fixed size: lengths mean something
    state.dictionary.assign(0.1 * state.dictionary.atoms())
    state.memory.rescale(np.full(4, 10.0))
    held.updater.update(state, held.objective, None, None)
    assert np.linalg.norm(state.dictionary.atoms(), axis=1).max() < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.long), np.float64])
def test_atoms_neither_shrink_nor_die_on_a_long_stream(dtype, room):
    rng = np.random.default_rng(0)
    parts = rng.random((12, 20))
    model = OnlineNMF(5, schedule="constant", random_state=0)
    for _ in range(3000):
        X = (rng.exponential(size=(30, 12)) @ parts + 0.1 * rng.random((30, 20))).astype(dtype)
        model.partial_fit(X)
    room.share(np.linalg.norm(model.components_, axis=1).min(), at_least=0.4)
    room.error(model.n_reseeded_, at_most=3)


def test_many_sweeps_reach_the_least_squares_dictionary():
    rng = np.random.default_rng(1)
    codes, X = rng.standard_normal((60, 4)), rng.standard_normal((60, 6))
    state = State(Rows(np.zeros((4, 6))), Aggregates(4, 6), Usage(4))
    state.memory.gram[:] = codes.T @ codes / 60
    state.memory.cross[:] = codes.T @ X / 60
    BlockCoordinate(n_sweeps=200).update(state, Objective(Squared(), Free(), Free()), None, None)
    assert_allclose(state.dictionary.atoms(), np.linalg.lstsq(codes, X, rcond=None)[0], atol=1e-10)


def test_float32_dictionaries_keep_float64_memory():
    rng, state = start()
    state = State(Rows(state.dictionary.atoms().astype(np.float32)), state.memory, state.usage)
    algorithm().step(Batch(rng.random((9, 7)).astype(np.float32)), state, Clock(Harmonic()), None)
    assert state.dictionary.atoms().dtype == np.float32
    assert state.memory.gram.dtype == state.memory.cross.dtype == np.float64


def test_the_gram_matrix_follows_the_dictionary():
    rng, state = start()
    first = state.dictionary.gram().copy()
    algorithm().step(Batch(rng.random((9, 7))), state, Clock(Harmonic()), None)
    atoms = state.dictionary.atoms()
    assert not np.allclose(first, state.dictionary.gram())
    assert_allclose(state.dictionary.gram(), atoms @ atoms.T)
    with pytest.raises(ValueError, match="read-only"):
        atoms[0, 0] = 1


def test_steps_shrink_as_one_over_t(room):
    """Proposition 7.4: |D_t - D_{t-1}| = O(1/t) under the harmonic schedule."""
    rng, state = start()
    chosen, clock, moves = algorithm(), Clock(Harmonic(), accuracy=1e-6), []
    for _ in range(400):
        before = state.dictionary.atoms().copy()
        chosen.step(Batch(rng.random((20, 7))), state, clock, None)
        moves.append(np.linalg.norm(state.dictionary.atoms() - before))
    scaled = np.arange(1, 401) * np.array(moves)
    room.error(scaled[200:].max(), at_most=2 * scaled[20:50].max())


def test_idle_atoms_are_reseeded_and_forgotten():
    rng, state = start()
    atoms = state.dictionary.atoms().copy()
    atoms[2] = 0  # nothing can use it
    state.dictionary.assign(atoms)
    reports = []
    X = rng.random((200, 7))
    batches = [Batch(X[i : i + 10]) for i in range(0, 200, 10)]
    learn(
        batches,
        state,
        algorithm(),
        Clock(Polynomial()),
        rng,
        lambda p: reports.append(p.n_reseeded),
    )
    assert sum(reports) == 1
    assert reports.index(1) == 3  # 40 samples without use: ten per atom
    assert state.dictionary.atoms()[2].any()
    assert state.memory.gram[2, 2] > 0


def test_reseeding_clears_the_memory_of_the_atom():
    _, state = start()
    state.memory.gram[:] = 1
    state.memory.cross[:] = 1
    state.memory.forget(np.array([1, 3]))
    assert not state.memory.gram[[1, 3]].any()
    assert not state.memory.gram[:, [1, 3]].any()
    assert not state.memory.cross[[1, 3]].any()
    assert_array_equal(state.memory.gram[np.ix_([0, 2], [0, 2])], 1)


def test_nothing_is_reseeded_when_everything_is_explained():
    atoms = np.eye(3)
    state = State(Rows(atoms), Aggregates(3, 3), Usage(3))
    X = np.tile([[1.0, 0, 0]], (500, 1))
    n_reseeded = []
    chosen = algorithm(codes=Nonnegative())
    batches = [Batch(X[:50])] * 10
    learn(
        batches,
        state,
        chosen,
        Clock(Harmonic(), 1e-10),
        np.random.default_rng(0),
        lambda p: n_reseeded.append(p.n_reseeded),
    )
    assert sum(n_reseeded) == 0
    assert_array_equal(state.dictionary.atoms(), np.eye(3))


def test_fixed_atoms_are_neither_updated_nor_reseeded():
    rng, state = start()
    atoms = state.dictionary.atoms().copy()
    atoms[0] = 0
    state.dictionary.assign(atoms)
    learn([Batch(rng.random((50, 7)))] * 5, state, algorithm(fixed=2), Clock(Harmonic()), rng)
    assert_array_equal(state.dictionary.atoms()[:2], atoms[:2])
    assert not np.allclose(state.dictionary.atoms()[2:], atoms[2:])


def test_parts_that_do_not_fit_are_refused():
    objective = Objective(Squared(), UnitBall(), UnitBall())
    with pytest.raises(IncompatiblePartsError, match="ActiveSet needs codes that are polyhedral"):
        check_compatible(Algorithm(objective, ActiveSet(), BlockCoordinate()))
    check_compatible(algorithm())


@pytest.mark.parametrize("atoms", [NonnegativeBall(), Simplex(), Free()], ids=repr)
def test_wide_dictionaries_of_float32_are_swept_in_float32(atoms, monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.random((60, 4)) @ rng.random((4, 90))).astype(np.float32)
    found = {}
    for width in (block_coordinate.WIDE, 1):
        monkeypatch.setattr(block_coordinate, "WIDE", width)
        chosen, state = algorithm(atoms=atoms), start(r=4, d=90)[1]
        state.dictionary = Rows(atoms.prox(state.dictionary.atoms(), 0.0).astype(np.float32))
        codes = chosen.coder.encode(
            Batch(X), state.dictionary, chosen.objective, Accuracy(gap=1e-10)
        )
        delta = chosen.statistics.measure(Batch(X), codes, state.dictionary, chosen.objective)
        state.memory.absorb(delta, 1.0)
        before = chosen.updater.value(state, chosen.objective)
        chosen.updater.update(state, chosen.objective, Clock(Harmonic()))
        found[width] = state.dictionary.atoms()
        assert found[width].dtype == np.float32
        assert chosen.updater.value(state, chosen.objective) <= before * (1 + 1e-6)
    one, other = found.values()
    assert_allclose(one, other, rtol=2e-4, atol=1e-5)
    assert not np.array_equal(one, other)


def test_products_of_wide_atoms_are_those_of_copies_in_float64(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.random((3, 700), dtype=np.float32)
    cross = rng.random((3, 700))
    monkeypatch.setattr(rows_module, "FEATURES", 64)
    monkeypatch.setattr(rows_module, "LARGE", 10)
    exact = rows.astype(np.float64)
    assert_allclose(Rows(rows).gram(), exact @ exact.T, rtol=1e-14)
    assert Rows(rows).overlap(cross) == pytest.approx(np.vdot(cross, exact), rel=1e-14)


@pytest.mark.parametrize("loss", [Huber(0.2), L1()])
def test_an_entry_at_zero_is_not_pulled_up_by_what_it_was_measured_at(loss):
    """P is infinite there under powers above 1: N alone would send the entry to infinity."""
    rng, state = start()
    atoms = state.dictionary.atoms().copy()
    atoms[1, 3] = 0
    objective = Objective(loss, Nonnegative(), Nonnegative())
    batch, rows, memory = Batch(rng.random((9, 7))), Rows(atoms), MajorantSums().start(4, 7, loss)
    codes = Multiplicative().encode(batch, rows, objective, Accuracy(0.1))
    memory.absorb(MajorantSums().measure(batch, codes, rows, objective), 1.0)
    assert memory.minus[1, 3] == 0
    assert (memory.plus.sum(axis=0) > 0).all()
    chosen = Algorithm(objective, Multiplicative(), Majorise())
    state = State(rows, memory, Usage(4))
    chosen.step(Batch(rng.random((9, 7))), state, Clock(Harmonic()), rng)
    assert np.isfinite(state.dictionary.atoms()).all()
