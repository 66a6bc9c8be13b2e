"""Early stopping: when it looks, what counts as a gain, and that it ends the fit."""

from itertools import repeat

import numpy as np
import pytest

from atomstream import OnlineNMF
from atomstream.watch.callbacks import EarlyStopping, History

ATOMS = np.random.default_rng(0).random((3, 8))


def rows(n, seed):
    return np.random.default_rng(seed).random((n, 3)) @ ATOMS


def stream():
    rng = np.random.default_rng(1)
    while True:
        yield rng.random((40, 3)) @ ATOMS + 0.05 * rng.random((40, 8))


def falling(values):
    """Watch a list of values, one per look."""
    left = iter(values)
    return lambda model: next(left)


def fitted(stopping, **settings):
    model = OnlineNMF(3, random_state=0, **settings).set_callbacks(stopping)
    return model.fit_stream(stream())


@pytest.mark.parametrize(
    ("values", "looks", "best"),
    [
        ([5.0, 4.0, 4.0, 4.0, 4.0], 4, 4.0),  # two looks without a gain
        ([5.0, 6.0, 4.0, 4.5, 4.2], 5, 4.0),  # a gain in between begins anew
        ([5.0, 4.9, 4.8, 4.7], 3, 5.0),  # too small, each of them, against the best
        ([0.0, 0.0, 0.0], 3, 0.0),
        ([-1.0, -2.0, -1.9, -2.1], 4, -2.0),
        ([1.0, float("nan"), float("nan")], 3, 1.0),
    ],
)
def test_patience_and_gains(values, looks, best):
    stopping = EarlyStopping(falling(values), patience=2, min_delta=0.1, every=3)
    model = fitted(stopping)
    assert stopping.stopped
    assert len(stopping.values) == looks
    assert stopping.best == best
    assert model.n_steps_ == 3 * looks


@pytest.mark.parametrize("monitor", ["recent", rows(30, 5)])
def test_an_endless_stream_ends(monitor, room):
    stopping = EarlyStopping(monitor, patience=3)
    model = fitted(stopping)
    assert stopping.stopped
    room.error(stopping.values[-1], at_most=0.5 * stopping.values[0])
    assert model.n_steps_ == 10 * len(stopping.values)
    if not isinstance(monitor, str):
        assert stopping.values[-1] == pytest.approx(model.objective(monitor))


def test_recent_is_the_mean_since_the_last_look():
    stopping, history = EarlyStopping(patience=2, every=4), History()
    OnlineNMF(3, random_state=0).set_callbacks(stopping, history).fit_stream(stream())
    means = np.reshape(history.objective, (-1, 4)).mean(axis=1)
    np.testing.assert_allclose(stopping.values, means)


def test_it_ends_fit_before_the_rounds_over_all_rows():
    stopping = EarlyStopping(falling(repeat(1.0)), patience=1, every=1)
    model = OnlineNMF(3, batch_size=20, random_state=0).set_callbacks(stopping).fit(rows(100, 2))
    assert model.n_steps_ == 2
    again = OnlineNMF(3, random_state=0).set_callbacks(stopping)
    again.fit(rows(100, 2))  # a second fit begins anew
    assert len(stopping.values) == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"monitor": "loss"}, "monitor must be 'recent'"),
        ({"patience": 0}, "patience must be a whole number of at least 1"),
        ({"every": 0}, "every must be a whole number of at least 1"),
        ({"min_delta": -0.1}, "min_delta must be a share"),
    ],
)
def test_settings_out_of_range_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        EarlyStopping(**settings)
