"""What goes wrong is told to people and machines: in JSON, with the file and the next step."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import run, standard_input

import atomstream
from atomstream.cli import main
from atomstream.runs.folder import Log, RunFolder
from atomstream.runs.run import Run
from atomstream.runs.tasks.shards import ShardsTask
from atomstream.watch.lives import Event

LINES = "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(600))


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.random.default_rng(0).random((400, 5)))


def last_line(capsys):
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    "words",
    [
        "learn gone.npy --out new --json",
        "learn x.npy --json --colour red --out new",
        "resume nothing --json",
        "inspect nothing --json",
    ],
)
def test_with_json_an_error_is_an_object(table, capsys, words):
    assert main(words.split()) == 2
    told = json.loads(last_line(capsys))
    assert main(words.replace("--json", "").split()) == 2
    assert last_line(capsys) == f"Error: {told['error']}"
    assert told["exit_code"] == 2
    assert told.keys() == {"error", "exit_code"}


def test_a_run_without_a_checkpoint_says_whether_one_is_to_come(table, capsys):
    run("learn", "x.npy", "--epochs", 1, "--out", "new")
    for path in (*Path("new/checkpoints").iterdir(), Path("new/model.atoms")):
        path.unlink()
    assert main(["inspect", "new"]) == 2
    assert last_line(capsys).endswith(
        "yet: its process has ended; begin again with: atomstream resume new."
    )
    with RunFolder(Path("new")).writing():
        assert main(["inspect", "new"]) == 2
        assert last_line(capsys).endswith("yet: wait for its first checkpoint.")


def test_rows_learned_and_held_out_add_up(table, capsys):
    run("learn", "x.npy", "--epochs", 1, "--out", "new")
    capsys.readouterr()
    run("inspect", "new")
    found = re.search(r"rows +(\d+) in \d+ step.*; (\d+) more held out", capsys.readouterr().out)
    assert int(found[1]) + int(found[2]) == 400


def full(*_):
    error = OSError(28, "No space left on device")
    error.add_note("A note of a library.")
    raise error


def test_a_full_disk_names_the_file_and_the_next_step(table, capsys, monkeypatch):
    run("learn", "x.npy", "--atoms", 2, "--epochs", 2, "--max-time", 0, "--out", "run")
    with monkeypatch.context() as patch:
        patch.setattr("atomstream.io.files.os.fsync", full)
        assert main(["resume", "run"]) == 1
        first = last_line(capsys)
        assert main(["encode", "run", "x.npy", "--out", "codes.csv"]) == 1
        second = last_line(capsys)
    assert first.startswith("Error: run/")
    assert "could not be written: No space left on device." in first
    assert first.endswith("then continue with: atomstream resume run.")
    assert second.startswith("Error: codes.csv could not be written: No space left on device.")
    assert second.endswith("then give the command again.")
    assert main(["resume", "run"]) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_fills_up_while_a_line_is_added_is_named_too(tmp_path):
    log = Log(tmp_path)
    log.history = Path("/dev/full")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        log.write_events([Event(9, None, "birth", 1, 1, None)])


def test_resume_takes_standard_input_by_its_name(table, capsys):
    with standard_input(LINES):
        run("learn", "-", "--atoms", 2, "--max-time", 0, "--out", "live")
    with standard_input(LINES):
        run("resume", "live", "-")
    assert "continuing with what comes" in capsys.readouterr().err
    run("learn", "x.npy", "--atoms", 2, "--max-time", 0, "--out", "run")
    for words in ("resume run -", "resume run x.npy", "resume live x.npy"):
        capsys.readouterr()
        assert main(words.split()) == 2
        assert "goes on with its own inputs" in last_line(capsys)


def test_a_warning_is_said_when_it_comes_and_once(table, capsys, monkeypatch):
    said, finish = [], Run._finish

    def look(self, pace):
        said.append(capsys.readouterr().err)
        finish(self, pace)

    monkeypatch.setattr(Run, "_finish", look)
    run("learn", "x.npy", "--atoms", 2, "--half-life", 50, "--out", "run")
    assert "breaks condition (A3)" in said[0]
    assert "breaks condition (A3)" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "advised"),
    [
        ({"waiting": 13.0, "reading": 2.0, "coding": 3.0}, True),
        ({"waiting": 4.0, "reading": 2.0, "coding": 3.0}, False),
        ({}, False),
    ],
)
def test_rounds_that_wait_more_than_they_work_are_told(table, seconds, advised):
    kind = ShardsTask.settings_type
    task = ShardsTask(kind(("x.npy",), atoms=2, engine="threads"))
    task.report.seconds = seconds
    advice = task.advice(None)
    assert (advice is not None) == advised
    if advised:
        assert "waited 13.0 s for 5.0 s of work" in advice
    # Without an engine nobody waits.
    alone = ShardsTask(kind(("x.npy",), atoms=2, slots=2))
    alone.report.seconds = seconds
    assert alone.advice(None) is None


def test_one_command_begins_a_run_and_goes_on_with_it(table, capsys):
    words = ("learn", "x.npy", "--atoms", 2, "--epochs", 3, "--resume")
    run("learn", "x.npy", "--atoms", 2, "--epochs", 3, "--out", "whole")
    run(*words, "--max-time", 0, "--out", "run")
    assert "resume run" in capsys.readouterr().out
    before = atomstream.load("run").n_steps_
    run(*words, "--out", "run")
    whole, found = atomstream.load("whole"), atomstream.load("run")
    assert before < found.n_steps_ == whole.n_steps_
    assert (found.components_ == whole.components_).all()
    capsys.readouterr()
    run(*words, "--out", "run")
    assert "Nothing is left to do" in capsys.readouterr().out
    # What does not decide what is learned may be others, and goes further.
    run(*words, "--out", "run", "--epochs", 4, "--keep", 1)
    assert atomstream.load("run").n_steps_ > found.n_steps_
    more = ("--seed", 7, "--scale", "std", "--epochs", 4)
    assert main([str(word) for word in (*words, *more, "--out", "run")]) == 2
    told = last_line(capsys)
    assert "run was begun with --seed 0, now 7; --scale none, now std. Give the settings" in told
    np.save("y.npy", np.load("x.npy"))
    assert main(["learn", "y.npy", *map(str, words[2:]), "--epochs", "4", "--out", "run"]) == 2
    inputs = (Path(name).resolve() for name in ("x.npy", "y.npy"))
    assert "begun with inputs {}, now {}.".format(*inputs) in last_line(capsys)
    # A run that was killed before its first checkpoint begins again.
    shutil.rmtree("run/checkpoints")
    Path("run/model.atoms").unlink()
    run(*words, "--out", "run", "--epochs", 3)
    assert (atomstream.load("run").components_ == whole.components_).all()
