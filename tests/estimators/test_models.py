"""The estimators: settings, bad input, known atoms, callbacks, figures about a model."""

import copy
import io
import pickle
import re
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from cases import of_fields
from numpy.testing import assert_allclose, assert_array_equal
from rich.console import Console
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import atomstream
from atomstream import (
    DataWarning,
    IncompatiblePartsError,
    NotConvergedWarning,
    OnlineDictionaryLearning,
    OnlineNMF,
)
from atomstream.base import machine, threads
from atomstream.coders import Auto, ProjectedGradient
from atomstream.estimators import _plain_callbacks as plain_callbacks
from atomstream.penalties import Box, Free, Nonnegative
from atomstream.schedules import Harmonic, Power
from atomstream.watch.callbacks import Callback, History, LearningBar

BOTH = [OnlineNMF, OnlineDictionaryLearning]


def data(n=200, d=10, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, 4)) @ rng.random((4, d))


def test_public_names_are_what_they_say():
    assert set(atomstream.__all__) <= set(dir(atomstream))
    for name in atomstream.__all__:
        assert getattr(atomstream, name) is not None
    with pytest.raises(AttributeError, match="No atomstream attribute nothing"):
        _ = atomstream.nothing


# -- bad input
# --------------------------------------------------------------------------------------------------

X = data()
SENTENCES = [
    (
        {},
        np.where(X[3, 2] == X, np.nan, X),
        r"contains NaN \(first in row 3, column 2, counted from 0\); OnlineNMF needs finite",
    ),
    (
        {},
        np.where(X[5, 2] == X, np.inf, X),
        r"contains infinity \(first in row 5, column 2, counted from 0\)",
    ),
    (
        {},
        X - 1,
        r"Negative values in data passed to OnlineNMF: the minimum is -\d.*; use "
        r"OnlineDictionaryLearning\(codes=\"nonnegative\", atoms=\"nonnegative\"\), whose data may",
    ),
    ({}, X[:0], "0 sample"),
    ({}, X[0], "Expected 2D array, got 1D array"),
    ({}, X.astype(complex), "Complex data not supported"),
    (
        {},
        np.array([["a", "b"]], dtype=object),
        "could not convert|dtype='numeric' is not compatible",
    ),
    (
        {"n_components": 0},
        X,
        "'n_components' .* must be a whole number from 1 to .* Got 0",
    ),
    ({"n_components": 2.5}, X, "'n_components' .* must be a whole number from 1 to .* Got 2.5"),
    ({"alpha": -1}, X, "'alpha' .* must be a number from 0 to .* Got -1"),
    ({"ridge": "x"}, X, "'ridge' .* must be a number from 0 to .* Got 'x'"),
    ({"damping": float("nan")}, X, "'damping' .* must be a number from 0 to .* Got nan"),
    ({"batch_size": 0}, X, "'batch_size' .* must be a whole number from 1 to .* Got 0"),
    ({"n_epochs": 0}, X, "'n_epochs' .* must be a whole number from 1 to .* or None. Got 0"),
    ({"max_time": -1}, X, "'max_time' .* must be a number from 0 to .* or None. Got -1"),
    (
        {"loss": "kll"},
        X,
        "loss='kll' is unknown; choose one of hellinger, huber, is, kl",
    ),
    (
        {"schedule": "fast"},
        X,
        "schedule='fast' is unknown; choose one of adaptive, constant, harmonic, log_polynomial, p",
    ),
    (
        {"coder": "newton"},
        X,
        "coder='newton' is unknown; choose one of active_set, auto, matching_pursuit, "
        "multiplicative, projected_gradient, projected_sub",
    ),
    (
        {"atoms": "sphere"},
        X,
        "atoms='sphere' is unknown; choose one of auto, box, covering, free, "
        "nonnegative, nonnegative_ball",
    ),
    (
        {"init": "svdd"},
        X,
        "'init' .* must be one of auto, samples, spread, svd, random or an array-like. Got 'svdd'",
    ),
    (
        {"init": np.ones((2, 2))},
        X,
        r"init must be of shape \(n_components, n_features\) = \(3, 10\), got \(2, 2\)",
    ),
    (
        {"n_jobs": 0},
        X,
        r"'n_jobs' .* must be a number of threads \(-1 for all\) or None. Got 0",
    ),
    (
        {"init": None},
        X,
        "'init' .* must be one of auto, samples, spread, svd, random or an array-like. Got None",
    ),
    (
        {"fixed_components": 2},
        X,
        "fixed_components=2 needs init to be an array whose rows stay",
    ),
    ({"fixed_components": 9, "init": np.ones((3, 10))}, X, "must be at most n_components=3, got 9"),
    (
        {"atoms": "unit_ball"},
        X,
        "holds negative entries and OnlineNMF needs nonnegative atoms; use OnlineDictionary",
    ),
    (
        {"codes": Nonnegative(l1=1), "alpha": 0.1},
        X,
        "both set the penalty on the codes; give it in one place",
    ),
]


