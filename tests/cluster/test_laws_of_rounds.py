"""The laws of rounds: pure tasks, one merge, the same bits on every engine, nothing lost."""

from concurrent.futures import Future
from copy import copy
from itertools import pairwise

import numpy as np
import pytest
from rounds import MODELS, OF_FIELDS, SMALL, bits, drawn, fresh, kind_of, modes_of, shards_for
from strange import ATOMS, FEATURES, Bad, Drawn, Fickle, Forgetful, planted

from atomstream import (
    BadShardError,
    Checkpoint,
    EngineError,
    InputError,
    OnlineDictionaryLearning,
    OnlineNMF,
)
from atomstream.cluster import Engine, Rounds, Shards
from atomstream.cluster.engines import facts
from atomstream.cluster.gathering import _ready
from atomstream.cluster.rounds import Position, plan
from atomstream.cluster.worker import Slot, learn_slot
from atomstream.coders import Auto
from atomstream.estimators._slots import SlotLearner
from atomstream.loop.merging import SlotResult, merged
from atomstream.schedules import Harmonic
from atomstream.watch.callbacks import Callback


def error(name, model):
    (X,) = kind_of(name)(1000, 500).read(0, 500)
    rest = X - model.inverse_transform(model.transform(X))
    return np.linalg.norm(rest) / np.linalg.norm(X)


@pytest.mark.parametrize("name", MODELS)
def test_a_task_done_twice_gives_the_same_bits_and_leaves_the_state_as_it_was(name):
    model = fresh(MODELS[name]).fit_stream(shards_for(name), rounds=SMALL)
    sent, seed = SlotLearner(model).packed()
    shards = shards_for(name)
    hands, _ = plan(shards, Position(), (), SMALL, 2, 0)
    how = {"multiplicity": 2.0, "seed": [seed, 1], "before": 128, "frozen": False}
    how["keep_latest"] = True
    slot = Slot(3, 1, hands[1], 64, how)
    before, (first, second) = bytes(sent), (learn_slot(sent, slot) for _ in range(2))
    assert first.part == second.part
    assert first.key == second.key == (3, 1)
    assert sent == before
    assert first.facts == facts()


@pytest.mark.parametrize(
    ("name", "mode"),
    # Each model in the short form, in one mode or the other.
    [
        pytest.param(name, mode, marks=[pytest.mark.long] if (n + at) % 2 else [])
        for n, name in enumerate(sorted(MODELS))
        for at, mode in enumerate(modes_of(name))
    ],
)
def test_the_same_layout_gives_the_same_bits_on_every_engine(name, mode):
    shards, rounds = shards_for(name), Rounds(256, 128, 1.5, 512, 64, mode)
    serial = fresh(MODELS[name]).fit_stream(shards, slots=3, rounds=rounds)
    for engine in ("threads:2", Fickle(0)):
        other = fresh(MODELS[name]).fit_stream(shards, slots=3, rounds=rounds, engine=engine)
        assert bits(other) == bits(serial)
    assert serial.n_samples_seen_ == shards.n_rows == serial.rounds_report_.n_rows


@pytest.mark.parametrize("name", MODELS)
def test_one_slot_is_serial_learning_to_the_bit(name):
    shards = shards_for(name, 3)
    rounds = Rounds(warmup=256, first=128, growth=1.0, batch=64)
    model = fresh(MODELS[name]).fit_stream(shards, slots=1, rounds=rounds)
    X = np.concatenate([next(iter(shard.read(0, 300))) for shard in shards])
    # Batches begin anew where rounds and shards do.
    ends = sorted({0, 256, *range(384, 900, 128), 300, 600, 900})
    batches = [
        X[start : min(start + 64, last)]
        for first, last in pairwise(ends)
        for start in range(first, last, 64)
    ]
    assert bits(model) == bits(fresh(MODELS[name]).fit_stream(batches))


