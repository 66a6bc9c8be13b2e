"""Atoms of no use: which count as such, and what takes their place."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.dictionaries.rows import Rows
from atomstream.loop.first_dictionary import redraw
from atomstream.memory import State, Usage
from atomstream.penalties import NonnegativeBall
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy
from atomstream.updates.reseeding import starting_atoms


def few_rows():
    """Return five rows along five axes, and ten rows of zeros."""
    X = np.zeros((15, 10))
    X[range(5), range(5)] = [0.28, 0.14, 0.2, 1.38, 0.33]
    return X


@pytest.mark.parametrize("loss", ["kl", "squared"])
@pytest.mark.parametrize("init", ["svd", "random", "samples"])
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=[pytest.mark.long, pytest.mark.weekly]) for s in (1, 2))]
)
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


def tables(kind):
    """Return rows of a kind, in no order."""
    rng = np.random.default_rng(100)
    if kind == "digits":
        X = load_digits().data
    elif kind == "counts":
        rates = 3 * rng.gamma(0.4, 1, (900, 8)) @ rng.gamma(0.2, 1, (8, 50))
        X = rng.poisson(rates).astype(float)
    elif kind == "few":
        X = rng.gamma(1, 1, (30, 20))[rng.integers(30, size=800)]
    elif kind == "signed":
        X = rng.standard_normal((800, 8)) @ rng.standard_normal((8, 30))
        X += 0.1 * rng.standard_normal(X.shape)
    else:
        X = rng.gamma(1, 1, (800, 6)) @ rng.gamma(1, 1, (6, 30))
        X += rng.gamma(0.5, 1, X.shape)
    return rng.permutation(X[X.any(axis=1)])


def repeated(rows, how):
    """Return a start in which some rows stand more than once, or are zeros."""
    n, found = len(rows), rows.copy()
    if how == "one many times":
        found[1 : n // 2] = found[0]
    elif how == "a third of them zeros":
        found[-(n // 3) :] = 0
    else:  # at other lengths
        found[n - n // 2 :] = [[3.7], [1.0]][how == "every row twice"] * found[: n // 2]
    return found


def end_of(X, start, road, loss):
    """Return the loss on all rows after learning from a start, by fit or along a stream."""
    kind = OnlineDictionaryLearning if X.min() < 0 else OnlineNMF
    model = kind(len(start), init=start, random_state=0, **loss)
    if road == "fit":
        return -model.fit(X).score(X)
    for first in range(0, len(X), 50):
        model.partial_fit(X[first : first + 50])
    return -model.score(X)


HOW = ["every row twice", "twice, longer", "one many times", "a third of them zeros"]


SQUARED = [(kind, "squared") for kind in ("gamma", "digits", "counts", "few", "signed")]
KL = [(kind, "kl") for kind in ("gamma", "counts", "few")]
ENDS = [(*case, road) for case in SQUARED for road in ("fit", "stream")]
ENDS += [*((*case, "stream") for case in KL), ("counts", "kl", "fit")]
# Each table, loss and road is in make test; all of them together take minutes.
AT_ONCE = {("gamma", "squared", "fit"), ("digits", "squared", "stream"), ("few", "kl", "stream")}
AT_ONCE |= {("signed", "squared", "fit"), ("counts", "squared", "stream")}
LATER = [pytest.mark.long, pytest.mark.weekly]
ENDS = [case if case in AT_ONCE else pytest.param(*case, marks=LATER) for case in ENDS]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "loss", "road"), ENDS)
def test_a_start_with_repeated_rows_ends_as_one_of_different_rows(kind, loss, road, room):
    """A start of drawn rows; the same with repeats; their losses on all rows, twenty seeds."""
    X, logs = tables(kind), []
    given = {} if kind == "signed" else {"loss": loss}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = np.unique(X, axis=0)
        start = rows[rng.choice(len(rows), 12, replace=False)]
        X = rng.permutation(X)
        starts = [start, *(repeated(start, how) for how in HOW)]
        ends = [end_of(X, one, road, given) for one in starts]
        logs.append(np.log(ends[1:]) - np.log(ends[0]))
    # Each kind of repeats by itself: one that ends better must not hide one that ends worse.
    room.ratio(float(np.exp(np.abs(np.mean(logs, axis=0)).max())), at_most=1.03)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("given", ["init", "from_components"])
def test_repeats_are_replaced_before_the_first_step(how, given):
    X = tables("gamma")
    start = repeated(X[:8], how)
    if given == "init":
        model = OnlineNMF(8, init=start, random_state=0).partial_fit(X[8:80])
    else:
        model = OnlineNMF.from_components(start, random_state=0)
        assert_array_equal(model.components_, start)  # as they are to code
        model.partial_fit(X[8:80])
    n_repeats = {"one many times": 3, "a third of them zeros": 2}.get(how, 4)
    assert model.n_reseeded_ == n_repeats
    atoms = model.components_ / np.linalg.norm(model.components_, axis=1)[:, None]
    assert (np.triu(atoms @ atoms.T, 1) < 1 - 1e-6).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_what_replaces_a_repeat_is_a_row_of_the_data_at_its_own_length(sparse):
    X = tables("gamma")[:50]
    batch = Batch(sp.csr_array(X) if sparse else X)
    start = np.vstack([X[40:44], 2 * X[40:42], np.zeros_like(X[:1])])
    model = OnlineDictionaryLearning(7, atoms="free", fixed_components=[4], init=start)
    state = State(Rows(start), None, Usage(7))
    assert redraw(state, batch, model.algorithm_, np.random.default_rng(0)) == 3
    atoms = state.dictionary.atoms()
    # Of two that are alike the fixed one stays, here the fifth.
    assert_array_equal(atoms[[1, 2, 3, 4]], start[[1, 2, 3, 4]])
    drawn = [np.flatnonzero((atom == X).all(axis=1)) for atom in atoms[[0, 5, 6]]]
    assert len({int(place) for (place,) in drawn} - {40, 41, 42, 43}) == 3


def test_with_too_few_rows_the_next_ones_replace_the_other_repeats():
    X = tables("gamma")
    model = OnlineNMF(8, init=np.tile(X[0], (8, 1)), random_state=0).partial_fit(X[:3])
    assert model.n_reseeded_ == 2
    model.partial_fit(X[3:20])
    assert model.n_reseeded_ == 7


@pytest.mark.parametrize("codes", ["simplex", "box"])
def test_where_codes_are_bounded_atoms_of_other_lengths_and_of_zeros_are_of_use(codes):
    X = tables("gamma")
    start = repeated(X[:6], "twice, longer")
    start[0] = 0
    model = OnlineNMF(6, codes=codes, atoms="nonnegative", init=start, random_state=0)
    assert model.partial_fit(X[:50]).n_reseeded_ == 0


def test_without_re_seeding_a_start_stays_as_it_is_given():
    X = tables("gamma")
    start = repeated(X[:6], "every row twice")
    model = OnlineNMF.convergent(6, init=start, random_state=0)
    assert model.partial_fit(X[:50]).n_reseeded_ == 0


def test_drawn_rows_that_are_multiples_of_each_other_make_one_atom():
    rng = np.random.default_rng(0)
    X = rng.gamma(1, 1, (12, 10))[rng.integers(12, size=300)] * rng.gamma(1, 1, (300, 1))
    for seed in range(5):
        atoms = starting_atoms(
            Batch(X), 12, "samples", NonnegativeBall(), np.random.default_rng(seed)
        )
        assert (np.triu(atoms @ atoms.T, 1) < 1 - 1e-6).all()
