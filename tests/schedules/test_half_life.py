"""Forgetting by time: equal steps are the schedule by rows, others follow their formula."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from cases import of_fields
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import OnlineDictionaryLearning, OnlineNMF, load, save
from atomstream.coders import Auto
from atomstream.schedules import Constant, HalfLife

X = np.random.default_rng(0).random((200, 6))
MODELS = {
    "nmf": lambda schedule: OnlineNMF(3, schedule=schedule, random_state=0),
    "kl": lambda schedule: OnlineNMF(3, loss="kl", schedule=schedule, random_state=0),
    "signed": lambda schedule: OnlineDictionaryLearning(3, schedule=schedule, random_state=0),
    **of_fields("half_life"),
}


def learned(model, times=None, sizes=None):
    cuts = np.cumsum([20] * 10 if sizes is None else sizes)[:-1]
    for number, rows in enumerate(np.split(X, cuts)):
        model.partial_fit(rows, **({} if times is None else {"time": times[number]}))
    return model


@pytest.mark.parametrize("name", ["nmf", "kl", "signed"])
def test_equal_steps_are_the_half_life_in_rows_to_the_bit(name):
    by_rows = learned(MODELS[name](Constant(half_life=80.0)))
    by_time = learned(MODELS[name](HalfLife(80.0)), times=20.0 * np.arange(10))
    assert_array_equal(by_time.components_, by_rows.components_)


@pytest.mark.parametrize("name", MODELS)
def test_the_unit_of_time_does_not_matter(name):
    times = np.cumsum([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0])
    one = learned(MODELS[name](HalfLife(7.0)), times=times)
    other = learned(MODELS[name](HalfLife(7.0 * 3600)), times=1e9 + 3600 * times)
    assert_allclose(one.components_, other.components_, rtol=1e-6)


def test_the_memory_is_the_sum_with_explicit_weights():
    times = np.cumsum([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0])
    sizes = [5, 40, 5, 30, 20, 10, 40, 10, 20, 20]
    atoms = np.eye(3, 6)
    model = OnlineNMF(
        3,
        init=atoms,
        fixed_components=3,
        schedule=HalfLife(7.0),
        coder=Auto(tol=1e-9),
        random_state=0,
    )
    learned(model, times, sizes)
    codes = OnlineNMF.from_components(atoms).transform(X)
    parts = np.split(codes, np.cumsum(sizes)[:-1])
    shares = 0.5 ** ((times[-1] - times) / 7.0)  # what is left of each batch's own weight
    own = np.concatenate([[1.0], 1 - 0.5 ** (np.diff(times) / 7.0)])
    gram = sum(w * s * h.T @ h / len(h) for w, s, h in zip(own, shares, parts, strict=True))
    assert_allclose(model.memory_.gram, gram, rtol=1e-7)


@pytest.mark.parametrize(
    "stamp",
    [
        lambda n: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=20 * n),
        lambda n: datetime(2024, 1, 1) + timedelta(seconds=20 * n),
        lambda n: np.datetime64("2024-01-01") + np.timedelta64(20 * n, "s"),
        lambda n: pd.Timestamp("2024-01-01") + pd.Timedelta(seconds=20 * n),
        lambda n: 20 * n,
    ],
)
def test_dates_are_seconds(stamp):
    model = learned(MODELS["nmf"](HalfLife(80.0)), times=[stamp(n) for n in range(10)])
    plain = learned(MODELS["nmf"](HalfLife(80.0)), times=20.0 * np.arange(10))
    assert_allclose(model.components_, plain.components_, rtol=1e-6)


def test_a_saved_model_goes_on_with_its_time(tmp_path):
    model = MODELS["nmf"](HalfLife(80.0)).partial_fit(X[:50], time=3.0)
    save(model, tmp_path / "a.atoms")
    again = load(tmp_path / "a.atoms")
    with pytest.raises(ValueError, match=r"time must be later .* got 2\.0 after 3\.0"):
        again.partial_fit(X[50:], time=2.0)
    again.partial_fit(X[50:], time=30.0)
    assert_array_equal(again.components_, model.partial_fit(X[50:], time=30.0).components_)


def test_a_refused_batch_leaves_the_time_as_it_was():
    model = MODELS["nmf"](HalfLife(80.0)).partial_fit(X[:50], time=3.0)
    with pytest.raises(ValueError, match="Negative"):
        model.partial_fit(-X[50:], time=30.0)
    assert model.clock_.time == 3.0
    model.partial_fit(X[50:], sample_weight=np.zeros(150), time=20.0)  # says nothing
    assert model.clock_.time == 3.0


@pytest.mark.parametrize(
    ("schedule", "given", "words"),
    [
        (HalfLife(80.0), {}, r"needs a time for each batch: call partial_fit\(X, time=\.\.\.\)"),
        (HalfLife(80.0), {"time": "noon"}, "time must be a number or a date, got 'noon'"),
        (HalfLife(80.0), {"time": np.nan}, "time must be finite"),
        ("power", {"time": 3.0}, "needs a schedule that goes by time"),
    ],
)
def test_times_that_do_not_fit_are_refused(schedule, given, words):
    with pytest.raises(ValueError, match=words):
        MODELS["nmf"](schedule).partial_fit(X, **given)
    with pytest.raises(ValueError, match="HalfLife needs half_life to be a number above 0"):
        HalfLife(0.0)


def test_a_stream_without_times_does_not_go_by_the_last_one():
    model = MODELS["nmf"](HalfLife(80.0)).partial_fit(X[:50], time=3.0)
    with pytest.raises(ValueError, match="call partial_fit"):
        model.fit_stream([X[50:]])


def test_fit_says_that_it_knows_no_times():
    with pytest.raises(ValueError, match="call partial_fit"):
        MODELS["nmf"](HalfLife(80.0)).fit(X)
