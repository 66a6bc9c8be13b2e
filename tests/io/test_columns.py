"""Which columns of tables are learned, and what counts as missing in them."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import refused, run
from numpy.testing import assert_array_equal

from atomstream.exceptions import InputError
from atomstream.io import InputOptions, open_inputs
from atomstream.io.series_table import read_series

FRAME = pd.DataFrame(
    {
        "day": ["2020-01-01", "2020-01-02", "2020-01-03"],
        "Area": [1.0, -99.0, 3.5],
        "kind-of": ["x", "y", "z"],
        "perimeter": [4.0, 5.0, 6.0],
        "groove": [7.0, 8.0, -99.0],
    }
)


@pytest.fixture(scope="module", params=["csv", "jsonl", "parquet"])
def path(request, tmp_path_factory):
    """Return the table as a file of each kind."""
    path = tmp_path_factory.mktemp("columns") / f"t.{request.param}"
    if request.param == "csv":
        FRAME.to_csv(path, index=False)
    elif request.param == "jsonl":
        FRAME.to_json(path, orient="records", lines=True)
    else:
        FRAME.to_parquet(path)
    return path


def read(path, **options):
    """Return the names of the columns that are read, and their rows."""
    source = open_inputs([str(path)], InputOptions(**options))[0]
    return source.columns, np.concatenate([block.X for block in source.blocks(0, 0)])


def test_numeric_stands_for_the_columns_of_numbers(path):
    names, X = read(path, columns=("numeric",))
    assert names == ["Area", "perimeter", "groove"]
    assert_array_equal(X, FRAME[names])
    assert read(path, columns=("numeric",), drop=("perimeter",))[0] == ["Area", "groove"]


def test_a_column_of_that_name_wins(tmp_path):
    (tmp_path / "n.csv").write_text("numeric,b\n1,2\n")
    assert read(tmp_path / "n.csv", columns=("numeric",))[0] == ["numeric"]


def test_ranges_take_names_and_numbers_and_dashes_in_names(path):
    assert read(path, columns=("perimeter-groove",))[0] == ["perimeter", "groove"]
    assert read(path, columns=("4-groove",))[0] == ["perimeter", "groove"]
    wide = ("Area-groove",)
    assert read(path, columns=wide, drop=("kind-of",))[0] == ["Area", "perimeter", "groove"]
    with pytest.raises(InputError, match="no column 'groove-Area'"):
        read(path, columns=("groove-Area",))


def test_all_columns_left_out_is_an_error(path):
    with pytest.raises(InputError, match="no column of numbers"):
        read(path, columns=("Area",), drop=("Area",))


@pytest.mark.parametrize(("given", "meant"), [("area", "Area"), ("perimetre", "perimeter")])
def test_a_misspelled_column_is_answered_with_the_right_one(path, given, meant):
    with pytest.raises(InputError, match=f"no column '{given}'.* Did you mean '{meant}'\\?"):
        read(path, columns=(given,))
    with pytest.raises(InputError) as raised:
        read(path, columns=("volume of sales",))
    assert "Did you mean" not in str(raised.value)


@pytest.mark.parametrize("sentinel", ["-99", "-99.0"])
def test_numbers_that_stand_for_missing_entries(path, sentinel):
    wanted = FRAME[["Area", "groove"]].replace(-99.0, np.nan)
    assert_array_equal(read(path, columns=("Area", "groove"), missing=(sentinel,))[1], wanted)


def test_texts_that_stand_for_missing_entries(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n-,2\n3,?\n5,6\n")
    wanted = [[np.nan, 2], [3, np.nan], [5, 6]]
    assert_array_equal(read(tmp_path / "t.csv", missing=("-", "?"))[1], wanted)
    with pytest.raises(InputError, match=r"Line 3 of .*'\?' in column 'b'.*--na \?"):
        read(tmp_path / "t.csv", missing=("-",))


def test_sentinels_of_single_precision(tmp_path):
    X = np.array([[1, -99.9], [-99.9, 2]], np.float32)
    pd.DataFrame(X, columns=["a", "b"]).to_parquet(tmp_path / "x.parquet")
    found = read(tmp_path / "x.parquet", missing=("-99.9",))[1]
    assert found.dtype == np.float32
    assert_array_equal(found, np.where(X < 0, np.float32(np.nan), X))


def test_series_leave_columns_out_and_know_sentinels(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    table = read_series(tmp_path / "t.csv", columns=("numeric",), missing=("-99",))
    assert table.names == ["Area", "perimeter", "groove"]
    assert np.isnan(table.values).sum() == 2
    table = read_series(tmp_path / "t.csv", drop=("kind-of", "Area"))
    assert table.names == ["perimeter", "groove"]


def test_a_run_learns_numeric_columns_with_sentinels(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = 100 * rng.random((60, 3)).round(3)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(note="text")
    table.loc[7, "b"] = -99
    table.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "run"
    options = ("--columns", "numeric", "--atoms", 2, "--json", "--out", out)
    run("learn", tmp_path / "t.csv", "--na", "-99", "--missing", *options)
    assert json.loads(capsys.readouterr().out)
    run("encode", out, tmp_path / "t.csv", "--out", tmp_path / "codes.csv")
    assert len(pd.read_csv(tmp_path / "codes.csv")) == 60
    told = refused(capsys, "learn", tmp_path / "t.csv", *options[:4], "--out", tmp_path / "other")
    assert "the minimum is -99 (first in row 7, column 'b' of" in told
    assert not (tmp_path / "other").exists()
