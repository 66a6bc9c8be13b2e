"""The trimmed loss: entries beyond a threshold count as missing, in codes and in sums."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from atomstream import OnlineNMF, load, save
from atomstream.coders import Codes, Trimming
from atomstream.dictionaries.rows import Rows
from atomstream.exceptions import DataWarning
from atomstream.loop.trimmed_start import clean_rows
from atomstream.losses import Trimmed, robust_scales
from atomstream.losses.robust import UNTRIMMED
from atomstream.memory import TrimmedAggregates, TrimmedSums
from atomstream.memory.state import State, Usage
from atomstream.penalties import Nonnegative, NonnegativeBall
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy, Clock
from atomstream.problem.objective import Objective
from atomstream.schedules import Harmonic
from atomstream.updates import TrimmedDescent
from atomstream.updates.trimmed_descent import robust_scale

OBJECTIVE = Objective(Trimmed(3.0), Nonnegative(), NonnegativeBall())
EXACT = Accuracy(gap=1e-9)


def planted(n_rows=300, share=0.1, seed=0, n_features=30, n_atoms=3):
    """Return rows with outliers, the same without, and the true atoms."""
    rng = np.random.default_rng(seed)
    atoms = rng.gamma(0.5, 1.0, (n_atoms, n_features))
    clean = 10 * rng.gamma(1.0, 1.0, (n_rows, n_atoms)) @ atoms
    wrong = rng.random(clean.shape) < share
    noisy = clean + rng.normal(0, 0.1, clean.shape) + wrong * rng.uniform(-300, 300, clean.shape)
    return np.maximum(noisy, 1e-8), clean, atoms


def measured(X, dictionary, weights=None):
    batch = Batch(X, weights)
    codes = Trimming().encode(batch, dictionary, OBJECTIVE, EXACT)
    return batch, codes, TrimmedSums().measure(batch, codes, dictionary, OBJECTIVE)


def test_batches_cut_elsewhere_leave_the_same_memory():
    X, _, atoms = planted()
    dictionary, found = Rows(atoms), []
    for cuts in ([0, 300], [0, 7, 120, 121, 300]):
        memory, clock = TrimmedAggregates(*atoms.shape), Clock(Harmonic())
        for start, end in pairwise(cuts):
            delta = measured(X[start:end], dictionary)[2]
            memory.absorb(delta, clock.tick(delta.mass))
        found.append(memory)
    for name in ("gram", "cross", "constant", "outlier_share"):
        assert_allclose(getattr(found[0], name), getattr(found[1], name), rtol=1e-9)
    assert found[0].outlier_share > 0


def test_deltas_of_shards_add_up_to_that_of_all_rows():
    X, _, atoms = planted()
    dictionary = Rows(atoms)
    whole = measured(X, dictionary)[2]
    added = measured(X[:100], dictionary)[2] + measured(X[100:], dictionary)[2]
    for name in ("gram", "cross", "constant", "usage", "objective", "mass", "trimmed"):
        assert_allclose(getattr(added, name), getattr(whole, name), rtol=1e-9)


def test_the_surrogate_lies_above_the_loss_and_an_update_never_raises_it():
    X, _, atoms = planted()
    rng = np.random.default_rng(1)
    dictionary = Rows(NonnegativeBall().normalize(atoms + rng.random(atoms.shape)))
    memory = TrimmedAggregates(*atoms.shape)
    batch, codes, delta = measured(X, dictionary)
    memory.absorb(delta, 1.0)
    state, before = State(dictionary, memory, Usage(len(atoms))), memory.value(dictionary)
    loss = OBJECTIVE.losses(batch, codes.values, dictionary).mean()
    assert before == pytest.approx(loss, rel=1e-9)
    for _ in range(5):
        TrimmedDescent().update(state, OBJECTIVE, Clock(Harmonic()))
        now = memory.value(state.dictionary)
        assert now <= before * (1 + 1e-12)
        assert OBJECTIVE.losses(batch, codes.values, state.dictionary).mean() <= now * (1 + 1e-9)
        before = now


def test_an_entry_beyond_the_threshold_counts_as_missing():
    X, _, atoms = planted(20, share=0.0)
    dictionary = Rows(atoms)
    wrong, mask = X.copy(), np.ones(X.shape, bool)
    wrong[:, 4] += 200
    mask[:, 4] = False
    coder = Trimming()
    found = coder.encode(Batch(wrong), dictionary, OBJECTIVE, EXACT).values
    expected = coder.encode(Batch(X, mask=mask), dictionary, OBJECTIVE, EXACT).values
    assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_the_code_of_a_row_depends_on_that_row_alone():
    X, _, atoms = planted(40, share=0.3)
    model = OnlineNMF.from_components(atoms, loss="trimmed")
    together = model.transform(X)
    assert_allclose(model.transform(X[7:8]), together[7:8], atol=1e-10 * together.max())


def test_outliers_are_found_and_do_not_move_the_reconstruction():
    X, clean, atoms = planted(200, share=0.15)
    model = OnlineNMF.from_components(atoms, loss="trimmed")
    far = np.abs(X - clean) > 20
    assert np.median(np.abs(model.clean(X) - clean)) < 0.1
    assert (model.outliers(X) > 0)[far].mean() > 0.97


def test_a_stream_waits_for_its_warm_up_and_goes_on_to_the_bit(tmp_path):
    X, _, _ = planted(120)
    batches = np.array_split(X, 8)
    whole, parts = (OnlineNMF(3, loss="trimmed", random_state=0) for _ in range(2))
    for batch in batches:
        whole.partial_fit(batch)
    for number, batch in enumerate(batches):
        parts.partial_fit(batch)
        if number in (0, 4):  # in the middle of the warm-up, and after it
            path = tmp_path / f"{number}.atoms"
            save(parts, path)
            parts = pickle.loads(pickle.dumps(load(path)))
    assert_array_equal(whole.components_, parts.components_)
    assert whole.state_.dictionary.scale == parts.state_.dictionary.scale > 0
    assert whole.memory_.outlier_share == parts.memory_.outlier_share


def test_atoms_are_learned_from_rows_with_outliers(room):
    X, clean, _ = planted(600, share=0.15)
    model = OnlineNMF(3, loss="trimmed", n_epochs=5, random_state=0).fit(X[:500])
    plain = OnlineNMF(3, n_epochs=55, random_state=0).fit(X[:500])
    errors = [np.sqrt(np.mean((one.clean(X[500:]) - clean[500:]) ** 2)) for one in (model, plain)]
    room.error(errors[0] / errors[1], at_most=0.1)


def rows_alike(rng):
    """Return rows of dense atoms, large outliers on a third of them."""
    atoms = 1 + np.abs(rng.normal(0, 5, (8, 60)))
    return (1 + np.abs(rng.normal(0, 5, (300, 8)))) @ atoms, 0.3, 400.0


def sparse_rows(rng):
    """Return rows of sparse atoms with sparse codes, whose own peaks look like outliers."""
    atoms = rng.gamma(0.5, 1, (8, 60)) * (rng.random((8, 60)) < 0.5) + 1e-9
    return 100 * (rng.gamma(1.0, 1, (300, 8)) * (rng.random((300, 8)) < 0.5)) @ atoms, 0.05, 4000.0


@pytest.mark.parametrize("make", [rows_alike, sparse_rows])
def test_one_of_the_beginnings_tells_outliers_from_atoms(make, room):
    rng = np.random.default_rng(0)
    clean, share, amplitude = make(rng)
    wrong = rng.random(clean.shape) < share
    X = clean + rng.normal(0, 1, clean.shape)
    X += wrong * rng.uniform(-amplitude, amplitude, wrong.shape)
    found = clean_rows(X, None, 8, 3.0, rng)
    room.error(float((np.abs(found.low - clean) > 5).mean()), at_most=0.04)


def overlapping(rng):
    """Return spectra whose atoms overlap, a third of their entries outliers."""
    places = np.linspace(0, 80, 8)[:, None] + rng.uniform(-3, 3, (8, 1))
    atoms = np.exp(-0.5 * ((np.arange(80) - places) / 6) ** 2)
    return 30 * (rng.exponential(1, (400, 8)) * (rng.random((400, 8)) < 0.5) + 0.02) @ atoms


def test_rows_of_overlapping_atoms_are_not_lost(room):
    rng = np.random.default_rng(0)
    clean = overlapping(rng)
    wrong = rng.random(clean.shape) < 0.3
    X = clean + rng.normal(0, 1, clean.shape) + wrong * rng.uniform(-200, 200, clean.shape)
    found = clean_rows(X, None, 8, 3.0, rng)
    lost = np.sqrt(((found.low - clean) ** 2).mean(axis=1)) > 4
    room.error(float(lost.mean()), at_most=0.03)


def curves_alike(rng):
    """Return smooth curves, dense and alike: their least direction is smaller than outliers."""
    hours = np.arange(60) / 2.5
    peaks, narrow = rng.uniform(0, 24, (8, 1)), rng.uniform(1, 4, (8, 1))
    atoms = 0.2 + np.exp(narrow * (np.cos(2 * np.pi * (hours - peaks) / 24) - 1))
    return 15 * rng.gamma(2.0, 1, (400, 8)) @ atoms


def test_no_direction_learns_the_outliers_of_a_single_feature(room):
    worst = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        clean = curves_alike(rng)
        wrong = rng.random(clean.shape) < 0.3
        X = clean + rng.normal(0, 5, clean.shape) + wrong * rng.uniform(-1500, 1500, clean.shape)
        found = clean_rows(X, None, 8, 3.5, rng)
        worst.append(np.sqrt(((found.low - clean) ** 2).mean(axis=0)).max())
    room.error(max(worst), at_most=20)


def test_without_outliers_the_threshold_costs_little(room):
    rng = np.random.default_rng(0)
    atoms = 1 + rng.gamma(0.5, 1.0, (3, 200))
    clean = (1 + rng.random((1500, 3))) @ atoms
    X, errors = clean + rng.normal(0, 0.1, clean.shape), []
    for loss in ("trimmed", "squared"):
        found = OnlineNMF.from_components(atoms, loss=loss).clean(X)
        errors.append(np.sqrt(((found - clean) ** 2).mean()))
    # Three deviations would cost 2 %.
    room.ratio(errors[0] / errors[1], at_most=1.012)


def test_a_third_of_outliers_do_not_widen_the_scale(room):
    errors = np.random.default_rng(0).normal(0, 2, (50, 400))
    errors[:, :120] = 50
    room.error(float(np.abs(robust_scales(errors) / 2 - 1).mean()), at_most=0.12)


def test_a_row_that_the_atoms_do_not_explain_keeps_most_of_its_entries():
    X, _, atoms = planted(60, share=0.0)
    dictionary = Rows(atoms)
    dictionary.scale = 0.1
    X[0] += np.random.default_rng(1).normal(0, 5, X.shape[1])
    loss = Trimmed().at(dictionary)
    code = Trimming().encode(Batch(X), dictionary, replace(OBJECTIVE, loss=Trimmed()), EXACT).values
    errors = np.abs(X - code @ atoms)
    assert (errors[0] <= loss.thresholds(errors)[0]).mean() > 0.7
    assert (errors[0] <= 3 * 0.1).mean() < 0.3


@pytest.mark.parametrize("share", [0.0, 0.15])  # known before anything is learned; on the way
def test_what_most_entries_are_is_no_outlier(share, room):
    """Half of the entries of digits are zeros, which a few atoms explain exactly."""
    rng = np.random.default_rng(0)
    clean = load_digits().data
    X = np.where(rng.random(clean.shape) < share, rng.uniform(0, 48, clean.shape), clean)
    with pytest.warns(DataWarning, match="Nothing is trimmed; take loss='huber'"):
        model = OnlineNMF(10, loss="trimmed", random_state=0).fit(X[:1400])
    errors = [
        np.sqrt(((it.inverse_transform(it.transform(X[1400:])) - clean[1400:]) ** 2).mean())
        for it in (model, OnlineNMF(10, random_state=0).fit(X[:1400]))
    ]
    room.ratio(errors[0] / errors[1], at_most=1.15)
    assert not model.outliers(X[1400:]).any()
    scale = model.state_.dictionary.scale
    assert model.partial_fit(X[:200]).state_.dictionary.scale == scale  # it stays


def test_atoms_for_most_rows_are_no_reason_not_to_trim(room):
    """Least squares with so many atoms follow outliers, and explain more of these rows."""
    rng = np.random.default_rng(0)
    clean = (1 + rng.gamma(1.0, 1, (48, 6))) @ rng.gamma(1.0, 1, (6, 300))
    wrong = rng.random(clean.shape) < 0.2
    X = np.maximum(
        clean + rng.normal(0, 0.1, wrong.shape) + 100 * wrong * rng.random(wrong.shape), 0
    )
    model = OnlineNMF(30, loss="trimmed", n_epochs=2, random_state=0).fit(X)
    room.share((model.outliers(X) > 0)[wrong].mean(), at_least=0.8)


def test_codes_are_hardly_worse_than_zeros():
    """The entries that are left may tell nothing of an atom; reweighting ends a little early."""
    rng = np.random.default_rng(3)
    atoms = rng.random((4, 12)) ** 12
    X = rng.random((300, 12)) * (rng.random((300, 12)) < 0.4)
    dictionary = Rows(atoms, 1e-4)
    objective = replace(OBJECTIVE, loss=Trimmed(), codes=Nonnegative())
    found = Trimming().encode(Batch(X), dictionary, objective, EXACT).values @ atoms
    left, given = np.abs(X - found).sum(axis=1), X.sum(axis=1)
    assert (left <= 1.05 * given).all()


def exact_rows(kind, share, seed, n_rows=300):
    """Return rows that six atoms explain exactly but for outliers, and the same without them."""
    rng = np.random.default_rng(seed)
    codes, atoms = rng.gamma(1.0, 1.0, (n_rows, 6)), rng.gamma(1.0, 1.0, (6, 60))
    if kind == "sparse":
        atoms = rng.gamma(0.5, 1.0, atoms.shape) * (rng.random(atoms.shape) < 0.3)
    elif kind == "levels":
        for atom in atoms:
            for part in np.split(np.arange(60), np.sort(rng.choice(59, 4, replace=False) + 1)):
                atom[part] = rng.choice([0.05, 0.5, 1.0, 3.0])
    clean = codes @ atoms
    wrong = rng.random(clean.shape) < share
    return np.where(wrong, rng.uniform(0, 10 * clean.std(), clean.shape), clean), clean


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("kind", ["dense", "sparse", "levels"])
def test_rows_that_are_explained_exactly_end_at_most_where_the_squared_loss_does(kind, share, room):
    """A scale that shrinks to nothing would take half of the entries for outliers."""
    for seed in range(2):
        X, clean = exact_rows(kind, share, seed)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", DataWarning)
            model = OnlineNMF(6, loss="trimmed", random_state=seed).fit(X)
        squared = OnlineNMF(6, random_state=seed).fit(X)
        errors = [np.sqrt(((one.clean(X) - clean) ** 2).mean()) for one in (model, squared)]
        room.ratio(errors[0] / errors[1], at_most=1.02)
        # What is trimmed is what was planted, or something is said.
        assert told or (model.outliers(X) > 0).mean() <= 1.5 * share + 0.01


def test_the_scale_of_rows_that_are_explained_exactly_is_a_share_of_their_spread():
    X, clean = exact_rows("dense", 0.05, 0)
    _left, _, right = np.linalg.svd(clean, full_matrices=False)
    dictionary = Rows(right[:6])
    scale = robust_scale(Batch(X), Codes(clean @ right[:6].T, np.zeros(len(X))), dictionary)
    assert scale == pytest.approx(0.01 * np.sqrt(clean.var(axis=0).mean()), rel=1e-9)


def test_where_nothing_is_trimmed_codes_are_those_of_the_squared_loss():
    X, _, atoms = planted(60, share=0.1)
    model = OnlineNMF.from_components(atoms, loss="trimmed")
    model.state_.dictionary.scale = UNTRIMMED
    assert_array_equal(model.transform(X), OnlineNMF.from_components(atoms).transform(X))


def test_a_fit_that_trims_nothing_ends_as_the_squared_loss():
    X, _ = exact_rows("dense", 0.0, 3, n_rows=120)
    model = OnlineNMF(6, loss="trimmed", random_state=0).fit(X)
    if model.state_.dictionary.scale < 1e15:
        pytest.fail("the premise: the squared loss explains these rows better")
    squared = OnlineNMF(6, random_state=0).fit(X)
    assert_array_equal(model.components_, squared.components_)
    assert model.surrogate() == pytest.approx(squared.objective(X), rel=1e-6)
    atoms = model.components_.copy()
    model.partial_fit(X)  # the memory is of these atoms
    assert_allclose(model.components_, atoms, atol=0.05)


def test_more_than_single_outliers_are_told(recwarn):
    X, _, atoms = planted(200, share=0.42, n_features=60)
    model = OnlineNMF.from_components(atoms, loss=Trimmed(5.0))
    with pytest.warns(DataWarning, match=r"leaves out \d\d% of the entries, more than single"):
        model.partial_fit(X)
    few = OnlineNMF.from_components(atoms, loss=Trimmed(5.0))
    few.partial_fit(planted(200, share=0.2, n_features=60)[0])
    assert not recwarn.list
