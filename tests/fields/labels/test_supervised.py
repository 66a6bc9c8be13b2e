"""Dictionaries that predict: gradients through codes, heads, streams, labels of all kinds."""

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from atomstream import OnlineNMF, SupervisedDictionary, load, save
from atomstream.fields.labels.dictionary import Predicting
from atomstream.fields.labels.losses import LABELS
from atomstream.fields.labels.memory import LabelledSums
from atomstream.problem import Batch
from atomstream.schedules import Constant


def rows(n=200, d=8, n_classes=3, seed=0):
    """Return rows of three parts, and the class of each: which of two parts is the larger one."""
    rng = np.random.default_rng(seed)
    parts = rng.random((4, d))
    codes = rng.gamma(1.0, 1.0, (n, 4))
    y = codes[:, :n_classes].argmax(axis=1)
    return codes @ parts + 0.01 * rng.random((n, d)), y


def measured(model, X, told, D, head=None):
    """Return what a batch adds at exact codes of these atoms, and the batch."""
    dictionary = Predicting(D, model.state_.dictionary.head if head is None else head)
    algorithm = model.algorithm_
    batch = Batch(X, labels=told)
    plain = OnlineNMF.from_components(D, alpha=model.alpha, ridge=model.ridge, atoms="nonnegative")
    codes = plain._encode(plain._batch(X), 1e-10)
    return algorithm.statistics.measure(batch, codes, dictionary, algorithm.objective)


def flat(delta):
    """Return all sums of a delta, those of labels among them, by their names."""
    return {name: it for name, it in vars(delta).items() if name != "labels"} | vars(delta.labels)


TARGETS = {
    "classes": lambda y: np.eye(3)[y],
    "numbers": lambda y: y[:, None] - 1.0,
    "counts": lambda y: 2.0 * y[:, None],
}


