"""Online convex factorization: steps against brute force, provenance, buffering, invariants."""

import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks, get_tags

from atomstream import OnlineConvexMF, load, save, sparse_encode
from atomstream.fields.convex.update import RowWise
from atomstream.loop.explaining import Whole

ASSIGNMENTS = ["code", "random", "pooled", "labels"]


def mixture(n=400, m=6, k=3, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    centres, y = rng.uniform(0, 20, (k, m)), rng.integers(k, size=n)
    return centres[y] + spread * rng.standard_normal((n, m)), y


def model(**settings):
    known = {
        "n_components": 3,
        "n_representatives": 12,
        "alpha": 0.1,
        "random_state": 0,
        "shuffle": False,
    }
    return OnlineConvexMF(**{**known, **settings})


def learn(learner, X, y=None, size=None):
    for start in range(0, len(X), size or len(X)):
        rows = slice(start, start + (size or len(X)))
        learner.partial_fit(X[rows], None if y is None else y[rows])
    return learner


def best_weights(samples, regions, A, B):
    """Joint minimum over atoms in hulls by a general solver: (value, atoms)."""
    k = len(regions)
    sizes = [len(region) for region in regions]
    ends = np.cumsum([0, *sizes])

    def atoms(w):
        return np.stack([w[ends[j] : ends[j + 1]] @ samples[regions[j]] for j in range(k)])

    def value(w):
        D = atoms(w)
        slope = A @ D - B
        return 0.5 * np.vdot(D, A @ D) - np.vdot(D, B), np.concatenate(
            [samples[regions[j]] @ slope[j] for j in range(k)]
        )

    sums = [
        {"type": "eq", "fun": lambda w, j=j: w[ends[j] : ends[j + 1]].sum() - 1,
         "jac": lambda w, j=j: ((np.arange(len(w)) >= ends[j])
                                & (np.arange(len(w)) < ends[j + 1])).astype(float)}
        for j in range(k)
    ]  # fmt: skip
    start = np.concatenate([np.full(size, 1 / size) for size in sizes])
    found = minimize(
        value, start, jac=True, bounds=[(0, 1)] * len(start), constraints=sums, method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )  # fmt: skip
    return found.fun, atoms(found.x)


def exactly(learner, monkeypatch):
    """Let the quadratic problems be solved to the end."""
    plain = type(learner).algorithm_.fget
    monkeypatch.setattr(type(learner), "algorithm_", property(lambda self: _tight(plain(self))))
    return learner


def _tight(algorithm):
    return RowWise(
        algorithm.objective, algorithm.coder, algorithm.assign, algorithm.updater, Whole(), 1e-11
    )


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ["code", "random", "pooled"])
@pytest.mark.parametrize(("m", "n_representatives"), [(2, 7), (4, 9), (8, 9), (12, 6)])
@pytest.mark.cover(2)
def test_each_step_is_the_best_over_all_swaps(assignment, m, n_representatives, monkeypatch):
    if assignment == "pooled" and m > 4:
        m, n_representatives = 3, 6  # the general solver is slow on many weights
    X, _ = mixture(n=n_representatives + 12, m=m, seed=m, spread=4.0)
    learner = model(assignment=assignment, n_representatives=n_representatives, alpha=0.05)
    exactly(learner, monkeypatch)
    learner.partial_fit(X[:n_representatives])
    swapped = 0
    for x in X[n_representatives:]:
        before = copy.deepcopy(learner)
        learner.partial_fit(x[None])
        swapped += learner.n_swaps_ - before.n_swaps_
        A, B, hulls = learner.memory_.gram, learner.memory_.cross, before.state_.dictionary
        code = sparse_encode(x[None], before.components_, alpha=0.05, sign="free")[0]
        chosen = int(code.argmax())
        if assignment == "random":
            chosen = int(copy.deepcopy(before._learner.rng).random(1)[0] * 3)
        regions = [np.arange(n_representatives)[hulls.region(j)] for j in range(3)]
        candidates = [(best_weights(hulls.samples, regions, A, B)[0], -1)]
        for place in regions[chosen]:
            samples = hulls.samples.copy()
            samples[place] = x
            candidates.append((best_weights(samples, regions, A, B)[0], place))
        D = learner.components_
        value = 0.5 * np.vdot(D, A @ D) - np.vdot(D, B)
        scale = learner.memory_.constant
        assert value <= min(candidates)[0] + 2e-7 * scale
        kept = learner.state_.dictionary.samples
        assert (kept != hulls.samples).any(axis=1).sum() <= 1
    assert swapped > 0 or m in (
        2,
        12,
    )  # in two dimensions hulls soon hold all that matters; in twelve atoms need all


