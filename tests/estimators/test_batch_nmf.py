"""Several data sets, with atoms that all share and atoms of each alone."""

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import BatchNMF, DataWarning, OnlineNMF, load, save, sparse_encode
from atomstream.coders.grouped import Grouped
from atomstream.loop.coordinates import minimises_divergence
from atomstream.loop.explaining import CodingOptions
from atomstream.memory import State
from atomstream.memory.state import Usage
from atomstream.problem import Accuracy, Batch
from atomstream.updates.reseeding import Reseeding

N_SHARED, N_OWN, N_ROWS = 4, 2, 800
EXACT = CodingOptions(Accuracy(gap=1e-11))


def planted(seed, loss="squared", n_own=N_OWN, n_rows=N_ROWS):
    """Return rows of two data sets, their names, the shared atoms and the own ones of each."""
    rng = np.random.default_rng(seed)
    shared, *own = (unit(rng.gamma(0.3, 1, (size, 40))) for size in (N_SHARED, n_own, n_own))
    rows = []
    for each in own:
        atoms = np.concatenate([shared, each])
        shape = (n_rows, len(atoms))
        X = (rng.exponential(1, shape) * (rng.random(shape) < 0.6)) @ atoms
        noisy = np.maximum(X + 0.05 * X.mean() * rng.standard_normal(X.shape), 0)
        rows.append(rng.poisson(20 * X).astype(float) if loss == "kl" else noisy)
    return np.concatenate(rows), np.repeat(["a", "b"], n_rows), shared, own


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def least_cosine(found, planted):
    return (unit(planted) @ unit(found).T).max(axis=1).min()


def small(loss="squared", **more):
    X, names, _, _ = planted(3, loss, n_rows=120)
    return BatchNMF(N_SHARED, N_OWN, loss=loss, random_state=0, **more), X, names


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_planted_atoms_of_all_and_of_each_data_set_are_found(loss, seeds, room):
    for seed in seeds:
        X, names, shared, own = planted(seed, loss)
        model = BatchNMF(N_SHARED, N_OWN, loss=loss, random_state=seed).fit(X, batch=names)
        room.share(least_cosine(model.shared_components_, shared), at_least=0.97)
        for name, atoms in zip("ab", own, strict=True):
            room.share(least_cosine(model.own_components_[name], atoms), at_least=0.97)