@pytest.mark.parametrize("kind", LABELS)
def test_slopes_and_curvatures_of_label_losses_match_finite_differences(kind):
    rng = np.random.default_rng(0)
    scores, targets = rng.normal(size=(6, 3)), TARGETS["classes"](rng.integers(3, size=6))
    loss, step = LABELS[kind], 1e-6
    for output in range(3):
        move = step * np.eye(3)[output]
        change = loss.value(scores + move, targets) - loss.value(scores - move, targets)
        assert np.allclose(change / (2 * step), loss.slope(scores, targets)[:, output], atol=1e-8)
        turn = loss.slope(scores + move, targets) - loss.slope(scores - move, targets)
        d, r = loss.hessian(scores, targets)
        column = d * np.eye(3)[output] - r * r[:, [output]]
        assert np.allclose(turn / (2 * step), column, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_a_parabola_lies_above_the_logistic_loss_on_the_way_to_its_minimum(n_classes):
    """The step to the minimum of the parabola never raises the loss, at any scores."""
    rng, loss = np.random.default_rng(1), LABELS["classes"]
    scores = rng.normal(size=(4000, n_classes)) * rng.choice([0.1, 1, 5, 20], size=(4000, 1))
    targets = np.eye(n_classes)[rng.integers(n_classes, size=4000)]
    slope, curvature = loss.slope(scores, targets), loss.curvature(scores, targets)
    step = -slope / curvature[:, None]
    promised = 0.5 * (slope**2).sum(axis=1) / curvature
    gained = loss.value(scores, targets) - loss.value(scores + step, targets)
    assert (gained >= 0.999 * promised - 1e-12).all()


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("penalty", [{}, {"alpha": 0.05}, {"ridge": 0.1}], ids=str)
def test_the_slope_through_codes_matches_finite_differences(kind, penalty):
    X, y = rows(30)
    model = SupervisedDictionary(3, labels=kind, n_epochs=2, random_state=0, **penalty).fit(X, y)
    D, told = model.components_.copy(), TARGETS[kind](y)
    head = np.random.default_rng(1).normal(size=model.state_.dictionary.head.shape) / 3
    pull, step = measured(model, X, told, D, head).labels.pull, 1e-6
    for place in np.ndindex(*D.shape):
        ends = []
        for sign in (1, -1):
            moved = D.copy()
            moved[place] += sign * step
            ends.append(measured(model, X, told, moved, head).labels.loss)
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(pull[place], rel=2e-3, abs=2e-3)


def test_without_weight_the_atoms_are_those_of_the_unsupervised_model_to_the_bit():
    X, y = rows()
    settings = {"n_epochs": 4, "schedule": "harmonic", "batch_size": 50, "random_state": 0}
    plain = OnlineNMF(4, **settings).fit(X)
    model = SupervisedDictionary(4, weight=0, **settings).fit(X, y)
    assert np.array_equal(model.components_, plain.components_)
    assert np.array_equal(model.transform(X), plain.transform(X))


@pytest.mark.parametrize("kind", LABELS)
def test_the_head_that_fit_ends_with_is_the_optimum_on_the_codes(kind):
    X, y = rows()
    model = SupervisedDictionary(4, labels=kind, shrinkage=1e-9, n_epochs=3, random_state=0)
    codes = model.fit(X, y).transform(X)
    if kind == "classes":  # under its penalty, which scikit-learn has in other units
        model = SupervisedDictionary(4, shrinkage=0.01, n_epochs=3, random_state=0).fit(X, y)
        codes = model.transform(X) / np.sqrt(model.memory_.gram.diagonal())
        twin = LogisticRegression(C=1 / (0.01 * len(X)), max_iter=10_000, tol=1e-8).fit(codes, y)
        assert np.abs(model.predict_proba(X) - twin.predict_proba(codes)).max() < 1e-3
    elif kind == "numbers":
        inputs = np.column_stack([codes, np.ones(len(codes))])
        twin = inputs @ np.linalg.lstsq(inputs, y.astype(float), rcond=None)[0]
        assert np.allclose(model.predict(X), twin, atol=1e-3)
    else:
        twin = PoissonRegressor(alpha=0, max_iter=1000, tol=1e-8).fit(codes, y)
        assert np.allclose(model.predict(X), twin.predict(codes), rtol=0.02, atol=1e-3)


def test_law_9_what_parts_of_a_batch_add_is_what_the_batch_adds():
    X, y = rows(60)
    told = TARGETS["classes"](y)
    told[::3] = np.nan
    model = SupervisedDictionary(3, n_epochs=1, random_state=0).fit(X, y)
    D = model.components_
    whole = measured(model, X, told, D)
    parts = measured(model, X[:25], told[:25], D) + measured(model, X[25:], told[25:], D)
    for name, value in flat(whole).items():
        assert value is None or np.allclose(value, flat(parts)[name], rtol=1e-9, atol=1e-9), name


def test_law_1_an_integer_weight_is_a_repetition():
    X, y = rows(40)
    model = SupervisedDictionary(3, n_epochs=1, random_state=0).fit(X, y)
    weights = np.arange(40) % 3
    told, statistics = TARGETS["classes"](y), model.algorithm_.statistics
    dictionary, objective = model.state_.dictionary, model.algorithm_.objective
    batches = (
        Batch(X, weights.astype(float), labels=told),
        Batch(np.repeat(X, weights, axis=0), labels=np.repeat(told, weights, axis=0)),
    )
    once, often = (
        statistics.measure(batch, model._encode(batch), dictionary, objective) for batch in batches
    )
    for name, value in flat(once).items():
        assert value is None or np.allclose(value, flat(often)[name], rtol=1e-8), name


def test_longer_atoms_and_smaller_past_codes_leave_head_and_slopes_as_they_are():
    X, y = rows(60)
    model = SupervisedDictionary(3, n_epochs=1, random_state=0).fit(X, y)
    told, scale, D = TARGETS["classes"](y), np.array([0.5, 1.0, 3.0]), model.components_
    head = np.random.default_rng(2).normal(size=(4, 3))
    memory = model.algorithm_.statistics.start(3, 8, None)
    memory.absorb(measured(model, X, told, D, head), 1.0)
    memory.rescale(scale)
    fresh = model.algorithm_.statistics.start(3, 8, None)
    scaled = head / np.append(scale, 1.0)[:, None]
    fresh.absorb(measured(model, X, told, D / scale[:, None], scaled), 1.0)
    for name, value in vars(memory.labels).items():
        assert np.allclose(value, getattr(fresh.labels, name), rtol=1e-3, atol=1e-3), name


def test_saved_and_resumed_streams_go_on_to_the_bit(tmp_path):
    X, y = rows(300)
    Z = np.random.default_rng(5).normal(size=(300, 2))
    model = SupervisedDictionary(4, random_state=0)
    for start in range(0, 150, 50):
        part = slice(start, start + 50)
        model.partial_fit(X[part], y[part], covariates=Z[part])
    save(model, tmp_path / "model.atoms")
    twin = load(tmp_path / "model.atoms")
    for each in (model, twin):
        for start in range(150, 300, 50):
            part = slice(start, start + 50)
            each.partial_fit(X[part], y[part], covariates=Z[part])
    assert np.array_equal(model.components_, twin.components_)
    assert np.array_equal(model.predict_proba(X, covariates=Z), twin.predict_proba(X, covariates=Z))
    assert np.array_equal(model.classes_, twin.classes_)


def test_sparse_rows_and_frames_are_dense_ones():
    X, y = rows(100)
    X[X < 0.7] = 0
    settings = {"n_epochs": 3, "random_state": 0}
    dense = SupervisedDictionary(3, **settings).fit(X, y)
    sparse = SupervisedDictionary(3, **settings).fit(sp.csr_array(X), y)
    assert np.allclose(dense.components_, sparse.components_, atol=1e-6)
    assert dense.fit(X.astype(np.float32), y).components_.dtype == np.float32


def mean_objective(flat, X, told, n_atoms, unit, shrinkage):
    """Return the mean of the loss of samples and of labels at exact codes."""
    D = flat[: n_atoms * X.shape[1]].reshape(n_atoms, -1)
    head = flat[D.size :].reshape(n_atoms + 1, -1)
    D = np.maximum(D, 0) / np.maximum(np.linalg.norm(D, axis=1, keepdims=True), 1)
    codes = OnlineNMF.from_components(D).transform(X)
    inputs = np.column_stack([codes, np.ones(len(codes))])
    held = shrinkage * np.append((codes**2).mean(axis=0), 0)
    loss = LABELS["classes"].value(inputs @ head, told).mean()
    plain = 0.5 * ((X - codes @ D) ** 2).sum(axis=1).mean()
    return plain + unit * (loss + 0.5 * held @ (head**2).sum(axis=1))


def test_the_end_is_that_of_a_batch_minimiser_of_a_tiny_problem(room):
    """Powell's method from atoms without labels, on codes that are exact: it gains no more."""
    X, y = rows(40, d=4, n_classes=2)
    told, weight, shrinkage = np.eye(2)[y], 0.3, 0.05
    unit, ends = weight * 0.5 * (X**2).sum(axis=1).mean(), []
    for each in (weight, 0.0):
        model = SupervisedDictionary(
            2, weight=each, shrinkage=shrinkage, n_epochs=200, random_state=0
        ).fit(X, y)
        start = np.concatenate([model.components_.ravel(), model.state_.dictionary.head.ravel()])
        ends.append(mean_objective(start, X, told, 2, unit, shrinkage))
    settings = {"method": "Powell", "options": {"maxiter": 40}}
    best = minimize(mean_objective, start, (X, told, 2, unit, shrinkage), **settings).fun
    room.share((ends[1] - ends[0]) / (ends[1] - best), at_least=0.6)


def test_labels_move_atoms_to_predict_better(room, seeds):
    """Digits: fewer errors on rows nobody learned from, at little more error of reconstruction."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    wrong, error = [], []
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(X))
        own, other = order[:1200], order[1200:]
        models = [
            SupervisedDictionary(10, weight=w, n_epochs=50, random_state=seed).fit(X[own], y[own])
            for w in (0.0, 0.5)
        ]
        wrong.append([1 - model.score(X[other], y[other]) for model in models])
        error.append([model.losses(X[other]).mean() for model in models])
    fewer = np.median([ours / plain for plain, ours in wrong])
    room.error(fewer, at_most=0.95)
    room.ratio(np.median([ours / plain for plain, ours in error]), at_most=1.6)


def test_rows_without_labels_teach_the_atoms_and_not_the_head():
    X, y = rows(200)
    names = np.array(["a", "b", "c"], object)[y]
    marks = {"none": names.copy(), "nan": y.astype(float), "minus one": y.copy()}
    marks["none"][50:], marks["nan"][50:], marks["minus one"][50:] = None, np.nan, -1
    found = {}
    for kind, told in marks.items():
        model = SupervisedDictionary(4, n_epochs=5, random_state=0).fit(X, told)
        found[kind] = model.predict_proba(X)
        assert model.n_samples_seen_ == 5 * 200
        assert model.memory_.labels.mass == pytest.approx(0.25, abs=0.02)
    assert np.array_equal(found["none"], found["nan"])
    assert np.array_equal(found["none"], found["minus one"])


def test_labels_that_come_late_in_a_stream_are_learned():
    X, y = rows(600)
    model = SupervisedDictionary(4, classes=[0, 1, 2], random_state=0)
    for start in range(0, 300, 50):
        model.partial_fit(X[start : start + 50])
    assert np.isnan(model.label_loss_)
    assert (model.coef_ == 0).all()
    for start in list(range(0, 300, 50)) * 3:
        model.partial_fit(X[start : start + 50], y[start : start + 50])
    assert model.score(X[300:], y[300:]) > 0.75  # .34 without labels


@pytest.mark.parametrize("schedule", ["harmonic", Constant(half_life=640)], ids=str)
def test_what_was_learned_stays_where_labels_end(room, schedule):
    """The slope that is kept would push atoms on; it belongs to those it was measured at."""
    X, y = rows(12_000)
    model = SupervisedDictionary(4, schedule=schedule, classes=[0, 1, 2], random_state=0)
    wrong = []
    for place, start in enumerate(range(0, 10_000, 64)):
        told = y[start : start + 64] if place < 40 else None
        model.partial_fit(X[start : start + 64], told)
        if place in (39, 150):
            wrong.append(1 - model.score(X[10_000:], y[10_000:]))
    room.error(wrong[1] - wrong[0], at_most=0.1)


@pytest.mark.parametrize("size", [1.0, 1000.0])
def test_counts_of_any_size_are_learned_in_a_stream(size):
    X, _ = rows(6400)
    codes = OnlineNMF(4, n_epochs=5, random_state=0).fit_transform(X)
    shares = np.exp(codes[:, 0] / codes[:, 0].max() * 2)
    y = np.random.default_rng(0).poisson(size * shares)
    model = SupervisedDictionary(4, labels="counts", random_state=0)
    for start in range(0, 6400, 64):
        model.partial_fit(X[start : start + 64], y[start : start + 64])
    assert model.score(X, y) > (0.05 if size == 1 else 0.7)
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=0.2)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_rows_does_not_matter(unit):
    X, y = rows(640)
    found = []
    for scale in (1.0, unit):
        model = SupervisedDictionary(4, random_state=0)
        for start in range(0, 640, 64):
            model.partial_fit(scale * X[start : start + 64], y[start : start + 64])
        found.append(model.predict_proba(scale * X))
    assert np.abs(found[0] - found[1]).max() < 1e-3


def test_a_stream_goes_on_from_the_head_that_fit_ends_with():
    X, y = rows(400)
    model = SupervisedDictionary(4, n_epochs=5, random_state=0).fit(X[:300], y[:300])
    before = model.score(X[300:], y[300:])
    assert model.partial_fit(X[:20], y[:20]).score(X[300:], y[300:]) > before - 0.03


def test_labels_of_all_kinds_of_arrays_are_read():
    X, y = rows(60)
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    settings, found = {"n_epochs": 2, "random_state": 0}, {}
    some = np.arange(60) % 4 > 0
    kinds = {
        "list": [int(label) if known else None for label, known in zip(y, some, strict=True)],
        "float": np.where(some, y, np.nan),
        "nullable": pandas.array(np.where(some, y, -9)).astype("Int64"),
        "text": pandas.Series(np.where(some, y.astype(str), None), dtype="string"),
        "categories": pandas.Series(np.where(some, y.astype(str), None)).astype("category"),
        "texts and NaN": [
            str(label) if known else np.nan for label, known in zip(y, some, strict=True)
        ],
    }
    kinds["nullable"][~some] = pandas.NA
    for name, labels in kinds.items():
        model = SupervisedDictionary(3, **settings).fit(X, labels)
        assert model.classes_.tolist() in ([0, 1, 2], ["0", "1", "2"]), name
        found[name] = model.predict_proba(X)
        assert np.array_equal(found[name], found["list"]), name


def test_class_weights_survive_a_file_and_count_by_weights_of_rows(tmp_path):
    X, y = rows(120)
    weights = np.where(y == 0, 3.0, 1.0)
    model = SupervisedDictionary(3, n_epochs=1, class_weight="balanced", random_state=0)
    model.fit(X, y, weights)
    often = np.repeat(np.arange(120), weights.astype(int))
    shares = np.bincount(y[often]) / len(often)
    assert np.allclose(model.label_weights_ * shares, 1 / 3)
    named = SupervisedDictionary(3, classes=[0, 1, 2], class_weight={0: 1.0, 1: 4.0})
    save(named.partial_fit(X), tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms").partial_fit(X, y)
    assert again.label_weights_.tolist() == [1.0, 4.0, 1.0]


def test_features_in_another_unit_leave_slopes_what_they_would_be():
    """All features times 2, atoms too: codes stay, and so does the loss of labels."""
    X, y = rows(60)
    model = SupervisedDictionary(3, n_epochs=1, random_state=0).fit(X, y)
    labels, D = TARGETS["classes"](y), model.components_
    head = np.random.default_rng(2).normal(size=(4, 3))
    memory, fresh = (model.algorithm_.statistics.start(3, 8, None) for _ in range(2))
    memory.absorb(measured(model, X, labels, D, head), 1.0)
    memory.rescale_features(np.full(8, 2.0), (X**2).mean(axis=0))
    fresh.absorb(measured(model, 2 * X, labels, 2 * D, head), 1.0)
    for name, value in vars(memory.labels).items():
        assert np.allclose(value, getattr(fresh.labels, name), rtol=1e-3, atol=1e-4), name


def test_streams_of_pairs_teach_as_calls_do():
    X, y = rows(150)
    pairs = [(X[i : i + 50], y[i : i + 50]) for i in range(0, 150, 50)]
    ours = SupervisedDictionary(3, random_state=0).fit_stream(map(list, pairs))
    twin = SupervisedDictionary(3, random_state=0)
    for part in pairs:
        twin.partial_fit(*part)
    assert np.array_equal(ours.components_, twin.components_)
    assert np.array_equal(ours.coef_, twin.coef_)


def test_a_class_weight_counts_labels_so_often():
    X, y = rows(120, n_classes=2)
    settings = {"weight": 0.0, "n_epochs": 2, "random_state": 0}
    weighted = SupervisedDictionary(3, class_weight={0: 1, 1: 4}, **settings).fit(X, y)
    plain = SupervisedDictionary(3, **settings).fit(X, y)
    assert weighted.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.02
    kept = np.flatnonzero((y == 0) | (np.arange(120) % 3 == 0))
    balanced = SupervisedDictionary(3, class_weight="balanced", **settings).fit(X[kept], y[kept])
    shares = np.bincount(y[kept]) / len(kept)
    assert np.allclose(balanced.label_weights_ * shares, 0.5)


def test_covariates_stand_beside_the_codes():
    X, _ = rows(200)
    Z = np.random.default_rng(3).normal(size=(200, 2))
    y = (Z[:, 0] > 0).astype(int)
    model = SupervisedDictionary(3, n_epochs=5, random_state=0).fit(X, y, covariates=Z)
    assert model.score(X, y, covariates=Z) > 0.95
    assert model.coef_.shape == (1, 3)
    assert model.covariate_coef_.shape == (1, 2)
    assert abs(model.covariate_coef_[0, 0]) > 5 * abs(model.covariate_coef_[0, 1])
    with pytest.raises(ValueError, match="covariates must have the 2 columns"):
        model.predict(X)


def test_several_numbers_and_counts_are_predicted_in_their_units():
    X, _ = rows(300)
    codes = OnlineNMF(4, n_epochs=20, random_state=0).fit_transform(X)
    Y = 1000 + 50 * codes[:, :2]
    model = SupervisedDictionary(4, labels="numbers", n_epochs=20, random_state=0).fit(X, Y)
    assert model.predict(X).shape == (300, 2)
    assert model.score(X, Y) > 0.9
    counts = np.random.default_rng(0).poisson(np.exp(codes[:, 0] / codes[:, 0].max() * 2))
    other = SupervisedDictionary(4, labels="counts", n_epochs=20, random_state=0).fit(X, counts)
    assert other.predict(X).mean() == pytest.approx(counts.mean(), rel=0.02)
    assert other.score(X, counts) > 0.1
    assert not hasattr(other, "predict_proba")


def test_breast_cancer_is_told_by_two_atoms(room):
    """Unsupervised atoms of these columns leave 8 to 10 % wrong."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    wrong = []
    for fold in range(3):
        held = np.arange(len(X)) % 3 == fold
        model = SupervisedDictionary(2, random_state=0).fit(X[~held], y[~held])
        wrong.append(1 - model.score(X[held], y[held]))
    room.error(np.median(wrong), at_most=0.06)


def test_a_search_and_a_pipeline_take_it():
    X, y = rows(150)
    search = GridSearchCV(
        make_pipeline(
            FunctionTransformer(np.sqrt), SupervisedDictionary(3, n_epochs=2, random_state=0)
        ),
        {"superviseddictionary__weight": [0.0, 0.3]},
        cv=2,
    ).fit(X, y)
    assert 0 <= search.best_score_ <= 1
    assert search.predict(X[:3]).shape == (3,)


REFUSED = [
    (lambda X, y: SupervisedDictionary(3).fit(X, y[:-1]), "a label for each of 60 rows"),
    (
        lambda X, y: SupervisedDictionary(3).fit(X, 0 * y),
        "Needed are two classes or more, y shows 0 ",
    ),
    (
        lambda X, y: SupervisedDictionary(3).partial_fit(X),
        "Needed are two classes or more, y shows none",
    ),
    (lambda X, y: SupervisedDictionary(3).fit(X, y + 0.5), "Unknown label type"),
    (
        lambda X, y: SupervisedDictionary(3, classes=[0, 1]).fit(X, y),
        r"y holds the class 2, and the model knows \[0, 1\]",
    ),
    (lambda X, y: SupervisedDictionary(3, labels="counts").fit(X, y - 1.0), "not be negative"),
    (
        lambda X, y: SupervisedDictionary(3, labels="numbers").fit(X, np.full(60, np.nan)),
        "no label that counts",
    ),
    (
        lambda X, y: SupervisedDictionary(3).fit(X, y, covariates=np.ones(60)),
        "covariates must be finite and of shape",
    ),
    (lambda X, y: SupervisedDictionary.from_components(X[:3]), "give them as init"),
    (lambda X, y: SupervisedDictionary(3, class_weight={0: -1}).fit(X, y), "at least 0"),
    (lambda X, y: SupervisedDictionary(3, class_weight={7: 1}).fit(X, y), "to some of the classes"),
    (lambda X, y: SupervisedDictionary(3).fit_stream([X.tolist()]), "A batch is X, a pair"),
    (
        lambda X, y: (
            SupervisedDictionary(3).fit(X, y).set_params(labels="counts").partial_fit(X, y)
        ),
        "labels='counts' is of another kind",
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_cannot_be_learned_from_is_refused_in_a_sentence(call, words):
    X, y = rows(60)
    with pytest.raises(ValueError, match=words):
        call(X, y)


def test_a_failed_call_leaves_the_model_as_it_was():
    X, y = rows(60)
    model = SupervisedDictionary(3, n_epochs=2, random_state=0).fit(X, y)
    before = deepcopy(model.components_), model.predict_proba(X)
    with pytest.raises(ValueError, match="holds the class"):
        model.partial_fit(X, y + 5)
    assert np.array_equal(model.components_, before[0])
    assert np.array_equal(model.predict_proba(X), before[1])


def test_the_sums_name_their_loss():
    assert LabelledSums(LABELS["classes"]).needs == {"loss": ("quadratic",)}


@pytest.mark.parametrize("way", ["exact", "convergent"])
def test_models_with_another_objective_are_not_in_the_theorem(way):
    with pytest.raises(ValueError, match=r"SupervisedDictionary has no .* Take OnlineNMF"):
        getattr(SupervisedDictionary, way)(alpha=0.1)
