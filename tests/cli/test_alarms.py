"""Alarms of runs reach standard error, the log, a command, the report, ``inspect`` and metrics."""

import json
import re
import shlex
import sys
import threading

import numpy as np
import pytest

from atomstream import OnlineNMF
from atomstream.cli import main
from atomstream.runs.alarms import METRICS, THREAD
from atomstream.watch.changes import ChangeWatch


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Rows whose atoms change after batch 200 of 300."""
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 3, 8))
    codes = rng.random((6000, 3))
    X = np.concatenate([codes[:4000] @ first, codes[4000:] @ second])
    path = tmp_path_factory.mktemp("changed") / "x.npy"
    np.save(path, X + 0.02 * rng.random(X.shape))
    return path


def command(path):
    program = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"
    return shlex.join([sys.executable, "-c", program, str(path)])


def learn(path, run, *words):
    fixed = ["--atoms", "3", "--epochs", "1", "--batch-size", "20", "--holdout", "0"]
    return main(["learn", str(path), *fixed, "--out", str(run), *words])


def settled():
    """Wait for the commands of alarms; other tests' threads never end."""
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join(60)


def test_an_alarm_reaches_all_who_listen(changed, tmp_path, capsys):
    run, told, metrics = tmp_path / "run", tmp_path / "told", tmp_path / "atomstream.prom"
    assert learn(changed, run, "--on-alarm", command(told), "--metrics", str(metrics)) == 0
    settled()
    events = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    alarms = [event for event in events if event["event"] == "alarm"]
    assert alarms
    assert 200 < alarms[0]["step"] <= 230
    assert 195 <= alarms[0]["began_step"] <= alarms[0]["step"]
    assert alarms[0]["n_samples"] == 20 * alarms[0]["step"]
    heard = sorted(map(json.loads, told.read_text().splitlines()), key=lambda it: it["step"])
    assert [it["step"] for it in heard] == [it["step"] for it in alarms]
    assert heard[0]["run"] == str(run)
    captured = capsys.readouterr()
    assert captured.err.count("Alarm: the stream changed at step") == len(alarms)
    assert "Alarm" not in captured.out
    assert main(["inspect", str(run), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["alarms"]) == len(alarms)
    assert main(["inspect", str(run)]) == 0
    assert "the stream changed by" in capsys.readouterr().out
    assert f'atomstream_alarms_total{{run="run"}} {len(alarms)}.0' in metrics.read_text()


def test_a_rise_of_hundreds_of_times_is_told_before_the_detector_knows_the_law(tmp_path, capsys):
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 3, 8))
    codes = rng.random((500, 3))
    X = np.concatenate([codes[:400] @ first, 30 * codes[400:] @ second])  # from batch 21 of 25 on
    np.save(tmp_path / "x.npy", X + 0.02 * rng.random(X.shape))
    told, metrics = tmp_path / "told", tmp_path / "atomstream.prom"
    words = "--on-alarm", command(told), "--metrics", str(metrics)
    assert learn(tmp_path / "x.npy", tmp_path / "run", *words) == 0
    settled()
    assert json.loads(told.read_text())["began_step"] == 21
    assert "Alarm: the stream changed at step 21, found at step 22" in capsys.readouterr().err
    assert 'atomstream_drift{run="run"} NaN' in metrics.read_text()  # of the new level


@pytest.mark.usefixtures("undrawn")
def test_the_report_lists_alarms(changed, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    assert learn(changed, tmp_path / "run") == 0
    assert main(["report", str(tmp_path / "run")]) == 0
    assert "Alarms were given 1 time" in (tmp_path / "run/report.html").read_text()


def test_metrics_are_text_that_a_collector_reads(changed, tmp_path):
    path = tmp_path / "a.prom"
    assert learn(changed, tmp_path / 'the "run"', "--metrics", str(path)) == 0
    text = path.read_text()
    assert text.endswith("\n")
    for name, (kind, _) in METRICS.items():
        assert f"# TYPE atomstream_{name} {kind}\n" in text
        assert re.search(
            rf'^atomstream_{name}\{{run="the \\"run\\""\}} [-+.e0-9]+$', text, re.MULTILINE
        )
    assert 'atomstream_samples_total{run="the \\"run\\""} 6000.0' in text
    assert sorted(found.name for found in tmp_path.iterdir()) == ["a.prom", 'the "run"']


def test_no_shell_reads_the_command(changed, tmp_path, capsys):
    assert learn(changed, tmp_path / "run", "--on-alarm", "no-such-program; echo x") == 2
    assert "--on-alarm names no program that can be found" in capsys.readouterr().err
    assert learn(changed, tmp_path / "run", "--on-alarm", "'") == 2
    assert "cannot be split into words" in capsys.readouterr().err
    assert learn(changed, tmp_path / "run", "--metrics", str(tmp_path / "no/a.prom")) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_command_that_fails_does_no_harm(changed, tmp_path, caplog):
    program = shlex.join([sys.executable, "-c", "raise SystemExit(3)"])
    assert learn(changed, tmp_path / "run", "--on-alarm", program) == 0
    settled()
    assert "The command of --on-alarm ended with 3." in caplog.text


def test_a_callback_hears_of_each_change(changed):
    heard = []
    watch = ChangeWatch(on_alarm=heard.append)
    model = OnlineNMF(3, random_state=0).set_callbacks(watch)
    model.fit_stream(np.split(np.load(changed), 300))
    assert heard
    assert heard == watch.found


def test_the_json_at_the_end_says_what_was_left_out_and_whether_an_alarm_rang(
    changed, tmp_path, capsys
):
    assert learn(changed, tmp_path / "run", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["alarms"]) == 1
    assert 4000 < facts["alarms"][0] <= 4600
    assert facts["left_out"] == []
    X = np.load(changed)[:400]
    X[3, 2], X[[5, 17]] = np.nan, np.inf
    lines = [",".join(map(str, row)) for row in X.tolist()] + ["1,x,3,4,5,6,7,8"]
    (tmp_path / "holes.csv").write_text("\n".join(lines) + "\n")
    words = ["--missing", "--on-bad-line", "skip", "--json", "--holdout", "0.1"]
    assert learn(tmp_path / "holes.csv", tmp_path / "holes", *words) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["alarms"] == []
    left = {each["what"]: each for each in facts["left_out"] if "held" not in each["why"]}
    assert {what: each["count"] for what, each in left.items()} == {"rows": 3, "entries": 1}
    held = next(
        each["count"] for each in facts["left_out"] if each["why"] == "held out to judge by"
    )
    assert facts["samples"] == 401 - 3 - held
    assert held > 20
