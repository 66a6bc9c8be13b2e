"""Histories: each number against what it is by definition; thinning, files, kills."""

import json
import math

import numpy as np
import pytest

from atomstream import OnlineNMF
from atomstream.cli import main
from atomstream.looks.pages import sections_of
from atomstream.runs.record import open_record
from atomstream.watch.callbacks import History
from atomstream.watch.history import FIELDS, Trace, read_history
from atomstream.watch.lives import atoms_over_time

X = np.random.default_rng(0).random((400, 6))


def learned(history, *, n_samples=400, **settings):
    model = OnlineNMF(3, batch_size=20, n_epochs=1, shuffle=False, random_state=0, **settings)
    return model.set_callbacks(history).fit(X[:n_samples])


class Spy(History):
    """Keeps what the history is made from."""

    def setup(self, estimator, context):
        super().setup(estimator, context)
        self.seen = []

    def note(self, learner):
        atoms, used = learner.components_.copy(), learner._progress.delta.usage.copy()
        self.seen.append((atoms, used, learner.clock_.weight))
        super().note(learner)


def test_every_number_is_what_it_is_said_to_be():
    spy = Spy()
    model = learned(spy)
    points = spy.points
    assert set(points) == set(FIELDS)
    assert points["step"] == list(range(1, 21))
    assert points["n_samples"] == list(range(20, 401, 20))
    assert points["objective"][-1] == model.batch_objective_
    assert points["n_reseeded"][-1] == model.n_reseeded_
    weights = np.zeros(0)
    for t, (atoms, used, weight) in enumerate(spy.seen):
        weights = np.append((1 - weight) * weights, weight)
        # A batch of 20 samples of weight w is 20 samples of weight w / 20.
        assert points["memory"][t] == pytest.approx(20 * weights.sum() ** 2 / (weights**2).sum())
        if t:
            change = np.linalg.norm(atoms - spy.seen[t - 1][0]) / np.linalg.norm(atoms)
            assert points["moved"][t] == pytest.approx(change, rel=1e-6)
        np.testing.assert_allclose(points["usage"][t], used / used.sum(), atol=1e-6)
    assert all(0 < value < 1 for value in points["violation"])
    assert all(a <= b for a, b in zip(points["seconds"], points["seconds"][1:], strict=False))


def test_rows_held_out_are_judged_at_every_32nd_point():
    history = History(held_out=X[:30])
    seen = {}

    class Spy(History):
        def note(self, learner):
            seen[learner.n_steps_] = learner.objective(X[:30])

    model = OnlineNMF(3, batch_size=20, n_epochs=4, shuffle=False, random_state=0)
    model.set_callbacks(history, Spy()).fit(X)
    judged = dict(zip(history.points["step"], history.points["held_out"], strict=True))
    known = {step: value for step, value in judged.items() if not math.isnan(value)}
    assert known == {step: seen[step] for step in (1, 33, 65)}


def test_the_memory_of_the_harmonic_schedule_is_all_samples():
    history = History()
    learned(history, schedule="harmonic")
    assert history.points["memory"] == pytest.approx(history.n_samples)


def test_points_thin_themselves_and_stay_evenly_spaced():
    history = History(max_points=10)
    learned(history, n_samples=400)
    steps = history.points["step"]
    assert len(steps) <= 10
    assert set(np.diff(steps)) == {history.every}
    assert all(len(values) == len(steps) for values in history.points.values())


def test_a_change_of_the_stream_is_an_alarm(room):
    rng = np.random.default_rng(1)
    low = rng.random((6000, 2)) @ rng.random((2, 8)) + 0.01 * rng.random((6000, 8))
    high = rng.random((1000, 2)) @ rng.random((2, 8)) + 0.01 * rng.random((1000, 8))
    history = History()
    model = OnlineNMF(2, schedule="harmonic", random_state=0).set_callbacks(history)
    model.fit_stream(np.split(np.concatenate([low, high]), 350))
    first = np.flatnonzero(np.array(history.points["n_alarms"]) > 0)[0]
    assert first >= 300
    room.error(first - 300, at_most=15)
    assert history.points["n_alarms"][299] == 0
    assert history.points["drift"][first] > 1


def test_saved_and_restored_histories_go_on_as_one():
    first, second = History(), History()
    first.max_points = second.max_points = 4  # so that the last batch is no point
    learned(first, n_samples=200)
    second.restore(first.saved())
    assert second.saved().keys() == first.saved().keys()
    for name in FIELDS.keys() - {"seconds"}:
        np.testing.assert_array_equal(second.points[name], first.points[name])
    assert second.detector.state == first.detector.state
    assert second.seconds >= first.points["seconds"][-1]
    assert first.points["step"] == second.points["step"] == [1, 5, 9]
    for history in (first, second):
        model = OnlineNMF(3, batch_size=20, n_epochs=1, shuffle=False, random_state=0).fit(X[:200])
        for start in range(200, 280, 20):
            history.note(model.partial_fit(X[start : start + 20]))
    assert first.points["step"] == second.points["step"] == [1, 5, 9, 13]
    assert second.detector.state == first.detector.state
    assert second._squares == first._squares


