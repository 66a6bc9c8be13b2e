"""Every kind of run, stopped after every step and resumed, ends as if never stopped."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from commands import run

from atomstream.files.archive import read_archive
from atomstream.runs import kinds_of_runs
from atomstream.runs.folder import RunFolder

# Each kind of run: the command, and at least how many sessions it takes when each learns one step.
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
    "rows, made of samples": (
        "learn rows.csv --model convex --atoms 2 --batch-size 40 --representatives 50 --epochs 1",
        3,
    ),
    "rows with gaps": (
        "learn gaps.csv --missing --atoms 2 --batch-size 40 --half-life 50 --epochs 1",
        3,
    ),
    "rows with gaps, made of samples": (
        "learn gaps.csv --model convex --missing --atoms 2 --batch-size 40 --representatives 50 "
        "--epochs 1",
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
    "consensus": (
        "consensus rows.csv --atoms 2,3 --replicates 3 --batch-size 40 --epochs 2",
        6,
    ),
    "patches as rows": (
        "learn pictures --model dictionary --center --patch 4 --per-image 60 --atoms 4 "
        "--batch-size 50 --epochs 2",
        4,
    ),
    "image": ("image learn pictures --patch 4 --atoms 6 --patches 6000 --batch-size 500", 3),
    "network": ("network learn edges.txt --motif path:4 --atoms 4 --batches 5 --batch-size 40", 5),
    "network, all copies": (
        "network learn edges.txt --motif path:3 --chain all --atoms 3 --batches 4 --batch-size 90",
        4,
    ),
    "network, any motif": (
        "network learn edges.txt --motif cycle:3 --chain glauber --atoms 3 --batches 4 "
        "--batch-size 40",
        4,
    ),
    "series forecast": (
        "series forecast series.csv --window 6 --atoms 4 --horizon 3 --log --scale --average 2",
        10,
    ),
    "series impute": ("series impute gaps.csv --window 6 --atoms 4", 8),
    "signatures": ("signatures counts.txt --signatures 2-4 --replicates 3", 2),
    "sources": (
        "sources species.csv --uncertainty errors.csv --factors 2-3 --starts 1 --bootstraps 1",
        3,
    ),
    "tensor": ("tensor learn cubes.npy --atoms 2 --batch-size 10 --epochs 2", 6),
    "tensor, settled": (
        "tensor learn cubes.npy --atoms 2 --batch-size 10 --epochs 1 --settle 2",
        10,
    ),
    "video": ("video learn cubes.npy --atoms 2 --batch-size 10", 3),
    "text": ("text topics docs.txt --topics 2 --batch-size 20 --epochs 2 --features 64", 6),
    "text, counted": (
        "text topics docs.txt --topics 2 --batch-size 25 --epochs 2 --vectorizer tfidf",
        4,
    ),
    "walk": (
        "walk partition trips.csv --origin a,b --destination c,d --cell 1km --min-count 2 --rank 3 "
        "--clusters 2 --passes 2",
        2,
    ),
    "walk of numbers": (
        "walk partition walk.npy --states --rank 3 --clusters 3 --passes 2 --tau 2",
        6,
    ),
    "walk of names": ("walk partition walk.txt --states --rank 3 --clusters 3 --passes 2", 6),
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
    table = np.round(rng.random((120, 5)) + np.sin(np.arange(120) / 4)[:, None] + 1, 3)
    gaps = np.where(rng.random(table.shape) < 0.1, np.nan, table)
    for name, values in (("rows", table), ("series", table[:80]), ("gaps", gaps[:90])):
        lines = [",".join("" if v != v else repr(v) for v in row) for row in values.tolist()]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,c,d,e", *lines]) + "\n")
    for name, values in (("species", table + 2), ("errors", 0.1 * table + 0.1)):
        rows = [f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00" for i in range(120)]
        lines = [
            ",".join([row, *map(repr, each)])
            for row, each in zip(rows, values.tolist(), strict=True)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["date,a,b,c,d,e", *lines]) + "\n")
    counts = rng.poisson(rng.gamma(0.5, 200, (8, 2)) @ rng.gamma(1, 1, (2, 20))).astype(str)
    channels = [["MutationType", *(f"sample {i}" for i in range(20))]]
    channels += [[f"channel {i}", *row] for i, row in enumerate(counts.tolist())]
    (tmp_path / "counts.txt").write_text("".join("\t".join(row) + "\n" for row in channels))
    (tmp_path / "pictures").mkdir()
    for number in range(2):
        pixels = rng.integers(0, 256, (20, 24), np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"pictures/{number}.png")
    np.save(tmp_path / "cubes.npy", rng.random((40, 4, 5)))
    edges = [f"{i} {(i + step) % 30}" for i in range(30) for step in (1, 2, 7)]
    (tmp_path / "edges.txt").write_text("\n".join(edges))
    words = np.array(
        ["cat", "dog", "horse", "mouse", "stock", "bond", "market", "trade", "goal", "match"]
    )
    documents = [" ".join(rng.choice(words, 6)) for _ in range(60)]
    (tmp_path / "docs.txt").write_text("\n".join(documents))
    places = rng.integers(0, 4, (300, 4)) * 0.02 + rng.random((300, 4)) * 0.001
    np.savetxt(tmp_path / "trips.csv", places, delimiter=",", header="a,b,c,d", comments="")
    walk = np.cumsum(rng.integers(-1, 2, 700)) % 9
    np.save(tmp_path / "walk.npy", walk)
    (tmp_path / "walk.txt").write_text("\n".join(f"room {state}" for state in walk))
    monkeypatch.setattr("atomstream.fields.walks.trips.LINES", 200)
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
def test_a_run_stopped_after_every_step_ends_as_one_never_stopped(inputs, kind):
    command, sessions = KINDS[kind]
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
def test_checkpoints_after_every_step_change_nothing(inputs, kind):
    command, sessions = KINDS[kind]
    run(*command.split(), "--out", "whole")
    run(*command.split(), "--checkpoint-every", 0, "--out", "kept")
    assert result(inputs / "kept") == result(inputs / "whole")
    events = [event["event"] for event in RunFolder("kept").log.events()]
    assert events.count("checkpoint") >= sessions


def test_every_kind_of_run_is_in_the_table():
    words = {" ".join(command.split()[:2]) for command, _ in KINDS.values()}
    commands = {"": "learn", "text": "text topics", "walk": "walk partition"}
    commands |= {name: f"{name} learn" for name in ("image", "network", "tensor", "video")}
    needed = {commands.get(name, name) for name in kinds_of_runs()}
    assert all(any(found.startswith(command) for found in words) for command in needed)


@pytest.mark.parametrize(
    ("command", "goal", "number"),
    [
        ("network learn edges.txt --motif path:4 --atoms 4 --batch-size 500", "batches", "SIGINT"),
        pytest.param(
            *("text topics docs.txt --topics 2 --batch-size 5", "epochs", "SIGTERM"),
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_signal_stops_a_run_that_goes_on_to_the_bit(inputs, command, goal, number):
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
