"""Inside the theorem of tensors: what `convergent` sets, refuses, and comes to."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import atomstream
from atomstream import OnlineCPDictionary
from atomstream.memory import Aggregates
from atomstream.penalties import Box, UnitBall
from atomstream.schedules import LogPolynomial, check_conditions


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"updater": "auto"}, "updater is settled by the theorem"),
        ({"coder": "auto"}, "coder is settled by the theorem"),
        ({"shuffle": True}, "shuffle is settled by the theorem"),
        ({"ridge": 0.0}, "ridge must be above 0"),
        ({"ridge": -1.0}, "ridge must be a number of at least 0"),
        ({"radius": None}, "radius must be a number or 'auto'"),
        ({"codes": "nonnegative"}, "codes='nonnegative' is no bounded"),
        ({"atoms": "free"}, "atoms='free' is no bounded"),
        ({"atoms": ["unit_ball", "nonnegative"]}, "is no bounded convex set"),
        ({"atoms": "nonnegative"}, "is no bounded convex set"),
        ({"schedule": "constant"}, "breaks condition \\(A3\\)"),
        ({"schedule": LogPolynomial(1.0)}, "breaks condition \\(A3\\)"),
    ],
)
def test_settings_outside_the_theorem_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        OnlineCPDictionary.convergent(3, **settings)


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


def test_a_convergent_model_is_cloned_and_saved_as_any_other(tmp_path):
    made, batches = OnlineCPDictionary.convergent(3), list(chain(2))
    made.set_params(random_state=0)
    model, twin = (clone(made).partial_fit(batches[0]) for _ in range(2))
    atomstream.save(model, tmp_path / "model.atoms")
    loaded = atomstream.load(tmp_path / "model.atoms")
    assert repr(loaded.get_params(deep=False)) == repr(made.get_params(deep=False))
    for one in (twin, loaded):
        one.partial_fit(batches[1])
    assert_array_equal(loaded.components_, twin.components_)
