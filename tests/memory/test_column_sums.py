"""Sparse batches under divergences: lazy sums against explicit ones, and what they cost."""

import copy
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import atomstream
from atomstream import OnlineNMF
from atomstream.base.columns import Columns
from atomstream.coders import Auto, Codes
from atomstream.coders.multiplicative import Multiplicative
from atomstream.dictionaries import Rows
from atomstream.loop.explaining import MergedFeatures
from atomstream.loop.online import Algorithm
from atomstream.losses import Alpha, Hellinger, KullbackLeibler
from atomstream.memory import Majorants, Usage, column_sums
from atomstream.memory.column_sums import MIN_ENTRY_SHARE
from atomstream.memory.state import State
from atomstream.penalties import Nonnegative, Simplex
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Clock
from atomstream.problem.objective import Objective
from atomstream.schedules import Constant, Harmonic, Power
from atomstream.updates import Majorise

R, D = 3, 48
LOSSES = [KullbackLeibler(), Hellinger(), Alpha(2.0)]


def texts(rng, n=8, d=D, words=9):
    """Counts of few words, other ones in each batch."""
    dense = np.zeros((n, d))
    known = rng.choice(d, words, replace=False)
    dense[:, known] = rng.poisson(0.7, (n, words))
    dense[0, known[0]] = 2.0
    return sp.csr_array(dense)


def explicit(state, found, weight, objective, fixed):
    """Return the sums and atoms after a step, by the formulas of the documentation, densely.

    ``state`` is the dict of P, N and atoms before it.
    """
    atoms, delta = state["atoms"], found.densified()
    q = objective.loss.exponents[1]
    share = weight / delta.mass
    minus = (1 - weight) * state["minus"] + share * delta.minus * atoms ** (1 - q)
    plus = (1 - weight) * state["plus"] + share * delta.plus
    gram = (1 - weight) * state["gram"] + share * delta.gram
    energy = gram.diagonal() * (atoms**2).sum(axis=1)
    kept = energy <= 1e-12 * energy.max()
    kept[:fixed] = True
    free = (minus / plus) ** (1 / (1 - q))
    free += MIN_ENTRY_SHARE * free.mean(axis=1, keepdims=True)
    total = objective.atoms.total
    scale = np.where(kept, 1.0, free.sum(axis=1) / total)
    new = np.where(kept[:, None], atoms, free / scale[:, None])
    if not objective.codes.l1:  # else the size of codes is not free, and the sums stay
        plus, minus = plus * scale[:, None], minus * (scale**q)[:, None]
        gram = gram * scale * scale[:, None]
    return {"atoms": new, "plus": plus, "minus": minus, "gram": gram}


@given(
    seed=st.integers(0, 10**6),
    loss=st.sampled_from(LOSSES),
    schedule=st.sampled_from([Harmonic(), Power(8.0), Constant(0.9)]),
    l1=st.sampled_from([0.0, 0.05]),
    total=st.sampled_from([1.0, 3.0]),
    fixed=st.sampled_from([0, 1]),
)
def test_lazy_sums_are_the_explicit_ones(seed, loss, schedule, l1, total, fixed):
    rng = np.random.default_rng(seed)
    objective = Objective(loss, Nonnegative(l1=l1), Simplex(total=total))
    algorithm = Algorithm(
        objective, Multiplicative(), Majorise(fixed=fixed), explainer=MergedFeatures()
    )
    atoms = objective.atoms.normalize(rng.random((R, D)) + 0.1)
    state = State(Rows(atoms), Majorants(R, D, loss.exponents), Usage(R))
    clock = Clock(schedule)
    zero = np.zeros((R, D))
    known = {"atoms": atoms, "plus": zero, "minus": zero, "gram": np.zeros((R, R))}
    for _ in range(12):
        weights = rng.random(8) + 0.1 if rng.random() < 0.5 else None
        _, delta = algorithm.step(Batch(texts(rng), weights), state, clock, rng)
        known = explicit(known, delta, clock.weight, objective, fixed)
        memory, found = state.memory, state.dictionary
        assert memory.columns is not None
        assert_allclose(found.atoms(), known["atoms"], rtol=1e-10)
        assert_allclose(found.totals(), known["atoms"].sum(axis=1), rtol=1e-10)
        assert_allclose(found.gram(), known["atoms"] @ known["atoms"].T, rtol=1e-10)
        assert_allclose(memory.columns.minus(), known["minus"], rtol=1e-10, atol=1e-300)
        assert_allclose(memory.columns.plus, known["plus"][:, 0], rtol=1e-10)
        assert_allclose(memory.gram, known["gram"], rtol=1e-10)


