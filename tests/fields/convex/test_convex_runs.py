"""Runs of ``learn --model convex`` on the command line."""

import numpy as np
import pytest
from commands import refused, run
from numpy.testing import assert_array_equal

import atomstream
from atomstream.cli import main


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_atoms_made_of_samples_are_learned_told_and_resumed(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 20, (3, 5))[rng.integers(3, size=400)] + rng.standard_normal((400, 5))
    np.save(tmp_path / "rows.npy", X)
    out = tmp_path / "run"
    learn = (
        "learn",
        tmp_path / "rows.npy",
        "--model",
        "convex",
        "--atoms",
        "3",
        "--batch-size",
        "50",
        "--holdout",
        "0",
    )
    run(*learn, "--representatives", "60", "--epochs", "1", "--out", out)
    model = atomstream.load(out)
    assert type(model).__name__ == "OnlineConvexMF"
    assert model.n_samples_seen_ == 400
    part = model.explain(0, top=1)[0]
    assert_array_equal(part.sample, X[part.id])
    capsys.readouterr()
    run("inspect", out)
    assert f"{part.share:.0%} of row {part.id}" in capsys.readouterr().out
    run("report", out)
    assert f"{part.share:.0%} of row {part.id}" in (out / "report.html").read_text()
    run("resume", out, "--epochs", "2")
    assert atomstream.load(out).n_samples_seen_ == 800
    capsys.readouterr()
    bad = [str(part) for part in learn]
    assert main([*bad, "--representatives", "600", "--out", str(tmp_path / "other")]) == 2
    assert "fewer rows than representatives=600" in capsys.readouterr().err
    assert main([*bad, "--representatives", "2", "--out", str(tmp_path / "third")]) == 2
    assert "a representative for each atom" in capsys.readouterr().err


def test_few_rows_of_triples_and_many_passes(tmp_path, capsys):
    X = np.random.default_rng(0).random((30, 8))
    lines = [f"u{i:02},f{j},{X[i, j]:.6g}" for i in range(30) for j in range(8)]
    (tmp_path / "x.csv").write_text("\n".join(["user,film,stars", *lines]))
    more = ["--representatives", 20, "--epochs", 3, "--holdout", 0, "--out", tmp_path / "run"]
    run("learn", tmp_path / "x.csv", "--triples", "--atoms", 2, "--model", "convex", *more)
    assert "passes over" in capsys.readouterr().out


def test_an_option_that_this_model_lacks_is_refused(tmp_path, capsys):
    np.savetxt(tmp_path / "x.csv", np.random.default_rng(3).random((60, 3)), delimiter=",")
    words = ("--model", "convex", "--scale", "std", "--out", tmp_path / "no")
    assert "has no --scale" in refused(capsys, "learn", tmp_path / "x.csv", *words)
