"""Rounds over rows that stay on disk: they end near those in memory, and keep nothing but sums."""

import tracemalloc
from copy import copy
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from scipy.special import kl_div

from atomstream import NotConvergedWarning, OnlineDictionaryLearning, OnlineNMF, load, save, streams
from atomstream.loop import streamed_rounds


def mixed(n=150, d=20, r=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, r)) ** 3 @ rng.random((r, d)) + 0.02 * rng.random((n, d))


def cube(n=2500, d=80, seed=0):
    """Counts of a spectral image without pure pixels, and the spectra that it is made of."""
    rng, x = np.random.default_rng(seed), np.linspace(0, 1, d)
    spectra = np.full((4, d), 0.15)
    for row in spectra:
        for middle, width in zip(rng.random(4), rng.uniform(0.02, 0.12, 4), strict=True):
            row += rng.uniform(0.3, 1.5) * np.exp(-0.5 * ((x - middle) / width) ** 2)
    shares = np.minimum(rng.dirichlet(np.full(4, 0.4), n), 0.8)
    return rng.poisson(7 * shares @ spectra).astype(float), spectra


def cosines(spectra, model):
    one, other = (
        rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (spectra, model.components_)
    )
    found = one @ other.T
    return found[linear_sum_assignment(-found)]


class Stored:
    """An array that is read as HDF5 is: slices, and places in rising order."""

    def __init__(self, rows):
        self._rows, self.shape, self.dtype = rows, rows.shape, rows.dtype

    def __getitem__(self, places):
        assert isinstance(places, slice) or (np.diff(places) > 0).all()
        return self._rows[places]


@pytest.mark.parametrize(
    "model",
    [
        OnlineNMF(3, n_epochs=2, batch_size=40, random_state=0),
        OnlineNMF(3, loss="kl", n_epochs=2, batch_size=40, shuffle=False, random_state=0),
        OnlineNMF(3, scale="std", n_epochs=2, batch_size=40, random_state=0),
        OnlineDictionaryLearning(3, n_epochs=2, batch_size=40, random_state=0),
    ],
)
def test_passes_over_rows_on_disk_are_those_in_memory_to_the_bit(model):
    X = mixed().astype(np.float32)
    weights = np.random.default_rng(1).random(len(X))
    here = model.fit(X, sample_weight=weights).components_.copy()
    there = model.fit(streams.OnDisk(Stored(X)), sample_weight=weights).components_
    if model.get_params().get("scale") == "std":  # of sums over parts, added in another order
        assert_allclose(there, here, rtol=1e-4)
    else:
        assert_array_equal(there, here)


def test_spectra_on_disk_are_found_as_in_memory(room, seeds):
    lost = []
    for seed in seeds:
        X, spectra = cube(seed=seed)
        here = OnlineNMF(4, loss="kl", random_state=seed).fit(X)
        there = OnlineNMF(4, loss="kl", random_state=seed).fit(streams.OnDisk(X))
        lost.append((cosines(spectra, here) - cosines(spectra, there)).max())
        room.ratio(there.losses(X).mean() / here.losses(X).mean(), at_most=1.001)
        assert there.settling_.settled
    once = OnlineNMF(4, loss="kl", random_state=seed).fit_stream(streams.batches(X))
    assert cosines(spectra, once).min() < cosines(spectra, there).min()
    room.error(max(np.median(lost), 0), at_most=0.006)


@pytest.mark.slow
def test_in_a_flat_valley_fits_on_disk_and_in_memory_are_equally_stationary(room, seeds):
    """Spectra that overlap, of which no pixel is pure: many dictionaries are nearly as good."""
    rng, x = np.random.default_rng(7), np.linspace(0, 1, 100)
    spectra = np.full((5, 100), 0.15)
    for row in spectra:
        for middle, width in zip(rng.random(4), rng.uniform(0.05, 0.25, 4), strict=True):
            row += rng.uniform(0.3, 1.5) * np.exp(-0.5 * ((x - middle) / width) ** 2)
    shares = np.minimum(rng.dirichlet(np.full(5, 0.6), 1600), 0.7)
    X, found = rng.poisson(9 * shares @ spectra).astype(float), []
    for seed in seeds:
        models = [
            OnlineNMF(5, loss="kl", random_state=seed).fit(data) for data in (X, streams.OnDisk(X))
        ]
        found.append([(it.losses(X).mean(), it.stationarity(X)) for it in models])
    (loss, still), (loss_there, still_there) = np.median(found, axis=0)
    room.ratio(loss_there / loss, at_most=1.001)
    room.error(still_there, at_most=2 * still)