@pytest.mark.parametrize("name", ["kl", "hellinger"])
def test_sums_for_all_features_end_at_the_same_atoms(name, monkeypatch, room):
    rng = np.random.default_rng(1)
    batches = [texts(rng, n=40, d=200, words=45) for _ in range(25)]
    monkeypatch.setattr(Batch, "touched", None)
    whole = OnlineNMF(R, loss=name, random_state=0, coder=Auto(tol=1e-9)).fit_stream(batches)
    monkeypatch.undo()
    lazy = OnlineNMF(R, loss=name, random_state=0, coder=Auto(tol=1e-9)).fit_stream(batches)
    assert whole.memory_.columns is None
    assert lazy.memory_.columns is not None
    room.near(lazy.score(batches[-1]), whole.score(batches[-1]), rel=0.02)
    room.near(lazy.surrogate(), whole.surrogate(), rel=0.02)


@pytest.mark.parametrize("name", ["kl", "hellinger"])
def test_steps_are_those_with_sums_for_all_features(name, monkeypatch):
    # Lazy sums add to zeros what sums for all features raise them to; and both differ by as much as
    # their codes do, whose objectives are known to 1e-13.
    def add(atoms):
        atoms += MIN_ENTRY_SHARE * atoms.mean(axis=1, keepdims=True)

    rng = np.random.default_rng(1)
    batches = [texts(rng, n=40, d=200, words=45) for _ in range(25)]
    # Drawn starts would differ: they are drawn on the features with entries.
    how = {"coder": Multiplicative(max_rounds=20_000, tol=1e-13), "random_state": 0}
    how["init"] = OnlineNMF(R, loss=name, **how).partial_fit(batches[0]).components_ + 1e-4
    lazy = OnlineNMF(R, loss=name, **how)
    found = [lazy.partial_fit(batch).components_.copy() for batch in batches]
    monkeypatch.setattr(Batch, "touched", None)
    monkeypatch.setattr("atomstream.updates.majorise._raise", add)
    whole = OnlineNMF(R, loss=name, **how)
    for batch, atoms in zip(batches, found, strict=True):
        expected = whole.partial_fit(batch).components_
        assert_allclose(atoms, expected, rtol=0, atol=1e-6 * expected.max())
    assert lazy.memory_.columns is not None
    assert whole.memory_.columns is None


def test_dense_rows_with_few_entries_teach_the_same():
    rng = np.random.default_rng(2)
    batches = [texts(rng) for _ in range(6)]
    batches[2].data[3] = 0.0  # stored, and no entry
    models = [OnlineNMF(R, loss="kl", random_state=0) for _ in range(2)]
    for batch in batches:
        models[0].partial_fit(batch)
        models[1].partial_fit(batch.toarray())
    assert all(model.memory_.columns is not None for model in models)
    assert_allclose(models[0].components_, models[1].components_, rtol=1e-9, atol=1e-12)


def test_merged_features_leave_every_loss_as_it_is():
    rng = np.random.default_rng(3)
    batch, codes = Batch(texts(rng)), rng.random((8, R))
    atoms = Rows(rng.random((R, D)))
    algorithm = Algorithm(
        Objective(KullbackLeibler(), Nonnegative(), Simplex()), Multiplicative(), Majorise()
    )
    features = batch.touched
    part = atoms.on(features).atoms()
    merged = Rows(np.column_stack([part, atoms.totals() - part.sum(axis=1)]))
    expected = algorithm.objective.losses(batch, codes, atoms)
    assert_allclose(algorithm.objective.losses(batch.merged(features), codes, merged), expected)


