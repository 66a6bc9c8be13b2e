"""What rows are called: set aside while learning, kept beside the codes, block by block."""

import csv
import json
import re
import tracemalloc

import numpy as np
import pytest
from commands import refused, run
from numpy.testing import assert_allclose, assert_array_equal

import atomstream
from atomstream.base import NamedColumns
from atomstream.io import texts

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")

N = 60
X = np.random.default_rng(0).random((N, 3)).round(5)
NAMES = [f"{i:03}" for i in range(N)]  # numbers that are names: zeros in front stay
PLACES = [["=1+1", 'a,"b"', "\x1b[31m", "NA", "plain", ""][i % 6] for i in range(N)]


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    with open(folder / "x.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "the,key", "b", "place", "c"])
        writer.writerows(zip(X[:, 0], NAMES, X[:, 1], PLACES, X[:, 2], strict=True))
    np.savetxt(folder / "bare.csv", X, delimiter=",", header="a,b,c", comments="", fmt="%.5f")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(key=np.arange(N)).to_parquet(folder / "x.parquet")
    frame.set_index(pd.Index(NAMES)).to_parquet(folder / "named.parquet")
    frame.set_index(pd.Index(NAMES)).to_csv(folder / "unnamed.csv")
    ids = ("--id", "the,key", "--id", "place")
    run("learn", folder / "x.csv", *ids, "--atoms", 2, "--epochs", 2, "--out", folder / "run")
    run("learn", folder / "bare.csv", "--atoms", 2, "--epochs", 2, "--out", folder / "bare")
    return folder


def test_names_are_never_learned_from(folder):
    model = atomstream.load(folder / "run")
    assert_array_equal(model.components_, atomstream.load(folder / "bare").components_)
    assert "id = " in (folder / "run/run.toml").read_text()


def coded(path):
    """Return the codes of the rows under a model that knows the names of their columns."""
    model = atomstream.load(path)
    return model.transform(NamedColumns(X, model.feature_names_in_))


def test_the_names_of_the_settings_stand_before_the_codes(folder, tmp_path):
    run("encode", folder / "run", folder / "x.csv", "--out", tmp_path / "c.csv")
    head, *rows = read(tmp_path / "c.csv")
    assert head == ["the,key", "place", "atom_0", "atom_1"]
    assert [row[0] for row in rows] == NAMES
    assert {row[1] for row in rows} == {"'=1+1", 'a,"b"', "\\x1b[31m", "NA", "plain", ""}
    codes = np.array([row[2:] for row in rows], float)
    assert_allclose(codes, coded(folder / "run"))
    run("encode", folder / "run", folder / "x.csv", "--out", tmp_path / "c.parquet")
    table = pq.read_table(tmp_path / "c.parquet")
    assert table["the,key"].to_pylist() == NAMES
    assert table["place"].to_pylist() == PLACES  # no spreadsheet opens it
    assert_allclose(np.array([table["atom_0"], table["atom_1"]]).T, codes)


def test_inputs_without_these_names_are_coded_as_well(folder, tmp_path):
    run("encode", folder / "run", folder / "bare.csv", "--out", tmp_path / "c.csv")
    assert read(tmp_path / "c.csv")[0] == ["atom_0", "atom_1"]


@pytest.mark.parametrize(
    ("source", "ids", "name", "kind", "values"),
    [
        ("x.parquet", ("--id", "key"), "key", pa.int64(), list(range(N))),
        ("named.parquet", (), "__index_level_0__", pa.string(), NAMES),
        ("unnamed.csv", (), "", pa.string(), NAMES),
        ("x.csv", ("--id", "the,key", "--id", "place"), "the,key", pa.string(), NAMES),
    ],
)
def test_names_of_new_inputs_keep_their_type(folder, tmp_path, source, ids, name, kind, values):
    run("encode", folder / "bare", folder / source, *ids, "--out", tmp_path / "c.parquet")
    table = pq.read_table(tmp_path / "c.parquet")
    assert table.column_names[0] == name
    assert table.schema.types[0] == kind
    assert table.column(0).to_pylist() == values
    expected = coded(folder / "bare")
    assert_allclose(np.array([table["atom_0"], table["atom_1"]]).T, expected)


def test_an_unnamed_first_column_is_no_feature(folder, tmp_path):
    run("learn", folder / "unnamed.csv", "--atoms", 2, "--epochs", 2, "--out", tmp_path / "run")
    model = atomstream.load(tmp_path / "run")
    assert_array_equal(model.components_, atomstream.load(folder / "bare").components_)


def test_names_of_several_inputs_follow_each_other(folder, tmp_path):
    run("encode", folder / "run", folder / "x.csv", folder / "x.csv", "--out", tmp_path / "c.csv")
    assert [row[0] for row in read(tmp_path / "c.csv")[1:]] == NAMES * 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("encode bare x.csv --id key --out c.csv", "has no column 'key'; it has 5: 'a', 'the,key'"),
        ("encode bare x.csv --id place --out c.npz", "holds codes alone; for --id end it in"),
        ("encode run x.csv bare.csv --out c.csv", "named by nothing, those of .* they must agree"),
        (
            "encode bare bare.csv --id a --out c.csv",
            "bare.csv has different names of columns than bare has learned from: missing is 'a'",
        ),
        (
            "learn bare.csv --id a --id b --id c --out r",
            "no column of numbers beside those that name rows",
        ),
        ("learn bare.csv --id nobody --out r", "has no column 'nobody'"),
        ("learn x.npy --id nobody --out r", "--id names columns of tables, and .*x.npy is not"),
        ("encode bare twice.csv --id atom_0 --out c.csv", "would be called 'atom_0'"),
    ],
)
def test_names_that_cannot_be_are_refused(folder, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(folder)
    np.save("x.npy", X)
    np.savetxt("twice.csv", X[:, [0, 0, 1, 2]], delimiter=",", header="atom_0,a,b,c", comments="")
    assert re.search(words, refused(capsys, *arguments.split()))


def test_codes_with_names_are_written_block_by_block(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "CHUNK_BYTES", 1 << 16)
    peaks = []
    for n_rows in (1000, 5_000, 20_000):  # the first one imports and compiles
        table = {name: np.random.default_rng(1).random(n_rows) for name in "abc"}
        table["key"] = np.arange(n_rows).astype("U12")
        pq.write_table(pa.table(table), tmp_path / "long.parquet", row_group_size=1000)
        tracemalloc.start()
        common = ("encode", folder / "bare", tmp_path / "long.parquet", "--id", "key")
        run(*common, "--out", tmp_path / "c.csv")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(read(tmp_path / "c.csv")) == n_rows + 1
    assert peaks[2] < 1.5 * peaks[1]  # of four times the rows


def test_json_says_how_many_rows_were_written(folder, tmp_path, capsys):
    capsys.readouterr()
    run("encode", folder / "run", folder / "x.csv", "--out", tmp_path / "c.csv", "--json")
    assert json.loads(capsys.readouterr().out)["rows"] == N