def test_an_own_atom_that_nothing_needs_is_hardly_used(seeds, room):
    for seed in seeds:
        X, names, shared, _ = planted(seed, n_own=0)
        model = BatchNMF(N_SHARED, 1, random_state=seed).fit(X, batch=names)
        room.share(least_cosine(model.shared_components_, shared), at_least=0.97)
        # One of half of the rows: a real one of five would have a tenth of all.
        room.error(model.importance_[N_SHARED:].max(), at_most=0.02)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_without_own_atoms_it_is_plain_factorization_to_the_bit(loss, form):
    X = form(planted(0, loss, n_rows=150)[0])
    model = BatchNMF(4, 0, loss=loss, random_state=0).fit(X)
    plain = OnlineNMF(4, loss=loss, random_state=0).fit(X)
    assert_array_equal(model.components_, plain.components_)
    assert_array_equal(model.transform(X), plain.transform(X))
    assert model.score(X) == plain.score(X)


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_cuts_of_a_batch_add_up(loss):
    model, X, names = small(loss)
    model.partial_fit(X[::2], batch=names[::2])
    algorithm, dictionary = model.algorithm_, model.state_.dictionary
    batch = Batch(X, labels=np.repeat([0, 1], 120))
    whole = algorithm.explain(batch, dictionary, EXACT)[1]
    parts = [
        algorithm.explain(batch.of(rows), dictionary, EXACT)[1]
        for rows in (slice(0, 7), slice(7, 140), slice(140, 240))
    ]
    total = parts[0] + parts[1] + parts[2]
    for name in ("gram", "objective", "mass", *(["minus"] if loss == "kl" else ["cross"])):
        scale = np.abs(getattr(whole, name)).max()
        assert_allclose(getattr(total, name), getattr(whole, name), atol=1e-9 * scale)


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_sparse_rows_are_dense_ones(loss):
    model, X, names = small(loss, n_epochs=3)
    X = np.where(np.median(X) > X, 0, X)
    dense = deepcopy(model).fit(X, batch=names)
    stored = deepcopy(model).fit(sp.csr_array(X), batch=names)
    assert_allclose(stored.components_, dense.components_, atol=1e-6)
    codes = stored.transform(sp.csr_array(X), batch=names, sparse_output=True)
    assert_allclose(codes.toarray(), dense.transform(X, batch=names), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_it_goes_on_from_a_file_to_the_bit(loss, tmp_path):
    model, X, names = small(loss)
    model.fit_stream((X[i::4], names[i::4]) for i in range(2))
    save(model, tmp_path / "model.atoms")
    for each in (model, loaded := load(tmp_path / "model.atoms")):
        each.fit_stream((X[i::4], names[i::4], np.ones(60)) for i in (2, 3))
    assert_array_equal(loaded.components_, model.components_)
    assert_array_equal(loaded.data_sets_, ["a", "b"])
    assert_array_equal(loaded.transform(X, batch=names), model.transform(X, batch=names))


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_rows_use_shared_atoms_and_those_of_their_data_set_alone(loss):
    model, X, names = small(loss)
    model.fit(X, batch=names)
    codes = model.transform(X, batch=names)
    assert not codes[:120, 6:].any()
    assert not codes[120:, 4:6].any()
    assert codes[:120, 4:6].any()
    assert codes[120:, 6:].any()
    for unknown in (None, np.full(240, "c")):
        assert not model.transform(X, batch=unknown)[:, 4:].any()
    alone = model.transform(X[5:6], batch=names[5:6])
    assert_allclose(alone, codes[5:6], rtol=1e-8, atol=1e-10)
    if loss == "squared":
        expected = sparse_encode(X, model.shared_components_)
        assert_allclose(model.transform(X)[:, :4], expected, atol=1e-7)
    shared_alone = model.score(X)
    assert model.score(X, batch=names) > shared_alone


def test_an_update_never_raises_the_surrogate():
    model, X, names = small()
    for rows in (slice(0, 200, 3), slice(1, 240, 3), slice(2, 240, 3)):
        model.partial_fit(X[rows], batch=names[rows])
        state, algorithm = model.state_.snapshot(), model.algorithm_
        before = algorithm.updater.value(state, algorithm.objective)
        algorithm.updater.update(state, algorithm.objective, model.clock_)
        assert algorithm.updater.value(state, algorithm.objective) <= before * (1 + 1e-12)


def test_a_data_set_that_is_named_beforehand_may_come_late(seeds, room):
    """Its own atoms are learned; which atoms of the first one are shared was settled before."""
    for seed in seeds:
        X, names, _, _ = planted(seed)
        model = BatchNMF(N_SHARED, N_OWN, data_sets=["a", "b"], random_state=seed)
        first, late = np.flatnonzero(names == "a"), np.flatnonzero(names == "b")
        model.fit_stream((X[rows], names[rows]) for rows in np.array_split(first, 8))
        before = model.score(X[late], batch=names[late])
        order = np.tile(np.random.default_rng(seed).permutation(len(X)), 20)
        model.fit_stream((X[rows], names[rows]) for rows in np.array_split(order, 200))
        room.fall(model.score(X[late], batch=names[late]), before, at_least=0.45)
        shared_alone = model.score(X[late])
        room.fall(model.score(X[late], batch=names[late]), shared_alone, at_least=0.45)


def test_rows_of_unknown_data_sets_teach_the_shared_atoms_alone():
    model, X, names = small(schedule="harmonic")
    model.partial_fit(X, batch=names)
    cross, own = np.array(model.memory_.cross), model.own_components_
    model.partial_fit(X, batch=np.full(240, "c"))
    # Half of the mass is new, and none of it is of the own atoms.
    assert_allclose(np.asarray(model.memory_.cross)[N_SHARED:], 0.5 * cross[N_SHARED:], rtol=1e-12)
    assert_allclose(unit(model.own_components_["a"]), unit(own["a"]), atol=0.2)


def test_unused_shared_atoms_are_replaced_and_own_ones_never():
    rng = np.random.default_rng(0)
    model, X, names = small()
    model.fit(X, batch=names)
    atoms = model.components_.copy()
    state = State(deepcopy(model.state_.dictionary), deepcopy(model.memory_), Usage(8))
    state.memory.forget(np.array([1, 5]))  # nothing uses these
    state.dictionary.assign(np.where(np.isin(np.arange(8), (1, 5))[:, None], 0, atoms))
    state.usage.idle = np.full(8, 1e9)
    batch = Batch(X, labels=np.repeat([0, 1], 120))
    objective = model.algorithm_.objective
    codes = model.algorithm_.coder.encode(batch, state.dictionary, objective, EXACT.accuracy)
    reseeding = Reseeding(n_shared=N_SHARED)
    assert reseeding.reseed(batch, codes, state, objective, 0, rng) == 1
    moved = np.flatnonzero((state.dictionary.atoms() != atoms).any(axis=1))
    assert_array_equal(moved, [1, 5])
    assert state.dictionary.atoms()[1].any()
    assert not state.dictionary.atoms()[5].any()


def test_the_coder_knows_which_atoms_belong_to_whom():
    coder = Grouped(None, 3, 2)
    assert_array_equal(coder.places(-1), [0, 1, 2])
    assert_array_equal(coder.places(0), [0, 1, 2, 3, 4])
    assert_array_equal(coder.places(2), [0, 1, 2, 7, 8])


@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_missing_entries_do_not_matter_behind_a_mask(loss):
    model, X, names = small(loss, missing=True, n_epochs=2)
    mask = np.random.default_rng(0).random(X.shape) < 0.9
    other = np.where(mask, X, 99.0)
    first = deepcopy(model).fit(X, batch=names, mask=mask)
    second = deepcopy(model).fit(other, batch=names, mask=mask)
    assert_array_equal(first.components_, second.components_)
    codes = first.fit_transform(X, batch=names, mask=mask)
    assert_array_equal(codes, first.transform(other, batch=names, mask=mask))


def test_what_does_not_fit_is_refused_and_changes_nothing():
    model, X, names = small()
    with pytest.raises(ValueError, match="batch must name the data set of each of 240 rows"):
        model.fit(X, batch=names[:-1])
    with pytest.raises(ValueError, match=r"batch must be of shape \(n_samples,\)"):
        model.fit(X, batch=names[:, None])
    model.fit(X, batch=names)
    before = model.components_
    for learn in (model.partial_fit, model.settle):
        with pytest.raises(ValueError, match="say which one each row comes from"):
            learn(X)
    assert_array_equal(model.components_, before)
    with pytest.raises(ValueError, match="batch must name"):
        model.transform(X, batch=names[:3])


@pytest.mark.parametrize("loss", ["huber:1", "trimmed", "l1", "l2", "is", "hellinger"])
def test_every_loss_keeps_atoms_to_their_data_sets(loss):
    model, X, names = small(loss, n_epochs=1 if loss == "is" else None)
    codes = model.fit(X + 0.1, batch=names).transform(X + 0.1, batch=names)
    assert codes.shape == (240, 8)
    assert not codes[:120, 6:].any()
    assert not codes[120:, 4:6].any()


def test_rows_are_warned_of_by_the_atoms_that_they_may_use():
    model, X, names = small(missing=True, n_epochs=1)
    model.fit(X, batch=names)
    few, mask = X[:4], np.zeros((4, 40), bool)
    mask[:, :7] = True  # six atoms may be used, of eight
    assert model.transform(few, batch=names[:4], mask=mask).shape == (4, 8)
    with pytest.warns(DataWarning, match="fewer observed entries than the 6 atoms"):
        model.transform(few, batch=names[:4], mask=mask & (np.arange(40) < 5))
    with pytest.raises(ValueError, match="cannot tell which atoms are shared"):
        BatchNMF.from_components(X[:3])


def test_rounds_that_find_codes_by_themselves_are_left_out():
    """They would let every row use every atom."""
    assert minimises_divergence(BatchNMF(4, 0, loss="kl").algorithm_)
    assert not minimises_divergence(BatchNMF(4, 2, loss="kl").algorithm_)


def test_planted_atoms_are_found_under_weights_of_entries(seeds, room):
    """Short runs from many starts would, too."""
    for seed in seeds:
        X, names, shared, own = planted(seed, n_rows=300)
        weights = np.random.default_rng(0).uniform(0.3, 1, X.shape)
        model = BatchNMF(N_SHARED, N_OWN, random_state=seed)
        model.fit(X, batch=names, entry_weight=weights)
        room.share(least_cosine(model.shared_components_, shared), at_least=0.97)
        for name, atoms in zip("ab", own, strict=True):
            room.share(least_cosine(model.own_components_[name], atoms), at_least=0.97)
