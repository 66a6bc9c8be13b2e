"""Files of row, column and value: the table that they stand for, in Python and for commands."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import refused, run
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.exceptions import InputError
from atomstream.io import InputOptions, open_inputs

rng = np.random.default_rng(0)
X = rng.random((30, 3)) @ rng.random((3, 8))
ROWS, COLUMNS = rng.permutation(np.argwhere(rng.random(X.shape) < 0.7)).T
ENTRIES = pd.DataFrame(
    {
        "user": [f"u{i:02}" for i in ROWS],
        "film": [f"f{j}" for j in COLUMNS],
        "stars": X[ROWS, COLUMNS],
    }
)
WHOLE = ENTRIES.pivot(index="user", columns="film", values="stars")
LEARN = ["--triples", "--atoms", "2", "--epochs", "2", "--holdout", "0"]


def opened(*paths, **options):
    (source,) = open_inputs([*map(str, paths)], InputOptions(triples=True, **options))
    return source


def written(folder, ending, frame=ENTRIES):
    """Return the files that hold the entries."""
    path = folder / f"ratings{ending}"
    match ending:
        case ".csv" | ".csv.gz":
            frame.to_csv(path, index=False)
        case ".tsv":
            frame.to_csv(path, sep="\t")  # with an index, as pandas writes it by default
        case ".parquet":
            pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra io")
            frame.to_parquet(path)
        case ".jsonl":
            frame.to_json(path, orient="records", lines=True)
        case ".npy":
            np.save(path, np.column_stack([ROWS, COLUMNS, X[ROWS, COLUMNS]]))
    return path


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet", ".jsonl", ".npy"])
def test_a_file_of_entries_is_the_table(tmp_path, ending):
    source = opened(written(tmp_path, ending))
    (block,) = source.blocks(0, 0)
    exact = assert_array_equal if ending not in (".csv", ".jsonl") else assert_allclose
    exact(block.X, WHOLE.to_numpy())
    if ending != ".npy":
        assert source.names == WHOLE.columns.tolist()
        assert block.labels[0].tolist() == WHOLE.index.tolist()
        assert source.row_names == ["user"]
    (rest,) = source.blocks(7, 0)
    assert_array_equal(rest.X, block.X[7:])
    assert_array_equal(rest.ids, np.arange(7, 30))


def test_several_files_are_one_table(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, part in zip(paths, (ENTRIES[::2], ENTRIES[1::2]), strict=True):
        part.to_csv(path, index=False)
    (block,) = opened(*paths).blocks(0, 0)
    assert_allclose(block.X, WHOLE.to_numpy())


def test_numbers_of_rows_are_sorted_as_numbers(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("row,column,value\n10,2,1\n9,1,2\n")
    (block,) = opened(path).blocks(0, 0)
    assert block.labels[0].tolist() == ["9", "10"]
    assert_array_equal(block.X, [[2, np.nan], [np.nan, 1]])


def test_the_three_columns_go_by_their_names(tmp_path):
    path = tmp_path / "more.csv"
    ENTRIES[["stars", "film", "user"]].assign(when="2020-01-01").to_csv(path, index=False)
    (block,) = opened(path, columns=("user", "film", "stars")).blocks(0, 0)
    assert_allclose(block.X, WHOLE.to_numpy())
    with pytest.raises(
        InputError, match=r"there are 4 \('stars', 'film', 'user', 'when'\); name rows"
    ):
        opened(path)


@pytest.mark.parametrize("how", ["mean", "sum", "first", "last"])
def test_an_entry_that_comes_twice(tmp_path, how):
    path = tmp_path / "twice.csv"
    path.write_text(
        'user,film,stars\nann,"Alien,\nDirector\'s cut",1\nbob,Brazil,2\n\nbob,Brazil,4\n'
    )
    with pytest.raises(
        InputError, match=r"'bob' and column 'Brazil' come twice, in line 4 of .* and line 6"
    ):
        opened(path)
    (block,) = opened(path, duplicates=how).blocks(0, 0)
    assert block.X[1, 1] == {"mean": 3, "sum": 6, "first": 2, "last": 4}[how]


def test_a_listed_zero_was_observed_and_an_empty_field_was_not(tmp_path):
    path = tmp_path / "zeros.csv"
    path.write_text("user,film,stars\nann,x,0\nann,y,\nbob,x,-99\nbob,y,1\n")
    (block,) = opened(path, missing=("-99",)).blocks(0, 0)
    assert_array_equal(block.X, [[0, np.nan], [np.nan, 1]])


def test_a_bad_line_is_refused_or_left_out(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("user,film,stars\n" + "ann,x,1\nbob,y,2\n" + "cat,x\ncat,y,3\n")
    with pytest.raises(InputError, match="Line 4 of"):
        opened(path)
    (block,) = opened(path, on_bad_line="skip").blocks(0, 0)
    assert block.labels[0].tolist() == ["ann", "bob", "cat"]
    path.write_text("user,film,stars\nann,x,1\n,y,2\n")
    with pytest.raises(InputError, match="rows has no label in line 3 of"):
        opened(path)


def test_runs_learn_go_on_and_code(tmp_path, capsys):
    path, codes = written(tmp_path, ".csv"), tmp_path / "codes.csv"
    whole, run_ = tmp_path / "whole.csv", tmp_path / "run"
    WHOLE.to_csv(whole)
    run("learn", path, *LEARN, "--out", run_)
    run("resume", run_, "--epochs", 4)
    more = ["--index", "user", "--out", tmp_path / "other"]
    run("learn", whole, *LEARN[1:], "--epochs", 4, "--missing", *more)
    run("encode", run_, path, "--out", codes)
    run("encode", tmp_path / "other", whole, "--out", tmp_path / "theirs.csv")
    found, expected = pd.read_csv(codes), pd.read_csv(tmp_path / "theirs.csv")
    assert found.user.tolist() == WHOLE.index.tolist()
    assert_allclose(found.iloc[:, -2:], expected.iloc[:, -2:], rtol=1e-6)
    new = tmp_path / "new.csv"  # of a user who knows few films
    ENTRIES[ENTRIES.user == "u03"].iloc[:2].to_csv(new, index=False)
    run("encode", run_, new, "--out", codes)
    assert np.isfinite(pd.read_csv(codes).iloc[:, -2:].to_numpy()).all()
    new.write_text("user,film,stars\nann,unheard of,1\n")
    told = refused(capsys, "encode", run_, new, "--out", codes)
    assert "entries in other columns than" in told
    assert "'unheard of'" in told
    run("encode", tmp_path / "other", new.parent / "ratings.csv", "--triples", "--out", codes)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--slots", 2], "--triples and --slots and --engine exclude each other"),
        (["--id", "user"], "rows of triples are named by the first"),
        (["--drop", "user"], "there are 2 ('film', 'stars')"),
    ],
)
def test_what_does_not_go_with_entries(tmp_path, capsys, more, told):
    path = written(tmp_path, ".csv")
    assert told in refused(capsys, "learn", path, *LEARN, *more, "--out", tmp_path / "run")


def test_what_needs_entries(tmp_path, capsys):
    path = written(tmp_path, ".csv")
    plain = ["--atoms", 2, "--out", tmp_path / "run"]
    assert "say --triples where" in refused(capsys, "learn", path, *plain)
    assert "for triples" in refused(capsys, "learn", path, "--duplicates", "sum", *plain)
    assert "name a file" in refused(capsys, "learn", "-", "--triples", *plain)
    WHOLE.to_csv(tmp_path / "whole.csv", index=False)
    told = refused(capsys, "learn", tmp_path / "whole.csv", "--triples", *plain)
    assert "there are 8 ('f0', 'f1'" in told


def test_what_is_left_out_is_counted(tmp_path, capsys):
    path = tmp_path / "bad.csv"
    lines = [f"u{i},f{j},{i + j}" for i in range(9) for j in range(4)]
    path.write_text("\n".join(["user,film,stars", *lines, "u0,f9,abc", ",f1,3"]) + "\n")
    assert "abc" in refused(capsys, "learn", path, *LEARN, "--out", tmp_path / "run")
    run("learn", path, *LEARN, "--on-bad-line", "skip", "--out", tmp_path / "run", "--json")
    assert json.loads(capsys.readouterr().out)["skipped"] == 2
    new = tmp_path / "new.csv"
    new.write_text("user,film,stars\nann,f1,2\nann,unheard of,1\n")
    codes = tmp_path / "codes.csv"
    run("encode", tmp_path / "run", new, "--on-bad-line", "skip", "--out", codes)
    known = pd.read_csv(codes)
    new.write_text("user,film,stars\nann,f1,2\n")
    run("encode", tmp_path / "run", new, "--out", codes)
    assert_array_equal(known, pd.read_csv(codes))


def test_a_row_without_a_value_keeps_its_place(tmp_path):
    path = tmp_path / "gone.csv"
    path.write_text("user,film,stars\nann,x,1\nbob,x,\ncat,x,2\n")
    (block,) = opened(path).blocks(0, 0)
    assert block.labels[0].tolist() == ["ann", "bob", "cat"]
    assert_array_equal(block.X, [[1], [np.nan], [2]])


def test_whole_numbers_have_one_name(tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra io")
    frame = pd.DataFrame({"user": [1.0, 10.0, 2.0], "film": [1, 1, 1], "stars": [1, 2, 3]})
    frame.to_parquet(tmp_path / "x.parquet")
    (block,) = opened(tmp_path / "x.parquet").blocks(0, 0)
    assert block.labels[0].tolist() == ["1", "2", "10"]


def test_heads_of_files_of_triples(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(",film,stars\nann,x,1\nbob,x,2\n")  # as an index without a name is written
    assert opened(path).n_rows == 2
    path.write_text("ann,x,1\nbob,x,2\n")
    assert opened(path, header="no").row_names == ["row"]
    assert opened(path).n_rows in (1, 2)  # two lines may have a header
    path.write_text("stars,film,user\n1,x,ann\n2,x,bob\n")
    with pytest.raises(InputError, match="such as --columns user,item,rating"):
        opened(path)
    with pytest.raises(InputError, match="--index names rows"):
        opened(path, index="user")
    path.write_text("user,film,stars\nann,x,inf\nbob,x,2\n")
    with pytest.raises(InputError, match="infinite entry in line 2 of"):
        opened(path)