@pytest.mark.parametrize(("settings", "bad", "message"), SENTENCES)
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_bad_input_gets_one_sentence_and_leaves_nothing_behind(settings, bad, message, call):
    model = OnlineNMF(**{"n_components": 3, **settings})
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        getattr(model, call)(bad)
    assert vars(model).keys() == before.keys()


def test_parts_of_the_wrong_kind_are_refused():
    with pytest.raises(
        TypeError,
        match=r"'loss' .* must be one of .* hellinger, .*, squared, trimmed, trimmed:NUMBER, "
        "an instance of a part with a method 'gradient'. Got 3",
    ):
        OnlineNMF(loss=3).fit(X)
    with pytest.raises(TypeError, match=r"'schedule' .* must be one of"):
        OnlineNMF(schedule=Power).fit(X)
    with pytest.raises(TypeError, match=r"an instance of a part with .* Got <class .*Auto'>"):
        OnlineNMF(coder=Auto).fit(X)
    for schedule in (lambda step: 1 / step, lambda a, b, c, d: 1.0):
        with pytest.raises(TypeError, match="must take three arguments: the step"):
            OnlineNMF(schedule=schedule).fit(X)
    assert OnlineNMF(3, schedule=lambda *known: known[1] / known[2]).fit(X).n_steps_
    with pytest.raises(IncompatiblePartsError, match="needs codes that are polyhedral"):
        OnlineDictionaryLearning(codes="unit_ball", coder="active_set").fit(X)


@pytest.mark.parametrize("choice", [{}, {"name": 3}, {"name": "kl", "nonsense": 1}])
@pytest.mark.parametrize("name", ["loss", "updater", "coder", "codes", "atoms", "schedule"])
def test_a_dict_is_no_part(name, choice):
    for cls in BOTH:
        if name in cls().get_params():
            with pytest.raises(TypeError, match=rf"{name}.* must be .*[Gg]ot {choice}"):
                cls(2, **{name: choice}).fit(X)


@pytest.mark.parametrize("weights", [np.ones(3), np.full(200, -1.0), np.full(200, np.nan)])
def test_bad_weights_are_refused(weights):
    with pytest.raises(ValueError, match="sample_weight must be"):
        OnlineNMF().fit(X, sample_weight=weights)


def test_weights_that_are_zero_everywhere_are_refused_by_fit():
    with pytest.raises(ValueError, match="sample_weight is zero everywhere"):
        OnlineNMF().fit(X, sample_weight=np.zeros(200))
    with pytest.raises(ValueError, match="sample_weight is zero everywhere"):
        OnlineNMF(missing=True).fit(X, sample_weight=np.zeros(200))


def test_rows_of_which_nothing_was_observed_are_refused_by_fit():
    nothing = np.full((5, 3), np.nan)
    with pytest.raises(ValueError, match="X has no row with a positive weight and an observed"):
        OnlineNMF(2, missing=True).fit(nothing)
    half = np.where(np.arange(5)[:, None] < 2, 1.0, nothing)
    with pytest.raises(ValueError, match="X has no row with a positive weight and an observed"):
        OnlineNMF(2, missing=True).fit(half, sample_weight=[0, 0, 1, 1, 1])


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
def test_law_3_holds_for_the_source_of_randomness_too(source):
    broken = np.where(
        np.arange(200)[:, None] == 150, 1e300, X
    )  # passes the checks, overflows in the last batches
    model, twin = (
        OnlineNMF(3, batch_size=20, shuffle=False, random_state=source(0)) for _ in range(2)
    )
    for _ in range(2):  # before anything was learned, and after
        with (
            np.errstate(over="ignore", invalid="ignore"),
            pytest.raises(ValueError, match="not finite"),
        ):
            model.fit(broken)
        assert_array_equal(
            model.set_params(shuffle=True).fit(X).components_,
            twin.set_params(shuffle=True).fit(X).components_,
        )
        model.set_params(shuffle=False)


def test_an_array_is_no_stream():
    with pytest.raises(
        ValueError,
        match=r"an iterable of batches, got one array of shape \(200, 10\); wrap it in a list",
    ):
        OnlineNMF().fit_stream(X)


@pytest.mark.parametrize("kind", ["object", "category", "string"])
def test_a_column_of_text_is_named(kind):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:, :2], columns=["width", "height"])
    frame["species"] = pandas.Series(["rose"] * len(X), dtype=kind)
    with pytest.raises(
        ValueError, match=r"Column 'species' of X holds no numbers: could not .*rose"
    ):
        OnlineNMF(2).fit(frame)
    assert OnlineNMF(1, n_epochs=1).fit(frame[["width", "height"]].astype(object)).n_steps_


