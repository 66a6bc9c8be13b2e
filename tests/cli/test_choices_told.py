"""What was chosen for a run is said: guesses on standard error, all of it in JSON and on screen."""

import json

import numpy as np
import pytest
from commands import run

TABLE = "table.npy"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(0)
    np.save(folder / TABLE, rng.random((80, 3)) @ rng.random((3, 8)))
    run("learn", folder / TABLE, "--atoms", 3, "--loss", "kl", "--out", folder / "learned")
    return folder


def test_what_follows_from_the_settings_is_no_guess(folder, tmp_path, capsys):
    run("learn", folder / TABLE, "--atoms", 3, "--loss", "kl", "--out", tmp_path / "run", "--json")
    said = capsys.readouterr()
    assert "Chosen" not in said.err
    known = {"value": "Majorise()", "why": "the loss has a majoriser"}
    assert json.loads(said.out)["chosen"]["updater"] == known


def test_inspect_and_the_report_show_what_was_chosen(folder, capsys):
    run("inspect", folder / "learned", "--json")
    assert json.loads(capsys.readouterr().out)["chosen"]["loss"]["value"] == "KullbackLeibler()"
    run("inspect", folder / "learned")
    screen = " ".join(capsys.readouterr().out.split())
    assert "chosen updater Majorise() (the loss has a majoriser)" in screen
    run("report", folder / "learned")
    assert "Majorise() (the loss has a majoriser)" in (folder / "learned/report.html").read_text()
