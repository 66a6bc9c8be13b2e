"""``schedule="adaptive"`` remembers all while nothing changes, and the newest after a change."""

import copy
import pickle

import numpy as np
import pytest
from cases import of_fields

import atomstream
from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.schedules import Adaptive, Constant
from atomstream.watch.callbacks import History

PARTS = [np.random.default_rng(i).random((3, 12)) ** 2 for i in range(3)]


def stream(n_batches, laws, seed=0):
    """Return batches of 20 rows, the laws one after the other."""
    rng = np.random.default_rng(seed)
    each = n_batches // len(laws)
    return [
        rng.exponential(size=(20, 3)) @ PARTS[laws[min(t // each, len(laws) - 1)]]
        + 0.05 * rng.random((20, 12))
        for t in range(n_batches)
    ]


def learned(batches, schedule="adaptive", **settings):
    history = History()
    model = OnlineNMF(3, schedule=schedule, random_state=0, **settings).set_callbacks(history)
    return model.fit_stream(batches), np.mean(history.objective[20:])


def test_until_a_change_it_is_the_default_schedule_to_the_bit():
    adaptive, plain = (
        OnlineNMF(3, schedule=name, random_state=0) for name in ("adaptive", "power")
    )
    for X in stream(200, [0, 1]):
        adaptive.partial_fit(X)
        plain.partial_fit(X)
        if adaptive._learner.reactive.n_taken:
            break
        np.testing.assert_array_equal(adaptive.components_, plain.components_)
    assert 20 < adaptive.n_steps_ <= 103
    twin = adaptive._learner.reactive.state.dictionary
    np.testing.assert_array_equal(adaptive.components_, twin.atoms())


def test_after_changes_it_is_near_the_best_half_life(room):
    batches = stream(450, [0, 1, 2], seed=1)
    model, loss = learned(batches)
    assert model._learner.reactive.n_taken >= 2
    # A smoke test on one small stream; benchmarks/drift.py has the ratios of many.
    fixed = [learned(batches, Constant(half_life=h))[1] for h in (10.0, 30.0, 100.0, 1000.0)]
    room.ratio(loss / min(fixed), at_most=1.25)
    room.error(loss, at_most=0.2 * learned(batches, "power")[1])


def test_without_a_change_it_takes_over_next_to_never(room):
    """Once from the first atoms, which are poor; the loss of this stream minds no memory."""
    model, _ = learned(stream(200, [0], seed=2))
    room.error(model._learner.reactive.n_taken, at_most=4)


@pytest.mark.cover(2)
@pytest.mark.parametrize(
    "model",
    [
        OnlineNMF(3, schedule="adaptive", random_state=0),
        OnlineNMF(3, schedule="adaptive", loss="kl", random_state=0),
        OnlineNMF(3, schedule="adaptive", scale="max", random_state=0),
        OnlineDictionaryLearning(3, schedule="adaptive", random_state=0),
        *of_fields("adaptive").values(),
    ],
    ids=lambda model: f"{type(model).__name__} {model.get_params().get('loss', '')}",
)
def test_saved_copied_and_pickled_it_goes_on_to_the_bit(model, tmp_path):
    batches = stream(90, [0, 1], seed=3)
    for X in batches[:50]:
        model.partial_fit(X)
    atomstream.save(model, tmp_path / "m.atoms")
    twins = [
        atomstream.load(tmp_path / "m.atoms"),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ]
    for X in batches[50:]:
        model.partial_fit(X)
    assert model._learner.reactive.n_taken > 0
    for twin in twins:
        for X in batches[50:]:
            twin.partial_fit(X)
        np.testing.assert_array_equal(twin.components_, model.components_)
        assert twin._learner.reactive.n_taken == model._learner.reactive.n_taken


def test_a_batch_that_is_refused_changes_nothing(monkeypatch):
    batches = stream(60, [0])
    model, _ = learned(batches)
    before = pickle.dumps(model._learner.reactive)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((20, 12), np.nan))
    assert pickle.dumps(model._learner.reactive) == before

    def fails(*_):
        raise ValueError("no more")

    monkeypatch.setattr(type(model._learner.reactive), "_judge", fails)
    with pytest.raises(ValueError, match="no more"):
        model.partial_fit(batches[0])
    assert pickle.dumps(model._learner.reactive) == before


def test_the_second_learner_comes_and_goes_with_the_schedule():
    batches = stream(30, [0])
    model, _ = learned(batches, "power")
    assert "reactive" not in vars(model._learner)
    model.set_params(schedule=Adaptive(4.0)).partial_fit(batches[0])
    assert model._learner.reactive.clock.step == 31
    model.set_params(schedule="harmonic").partial_fit(batches[1])
    assert "reactive" not in vars(model._learner)


def test_several_passes_and_batches_of_zeros_are_no_change():
    X = np.concatenate(stream(30, [0]))
    model = OnlineNMF(3, schedule="adaptive", batch_size=20, n_epochs=3, random_state=0).fit(X)
    assert model._learner.reactive.n_taken == 0
    model.partial_fit(np.zeros((20, 12)))
    assert np.isfinite(model.components_).all()
