"""Tables, series and trips with decimal commas: as with decimal points, or one sentence."""

import csv

import pytest
from commands import run
from decimal_commas import X, text_of
from numpy.testing import assert_array_equal

import atomstream
from atomstream.exceptions import InputError
from atomstream.io import InputOptions, open_inputs
from atomstream.io.series_table import read_series


def rows(path, **options):
    return next(open_inputs([str(path)], InputOptions(**options))[0].blocks(0, 0)).X


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize(
    ("sign", "quoted"), [(";", False), ("\t", False), ("|", False), (";", True), (",", True)]
)
def test_decimal_commas_are_read_when_asked_for_and_named_when_not(tmp_path, sign, quoted, header):
    path = tmp_path / "table.csv"
    path.write_text(text_of(sign, ",", header, quoted=quoted))
    assert_array_equal(rows(path, decimal=","), X)
    series = read_series(path, decimal=",")
    assert_array_equal(series.values, X)
    for read in (rows, read_series):
        with pytest.raises(InputError, match=r"decimal commas.*decimal=','.*--decimal ,") as raised:
            read(path)
        assert "\n" not in str(raised.value)
    path.write_text(text_of(sign, ".", header))
    assert_array_equal(rows(path), X)
    assert_array_equal(rows(path, decimal="."), X)


def test_other_tables_are_not_taken_for_decimal_commas(tmp_path):
    path = tmp_path / "table.csv"
    for text, wanted in {
        "1,5\n2,5\n": [[1, 5], [2, 5]],
        "a;b,c\n1,2\n3,4\n": [[1, 2], [3, 4]],
        "1;5\n2;5\n": [[1, 5], [2, 5]],
    }.items():
        path.write_text(text)
        assert_array_equal(rows(path), wanted)
    path.write_text("1,5\n2,5\n")
    assert_array_equal(rows(path, decimal=","), [[1.5], [2.5]])


def test_points_beside_decimal_commas_may_mean_thousands_and_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a;b\n1,5;2\n1.234;3\n")
    for read in (rows, read_series):
        with pytest.raises(InputError, match=r"Line 3 of .*'1\.234' in column 'a'"):
            read(path, decimal=",")


def test_other_decimal_signs_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("1;2\n")
    for read in (rows, read_series):
        with pytest.raises(InputError, match=r"decimal is ';', needed is '.' or ','"):
            read(path, decimal=";")


def table(path):
    with path.open() as file:
        return list(csv.reader(file))


def test_a_run_reads_all_tables_as_its_first_one(tmp_path):
    for name, decimal in (("commas", ","), ("points", ".")):
        (tmp_path / f"{name}.csv").write_text(text_of(";", decimal))
        common = ("--model", "dictionary", "--missing", "--atoms", 2, "--decimal", decimal)
        run("learn", tmp_path / f"{name}.csv", *common, "--out", tmp_path / name)
        codes = tmp_path / f"{name}-codes.csv"
        run("encode", tmp_path / name, tmp_path / f"{name}.csv", "--out", codes)
    one, other = (atomstream.load(tmp_path / name) for name in ("commas", "points"))
    assert_array_equal(one.components_, other.components_)
    assert table(tmp_path / "commas-codes.csv") == table(tmp_path / "points-codes.csv")
