"""Importance: absolute codes times the lengths of their atoms, whatever the model."""

import numpy as np
import pytest
import scipy.sparse as sp
from cases import of_fields
from last_codes import Last
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits

from atomstream import BatchNMF, OnlineDictionaryLearning, OnlineNMF, load, save, streams
from atomstream.loop import explaining
from atomstream.losses import Huber
from atomstream.penalties import TopK
from atomstream.problem import Accuracy
from atomstream.schedules import Constant
from atomstream.watch.callbacks import Callback

RNG = np.random.default_rng(0)
X = RNG.random((60, 12)) + 0.1
WEIGHTS = RNG.random(30) + 0.5

# Of fields: a model, and the shape of a sample.
OF_FIELDS = of_fields("importance_of_batches")
MODELS = {
    "squared": OnlineNMF(3),
    "float32": OnlineNMF(3),
    "signed": OnlineDictionaryLearning(3, alpha=0.01),
    "missing": OnlineNMF(3, missing=True),
    "spheres": OnlineDictionaryLearning(3, atoms="unit_sphere"),
    "kl": OnlineNMF(3, loss="kl", atoms="nonnegative"),
    "steps": OnlineNMF(3, loss="l1", updater="spsg"),
    "robust": OnlineNMF(3, loss=Huber(0.1), atoms="nonnegative"),
    **{name: model for name, (model, _) in OF_FIELDS.items()},
}


def shaped(name, rows):
    """Return rows in the shape that samples of a model have."""
    return rows.reshape(-1, *OF_FIELDS[name][1]) if name in OF_FIELDS else rows


@pytest.mark.parametrize("name", MODELS)
def test_a_batch_adds_codes_times_the_lengths_of_the_atoms_that_made_them(name):
    model, last = MODELS[name].set_params(random_state=0), Last()
    rows = X.astype(np.float32) if name == "float32" else X
    rows = shaped(name, rows)
    model.partial_fit(rows[:30])
    lengths = np.sqrt(model.state_.dictionary.gram().diagonal())
    before = model.state_.usage.mean
    model.set_callbacks(last).fit_stream([(rows[30:], WEIGHTS)])
    added, weight = WEIGHTS @ np.abs(last.codes) * lengths, model.clock_.weight
    assert 0 < weight < 1
    expected = (1 - weight) * before + weight / WEIGHTS.sum() * added
    usage = model.state_.usage
    assert_allclose(usage.mean, expected, rtol=1e-5)
    assert_allclose(usage.newest, added, rtol=1e-5)
    if name not in ("spheres", "squared", "float32", "missing"):  # whose lengths are near one
        assert np.ptp(lengths) > 1e-3
    assert_allclose(model.importance_, usage.mean / usage.mean.sum())


def test_a_short_atom_with_long_codes_is_not_important():
    model = OnlineNMF.from_components(np.diag([1.0, 0.001]), random_state=0)
    model.partial_fit(np.tile([3.0, 1.0], (5, 1)))
    assert_allclose(model.importance_, [0.75, 0.25], rtol=1e-3)


def test_on_a_simplex_codes_are_shares_of_the_sums_of_samples():
    model = OnlineNMF(3, loss="kl", random_state=0).partial_fit(X[:30])
    assert_allclose(model.components_.sum(axis=1), 1)
    last = Last()
    model.set_callbacks(last).fit_stream([X[30:]])
    assert_allclose(model.state_.usage.newest, last.codes.sum(axis=0), rtol=1e-9)


# -- after a fit
# --------------------------------------------------------------------------------------------------

DIGITS = load_digits().data[:700] / 16
# Of fields: what is made, what it learns from, and what else it is told then.
FITTED_OF_FIELDS = of_fields("importance")
FITTED = {
    "squared": lambda **how: OnlineNMF(10, **how),
    "kl": lambda **how: OnlineNMF(10, loss="kl", **how),
    "is": lambda **how: OnlineNMF(6, loss="is", **how),
    "huber": lambda **how: OnlineNMF(6, loss="huber", **how),
    "l1": lambda **how: OnlineNMF(6, loss="l1", **how),
    "trimmed": lambda **how: OnlineNMF(6, loss="trimmed", **how),
    "float32": lambda **how: OnlineNMF(10, **how),
    "sparse": lambda **how: OnlineNMF(10, **how),
    "missing": lambda **how: OnlineNMF(10, missing=True, **how),
    "scaled": lambda **how: OnlineNMF(10, scale="max", **how),
    "adaptive": lambda **how: OnlineNMF(10, schedule="adaptive", **how),
    "fixed": lambda **how: OnlineNMF(10, init=DIGITS[:10] + 0.01, fixed_components=4, **how),
    "lasso": lambda **how: OnlineDictionaryLearning(20, alpha=0.1, **how),
    "few": lambda **how: OnlineDictionaryLearning(12, codes=TopK(3), alpha=0.0, **how),
    "data sets": lambda **how: BatchNMF(6, 2, **how),
    **{name: make for name, (make, _, _) in FITTED_OF_FIELDS.items()},
}