def test_what_was_learned_is_asked_of_fitted_models_only():
    for name in ("components_", "importance_", "memory_", "n_steps_", "n_samples_seen_"):
        assert not hasattr(OnlineNMF(), name)
        with pytest.raises(NotFittedError):
            getattr(OnlineNMF(), name)


def test_a_shallow_copy_goes_on_by_itself():
    model = OnlineNMF(3, random_state=0).fit(X)
    kept, twin = model.components_.copy(), copy.copy(model)
    twin.partial_fit(X[:20])
    assert_array_equal(model.components_, kept)
    assert model.n_steps_ == twin.n_steps_ - 1
    model.partial_fit(X[:20])
    assert_array_equal(model.components_, twin.components_)
    assert not hasattr(copy.copy(OnlineNMF()), "components_")


def test_a_model_that_was_watched_can_be_copied():
    model = OnlineNMF(3, random_state=0).set_callbacks(LearningBar()).fit(X)
    assert_array_equal(pickle.loads(pickle.dumps(model)).components_, model.components_)


def test_callbacks_count_batches_only_also_inside_a_search():
    history = History()
    search = GridSearchCV(
        OnlineNMF(batch_size=50, n_epochs=1, random_state=0).set_callbacks(history),
        {"alpha": [0.1]},
    )
    search.fit(X)
    assert len(history.n_samples) in (0, 4)  # scikit-learn may clone callbacks away


def test_sparse_nan_is_found_in_its_row():
    bad = sp.csr_array(X.copy())
    bad.data[25] = np.nan
    with pytest.raises(
        ValueError, match=r"contains NaN \(first in row 2, column .*counted from 0\)"
    ):
        OnlineNMF().fit(bad)


def test_a_stream_that_breaks_keeps_what_was_learned():
    def stream():
        yield X[:50]
        yield X[50:100]
        raise OSError("the line went dead")

    model = OnlineNMF(n_components=3, random_state=0)
    with pytest.raises(OSError, match="went dead"):
        model.fit_stream(stream())
    twin = OnlineNMF(n_components=3, random_state=0).fit_stream([X[:50], X[50:100]])
    assert model.n_steps_ == 2
    assert_array_equal(model.components_, twin.components_)


def test_data_too_large_for_their_type_are_refused_and_leave_the_model_whole():
    model = OnlineNMF(3, random_state=0).fit(X.astype(np.float32))
    kept = model.components_.copy()
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(ValueError, match="not finite in float32; rescale"),
    ):
        model.partial_fit(X.astype(np.float32) * 1e30)
    assert_array_equal(model.components_, kept)


def test_settings_that_no_longer_fit_are_refused_at_the_next_step():
    model = OnlineDictionaryLearning(3, coder="active_set", random_state=0).fit(X)
    with pytest.raises(IncompatiblePartsError):
        model.set_params(codes="unit_ball").partial_fit(X)
    with pytest.raises(
        ValueError, match="n_components is 5 and the dictionary has 3 atoms; call fit"
    ):
        model.set_params(codes="free", n_components=5).partial_fit(X)
    with pytest.raises(ValueError, match="n_components is 7 and the dictionary has 3 atoms"):
        OnlineNMF.from_components(np.eye(3, 8), n_components=7)
    with pytest.raises(ValueError, match="tol='x' is unknown; choose one of log, root"):
        OnlineNMF(coder=Auto(tol="x")).fit(X)


class Fails(History):
    """Raises after the third batch."""

    def __init__(self, error):
        super().__init__()
        self.error, self.closed = error, 0

    def on_fit_task_end(self, estimator, context):
        super().on_fit_task_end(estimator, context)
        if len(self.n_samples) == 3:
            raise self.error

    def teardown(self, estimator, context):
        self.closed += 1


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt()])
def test_law_3_a_callback_that_raises_leaves_a_whole_model_and_is_torn_down(error):
    model = OnlineNMF(3, batch_size=20, random_state=0).fit(X)
    kept, steps, callback = model.components_.copy(), model.n_steps_, Fails(error)
    with pytest.raises(type(error)):
        model.set_callbacks(callback).fit(X)
    assert_array_equal(model.components_, kept)
    assert (model.n_steps_, callback.closed) == (steps, 1)
    with pytest.raises(type(error)):
        model.set_callbacks(Fails(error)).fit_stream(X[i : i + 20] for i in range(0, 200, 20))
    twin = OnlineNMF(3, batch_size=20, random_state=0).fit(X)
    twin.partial_fit(X[:20]).partial_fit(X[20:40])  # the third step was undone
    assert_array_equal(model.components_, twin.components_)
    assert_array_equal(model.memory_.gram, twin.memory_.gram)
    assert vars(model.clock_) == vars(twin.clock_)


