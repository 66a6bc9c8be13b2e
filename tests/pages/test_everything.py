"""All records are made anew by one script: it knows each of them, and loses none that it began."""

import json
import subprocess
from importlib import import_module

import pytest
from pages import ROOT

everything = import_module("everything")
PARTS = ("benchmarks", "benchmarks/judged", "experiments")
RECORDS = [path for part in PARTS for path in ROOT.glob(f"{part}/results/*.json")]
WRITE = """
import json, sys, pathlib
path = pathlib.Path("benchmarks/results/a.json")
assert not path.exists()
path.write_text(json.dumps({"commit": sys.argv[1], "seconds": 2}))
if "fail" in sys.argv:
    raise SystemExit("no")
"""


@pytest.fixture
def checkout(tmp_path):
    """A checkout with a record of another commit, and a script that writes it."""
    (tmp_path / "benchmarks/results").mkdir(parents=True)
    (tmp_path / "benchmarks/one.py").write_text(WRITE)
    (tmp_path / "benchmarks/results/a.json").write_text('{"commit": "older", "seconds": 1}')
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git[:3], "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    return everything.Checkout(tmp_path, "python")


def test_every_record_has_one_command():
    names = [name for each in everything.commands() for name in each]
    assert sorted(names) == sorted(path.stem for path in RECORDS)


def test_commands_may_be_asked_for_again():
    assert all(everything.commands().values())
    assert everything.commands() == everything.commands()


def test_every_command_is_of_a_script_that_is_here():
    told = {words.split()[0] for each in everything.commands().values() for words in each}
    assert all((ROOT / script).is_file() for script in told)


def test_a_record_of_this_commit_is_left_as_it_is(checkout, monkeypatch):
    monkeypatch.setattr(everything, "commands", lambda: {("a",): ["benchmarks/one.py"]})
    assert list(checkout.left()) == [("a",)]
    assert checkout.run(("a",), [f"benchmarks/one.py {checkout.commit}"])
    assert checkout.record("a")["seconds"] == 2
    assert checkout.left() == {}
    assert [path.name for path in checkout.path("a").parent.iterdir()] == ["a.json"]


def test_the_record_of_before_comes_back_where_a_command_fails(checkout, capsys):
    assert not checkout.run(("a",), [f"benchmarks/one.py {checkout.commit} fail"])
    assert checkout.record("a")["commit"] == "older"
    assert "FAILED: a" in capsys.readouterr().out


@pytest.mark.parametrize("told", [[], ["benchmarks/one.py another"]], ids=["nothing", "another"])
def test_the_record_of_before_comes_back_where_none_of_this_commit_was_written(checkout, told):
    assert not checkout.run(("a",), told)
    assert checkout.record("a")["commit"] == "older"


def test_a_new_record_is_not_kept_where_its_command_fails(checkout):
    checkout.path("a").unlink()
    assert not checkout.run(("a",), [f"benchmarks/one.py {checkout.commit} fail"])
    assert list(checkout.path("a").parent.iterdir()) == []


def test_a_run_that_broke_off_is_made_again(checkout, monkeypatch):
    """The record that it left names this commit, but is not finished."""
    monkeypatch.setattr(everything, "commands", lambda: {("a",): ["benchmarks/one.py"]})
    path = checkout.path("a")
    path.replace(path.with_suffix(".before"))
    path.write_text(json.dumps({"commit": checkout.commit, "seconds": 1}))
    assert list(checkout.left()) == [("a",)]
    assert checkout.run(("a",), [f"benchmarks/one.py {checkout.commit}"])
    assert checkout.record("a")["seconds"] == 2
    assert checkout.left() == {}
