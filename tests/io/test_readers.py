"""Inputs: the same rows from every kind of file, from any row on; a sentence for what is none."""

import gzip
import io
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.exceptions import InputError, MissingLibraryError
from atomstream.io import delimited, source, texts
from atomstream.io import feed as feed_module
from atomstream.io.feed import Feed, Position
from atomstream.io.images import Pictures, load_image
from atomstream.io.input_options import InputOptions, Naming
from atomstream.io.inputs import ENDINGS, KINDS, open_inputs
from atomstream.io.source import Source, numbered
from atomstream.streams import patches

RNG = np.random.default_rng(0)
X = RNG.random((57, 4)).round(3)
X[X < 0.2] = 0


def write_csv(path, X, *, header=True, gz=False):
    text = io.StringIO()
    np.savetxt(text, X, delimiter=",", fmt="%.17g", header="a,b,c,d" if header else "", comments="")
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if gz else data)


def write_npz(path, X):
    np.savez_compressed(path, table=X, labels=np.arange(len(X)))


def write_parquet(path, X):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(
        pa.table({name: X[:, i] for i, name in enumerate("abcd")}), path, row_group_size=10
    )


def write_zarr(path, X):
    import zarr

    zarr.create_array(str(path), data=X, chunks=(10, 3))


def write_hdf5(path, X):
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("group/x", data=X, chunks=(10, 3))
        file["labels"], file["about"] = np.arange(57), "numbers"


def write_json_lines(path, X):
    lines = (json.dumps(dict(zip("abcd", row, strict=True))) for row in X.tolist())
    path.write_text("\n".join(lines))


def arrow_table(X):
    import pyarrow as pa

    return pa.table({name: X[:, i] for i, name in enumerate("abcd")})


def write_arrow_stream(path, X):
    import pyarrow as pa

    table = arrow_table(X)
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=10)


def write_feather(path, X):
    from pyarrow import feather

    feather.write_feather(arrow_table(X), path, chunksize=10)  # compressed, as pandas writes it


WRITERS = {
    "x.npy": np.save,
    "f.npy": lambda path, X: np.save(path, np.asfortranarray(X)),
    "x.npz": write_npz,
    "f.npz": lambda path, X: np.savez(path, np.asfortranarray(X)),
    "rows.npz": lambda path, X: sp.save_npz(path, sp.csr_array(X)),
    "columns.npz": lambda path, X: sp.save_npz(path, sp.csc_matrix(X)),
    "x.csv": write_csv,
    "bare.csv": lambda path, X: write_csv(path, X, header=False),
    "x.csv.gz": lambda path, X: write_csv(path, X, gz=True),
    "x.jsonl": write_json_lines,
    "x.parquet": write_parquet,
    "x.arrow": write_arrow_stream,
    "x.feather": write_feather,
    "x.mtx": lambda path, X: __import__("scipy.io").io.mmwrite(path, sp.coo_array(X)),
    "dense.mtx": lambda path, X: __import__("scipy.io").io.mmwrite(path, X, precision=17),
    "x.zarr": write_zarr,
    "x.h5": write_hdf5,
}