def test_law_3_an_interrupt_inside_a_step_undoes_the_step(monkeypatch):
    from atomstream.updates import BlockCoordinate

    def interrupt(*args):
        raise KeyboardInterrupt

    model = OnlineNMF(3, random_state=0).fit(X)
    gram, usage = model.memory_.gram.copy(), model.state_.usage.mean.copy()
    monkeypatch.setattr(
        BlockCoordinate, "update", interrupt
    )  # after the memory has absorbed the batch
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[:20])
    assert_array_equal(model.memory_.gram, gram)
    assert_array_equal(model.state_.usage.mean, usage)


def test_atoms_handed_out_never_change():
    model = OnlineNMF(3, random_state=0).fit(X)
    held, kept = model.components_, model.components_.copy()
    model.partial_fit(X)
    assert_array_equal(held, kept)
    assert not np.allclose(model.components_, kept)


def test_rows_of_a_frame_keep_their_names():
    import pandas as pd

    met = []

    class Names(Callback):
        def on_fit_task_end(self, estimator, context):
            if context.task_name == "batch":
                met.append(estimator._progress.batch.ids)

    frame = pd.DataFrame(X[:30]).set_index(pd.Index([f"row {i}" for i in range(30)]))
    frame.columns = [f"c{i}" for i in range(10)]
    model = OnlineNMF(3, batch_size=10, n_epochs=1, random_state=0).set_callbacks(Names())
    model.fit(frame)
    assert sorted(np.concatenate(met)) == sorted(frame.index)
    met.clear()
    OnlineNMF(3, random_state=0).set_callbacks(Names()).fit_stream([X[:10], X[10:15]])
    assert_array_equal(np.concatenate(met), np.arange(15))


def test_a_tolerance_may_depend_on_the_step():
    asked = []

    def tolerance(step):
        asked.append(step)
        return 1 / np.log(step + 1) ** 2

    OnlineNMF(3, batch_size=50, n_epochs=1, coder=Auto(tol=tolerance), random_state=0).fit(X)
    assert asked == [1, 2, 3, 4]


# -- learning
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:Maximum number of iterations"
)  # of the batch method, which needs no more
def test_learning_comes_near_the_batch_factorization(room, seeds):
    rng = np.random.default_rng(1)
    noisy = data(500, 20) + 0.05 * rng.random((500, 20))
    batch = NMF(6, init="nndsvda", max_iter=5000, tol=1e-5, random_state=0).fit(noisy)
    optimum = 0.5 * batch.reconstruction_err_**2 / 500
    ours = [
        OnlineNMF(6, batch_size=100, random_state=i, n_epochs=100).fit(noisy).objective(noisy)
        for i in seeds
    ]
    room.ratio(np.median(ours) / optimum, at_most=1.35)
    exact = OnlineNMF(
        6,
        batch_size=100,
        random_state=0,
        n_epochs=1000,
        coder=Auto(tol=1e-3),
        schedule=Power(3),
    ).fit(noisy)
    room.ratio(exact.objective(noisy) / optimum, at_most=1.01)


@pytest.mark.slow
def test_stationarity_is_zero_at_critical_points_and_falls_along_the_stream(room):
    full = OnlineNMF(4, schedule=Power(1), coder=Auto(tol=1e-10), batch_size=200, random_state=0)
    early = full.partial_fit(X).stationarity(X)
    for _ in range(1500):
        full.partial_fit(X)
    clone_ = OnlineNMF.from_components(
        full.components_.copy(), coder=Auto(tol=1e-10), schedule=lambda t, n, total: 1.0
    )
    for _ in range(1500):
        clone_.partial_fit(X)
    room.error(clone_.stationarity(X), at_most=1e-3 * early)
    exact = OnlineDictionaryLearning.from_components(
        np.eye(10), alpha=0.0, codes="free", atoms="free"
    )
    assert exact.stationarity(X) < 1e-12


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", ["planted", "digits"])
def test_one_batch_that_is_all_of_the_data_comes_to_rest(kind, seed, room):
    """Rough codes would leave a seventh of the first stationarity after a hundred passes."""
    rng = np.random.default_rng(seed)
    X = load_digits().data[256 * seed :][:256]
    if kind == "planted":
        codes = rng.exponential(size=(256, 10)) * (rng.random((256, 10)) < 0.3)
        X = codes @ rng.random((10, 40)) + 0.05 * rng.random((256, 40))
    first, later = (
        OnlineNMF(8, n_epochs=n, batch_size=256, random_state=seed).fit(X).stationarity(X)
        for n in (1, 100)
    )
    room.error(later, at_most=0.05 * first)


