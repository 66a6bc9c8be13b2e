"""The report of a model in memory: of every kind of model, and the same as of its file."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from zoo import ZOO

import atomstream
from atomstream import (
    InputError,
    OnlineNMF,
    callbacks,
    load,
    report,
    save,
)
from atomstream.cli import main
from atomstream.files.registry import models

TESTS = Path(__file__).parents[1]
X = np.random.default_rng(0).random((60, 6))


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(models()))
def test_every_model_has_a_report(name, tmp_path):
    if golden := [*TESTS.glob(f"**/golden/**/{name}.atoms")]:
        model = load(golden[0])
    else:  # younger than the golden files
        new, data = next(entry[:2] for entry in ZOO.values() if type(entry[0]).__name__ == name)
        model = clone(new).fit(data())
    page = report(model, tmp_path)
    assert page == tmp_path / "report.html"
    text = page.read_text(encoding="utf-8")
    assert name in text
    assert "What was learned" in text
    assert list((tmp_path / "figures").glob("*.svg")) or "<table" in text


@pytest.mark.usefixtures("undrawn")
def test_the_command_says_that_nothing_determines_codes_of_rows_with_few_entries(tmp_path, capsys):
    rows = X.copy()
    rows[::2, 2:] = np.nan
    np.save(tmp_path / "rows.npy", rows)
    learn = ["learn", str(tmp_path / "rows.npy"), "--missing", "--ridge", "0", "--atoms", "4"]
    assert main([*learn, "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert main(["report", str(tmp_path / "run")]) == 0
    told = capsys.readouterr().err
    assert re.search("^Warning: .* rows have fewer observed entries than the 4 atoms", told, re.M)
    assert told.count("nothing determines their codes") == 1


@pytest.mark.usefixtures("undrawn")
def test_it_is_the_report_of_the_command(tmp_path):
    model = OnlineNMF(3, random_state=0).fit(X)
    save(model, tmp_path / "model.atoms")
    assert main(["report", str(tmp_path / "model.atoms")]) == 0
    theirs = (tmp_path / "model-report/report.html").read_text(encoding="utf-8")
    ours = report(model, tmp_path / "here").read_text(encoding="utf-8")

    def body(text):
        text = re.sub(r"data:image/png;base64,[^\"]*", "", text)
        return re.sub(r"<(title|h1)>.*?</\1>", "", text)

    assert body(ours) == body(theirs)


@pytest.mark.usefixtures("undrawn")
def test_held_out_rows_and_the_learning_curve_are_in_it(tmp_path):
    history = callbacks.History()
    model = OnlineNMF(3, batch_size=20, random_state=0).set_callbacks(history).fit(X)
    plain = report(model, tmp_path / "a").read_text(encoding="utf-8")
    whole = report(model, tmp_path / "b", held_out=X[:20], history=history)
    whole = whole.read_text(encoding="utf-8")
    assert (tmp_path / "b/figures/objective.png").exists()
    assert not (tmp_path / "a/figures/objective.png").exists()
    assert "mean objective" in whole
    assert "mean objective" not in plain


def test_what_cannot_be_reported_says_so(tmp_path):
    with pytest.raises(InputError, match="has not learned anything; call fit before report"):
        report(OnlineNMF(2), tmp_path)
    with pytest.raises(InputError, match="No look is known of a dict; give a model of atomstream"):
        report({}, tmp_path)
    with pytest.raises(ValueError, match="path must name a folder"):
        report(OnlineNMF(2, random_state=0).fit(X), tmp_path / "report.html")
    assert atomstream.report is report
