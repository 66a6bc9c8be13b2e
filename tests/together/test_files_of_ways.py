"""Files of runs on rows hold settings of further ways only where they are used."""

import numpy as np

from atomstream.cli import main
from atomstream.runs.settings import Settings
from atomstream.runs.tasks._learn_settings import OF_WAYS, LearnSettings


def settings_of(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.split(" = ")[0] for line in lines if " = " in line}


def test_a_plain_run_names_no_setting_of_a_field(tmp_path):
    """So it is read where the field is not there."""
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((60, 4)))
    run = tmp_path / "run"
    begin = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--out", str(run)]
    assert main([*begin, "--max-time", "0"]) == 0
    assert settings_of(run / "run.toml").isdisjoint(
        each.name for own in OF_WAYS.values() for each in own
    )
    assert main(["resume", str(run)]) == 0


def test_a_run_that_names_them_with_their_defaults_goes_on(tmp_path, monkeypatch):
    """As runs were written before, in run.toml and in what a checkpoint keeps."""
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((60, 4)))
    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(LearnSettings, "written", Settings.written)
        begin = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--out", str(run)]
        assert main([*begin, "--max-time", "0"]) == 0
    assert "representatives" in settings_of(run / "run.toml")
    assert main(["resume", str(run)]) == 0
