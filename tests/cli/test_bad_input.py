"""Bad input to every kind of run: one sentence on standard error, exit code 2, and nothing written.

Each kind has a function that prepares a folder, and a table: what is wrong, the command that is
given there, and what its sentence must say. Those of fields lie in fields/NAME/bad_input.py.
"""

import os
import re

import numpy as np
import pytest
from cases import of_fields
from commands import run
from numpy.random import default_rng

from atomstream.cli import main

# -- rows
# --------------------------------------------------------------------------------------------------


def rows(folder):
    from PIL import Image

    X = default_rng(0).random((300, 6)).round(4)
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
    pixels = (X[:30] * 255).astype(np.uint8).repeat(5, axis=1)
    Image.fromarray(pixels).save(folder / "pictures/p.png")
    run("learn", folder / "x.npy", "--atoms", 3, "--out", folder / "run")
    run("learn", folder / "named.csv", "--atoms", 2, "--holdout", 0, "--out", folder / "named")
    run("learn", folder / "pictures", "--atoms", 3, "--patch", 4, "--out", folder / "seen")


ROWS = {
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
    "text far down": (
        "learn late.csv --out new",
        "Line 40002 of .*late.csv .row 40000, counted from 0. has 'x' in column 'b'",
    ),
    "ragged lines": (
        "learn ragged.csv --out new",
        "Line 3 of .*ragged.csv .row 1, counted from 0. has 1 field, expected 2 columns",
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
    "negative": (
        "learn negative.npy --out new",
        "Negative values.* use --model dictionary or --on-bad-line skip",
    ),
    "damaged image": ("learn bad.png --out new", "bad.png cannot be read"),
    "damaged parquet": ("learn bad.parquet --out new", "bad.parquet cannot be read"),
    "large patch": ("learn pictures --patch 99 --out new", "smaller than a patch of 99"),
    "no atoms": ("learn x.npy --atoms 0 --out new", "atoms is 0, needed is a whole number from 1"),
    "atoms no number": ("learn x.npy --atoms many --out new", "'many' is not a valid integer"),
    "negative alpha": (
        "learn x.npy --alpha -1 --out new",
        "alpha is -1.0, needed is a number from 0",
    ),
    "unknown loss": (
        "learn x.npy --loss lost --out new",
        "loss='lost' is unknown; choose one of hellinger, huber, is, kl",
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
        "model is 'm', needed is ",
    ),
    "holdout of all": ("learn x.npy --holdout 1 --out new", "needed is a number from 0, below 1"),
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
    "codes of other columns": (
        "encode named other.csv --out c.csv",
        "different names of columns .*missing is 'f' and unexpected is 'g'",
    ),
    "codes to nowhere": ("encode run x.npy --out gone/c.csv", "its folder is missing"),
    "picture as text": (
        "reconstruct seen pictures/p.png --out p.txt",
        "does not end like an image that can be written",
    ),
    "endless half-life": ("learn x.npy --half-life inf --out new", "half_life is inf"),
    "too many patches": (
        "learn x.npy --per-image 99999999999999999999 --out new",
        "needed is a whole number from 1 to",
    ),
    "a pickle": (
        "inspect pickle.atoms",
        "pickle.atoms is no saved model of atomstream, nor a run: it is another kind of file.$",
    ),
    "an empty model": (
        "inspect empty.csv",
        "empty.csv is no saved model .*, nor a run: it is empty.$",
    ),
    "inspect what is not there": ("inspect gone", "There is no gone.$"),
    "encode with what is not there": ("encode gone x.npy --out c.csv", "There is no gone.$"),
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


# -- the one test
# --------------------------------------------------------------------------------------------------

TABLES = {"rows": (rows, ROWS), **of_fields("bad_input")}
CASES = [
    pytest.param(kind, line, sentence, id=f"{kind}: {what}")
    for kind, (_, table) in TABLES.items()
    for what, (line, sentence) in table.items()
]


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """What gives the folder of a kind, prepared when it is first asked for."""
    folders = {}

    def folder(kind):
        if kind not in folders:
            folders[kind] = tmp_path_factory.mktemp(kind)
            TABLES[kind][0](folders[kind])
        return folders[kind]

    return folder


@pytest.mark.parametrize(("kind", "line", "sentence"), CASES)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    prepared, kind, line, sentence, capsys, monkeypatch
):
    monkeypatch.chdir(prepared(kind))
    capsys.readouterr()
    before = sorted(os.listdir())
    assert main(line.split()) == 2
    told = capsys.readouterr()
    lines = told.err.strip().splitlines()
    errors = [line for line in lines if not line.startswith("Warning: ")]
    assert told.out == ""
    assert len(errors) == 1, told.err
    assert errors[0].startswith("Error: ")
    assert re.search(sentence, errors[0]), errors[0]
    assert sorted(os.listdir()) == before, "a refused run leaves nothing"


def test_no_kind_of_bad_input_drops_out():
    assert len(ROWS) == 62