def test_damping_and_ridge_are_in_every_step(monkeypatch):
    X, _ = mixture(n=24, m=4, seed=4, spread=4.0)
    learner = exactly(model(n_representatives=9, alpha=0.05, ridge=0.2, damping=0.3), monkeypatch)
    learner.partial_fit(X[:9])
    for x in X[9:]:
        before = copy.deepcopy(learner)
        learner.partial_fit(x[None])
        code = sparse_encode(x[None], before.components_, alpha=0.05, ridge=0.2, sign="free")[0]
        kept = 1 - 1 / learner.n_steps_
        A = kept * before.memory_.gram + np.outer(code, code) / learner.n_steps_
        assert_allclose(learner.memory_.gram, A, atol=1e-8)
        A, B, hulls = A + 0.3 * np.eye(3), learner.memory_.cross, learner.state_.dictionary
        regions = [np.arange(9)[hulls.region(j)] for j in range(3)]
        D = learner.components_
        value = 0.5 * np.vdot(D, A @ D) - np.vdot(D, B)
        assert (
            value <= best_weights(hulls.samples, regions, A, B)[0] + 2e-7 * learner.memory_.constant
        )
        assert learner.surrogate() == pytest.approx(
            learner.memory_.value(hulls) + 0.15 * (D**2).sum(), rel=1e-12
        )


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
@pytest.mark.parametrize("codes", ["free", "nonnegative", "simplex"])
def test_invariants_after_every_sample(assignment, codes):
    X, y = mixture(n=120)
    learner = model(assignment=assignment, codes=codes)
    learner.partial_fit(X[:12], y[:12])
    sizes = [len(part.indices) for part in learner.representatives_]
    for t in range(12, 120):
        before = copy.copy(learner)
        learner.partial_fit(X[t : t + 1], y[t : t + 1])
        W, hulls = learner.weights_, learner.state_.dictionary
        assert (W >= 0).all()
        assert_allclose(W.sum(axis=1), 1, atol=1e-12)
        assert [len(part.indices) for part in learner.representatives_] == sizes
        assert_array_equal(hulls.samples, X[hulls.indices])
        assert_array_equal(hulls.ids, hulls.indices)
        assert_allclose(learner.components_, W @ hulls.samples, atol=1e-12)
        for j in range(3):
            outside = np.ones(12, bool)
            outside[hulls.region(j)] = False
            assert not W[j, outside].any()
        memory = learner.state_.memory
        slack = 1e-9 * memory.constant
        assert (
            memory.value(learner.state_.dictionary)
            <= memory.value(before.state_.dictionary) + slack
        )


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_a_batch_is_its_rows_one_by_one(assignment):
    X, y = mixture(n=150)
    whole = learn(model(assignment=assignment), X, y)
    for size in (1, 7, 50):
        apart = learn(model(assignment=assignment), X, y, size)
        assert_allclose(apart.components_, whole.components_, atol=1e-6)
        assert_array_equal(apart.state_.dictionary.indices, whole.state_.dictionary.indices)
        assert_allclose(apart.memory_.gram, whole.memory_.gram, atol=1e-8)
        assert apart.n_steps_ == whole.n_steps_ == 150
        assert apart.n_swaps_ == whole.n_swaps_


def test_memory_is_the_harmonic_average_of_the_codes_rows_got():
    X, _ = mixture(n=60)
    learner, codes = model(), []
    learner.partial_fit(X[:12])
    first = copy.copy(learner)
    for x in X[12:]:
        codes.append(sparse_encode(x[None], learner.components_, alpha=0.1, sign="free")[0])
        learner.partial_fit(x[None])
    H = np.array(codes)
    assert_allclose(learner.memory_.gram, (12 * first.memory_.gram + H.T @ H) / 60, atol=1e-8)
    assert_allclose(
        learner.memory_.cross, (12 * first.memory_.cross + H.T @ X[12:]) / 60, atol=1e-7
    )
    assert learner.surrogate() >= learner.objective(X) - 1e-9


