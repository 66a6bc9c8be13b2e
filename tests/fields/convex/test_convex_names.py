"""Names of scikit-learn on the command line of a model of atoms made of samples."""

import numpy as np

from atomstream.cli import main
from atomstream.files.codec import read_model


def test_their_losses_are_ours_on_the_command_line(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).poisson(3.0, (60, 8)) + 0.5)
    words = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--representatives", "5"]
    words += ["--model", "convex", "--epochs", "1", "--out", str(tmp_path / "run")]
    assert main([*words, "--loss", "frobenius"]) == 0, capsys.readouterr().err
    model = read_model(tmp_path / "run/model.atoms")[0]
    assert getattr(model, "loss", "squared") == "squared"