CASES = {
    "squared": (OnlineNMF, {}),
    "lasso": (OnlineNMF, {"alpha": 0.05}),
    "kl": (OnlineNMF, {"loss": "kl"}),
    "kl, penalised": (OnlineNMF, {"loss": "kl", "alpha": 0.1}),
    "kl, fixed": (OnlineNMF, {"loss": "kl", "init": mixed(4), "fixed_components": 2}),
    "is": (OnlineNMF, {"loss": "is"}),
    "missing": (OnlineNMF, {"missing": True}),
    "signed": (OnlineDictionaryLearning, {}),
}


@pytest.mark.cover(2)
@pytest.mark.parametrize("case", CASES)
def test_rounds_lower_the_objective_and_end(case):
    kind, params = CASES[case]
    X = mixed()
    if params.get("missing"):
        X = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    model = kind(4, n_epochs=1, random_state=0, **params).fit(X)
    before, first, lowest = model.objective(X), model.components_.copy(), []
    for _ in range(200):
        if model.settle_stream(streams.batches(X, 64)).end_round():
            break
        lowest.append(model.settling_.lowest)
    assert model.settling_.settled or case == "is"  # whose majorisers creep
    assert all(after <= value for value, after in pairwise(lowest))
    assert model.objective(X) < before
    if "fixed" in case:
        assert_array_equal(model.components_[:2], first[:2])


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_rounds_by_sums_end_where_those_in_memory_do(loss, room):
    X = mixed()
    here, there = (OnlineNMF(4, loss=loss, n_epochs=3, random_state=0).fit(X) for _ in range(2))
    here.settle(X)
    while not there.settle_stream(streams.batches(X, 37)).end_round():
        pass
    room.ratio(there.objective(X) / here.objective(X), at_most=1.01)
    if loss == "squared":
        codes = there.transform(X)
        room.near(there.memory_.gram, codes.T @ codes / len(X), rel=0.02)


def test_slopes_and_curvatures_are_those_of_the_divergence():
    X, weights = mixed(30, 6, 3), np.random.default_rng(1).random(30)
    model = OnlineNMF(3, loss="kl", n_epochs=1, random_state=0).fit(X)
    learner, atoms = model._learner, model.components_.astype(float)
    batches = [model._to_batch(X[some], weights[some]) for some in (slice(9), slice(9, None))]
    codes = np.concatenate([learner.add_to_round(batch).codes.values for batch in batches])
    rounds, step = learner.rounds, 1e-4

    def value(k, j, by):
        moved = atoms.copy()
        moved[k, j] += by
        return weights @ kl_div(X, codes @ moved).sum(axis=1) / weights.sum()

    model_of_curvature = np.zeros((3, 3, 6))
    model_of_curvature[np.triu_indices(3)] = rounds.curvatures
    for k in range(3):
        for j in range(6):
            low, middle, high = (value(k, j, by) for by in (-step, 0, step))
            assert rounds.slopes[k, j] == pytest.approx((high - low) / (2 * step), abs=1e-6)
            curvature = (high - 2 * middle + low) / step**2
            assert model_of_curvature[k, k, j] == pytest.approx(curvature, rel=1e-3)


class Made:
    """Rows that are made when they are read: a file of any length."""

    dtype = np.dtype(float)

    def __init__(self, n):
        self.shape, self._rows = (n, 60), mixed(509, 60)

    def __getitem__(self, places):
        if isinstance(places, slice):
            places = np.arange(*places.indices(self.shape[0]))
        return self._rows[places % 509]


