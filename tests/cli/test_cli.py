"""The command line: what it writes, reads and shows."""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import atomstream
from atomstream import OnlineNMF
from atomstream.cli import main
from atomstream.cli.options import DURATION

X = np.random.default_rng(0).random((300, 6)).round(4)
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def run(*arguments):
    assert main([str(argument) for argument in arguments]) == 0


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder of good and bad inputs, with a finished run."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("cli")
    np.save(folder / "x.npy", X)
    np.save(folder / "wide.npy", np.ones((9, 7)))
    np.save(folder / "flat.npy", np.ones(9))
    np.save(folder / "none.npy", np.ones((0, 6)))
    np.save(folder / "text.npy", np.array([["a", "b"]]))
    np.save(folder / "holes.npy", np.where(X < 0.1, np.nan, X))
    np.save(folder / "infinite.npy", np.where(X < 0.1, np.inf, X))
    np.save(folder / "negative.npy", -X)
    np.savez(folder / "two.npz", a=X, b=X)
    (folder / "text.csv").write_text("a,city\n1,Oslo\n2,Rom\n")
    (folder / "late.csv").write_text("a,b\n" + "1,2\n" * 40_000 + "3,x\n")
    (folder / "ragged.csv").write_text("a,b\n1,2\n3\n")
    (folder / "empty.csv").write_text("")
    (folder / "head.csv").write_text("a,b\n")
    (folder / "other.csv").write_text("a,b,c,d,e,g\n1,2,3,4,5,6\n")
    (folder / "named.csv").write_text("a,b,c,d,e,f\n1,2,3,4,5,6\n")
    (folder / "x.docx").write_text("")
    (folder / "bad.png").write_text("no picture")
    (folder / "bad.parquet").write_bytes(b"PAR1")
    (folder / "bad.toml").write_text("atoms = [")
    (folder / "odd.toml").write_text("atom = 3")
    (folder / "typed.toml").write_text('atoms = "3"')
    (folder / "pickle.atoms").write_bytes(b"\x80\x04K\x01.")
    (folder / "nothing").mkdir()
    (folder / "pictures").mkdir()
    Image.fromarray((X[:30] * 255).astype(np.uint8).repeat(5, axis=1)).save(
        folder / "pictures/p.png"
    )
    run("learn", folder / "x.npy", "--atoms", 3, "--epochs", 2, "--out", folder / "run")
    run("learn", folder / "named.csv", "--atoms", 2, "--holdout", 0, "--out", folder / "named")
    run("learn", folder / "pictures", "--atoms", 3, "--patch", 4, "--out", folder / "seen")
    return folder


