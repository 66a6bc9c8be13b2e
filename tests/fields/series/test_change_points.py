"""Change points: gains against their definition, few false alarms, planted changes found."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.fields.series.change_points import (
    MIN_SPREAD,
    change_points,
    normal_scores,
    split_gains,
)


def remembering(rho, seed, n=150, r=4):
    rng = np.random.default_rng(seed)
    series = rng.standard_normal((n + 50, r))
    for time in range(1, n + 50):
        series[time] += rho * series[time - 1]
    return series[50:]


def test_gains_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    series = rng.standard_normal((3, 20, 2))
    series[:, :, 1] *= 5
    series[2, :, 1] = 7  # never moves
    gains = split_gains(series, 4)
    for number, one in enumerate(series):
        for place in range(20):
            expected = 0.0
            for row in one.T:
                if 4 <= place <= 16 and row.var():
                    parts = [
                        max(part.var() / row.var(), MIN_SPREAD)
                        for part in (row[:place], row[place:])
                    ]
                    expected -= 0.5 * (place * np.log(parts[0]) + (20 - place) * np.log(parts[1]))
            assert_allclose(gains[number, place], expected, atol=1e-12)


def test_normal_scores_know_ranks_only():
    series = np.random.default_rng(0).standard_normal((30, 2))
    assert_array_equal(normal_scores(series), normal_scores(np.exp(series)))
    assert_allclose(normal_scores(np.zeros((9, 1))), 0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_false_alarms_are_as_rare_as_asked_for(rho, room):
    level = 0.05
    alarms = [
        len(change_points(remembering(rho, seed), level=level, n_draws=99, random_state=seed).times)
        > 0
        for seed in range(100)
    ]
    room.error(sum(alarms), at_most=15)  # 5 expected; 11 or more have a chance of 1 %


def test_heavy_tails_alarm_no_more(room):
    alarms = [
        len(
            change_points(
                np.random.default_rng(seed).pareto(1.2, (120, 3)), level=0.05, n_draws=99
            ).times
        )
        for seed in range(100)
    ]
    room.error(sum(count > 0 for count in alarms), at_most=10)


@pytest.mark.parametrize("what", ["level", "spread", "one series"])
def test_planted_changes_are_found(what, room):
    for seed in range(10):
        series = np.random.default_rng(seed).standard_normal((120, 4))
        if what == "spread":
            series[70:] *= 5
        else:
            series[70:, : 1 if what == "one series" else 4] += 5
        found = change_points(series)
        assert len(found.times) == 1
        room.error(abs(found.times[0] - 70), at_most=3 if what == "one series" else 1)
        assert 1 / 500 <= found.p_values[0] <= 0.01
        assert found.gains.argmax() == found.times[0]


def test_several_changes_are_found_in_their_order():
    series = np.random.default_rng(0).standard_normal((150, 3))
    series[50:100] += 4
    series[100:] += 8
    assert_array_equal(change_points(series).times, [50, 100])
    assert_array_equal(change_points(series, min_size=60).times, [])


def test_the_same_seed_gives_the_same_and_series_that_stand_still_no_change():
    series = remembering(0.5, 0)
    series[80:] += 2
    assert_array_equal(change_points(series).p_values, change_points(series).p_values)
    assert len(change_points(series[80:96]).times) == 0
    assert len(change_points(np.ones((60, 2))).times) == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"series": np.zeros(5)}, "n_times, n_series"),
        ({"series": np.full((5, 2), np.nan)}, "finite"),
        ({"series": np.zeros((0, 2))}, "n_times, n_series"),
        ({"level": 0}, "level must be"),
        ({"block": 0}, "block must be"),
        ({"min_size": 1}, "min_size must be"),
        (
            {"series": np.zeros((15, 2))},
            "series has 15 times, a change needs min_size=8 before and after it: 16",
        ),
        ({"n_draws": 2.5}, "n_draws must be"),
        ({"n_draws": 19}, "take at least 99"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, told):
    with pytest.raises(ValueError, match=told):
        change_points(**{"series": np.zeros((30, 2))} | arguments)


def test_a_change_of_one_among_many_series_is_found(room):
    found = []
    for seed in range(5):
        series = np.random.default_rng(seed).standard_normal((200, 24))
        series[120:, 7] += 1.15  # in the sum over all series none is found
        found.append(bool((np.abs(change_points(series).times - 120) <= 3).any()))
    room.share(np.mean(found), at_least=0.4)
