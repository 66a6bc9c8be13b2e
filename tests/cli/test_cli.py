"""The command line: what it writes, reads and shows."""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from commands import run
from numpy.testing import assert_allclose, assert_array_equal

import atomstream
from atomstream import OnlineNMF
from atomstream.cli.options import DURATION

X = np.random.default_rng(0).random((300, 6)).round(4)
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder of inputs, with finished runs."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("cli")
    np.save(folder / "x.npy", X)
    (folder / "pictures").mkdir()
    Image.fromarray((X[:30] * 255).astype(np.uint8).repeat(5, axis=1)).save(
        folder / "pictures/p.png"
    )
    run("learn", folder / "x.npy", "--atoms", 3, "--epochs", 2, "--out", folder / "run")
    run("learn", folder / "pictures", "--atoms", 3, "--patch", 4, "--out", folder / "seen")
    return folder


@pytest.mark.parametrize("ending", ["parquet", "csv", "npz"])
def test_codes_are_those_of_transform(inputs, tmp_path, ending):
    out = tmp_path / f"codes.{ending}"
    run("encode", inputs / "run", inputs / "x.npy", "--out", out)
    codes = atomstream.load(inputs / "run/model.atoms").transform(X)
    if ending == "npz":
        read = sp.load_npz(out).toarray()
    elif ending == "parquet":
        import pyarrow.parquet as pq

        read = np.stack(pq.read_table(out).to_pandas().to_numpy())
    else:
        read = np.loadtxt(out, delimiter=",", skiprows=1)
    assert_allclose(read, codes, rtol=1e-14)
    run("encode", inputs / "run/model.atoms", inputs / "x.npy", "--out", out)


def test_columns_are_coded_by_name_whatever_their_order(inputs, tmp_path):
    names = "abcdef"
    for order in (names, names[::-1]):
        rows = X[:9, [names.index(name) for name in order]]
        np.savetxt(
            tmp_path / f"{order}.csv",
            rows,
            delimiter=",",
            header=",".join(order),
            comments="",
            fmt="%.17g",
        )
    run("learn", tmp_path / "abcdef.csv", "--atoms", 2, "--holdout", 0, "--out", tmp_path / "run")
    for order in (names, names[::-1]):
        run(
            "encode",
            tmp_path / "run",
            tmp_path / f"{order}.csv",
            "--out",
            tmp_path / f"codes-{order}.csv",
        )
    assert (tmp_path / "codes-abcdef.csv").read_text() == (
        tmp_path / "codes-fedcba.csv"
    ).read_text()


def test_an_image_is_rebuilt(inputs, tmp_path, capsys):
    from PIL import Image

    capsys.readouterr()
    run(
        "reconstruct",
        inputs / "seen",
        inputs / "pictures/p.png",
        "--out",
        tmp_path / "r.png",
        "--json",
    )
    told = json.loads(capsys.readouterr().out)
    rebuilt = np.asarray(Image.open(tmp_path / "r.png")) / 255
    original = np.asarray(Image.open(inputs / "pictures/p.png")) / 255
    assert rebuilt.shape == original.shape
    assert told["psnr"] == pytest.approx(
        -10 * np.log10(np.mean((rebuilt - original) ** 2)), abs=0.1
    )
    run("reconstruct", inputs / "seen", inputs / "pictures/p.png")
    assert (inputs / "seen/figures/p-reconstructed.png").exists()


def test_one_is_not_many(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((30, 1)))
    options = ("--atoms", 1, "--holdout", 0, "--epochs", 1)
    run("learn", tmp_path / "x.npy", *options, "--out", tmp_path / "run")
    run("inspect", tmp_path / "run")
    told = capsys.readouterr().out
    for one in ("1 atom from 30 rows", "OnlineNMF, 1 atom of 1 feature", "30 in 1 step"):
        assert re.search(rf"{one}\b", told), one
    assert not re.search(r"\b1 \w+s\b", told)


def test_inspect_fits_on_a_screen_and_agrees_with_the_model(inputs, capsys):
    capsys.readouterr()
    run("inspect", inputs / "run")
    screen = capsys.readouterr().out
    assert len(screen.splitlines()) <= 25
    assert max(map(len, screen.splitlines())) <= 120
    run("inspect", inputs / "run", "--json")
    told = json.loads(capsys.readouterr().out)
    model = atomstream.load(inputs / "run/model.atoms")
    assert told["samples"] == model.n_samples_seen_
    assert told["complete"] is True
    assert told["atoms"][0]["code_share"] == model.importance_.max()
    assert 0 < told["held_out"]["unexplained share of the energy"] < 1


