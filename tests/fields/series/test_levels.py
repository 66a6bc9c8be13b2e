"""The offset and scale of each series, and what is last known of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.fields.series.levels import LastKnown, Levels

NAN = np.nan


def test_levels_by_hand():
    rows = np.array([[280.0, 7, NAN, 1], [284, 7, NAN, NAN], [276, NAN, NAN, 4]])
    levels = Levels.unknown(4).learned(rows)
    spread = np.std([280, 284, 276]), 1.5
    assert_array_equal(levels.offset, [276 - spread[0], 7 - np.mean(spread), NAN, 1 - 1.5])
    assert_allclose(levels.scale, [spread[0], np.mean(spread), NAN, 1.5])
    assert_allclose(levels.apply(rows)[2], [1, NAN, NAN, 3])
    assert_allclose(levels.undo(levels.apply(rows)), rows)


def test_values_below_the_offset_are_zero():
    levels = Levels(np.array([10.0]), np.array([2.0]))
    assert_array_equal(levels.apply(np.array([[8.0], [10], [13], [NAN]])), [[0], [0], [1.5], [NAN]])


def test_levels_once_known_stay():
    levels = Levels.unknown(2).learned(np.array([[1.0, NAN], [3.0, NAN]]))
    later = levels.learned(np.array([[100.0, 5.0], [-100.0, 9.0]]))
    assert_array_equal(later.offset, [levels.offset[0], 5 - 2])
    assert_array_equal(later.scale, [levels.scale[0], 2])
    assert later.learned(np.zeros((2, 2))) is later
    assert Levels.identity(2).learned(np.ones((2, 2))).offset.tolist() == [0, 0]


def test_a_constant_has_the_scale_of_the_others_or_one():
    noise = 280 + 1e-13 * np.arange(5)
    assert_array_equal(Levels.unknown(1).learned(noise[:, None]).scale, [1])
    rows = np.column_stack([noise, 40 * np.arange(5), 2 * np.arange(5), np.zeros(5)])
    scale = Levels.unknown(4).learned(rows).scale
    assert_allclose(scale[[0, 3]], np.mean(scale[1:3]))


def test_a_late_series_takes_its_levels_from_its_first_window():
    rows = np.column_stack([np.arange(8.0), [NAN, NAN, 5, NAN, 9, 7, 100, 200]])
    levels = Levels.unknown(2).learned(rows[:2])
    for n in range(1, 6):
        assert levels.following(rows[:n], 4) is levels
    later = levels.following(rows[:6], 4)
    scale = np.std([5, 9, 7])
    assert_array_equal(later.offset, [levels.offset[0], 5 - scale])
    assert_array_equal(later.scale, [levels.scale[0], scale])
    assert later.following(rows, 4) is later


def test_what_is_last_known_outlives_the_rows():
    known = LastKnown.nothing(2, 3)
    for row, errors in (
        ([1.0, 2.0], [NAN, NAN]),
        ([3.0, 4.0], [0.1, 0.5]),
        ([NAN, 5.0], [NAN, 0.6]),
        ([NAN, 6.0], [NAN, 0.7]),
        ([NAN, 7.0], [NAN, 0.8]),
    ):
        known = known.after(np.array(row), np.array(errors))
    assert_array_equal(known.values, [3, 7])
    assert_array_equal(known.ages, [3, 0])
    assert_array_equal(known.errors.T, [[NAN, NAN, 0.1], [0.6, 0.7, 0.8]])


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (Levels, (np.zeros(2), np.ones(3))),
        (Levels, (np.zeros(2), np.array([1.0, 0]))),
        (Levels, (np.array([np.inf, 0]), np.ones(2))),
        (Levels, (np.zeros((2, 2)), np.ones((2, 2)))),
        (Levels, (np.zeros(2, int), np.ones(2))),
        (LastKnown, (np.zeros(2), np.zeros(3, np.int64), np.zeros((4, 2)))),
        (LastKnown, (np.zeros(2), np.array([0, -1]), np.zeros((4, 2)))),
        (LastKnown, (np.zeros(2), np.zeros(2), np.zeros((4, 2)))),
    ],
)
def test_parts_that_do_not_fit_are_refused(kind, parts):
    with pytest.raises(ValueError, match="do not fit together"):
        kind(*parts)