def dense(part):
    return part.toarray() if sp.issparse(part) else part


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    for name, write in WRITERS.items():
        write(folder / name, X)
    return folder


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that small files have many."""
    monkeypatch.setattr(source, "BLOCK_BYTES", 300)
    monkeypatch.setattr(texts, "CHUNK_BYTES", 300)


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same_rows_from_any_row_on(folder, name):
    opened = open_inputs([str(folder / name)])[0]
    assert opened.n_features == 4
    assert opened.n_rows in (57, None)
    for start in (0, 1, 9, 10, 11, 30, 56, 57):
        blocks = list(opened.blocks(start, 0))
        read = np.concatenate([dense(block.X) for block in blocks]) if blocks else np.empty((0, 4))
        assert_array_equal(read, X[start:])
        assert [int(i) for block in blocks for i in block.ids] == list(range(start, 57))
    assert len(list(opened.blocks(0, 0))) > 1 or name.startswith("f.")


def test_datasets_of_hdf5_that_lie_elsewhere_are_not_read(tmp_path):
    import h5py

    (tmp_path / "secret").write_bytes(bytes(64))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", (2, 4), "f8", external=[(tmp_path / "secret", 0, 64)])
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["x"] = h5py.ExternalLink(str(tmp_path / "x.h5"), "x")
    with pytest.raises(InputError, match=r"'/x' of .* lies in other files"):
        open_inputs([str(tmp_path / "x.h5")])
    with pytest.raises(InputError, match="has 0 arrays"):
        open_inputs([str(tmp_path / "link.h5")])


class Slow(Source):
    """A live stream whose rows are parsed for a second before they can be learned."""

    name, n_features, live, waiting = "slow", 2, True, False

    def _blocks(self, start, epoch):
        time.sleep(1.0)
        yield numbered(np.ones((3, 2)), 0)
        self.waiting = True
        time.sleep(60)


def test_a_stop_does_not_lose_rows_that_are_still_parsed():
    feed = Feed([Slow()], 10)
    feed.stop()
    began = time.monotonic()
    (piece,) = feed.batches()
    assert len(piece.X) == 3
    assert time.monotonic() - began < 10


class Stuck(Source):
    """A file on a disk that does not answer."""

    name, n_features = "stuck.csv", 2

    def _blocks(self, start, epoch):
        yield numbered(np.ones((3, 2)), 0)
        time.sleep(60)


def test_a_file_that_cannot_be_read_any_more_ends_in_a_sentence(monkeypatch):
    monkeypatch.setattr(feed_module, "READ_LIMIT", 0.05)
    with pytest.raises(InputError, match=r"No rows of stuck\.csv could be read for 0\.05 seconds"):
        list(Feed([Stuck()], 10).batches())


def test_the_list_of_kinds_is_covered():
    # Runs bring the one (tests/together/test_cell_runs.py), an example in a docstring the other.
    assert len(KINDS.keys() - {".h5ad", ".f32"}) == 17
    assert len(WRITERS) == 17
    assert len(ENDINGS) == 10


@pytest.mark.parametrize(
    "names", [["x.npy"], ["x.csv", "x.parquet", "f.npz"], ["rows.npz", "x.mtx", "x.npy"]]
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(size=st.integers(1, 200), at=st.integers(0, 170))
def test_batches_are_even_and_can_be_taken_up_anywhere(folder, names, size, at):
    inputs = [str(folder / name) for name in names]
    pieces = list(Feed(open_inputs(inputs), size).batches(Position()))
    assert [piece.X.shape[0] for piece in pieces[:-1]] == [size] * (len(pieces) - 1)
    assert_array_equal(
        np.concatenate([dense(piece.X) for piece in pieces]), np.concatenate([X] * len(names))
    )
    assert len(set(np.concatenate([piece.ids for piece in pieces]).tolist())) == 57 * len(names)
    cut = min(at // size, len(pieces) - 1)
    rest = list(Feed(open_inputs(inputs), size).batches(pieces[cut].after))
    assert len(rest) == len(pieces) - cut - 1
    for piece, again in zip(pieces[cut + 1 :], rest, strict=True):
        assert_array_equal(dense(piece.X), dense(again.X))
        assert_array_equal(piece.ids, again.ids)
        assert piece.after == again.after


cells = st.one_of(
    st.just(""), st.floats(-1e6, 1e6).map(repr), st.integers(-99, 99).map(str), st.just("NaN")
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1)
    ),
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    header=st.booleans(),
    blank=st.booleans(),
    last=st.booleans(),
    start=st.integers(0, 12),
)
def test_tables_of_every_dialect_are_read_as_they_are(
    tmp_path, rows, delimiter, end, header, blank, last, start
):
    # Of one column an empty line is a missing entry, and what ends all lines makes no column.
    blank &= len(rows[0]) > 1
    rows[0][-1] = rows[0][-1] or "NaN"
    if len(rows[0]) == 1:  # the end of a file is no empty line
        rows[-1] = [rows[-1][0] or "NaN"]
    lines = [delimiter.join(row) for row in rows]
    if header:
        lines.insert(0, delimiter.join(f'"name {i}"' for i in range(len(rows[0]))))
    text = (end + end if blank else end).join(lines) + (end if last else "")
    (tmp_path / "t.csv").write_text(text, newline="")
    options = InputOptions(header="yes" if header else "no", index="no", delimiter=delimiter)
    opened = open_inputs([str(tmp_path / "t.csv")], options)[0]
    assert opened.n_features == len(rows[0])
    expected = [[float(cell or "nan") for cell in row] for row in rows][start:]
    blocks = [block.X for block in opened.blocks(start, 0)]
    assert_allclose(np.concatenate(blocks) if blocks else [], expected, rtol=1e-15)


@pytest.mark.slow
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings().max_examples * (3 if settings().max_examples >= 100 else 1),
)
@given(
    kind=st.sampled_from(
        [*(kind for kind in KINDS if "zarr" not in kind), ".zarr.zip", ".png", ".jpg", ".tif"]
    ),
    data=st.one_of(
        st.binary(max_size=400),
        st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
    ),
    cut=st.tuples(st.integers(0, 2000), st.integers(0, 255)),
    real=st.booleans(),
)
def test_whatever_is_in_a_file_it_gives_rows_or_a_sentence(tmp_path, folder, kind, data, cut, real):
    path = tmp_path / f"fuzz{kind}"
    twin = folder / f"x{kind}"
    if real and twin.is_file():  # a good file with one byte changed, or cut off
        whole = bytearray(twin.read_bytes())
        place = cut[0] % len(whole)
        whole[place] = cut[1]
        data = bytes(whole if cut[1] % 2 else whole[:place])
    path.write_bytes(data)
    with suppress(InputError):
        for opened in open_inputs([str(path)], InputOptions(patch=1)):
            for block in opened.blocks(0, 0):
                assert block.X.shape[1] == opened.n_features
                assert block.X.dtype.kind in "fiub"


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz"])
@pytest.mark.parametrize("number", [b"8.5\x007\n", b"8.5E", b"8.5E-"])
def test_numbers_on_which_the_parser_of_scipy_crashes_do_not_reach_it(tmp_path, ending, number):
    text = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 " + number
    path = tmp_path / f"bad{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    if b"\0" not in text:
        open_inputs([str(path)])  # read as 8.5
        return
    with pytest.raises(InputError, match="holds zero bytes"):
        open_inputs([str(path)])


def test_the_last_line_of_a_matrix_may_lack_its_end(tmp_path):
    path = tmp_path / "x.mtx"
    path.write_bytes(b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 8.5")
    assert next(open_inputs([str(path)])[0].blocks(0, 0)).X.toarray()[0, 1] == 8.5


def test_columns_are_chosen_by_name_number_and_range(folder):
    def read(*columns, name="x.csv"):
        return next(
            open_inputs([str(folder / name)], InputOptions(columns=columns))[0].blocks(0, 0)
        ).X[0]

    assert_array_equal(read("c", "a"), X[0, [2, 0]])
    assert_array_equal(read("2-4"), X[0, 1:])
    assert_array_equal(read("4", "1-2", name="x.parquet"), X[0, [3, 0, 1]])
    assert open_inputs([str(folder / "x.csv")], InputOptions(columns=("b",)))[0].names == ["b"]
    assert open_inputs([str(folder / "bare.csv")])[0].names is None


def test_parquet_kinds_of_numbers(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table(
        {
            "int": pa.array([1, None, 3], pa.int16()),
            "bool": pa.array([True, False, None]),
            "half": np.array([1, 2, 3], np.float16),
            "float": pa.array([1.5, 2.5, None], pa.float32()),
        }
    )
    parquet.write_table(table, tmp_path / "k.parquet")
    read = next(open_inputs([str(tmp_path / "k.parquet")])[0].blocks(0, 0)).X
    assert_array_equal(read, [[1, 1, 1, 1.5], [np.nan, 0, 2, 2.5], [3, np.nan, 3, np.nan]])
    small = open_inputs([str(tmp_path / "k.parquet")], InputOptions(columns=("float", "half")))[0]
    assert next(small.blocks(0, 0)).X.dtype == np.float32


def test_arrow_files_with_texts_or_damaged_ones_are_refused_by_name(tmp_path):
    import pyarrow as pa
    from pyarrow import feather

    path = tmp_path / "x.feather"
    feather.write_feather(pa.table({"name": ["a", "b"], "a": [1.0, 2.0]}), path)
    with pytest.raises(InputError, match=r"'name'"):
        open_inputs([str(path)])
    assert open_inputs([str(path)], InputOptions(columns=("a",)))[0].n_rows == 2
    path.write_bytes(b"no arrow")
    with pytest.raises(InputError, match=r"x\.feather"):
        open_inputs([str(path)])


def test_arrays_of_images_remember_their_shape(tmp_path):
    np.save(tmp_path / "images.npy", np.zeros((5, 6, 7), np.uint8))
    opened = open_inputs([str(tmp_path / "images.npy")])[0]
    assert (opened.n_features, opened.shape) == (42, (6, 7))


def make_image(path, shape, seed=0):
    from PIL import Image

    pixels = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    Image.fromarray(pixels).save(path)
    return pixels


def test_patches_of_images_are_drawn_once_each_in_an_order_that_can_be_taken_up(tmp_path):
    pixels = [make_image(tmp_path / f"{i}.png", (9 + i, 8), seed=i) for i in range(3)]
    opened = open_inputs([str(tmp_path)], InputOptions(patch=3, per_image=1000, seed=5))[0]
    assert (opened.shape, opened.n_features) == ((3, 3), 9)
    all_patches = np.concatenate([row for image in pixels for row in patches(image / 255.0, 3)])
    first, second = (
        np.concatenate([block.X for block in opened.blocks(0, epoch)]) for epoch in (0, 1)
    )
    assert len(first) == opened.n_rows == len(all_patches)
    for read in (first, second):
        assert_allclose(np.sort(read, axis=0), np.sort(all_patches, axis=0), atol=1e-6)
    assert not np.array_equal(first, second)
    ids = np.concatenate([block.ids for block in opened.blocks(0, 0)])
    assert len(set(ids.tolist())) == len(ids)
    for start in (1, 50, opened.n_rows - 1):
        rest = list(opened.blocks(start, 0))
        assert_array_equal(np.concatenate([block.X for block in rest]), first[start:])
        assert_array_equal(np.concatenate([block.ids for block in rest]), ids[start:])


def test_images_beyond_a_group_are_never_held_together(tmp_path, monkeypatch):
    from atomstream.io import images as pictures

    for i in range(6):
        make_image(tmp_path / f"{i}.png", (10, 10), seed=i)
    held = []
    monkeypatch.setattr(pictures, "GROUP_PIXELS", 200)
    real = pictures.load_image
    monkeypatch.setattr(
        pictures, "load_image", lambda path, color: held.append(path) or real(path, color=color)
    )
    opened = open_inputs([str(tmp_path)], InputOptions(patch=4, per_image=20))[0]
    blocks = opened.blocks(0, 0)
    next(blocks)
    assert len(held) <= 3
    assert sum(block.X.shape[0] for block in blocks) + 20 * len(held[:2]) >= 100
    assert opened.n_rows == 120
    assert len(held) == 6


@pytest.mark.parametrize(
    ("mode", "pixel", "grey"),
    [("L", 51, 0.2), ("I;16", 13107, 0.2), ("F", 0.2, 0.2), ("1", 1, 1.0), ("LA", (51, 255), 0.2)],
)
def test_modes_of_images_are_brought_to_zero_and_one(tmp_path, mode, pixel, grey):
    from PIL import Image

    path = tmp_path / ("x.tif" if mode == "F" else "x.png")
    Image.new(mode, (5, 4), pixel).save(path)
    assert_allclose(load_image(path, color=False), np.full((4, 5), grey), atol=1e-6)
    assert load_image(path, color=True).shape == (4, 5, 3)
    assert not Pictures([path], InputOptions(patch=2)).color


def test_colour_and_grey(tmp_path):
    make_image(tmp_path / "c.png", (9, 8, 3))
    make_image(tmp_path / "g.png", (9, 8))
    assert open_inputs([str(tmp_path)], InputOptions(patch=3))[0].shape == (3, 3, 3)
    assert open_inputs([str(tmp_path)], InputOptions(patch=3, grey=True))[0].shape == (3, 3)
    block = next(
        open_inputs([str(tmp_path)], InputOptions(patch=3, center="patch"))[0].blocks(0, 0)
    )
    assert_allclose(block.X.mean(axis=1), 0, atol=1e-6)


@pytest.mark.slow
def test_standard_input_is_read_as_it_comes_and_numbered_on():
    code = (
        "from atomstream.io.feed import Feed, Position\n"
        "from atomstream.io.inputs import open_inputs\n"
        "for piece in Feed(open_inputs(['-']), 2).batches(Position(0, 0, 10)):\n"
        "    print(piece.X.tolist(), piece.after.row, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True)
    process.stdin.write("a,b\n1,2\n3,4\n")
    process.stdin.flush()
    assert (
        process.stdout.readline() == "[[1.0, 2.0], [3.0, 4.0]] 12\n"
    )  # before the stream has ended
    rest, _ = process.communicate("5,6\n7,8\n9,10")
    assert rest == "[[5.0, 6.0], [7.0, 8.0]] 14\n[[9.0, 10.0]] 15\n"
    assert process.returncode == 0


def test_a_fingerprint_sees_size_and_content_and_of_large_files_the_ends(tmp_path, monkeypatch):
    path = tmp_path / "x.bin"
    monkeypatch.setattr(source, "WHOLE", 1000)
    for size in (500, 5000):
        data = bytearray(os.urandom(size))
        path.write_bytes(data)
        before = source.fingerprint([path])
        path.touch()
        assert source.fingerprint([path]) == before
        for place in (0, size - 1):
            changed = bytearray(data)
            changed[place] ^= 1
            path.write_bytes(changed)
            assert source.fingerprint([path]) != before
        path.write_bytes(data + b"0")
        assert source.fingerprint([path]) != before


def test_lines_may_be_long(tmp_path):
    wide = RNG.random((2, 8_000))  # twice as long as the piece that is looked at first
    for header in ("", ",".join(f"a_name_that_is_long_{i}" for i in range(8_000)) + "\n"):
        (tmp_path / "wide.csv").write_text(
            header + "\n".join(",".join(map(repr, row)) for row in wide.tolist())
        )
        opened = open_inputs([str(tmp_path / "wide.csv")])[0]
        assert_array_equal(np.concatenate([block.X for block in opened.blocks(0, 0)]), wide)


@pytest.mark.parametrize("text", ["a,b\r1,2\r3,4\r", "a,b\n1,2\r3,4\n"])
def test_carriage_returns_that_end_no_line_are_refused(tmp_path, text):
    (tmp_path / "cr.csv").write_text(text, newline="")
    with pytest.raises(InputError, match=r"cr.csv has carriage returns inside lines"):
        list(open_inputs([str(tmp_path / "cr.csv")])[0].blocks(0, 0))


def test_the_index_of_a_pandas_frame_is_no_feature(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
    frame[frame.a > 1].to_parquet(tmp_path / "x.parquet")
    frame.set_index("a").to_parquet(tmp_path / "named.parquet")
    assert open_inputs([str(tmp_path / "x.parquet")])[0].names == ["a", "b"]
    assert open_inputs([str(tmp_path / "named.parquet")])[0].names == ["b"]
    chosen = open_inputs([str(tmp_path / "named.parquet")], InputOptions(columns=("a", "b")))[0]
    assert chosen.names == ["a", "b"]


def test_a_sparse_matrix_that_points_outside_of_itself_is_refused(tmp_path):
    for kind, shape in (("csr", (2, 4)), ("csc", (4, 2))):
        np.savez(
            tmp_path / "bad.npz",
            data=np.ones(2),
            indices=np.array([10**9, 2 * 10**9]),
            indptr=np.array([0, 1, 2]),
            shape=shape,
            format=kind,
        )
        with pytest.raises(InputError, match=r"bad.npz"):
            list(open_inputs([str(tmp_path / "bad.npz")])[0].blocks(0, 0))


@pytest.mark.parametrize("name", ["x.csv", "bare.csv", "x.csv.gz"])
def test_without_arrow_tables_are_read_as_with_it(folder, name, monkeypatch):
    def missing(module, purpose):
        raise MissingLibraryError(module)

    monkeypatch.setattr(delimited, "library", missing)
    opened = open_inputs([str(folder / name)])[0]
    for start in (0, 11, 57):
        blocks = [block.X for block in opened.blocks(start, 0)]
        assert_array_equal(np.concatenate(blocks) if blocks else np.empty((0, 4)), X[start:])


@pytest.mark.parametrize("packed", [True, False])
def test_lines_of_json_have_names_bad_lines_and_gaps_as_tables_have(tmp_path, packed):
    text = '{"id": "u", "a": 1, "b": null}\n{"id": "v", "a": "x"}\n\n[3]\n{"id": 5, "b": 2}\n'
    path = tmp_path / ("x.jsonl.gz" if packed else "x.jsonl")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    naming = Naming(ids=("id",), kept=True)
    source = open_inputs([str(path)], InputOptions(on_bad_line="skip", naming=naming))[0]
    (block,) = source.blocks(0, 0)
    assert_array_equal(block.X, [[1, np.nan], [np.nan] * 2, [np.nan] * 2, [np.nan, 2]])
    assert [*block.labels[0]] == ["u", "v", "", 5]
    source = open_inputs([str(path)], InputOptions(columns=("b",)))[0]
    with pytest.raises(InputError, match=r"Line 4 of .*row 2, .*read: it is not a dict, as the"):
        list(source.blocks(0, 0))
    source = open_inputs([str(path)], InputOptions(columns=("a",)))[0]
    with pytest.raises(InputError, match=r"Line 2 of .*row 1, .*'x' in column 'a', needed are num"):
        list(source.blocks(0, 0))


def test_columns_of_what_is_no_table_are_refused(folder):
    with pytest.raises(InputError, match="--columns chooses columns of tables"):
        open_inputs([str(folder / "x.npy")], InputOptions(columns=("1",)))


@pytest.mark.parametrize("live", [True, False])
def test_what_a_live_stream_brought_is_handed_out_when_all_else_stops(live):
    """Rows of a file come again; those of a stream, once read ahead, would be lost."""
    waits, gate = threading.Event(), threading.Event()

    class Brook(source.Source):
        name, n_features = "brook", 4

        def _blocks(self, start, epoch):
            for first in range(0, 20, 10):
                yield source.numbered(X[first : first + 10], first)
            waits.set()  # both blocks are out of our hands
            gate.wait(10)

        def fingerprint(self):
            return None

    brook = Brook()
    brook.live = live
    feed = Feed([brook], 10)
    pieces = feed.batches(Position())
    assert_array_equal(next(pieces).X, X[:10])
    assert waits.wait(10)
    feed.stop()
    rest = [piece.X for piece in pieces]
    gate.set()
    assert len(rest) == live
    if live:
        assert_array_equal(rest[0], X[10:20])


def test_a_file_that_is_no_npy_is_not_offered_to_be_unpickled(tmp_path):
    for content in (b"", b"junk", b"\x80\x04K\x01."):
        (tmp_path / "x.npy").write_bytes(content)
        with pytest.raises(InputError, match=r"x\.npy cannot be read: it is no \.npy file\.$"):
            open_inputs([str(tmp_path / "x.npy")])