def data_of(name):
    rows = DIGITS
    if name == "is":
        rows = rows + 0.05
    elif name == "missing":
        rows = np.where(np.random.default_rng(0).random(rows.shape) < 0.1, np.nan, rows)
    elif name == "float32":
        rows = rows.astype(np.float32)
    elif name == "sparse":
        rows = sp.csr_array(rows)
    elif name in FITTED_OF_FIELDS:
        rows = FITTED_OF_FIELDS[name][1]
    return rows, {"batch": np.arange(700) % 2} if name == "data sets" else {}


def shares_of_codes(model, rows, weights=None, **more):
    codes = np.abs(model.transform(rows, **more))
    lengths = explaining.lengths(model.state_.dictionary, model.algorithm_.objective.atoms)
    used = (np.ones(len(codes)) if weights is None else weights) @ codes * lengths
    return used / used.sum()


def apart(said, true):
    """The largest factor between shares that count, of which each is one in a hundred or more."""
    counts = true > 0.01
    assert counts.sum() > 2
    return np.maximum(said / true, true / said)[counts].max()


@pytest.mark.filterwarnings("ignore::atomstream.AtomstreamWarning")
@pytest.mark.parametrize("n_epochs", [None, 1])
@pytest.mark.parametrize("name", FITTED)
def test_after_a_fit_it_is_that_of_the_codes_at_its_end(name, n_epochs, room):
    rows, more = data_of(name)
    how = {"random_state": 0} | ({} if n_epochs is None else {"n_epochs": n_epochs})
    model = FITTED[name](**how)
    told = FITTED_OF_FIELDS[name][2] if name in FITTED_OF_FIELDS else more
    model.fit(rows, **told)
    room.ratio(apart(model.importance_, shares_of_codes(model, rows, **more)), at_most=1.2)


def test_the_order_of_the_atoms_is_that_of_the_digits(room):
    X = load_digits().data / 16
    for seed in range(3):
        model = OnlineNMF(16, random_state=seed).fit(X)
        true = shares_of_codes(model, X)
        room.ratio(apart(model.importance_, true), at_most=1.05)
        assert model.importance_.argmax() == true.argmax()


def test_few_of_many_rows_tell_it_where_no_rounds_do(room):
    rng = np.random.default_rng(0)
    many = rng.gamma(0.3, size=(5000, 6)) * [8, 4, 2, 1, 1, 1] @ rng.random((6, 20))
    many = np.sort(many, axis=0)  # rows at the beginning are unlike those at the end
    weights = rng.random(5000)
    model = OnlineNMF(4, n_epochs=2, shuffle=False, random_state=0).fit(many, sample_weight=weights)
    room.ratio(apart(model.importance_, shares_of_codes(model, many, weights)), at_most=1.15)
    stored = OnlineNMF(4, n_epochs=2, shuffle=False, random_state=0)
    stored.fit(streams.OnDisk(many), sample_weight=weights)
    assert_allclose(stored.importance_, model.importance_)


def test_rows_that_do_not_count_are_not_counted():
    weights = np.repeat([1.0, 0.0], 350)
    rows = DIGITS.copy()
    rows[350:] = 5 * rows[350:, ::-1]
    for n_epochs in (None, 2):
        whole = OnlineNMF(6, n_epochs=n_epochs, batch_size=350, shuffle=False, random_state=0)
        part = OnlineNMF(6, n_epochs=n_epochs, batch_size=350, shuffle=False, random_state=0)
        whole.fit(rows, sample_weight=weights)
        part.fit(rows[:350])
        assert_allclose(whole.importance_, part.importance_, rtol=1e-6)


class Stop(Callback):
    def __init__(self, after):
        self.left = after

    def on_batch_end(self, estimator):
        self.left -= 1
        return self.left == 0


@pytest.mark.parametrize("after", [4, 33])
def test_after_a_fit_that_a_callback_ends(after, room):
    model = OnlineNMF(10, random_state=0).set_callbacks(Stop(after)).fit(DIGITS)
    assert model.n_iter_ == (2 if after == 4 else 13)
    room.ratio(apart(model.importance_, shares_of_codes(model, DIGITS)), at_most=1.3)


