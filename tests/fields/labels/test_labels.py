"""Labels of tables on the command line: learned from, judged on rows held out, predicted."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import refused
from sklearn.datasets import load_wine

from atomstream import SupervisedDictionary, load
from atomstream.cli import main
from atomstream.runs.record import open_record


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    wine = load_wine(as_frame=True)
    frame = wine.frame.assign(target=wine.target_names[wine.target])
    frame.loc[::5, "target"] = None
    frame["age"] = np.arange(len(frame))
    path = tmp_path_factory.mktemp("labels") / "wine.csv"
    frame.sample(frac=1, random_state=0).to_csv(path, index=False)
    return path


def learn(table, *options):
    run = table.parent / "-".join(["run", *options]).replace("/", "")
    common = ["--atoms", "4", "--scale", "max", "--drop", "age"]
    return main(["learn", str(table), *common, *options, "--out", str(run)]), run


def test_labels_of_a_column_are_learned_judged_and_predicted(table, tmp_path, capsys):
    code, run = learn(table, "--label", "target", "--epochs", "8")
    assert code == 0
    capsys.readouterr()
    assert main(["inspect", str(run), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["model"] == "SupervisedDictionary"
    assert told["features"] == 13
    assert told["held_out"]["score of labels"] > 0.6
    out = tmp_path / "codes.csv"
    assert main(["encode", str(run), str(table), "--out", str(out)]) == 0
    frame, given = pd.read_csv(out), pd.read_csv(table)
    known = given.target.notna()
    assert np.mean(frame.predicted[known] == given.target[known]) > 0.8
    assert set(frame.predicted) == {"class_0", "class_1", "class_2"}
    # A table without labels is predicted, too.
    given.drop(columns="target").to_csv(tmp_path / "new.csv", index=False)
    assert main(["encode", str(run), str(tmp_path / "new.csv"), "--out", str(out)]) == 0
    assert (pd.read_csv(out).predicted == frame.predicted).all()


def test_a_run_with_labels_that_is_stopped_goes_on_to_the_same_bits(table, tmp_path):
    few = ("--batch-size", "60", "--epochs", "2")
    whole = learn(table, "--label", "target", *few)[1]
    code, run = learn(table, "--label", "target", *few, "--max-time", "0")
    while code == 0 and main(["inspect", str(run), "--json"]) == 0 and not done(run):
        code = main(["resume", str(run), "--max-time", "0"])
    ours, theirs = load(run), load(whole)
    assert np.array_equal(ours.components_, theirs.components_)
    assert np.array_equal(ours.coef_, theirs.coef_)


def done(run):
    return open_record(run).complete


def test_numbers_and_counts_are_labels_too(table, tmp_path, capsys):
    code, run = learn(table, "--label", "age", "--label-kind", "numbers", "--columns", "1-13")
    assert code == 0
    capsys.readouterr()
    assert main(["inspect", str(run), "--json"]) == 0
    assert "score of labels" in json.loads(capsys.readouterr().out)["held_out"]


def test_labels_obey_the_decimal_sign_and_what_stands_for_a_missing_entry(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.random((80, 4))
    y = X @ [3.0, 1.0, 0.0, 0.0] + 0.25
    lines = [
        [*(f"{x:.4f}".replace(".", ",") for x in row), f"{v:.3f}".replace(".", ",")]
        for row, v in zip(X, y, strict=True)
    ]
    for place, sign in ((3, "-9"), (4, "-9,0"), (5, "NA"), (6, "")):
        lines[place][-1] = sign
    path = tmp_path / "comma.csv"
    path.write_text("\n".join(map(";".join, [["a", "b", "c", "d", "y"], *lines])) + "\n")
    kept = ("--holdout", "0", "--batch-size", "80", "--epochs", "1")
    common = ("--atoms", "3", "--decimal", ",", "--na", "-9", "--label", "y", *kept)
    out = ("--out", str(tmp_path / "run"))
    assert main(["learn", str(path), *common, "--label-kind", "numbers", *out]) == 0
    known = np.round(np.delete(y, [3, 4, 5, 6]), 3)
    mean, spread = load(tmp_path / "run").label_scale_
    assert mean[0] == pytest.approx(known.mean())
    assert spread[0] == pytest.approx(known.std())
    # Of classes what stands for a missing entry is none, too.
    for place, line in enumerate(lines):
        line[-1] = "unknown" if place < 7 else ("low", "high")[int(y[place] > 2.25)]
    path.write_text("\n".join(map(";".join, [["a", "b", "c", "d", "y"], *lines])) + "\n")
    common = ("--atoms", "3", "--decimal", ",", "--na", "unknown", "--label", "y", *kept)
    assert main(["learn", str(path), *common, "--out", str(tmp_path / "classes")]) == 0
    assert load(tmp_path / "classes").classes_.tolist() == ["high", "low"]


def test_rows_are_coded_once_for_codes_and_what_they_predict(table, tmp_path, monkeypatch):
    run = learn(table, "--label", "target", "--epochs", "1")[1]
    coded, encode = [], SupervisedDictionary._encode

    def counting(self, batch, gap=None):
        coded.append(batch.X.shape[0])
        return encode(self, batch, gap)

    monkeypatch.setattr(SupervisedDictionary, "_encode", counting)
    assert main(["encode", str(run), str(table), "--out", str(tmp_path / "codes.csv")]) == 0
    assert coded == [178]
    given, frame = pd.read_csv(table), pd.read_csv(tmp_path / "codes.csv")
    rows = given.drop(columns=["target", "age"])
    assert (frame.predicted == load(run).predict(rows)).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--label", "target", "--label-kind", "numbers"], "'class_0' is not a number"),
        (["--label", "target", "--loss", "kl"], "has no --loss"),
        (["--label", "target", "--model", "dictionary"], "--label needs --model nmf"),
        (["--label", "tarjet"], "tarjet"),
        (["--label", "target", "--classes", "class_0", "--classes", "class_1"], "class_2"),
        (["--label", "target", "--slots", "2"], "without --slots"),
        (["--label", "target", "--triples"], "--triples and --label exclude each other"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(table, tmp_path, capsys, options, words):
    common = ("--atoms", "3", "--drop", "age", "--scale", "max")
    arguments = ("learn", table, *common, *options, "--out", tmp_path / "run")
    assert words in refused(capsys, *arguments)
