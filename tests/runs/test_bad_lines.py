"""Bad lines among good ones: nothing good is lost, what is left out is counted."""

import io
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from atomstream.cli import main
from atomstream.files.codec import read_model

X = np.random.default_rng(0).random((700, 3))
BAD = {
    "words": "1,one,3",
    "narrow": "1,2",
    "wide": "1,2,3,4",
    "quote": '1,"2,3',
    "negative": "1,-2,3",
    "infinite": "1,inf,3",
    "missing": "1,,3",
    "not text": "1,\xff,3",
}
SETTINGS = ["--atoms", "2", "--batch-size", "50", "--holdout", "0"]


def lines(rows, bad=(), at=()):
    text = [",".join(map(repr, row)) for row in rows.tolist()]
    for line, place in sorted(zip(bad, at, strict=True), key=lambda pair: -pair[1]):
        text.insert(place, line)
    return ("\n".join(text) + "\n").encode("latin-1")


@pytest.fixture
def learn(tmp_path, monkeypatch, capsys):
    """Learn lines of standard input or of a file; return exit code, the run, and what was told."""

    def learned(data, *options, live=True):
        name = "-"
        if live:
            monkeypatch.setattr("atomstream.io.texts.standard_input", io.BytesIO(data).read)
        else:
            (tmp_path / "x.csv").write_bytes(data)
            name = str(tmp_path / "x.csv")
        folder = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        passes = () if "--epochs" in options else ("--epochs", "1")
        code = main(["learn", name, *SETTINGS, *passes, *options, "--out", str(folder), "--json"])
        return code, folder, capsys.readouterr()

    return learned


def model_and_notes(folder):
    return read_model(folder / "model.atoms")


@pytest.mark.cover(2)
@pytest.mark.parametrize("live", [True, False], ids=["stream", "file"])
@pytest.mark.parametrize("kind", BAD)
def test_skipped_lines_change_nothing_but_the_count(learn, kind, live):
    at = [0 if kind in ("negative", "infinite") else 5, 120, 121, 650, 703]
    _, clean, _ = learn(lines(X), live=live)
    data = lines(X, [BAD[kind]] * len(at), at)
    code, folder, told = learn(data, "--on-bad-line", "skip", live=live)
    assert code == 0, told.err
    model, notes = model_and_notes(folder)
    assert model.n_samples_seen_ == len(X)
    assert notes["n_skipped"] == len(at)
    assert json.loads(told.out)["skipped"] == len(at)
    saved = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert saved[-2]["skipped"] == len(at)
    # Batches are cut at other rows, so only a batch that holds all is the same.
    assert model.n_steps_ >= model_and_notes(clean)[0].n_steps_


def test_skipped_lines_leave_the_same_model(learn):
    options = ["--batch-size", "1000", "--on-bad-line", "skip"]
    models = [
        model_and_notes(learn(data, *options)[1])[0]
        for data in (lines(X), lines(X, [*BAD.values()], range(3, 11)))
    ]
    assert_array_equal(models[0].components_, models[1].components_)


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("place", [50, 130, 699])
def test_a_bad_line_ends_a_stream_after_all_good_rows_before_it(learn, kind, place):
    code, folder, told = learn(lines(X, [BAD[kind]], [place]))
    assert code == 2
    assert str(place) in told.err
    model, notes = model_and_notes(folder)
    assert model.n_samples_seen_ == place
    assert notes["position"] == [0, 0, place]
    assert "skipped" not in told.out


def test_positions_in_a_file_count_bad_lines_so_that_resume_is_exact(learn, capsys, tmp_path):
    data = lines(X, [BAD["words"]] * 30, range(100, 130))
    options = ("--on-bad-line", "skip", "--epochs", "2")
    _, whole, _ = learn(data, *options, live=False)
    _, part, _ = learn(data, *options, "--max-time", "0", live=False)
    assert model_and_notes(part)[1]["position"] == [0, 0, 50]
    assert main(["resume", str(part)]) == 0
    one, two = (model_and_notes(folder) for folder in (whole, part))
    assert_array_equal(one[0].components_, two[0].components_)
    assert one[1]["n_skipped"] == two[1]["n_skipped"] == 30
    capsys.readouterr()
    assert main(["report", str(part)]) == 0
    assert "rows left out as bad" in (part / "report.html").read_text()