def test_surrogate_gap_closes_on_the_stream(room):
    rng = np.random.default_rng(2)
    stream = data(6000) + 0.1 * rng.random((6000, 10))
    model = OnlineNMF(4, alpha=0.05, schedule="harmonic", coder=Auto(tol=1e-6), random_state=0)
    gaps = []
    for stop in (100, 6000):
        for start in range(model.n_samples_seen_ if gaps else 0, stop, 50):
            model.partial_fit(stream[start : start + 50])
        gaps.append(model.surrogate_gap(stream[:stop]))
    assert gaps[1] > 0
    room.error(gaps[1], at_most=gaps[0])


@pytest.mark.parametrize("init", ["samples", "spread", "random"])
@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_more_atoms_than_rows_is_fine(cls, init, convert):
    model = cls(n_components=30, init=init, random_state=0).partial_fit(convert(X[:7]))
    assert model.components_.shape == (30, 10)
    assert np.isfinite(model.components_).all()
    assert model.components_.any(axis=1).all()
    assert model.transform(X).shape == (200, 30)


@pytest.mark.parametrize("cls", BOTH)
def test_batches_of_one_row_and_rows_of_zeros(cls):
    model = cls(n_components=3, random_state=0)
    for row in [np.zeros(10), *X[:60], np.zeros(10)]:
        model.partial_fit(row[None])
    assert model.n_steps_ == 62
    assert np.isfinite(model.components_).all()
    assert_array_equal(model.transform(np.zeros((1, 10))), 0)


def test_more_atoms_than_rows_or_columns_are_warned_of():
    few = X[:30, :4]
    for n_atoms, settings, words in (
        (40, {"alpha": 1.0}, "any data of 30 rows, and so say little about these; choose fewer"),
        (5, {}, "of 4 columns, .* choose fewer, or alpha > 0 for sparse codes"),
    ):
        with pytest.warns(DataWarning, match=f"n_components={n_atoms} atoms explain .*{words}"):
            OnlineNMF(n_atoms, n_epochs=1, **settings).fit(few)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        OnlineNMF(5, alpha=0.1, n_epochs=1).fit(few)
        OnlineNMF(5, codes="simplex", n_epochs=1).fit(few)
        OnlineNMF(40, n_epochs=1).partial_fit(few)


def test_passes_and_rounds_are_counted(tmp_path):
    model = OnlineNMF(3, n_epochs=4, random_state=0).fit(X)
    assert model.n_iter_ == 4
    assert OnlineNMF(3, random_state=0).fit(X).n_iter_ > 10  # rounds follow ten passes
    atomstream.save(model, tmp_path / "model.atoms")
    assert atomstream.load(tmp_path / "model.atoms").n_iter_ == 4
    assert OnlineNMF(3).partial_fit(X).n_iter_ == 0
    assert OnlineNMF(3).partial_fit(X, entry_weight=X + 1).n_iter_ == 0


def test_one_huge_row_does_not_blind_the_start():
    rows = X[:50].copy()
    rows[7] *= 1e11
    model = OnlineNMF(20, n_epochs=1, max_time=0, random_state=0).fit(rows)
    assert np.linalg.matrix_rank(np.unique(model.components_.round(6), axis=0)) >= 4
    start = OnlineNMF(20, random_state=0)
    start._begin()
    from atomstream.problem.batch import Batch

    start._start(start._starting_dictionary(Batch(rows)))
    assert len(np.unique(start.components_.round(9), axis=0)) == 20


def test_weights_far_from_one_are_only_a_scale():
    single = X.astype(np.float32)
    plain = OnlineNMF(3, random_state=0).fit(single)
    for scale in (1e-50, 1e40):
        scaled = OnlineNMF(3, random_state=0).fit(single, sample_weight=np.full(200, scale))
        assert_allclose(scaled.components_, plain.components_, rtol=1e-3, atol=1e-5)


def test_fixed_atoms_outside_the_set_do_not_count_in_surrogate_and_stationarity():
    atoms = 3 * np.random.default_rng(0).random((4, 10))
    model = OnlineNMF(4, init=atoms, fixed_components=4, random_state=0).fit(X)
    assert np.isfinite(model.surrogate())
    assert model.stationarity(X) == 0


def test_the_start_sees_the_first_batch_as_a_weighted_set():
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, 40)
    order = rng.permutation(int(weights.sum()))
    for init in ("samples", "spread"):
        one = OnlineNMF(5, init=init, random_state=3).partial_fit(X[:40], sample_weight=weights)
        other = OnlineNMF(5, init=init, random_state=3).partial_fit(
            np.repeat(X[:40], weights, axis=0)[order]
        )
        assert_allclose(one.components_, other.components_, rtol=1e-9)


