"""Folders of runs that an earlier version left: unfinished ones are finished, others shown."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from cases import of_fields
from commands import plotted, run
from kept_runs import KEPT, copied
from numpy.testing import assert_allclose

import atomstream

# Of each run its unit of work, or where it is complete, what it wrote; and an attribute.
RUNS = {
    "images-unfinished": {"unit": "passes", "attribute": "components_"},
    "rows-nmf-unfinished": {"unit": "passes", "attribute": "components_"},
    **of_fields("golden_runs"),
}
UNFINISHED = [name for name, case in RUNS.items() if "unit" in case]
COMPLETE = [name for name in RUNS if name not in UNFINISHED]


@pytest.fixture
def copies(tmp_path, monkeypatch):
    copied(tmp_path / "golden")
    monkeypatch.chdir(tmp_path / "golden")
    return tmp_path / "golden"


def same(folder):
    found = getattr(atomstream.load(folder), RUNS[folder]["attribute"])
    expected = np.load(f"expected/{folder}.npy")
    assert found.dtype == expected.dtype
    assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_all_golden_runs_are_looked_at():
    assert {*KEPT} == {*RUNS}


def test_golden_runs_name_no_folder_of_the_machine_that_made_them():
    for path in KEPT.values():
        for name in tomllib.loads((path / "run.toml").read_text(encoding="utf-8"))["inputs"]:
            assert (path.parent / name).exists()
            assert not Path(name).is_absolute()


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", UNFINISHED)
def test_an_unfinished_run_is_finished_as_by_the_version_that_began_it(copies, capsys, name):
    run("inspect", name)
    assert f"{RUNS[name]['unit']} complete" in capsys.readouterr().out
    run("resume", name, "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["complete"]
    assert told["stopped_by"] is None
    same(name)
    run("report", name)
    assert "What was learned" in (copies / name / "report.html").read_text(encoding="utf-8")
    run("resume", name)
    assert "Nothing is left to do" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", COMPLETE)
def test_a_complete_run_is_shown_and_has_nothing_left(copies, capsys, monkeypatch, name):
    same(name)
    run("inspect", name)
    assert "complete" in capsys.readouterr().out
    run("inspect", name, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["complete"] is True
    assert found[RUNS[name]["atoms"]]
    run("report", name)
    assert "What was learned" in (copies / name / "report.html").read_text(encoding="utf-8")
    plotted(monkeypatch, name)
    before = (copies / name / "model.atoms").read_bytes()
    capsys.readouterr()
    run("resume", name)
    assert "Nothing is left to do" in capsys.readouterr().out
    assert (copies / name / "model.atoms").read_bytes() == before


@pytest.mark.parametrize("name", COMPLETE)
def test_the_settings_of_a_complete_run_do_the_same_again(copies, name):
    first = (copies / name / "run.toml").read_text().partition(" --config")[0]
    words = first.removeprefix("# atomstream ").split()
    run(*words, "--config", copies / name / "run.toml", "--out", "again")
    again = getattr(atomstream.load("again"), RUNS[name]["attribute"])
    assert_allclose(again, np.load(f"expected/{name}.npy"), rtol=1e-4, atol=1e-6)
    for written in RUNS[name]["wrote"]:
        rows = [(copies / folder / written).read_text().split() for folder in (name, "again")]
        assert [len(rows[0]), rows[0][0]] == [len(rows[1]), rows[1][0]]