def test_a_column_of_words_is_no_bad_line(learn):
    for options in ([], ["--on-bad-line", "skip"]):
        code, _, told = learn(b"1,red,2\n" * 90, *options)
        assert code == 2
        assert "not numeric" in told.err


# -- codes, and what the terminal says


@pytest.fixture
def encode(tmp_path, capsys):
    """Encode lines of a file; return exit code, the codes, and what was told."""

    def encoded(folder, data, *options):
        (tmp_path / "new.csv").write_bytes(data)
        out = tmp_path / "codes.csv"
        code = main(["encode", str(folder), str(tmp_path / "new.csv"), "--out", str(out), *options])
        told = capsys.readouterr()
        return code, np.loadtxt(out, delimiter=",", skiprows=1) if code == 0 else None, told

    return encoded


@pytest.mark.parametrize("kind", BAD)
def test_a_run_that_skips_lines_is_encoded_with_the_places_of_all_rows(learn, encode, kind):
    data, at = lines(X, [BAD[kind]] * 3, [5, 120, 700]), [5, 121, 702]
    _, folder, _ = learn(data, "--on-bad-line", "skip")
    code, codes, told = encode(folder, data)
    assert code == 0, told.err
    assert_array_equal(np.flatnonzero(np.isnan(codes).any(axis=1)), at)
    assert np.isnan(codes[at]).all()
    good = np.delete(codes, at, axis=0)
    assert_array_equal(good, encode(folder, lines(X))[1])
    assert "Warning: 3 of 703 rows could not be read or coded" in told.err
    assert "The first is row 5, counted from 0." in told.err
    assert "skipped: 3" in told.out


def test_the_option_of_encode_overrides_the_settings(learn, encode):
    data = lines(X, [BAD["negative"]], [7])
    _, strict, _ = learn(lines(X), live=False)
    _, lenient, _ = learn(data, "--on-bad-line", "skip")
    assert encode(strict, data)[0] == encode(lenient, data, "--on-bad-line", "raise")[0] == 2
    model = strict / "model.atoms"
    assert encode(model, data)[0] == 2
    for run in (strict, lenient, model):
        code, codes, told = encode(run, data, "--on-bad-line", "skip", "--json")
        assert code == 0
        assert json.loads(told.out)["skipped"] == np.isnan(codes).all(axis=1).sum() == 1
    assert "skipped" not in encode(strict, lines(X))[2].out


def test_complaints_about_a_row_count_the_rows_that_are_skipped(learn, encode):
    _, folder, _ = learn(lines(X), "--on-bad-line", "skip", "--loss", "is", "--zeros", "refuse")
    code, _, told = encode(folder, lines(X, [BAD["words"], "1,0,1"], [3, 9]))
    assert code == 2
    assert "zeros (first in row 10, column 1, counted from 0)" in told.err


@pytest.mark.parametrize("live", [True, False], ids=["stream", "file"])
def test_learning_says_on_standard_error_how_many_rows_were_left_out(
    learn, tmp_path, monkeypatch, capsys, live
):
    data = lines(X, [BAD["words"]] * 2, [5, 120])
    _, _, told = learn(data, "--on-bad-line", "skip", live=live)
    assert "left out" not in told.err  # --json tells it on standard output
    assert json.loads(told.out)["skipped"] == 2
    monkeypatch.setattr("atomstream.io.texts.standard_input", io.BytesIO(data).read)
    arguments = ["learn", "-" if live else str(tmp_path / "x.csv"), *SETTINGS]
    assert main([*arguments, "--on-bad-line", "skip", "--out", str(tmp_path / "again")]) == 0
    told = capsys.readouterr()
    assert "Warning: 2 rows could not be read or learned from: left out." in told.err
    assert "left out" not in told.out