def test_what_parts_of_a_batch_add_adds_up():
    rng = np.random.default_rng(10)
    batch, codes = Batch(sp.csr_array(texts(rng).toarray())), rng.random((8, R))
    atoms, chosen = Rows(rng.random((R, D)) / D), Majorise().statistics
    objective = Objective(KullbackLeibler(), Nonnegative(), Simplex())

    def measured(part, rows):
        features = part.touched
        there = atoms.on(features).atoms()
        rest = atoms.totals() - there.sum(axis=1)
        merged, known = part.merged(features), Rows(np.column_stack([there, rest]))
        found = Codes(codes[rows], np.zeros(len(codes[rows])))
        return chosen.measure(merged, found, known, objective).touching(features, atoms)

    halves = [measured(batch.of(rows), rows) for rows in (slice(0, 3), slice(3, 8))]
    both, whole = (
        halves[0] + halves[1],
        chosen.measure(batch, Codes(codes, codes[:, 0]), atoms, objective),
    )
    assert both.features is not None
    for name in (
        "plus",
        "minus",
        "curvature",
        "gram",
        "constant",
        "usage",
        "objective",
        "mass",
        "atoms",
    ):
        assert_allclose(
            getattr(both.densified(), name), getattr(whole, name), rtol=1e-10, atol=1e-14
        )
    assert_allclose((halves[0] + halves[1].densified()).minus, whole.minus, rtol=1e-10)
    assert_allclose((halves[0].densified() + halves[1]).minus, whole.minus, rtol=1e-10)


def test_dense_batches_after_sparse_ones_get_sums_for_all_features():
    rng = np.random.default_rng(4)
    model = OnlineNMF(R, loss="kl", random_state=0)
    for _ in range(4):
        model.partial_fit(texts(rng))
    known = model.memory_.columns
    minus, plus, atoms = known.minus().copy(), known.plus.copy(), model.components_
    memory = copy.copy(model.memory_)
    memory._spread(atoms)
    assert memory.columns is None
    assert_array_equal(memory.minus, minus)
    assert_array_equal(memory.plus, np.repeat(plus[:, None], D, axis=1))
    # The quadratic model has the slope of the majoriser at these atoms.
    assert_allclose(memory.slope, plus[:, None] - minus / atoms)
    assert memory.value(model.state_.dictionary) == pytest.approx(model.surrogate())
    model.partial_fit(rng.poisson(3.0, (30, D)).astype(float))
    assert model.memory_.columns is None
    model.partial_fit(texts(rng))
    assert model.memory_.columns is None
    assert np.isfinite(model.components_).all()


def test_memories_of_two_parts_of_a_stream_merge():
    rng = np.random.default_rng(11)
    atoms = rng.dirichlet(np.ones(D), R)
    parts = [
        OnlineNMF.from_components(atoms, loss="kl", schedule="harmonic", fixed_components=R)
        for _ in range(2)
    ]
    for model, n_batches in zip(parts, (3, 1), strict=True):
        model.fit_stream([texts(rng) for _ in range(n_batches)])
    one, other = (model.memory_ for model in parts)
    minus = 0.75 * one.columns.minus() + 0.25 * other.columns.minus()
    plus = 0.75 * one.columns.plus + 0.25 * other.columns.plus
    value = 0.75 * parts[0].surrogate() + 0.25 * parts[1].surrogate()
    merged = copy.copy(one)
    merged.merge(other, 0.25)
    assert_allclose(merged.minus, minus)
    assert_allclose(merged.plus, np.repeat(plus[:, None], D, axis=1))
    assert merged.value(parts[0].state_.dictionary) == pytest.approx(value)
    assert one.columns is not None


def test_a_stopped_run_goes_on_to_the_bit(tmp_path):
    rng = np.random.default_rng(5)
    batches = [texts(rng) for _ in range(8)]
    straight = OnlineNMF(R, loss="kl", random_state=0).fit_stream(batches)
    stopped = OnlineNMF(R, loss="kl", random_state=0).fit_stream(batches[:4])
    atomstream.save(stopped, tmp_path / "model.atoms")
    again = atomstream.load(tmp_path / "model.atoms").fit_stream(batches[4:])
    assert_array_equal(again.components_, straight.components_)
    assert_array_equal(again.memory_.columns.minus(), straight.memory_.columns.minus())


