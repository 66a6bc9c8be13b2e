"""Missing entries: codes from what was observed, sums from what was completed."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.coders import ActiveSet, Auto, ProjectedGradient
from atomstream.dictionaries import Rows
from atomstream.exceptions import DataWarning
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy

MODELS = {
    "nmf": (OnlineNMF, {}),
    "signed": (OnlineDictionaryLearning, {}),
    "box": (OnlineDictionaryLearning, {"codes": "box", "atoms": "nonnegative"}),
    "simplex": (OnlineDictionaryLearning, {"codes": "simplex", "atoms": "free"}),
    # the ridge keeps projected gradients, which alone serve the ball, from thousands of steps
    "ball": (
        OnlineDictionaryLearning,
        {"codes": "unit_ball", "atoms": "free", "alpha": 0.0, "ridge": 1.0, "n_epochs": 1},
    ),
}


def make(name, **settings):
    cls, extra = MODELS[name]
    return cls(
        **{
            "n_components": 5,
            "alpha": 0.05,
            "batch_size": 20,
            "n_epochs": 3,
            "random_state": 0,
            "missing": True,
            **extra,
            **settings,
        }
    )


def data(n=60, d=12, seed=0, share=0.25):
    rng = np.random.default_rng(seed)
    codes = rng.exponential(size=(n, 5)) * (rng.random((n, 5)) < 0.5)
    X = codes @ rng.random((5, d)) + 0.01 * rng.random((n, d))
    X[rng.random(X.shape) < share] = np.nan
    return X


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


@pytest.mark.cover(2)
@pytest.mark.slow
def test_codes_are_those_of_the_observed_columns(name):
    X = data()
    model = make(name).fit(X)
    codes, algorithm = model.transform(X), model.algorithm_
    for row in range(0, 60, 7):
        seen = ~np.isnan(X[row])
        part = Rows(model.components_[:, seen])
        alone = algorithm.coder.encode(
            Batch(X[row : row + 1, seen]), part, algorithm.objective, Accuracy(gap=1e-11)
        )
        shown = X[row : row + 1, seen]
        best = algorithm.objective.values(Batch(shown), alone.values, part)[0]
        ours = algorithm.objective.values(Batch(shown), codes[row : row + 1], part)[0]
        assert ours <= best + 1e-8 * max(best, 1e-3 * np.square(shown).sum())


@pytest.mark.cover(2)
@pytest.mark.slow
def test_law_2_completion_never_raises_the_surrogate(name):
    rng = np.random.default_rng(1)
    model = make(name)
    for _ in range(20):
        X = data(40, seed=int(rng.integers(1000)))
        if hasattr(model, "state_"):
            algorithm, state, clock = model.algorithm_, model.state_.snapshot(), model.clock_
            batch = model._batch(X)
            codes = algorithm.coder.encode(
                batch, state.dictionary, algorithm.objective, clock.tolerance
            )
            delta = algorithm.statistics.measure(
                batch, codes, state.dictionary, algorithm.objective
            )
            # The sums of completed rows, at the dictionary they were completed with: the observed
            # objective.
            seen = algorithm.objective.values(batch, codes.values, state.dictionary)
            assert_allclose(delta.objective, seen.sum(), rtol=1e-8, atol=1e-10)
            state.memory.absorb(delta, 0.3)
            before = algorithm.updater.value(state, algorithm.objective)
            algorithm.updater.update(state, algorithm.objective, clock, rng)
            assert algorithm.updater.value(state, algorithm.objective) <= before + 1e-12 * abs(
                before
            )
        model.partial_fit(X)


def test_the_completed_sums_bound_the_observed_objective_from_above():
    X, model = data(), make("nmf").fit(data())
    batch, algorithm, rng = model._batch(X), model.algorithm_, np.random.default_rng(0)
    codes = algorithm.coder.encode(
        batch, model.state_.dictionary, algorithm.objective, Accuracy(gap=1e-9)
    )
    delta = algorithm.statistics.measure(batch, codes, model.state_.dictionary, algorithm.objective)
    memory = algorithm.statistics.start(*model.components_.shape, algorithm.objective.loss)
    memory.absorb(delta, 1.0)
    for _ in range(20):
        other = Rows(np.abs(model.components_ + 0.1 * rng.standard_normal(model.components_.shape)))
        assert (
            memory.value(other)
            >= algorithm.objective.values(batch, codes.values, other).mean() - 1e-12
        )


@pytest.mark.cover(3)
@pytest.mark.slow
def test_law_6_values_behind_a_mask_do_not_matter_and_an_all_true_mask_is_none(name):
    X = data()
    mask, rng = ~np.isnan(X), np.random.default_rng(2)
    model = make(name).fit(X)
    algorithm, dictionary, accuracy = model.algorithm_, model.state_.dictionary, Accuracy(gap=1e-9)

    def run(batch):
        codes = algorithm.coder.encode(batch, dictionary, algorithm.objective, accuracy)
        return codes.values, algorithm.statistics.measure(
            batch, codes, dictionary, algorithm.objective
        ).cross

    hidden = [np.where(mask, X, behind) for behind in (0.0, 1e6, np.nan, rng.random(X.shape))]
    first, *others = [run(Batch(shown, mask=mask)) for shown in hidden]
    for other in others:
        assert_array_equal(first[0], other[0])
        assert_array_equal(first[1], other[1])
    full = np.nan_to_num(X)
    for masked, plain in zip(
        run(Batch(full, mask=np.ones_like(mask))), run(Batch(full)), strict=True
    ):
        assert_array_equal(masked, plain)
    assert_array_equal(
        make(name).fit(full).components_, make(name, missing=False).fit(full).components_
    )


@pytest.mark.cover(3)
@pytest.mark.slow
def test_impute_fills_and_leaves_observed_entries_as_they_are(name):
    X = data()
    model = make(name).fit(X)
    seen, before = ~np.isnan(X), X.copy()
    full = model.impute(X)
    assert_array_equal(full[seen], X[seen])
    assert_array_equal(full[~seen], model.inverse_transform(model.transform(X))[~seen])
    assert_array_equal(X, before)


@pytest.mark.slow
def test_missing_entries_are_recovered_from_data_of_low_rank(room):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(400, 3)) @ rng.random((3, 20))
    holes = X.copy()
    holes[rng.random(X.shape) < 0.3] = np.nan
    model = OnlineNMF(
        3, missing=True, batch_size=50, n_epochs=200, coder=Auto(tol=1e-3), random_state=0
    ).fit(holes)
    hidden = np.isnan(holes)
    error = np.linalg.norm((model.impute(holes) - X)[hidden]) / np.linalg.norm(X[hidden])
    room.error(error, at_most=0.01)


@pytest.mark.cover(3)
@pytest.mark.slow
def test_rows_without_any_entry_are_coded_to_zero_and_weigh_nothing(name):
    X = data()
    empty = np.full((15, 12), np.nan)
    rng = np.random.default_rng(3)
    places = np.sort(rng.choice(len(X), 15))
    mixed = np.insert(X, places, empty, axis=0)
    one, other = make(name), make(name)
    for start in range(0, 60, 20):
        one.partial_fit(X[start : start + 20])
        other.partial_fit(np.insert(X[start : start + 20], [3, 17], empty[:2], axis=0))
    assert one.clock_.mass == other.clock_.mass == 60
    assert_allclose(one.components_, other.components_, atol=1e-9)
    codes = one.transform(mixed)[np.isnan(mixed).all(axis=1)]
    assert_array_equal(
        codes,
        np.broadcast_to(one.algorithm_.objective.codes.prox(np.zeros((1, 5)), 0.0), codes.shape),
    )
    steps = one.n_steps_
    assert one.partial_fit(empty).n_steps_ == steps
    assert one.score(mixed) == pytest.approx(one.score(X), rel=1e-9)


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.usefixtures("any_work")
def test_law_5_a_code_does_not_depend_on_its_companions_when_entries_are_missing(name):
    X = data()
    model = make(name).fit(X)
    codes = model.transform(X)
    assert_allclose(np.concatenate([model.transform(row[None]) for row in X]), codes, atol=1e-10)
    assert_array_equal(make(name, n_jobs=2).fit(X).components_, model.components_)


def test_float32_and_sparse_and_frames_may_have_holes():
    import pandas as pd
    import polars as pl

    X = data()
    model = make("nmf").fit(X)
    small = OnlineNMF.from_components(
        model.components_.astype(np.float32), alpha=0.05, missing=True
    )
    assert small.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(small.score(X.astype(np.float32)), model.score(X), rtol=1e-4)
    assert make("nmf").fit(X.astype(np.float32)).components_.dtype == np.float32
    for twin in (sp.csr_array(X), sp.csc_matrix(X), pd.DataFrame(X), pl.DataFrame(X)):
        fitted = make("nmf").fit(twin)
        assert_allclose(fitted.components_, model.components_, atol=1e-8)
        assert_allclose(fitted.transform(twin), model.transform(X), atol=1e-7)


def test_missing_entries_are_refused_unless_asked_for_and_infinity_always():
    X = data()
    with pytest.raises(ValueError, match=r"contains NaN .*missing=True"):
        OnlineNMF().fit(X)
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match=r"contains infinity .first in row 3"):
        make("nmf").fit(X)
    with pytest.raises(ValueError, match=r"'missing' .* must be True or False. Got 'yes'"):
        make("nmf", missing="yes").fit(data())
    with pytest.raises(ValueError, match="Negative values"):
        make("nmf").fit(-data())


@pytest.mark.slow
def test_both_coders_agree_where_entries_are_missing():
    X = data()
    model = make("nmf", alpha=0.01).fit(X)
    codes = [
        coder.encode(
            model._batch(X),
            model.state_.dictionary,
            model.algorithm_.objective,
            Accuracy(gap=1e-12),
        ).values
        for coder in (ActiveSet(), ProjectedGradient(max_iter=100_000))
    ]
    objective, batch = model.algorithm_.objective, model._batch(X)
    values = [objective.values(batch, code, model.state_.dictionary) for code in codes]
    assert_allclose(values[0], values[1], rtol=1e-8, atol=1e-10)


def holed(share):
    """Data of size 1 with noise, of rank five, of which a share is missing; and the clean data."""
    rng = np.random.default_rng(0)
    clean = rng.random((150, 5)) @ rng.random((5, 30)) * 0.4
    noisy = np.maximum(clean + 0.05 * rng.standard_normal(clean.shape), 0)
    return np.where(rng.random(clean.shape) < share, np.nan, noisy), clean


def test_rows_filled_in_far_beyond_what_was_observed_are_told():
    X, clean = holed(0.9)
    settings = {"missing": True, "n_epochs": 3, "batch_size": 50, "random_state": 0}
    far = r"of 150 rows unseen entries are reconstructed as up to .*; learn with ridge='auto'"
    with pytest.warns(DataWarning, match=far) as told:
        model = OnlineNMF(5, ridge=0.0, **settings).fit(X)
    assert len(told) == 1
    with pytest.warns(DataWarning, match=far) as told:
        wild = model.impute(X)
    assert len(told) == 1
    held = OnlineNMF(5, **settings).fit(X).impute(X)
    hidden = np.isnan(X)
    errors = [np.abs(filled - clean)[hidden].mean() for filled in (wild, held)]
    assert errors[0] > 1
    assert errors[1] < 0.2


def test_rows_of_which_enough_was_observed_are_filled_in_without_a_word():
    X, clean = holed(0.3)
    model = OnlineNMF(5, missing=True, n_epochs=3, batch_size=50, random_state=0).fit(X)
    assert np.abs(model.impute(X) - clean)[np.isnan(X)].mean() < 0.06
    one = np.where(np.arange(30) < 20, X[:1], np.nan)  # of ten features nothing is known here
    model.impute(one)


def test_rows_that_determine_nothing_are_said_so():
    X = data(share=0.0)
    X[:3, 2:] = np.nan
    few = "3 of 60 rows have fewer observed entries than the 5 atoms"
    with pytest.warns(DataWarning, match=few):
        model = make("nmf", alpha=0.0, ridge=0.0).fit(X)
    with pytest.warns(DataWarning, match=few):
        model.impute(X)
    sentence = "5 atoms: nothing determines their codes; learn with ridge='auto'"
    with pytest.warns(DataWarning, match=sentence) as told:
        model.transform(X)
    assert [each.filename for each in told] == [__file__]  # where the user called
    model.transform(X[3:])
    weights = np.full(X[3:].shape, 0.01)  # that are low are observed all the same
    weights[:, 0] = 1
    model.transform(X[3:], entry_weight=weights)
    for held in ({"alpha": 0.1}, {"ridge": 0.01}, {"codes": "box"}):
        kept = make("nmf", **{"alpha": 0.0, **held}).fit(X)
        kept.impute(X)
        kept.transform(X)


def test_an_atom_made_anew_takes_nothing_from_entries_that_are_missing():
    rng = np.random.default_rng(0)
    X = rng.random((60, 6))
    X[:, 4:] = np.nan
    X[0, 4:] = 1.0
    model = make("nmf", n_components=4, alpha=0.0).fit(np.where(np.isnan(X), 0.5, X))
    batch, state = model._batch(X[1:]), model.state_
    codes = model.algorithm_.coder.encode(
        batch, state.dictionary, model.algorithm_.objective, Accuracy(gap=1e-9)
    )
    codes.values[:] = 0.5  # a reconstruction too large where nothing was observed
    state.usage.idle = np.full(4, 1e9)
    assert model.algorithm_.reseed(batch, codes, state, rng) == 4
    assert_array_equal(model.components_[:, 4:], 0)


def test_callbacks_see_what_is_missing():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    from atomstream.watch.callbacks import History

    seen = []

    class Watcher(History):
        def on_fit_task_end(self, estimator, context, *, X):
            if context.task_name == "batch":
                seen.append(np.isnan(X).sum())

    X = data(40)
    make("nmf", batch_size=40, n_epochs=1).set_callbacks(Watcher()).fit(X)
    assert seen == [np.isnan(X).sum()]
