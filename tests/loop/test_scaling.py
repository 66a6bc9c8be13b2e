"""Scales of columns: those of all the data, learned along a stream, and undone again."""

import copy
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import TfidfTransformer

import atomstream
from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.loop.scaling import Scaling, dominant
from atomstream.updates import BlockCoordinate

UNITS = np.array([1.0, 1000.0, 0.01, 5.0, 1.0, 30.0])
LINEAR = ["std", "max", "tfidf"]


def data(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n_rows, 2)) @ rng.random((2, 6)) + 0.05 * rng.random((n_rows, 6))
    X[rng.random(X.shape) < 0.3] = 0
    return X * UNITS


def offline(X, kind):
    """The number that each column is divided by, by other means than ours."""
    if kind == "std":
        return np.nanstd(X, axis=0)
    if kind == "max":
        return np.nanmax(np.abs(X), axis=0)
    return 1 / TfidfTransformer().fit(X != 0).idf_


@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_scale_of_a_stream_is_that_of_all_its_rows(kind, form):
    X, scaling = data(), Scaling(kind)
    for start in (0, 1, 50, 120):
        rows = X[start : {0: 1, 1: 50, 50: 120, 120: 300}[start]]
        scaling = scaling.learned(form(rows), None)
    assert_allclose(scaling.divisor, offline(X, kind), rtol=1e-12)
    scaled = scaling.apply(form(X))
    assert sp.issparse(scaled) == sp.issparse(form(X))
    dense = scaled.toarray() if sp.issparse(scaled) else scaled
    assert_allclose(dense, X / offline(X, kind), rtol=1e-12)
    assert_allclose(scaling.undo(dense), X, rtol=1e-12)


@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_missing_entries_do_not_count_and_weights_are_repetitions(kind, form):
    X, rng = data(60), np.random.default_rng(1)
    times = rng.integers(0, 3, len(X))
    X[:, 4] = 0  # a column that is always zero
    X[rng.random(X.shape) < 0.1] = np.nan
    weighted = Scaling(kind).learned(form(X), times.astype(float)).divisor
    assert_allclose(weighted, Scaling(kind).learned(np.repeat(X, times, axis=0), None).divisor)
    if kind == "tfidf":
        n = (~np.isnan(np.repeat(X, times, axis=0))).sum(axis=0)
        there = (np.nan_to_num(np.repeat(X, times, axis=0)) != 0).sum(axis=0)
        assert_allclose(1 / weighted, np.log((1 + n) / (1 + there)) + 1)
    else:
        known = offline(np.repeat(X, times, axis=0), kind)
        assert_allclose(weighted, np.where(known > 0, known, 1))


def test_a_constant_column_keeps_its_units():
    X = np.full((50, 3), 0.1)
    X[:, 0] = np.arange(50)
    assert_array_equal(Scaling("std").learned(X, None).divisor[1:], [1, 1])