def test_a_config_gives_way_to_options(inputs, tmp_path):
    (tmp_path / "c.toml").write_text("atoms = 4\nalpha = 0.5\nhalf_life = 100\n")
    run(
        "learn",
        inputs / "x.npy",
        "--config",
        tmp_path / "c.toml",
        "--alpha",
        0.1,
        "--out",
        tmp_path / "run",
    )
    model = atomstream.load(tmp_path / "run/model.atoms")
    assert (model.n_components, model.alpha, model.schedule.half_life) == (4, 0.1, 100.0)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("1.5m", 90), ("2h", 7200), ("1d", 86400), ("3s", 3)]
)
def test_times(text, seconds):
    assert DURATION.convert(text, None, None) == seconds


@pytest.mark.slow
def test_the_program_is_installed_and_its_result_can_be_piped():
    done = subprocess.run(
        [sys.executable, "-m", "atomstream", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert atomstream.__version__ in done.stdout


def test_without_a_terminal_progress_is_quiet_lines(inputs, tmp_path, capsys, monkeypatch):
    from atomstream.cli import running

    monkeypatch.setattr(
        running,
        "LearningBar",
        lambda **known: atomstream.watch.callbacks.LearningBar(every=0.0, **known),
    )
    options = ("--atoms", 3, "--batch-size", 100, "--epochs", 1)
    run("learn", inputs / "x.npy", *options, "--out", tmp_path / "run")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert re.fullmatch(r"learning: [\d,]+ rows, .* rows/s  objective .*, \d+ s left", lines[1]), (
        lines
    )


# -- the report
# --------------------------------------------------------------------------------------------------

NASTY = ["<script>alert(1)</script>", "$\\frac{", "a & b", '"q"', "日本", "-->"]


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """A run over a table, in a folder and with columns that would like to be more than text."""
    import csv

    folder = tmp_path_factory.mktemp("nasty")
    table = folder / "<b>t.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([NASTY, *X.tolist()])
    out = folder / "<img src=x onerror=alert(2)>"
    run("learn", table, "--atoms", 4, "--out", out)
    run("report", out)
    return out


@pytest.mark.slow
def test_labels_stay_text_in_the_report(nasty):
    page = (nasty / "report.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2  # the script of the page, and the list of edits as data
    assert "<script>alert" not in page
    assert "<b>t" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "日本" in page
    for picture in (nasty / "figures").glob("*.svg"):
        assert "<script" not in picture.read_text(encoding="utf-8")


def test_the_report_is_one_file_that_asks_for_nothing(nasty):
    page = (nasty / "report.html").read_text(encoding="utf-8")
    assert not re.findall(r"(?:src|href)=\"(?!data:|#)", page)
    assert "url(" not in page
    assert page.count("data:image/png;base64,") == 3  # atoms of few features are curves
    for chapter in ("What was learned", "How well", "From what", "How"):
        assert re.search(f"<h2 id=[^>]*>{chapter}</h2>", page)
    for figure in ("atoms", "held_out", "objective"):
        assert {path.suffix for path in (nasty / "figures").glob(f"{figure}.*")} == {".png", ".svg"}


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs a chromium")
def test_the_report_opens_in_a_browser_without_complaints(nasty, tmp_path):
    page, shot = (nasty / "report.html").resolve().as_uri(), tmp_path / "shot.png"
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--window-size=1000,2400",
    ]
    done = subprocess.run(
        [CHROMIUM, *flags, f"--screenshot={shot}", f"--user-data-dir={tmp_path}/profile", page],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "CONSOLE" not in done.stderr
    from PIL import Image

    pixels = np.asarray(Image.open(shot).convert("L"))
    assert pixels.shape == (2400, 1000)
    assert pixels.std() > 10  # something is drawn


@pytest.mark.slow
def test_plot_writes_the_pictures_alone(inputs):
    run("plot", inputs / "seen")
    assert len(list((inputs / "seen/figures").glob("*.svg"))) == 3
    assert not (inputs / "seen/report.html").exists()


@pytest.mark.usefixtures("undrawn")
def test_a_model_file_without_a_run_has_a_report_too(tmp_path):
    atomstream.save(OnlineNMF(3, random_state=0).fit(X), tmp_path / "m.atoms")
    run("report", tmp_path / "m.atoms")
    assert "What was learned" in (tmp_path / "m-report/report.html").read_text()


def test_what_pictures_draw_can_be_had_as_data(inputs):
    from atomstream import plots
    from atomstream.runs.record import open_record

    record = open_record(inputs / "run")
    X, X_hat, error = plots.triples_data(record.model, record.held_out)
    assert_array_equal(X_hat - X, error)
    assert (np.diff((error**2).sum(axis=1) / (X**2).sum(axis=1)) >= 0).all()
    rows, shares = plots.curves_data(record.model, 2)
    assert_array_equal(rows[0], record.model.components_[record.model.importance_.argmax()])
    line = plots.curves(record.model).axes[0].lines[0]
    assert_array_equal(line.get_ydata(), rows[0])
    labels, values, share = plots.bars_data(record.model)[0]
    assert share == shares[0]
    assert labels[0] == str(int(rows[0].argmax()) + 1)
    assert_array_equal(values, np.sort(rows[0])[::-1][: len(values)])