@pytest.mark.cover(2)
@pytest.mark.parametrize(
    ("name", "slots"), [(name, 2 + 3 * (n % 2)) for n, name in enumerate(MODELS)]
)
def test_slots_learn_what_a_serial_run_learns(name, slots, room):
    shards = shards_for(name, 20)
    serial = fresh(MODELS[name]).fit_stream(shards, rounds=SMALL)
    model = fresh(MODELS[name]).fit_stream(shards, slots=slots, rounds=SMALL)
    assert model.clock_.mass == pytest.approx(serial.clock_.mass)
    ratios = [error(name, model) / error(name, serial)]
    for seed in (1, 2) if name == "squared" else ():  # one in three ends elsewhere than the others
        again = fresh(MODELS[name]).set_params(random_state=seed).fit_stream(shards, rounds=SMALL)
        slot = fresh(MODELS[name]).set_params(random_state=seed)
        slot.fit_stream(shards, slots=slots, rounds=SMALL)
        ratios.append(error(name, slot) / error(name, again))
    # Five slots are further from serial learning where parts are much alike (other base seeds).
    room.ratio(np.median(ratios), at_most=2.3 if name == "kl" else 1.5)


class Counts(Drawn):
    """Counts of events made of eight parts."""

    def read(self, first, last):
        parts = np.random.default_rng(99).random((8, 60)) ** 4
        rng = np.random.default_rng(self.seed)
        yield rng.poisson(5 * rng.exponential(size=(2048, 8)) @ parts).astype(float)[first:last]


@pytest.mark.parametrize(
    ("many", "most"), [(8, 1.02), pytest.param(4, 1.01, marks=pytest.mark.long)]
)
def test_slots_learn_counts_as_well_as_a_serial_run(many, most, room):
    """All updates after a merge are judged by rows: sums of the past alone cost twice as much."""
    listed = Shards([Counts(seed, 2048) for seed in range(8)])
    held = np.concatenate([*Counts(100).read(0, 2048)])
    rounds = Rounds(warmup=1024, first=256)
    losses = [
        -OnlineNMF(12, loss="kl", random_state=0)
        .fit_stream(listed, slots=slots, rounds=rounds)
        .score(held)
        for slots in (1, many)
    ]
    room.ratio(losses[1] / losses[0], at_most=most)


def test_the_merge_of_local_slots_is_the_decayed_past_and_all_increments():
    """With the dictionary of the slots frozen by hand, averages equal one pass over all rows."""
    model = OnlineNMF(ATOMS, schedule="harmonic", random_state=0).partial_fit(planted(100))
    state, clock, algorithm = model.state_, model.clock_, model.algorithm_
    assert clock.schedule == Harmonic()
    X, parts = planted(90, seed=5), []
    for rows in (slice(0, 30), slice(30, 90)):
        fold = 90 / (rows.stop - rows.start)
        twin = copy(model)
        run, batch = twin._next_batch(X[rows], fold)
        codes = algorithm.coder.encode(
            batch, state.dictionary, algorithm.objective, clock.tolerance
        )
        delta = algorithm.statistics.measure(batch, codes, state.dictionary, algorithm.objective)
        run.state.absorb(delta, run.clock.tick(delta.mass))
        parts.append(SlotResult(rows.stop - rows.start, run.clock, run.state, objective=1.0))
    outcome = merged(algorithm, state, clock, iter(parts))
    both, after = outcome.state, outcome.clock
    twin = copy(model)
    run, batch = twin._next_batch(X, None)
    codes = algorithm.coder.encode(batch, state.dictionary, algorithm.objective, clock.tolerance)
    delta = algorithm.statistics.measure(batch, codes, state.dictionary, algorithm.objective)
    run.state.absorb(delta, run.clock.tick(delta.mass))
    np.testing.assert_allclose(both.memory.gram, run.state.memory.gram, rtol=1e-12)
    np.testing.assert_allclose(both.memory.cross, run.state.memory.cross, rtol=1e-12)
    np.testing.assert_allclose(both.usage.mean, run.state.usage.mean, rtol=1e-12)
    np.testing.assert_allclose(both.usage.newest, delta.usage, rtol=1e-12)
    assert after.mass == pytest.approx(190)
    assert after.n_samples == 190


def test_frozen_rounds_are_steps_on_the_rows_of_all_slots():
    """The oracle: one batch of all the rows of a round."""
    shards = drawn(4)
    rounds = Rounds(warmup=300, first=256, growth=1.0, batch=300, mode="frozen")
    model = OnlineNMF(ATOMS, coder=Auto(tol=1e-9), random_state=0)
    frozen = fresh(model).fit_stream(shards, slots=3, rounds=rounds)
    assert frozen.n_steps_ == 2
    X = np.concatenate([next(iter(shard.read(0, 300))) for shard in shards])
    serial = fresh(model).fit_stream([X[:300], X[300:]])
    np.testing.assert_allclose(frozen.memory_.gram, serial.memory_.gram, rtol=1e-6)
    np.testing.assert_allclose(frozen.memory_.cross, serial.memory_.cross, rtol=1e-6)