@pytest.mark.parametrize("kind", [*LINEAR, "log1p"])
@pytest.mark.parametrize("make", [OnlineNMF, OnlineDictionaryLearning])
def test_fit_learns_what_it_learns_of_data_scaled_beforehand(make, kind):
    X = data()
    params = {"n_components": 3, "alpha": 0.05, "n_epochs": 4, "batch_size": 64, "random_state": 0}
    model = make(scale=kind, **params).fit(X)
    scaled = np.log1p(X) if kind == "log1p" else X / offline(X, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a dominant column
        other = make(**params).fit(scaled)
    assert_allclose(model.components_, other.components_, atol=1e-6)
    codes = other.transform(scaled)
    assert_allclose(model.transform(X), codes, atol=1e-5)
    rebuilt = other.inverse_transform(codes)
    rebuilt = np.expm1(rebuilt) if kind == "log1p" else rebuilt * offline(X, kind)
    assert_allclose(model.inverse_transform(codes), rebuilt, rtol=1e-4, atol=1e-4 * UNITS.max())
    assert_allclose(model.objective(X), other.objective(scaled), rtol=1e-5)


@pytest.mark.parametrize("kind", ["std", "max"])
@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_codes_do_not_depend_on_the_units_of_the_columns(kind, loss):
    X = data()
    params = {"loss": loss, "scale": kind, "batch_size": 50, "n_epochs": 2, "random_state": 0}
    units = 2.0 ** np.array([3, -5, 10, 0, 1, -2])  # powers of two: the same bits
    one, other = OnlineNMF(3, **params), OnlineNMF(3, **params)
    assert_array_equal(one.fit(X).transform(X), other.fit(X * units).transform(X * units))
    assert_array_equal(one.components_, other.components_)
    for start in range(0, 300, 60):
        rows = X[start : start + 60]
        one.partial_fit(rows)
        other.partial_fit(rows * units)
    assert_array_equal(one.transform(X), other.transform(X * units))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", LINEAR)
def test_the_sums_of_the_past_follow_a_scale_that_moves(kind, form):
    """With the codes as they were, all sums in units of the end are those of rows in its units."""
    X = data()
    X[:50] *= 7  # the scale moves a lot
    seen = []

    class Keep(atomstream.watch.callbacks.Callback):
        def on_fit_task_end(self, estimator, context):
            if context.task_name == "batch":
                seen.append(estimator._progress.codes.values)

    # No atom gets a new start, which would clear its past: two are nearly parallel here.
    how = {"scale": kind, "schedule": "harmonic", "updater": BlockCoordinate(patience=np.inf)}
    model = OnlineNMF(2, **how, random_state=0).set_callbacks(Keep())
    model.fit_stream([form(X[start : start + 50]) for start in range(0, 300, 50)])
    scaled, codes = X / offline(X, kind), np.concatenate(seen)
    assert_allclose(model.memory_.cross, codes.T @ scaled / 300, rtol=1e-10)
    assert_allclose(model.memory_.constant, 0.5 * (scaled**2).sum() / 300, rtol=1e-10)
    left = scaled - codes @ model.components_
    assert_allclose(model.surrogate(), 0.5 * (left**2).sum() / 300, rtol=1e-6)


@pytest.mark.cover(2)
@pytest.mark.parametrize("loss", ["squared", "kl"])
@pytest.mark.parametrize("kind", LINEAR)
def test_a_long_stream_ends_near_what_scaling_beforehand_gives(kind, loss, room):
    X = data(6000)
    batches = [X[start : start + 100] for start in range(0, 6000, 100)]
    params = {"loss": loss, "random_state": 0}
    model = OnlineNMF(2, scale=kind, **params).fit_stream(batches)
    scaled = X / offline(X, kind)
    other = OnlineNMF(2, **params).fit_stream(
        [scaled[start : start + 100] for start in range(0, 6000, 100)]
    )
    in_scale = X / model.scaling_.divisor
    error = np.linalg.norm(model.inverse_transform(model.transform(X)) / offline(X, kind) - scaled)
    best = np.linalg.norm(other.inverse_transform(other.transform(scaled)) - scaled)
    room.ratio(error / best, at_most=1.03)
    assert_allclose(model.scaling_.apply(X), in_scale)
    if loss == "squared":
        assert_allclose(model.scaling_.divisor, offline(X, kind))


def test_under_other_losses_a_column_keeps_its_first_scale():
    X = data()
    X[:100, 2] = 0
    model = OnlineNMF(2, loss="kl", scale="max", random_state=0)
    for start in range(0, 300, 100):
        model.partial_fit(X[start : start + 100])
    first = np.abs(X[:100]).max(axis=0)
    first[2] = np.abs(X[100:200, 2]).max()
    assert_array_equal(model.scaling_.divisor, first)


def test_atoms_stay_in_their_set_and_fixed_ones_as_they_are():
    X, atoms = data(), np.eye(2, 6)
    model = OnlineNMF(2, scale="std", init=atoms, fixed_components=1, random_state=0)
    for start in range(0, 300, 30):
        model.partial_fit(X[start : start + 30] * (1 + start))
        assert (np.linalg.norm(model.components_, axis=1) <= 1 + 1e-9).all()
        assert_array_equal(model.components_[0], atoms[0])


@pytest.mark.parametrize("kind", [*LINEAR, "log1p"])
def test_a_model_goes_on_from_its_file_to_the_bit(kind, tmp_path):
    X = data()
    model = OnlineNMF(3, scale=kind, random_state=0).partial_fit(X[:100])
    atomstream.save(model, tmp_path / "m.atoms")
    twins = [
        atomstream.load(tmp_path / "m.atoms"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        copy.copy(model),
    ]
    model.partial_fit(X[100:])
    for twin in twins:
        twin.partial_fit(X[100:])
        assert_array_equal(twin.components_, model.components_)
        assert_array_equal(twin.scaling_.divisor, model.scaling_.divisor)
        assert_array_equal(twin.transform(X), model.transform(X))


def test_a_refused_batch_leaves_scale_memory_and_atoms():
    X = data()
    model = OnlineNMF(3, scale="std", random_state=0).partial_fit(X[:100])
    before, cross, atoms = model.scaling_, model.memory_.cross, model.components_
    with pytest.raises(ValueError, match="sums are not finite"):
        model.partial_fit(np.where(X[:5] > 0, 1e300, 1.0))
    with pytest.raises(ValueError, match="Negative"):
        model.partial_fit(-X[:5])
    assert model.scaling_ is before
    assert model.memory_.cross is cross
    assert_array_equal(model.components_, atoms)


def test_what_is_imputed_is_in_the_units_of_the_data():
    X = data()
    holes = np.random.default_rng(1).random(X.shape) < 0.1
    model = OnlineNMF(2, scale="std", missing=True, random_state=0).fit(np.where(holes, np.nan, X))
    filled = model.impute(np.where(holes, np.nan, X))
    assert_array_equal(filled[~holes], X[~holes])
    assert_allclose(
        filled[holes], model.inverse_transform(model.transform(np.where(holes, np.nan, X)))[holes]
    )


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda X: OnlineNMF(2, scale="minmax").fit(X),
            "'scale' .* must be one of none, std",
        ),
        (lambda X: OnlineDictionaryLearning(2, scale="log1p").fit(-X), "needs values above -1"),
        (lambda X: OnlineNMF.from_components(X[:2], scale="std"), "from_components has none"),
        (
            lambda X: OnlineNMF(2).partial_fit(X).set_params(scale="std").partial_fit(X),
            "scale is 'std' and the model has learned with scale='none'",
        ),
    ],
)
def test_scales_that_cannot_be_are_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build(data())


