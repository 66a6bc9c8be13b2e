"""Convex factorization of rows with missing entries: the plain path, planted data, invariants."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import DataWarning, OnlineConvexMF, OnlineNMF, load, save
from atomstream.exceptions import IncompatiblePartsError
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy


def planted(n=600, m=15, k=3, seed=0, noise=0.05):
    """Rows between k corners, most of them near one: what a convex model can explain."""
    rng = np.random.default_rng(seed)
    corners, shares = rng.uniform(0, 5, (k, m)), rng.dirichlet(np.full(k, 0.4), n)
    return shares @ corners + noise * rng.standard_normal((n, m))


def with_holes(X, share, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(X.shape) < share, np.nan, X)


def model(**settings):
    known = {
        "n_components": 3,
        "n_representatives": 45,
        "alpha": 0.01,
        "missing": True,
        "shuffle": False,
        "random_state": 0,
    }
    return OnlineConvexMF(**{**known, **settings})


@pytest.mark.parametrize("codes", ["free", "simplex"])
def test_without_missing_entries_not_a_bit_changes(codes):
    X = planted(300)
    known, plain = (model(missing=flag, codes=codes).fit(X) for flag in (True, False))
    assert_array_equal(known.components_, plain.components_)
    assert_array_equal(known.weights_, plain.weights_)
    assert_array_equal(known.transform(X), plain.transform(X))
    assert known.batch_objective_ == plain.batch_objective_
    assert all(part.observed is None for part in known.representatives_)


def test_one_incomplete_row_changes_only_rounding_of_the_others():
    """Rows are cut at incomplete ones: a row without an observed entry leaves what there was."""
    X = planted(300)
    holes = np.insert(X, 200, np.nan, axis=0)
    plain, other = model().partial_fit(X[:100]), model().partial_fit(X[:100])
    plain.partial_fit(X[100:])
    other.partial_fit(holes[100:])
    assert_allclose(other.components_, plain.components_, rtol=1e-7)
    assert_allclose(other.memory_.cross, plain.memory_.cross, rtol=1e-7)
    assert other.n_samples_seen_ == plain.n_samples_seen_ + 1


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("codes", ["free", "simplex"])
@pytest.mark.cover(2)
def test_hidden_entries_are_predicted_nearly_as_with_all_known(share, codes, room):
    X = planted(noise=0.2)
    holes = with_holes(X, share)
    hidden = np.isnan(holes)
    truth = planted(noise=0.0)

    def error(filled):
        return np.sqrt(((filled - truth)[hidden] ** 2).mean())

    learned = model(codes=codes, n_epochs=2).fit(holes)
    full = model(codes=codes, n_epochs=2).fit(X)
    means = error(np.broadcast_to(np.nanmean(holes, axis=0), X.shape))
    found = error(learned.impute(holes))
    room.error(found, at_most=0.55 * means)
    # the atoms of the full data, asked the same: what these incomplete rows can say at best
    room.ratio(found / error(full.impute(holes)), at_most=1.25)


def test_codes_go_by_observed_entries_and_so_does_the_objective():
    X = with_holes(planted(200), 0.3)
    learned = model().fit(X)
    codes = learned.transform(X)
    seen, D = ~np.isnan(X), learned.components_
    rest = np.where(seen, X - codes @ D, 0)
    slope = -rest @ D.T  # of the loss of observed entries in the codes
    assert (np.abs(slope) <= 0.01 + 1e-6).all()
    assert_allclose(slope[codes != 0], -0.01 * np.sign(codes[codes != 0]), atol=1e-6)
    mean = (0.5 * (rest**2).sum(axis=1) + 0.01 * np.abs(codes).sum(axis=1)).mean()
    assert learned.objective(X) == pytest.approx(mean, rel=1e-9)


def test_the_objective_of_a_batch_counts_observed_entries():
    """One row per batch: its objective is that of its code at the atoms before."""
    X = planted(80)
    learned, holes = model().partial_fit(X[:60]), with_holes(X[60:], 0.4)
    for row in holes:
        before = learned.state_.dictionary.rows
        batch = Batch(np.nan_to_num(row)[None], mask=~np.isnan(row)[None])
        algorithm = learned.algorithm_
        codes = algorithm.coder.encode(batch, before, algorithm.objective, Accuracy(gap=1e-12))
        value = algorithm.objective.values(batch, codes.values, before)[0]
        learned.partial_fit(row[None])
        assert learned.batch_objective_ == pytest.approx(value, rel=1e-6, abs=1e-9)


@pytest.mark.cover(2)
@pytest.mark.parametrize("assignment", ["code", "random", "pooled", "labels"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_invariants_after_each_batch(assignment, dtype):
    rng = np.random.default_rng(1)
    X = with_holes(planted(240), 0.4).astype(dtype)
    X[rng.random(240) < 0.1] = np.nan  # hidden as a whole
    y = rng.integers(3, size=240)
    hidden = np.flatnonzero(np.isnan(X).all(axis=1))
    learned = model(assignment=assignment)
    for start in range(0, 240, 60):
        rows = slice(start, start + 60)
        learned.partial_fit(X[rows], y[rows] if assignment == "labels" else None)
        hulls = learned.state_.dictionary
        assert_allclose(hulls.weights.sum(axis=1), 1, rtol=1e-9)
        assert (hulls.weights >= 0).all()
        assert np.isfinite(hulls.samples).all()
        assert hulls.dtype == dtype
        assert not set(hidden) & set(hulls.indices)
        for part in learned.representatives_:
            observed = ~np.isnan(X[part.indices])
            assert_array_equal(part.observed, observed)
            assert_array_equal(part.samples[observed], X[part.indices][observed])
    assert learned.n_swaps_ > 0


def test_what_was_filled_in_is_said():
    X = with_holes(planted(200), 0.3)
    learned = model().fit(X)
    part = learned.explain(0, top=1)[0]
    assert_array_equal(part.observed, ~np.isnan(X[part.index]))
    assert_array_equal(part.sample[part.observed], X[part.index][part.observed])
    assert np.isfinite(part.sample).all()


def test_gaps_are_filled_by_the_reconstruction_of_the_moment():
    X = planted(120)
    learned, holes = model().partial_fit(X[:60]), with_holes(X[60:], 0.3)
    swaps = 0
    for number, row in enumerate(holes):
        filled = learned.impute(row[None])[0]
        before = learned.n_swaps_
        learned.partial_fit(row[None])
        if learned.n_swaps_ > before:
            swaps += 1
            hulls = learned.state_.dictionary
            assert_allclose(hulls.samples[hulls.indices == 60 + number][0], filled, rtol=1e-6)
    assert swaps > 2


def test_many_rows_without_weight_leave_the_memory_as_it_is():
    X, weights = planted(500), np.ones(500)
    weights[150:450] = 0  # more than are walked at a time
    learned = model().partial_fit(X, sample_weight=weights)
    fewer = model().partial_fit(X[weights > 0])
    assert_allclose(learned.memory_.gram, fewer.memory_.gram, rtol=1e-7)


def test_a_saved_model_knows_what_was_filled_in(tmp_path):
    X = with_holes(planted(200), 0.3)
    learned = model().partial_fit(X[:120])
    save(learned, tmp_path / "a.atoms")
    again = load(tmp_path / "a.atoms")
    for one, other in zip(again.representatives_, learned.representatives_, strict=True):
        assert_array_equal(one.observed, other.observed)
    assert_array_equal(
        again.partial_fit(X[120:]).components_, learned.partial_fit(X[120:]).components_
    )


def test_waiting_rows_with_missing_entries_are_saved(tmp_path):
    X = with_holes(planted(200), 0.3)
    learned = model().partial_fit(X[:20])
    save(learned, tmp_path / "a.atoms")
    again = load(tmp_path / "a.atoms").partial_fit(X[20:])
    assert_array_equal(again.components_, learned.partial_fit(X[20:]).components_)


def test_a_file_whose_marks_do_not_fit_is_refused(tmp_path):
    learned = model().fit(with_holes(planted(100), 0.3))
    learned.state_.dictionary.observed = np.ones((2, 2), bool)
    save(learned, tmp_path / "a.atoms")
    with pytest.raises(ValueError, match="makes sense"):
        load(tmp_path / "a.atoms")


def test_sparse_rows_with_missing_entries():
    X = with_holes(planted(200), 0.3)
    dense, sparse = model().fit(X), model().fit(sp.csr_array(X))
    assert_allclose(sparse.components_, dense.components_, rtol=1e-9)
    with pytest.warns(DataWarning, match="zeros count as observed"):
        begun = model().partial_fit(sp.csr_array(planted(100)))
    assert np.isfinite(begun.partial_fit(X[100:]).components_).all()


def test_features_that_no_row_shows_stay_finite():
    X = planted(150)
    X[:, 4] = np.nan
    learned = model().fit(X)
    assert np.isfinite(learned.components_).all()


def test_it_learns_as_much_from_incomplete_rows_as_nmf(room):
    """Another model of the same kind of data is the measure: no worse than half as much again."""
    X = planted(noise=0.1)
    holes = with_holes(X, 0.3)
    hidden = np.isnan(holes)
    holes, X = np.maximum(holes, 0), np.maximum(X, 0)
    ours = model(n_epochs=2).fit(holes).impute(holes)
    other = OnlineNMF(3, missing=True, n_epochs=20, random_state=0).fit(holes).impute(holes)
    ours, other = (np.sqrt(((it - X)[hidden] ** 2).mean()) for it in (ours, other))
    room.ratio(ours / other, at_most=1.5)


def test_models_that_cannot_weigh_entries_say_so():
    X = planted(60, 8)
    with pytest.raises(IncompatiblePartsError, match="entry_weight needs"):
        OnlineConvexMF(3, n_representatives=15).fit(X, entry_weight=np.abs(X))