def test_rows_are_kept_until_there_are_enough_and_saved(tmp_path):
    X, _ = mixture(n=40)
    learner = model().partial_fit(X[:5]).partial_fit(X[5:9])
    for call in (
        lambda: learner.transform(X),
        lambda: learner.components_,
        lambda: learner.weights_,
    ):
        with pytest.raises(NotFittedError):
            call()
    save(learner, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms")
    for part in (learner, again):
        part.partial_fit(X[9:])
    whole = model().partial_fit(X)
    assert_array_equal(learner.components_, again.components_)
    assert_allclose(learner.components_, whole.components_, atol=1e-6)
    assert whole.n_steps_ == whole.n_samples_seen_ == learner.n_steps_ == 40
    assert set(whole.state_.dictionary.indices) <= set(range(40))


def test_saved_models_go_on_to_the_bit(tmp_path):
    X, _ = mixture()
    for data in (X, sp.csr_array(np.where(X > 8, X, 0)), X.astype(np.float32)):
        learner = model(assignment="random").fit(data[:100], ids=[f"row {i}" for i in range(100)])
        save(learner, tmp_path / "model.atoms")
        again, twin = load(tmp_path / "model.atoms"), copy.copy(learner)
        for part in (learner, again, twin):
            part.partial_fit(data[100:], ids=[f"row {i}" for i in range(100, 400)])
        for part in (again, twin):
            assert_array_equal(part.components_, learner.components_)
            assert [p.id for p in part.explain(0)] == [p.id for p in learner.explain(0)]


def test_sparse_rows_and_float32_are_dense_ones():
    X, _ = mixture()
    X = np.where(X > 8, X, 0)
    dense, sparse = model().fit(X), model().fit(sp.csr_array(X))
    assert sp.issparse(sparse.representatives_[0].samples)
    assert_allclose(sparse.components_, dense.components_, atol=1e-8)
    assert_allclose(sparse.transform(sp.csr_array(X)), dense.transform(X), atol=1e-6)
    small = model().fit(X.astype(np.float32))
    assert small.components_.dtype == small.representatives_[0].samples.dtype == np.float32
    assert_allclose(small.components_, dense.components_, rtol=1e-2, atol=1e-2)


def test_provenance_names_rows_of_the_frame():
    X, _ = mixture()
    frame = pd.DataFrame(X, index=[f"cell {i}" for i in range(len(X))])
    learner = model(shuffle=True).fit(frame)
    for atom, part in enumerate(learner.representatives_):
        assert_array_equal(frame.loc[list(part.ids)].to_numpy(), part.samples)
        told = learner.explain(atom, top=4)
        assert [p.share for p in told] == sorted((p.share for p in told), reverse=True)
        assert_allclose(frame.loc[told[0].id].to_numpy(), told[0].sample)
    whole = learner.explain(0, top=12)
    assert_allclose(sum(p.share * p.sample for p in whole), learner.components_[0], atol=1e-10)


def test_known_labels_keep_representatives_in_their_class():
    X, y = mixture(spread=6.0)
    names = np.array(["a", "b", "c"])[y]
    learner = model(assignment="labels").fit(X, names)
    assert list(learner.classes_) == ["a", "b", "c"]
    for name, part in zip(learner.classes_, learner.representatives_, strict=True):
        assert (names[part.ids] == name).all()
    assert set(learner.predict(X)) <= {"a", "b", "c"}


@pytest.mark.parametrize("assignment", ["code", "random"])
def test_well_separated_clusters_are_found(assignment, room):
    X, y = mixture(n=600, m=20, seed=5)
    learner = model(assignment=assignment, n_representatives=30, alpha=0.05).fit(X)
    found = learner.predict(X)
    table = np.array([np.bincount(found[y == c], minlength=3) for c in range(3)])
    assert sorted(table.argmax(axis=1)) == [0, 1, 2]
    room.share(table.max(axis=1).sum() / len(X), at_least=0.98)
    if assignment == "code":
        for part in learner.representatives_:
            assert len(set(y[part.ids])) == 1


def n_covered(points, X, y, means):
    """Return to how many means a point is as near as their samples are."""
    reach = [np.linalg.norm(X[y == c] - mean, axis=1).max() for c, mean in enumerate(means)]
    return (np.linalg.norm(points[:, None] - means, axis=2).min(axis=0) <= reach).sum()


@pytest.mark.parametrize(("m", "spread"), [pytest.param(2, 1.6, marks=pytest.mark.long), (10, 3.0)])
def test_small_clusters_are_covered_wherever_k_means_covers_them(m, spread, room):
    rng, covered = np.random.default_rng(m), []
    for seed in range(12):
        means, y = rng.uniform(0, 20, (5, m)), rng.choice(5, 2500, p=[0.5, 0.25, 0.15, 0.07, 0.03])
        X = means[y] + spread * rng.standard_normal((2500, m)).clip(-3, 3)
        if (
            n_covered(KMeans(5, n_init=10, random_state=seed).fit(X).cluster_centers_, X, y, means)
            == 5
        ):
            atoms = OnlineConvexMF(5, alpha=0.2 / m**0.5, random_state=seed).fit(X).components_
            covered.append(n_covered(atoms, X, y, means) == 5)
    assert len(covered) > 8
    room.share(np.mean(covered), at_least=0.86)


def test_weights_of_zero_leave_rows_out():
    X, _ = mixture(n=200)
    keep = np.random.default_rng(0).random(200) < 0.5
    weighted = model().fit(X, sample_weight=keep.astype(float))
    assert_allclose(weighted.components_, model().fit(X[keep]).components_, atol=1e-6)


def test_stationarity_falls_along_the_stream(room):
    X, _ = mixture(n=3000)
    learner = model(n_representatives=30)
    early = learner.partial_fit(X[:30]).stationarity(X)
    room.error(learner.partial_fit(X[30:]).stationarity(X), at_most=0.2 * early)


def test_fewer_rows_than_representatives_are_all_used():
    X, _ = mixture(n=10)
    learner = model(n_representatives=100).fit(X)
    assert sum(len(part.indices) for part in learner.representatives_) == 10
    assert set(learner.state_.dictionary.indices) <= set(range(10))


@pytest.mark.parametrize(
    ("settings", "X", "message"),
    [
        ({}, np.ones((2, 4)), "2 rows that count, n_components=3"),
        ({}, np.ones((40, 4)), "fewer than n_components=3 clusters"),
        ({}, np.full((20, 4), np.nan), "NaN"),
        (
            {"assignment": "nearest"},
            np.ones((20, 4)),
            "'assignment' .* must be one of random, code",
        ),
        (
            {"n_representatives": 2},
            np.ones((20, 4)),
            "n_representatives must be at least n_components=3",
        ),
        (
            {"n_representatives": 0},
            np.ones((20, 4)),
            "'n_representatives' .* must be a whole number",
        ),
        ({"codes": "box"}, np.ones((20, 4)), "codes='box' is unknown"),
        ({"assignment": "labels"}, np.ones((20, 4)), "needs the labels"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(settings, X, message):
    learner = model(**settings)
    with pytest.raises(ValueError, match=message):
        learner.fit(X)
    assert not hasattr(learner, "state_")
    for part in ("_learner", "clock_"):
        assert not hasattr(learner, part)


def test_a_refused_batch_changes_nothing():
    X = mixture()[0][:, :4]
    fitted = model().fit(X)
    before, n_seen = fitted.components_.copy(), fitted.n_samples_seen_
    for bad in (np.full((20, 4), np.nan), np.ones((20, 3)), np.full((20, 4), 1e200)):
        with pytest.raises(ValueError, match=r"NaN|features|finite"):
            fitted.partial_fit(bad)
    with pytest.raises(ValueError, match="atom must be"):
        fitted.explain(3)
    assert_array_equal(fitted.components_, before)
    assert fitted.n_samples_seen_ == n_seen


def test_unknown_labels_and_lengths_are_refused():
    X, y = mixture()
    learner = model(assignment="labels").fit(X, y)
    before = learner.components_.copy()
    with pytest.raises(ValueError, match="label 7"):
        learner.partial_fit(X[:2], [0, 7])
    with pytest.raises(ValueError, match="one label per row"):
        learner.partial_fit(X[:2], [0])
    with pytest.raises(ValueError, match="ids must be of shape"):
        learner.partial_fit(X[:2], [0, 1], ids=["a"])
    with pytest.raises(ValueError, match="different labels in the first"):
        model(assignment="labels", n_components=2).fit(X, y)
    assert_array_equal(learner.components_, before)


def test_late_labels_are_refused_wherever_they_come():
    X, _ = mixture(n=60)
    late = np.r_[np.arange(30) % 3, np.full(30, 7)]
    early = np.r_[1 + np.arange(30) % 3, np.zeros(30, int)]
    for y, name in ((late, "7"), (early, "0")):
        for call in ("fit", "partial_fit"):
            learner = model(assignment="labels")
            with pytest.raises(ValueError, match=f"label {name}"):
                getattr(learner, call)(X, y)
            assert not hasattr(learner, "state_")


def test_rows_without_weight_are_never_representatives_twice():
    X, _ = mixture(n=40)
    weights = (np.arange(40) % 2).astype(float)
    learner = model(n_representatives=100, n_epochs=3, batch_size=10).fit(X, sample_weight=weights)
    ids = np.concatenate([part.ids for part in learner.representatives_])
    assert sorted(ids) == list(range(1, 40, 2))


def test_positions_count_batches_without_weight():
    X, _ = mixture(n=100)
    learner = (
        model(n_representatives=20)
        .partial_fit(X[:50])
        .partial_fit(X[50:60], sample_weight=np.zeros(10))
    )
    learner.partial_fit(X[60:])
    hulls = learner.state_.dictionary
    assert_array_equal(hulls.samples, X[hulls.indices])
    assert learner.n_samples_seen_ == 100


@pytest.mark.parametrize("change", ["pooled", "labels", "bogus"])
def test_a_run_keeps_its_kind_of_assignment(change):
    X, y = mixture()
    for rows in (5, 100):
        learner = model().partial_fit(X[:rows])
        learner.set_params(assignment=change)
        if change == "pooled" and rows == 5:
            continue  # nothing has been decided yet
        with pytest.raises(ValueError, match="assignment"):
            learner.partial_fit(X[:20], y[:20])


def test_ids_of_every_kind_are_kept_and_saved(tmp_path):
    X, _ = mixture(n=100)
    pairs = pd.MultiIndex.from_product([range(10), list("abcdefghij")])
    dates = pd.date_range("2020-01-01", periods=100)
    for index in (pairs, dates, np.arange(100) / 2, np.arange(100, dtype=np.uint64) + 2**63):
        learner = model().fit(pd.DataFrame(X, index=index))
        save(learner, tmp_path / "model.atoms")
        again = load(tmp_path / "model.atoms")
        assert [part.id for part in again.explain(0)] == [part.id for part in learner.explain(0)]
        names = index.strftime("%Y-%m-%d") if index is dates else map(str, index)
        places = {name: place for place, name in enumerate(names)}
        for part in learner.explain(0):
            assert_array_equal(X[places[str(part.id)]], part.sample)
    mixed = model().partial_fit(X[:50]).partial_fit(X[50:], ids=[f"r{i}" for i in range(50)])
    save(mixed, tmp_path / "model.atoms")
    early = (
        model(n_representatives=60)
        .partial_fit(X[:50])
        .partial_fit(X[50:], ids=[f"r{i}" for i in range(50)])
    )
    assert {type(name) for part in early.representatives_ for name in part.ids} == {str}


def test_sparse_indices_of_64_bits_and_mixed_batches():
    X, _ = mixture()
    X = np.where(X > 8, X, 0)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_allclose(model().fit(wide).components_, model().fit(X).components_, atol=1e-8)
    mixed = model().partial_fit(X[:5]).partial_fit(sp.csr_array(X[5:]))
    assert_allclose(mixed.components_, model().partial_fit(X).components_, atol=1e-6)


def test_far_from_the_origin_swaps_still_happen(room):
    X, _ = mixture(n=400, k=3, seed=3)
    here = model(n_representatives=24, codes="simplex", alpha=0.0).fit(X)
    there = model(n_representatives=24, codes="simplex", alpha=0.0).fit(X + 1e3)
    assert here.n_swaps_ > 0
    room.gain(there.n_swaps_, at_least=0.5 * here.n_swaps_)
    room.near(there.surrogate(), here.surrogate(), rel=0.02)


def test_what_was_learned_cannot_be_written_to():
    learner = model().fit(mixture()[0])
    for part in (learner.weights_, learner.representatives_[0].samples, learner.components_):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 0


def test_what_is_no_data_is_refused_with_a_sentence():
    for X in (5, [1.0, 2.0]):
        with pytest.raises(ValueError, match="Expected 2D array"):
            model().fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ["code", "random", "pooled"])
def test_rows_kept_from_the_start_are_offered_to_no_other_atom(assignment):
    X, _ = mixture(n=300, m=20, k=5, spread=1.0)
    learner = OnlineConvexMF(
        5, n_representatives=60, assignment=assignment, alpha=0.03, shuffle=False, random_state=0
    )
    learner.partial_fit(X[:60])
    assert learner.n_swaps_ == 0
    ids = np.sort(learner.state_.dictionary.indices)
    assert_array_equal(ids, np.arange(60))
    learner.partial_fit(X[60:])
    assert learner.n_swaps_ > 0


def test_missing_entries_are_refused_where_the_model_takes_none():
    X, _ = mixture()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"drop or fill such entries, or say missing=True\.$"):
        model().fit(X)


def test_a_model_that_needs_labels_says_so():
    model = OnlineConvexMF(2, n_representatives=6, assignment="labels")
    estimator_checks.check_requires_y_none("OnlineConvexMF", model)
    assert get_tags(model).target_tags.required
    assert not get_tags(OnlineConvexMF()).target_tags.required


def test_models_that_settle_on_no_data_end_at_once():
    X, _ = mixture(150, 20, 4)
    learner = OnlineConvexMF(2, n_representatives=10, random_state=0)
    before = learner.fit(X).components_.copy()
    assert learner.settle_stream([X]).end_round()
    assert_array_equal(learner.components_, before)
