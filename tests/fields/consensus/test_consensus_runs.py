"""Consensus runs on the command line: numbers of atoms, stops, and how they are looked at."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from commands import run
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import ConsensusNMF, OnlineNMF
from atomstream.base import as_known
from atomstream.cli import main
from atomstream.fields.consensus.run import ConsensusSettings, ConsensusTask, ranks_of
from atomstream.runs.folder import RunFolder
from atomstream.runs.record import open_record
from atomstream.runs.run import Run
from atomstream.watch.callbacks import History

rng = np.random.default_rng(0)
X = rng.exponential(size=(150, 3)) @ (rng.random((3, 8)) * (rng.random((3, 8)) < 0.6))
X += 0.05 * rng.random(X.shape)
NAMES = [f"gene_{i}" for i in range(8)]
SETTINGS = ("--atoms", "2-4", "--replicates", 6, "--epochs", 4, "--batch-size", 50)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("consensus")
    pd.DataFrame(X, columns=NAMES).to_csv(folder / "x.csv", index=False)
    run("consensus", folder / "x.csv", *SETTINGS, "--out", folder / "run")
    return folder


def test_a_run_is_what_python_learns(folder):
    model = ConsensusNMF(
        [2, 3, 4], n_replicates=6, model=OnlineNMF(batch_size=50, random_state=0), random_state=0
    )
    table = pd.read_csv(folder / "x.csv", float_precision="round_trip").to_numpy()
    batches = [table[:50], table[50:100], table[100:]]
    model.fit_stream(batches)
    for _ in range(3):
        model.fit_stream(batches, horizon=150)
    found = open_record(folder / "run").model
    assert_array_equal(found.components_, model.components_)
    assert found.choice_.reason == model.choice_.reason


def test_tables_hold_what_was_found(folder):
    model = open_record(folder / "run").model
    with (folder / "run/atoms.csv").open() as file:
        head, *rows = csv.reader(file)
    assert head == ["feature", *(f"atom_{i}" for i in range(model.n_components_))]
    assert [row[0] for row in rows] == NAMES
    assert_allclose(np.array([row[1:] for row in rows], float).T, model.components_)
    ends = pd.read_csv(folder / "run/intervals.csv", index_col=0).to_numpy().T
    assert_allclose(ends, np.concatenate(model.intervals_))
    ranks = pd.read_csv(folder / "run/ranks.csv")
    assert list(ranks["rank"]) == [2, 3, 4]
    assert_allclose(ranks["error"], model.choice_.error)
    assert list(ranks["rank"][ranks["chosen"]]) == [model.n_components_]


@pytest.mark.parametrize("stop_at", [1, 4])
def test_a_stopped_run_goes_on_to_the_bit(folder, tmp_path, stop_at):
    settings = ConsensusSettings(
        (str(folder / "x.csv"),), atoms="2-4", replicates=6, epochs=4, batch_size=50
    )
    place = RunFolder(tmp_path / "run")
    first = Run(place, ConsensusTask(settings))
    noted = History.note

    def stop(history, learner):
        noted(history, learner)
        if learner.n_steps_ == stop_at:
            first.stop("test")

    with pytest.MonkeyPatch.context() as patch, place.beginning(settings, first.task.sources):
        patch.setattr(History, "note", stop)
        assert not first.run(lambda text: _Silent()).complete
    run("resume", tmp_path / "run")
    again, whole = (open_record(path / "run").model for path in (tmp_path, folder))
    assert again.n_steps_ == whole.n_steps_ == 12
    assert_array_equal(again.components_, whole.components_)
    assert_array_equal(again.choice_.errors, whole.choice_.errors)


class _Silent(History):
    """A callback that does nothing but what History does."""


def test_it_is_inspected_reported_and_encoded(folder, tmp_path, capsys):
    model = open_record(folder / "run").model
    run("inspect", folder / "run")
    assert model.choice_.reason in " ".join(capsys.readouterr().out.split())
    run("inspect", folder / "run", "--json")
    assert json.loads(capsys.readouterr().out)["atoms"][0]["stability"] == model.stability_[0]
    run("report", folder / "run")
    report = (folder / "run/report.html").read_text()
    assert "Numbers of atoms" in report
    assert {path.stem for path in (folder / "run/figures").glob("*.png")} >= {
        "choice",
        "atoms",
        "clusters",
    }
    run("encode", folder / "run", folder / "x.csv", "--out", tmp_path / "codes.csv")
    codes = pd.read_csv(tmp_path / "codes.csv").to_numpy()
    assert_allclose(codes, model.transform(as_known(model, X)), rtol=1e-6, atol=1e-9)


def test_time_ends_a_run_that_resume_completes(folder, tmp_path, capsys):
    settings = ("--atoms", "2,3", "--replicates", 3, "--epochs", 2, "--batch-size", 50)
    arguments = ("consensus", folder / "x.csv", *settings, "--out", tmp_path / "run")
    assert main([str(argument) for argument in (*arguments, "--max-time", "0s")]) != 2
    assert not open_record(tmp_path / "run").complete
    run("resume", tmp_path / "run")
    assert "learned from 2 passes over 150 rows" in " ".join(capsys.readouterr().out.split())
    assert open_record(tmp_path / "run").complete


def test_numbers_of_atoms_are_lists_and_ranges():
    assert ranks_of("5") == [5]
    assert ranks_of("5-8") == [5, 6, 7, 8]
    assert ranks_of("4, 8-10,6") == [4, 6, 8, 9, 10]
    for wrong in ("", "0-3", "8-5", "a", "1.5", "3-", "-3", "1,,2", "²"):
        with pytest.raises(ValueError, match="needed are numbers of atoms such as 5-30 or 4,8,12"):
            ranks_of(wrong)
    with pytest.raises(ValueError, match="at most 1000 numbers can be compared"):
        ranks_of("1-999999")


def test_what_it_cannot_do_is_said_in_a_sentence(folder, tmp_path, capsys):
    for wrong, sentence in (
        (("--atoms", "none"), "needed are numbers of atoms"),
        (("--model", "convex"), "needed is nmf or dictionary"),
        (("--replicates", "1"), "replicates"),
        (("--scale", "std"), "Replicates would each have a scale of their own, got scale='std'"),
    ):
        arguments = ("consensus", folder / "x.csv", *wrong, "--out", tmp_path / "run")
        assert main([str(argument) for argument in arguments]) == 2
        assert sentence in capsys.readouterr().err
        assert not (tmp_path / "run").exists()


def test_a_guess_is_one_line_on_standard_error_and_stands_in_json(tmp_path, capsys):
    rows = np.random.default_rng(0)
    np.save(tmp_path / "table.npy", rows.random((80, 3)) @ rows.random((3, 8)))
    few = ("--atoms", "2-3", "--replicates", 4, "--epochs", 1)
    run("consensus", tmp_path / "table.npy", *few, "--out", tmp_path / "run", "--json")
    said = capsys.readouterr()
    chosen = json.loads(said.out)["chosen"]["n_components"]
    lines = [line for line in said.err.splitlines() if line.startswith("Chosen")]
    assert lines == [f"Chosen for ConsensusNMF: n_components {chosen['value']} ({chosen['why']})"]


def test_a_run_of_rows_is_not_resumed_as_a_consensus(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    run("learn", "x.npy", "--atoms", 2, "--out", "run")
    capsys.readouterr()
    assert main(["consensus", "x.npy", "--atoms", "2", "--resume", "--out", "run"]) == 2
    told = capsys.readouterr().err
    assert "run holds a run of atomstream learn; choose another --out" in told