@pytest.mark.parametrize(
    "damage",
    [
        {"objective": np.zeros(3)},
        {"usage": np.zeros(5)},
        {"detector": np.zeros(3)},
        {"detector": np.full(9, np.nan)},
        {"step": "many"},
    ],
)
def test_histories_that_do_not_fit_together_are_refused(damage):
    history = History()
    learned(history)
    with pytest.raises((ValueError, TypeError)):
        History().restore(history.saved() | damage)


def test_a_run_writes_its_history_and_goes_on_without_gaps_or_repeats(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((3000, 5)))
    words = [
        "learn",
        str(tmp_path / "x.npy"),
        "--atoms",
        "2",
        "--epochs",
        "4",
        "--batch-size",
        "50",
    ]
    assert main([*words, "--out", str(tmp_path / "whole")]) == 0
    assert main([*words, "--out", str(tmp_path / "parts"), "--max-time", "0s"]) == 0
    with (tmp_path / "parts/history.jsonl").open("a") as file:
        file.write('{"step": 10000}\n{"step": 7, "n_sam')  # what a kill may leave
    assert main(["resume", str(tmp_path / "parts")]) == 0
    whole, parts = (read_history(tmp_path / name / "history.jsonl") for name in ("whole", "parts"))
    assert parts.points["step"] == whole.points["step"] == list(range(1, 241))
    for name in FIELDS.keys() - {"seconds"}:
        np.testing.assert_array_equal(parts.points[name], whole.points[name])
    lines = [*map(json.loads, (tmp_path / "parts/history.jsonl").read_text().splitlines())]
    assert sum("event" not in line for line in lines) == len(parts.n_samples)
    events = [line for line in lines if "event" in line]
    found = atoms_over_time(open_record(tmp_path / "parts").history).events
    assert [(e["n_samples"], e["event"], e["life"]) for e in events] == [
        (e.n_samples, e.kind, e.life) for e in found
    ]
    assert main(["resume", str(tmp_path / "parts"), "--epochs", "5"]) == 0
    text = (tmp_path / "parts/history.jsonl").read_text()
    again = [line for line in text.splitlines() if '"event"' in line]
    record = open_record(tmp_path / "parts")
    assert len(again) == len(atoms_over_time(record.history).events)


def test_changes_over_of_the_adaptive_schedule_are_kept_and_logged(tmp_path):
    rng = np.random.default_rng(0)
    parts = rng.random((2, 3, 8)) * (rng.random((2, 3, 8)) < 0.5)
    rows = [rng.random((2000, 3)) @ part for part in parts]
    np.save(tmp_path / "x.npy", np.concatenate(rows) + 0.1 * rng.random((4000, 8)))
    words = ["learn", str(tmp_path / "x.npy"), "--atoms", "3", "--schedule", "adaptive"]
    words += ["--batch-size", "20", "--epochs", "1", "--holdout", "0"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    trace = read_history(tmp_path / "run/history.jsonl")
    counts = np.array(trace.points["n_changeovers"])
    places = np.flatnonzero(np.diff(counts) > 0) + 1
    logged = [*map(json.loads, (tmp_path / "run/log.jsonl").read_text().splitlines())]
    found = [line for line in logged if line["event"] == "changeover"]
    assert [line["n_samples"] for line in found] == [trace.n_samples[i] for i in places]
    assert any(2000 < line["n_samples"] <= 2200 for line in found)
    assert counts[-1] == open_record(tmp_path / "run").model._learner.reactive.n_taken
    sections = sections_of(open_record(tmp_path / "run"))
    (learning,) = (section for section in sections if section.name == "objective")
    assert f"{found[-1]['n_samples']:,} rows" in learning.caption


def test_the_file_is_added_to_and_written_anew_when_points_thin(tmp_path):
    from atomstream.runs.folder import RunFolder

    folder, history = RunFolder(tmp_path), Trace(max_points=6)
    model = OnlineNMF(2, batch_size=20, random_state=0)
    for start in range(0, 400, 20):
        model.partial_fit(X[start : start + 20])
        history.note(model)
        folder.log.write_history(history)
        read = read_history(tmp_path / "history.jsonl")
        assert read.points["step"] == history.points["step"]
        assert read.objective == history.objective
    assert history.every > 1
    assert not math.isnan(read.points["memory"][-1])


def test_a_write_that_fails_leaves_no_repeats(tmp_path, monkeypatch):
    from atomstream.runs.folder import RunFolder

    folder, history = RunFolder(tmp_path), History()
    learned(history, n_samples=200)
    folder.log.write_history(history)
    whole = Trace.lines

    def cut(trace, first=0):
        yield next(whole(trace, first))
        raise OSError("the disk is full")

    model = OnlineNMF(3, batch_size=20, n_epochs=1, shuffle=False, random_state=0).fit(X[:200])
    for start in (200, 220, 240):
        history.note(model.partial_fit(X[start : start + 20]))
    with monkeypatch.context() as patch:
        patch.setattr(History, "lines", cut)
        with pytest.raises(OSError, match="full"):
            folder.log.write_history(history)
    folder.log.write_history(history)
    assert read_history(tmp_path / "history.jsonl").points["step"] == history.points["step"]