def peak(n, loss):
    model = OnlineNMF(4, loss=loss, batch_size=256, random_state=0)
    tracemalloc.start()
    try:
        model.fit(streams.OnDisk(Made(n)))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_memory_does_not_grow_with_the_rows(loss, monkeypatch):
    monkeypatch.setattr("atomstream.estimators._settling.MAX_ROUNDS", 2)
    monkeypatch.setattr("atomstream.estimators._base.PASSES", 1)
    monkeypatch.setattr("atomstream.estimators._settling.warn_if_unsettled", lambda *_: None)
    peak(5_000, loss)  # what is loaded once
    few, many = peak(10_000, loss), peak(40_000, loss)
    assert many - few < 20 * 30_000  # bytes of a row: its place in the order, and its number
    assert many < 40_000 * 60 * 8


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_a_round_goes_on_from_a_file_or_a_copy_and_is_given_up_by_a_step(loss, tmp_path):
    X = mixed()
    model = OnlineNMF(4, loss=loss, n_epochs=1, random_state=0).fit(X)
    model.settle_stream([X[:60]])
    save(model, tmp_path / "model.atoms")
    again, twin = load(tmp_path / "model.atoms"), copy(model)
    for each in (model, again, twin):
        each.settle_stream([X[60:]]).end_round()
        each.settle_stream([X]).end_round()
        assert_array_equal(each.components_, model.components_)
    assert model.settling_.n_rounds == 2
    model.partial_fit(X[:20])
    assert model.settling_ is None
    model.settle_stream([X[:60]]).settle(X)
    assert model.settling_ is None


def test_rounds_that_took_atoms_back_go_on_from_a_file_to_the_bit(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.random((400, 4)) ** 3 @ rng.random((4, 20)) * 8).astype(float)
    model = again = OnlineNMF(4, loss="kl", random_state=0, n_epochs=1).fit(X)
    back = 0
    for _ in range(25):
        save(again, tmp_path / "model.atoms")
        again = load(tmp_path / "model.atoms")
        for each in (model, again):
            each.settle_stream(streams.batches(X, 100)).end_round()
        back += model.settling_.reach == 0
        assert_array_equal(again.components_, model.components_)
    assert back >= 2  # the first round does not move on, others do unless they take atoms back


def test_rounds_over_rows_on_disk_that_do_not_end_warn(monkeypatch):
    for part in ("_settling", "_validation"):
        monkeypatch.setattr(f"atomstream.estimators.{part}.MAX_ROUNDS", 2)
    with pytest.warns(NotConvergedWarning, match="2 rounds"):
        OnlineNMF(3, random_state=0).fit(streams.OnDisk(mixed()))


def test_weights_of_entries_count_on_disk_as_in_memory():
    X = mixed()
    model = OnlineNMF(3, n_epochs=3, batch_size=40, random_state=0)
    weights = np.random.default_rng(1).random(X.shape)
    here = model.fit(X, entry_weight=weights).components_.copy()
    assert_array_equal(model.fit(streams.OnDisk(X), entry_weight=weights).components_, here)
    with pytest.raises(ValueError, match="zero everywhere"):
        model.fit(streams.OnDisk(X), sample_weight=np.zeros(len(X)))


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_a_batch_that_is_refused_or_interrupted_leaves_the_round_as_it_was(loss, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    X = mixed()
    model, other = (OnlineNMF(4, loss=loss, n_epochs=1, random_state=0).fit(X) for _ in range(2))
    with pytest.raises(ValueError, match="Negative"):
        model.settle_stream([X[:60], -X[60:]])
    with monkeypatch.context() as patch:
        patch.setattr(streamed_rounds, "Progress", interrupt)  # when all has been added up
        with pytest.raises(KeyboardInterrupt):
            model.settle_stream([X[60:]])
    for each in (model, other.settle_stream([X[:60]])):
        each.settle_stream([X[60:]]).end_round()
    assert_array_equal(other.components_, model.components_)


def test_models_that_settle_on_no_data_end_at_once():
    X = mixed()
    model = OnlineNMF(2, loss="huber", n_epochs=1, random_state=0)
    before = model.fit(X).components_.copy()
    assert model.settle_stream([X]).end_round()
    assert_array_equal(model.components_, before)


def test_a_small_machine_takes_majorisers(monkeypatch):
    monkeypatch.setattr(streamed_rounds, "memory_there", lambda: 0)
    X = mixed()
    model = OnlineNMF(4, loss="kl", n_epochs=1, random_state=0).fit(X)
    before = model.objective(X)
    model.settle_stream([X]).end_round()
    assert model.settling_.slopes is None
    assert model.objective(X) < before
