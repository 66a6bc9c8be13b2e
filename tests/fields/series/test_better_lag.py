"""Predictions beside earlier rows, against sums written out."""

import numpy as np
import pytest

from atomstream.fields.series.levels import REACH, better_lag, compared, no_errors


def tallied(rows, predicted, n_lags):
    sums = no_errors(n_lags)
    for t, row in enumerate(rows):
        sums = compared(sums, row, predicted[t], rows[:t])
    return sums


def test_sums_equal_those_written_out_with_gaps_and_older_rows_weighing_less():
    rng = np.random.default_rng(0)
    rows, predicted = rng.random((60, 3)), rng.random((60, 3))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    predicted[:7] = np.nan
    sums = tallied(rows, predicted, 12)
    weights = (1 - 1 / REACH) ** np.arange(59, -1, -1)[:, None]
    for lag in range(1, 13):
        own, other = (predicted - rows)[lag:], rows[:-lag] - rows[lag:]
        both = ~np.isnan(own) & ~np.isnan(other)
        weight = np.broadcast_to(weights[lag:], both.shape)[both]
        expected = [
            (weight * own[both] ** 2).sum(),
            (weight * other[both] ** 2).sum(),
            weight.sum(),
            weights[lag:][both.any(axis=1)].sum(),
        ]
        np.testing.assert_allclose(sums[:, lag - 1], expected, rtol=1e-12)


@pytest.mark.parametrize("lag", [1, 3, 7])
def test_the_season_of_exact_repeats_beats_noise_and_perfect_predictions_are_not_beaten(lag):
    rng = np.random.default_rng(lag)
    rows = np.tile(rng.random((lag, 2)), (40, 1))
    found = better_lag(tallied(rows, rows + 0.1 * rng.standard_normal(rows.shape), 10))
    assert found.lag == lag
    assert found.error == 0
    assert 0.08 < found.own < 0.12
    assert better_lag(tallied(rows, rows, 10)) is None


def test_ten_rows_are_needed():
    rows = np.ones((12, 1))
    assert better_lag(tallied(rows[:10], rows[:10] + 1, 3)) is None
    assert better_lag(tallied(rows[:11], rows[:11] + 1, 3)).lag == 1