def test_after_a_fit_that_time_ends_it_is_that_of_the_batches_that_came():
    model = OnlineNMF(10, max_time=0.0, random_state=0).fit(DIGITS)
    usage = model.state_.usage
    assert model.n_steps_ == 1
    assert_allclose(usage.mean, usage.newest / 256)


@pytest.mark.parametrize("loss", ["squared", "kl", "is"])
def test_rounds_over_rows_that_are_read_anew(loss, room):
    rows = DIGITS + 0.05
    model = OnlineNMF(6, loss=loss, random_state=0).fit_stream(streams.batches(rows, 200))
    for _ in range(8):
        model.settle_stream(streams.batches(rows, 200))
        before = model.importance_
        assert_allclose(before, model.importance_)  # a round that is not complete tells nothing
        model.end_round()
    room.ratio(apart(model.importance_, shares_of_codes(model, rows)), at_most=1.3)
    settled = OnlineNMF(6, loss=loss, random_state=0).fit_stream(streams.batches(rows, 200))
    settled.settle(rows)
    room.ratio(apart(settled.importance_, shares_of_codes(settled, rows)), at_most=1.1)


# -- along a stream
# --------------------------------------------------------------------------------------------------


class Sums(Callback):
    """The weighted sum, written out: every batch by what the later ones have left of it."""

    def setup(self, estimator, context):
        self.used, self.weights = [], []

    def on_batch_end(self, estimator):
        delta, weight = estimator._progress.delta, estimator.clock_.weight
        self.weights = [each * (1 - weight) for each in self.weights] + [weight]
        self.used.append(delta.usage / delta.mass)


def pieces(name, n_batches=30, size=20):
    rows = np.tile(X, (n_batches * size // 60, 1)) + RNG.random((n_batches * size, 12))
    rows = rows.astype(np.float32) if name == "float32" else rows
    rows = shaped(name, rows)
    weights = RNG.random(len(rows)) + 0.5
    return [(rows[i : i + size], weights[i : i + size]) for i in range(0, len(rows), size)]


@pytest.mark.filterwarnings("ignore::atomstream.ScheduleWarning")
@pytest.mark.parametrize("schedule", ["power", "harmonic", Constant(0.1), Constant(half_life=90.0)])
@pytest.mark.parametrize("name", MODELS)
def test_along_a_stream_it_fades_as_the_memory_does(name, schedule):
    model, sums = clone(MODELS[name]).set_params(random_state=0, schedule=schedule), Sums()
    model.set_callbacks(sums).fit_stream(pieces(name))
    assert model.n_reseeded_ == 0
    expected = np.array(sums.weights) @ sums.used
    assert_allclose(model.state_.usage.mean, expected, rtol=1e-9)
    assert_allclose(model.importance_, expected / expected.sum(), rtol=1e-9)


def test_an_atom_that_was_replaced_begins_anew():
    rng, model = np.random.default_rng(0), OnlineNMF(4, random_state=0)
    model.partial_fit(X)
    used = model.state_.usage.mean.copy()
    model.state_.usage.idle = np.array([0.0, 1e9, 0.0, 0.0])
    model._learner.state.memory.gram[1] = model._learner.state.memory.gram[:, 1] = 0.0
    state, algorithm = model.state_, model.algorithm_
    batch = model._to_batch(X)
    codes = algorithm.coder.encode(batch, state.dictionary, algorithm.objective, Accuracy(gap=1e-6))
    assert algorithm.reseed(batch, codes, state, rng) == 1
    assert_allclose(state.usage.mean, used * [1, 0, 1, 1])


def test_after_a_change_it_is_that_of_what_takes_over(room):
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 3, 12)) ** 3

    def rows(parts, shares):
        return rng.gamma(1.0, size=(50, 3)) * shares @ parts + 0.01 * rng.random((50, 12))

    model = OnlineNMF(3, schedule="adaptive", random_state=0)
    model.fit_stream(rows(first, [1, 1, 1]) for _ in range(60))
    model.fit_stream(rows(second, [8, 1, 1]) for _ in range(30))
    assert model._learner.reactive.n_taken
    new = np.concatenate([rows(second, [8, 1, 1]) for _ in range(20)])
    room.ratio(apart(model.importance_, shares_of_codes(model, new)), at_most=1.3)


def test_it_goes_on_from_a_file(tmp_path):
    batches = pieces("squared")
    never = OnlineNMF(3, random_state=0).fit_stream(batches)
    stopped = OnlineNMF(3, random_state=0).fit_stream(batches[:17])
    save(stopped, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms")
    assert_array_equal(again.state_.usage.newest, stopped.state_.usage.newest)
    assert_array_equal(again.fit_stream(batches[17:]).importance_, never.importance_)
