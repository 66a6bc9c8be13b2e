"""Windows, atoms and ridge of a forecaster, chosen by rolling validation."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import SeriesDictionary, choose_forecaster

GRID = {"windows": (4, 8), "atoms": (3, 6), "ridges": (0.02, 0.5), "heads": ()}


def season(n=120, seed=0):
    t, rng = np.arange(n)[:, None], np.random.default_rng(seed)
    return 3 + np.sin(2 * np.pi * t / 7 + np.arange(2)) + 0.1 * rng.standard_normal((n, 2))


def rolled(model, Y, n_origins, horizon):
    """Return the errors of every step, by a plain loop."""
    first = len(Y) - n_origins - horizon + 1
    errors = []
    model.fit(Y[:first])
    for origin in range(first, first + n_origins):
        errors.append(model.predict(horizon) - Y[origin : origin + horizon])
        model.partial_fit(Y[origin : origin + 1])
    return np.sqrt(np.mean(np.square(errors), axis=(0, 2)))


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_every_setting_is_judged_from_the_same_origins():
    Y = season()
    choice = choose_forecaster(Y, **GRID, horizon=3, n_origins=15, random_state=0)
    assert len(choice.tried) == len(choice.errors) == 8
    assert choice.errors.shape == (8, 3)
    for settings, errors in zip(choice.tried[::3], choice.errors[::3], strict=True):
        model = SeriesDictionary(**settings, random_state=choice.seed)
        assert_allclose(rolled(model, Y, 15, 3), errors)
    first = len(Y) - 17
    for step in range(3):
        origins = np.arange(first, first + 15)
        last = Y[origins - 1] - Y[origins + step]
        assert choice.persistence[step] == pytest.approx(np.sqrt(np.mean(last**2)))
        weeks = Y[origins - choice.season + step] - Y[origins + step]
        assert choice.seasonal[step] == pytest.approx(np.sqrt(np.mean(weeks**2)))
    assert choice.season % 7 == 0


def test_the_best_learns_from_all_rows(room):
    Y = season() * np.exp(np.arange(120)[:, None] / 100)
    choice = choose_forecaster(pd.DataFrame(Y, columns=["a", "b"]), **GRID, random_state=0)
    best = choice.errors.mean(axis=1).argmin()
    assert choice.settings == choice.tried[best]
    room.error(choice.errors[best].max(), at_most=0.39 * choice.persistence.max())
    assert choice.model.n_rows_ == len(Y)
    assert list(choice.model.predict().columns) == ["a", "b"]
    twin = SeriesDictionary(**choice.settings, random_state=choice.seed).fit(Y)
    assert_array_equal(choice.model.components_, twin.components_)
    table = choice.table
    assert [row["error"] for row in table] == sorted(row["error"] for row in table)
    assert {"n_components", "window", "ridge", "head", "error", "over_persistence"} == set(table[0])


def test_other_settings_are_those_of_the_model_and_gaps_are_left_out():
    Y = season()
    Y[60:64, 0] = Y[-5, 1] = np.nan
    model = SeriesDictionary(memory=20, random_state=3)
    choice = choose_forecaster(Y, windows=[6], atoms=[4], ridges=[0.1], heads=[], model=model)
    assert choice.model.memory == 20
    assert np.isfinite(choice.errors).all()
    assert not hasattr(model, "learner_")


def test_what_cannot_be_judged_is_refused():
    Y = season(40)
    with pytest.raises(ValueError, match=r"Y has 40 rows.* needed are at least 24 before"):
        choose_forecaster(Y, windows=[24], n_origins=20)
    with pytest.raises(ValueError, match="windows must hold"):
        choose_forecaster(Y, windows=[])
    with pytest.raises(ValueError, match="horizon must be a whole number of at least 1"):
        choose_forecaster(Y, horizon=0)
    with pytest.raises(ValueError, match=r"'ridge' .* must be a number"):
        choose_forecaster(Y, windows=[4], ridges=[-1.0])


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_heads_are_judged_as_models_with_them_are():
    Y = season()
    heads = ("mix", "ridge", "smoothing", "persistence", "seasonal", "mean")
    choice = choose_forecaster(
        Y, windows=[6], atoms=[4], season=7, horizon=3, n_origins=10, random_state=0
    )
    assert [each["head"] for each in choice.tried] == [None, *heads]
    for settings, errors in zip(choice.tried, choice.errors, strict=True):
        model = SeriesDictionary(**settings, season=7, random_state=choice.seed)
        assert_allclose(rolled(model, Y, 10, 3), errors, rtol=1e-6)
    assert choice.settings == choice.tried[choice.errors.mean(axis=1).argmin()]
    assert choice.model.head == choice.settings["head"] is not None


def test_without_a_season_no_seasonal_head_is_tried():
    choice = choose_forecaster(season(), windows=[4], atoms=[3], n_origins=3, random_state=0)
    assert "seasonal" not in [each["head"] for each in choice.tried]
    assert len(choice.tried) == 6


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_a_random_walk_is_left_to_persistence_or_as_good(room):
    Y = np.cumsum(np.random.default_rng(4).standard_normal((200, 1)), axis=0)
    choice = choose_forecaster(Y, windows=[4], atoms=[3], n_origins=40, random_state=0)
    best = choice.tried.index(choice.settings)
    room.ratio(choice.errors[best].mean() / choice.persistence.mean(), at_most=1.1)
