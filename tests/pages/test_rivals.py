"""The simple rivals of benchmarks and experiments do what their names say on data that they fit."""

import os
from importlib import import_module
from unittest import mock

import numpy as np
import pages  # noqa: F401 - puts the folders of scripts on the path
import pytest
from sklearn.linear_model import Ridge


def script(name):
    """Return a script as a module; scripts set the number of threads."""
    with mock.patch.dict(os.environ):
        return import_module(name)


def weeks(n_days):
    """Return a car park whose days of the week have a course each, (1, 1, hours)."""
    return np.random.default_rng(0).random((7, 18))[np.arange(n_days) % 7].reshape(1, 1, -1)


def test_means_of_the_day_of_the_week_repeat_weeks():
    X = weeks(35)
    left = X.copy()
    left.reshape(35, 18)[[3, 11, 34]] = np.nan
    np.testing.assert_allclose(script("traffic").weekday_means(left, "Birmingham"), X)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_a_day_of_the_week_that_is_never_known_takes_the_mean_of_the_time():
    X = weeks(21)
    X.reshape(21, 18)[2::7] = np.nan
    filled = script("traffic").weekday_means(X, "Birmingham").reshape(21, 18)
    np.testing.assert_allclose(filled[2], np.nanmean(X.reshape(21, 18), axis=0))


@pytest.mark.parametrize("along", [True, False])
def test_interpolation_follows_a_line_along_hours_or_days(along):
    days, hours = np.mgrid[:9, :18]
    X = np.where(along, hours, 3.0 * days + hours**2).astype(float)
    left = X.copy()
    left[4, 3:9] = left[6, 2] = np.nan
    traffic = script("traffic")
    made = traffic.interpolated(left.reshape(1, 1, -1), "Birmingham", along=along)
    np.testing.assert_allclose(made.reshape(X.shape), X)


def test_alternating_regressions_find_a_table_of_their_rank(room):
    rng = np.random.default_rng(0)
    X = rng.random((60, 3)) @ rng.random((3, 20))
    hidden = rng.random(X.shape) < 0.3
    made = script("traffic").alternated(np.where(hidden, np.nan, X), 3, 1e-6, 300)
    room.error(np.abs(made - X)[hidden].max(), at_most=0.01)


def test_a_regression_over_known_entries_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    rows, factors, known = rng.random((5, 12)), rng.random((12, 3)), rng.random((5, 12)) < 0.7
    found = script("traffic").regressed(np.where(known, rows, 0), known, factors, 0.5)
    for row, there, codes in zip(rows, known, found, strict=True):
        model = Ridge(0.5, fit_intercept=False).fit(factors[there], row[there])
        np.testing.assert_allclose(codes, model.coef_)


def test_the_regression_of_changes_rolls_out_a_wave(room):
    """The change of a wave is linear in what its last rows differ by; its first row is a jump."""
    etth2, setting = script("etth2"), (24, False, True, 0.999)
    t, n = np.arange(2600), 2500
    Y = np.column_stack([np.sin(t / 5), 2 + np.cos(t / 7)])
    waves = np.column_stack([np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24)])
    steps = etth2.recursion(Y, waves, setting)
    for _ in range(n + 1):
        _, weights = next(steps)
    told = etth2.rolled_out(Y[:n], waves[n : n + 24], setting, weights)
    room.error(np.abs(told - Y[n : n + 24]).max(), at_most=0.05)


def test_the_regression_sees_no_row_that_has_not_come():
    etth2, rng = script("etth2"), np.random.default_rng(0)
    Y, waves = rng.standard_normal((80, 2)), rng.standard_normal((80, 2))
    later = Y.copy()
    later[60:] += 100
    found = []
    for rows in (Y, later):
        steps = etth2.recursion(rows, waves, (3, True, True, 0.999))
        for _ in range(61):
            made, weights = next(steps)
        told = etth2.rolled_out(rows[:60], waves[60:70], (3, True, True, 0.999), weights)
        np.testing.assert_allclose(told[0], made)
        found.append(told)
    np.testing.assert_array_equal(*found)


def test_the_ridge_of_epidemics_goes_on_with_a_constant_change():
    transfer = script("exp_003_4_transfer")
    rows = 0.3 * np.arange(15)[:, None] + [1.0, 2.0, 5.0]
    told = transfer.regressed(rows[:10], None)
    np.testing.assert_allclose(told[:5], rows[10:])
    np.testing.assert_allclose(transfer.regressed(rows[:10], rows)[:5], rows[10:])


def test_als_finds_planted_factors(room):
    rng = np.random.default_rng(0)
    X = np.einsum("ir,jr,kr->ijk", *(rng.random((n, 3)) for n in (9, 8, 7)))
    weights, factors = script("tensor_baselines").als(X, 3, 300, seed=1)
    made = np.einsum("r,ir,jr,kr->ijk", weights, *factors)
    room.error(np.linalg.norm(made - X) / np.linalg.norm(X), at_most=0.01)


def test_one_atom_leaves_nothing_of_multiples_of_a_row():
    divergences = script("divergences")
    rows = np.outer(np.linspace(1, 2, 50), np.linspace(1, 3, 8))
    with (
        mock.patch.object(divergences, "noisy_and_clean", return_value=(rows, rows, None)),
        mock.patch.multiple(divergences, N_DENSE=40, N_DENSE_HELD_OUT=10),
    ):
        assert divergences.one_atom("l2")["median ratios"] < 1e-12


def test_images_of_components_are_turned_to_the_side_of_their_longer_tail():
    peak, guides = np.array([[5.0, -1, -1, -1, -1, -1, -1]]), script("guides")
    for image in (peak, -peak):
        np.testing.assert_array_equal(guides.positive(image), np.maximum(peak, 0))