def test_the_default_is_the_data_themselves():
    X = data()
    assert Scaling().apply(X) is X
    assert Scaling().undo(X) is X
    model = OnlineNMF(2, random_state=0).partial_fit(X)
    assert not hasattr(model._learner, "scaling")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_column_with_most_of_the_energy_is_named(form):
    X = np.random.default_rng(0).random((50, 3))
    model = OnlineNMF(2, n_epochs=1, random_state=0)
    assert dominant(form(X)) is None
    model.fit(form(X))
    X[:, 1] *= 100
    column, share = dominant(form(X))
    assert column == 1
    assert_allclose(share, (X[:, 1] ** 2).sum() / (X**2).sum())
    with pytest.warns(
        UserWarning, match=r"Column 1 .counted from 0. has 100 % of the energy .*scale='std'"
    ):
        model.fit(form(X))
    for other in (OnlineNMF(2, scale="std", n_epochs=1), OnlineNMF(2, loss="kl", n_epochs=1)):
        other.fit(form(X))
    assert dominant(form(X[:, :2])) is None
    assert dominant(form(X), np.r_[np.zeros(49), 1.0])[0] == 1


def test_looking_for_such_a_column_takes_little_memory():
    X = np.ones((2000, 3000), np.float32)
    X[:, 5] = 100
    weights = np.linspace(0, 1, 2000)
    energy = (weights[:, None] * X.astype(float) ** 2).sum(axis=0)
    tracemalloc.start()
    column, share = dominant(X, weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert column == 5
    assert_allclose(share, energy[5] / energy.sum())
    assert peak < X.nbytes / 2


def test_the_warning_names_the_column_of_a_frame():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).random((50, 3)) * [1, 1, 50]
    with pytest.warns(UserWarning, match="Column 'income' has"):
        OnlineNMF(2, n_epochs=1).fit(pd.DataFrame(X, columns=["age", "height", "income"]))
