"""Every kind of run, stopped after every step and resumed, ends as if never stopped."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from cases import of_fields
from commands import run
from stopped_runs import TABLE, write

from atomstream.base.declared import declared
from atomstream.files.archive import read_archive
from atomstream.runs import kinds_of_runs
from atomstream.runs.folder import RunFolder

# Each kind of run: the command, at least how many sessions it takes when each learns one step, and
# of fields what prepares a folder.
KINDS = {
    "rows of a table": ("learn rows.csv --atoms 3 --batch-size 30 --epochs 2", 8),
    "rows, settled": (
        "learn rows.csv --atoms 3 --loss kl --batch-size 30 --epochs 1 --settle 3",
        15,
    ),
    "rows, settled by sums": (
        "learn rows.csv --atoms 3 --batch-size 40 --epochs 1 --settle 2",
        8,
    ),
    "rows with gaps": (
        "learn gaps.csv --missing --atoms 2 --batch-size 40 --half-life 50 --epochs 1",
        3,
    ),
    "rows in rounds over shards": (
        "learn rows.csv --atoms 3 --round-batch 10 --epochs 2 --slots 2 --engine threads "
        "--warmup 30 --round-rows 10 --round-growth 1.2 --shard-rows 50",
        7,
    ),
    "rows in frozen rounds": (
        "learn rows.csv --atoms 3 --round-batch 20 --slots 2 --warmup 30 --round-rows 20 "
        "--round-mode frozen",
        3,
    ),
    "patches as rows": (
        "learn pictures --model dictionary --center --patch 4 --per-image 60 --atoms 4 "
        "--batch-size 50 --epochs 2",
        4,
    ),
    **of_fields("stopped"),
}
RESULTS = (
    *("forecast.csv", "imputed.csv", "partition.csv", "partition.geojson"),
    *("ranks.csv", "atoms.csv", "intervals.csv"),
    *("signatures.txt", "activities.txt", "samples.csv"),
    *("profiles.csv", "contributions.csv", "residuals.csv", "species.csv", "numbers.csv"),
)


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """A working folder with an input of each kind."""
    from PIL import Image

    rng = np.random.default_rng(0)
    gaps = np.where(rng.random(TABLE.shape) < 0.1, np.nan, TABLE)
    write(tmp_path / "rows.csv", TABLE)
    write(tmp_path / "gaps.csv", gaps[:90])
    (tmp_path / "pictures").mkdir()
    for number in range(2):
        pixels = rng.integers(0, 256, (20, 24), np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"pictures/{number}.png")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def prepared(kind, folder, monkeypatch):
    """Return the command of a kind of run, and its sessions, once its inputs are there."""
    command, sessions, *prepare = KINDS[kind]
    for each in prepare:
        each(folder, monkeypatch)
    return command, sessions


def result(folder):
    """Return all that must be the same, however the run got there."""
    content, arrays = read_archive(folder / "model.atoms")
    for name in ("seconds", "run"):
        content["notes"].pop(name)
    content["notes"].pop("rounds", None)  # how time was spent
    history = content["notes"]["history"]["dict"]
    history.pop("elapsed")
    arrays[history["seconds"]["array"]] = np.empty(0)
    written = {name: (folder / name).read_bytes() for name in RESULTS if (folder / name).exists()}
    return json.dumps(content), [array.tobytes() for array in arrays], written


def complete(folder):
    return bool(read_archive(folder / "model.atoms")[0]["notes"]["finished"])


@pytest.mark.cover(3)
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_stopped_after_every_step_ends_as_one_never_stopped(inputs, kind, monkeypatch):
    command, sessions = prepared(kind, inputs, monkeypatch)
    run(*command.split(), "--out", "whole")
    assert complete(inputs / "whole")
    run(*command.split(), "--max-time", 0, "--out", "stopped")
    for count in range(1, 200):  # noqa: B007 - counted on purpose
        if complete(inputs / "stopped"):
            break
        run("resume", "stopped", "--max-time", 0)
    assert count >= sessions
    assert result(inputs / "stopped") == result(inputs / "whole")


@pytest.mark.cover(4)
@pytest.mark.parametrize("kind", list(KINDS)[::-1])  # others than above
def test_checkpoints_after_every_step_change_nothing(inputs, kind, monkeypatch):
    command, sessions = prepared(kind, inputs, monkeypatch)
    run(*command.split(), "--out", "whole")
    run(*command.split(), "--checkpoint-every", 0, "--out", "kept")
    assert result(inputs / "kept") == result(inputs / "whole")
    events = [event["event"] for event in RunFolder("kept").log.events()]
    assert events.count("checkpoint") >= sessions


def test_every_kind_of_run_is_in_the_table():
    commands = {"learn", *(task["command"] for task in declared("tasks").values())}
    assert len(commands) == len(kinds_of_runs())
    for command in commands:
        assert any(found.startswith(f"{command} ") for found, *_ in KINDS.values()), command


SIGNALLED = {
    "rows": ("learn rows.csv --atoms 3 --batch-size 30", "epochs", "SIGINT", None, []),
    **of_fields("signalled"),
}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=marks) for kind, (*_, marks) in SIGNALLED.items()]
)
def test_a_signal_stops_a_run_that_goes_on_to_the_bit(inputs, kind, monkeypatch):
    command, goal, number, prepare, _ = SIGNALLED[kind]
    if prepare is not None:
        prepare(inputs, monkeypatch)
    arguments = [*command.split(), f"--{goal}", "5000", "--checkpoint-every", "0.01", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "atomstream", *arguments, "--out", "run"],
        stdout=subprocess.PIPE,
        text=True,
    )
    while not (inputs / "run/model.atoms").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(getattr(signal, number))
    told = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == 0
    assert (told["stopped_by"], told["complete"]) == (number, False)
    further = told["position"][0] + 2
    for name in ("keep", "checkpoint_every"):
        assert name in (inputs / "run/run.toml").read_text()
    run("resume", "run", f"--{goal}", further)
    run(*command.split(), f"--{goal}", further, "--out", "whole")
    assert result(inputs / "run") == result(inputs / "whole")