def test_a_step_that_fails_changes_nothing_and_copies_stay():
    rng = np.random.default_rng(6)
    batches = [texts(rng) for _ in range(6)]
    model = OnlineNMF(R, loss="kl", random_state=0).fit_stream(batches[:3])
    before, twin = model.components_.copy(), copy.copy(model)

    class Breaks(Majorise):
        """Fails after it has changed everything."""

        def update(self, *args, **kwargs):
            super().update(*args, **kwargs)
            raise RuntimeError("late")

    other = copy.deepcopy(model).set_params(updater=Breaks())
    with pytest.raises(RuntimeError, match="late"):
        other.partial_fit(batches[3])
    assert_array_equal(other.components_, before)
    model.set_params(updater=Breaks())
    with pytest.raises(RuntimeError, match="late"):
        model.partial_fit(batches[3])
    assert_array_equal(model.components_, before)
    model.set_params(updater="auto").fit_stream(batches[3:])
    assert_array_equal(twin.components_, before)
    twin.fit_stream(batches[3:])
    assert_array_equal(twin.components_, model.components_)
    assert_array_equal(twin.memory_.columns.minus(), model.memory_.columns.minus())


def test_a_step_forms_nothing_as_large_as_the_atoms():
    r, d = 10, 200_000
    rng = np.random.default_rng(7)
    batches = [sp.random_array((64, d), density=5e-5, format="csr", rng=rng) for _ in range(3)]
    model = OnlineNMF(r, loss="kl", init="random", random_state=0).fit_stream(batches[:2])
    tracemalloc.start()
    model.partial_fit(batches[2])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < r * d * 8 / 4


def test_unused_atoms_stay_and_are_replaced_in_the_end():
    rng = np.random.default_rng(8)
    atoms = np.full((R, D), 1.0 / D)
    atoms[0], atoms[0, -1] = 0.0, 1.0  # no text has the last word
    model = OnlineNMF.from_components(atoms, loss="kl", random_state=0)
    batch = texts(rng, d=D - 1)
    batch = sp.csr_array((batch.data, batch.indices, batch.indptr), shape=(8, D))
    model.partial_fit(batch)
    assert_array_equal(model.components_[0], atoms[0])
    for _ in range(10):
        model.partial_fit(batch)
    assert model.n_reseeded_ > 0
    assert_allclose(model.components_.sum(axis=1), 1.0, rtol=1e-9)
    assert_allclose(model.state_.dictionary.gram(), model.components_ @ model.components_.T)


def test_factors_and_running_sums_are_formed_anew(monkeypatch):
    rng = np.random.default_rng(9)
    batches = [texts(rng) for _ in range(30)]
    plain = OnlineNMF(R, loss="kl", random_state=0, schedule=Constant(0.5)).fit_stream(batches)
    monkeypatch.setattr(column_sums, "SMALLEST", 1e-3)
    monkeypatch.setattr(column_sums, "RENEWED", 3)
    often = OnlineNMF(R, loss="kl", random_state=0, schedule=Constant(0.5)).fit_stream(batches)
    assert often.memory_.columns.age < 4
    assert often.memory_.columns.unit.min() >= 1e-3
    assert_allclose(often.components_, plain.components_, rtol=1e-10)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 10**6)), max_size=30), st.booleans())
def test_every_version_of_columns_stays_what_it_was(changes, in_turns):
    version = Columns(np.zeros((6, 2)))
    held = [(version, np.zeros((6, 2)))]
    for from_the_last, seed in changes:
        rng = np.random.default_rng(seed)
        version, array = held[-1] if from_the_last else held[rng.integers(len(held))]
        features = np.flatnonzero(rng.random(6) < 0.4)
        rows, array = rng.random((len(features), 2)), array.copy()
        array[features] = rows
        held.append((version.changed(features, rows), array))
        if in_turns:
            old, expected = held[rng.integers(len(held))]
            assert_array_equal(old.read(np.array([1, 4])), expected[[1, 4]])
    for version, expected in held:
        assert_array_equal(version.array, expected)


def test_a_version_that_is_held_does_not_grow_with_the_stream():
    first = newest = Columns(np.zeros((50, 2)))
    for value in range(1, 1000):
        newest = newest.changed(np.arange(10), np.full((10, 2), float(value)))
    length, version = 0, first
    while vars(version)["array"] is None:
        version, length = vars(version)["later"][0], length + 1
    assert length < 10
    assert not first.array.any()