def test_known_atoms_code_at_once_and_can_go_on_learning():
    atoms = np.random.default_rng(0).random((4, 10)) * 3  # outside the ball
    model = OnlineNMF.from_components(atoms, alpha=0.1, random_state=0)
    assert_array_equal(model.components_, atoms)
    assert (model.n_steps_, model.n_samples_seen_, model.n_features_in_) == (0, 0, 10)
    assert_array_equal(model.importance_, 0)
    assert model.transform(X).shape == (200, 4)
    model.partial_fit(X)
    used = np.diag(model.memory_.gram) > 0
    assert (np.linalg.norm(model.components_[used], axis=1) <= 1 + 1e-12).all()
    assert_array_equal(atoms, model.init)
    assert clone(model).fit(X).components_.shape == (4, 10)


def test_fixed_components_stay():
    atoms = np.random.default_rng(0).random((4, 10))
    model = OnlineNMF(4, init=atoms, fixed_components=2, random_state=0).fit(X)
    assert_array_equal(model.components_[:2], atoms[:2])
    assert not np.allclose(model.components_[2:], atoms[2:])


def test_same_seed_same_result_and_input_untouched():
    kept = X.copy()
    one, two = (OnlineNMF(4, batch_size=30, random_state=7).fit(X) for _ in range(2))
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(X, kept)
    for state in (np.random.RandomState(0), np.random.default_rng(0), None):
        assert OnlineNMF(4, n_epochs=2, random_state=state).fit(X).components_.shape == (4, 10)


def test_changed_parameters_take_effect_at_the_next_step():
    model = OnlineNMF(4, random_state=0).fit(X)
    model.set_params(schedule=Harmonic(), alpha=0.5).partial_fit(X[:50])
    assert model.clock_.schedule == Harmonic()
    assert model.algorithm_.objective.codes.l1 == 0.5
    with pytest.raises(ValueError, match="'alpha' parameter"):
        model.set_params(alpha=-3).partial_fit(X[:50])


def test_max_time_ends_learning_after_a_step():
    assert OnlineNMF(4, batch_size=10, max_time=0, random_state=0).fit(X).n_steps_ == 1


def test_figures_of_a_model_agree_with_each_other():
    weights = np.random.default_rng(0).random(200)
    model = OnlineNMF(3, alpha=0.1, ridge=0.05, random_state=0).fit(X)
    codes = model.transform(X)
    losses = 0.5 * ((X - model.inverse_transform(codes)) ** 2).sum(axis=1)
    penalties = 0.1 * codes.sum(axis=1) + 0.025 * (codes**2).sum(axis=1)
    assert model.score(X) == pytest.approx(-losses.mean())
    assert model.score(X, sample_weight=weights) == pytest.approx(
        -np.average(losses, weights=weights)
    )
    assert model.objective(X) == pytest.approx((losses + penalties).mean())
    sample = model.inspect_sample(X[0])
    assert sample.loss == pytest.approx(losses[0])
    assert_allclose(sample.reconstruction, model.inverse_transform(codes[:1])[0], atol=1e-7)
    assert sample.residual <= 1e-9
    assert (np.diff(np.abs(sample.code[sample.atoms])) <= 0).all()
    assert_allclose(np.vstack(list(model.transform_stream([X[:70], X[70:]]))), codes, atol=1e-10)


def test_codes_that_do_not_converge_are_told():
    coder = ProjectedGradient(max_iter=2)
    model = OnlineNMF(8, coder=coder, n_epochs=10, random_state=0).fit(X)
    with pytest.warns(NotConvergedWarning, match="codes stopped at a residual of up to"):
        model.transform(X)


def test_sparse_codes_are_decoded():
    model = OnlineNMF(3, random_state=0).fit(X)
    codes = model.transform(X)
    assert_allclose(model.inverse_transform(sp.csr_array(codes)), model.inverse_transform(codes))


def test_inverse_transform_needs_codes_of_the_model():
    with pytest.raises(
        ValueError,
        match=r"codes must be of shape \(n_samples, 3\), got \(2, 4\); give what transform",
    ):
        OnlineNMF(3).fit(X).inverse_transform(np.ones((2, 4)))


