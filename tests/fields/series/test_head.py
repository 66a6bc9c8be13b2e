"""The parts of a head: regressions on lags, exponential smoothing, and how they are weighed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from atomstream.fields.series.head import HEADS, MEMBERS, Head
from atomstream.fields.series.lag_regression import LagRegression, Regressors
from atomstream.fields.series.smoothing import ExponentialSmoothing

NONE = np.zeros((24, 0))


def ar(n, d=1, seed=0):
    rng, rows = np.random.default_rng(seed), np.zeros((n, d))
    for i in range(2, n):
        rows[i] = 1.2 * rows[i - 1] - 0.5 * rows[i - 2] + rng.standard_normal(d)
    return rows


@pytest.mark.parametrize("keep", [1.0, 0.98])
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("reverts", [False, True])
def test_coefficients_are_those_of_a_ridge_regression(reverts, joint, keep):
    """Recursive least squares = the penalised normal equations, solved at once."""
    rows, lags, penalty = ar(80, 2), 3, 2.5
    kind = Regressors(changes=2, penalty=penalty, keep=keep, reverts=reverts)
    part = LagRegression((kind,), lags)
    state = part.begin(1, 2) if joint else part.begin(2, 1)
    grouped = rows[:, None] if joint else rows[:, :, None]
    for t in range(lags, len(rows)):
        part.learned(state, grouped[:t], grouped[t], t, NONE)
    for group in range(grouped.shape[1]):
        own = grouped[:, group]
        x = [
            np.concatenate([own[t - 1], own[t - 1] - own[t - 2], own[t - 2] - own[t - 3], [1.0]])
            for t in range(lags, len(rows))
        ]
        x, change = np.array(x), np.diff(own, axis=0)[lags - 1 :]
        weights = keep ** np.arange(len(x))[::-1, None]
        rest = penalty * keep ** len(x)
        gram = x.T @ (weights * x) + rest * np.eye(x.shape[1])
        towards = -reverts * np.eye(x.shape[1], change.shape[1])  # of the last row
        wanted = np.linalg.solve(gram, x.T @ (weights * change) + rest * towards)
        assert_allclose(state.coefficients[0, group], wanted, rtol=1e-6, atol=1e-9)


def test_forecasts_are_one_step_after_another():
    rows, season = ar(60, 2), 5
    kind = Regressors(season=True, waves=True)
    part = LagRegression((kind,), 4, season=season, n_waves=2)
    state = part.begin(2, 1)
    for t in range(part.reach, len(rows)):
        part.learned(state, rows[:t, :, None], rows[t, :, None], t, NONE)
    path = part.ahead(state, rows[:, :, None], len(rows), 6, NONE[:6])[0, :, :, 0]
    for step in range(6):
        one = part.ahead(state, rows[:, :, None], len(rows), 1, NONE[:1])[0, 0, :, 0]
        assert_allclose(one, path[step], rtol=1e-9)
        rows = np.concatenate([rows, one[None]])


def test_without_data_a_regression_is_persistence_or_the_mean():
    part = LagRegression((Regressors(), Regressors(reverts=True)), 12)
    path = part.ahead(part.begin(3, 1), ar(12, 3)[:, :, None], 12, 4, NONE[:4])
    assert_allclose(path[0, :, :, 0], np.repeat(ar(12, 3)[-1:], 4, axis=0))
    assert_allclose(path[1], 0, atol=1e-12)


def test_smoothing_follows_its_equations():
    """One setting, written out after Hyndman and others; the start is that of the part."""
    t = np.arange(40)
    rows = (10 + 0.3 * t + np.tile([1.0, -2.0, 0.0, 1.0], 10))[:, None]
    part = ExponentialSmoothing(4, (0.4,), (0.1,), (0.2,), (0.9,))
    state = part.begin(1)
    for place, row in enumerate(rows):
        if state.n_rows:
            level, trend = state.level.item(), state.trend.item()
            season = state.season[0, place % 4, 0]
            left = row.item() - (level + 0.9 * trend + season)
            part.learned(state, rows[:place], row, place)
            assert state.level.item() == pytest.approx(level + 0.9 * trend + 0.4 * left)
            assert state.trend.item() == pytest.approx(0.9 * trend + 0.04 * left)
            assert state.season[0, place % 4, 0] == pytest.approx(season + 0.2 * 0.6 * left)
        else:
            part.learned(state, rows[:place], row, place)
    assert state.n_rows == 1
    path = part.ahead(state, 40, 3)[:, 0]
    damped = np.cumsum(0.9 ** np.arange(1, 4))
    wanted = state.level.item() + damped * state.trend.item() + state.season[0, :3, 0]
    assert_allclose(path, wanted)


def test_a_trend_and_a_season_without_noise_go_on(room):
    t = np.arange(72)
    rows = (5 + 0.2 * t + np.sin(2 * np.pi * t / 6))[:, None]
    part = ExponentialSmoothing(6)
    state = part.begin(1)
    for place, row in enumerate(rows[:60]):
        part.learned(state, rows[:place], row, place)
    room.error(np.abs(part.ahead(state, 60, 12) - rows[60:]).max(), at_most=0.1)


def followed(head, rows, season=None):
    """Return the plan, what it has learned from rows, and its forecasts of every row."""
    plan = head.plan(rows.shape[1], 0, season, 0)
    state, made = plan.begin(), []
    for row in rows:
        made.append(plan.forecast_ahead(state, NONE[: head.horizon], None))
        plan.learned(state, row, NONE[:1], None)
    return plan, state, np.array(made)


def test_persistence_and_its_seasonal_kind_are_rows_before():
    rows = ar(30, 2)
    plan, state, _ = followed(Head(("persistence",), horizon=4), rows)
    assert_allclose(plan.ahead(state, 4, NONE[:4], None), np.repeat(rows[-1:], 4, axis=0))
    plan, state, _ = followed(Head(("seasonal",), horizon=4), rows, 3)
    assert_allclose(plan.ahead(state, 5, NONE[:5], None), rows[[27, 28, 29, 27, 28]])


def test_errors_of_each_step_are_those_of_the_forecasts_that_were_made():
    rows, head = ar(90, 2), Head(("persistence", "smoothing", "ridge"), horizon=5)
    plan, state, made = followed(head, rows)
    for place in (40, 89):
        for step in range(5):
            wanted = made[place - step, step] - rows[place]
            assert_allclose(state.errors[place % len(state.errors), step], wanted)
    weights = plan.weights(state, np.ones((plan.n_members, 2), dtype=bool))
    assert_allclose(weights.sum(axis=0), 1)


def test_weights_go_to_the_member_with_the_smaller_past_errors(room):
    rows = ar(400, 2)
    plan, state, _ = followed(Head(("persistence", "smoothing", "ridge"), horizon=3), rows)
    weights = plan.weights(state, np.ones((plan.n_members, 2), dtype=bool))
    room.share(weights[2:, 0].sum(axis=0).min(), at_least=0.88)
    plan, state, _ = followed(Head(("persistence", "ridge"), horizon=3, sharpness=0.0), rows)
    weights = plan.weights(state, np.ones((plan.n_members, 2), dtype=bool))
    assert_allclose(weights, 1 / plan.n_members)


def test_a_series_that_another_gives_away_is_foreseen(room):
    """It repeats the other three rows later; a large penalty alone leaves 0.64 and more."""
    walk = np.cumsum(np.random.default_rng(0).standard_normal(310))
    rows = np.column_stack([walk[3:], walk[:-3]])
    _, _, made = followed(Head(), (rows - rows.mean(axis=0)) / rows.std(axis=0))
    later = (rows[150:, 1] - rows.mean(axis=0)[1]) / rows.std(axis=0)[1]
    missed = np.sqrt(np.mean((made[150:, 0, 1] - later) ** 2))
    room.error(missed / np.sqrt(np.mean(np.diff(later) ** 2)), at_most=0.3)


def test_a_missing_entry_teaches_nothing_and_its_forecast_stands_for_it():
    rows = ar(50, 1)
    rows[30] = np.nan
    head = Head(("ridge",), horizon=2)
    plan, state, made = followed(head, rows[:30])
    before = [part.coefficients.copy() for part in state.regressions]
    made = plan.forecast_ahead(state, NONE[:2], None)
    plan.learned(state, rows[30], NONE[:1], None)
    for part, old in zip(state.regressions, before, strict=True):
        assert_allclose(part.coefficients, old)
    assert_allclose(state.rows[-1], made[0])
    assert np.isnan(state.errors[30, 0]).all()


def test_every_name_is_a_head():
    assert set(MEMBERS) < set(HEADS)
    assert set(HEADS["mix"]().members) == {*MEMBERS} - {"codes"}
    assert all(isinstance(make(), Head) for make in HEADS.values())


@pytest.mark.parametrize(
    "settings",
    [{"members": ()}, {"members": ("arima",)}, {"lags": 0}, {"horizon": True}, {"sharpness": -1.0}],
)
def test_heads_out_of_range_are_refused(settings):
    with pytest.raises(ValueError, match=r"of a head|Head needs"):
        Head(**settings)


def test_a_member_that_was_never_judged_at_a_step_has_no_weight_there():
    plan, state, _ = followed(Head(("persistence", "ridge"), horizon=4), ar(60))
    state.sums[:, -1, 2] = 0.0
    weights = plan.weights(state, np.ones((plan.n_members, 1), dtype=bool))
    assert weights[-1, 2, 0] == 0 < weights[-1, 1, 0]
    assert_allclose(weights.sum(axis=0), 1)
