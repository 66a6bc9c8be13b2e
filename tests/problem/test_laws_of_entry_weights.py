"""The laws of the design, where entries have weights of their own."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from shared import DATA, needs_data

from atomstream import OnlineDictionaryLearning, OnlineNMF, load, save
from atomstream.coders import Auto
from atomstream.loop import short_runs
from atomstream.memory import Aggregates
from atomstream.updates import Majorise

KINDS = {
    "nmf": lambda **more: OnlineNMF(3, random_state=0, **more),
    "signed": lambda **more: OnlineDictionaryLearning(3, alpha=0.05, random_state=0, **more),
    "kl": lambda **more: OnlineNMF(3, loss="kl", random_state=0, **more),
    "huber": lambda **more: OnlineNMF(3, loss="huber:0.5", random_state=0, **more),
}


def data(n=60, m=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, 3)) @ rng.random((3, m)) + 0.1 * rng.random((n, m))
    return X, 10 ** rng.uniform(-2, 1, X.shape)


def batches(X, W):
    return [(X[i : i + 15], W[i : i + 15]) for i in range(0, len(X), 15)]


def known(model):
    """Return the arrays of what a model keeps of its stream, and its atoms."""
    names = [name for name, value in vars(model.memory_).items() if isinstance(value, np.ndarray)]
    return {name: getattr(model.memory_, name) for name in sorted(names)} | {
        "atoms": model.components_
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_before", [1, 2, 3])
def test_a_stream_goes_on_from_a_file_to_the_bit(kind, n_before, tmp_path):
    """The second batch is the first one whose entries weigh differently."""
    X, W = data()
    W[:15] = 2.0
    whole, part = KINDS[kind](), KINDS[kind]()
    for rows, weights in batches(X, W):
        whole.partial_fit(rows, entry_weight=weights)
    for rows, weights in batches(X, W)[:n_before]:
        part.partial_fit(rows, entry_weight=weights)
    save(part, tmp_path / "m.atoms")
    part = load(tmp_path / "m.atoms")
    for rows, weights in batches(X, W)[n_before:]:
        part.partial_fit(rows, entry_weight=weights)
    found, expected = known(part), known(whole)
    assert found.keys() == expected.keys()
    if kind in ("nmf", "signed"):
        assert expected["grams"].shape == (8, 3, 3)
    for name, values in expected.items():
        assert_array_equal(found[name], values)


@pytest.mark.parametrize("kind", ["nmf", "signed", "kl"])
def test_integer_weights_of_rows_repeat_them_beside_weights_of_entries(kind):
    X, W = data(12)
    counts = np.arange(12) % 3 + 1
    settings = {"init": X[:3], "n_epochs": 2, "coder": Auto(tol=1e-9)}
    weighted = KINDS[kind](**settings).fit(X, entry_weight=W, sample_weight=counts)
    rows = np.repeat(np.arange(12), counts)
    repeated = KINDS[kind](**settings).fit(X[rows], entry_weight=W[rows])
    assert_allclose(weighted.components_, repeated.components_, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("kind", ["nmf", "signed"])
def test_cuts_at_other_places_give_the_same_memory(kind):
    X, W = data()
    atoms = KINDS[kind](n_epochs=1).fit(X).components_
    memories = []
    for cuts in ([20, 40], [1, 15, 57]):
        model = KINDS[kind](fixed_components=3, init=atoms, schedule="harmonic", n_epochs=1)
        model.set_params(coder=Auto(tol=1e-12))
        for rows, weights in zip(np.split(X, cuts), np.split(W, cuts), strict=True):
            model.partial_fit(rows, entry_weight=weights)
        memories.append(known(model))
    for name, values in memories[0].items():
        assert_allclose(memories[1][name], values, rtol=1e-7, atol=1e-9)


def test_memories_with_and_without_weights_merge_into_that_of_one_pass():
    X, W = data()
    W[:30] = 1.0
    atoms = OnlineNMF(3, random_state=0, n_epochs=1).fit(X).components_

    def learned(*rows):
        model = OnlineNMF(3, fixed_components=3, init=atoms, schedule="harmonic")
        model.set_params(coder=Auto(tol=1e-12), random_state=0)
        for part in rows:
            model.partial_fit(X[part], entry_weight=W[part])
        return model

    plain, weighted = slice(30), slice(30, 60)
    one, other, whole = learned(plain), learned(weighted), learned(plain, weighted)
    share = W[weighted].max(axis=1).sum()
    for first, second, part in (
        (one, other, share / (share + 30)),
        (other, one, 30 / (share + 30)),
    ):
        memory = Aggregates(3, 8)
        memory.merge(first.memory_, 1.0)
        memory.merge(second.memory_, part)
        assert_allclose(memory.grams, whole.memory_.grams, rtol=1e-6)
        assert_allclose(memory.cross, whole.memory_.cross, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_rows_and_sparse_weights_give_what_dense_ones_do(kind):
    X, W = data()
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.5, 0, X)
    dense = KINDS[kind](n_epochs=2).fit(X, entry_weight=W)
    sparse = KINDS[kind](n_epochs=2).fit(sp.csr_array(X), entry_weight=sp.csr_array(W))
    assert_allclose(sparse.components_, dense.components_, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_float32_gives_nearly_what_float64_does(kind, room):
    X, W = data()
    settings = {"init": X[:3], "n_epochs": 2}
    double = KINDS[kind](**settings).fit(X, entry_weight=W)
    single = KINDS[kind](**settings).fit(X.astype(np.float32), entry_weight=W.astype(np.float32))
    assert single.components_.dtype == np.float32
    room.near(single.components_, double.components_, abs=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_entries_without_weight_may_hold_anything(kind):
    X, W = data()
    W[np.random.default_rng(2).random(W.shape) < 0.2] = 0
    first, other = (
        KINDS[kind](n_epochs=2).fit(np.where(W > 0, X, odd), entry_weight=W) for odd in (0.0, 1e3)
    )
    assert_array_equal(first.components_, other.components_)


@pytest.mark.parametrize("kind", ["nmf", "signed", "kl", "huber"])
def test_equal_weights_of_a_stream_give_the_bits_of_none(kind):
    X, _ = data()
    plain, alike = KINDS[kind](), KINDS[kind]()
    for rows, weights in batches(X, np.ones_like(X)):
        plain.partial_fit(rows)
        alike.partial_fit(rows, entry_weight=weights)
    for name, values in known(plain).items():
        assert_array_equal(known(alike)[name], values)


@pytest.mark.parametrize(
    ("loss", "run"), [("kl", short_runs._ByCoordinates), ("huber", short_runs._Multiplicative)]
)
def test_short_runs_are_ranked_by_the_loss_that_is_learned(loss, run, monkeypatch):
    X, W = data()
    ranked, own = [], run.value
    monkeypatch.setattr(run, "value", lambda self: ranked.append(self) or own(self))
    updater = Majorise() if loss == "huber" else "auto"
    OnlineNMF(3, loss=loss, updater=updater, random_state=0).fit(X, entry_weight=W)
    assert len(ranked) >= short_runs.N_STARTS


def errors_of_one_pass(site, n_columns, rank, n_rows):
    """Return errors on clean rows over those of the model that made them, of three starts."""
    con, unc = (
        np.loadtxt(
            DATA / f"air/{site}-{kind}.csv",
            delimiter=",",
            skiprows=1,
            usecols=range(1, n_columns + 1),
        )
        for kind in ("con", "unc")
    )
    size = np.sqrt((con**2).mean(axis=0))
    noise = unc / size
    model = OnlineNMF(rank, random_state=0).fit(con / size, entry_weight=noise**-2)
    codes, atoms = model.transform(con / size, entry_weight=noise**-2), model.components_
    ratios = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        places = rng.integers(len(con), size=n_rows + 1000)
        drawn = codes[places] * np.exp(0.3 * rng.standard_normal((n_rows + 1000, rank)))
        clean, variance = drawn @ atoms + 1e-9, noise[places] ** 2
        X, W = rng.gamma(clean**2 / variance, variance / clean), 1 / variance
        seen, left = slice(n_rows), slice(n_rows, None)
        stream = OnlineNMF(rank, n_epochs=1, init=rng.random(atoms.shape), random_state=seed)
        stream.fit(X[seen], entry_weight=W[seen])
        errors = []
        for holder in (stream, model):
            made = holder.transform(X[left], entry_weight=W[left]) @ holder.components_
            errors.append((W[left] * (clean[left] - made) ** 2).sum())
        ratios.append(errors[0] / errors[1])
    return ratios


@needs_data
@pytest.mark.filterwarnings("ignore:Column")  # of some draws one has most of the energy
def test_one_pass_comes_near_the_atoms_that_rows_were_made_from(room):
    """Few rows have most of the weight: without its first rounds the stream ends far above."""
    room.ratio(max(errors_of_one_pass("StLouis", 12, 6, 30_000)), at_most=1.1)


@needs_data
@pytest.mark.filterwarnings("ignore:Column")  # of some draws one has most of the energy
def test_one_pass_over_unequal_entries_ends_where_an_alternation_does(room):
    """Rough codes of all of the stream would leave 4 %."""
    room.ratio(np.mean(errors_of_one_pass("BatonRouge", 40, 4, 60_000)), at_most=1.037)