CODES = ["free", "nonnegative", "box", "simplex", "unit_ball", "nonnegative_ball"]
ATOMS = ["free", "nonnegative", "unit_ball", "nonnegative_ball", "simplex", Box(-1, 1), Free(0.001)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("codes", "atoms"),
    [
        # each set once; all pairs among the long tests
        pytest.param(codes, atoms, marks=[pytest.mark.long] if i % len(CODES) != j else [])
        for i, atoms in enumerate(ATOMS)
        for j, codes in enumerate(CODES)
    ],
)
def test_every_set_serves_for_codes_and_for_atoms(codes, atoms, room):
    # so that a code and an atom of length one can reach it
    short = X[:100] / np.linalg.norm(X, axis=1).max()
    settings = {
        "alpha": 0.001,
        "coder": Auto(tol=0.01),
        "batch_size": 25,
        "n_epochs": 4,
        "random_state": 0,
    }
    model = OnlineDictionaryLearning(5, codes=codes, atoms=atoms, **settings)

    def total(model):
        return (
            model.objective(short) + model.algorithm_.objective.atoms.value(model.components_).sum()
        )

    start = total(model.set_params(max_time=0).fit(short))
    room.fall(total(model.set_params(max_time=None).fit(short)), start, at_least=0.005)
    assert np.isfinite(model.algorithm_.objective.atoms.value(model.components_)).all()


# -- callbacks
# --------------------------------------------------------------------------------------------------


def test_history_and_bar_watch_a_fit_and_a_stream():
    history, screen = History(), io.StringIO()
    bar = LearningBar(console=Console(file=screen, force_terminal=True, width=160))
    model = (
        OnlineNMF(4, batch_size=20, n_epochs=2, random_state=0).set_callbacks(history, bar).fit(X)
    )
    assert history.n_samples == list(range(20, 401, 20))
    assert history.objective[-1] == model.batch_objective_ < history.objective[0]
    assert "samples/s" in screen.getvalue()
    assert "20/20" in screen.getvalue()
    model.fit_stream([X[:50], X[50:]], n_batches=2)
    assert history.n_samples == [450, 600]


@pytest.mark.parametrize(
    ("model", "shape"),
    [(OnlineNMF(2, random_state=0), (20, 6)), *of_fields("endless").values()],
    ids=lambda value: "",
)
def test_of_a_stream_without_end_as_many_batches_are_taken_as_asked_for(model, shape):
    taken = []

    def endless():
        for seed in range(100):
            taken.append(seed)
            yield np.random.default_rng(seed).random(shape)

    model = clone(model).fit_stream(endless(), n_batches=3)
    assert taken == [0, 1, 2]
    assert model.n_steps_ == 3
    if isinstance(model, OnlineNMF):
        assert model.settle_stream(endless(), n_batches=4).settling_.mass == 80
        assert taken == [0, 1, 2, 0, 1, 2, 3]


def test_the_bar_knows_how_many_batches_a_list_has():
    screen = io.StringIO()
    bar = LearningBar(console=Console(file=screen, force_terminal=True, width=160))
    model = OnlineNMF(4, random_state=0).set_callbacks(bar)
    model.fit_stream([X[:50], X[50:], X[:50]])
    assert "3/3" in screen.getvalue()
    model.fit_stream(rows for rows in (X[:50], X[50:]))
    assert "2/?" in screen.getvalue()


@pytest.mark.parametrize("width", [80, 100])
def test_the_bar_shows_all_its_figures_in_a_narrow_terminal(width):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width, color_system=None)
    bar = LearningBar(console=console, text="pass 25 of 25", unit="documents")
    context = SimpleNamespace(max_subtasks=12345, task_name="batch")
    learner = SimpleNamespace(batch_objective_=1.2345e-05, n_samples_seen_=1)
    bar.setup(learner, context)
    bar._bar.update(bar._task, completed=6000)
    for n_seen in (0, 123456, 123456):
        learner.n_samples_seen_ = n_seen
        bar.on_fit_task_end(learner, context)
        bar._start -= 1  # a rate of at most six digits
    bar.teardown(learner, context)
    last = [
        line
        for line in re.split(r"\x1b\[[^A-Za-z]*[A-Za-z]|[\r\n]", screen.getvalue())
        if "/s" in line
    ][-1]
    assert len(last) <= width
    figures = r"pass 25 of 25 +━+╸? *6003/12345 [\d,]+ documents/s  objective 1.234e-05 \S+"
    assert re.fullmatch(figures, last.rstrip()), last


def test_history_does_not_grow_with_the_stream():
    history = History(max_points=50)
    OnlineNMF(3, random_state=0).set_callbacks(history).fit_stream(
        X[i % 190 : i % 190 + 5] for i in range(400)
    )
    assert len(history.n_samples) <= 51
    assert history.n_samples == sorted(history.n_samples)


class Stop(History):
    """Stops after three batches."""

    def on_fit_task_end(self, estimator, context):
        super().on_fit_task_end(estimator, context)
        return len(self.n_samples) == 3


