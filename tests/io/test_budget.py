"""Files that claim more than they hold, or need more memory than there is: refused before it."""

import gzip
import tracemalloc

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from claims import archive, claims_columns_first, claims_rows, header, saved

from atomstream.base import machine
from atomstream.cli import main
from atomstream.exceptions import InputError
from atomstream.io import open_inputs, source
from atomstream.io.series_table import read_series

MEGABYTE = 10**6


@pytest.fixture(autouse=True)
def small():
    """Reading may take 200 MB, and takes no 100 of them to find out."""
    before = source.max_memory.set(200 * MEGABYTE)
    yield
    source.max_memory.reset(before)


def sparse_parts(pointers, shape=(2**40, 3), kind="csr"):
    return {
        "data": saved(np.ones(2)),
        "indices": saved(np.zeros(2, np.int32)),
        "indptr": pointers,
        "shape": saved(np.array(shape)),
        "format": saved(np.array(kind.encode())),
    }


def claims_pointers(folder):
    return archive(folder / "x.npz", **sparse_parts(header((2**40 + 1,), "<i8") + bytes(32)))


def claims_pointers_of_columns(folder):
    parts = sparse_parts(header((2**40 + 1,), "<i8") + bytes(32), (3, 2**40), "csc")
    return archive(folder / "x.npz", **parts)


def bomb(folder):
    pointers = header((2**24,), "<i8") + bytes(2**27)
    return archive(folder / "x.npz", **sparse_parts(pointers, (2**24 - 1, 3)))


def many_nodes(folder):
    path = folder / "x.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n100000000 100000000 1\n1 1 1\n")
    return path


def many_entries(folder):
    path = folder / "x.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 1000000000\n1 1 1\n")
    return path


def many_entries_packed(folder):
    path = folder / "x.mtx.gz"
    path.write_bytes(gzip.compress(b"%%MatrixMarket matrix array real general\n99999 99999\n1\n"))
    return path


def many_columns(folder):
    path = folder / "x.csv"
    path.write_text(",".join(["1"] * 10**5) + "\n" + ",".join(["2"] * 10**5) + "\n")
    return path


def large_image(folder):
    image = pytest.importorskip("PIL.Image").new("RGB", (4000, 4000))
    image.save(folder / "x.png")
    return folder / "x.png"


def more_rows(folder):
    """The file that a fuzz has found: its head claims another number of rows than its groups."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = folder / "x.parquet"
    pq.write_table(pa.table({"a": np.arange(77.0)}), path)
    data = bytearray(path.read_bytes())
    place = data.index(bytes([22, 154, 1]))  # 77 as Thrift writes it, the number of all rows
    data[place + 1] += 2
    path.write_bytes(data)
    return path


def large_chunks(folder):
    zarr = pytest.importorskip("zarr")
    path = folder / "x.zarr"
    zarr.create_array(str(path), shape=(2**20, 2**20), chunks=(2**15, 2**15), dtype="f8")
    return path


CLAIMS = [
    claims_rows,
    claims_columns_first,
    claims_pointers,
    claims_pointers_of_columns,
    bomb,
    many_nodes,
    many_entries,
    many_entries_packed,
    many_columns,
    large_image,
    large_chunks,
    more_rows,
]


@pytest.mark.parametrize("make", CLAIMS)
def test_claims_are_refused_before_memory_is_taken(make, tmp_path):
    path = make(tmp_path)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"claims|needs about .* of memory, allowed are 200 MB"):
        list(open_inputs([str(path)])[0].blocks(0, 0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * MEGABYTE


def test_what_fits_is_read(tmp_path):
    X = sp.random_array((50, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    sp.save_npz(tmp_path / "r.npz", X)
    sp.save_npz(tmp_path / "c.npz", X.tocsc())
    np.savez_compressed(tmp_path / "d.npz", x=np.zeros((3000, 20)))
    scipy.io.mmwrite(tmp_path / "m.mtx", X)
    scipy.io.mmwrite(tmp_path / "a.mtx", X.toarray())
    for name, n_rows in (
        ("r.npz", 50),
        ("c.npz", 50),
        ("d.npz", 3000),
        ("m.mtx", 50),
        ("a.mtx", 50),
    ):
        source = open_inputs([str(tmp_path / name)])[0]
        assert sum(block.X.shape[0] for block in source.blocks(0, 0)) == n_rows


def test_the_limit_is_an_option_and_holds_for_one_command(tmp_path, capsys):
    image = pytest.importorskip("PIL.Image").new("L", (700, 700))
    image.save(tmp_path / "x.png")
    words = ["learn", str(tmp_path / "x.png"), "--per-image", "300", "--atoms", "2", "--out"]
    assert main([*words, str(tmp_path / "a"), "--max-memory", "1MB"]) == 2
    assert "allowed are 1 MB; allow more with --max-memory" in capsys.readouterr().err
    assert not (tmp_path / "a").exists()
    assert main([*words, str(tmp_path / "b"), "--max-memory", "much"]) == 2
    assert main([*words, str(tmp_path / "c")]) == 0
    looking = ["reconstruct", str(tmp_path / "c"), str(tmp_path / "x.png"), "--out"]
    words = [*looking, str(tmp_path / "y.png"), "--max-memory"]
    assert main([*words, "1MB"]) == 2
    assert "allowed are 1 MB; allow more with --max-memory" in capsys.readouterr().err
    assert not (tmp_path / "y.png").exists()
    assert main([*words, "1GB"]) == 0


@pytest.mark.parametrize("packed", [True, False])
def test_a_table_of_series_is_left_as_soon_as_it_needs_too_much(tmp_path, packed):
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    with gzip.open(path, "wb") if packed else path.open("wb") as file:
        for _ in range(30):
            file.write(b"1," * 49_999 + b"1\n")
    source.max_memory.set(5 * MEGABYTE)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"needs about .* allowed are 5 MB"):
            read_series(path)
        assert tracemalloc.get_traced_memory()[1] < 20 * MEGABYTE  # all of it takes 34
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packed", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_table_of_series_takes_little_more_memory_than_its_numbers(tmp_path, packed):
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    n_times, n_series = 40_000, 16
    with gzip.open(path, "wb") if packed else path.open("wb") as file:
        file.write(b"t," + b",".join(b"s%d" % n for n in range(n_series)) + b"\n")
        for row in range(n_times):
            file.write(b"%d" % row + b",0.1234567890123456789" * n_series + b"\n")
    tracemalloc.start()
    try:
        table = read_series(path, time="t")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert table.values.shape == (n_times, n_series)
    assert (table.labels == np.arange(n_times)).all()
    assert (table.values == 0.1234567890123456789).all()
    assert peak < 2 * table.values.nbytes + 100 * n_times + 24 * MEGABYTE  # the file has 14 MB


def test_half_of_the_smallest_limit_there_is_by_default(tmp_path, monkeypatch):
    source.max_memory.set(None)
    (tmp_path / "memory.max").write_text("3000000\n")
    monkeypatch.setattr(machine, "GROUPS", tmp_path)
    machine.memory_there.cache_clear()
    try:
        source.need(1.5e6, "It")
        with pytest.raises(InputError, match=r"allowed are 1.5 MB, half of what there is"):
            source.need(1.6e6, "It")
        (tmp_path / "memory.max").write_text("max\n")
        machine.memory_there.cache_clear()
        source.need(1.6e6, "It")
    finally:
        machine.memory_there.cache_clear()