def test_frozen_rounds_add_up_what_slots_used():
    """Codes count by the length of the dictionary that all slots share."""
    rounds = Rounds(warmup=300, first=256, growth=1.0, batch=300, mode="frozen")
    model, shards = (
        OnlineNMF(ATOMS, atoms="nonnegative", coder=Auto(tol=1e-9), random_state=0),
        drawn(4),
    )
    X = np.concatenate([next(iter(shard.read(0, 300))) for shard in shards])
    serial = fresh(model).fit_stream([X[:300]])
    lengths = np.linalg.norm(serial.components_, axis=1)
    assert lengths.min() > 1.01  # so that it shows whether they count
    codes = serial.transform(X[300:])
    serial.fit_stream([X[300:]])
    frozen = fresh(model).fit_stream(shards, slots=3, rounds=rounds)
    used, expected = frozen.state_.usage, serial.state_.usage
    np.testing.assert_allclose(used.mean, expected.mean, rtol=1e-6)
    np.testing.assert_allclose(used.newest, codes.sum(axis=0) * lengths, rtol=1e-3)


def test_models_that_do_not_add_up_refuse_before_the_first_round():
    shards = drawn(2)
    for model, rounds, words in (
        (OnlineNMF(ATOMS, loss="kl", updater="spsg"), SMALL, "do not merge"),
        (OnlineNMF(ATOMS, scale="std"), SMALL, "scale='std' is learned along the stream"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit_stream(shards, slots=2, rounds=rounds)
        assert not hasattr(model, "_learner")


# -- nothing is lost


def test_a_bad_shard_is_named_and_the_model_stays_as_it_was_after_the_last_round():
    shards = Shards([*drawn(3), Bad(9), Drawn(10)])
    model = OnlineNMF(ATOMS, random_state=0)
    with pytest.raises(BadShardError, match=r"drawn\[9\]") as caught:
        model.fit_stream(shards, slots=2, rounds=SMALL)
    assert caught.value.shard == "drawn[9]"
    n_rounds, n_rows = model.rounds_report_.n_rounds, model.n_samples_seen_
    assert n_rounds > 1
    assert n_rows == model.rounds_report_.n_rows < 900


@pytest.mark.parametrize("place", [1, 3, 4])
def test_a_skipped_shard_is_as_if_it_had_not_been_listed(place):
    good = [*drawn(4)]
    model = OnlineNMF(ATOMS, random_state=0)
    shards = Shards([*good[:place], Bad(9, n_rows=256), *good[place:]])
    skipping = fresh(model).fit_stream(shards, slots=2, rounds=SMALL, on_bad_shard="skip")
    plain = fresh(model).fit_stream(Shards(good), slots=2, rounds=SMALL)
    assert bits(skipping) == bits(plain)
    # Parts that came before the bad one are no second sample of the round.
    assert skipping.rounds_report_.fall == plain.rounds_report_.fall
    ((name, reason),) = skipping.rounds_report_.skipped
    assert name == "drawn[9]"
    assert "egative" in reason


@pytest.mark.cover(2)
@pytest.mark.parametrize("name", ["squared", "kl", *OF_FIELDS])
def test_a_run_goes_on_from_every_checkpoint_to_the_bit(name, tmp_path):
    shards, whole = shards_for(name), None
    whole = fresh(MODELS[name]).fit_stream(shards, slots=3, rounds=SMALL)
    for stop in range(1, whole.rounds_report_.n_rounds):
        kept = Checkpoint(tmp_path / f"{stop}.atoms")
        engine = Stopping(max(3 * stop - 4, 1))  # two rounds at most have one slot
        with pytest.raises(KeyboardInterrupt):
            fresh(MODELS[name]).fit_stream(
                shards, slots=3, rounds=SMALL, engine=engine, checkpoint=kept
            )
        resumed = fresh(MODELS[name]).fit_stream(
            shards, slots=3, rounds=SMALL, engine="threads:2", checkpoint=kept
        )
        assert bits(resumed) == bits(whole)
        if kept.path.exists():
            assert 0 < resumed.rounds_report_.n_rounds <= whole.rounds_report_.n_rounds


class Stopping(Forgetful):
    """Is interrupted after so many tasks."""

    def __init__(self, n_tasks):
        super().__init__(0)
        self.left = n_tasks

    def submit(self, fn, /, *args):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().submit(fn, *args)


def test_a_checkpoint_of_another_layout_is_refused(tmp_path):
    kept = Checkpoint(tmp_path / "model.atoms")
    model = OnlineNMF(ATOMS, random_state=0).fit_stream(drawn(), slots=2, checkpoint=kept)
    assert model.n_samples_seen_ == 2100
    for shards, slots in ((drawn(6), 2), (drawn(), 3), (drawn(n_rows=299), 2)):
        with pytest.raises(InputError, match="other shards, slots or rounds"):
            OnlineNMF(ATOMS).fit_stream(shards, slots=slots, checkpoint=kept)
    with pytest.raises(InputError, match="another model"):
        OnlineDictionaryLearning(ATOMS).fit_stream(drawn(), slots=2, checkpoint=kept)


def test_lost_tasks_are_given_out_again_once():
    engine = Engine(Forgetful(1), round_timeout=0.05)
    model = OnlineNMF(ATOMS, random_state=0).fit_stream(
        drawn(), slots=2, rounds=SMALL, engine=engine
    )
    assert model.rounds_report_.n_repeated == 1
    same = OnlineNMF(ATOMS, random_state=0).fit_stream(drawn(), slots=2, rounds=SMALL)
    assert bits(model) == bits(same)
    with pytest.raises(EngineError, match=r"No result came for 0.05 seconds.*drawn\[0\]"):
        OnlineNMF(ATOMS).fit_stream(drawn(), engine=Engine(Forgetful(99), round_timeout=0.05))


def test_workers_of_another_kind_are_refused_or_told():
    def alike(payload):
        object.__setattr__(payload, "facts", dict(facts(), numpy="0.1"))
        return payload

    class Mixed(Forgetful):
        def submit(self, fn, /, *args):
            return super().submit(lambda *given: alike(fn(*given)), *args)

    model = OnlineNMF(ATOMS, random_state=0)
    with pytest.raises(EngineError, match=r"A worker has numpy 0.1 \(here"):
        model.fit_stream(drawn(2), engine=Mixed(0))
    assert not hasattr(model, "_learner")
    with pytest.warns(UserWarning, match="may differ in the last bits"):
        model.fit_stream(drawn(2), engine=Engine(Mixed(0), mixed="warn"))
    assert model.n_samples_seen_ == 600


class Counted(Fickle):
    """Has so many workers, and knows what they were given to do."""

    _max_workers = 3

    def __init__(self, numpy=None):
        super().__init__(0)
        self.numpy, self.given = numpy, []

    def submit(self, fn, /, *args):
        self.given.append(fn.__name__)
        future = super().submit(fn, *args)
        if fn is _ready and self.numpy:
            future = Future()
            future.set_result(facts() | {"numpy": self.numpy})
        return future


def test_workers_are_asked_what_they_are_and_compile_before_the_first_round():
    engine, listed = Counted(), drawn(3)
    model = OnlineNMF(ATOMS, random_state=0).fit_stream(
        listed, slots=2, rounds=SMALL, engine=engine
    )
    assert engine.given[:4] == ["_ready"] * 3 + ["learn_slot"]
    assert "_ready" not in engine.given[3:]
    here = OnlineNMF(ATOMS, random_state=0).fit_stream(listed, slots=2, rounds=SMALL)
    assert bits(model) == bits(here)
    OnlineNMF(ATOMS).fit_stream(Shards([Bad(9), *listed]), engine=Counted(), on_bad_shard="skip")
    unlike, untouched = Counted("0.1"), OnlineNMF(ATOMS)
    with pytest.raises(EngineError, match=r"A worker has numpy 0.1 \(here"):
        untouched.fit_stream(listed, engine=unlike)
    assert unlike.given == ["_ready"] * 3
    assert not hasattr(untouched, "_learner")
    with pytest.warns(UserWarning, match="may differ in the last bits"):
        untouched.fit_stream(listed, engine=Engine(unlike, mixed="warn"))


class Hungry(Drawn):
    """Rows that do not fit into memory."""

    def read(self, first, last):
        raise MemoryError


def test_too_little_memory_names_the_shard():
    with pytest.raises(EngineError, match=r"run out of memory while [^;]*drawn\[9\] \(256 rows\)"):
        OnlineNMF(ATOMS).fit_stream(Shards([Hungry(9)]), rounds=SMALL)


def test_rows_are_dealt_once_and_in_order():
    shards = drawn(7)
    for skipped in ((), ("drawn[2]",), ("drawn[0]", "drawn[6]")):
        at, seen = Position(), []
        while True:
            hands, after = plan(shards, at, skipped, SMALL, 3, 100 if not at.round else 0)
            if not hands:
                break
            sizes = [sum(span.n_rows for span in hand) for hand in hands]
            assert len(hands) <= 3
            assert all(size == sizes[0] for size in sizes[:-1])
            seen += [
                (span.shard.seed, row)
                for hand in hands
                for span in hand
                for row in range(span.first, span.last)
            ]
            at = after
        names = [shard for shard in shards if shard.name not in skipped]
        assert seen == [(shard.seed, row) for shard in names for row in range(300)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"engine": "proceses"}, "engine='proceses' is not known"),
        ({"engine": 3}, "must have a method submit"),
        ({"slots": 0}, "slots must be a whole number of at least 1"),
        ({"on_bad_shard": "pass"}, "'raise' or 'skip'"),
    ],
)
def test_wrong_arguments_are_told_in_a_sentence(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        OnlineNMF(ATOMS).fit_stream(drawn(1), **arguments)


def test_what_is_for_shards_is_refused_for_streams():
    with pytest.raises(TypeError, match="slots is for shards"):
        OnlineNMF(ATOMS).fit_stream([planted(50)], slots=2)
    with pytest.raises(ValueError, match="growth to be a number from 1"):
        Rounds(growth=0.5)
    with pytest.raises(ValueError, match="mode to be local or frozen"):
        Rounds(mode="async")
    assert planted(3).shape == (3, FEATURES)


def test_callbacks_see_every_round_and_may_end_learning():
    class Counting(Callback):
        def __init__(self, most):
            self.most, self.seen = most, []

        def on_fit_task_end(self, estimator, context):
            if context.task_name == "batch":
                self.seen.append(estimator.n_samples_seen_)
                return len(self.seen) == self.most
            return None

    for slots in (1, 3):
        model, watcher = OnlineNMF(ATOMS, random_state=0), Counting(99)
        model.set_callbacks(watcher).fit_stream(drawn(), slots=slots, rounds=SMALL)
        assert len(watcher.seen) == model.rounds_report_.n_rounds > 3
        assert watcher.seen[-1] == 2100
        ended = Counting(2)
        stopped = OnlineNMF(ATOMS, random_state=0).set_callbacks(ended)
        stopped.fit_stream(drawn(), slots=slots, rounds=SMALL, engine="threads")
        assert stopped.rounds_report_.n_rounds == 2
        assert ended.seen == watcher.seen[:2]


def test_rows_with_gaps_learn_in_slots_and_one_without_any_entry_does_no_harm(room):
    class Gaps(Drawn):
        def read(self, first, last):
            for block in super().read(first, last):
                hidden = np.random.default_rng(self.seed).random((300, FEATURES)) < 0.3
                rows = np.where(hidden[first:last], np.nan, block)
                yield np.full_like(rows, np.nan) if self.seed == 4 else rows

    listed = Shards([Gaps(seed) for seed in range(6)])
    model = OnlineNMF(ATOMS, missing=True, random_state=0)
    model.fit_stream(listed, slots=2, rounds=Rounds(256, 128, 1.0, 512, 64))
    assert model.n_samples_seen_ == 1800
    room.error(error_of_hidden(model), at_most=0.25)


def error_of_hidden(model):
    """Return the relative error on whole rows."""
    X = planted(500, seed=1000)
    return np.linalg.norm(X - model.inverse_transform(model.transform(X))) / np.linalg.norm(X)


def test_the_seed_of_a_model_may_be_of_any_kind():
    shards = drawn(3)
    whole = OnlineNMF(ATOMS, random_state=5).fit_stream(shards, slots=2, rounds=SMALL)
    source = np.random.default_rng(5)
    other = OnlineNMF(ATOMS, random_state=source)
    other.fit_stream(shards, slots=2, rounds=SMALL, engine=Fickle(3))
    assert np.array_equal(other.components_, whole.components_)
    OnlineNMF(ATOMS).fit_stream(shards, slots=2, rounds=SMALL, engine=Fickle(4))