BAD = {
    "no input": ("learn --out new", "No input was given"),
    "no such file": ("learn gone.npy --out new", "There is no .*gone.npy"),
    "unknown ending": ("learn x.docx --out new", "has an ending that is not known"),
    "empty folder": ("learn nothing --out new", "holds no images"),
    "images with tables": ("learn pictures x.npy --out new", "cannot be learned together"),
    "standard input and more": ("learn - x.npy --out new", "cannot be combined with other inputs"),
    "one axis": ("learn flat.npy --out new", r"has shape \(9,\), needed is"),
    "no rows": ("learn none.npy --out new", "is empty"),
    "texts in an array": ("learn text.npy --out new", "holds <U1, needed are numbers"),
    "two tables": ("learn two.npz --out new", r"has 2 arrays \(a, b\); choose one with --key"),
    "no such table": ("learn two.npz --key c --out new", "has no array called 'c'; it has a, b"),
    "column of texts": ("learn text.csv --out new", "column 'city' is not numeric .*'Oslo'"),
    "text far down": ("learn late.csv --out new", "Column 'b' has 'x' in row 40001"),
    "ragged lines": (
        "learn ragged.csv --out new",
        "Expected 2 columns in row 2 of .*ragged.csv, got 1",
    ),
    "empty file": ("learn empty.csv --out new", "has no lines"),
    "header only": ("learn head.csv --out new", "has a header and no rows"),
    "no such column": (
        "learn named.csv --columns z --out new",
        "has no column 'z'; it has 6: 'a', 'b'",
    ),
    "other width": ("learn x.npy wide.npy --out new", "has 7 columns and .* has 6"),
    "other names": ("learn named.csv other.csv --out new", "different names of columns"),
    "missing entries": ("learn holes.npy --out new", "contains NaN .*--missing"),
    "infinity": ("learn infinite.npy --missing --out new", "contains infinity"),
    "negative": ("learn negative.npy --out new", "Negative values"),
    "damaged image": ("learn bad.png --out new", "bad.png cannot be read"),
    "damaged parquet": ("learn bad.parquet --out new", "bad.parquet cannot be read"),
    "large patch": ("learn pictures --patch 99 --out new", "smaller than a patch of 99"),
    "no atoms": ("learn x.npy --atoms 0 --out new", "atoms is 0, needed is at least 1"),
    "atoms no number": ("learn x.npy --atoms many --out new", "'many' is not a valid integer"),
    "negative alpha": ("learn x.npy --alpha -1 --out new", "alpha is -1.0, needed is at least 0"),
    "unknown loss": (
        "learn x.npy --loss lost --out new",
        "loss='lost' is unknown; choose one of hellinger, huber, is, kl, l1, l2, squared",
    ),
    "unknown schedule": (
        "learn x.npy --schedule s --out new",
        "schedule='s' is unknown; choose one of",
    ),
    "two schedules": (
        "learn x.npy --schedule harmonic --half-life 9 --out new",
        "exclude each other",
    ),
    "unknown model": (
        "learn x.npy --model m --out new",
        "model is 'm', needed is one of nmf, dictionary",
    ),
    "holdout of all": ("learn x.npy --holdout 1 --out new", "needed is a number below 1"),
    "no time": (
        "learn x.npy --max-time soon --out new",
        "'soon' is not a duration; use e.g. 90s, 10m or 2h",
    ),
    "broken config": ("learn x.npy --config bad.toml --out new", "bad.toml cannot be read as TOML"),
    "unknown setting": (
        "learn x.npy --config odd.toml --out new",
        "sets 'atom', which is no setting",
    ),
    "setting of another type": (
        "learn x.npy --config typed.toml --out new",
        "atoms is '3', needed is a whole number",
    ),
    "no config": ("learn x.npy --config gone.toml --out new", "gone.toml cannot be read"),
    "run there already": ("learn x.npy --out run", "holds a run already"),
    "out is a file": ("learn x.npy --out x.npy", "cannot be written to"),
    "no out": ("learn x.npy", "Missing option '--out'"),
    "unknown option": ("learn x.npy --colour --out new", "No such option.*--colour"),
    "unknown command": ("forget run", "No such command 'forget'"),
    "no run": ("resume nothing", "holds no run"),
    "fewer passes": ("resume run --epochs 0", "epochs is 0"),
    "codes of what": (
        "encode run x.npy --out codes.xls",
        "must end in one of .parquet, .csv, .npz",
    ),
    "codes of other width": ("encode run wide.npy --out c.csv", "has 7 columns, run has learned 6"),
    "codes of holes": ("encode run holes.npy --out c.csv", "contains NaN"),
    "codes over the input": ("encode run x.npy --out x.npy", "must end in one of"),
    "codes over the table": ("encode named named.csv --out named.csv", "is the input itself"),
    "codes of other columns": ("encode named other.csv --out c.csv", "has no column 'f'"),
    "codes to nowhere": ("encode run x.npy --out gone/c.csv", "its folder is missing"),
    "picture as text": (
        "reconstruct seen pictures/p.png --out p.txt",
        "does not end like an image that can be written",
    ),
    "endless half-life": ("learn x.npy --half-life inf --out new", "half_life is inf"),
    "too many patches": (
        "learn x.npy --per-image 99999999999999999999 --out new",
        "needed is at most",
    ),
    "a pickle": ("inspect pickle.atoms", "is no saved model"),
    "rebuild without images": (
        "reconstruct run pictures/p.png",
        "is no run that has learned from images",
    ),
    "rebuild nothing": ("reconstruct seen gone.png", "There is no gone.png"),
    "wide stride": (
        "reconstruct seen pictures/p.png --stride 9",
        "--stride is 9, needed is at most",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_gets_one_sentence_and_exit_code_2(inputs, kind, capsys, monkeypatch):
    monkeypatch.chdir(inputs)
    line, sentence = BAD[kind]
    assert main(line.split()) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert re.search(sentence, told.err), told.err
    assert len(told.err.strip().splitlines()) == 1
    assert told.err.startswith("Error: ")
    shutil.rmtree("new", ignore_errors=True)
    assert not [path for path in inputs.iterdir() if path.name.startswith(("c.csv", ".c.csv"))]


def test_there_are_thirty_kinds_of_bad_input():
    assert len(BAD) == 59


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
        running, "LearningBar", lambda text: atomstream.callbacks.LearningBar(text=text, every=0.0)
    )
    run("learn", inputs / "x.npy", "--atoms", 3, "--batch-size", 100, "--out", tmp_path / "run")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert re.fullmatch(
        r"learning: [\d,]+ samples, .* samples/s  objective .*, \d+ s left", lines[1]
    ), lines


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
    assert "<script" not in page
    assert "<b>" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "日本" in page
    for picture in (nasty / "figures").glob("*.svg"):
        assert "<script" not in picture.read_text(encoding="utf-8")


def test_the_report_is_one_file_that_asks_for_nothing(nasty):
    page = (nasty / "report.html").read_text(encoding="utf-8")
    assert not re.findall(r"(?:src|href)=\"(?!data:)", page)
    assert "url(" not in page
    assert page.count("data:image/png;base64,") == 3
    for chapter in ("What was learned", "How well", "From what", "How"):
        assert f"<h2>{chapter}</h2>" in page
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
    run(*learn, "--representatives", "60", "--out", out)
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