def test_a_callback_can_stop_learning():
    model = OnlineNMF(3, batch_size=20, random_state=0).set_callbacks(Stop()).fit(X)
    assert model.n_steps_ == 3
    endless = OnlineNMF(3, random_state=0).set_callbacks(Stop())
    endless.fit_stream(X[:30] for _ in iter(int, 1))
    assert endless.n_steps_ == 3


def test_callbacks_of_scikit_learn_work():
    callback = pytest.importorskip(
        "sklearn.callback", reason="scikit-learn before 1.9 has no callbacks"
    )
    monitor = callback.ScoringMonitor(scoring=lambda model, X, y: {"score": model.score(X)})
    model = OnlineNMF(3, batch_size=50, n_epochs=2, random_state=0)
    model.set_callbacks(monitor, callback.ProgressBar()).fit(X)
    log = [entry for entry in monitor.get_logs().data if "score" in entry]
    assert len(log) == 8
    assert log[-1]["score"] > log[0]["score"]


class Plain(plain_callbacks.CallbackSupportMixin):
    """A stand-in for an estimator on an old release of scikit-learn."""

    @plain_callbacks.with_callbacks
    def fit(self, fail=False):
        context = self._init_callback_context(max_subtasks=3)
        context.call_on_fit_task_begin(estimator=self)
        for i in range(3):
            task = context.subcontext(task_name="batch")
            self.n_steps_, self.n_samples_seen_, self.batch_objective_ = (
                i + 1,
                10 * i + 10,
                1.0 / (i + 1),
            )
            if task.call_on_fit_task_end(
                estimator=self, X=None, y=None, reconstruction_attributes=dict
            ):
                break
            if fail:
                raise RuntimeError("no")
        context.call_on_fit_task_end(estimator=self)
        return self


def test_the_plain_fallback_calls_the_same_hooks():
    history = History()
    Plain().set_callbacks(history).fit()
    assert history.n_samples == [10, 20, 30]
    closed = []

    class Closing(History):
        def teardown(self, estimator, context):
            closed.append(context.task_name)

    with pytest.raises(RuntimeError):
        Plain().set_callbacks(Closing()).fit(fail=True)
    assert closed == ["fit"]


@pytest.mark.filterwarnings(
    "ignore:.*codes stopped at a residual"
)  # atoms that nearly repeat each other
@pytest.mark.parametrize(("n_features", "n_components"), [(3, 20), (4, 30), (9, 100)])
def test_many_more_atoms_than_features_stay_finite(n_features, n_components, room):
    # Most atoms are of no use; what rounding leaves of them must not be scaled up again and again.
    rng = np.random.default_rng(0)
    model = OnlineNMF(n_components, random_state=0)
    for batch in range(60):
        X = np.exp(rng.normal(-4, 2, (200, n_features))) * (rng.random((200, n_features)) < 0.3)
        X[:, -1] *= batch % 3 == 0
        model.partial_fit(X)
        assert np.isfinite(model.components_).all()
        assert np.isfinite(model.surrogate())
    room.error(model.objective(X), at_most=1e-6 * (X**2).sum() / len(X))


def test_few_calls_lie_between_a_step_and_the_loop():
    model, names = OnlineNMF(4, random_state=0).partial_fit(X).partial_fit(X), []

    def profile(frame, event, _):
        if event == "call":
            names.append(frame.f_code.co_name)

    with threads(1):  # or the number of BLAS libraries counts, too
        sys.setprofile(profile)
        try:
            model.partial_fit(X)
        finally:
            sys.setprofile(None)
    assert names.index("learn") < 60
    assert "_make_algorithm" not in names


def test_the_method_is_assembled_anew_when_a_parameter_changes_and_only_then():
    model = OnlineNMF(4, random_state=0).partial_fit(X)
    algorithm = model.algorithm_
    assert model.partial_fit(X).algorithm_ is algorithm
    assert model.set_params(alpha=0.1).algorithm_.objective.codes.l1 == 0.1
    model.partial_fit(X)
    assert model.algorithm_.objective.codes.l1 == 0.1
    assert model.algorithm_ is not algorithm
    twin = copy.copy(model)
    assert twin.algorithm_ == model.algorithm_


def test_blas_gets_its_threads_back_after_the_last_holder_has_left():
    from threadpoolctl import threadpool_info, threadpool_limits

    def numbers():
        return {part["num_threads"] for part in threadpool_info() if part["user_api"] == "blas"}

    one_blas_thread = type(machine.one_blas_thread)()  # one that no test has interrupted
    with threadpool_limits(2, user_api="blas"):
        before = numbers()
        with one_blas_thread:
            with one_blas_thread:
                assert numbers() == {1}
            assert numbers() == {1}
        assert numbers() == before
