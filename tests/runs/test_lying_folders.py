"""Folders of runs whose files hold what no run writes: one sentence, and exit code 2."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from cases import of_fields
from commands import refused
from kept_runs import KEPT, copied

import atomstream
from atomstream import OnlineDictionaryLearning
from atomstream.cli import main
from atomstream.files.codec import read_model, write_model
from atomstream.runs.task import note_of, read_checkpoint

RUNS = sorted(KEPT)
LYING = ["rows-nmf-unfinished", *of_fields("lying_runs")]
DEEP = "[" * 5000 + "]" * 5000
VALUES = [None, -1, 2**70, 1.5, float("nan"), "x", [], ["a"], {}, {"a": 1}, np.zeros(3), [[[]]]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    copied(tmp_path / "golden")
    monkeypatch.chdir(tmp_path / "golden")
    return Path


def newest(run):
    return max((run / "checkpoints").iterdir())


def alone(run, model, notes):
    """Leave a run with one checkpoint that holds these."""
    path = newest(run)
    for old in [*(run / "checkpoints").iterdir(), run / "model.atoms"]:
        old.unlink(missing_ok=True)
    write_model(path, model, notes)


@pytest.mark.parametrize("name", RUNS)
def test_every_note_of_every_run_has_a_kind_that_fits_it(name):
    for path in (KEPT[name] / "checkpoints").iterdir():
        _, notes = read_checkpoint(path)
        assert [name for name in notes if note_of(name) is None] == []


@pytest.mark.cover(2)
@pytest.mark.parametrize("name", LYING)
def test_notes_of_other_kinds_are_refused(folder, capsys, name):
    run, (model, notes) = folder(name), read_model(newest(KEPT[name]))
    n_refused = 0
    for note in notes:
        for value in VALUES:
            known = note_of(note)
            if known.fits(value, {}) or (value is None and known.optional):
                continue
            alone(run, model, notes | {note: value})
            sentence = refused(capsys, "inspect", name)
            assert "run" in sentence if note == "run" else note in sentence
            n_refused += 1
        # One verb stands for all that read the folder in the same way.
        refused(capsys, "resume", name)
    assert n_refused > 6 * len(notes)


@pytest.mark.cover(2)
@pytest.mark.parametrize("name", LYING)
@pytest.mark.parametrize("verb", ["inspect", "resume"])
def test_missing_notes_never_end_in_a_traceback(folder, capsys, name, verb):
    run, (model, notes) = folder(name), read_model(newest(KEPT[name]))
    for note in notes:
        shutil.rmtree(run)
        shutil.copytree(KEPT[name], run)
        alone(run, model, {key: value for key, value in notes.items() if key != note})
        code = main([verb, name])
        told = capsys.readouterr().err
        assert code in (0, 2)
        assert (code == 2) == told.startswith("Error: ")


@pytest.mark.parametrize("verb", ["inspect", "report", "plot", "resume"])
def test_a_checkpoint_of_another_model_is_refused(folder, capsys, verb):
    run = folder("rows-nmf-unfinished")
    other = OnlineDictionaryLearning(2, random_state=0).fit(np.ones((4, 3)))
    alone(run, other, read_model(newest(run))[1])
    assert "OnlineDictionaryLearning" in refused(capsys, verb, run)


@pytest.mark.parametrize("content", ["", "null", "5", "[1, 2]", DEEP, "a = " + DEEP, "\udcff"])
@pytest.mark.parametrize("file", ["run.toml", "inputs.json"])
def test_files_that_say_nothing_are_refused(folder, capsys, file, content):
    run = folder("rows-nmf-unfinished")
    (run / file).write_bytes(content.encode(errors="surrogateescape"))
    for verb in ("inspect", "resume"):
        refused(capsys, verb, run)


def test_lines_of_a_log_that_are_no_events_are_passed_over(folder, capsys):
    run = folder("rows-nmf-unfinished")
    (run / "log.jsonl").write_text("\n".join(["5", "null", DEEP, "{", json.dumps({"event": 3})]))
    assert main(["inspect", str(run)]) == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("entry", ["run.toml", "log.jsonl", "model.atoms", "inputs.json", "new"])
def test_links_out_of_a_run_are_not_followed_and_pipes_not_waited_for(folder, capsys, entry):
    run = folder("rows-nmf-unfinished")
    outside = run.resolve().parent / "outside"
    outside.write_bytes((run / entry).read_bytes() if (run / entry).exists() else b"")
    before = outside.read_bytes()
    for make in (lambda path: path.symlink_to(outside), os.mkfifo):
        (run / entry).unlink(missing_ok=True)
        make(run / entry)
        for verb in ("inspect", "report", "resume"):
            assert entry in refused(capsys, verb, run)
    assert outside.read_bytes() == before


@pytest.mark.parametrize(
    "entry", ["run.toml", "log.jsonl", "model.atoms", "inputs.json", "checkpoints", "checkpoint"]
)
def test_links_to_themselves_are_refused(folder, capsys, entry):
    run = folder("rows-nmf-unfinished")
    path = newest(run) if entry == "checkpoint" else run / entry
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    path.symlink_to(path.name)
    for verb in ("inspect", "report", "resume"):
        told = refused(capsys, verb, run)
        assert f"{path.name} is a link to itself or to nothing" in told


def test_a_run_that_links_to_itself_is_refused(folder, capsys):
    folder("loop").symlink_to("loop")
    for verb in ("inspect", "report", "resume", "watch"):
        assert "loop" in refused(capsys, verb, "loop")


def test_a_folder_of_checkpoints_elsewhere_is_left_alone(folder, capsys):
    run = folder("rows-nmf-unfinished")
    elsewhere = run.resolve().parent / "elsewhere"
    shutil.move(run / "checkpoints", elsewhere)
    (run / "checkpoints").symlink_to(elsewhere)
    names = sorted(path.name for path in elsewhere.iterdir())
    assert "checkpoints is a link out of the run" in refused(capsys, "resume", run)
    assert sorted(path.name for path in elsewhere.iterdir()) == names


def test_a_folder_of_another_format_says_so(folder, capsys):
    run = folder("rows-nmf-unfinished")
    facts = json.loads((run / "inputs.json").read_text())
    (run / "run.toml").write_text('inputs = ["x.csv"]\nsetting_of_the_future = 1\n')
    (run / "inputs.json").write_text(json.dumps(facts | {"format": 2, "library": "9.1"}))
    for verb in ("inspect", "resume", "report"):
        told = refused(capsys, verb, run)
        assert "begun by atomstream 9.1 in format 2, and this release reads format 1 only" in told


def test_new_folders_name_their_format_and_release(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((60, 3)))
    words = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--out", str(tmp_path / "run")]
    assert main(words) == 0
    facts = json.loads((tmp_path / "run/inputs.json").read_text())
    assert facts["format"] == 1
    assert facts["library"] == atomstream.__version__
