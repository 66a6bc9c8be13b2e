"""Shards: every row once, on this machine and in stores, and changes told by name."""

import csv
import json
import os

import numpy as np
import pytest

from atomstream import ChangedShardError, InputError, OnlineNMF
from atomstream.cluster import Rounds, shards, transform_shards

X = np.arange(1.0, 3001.0).reshape(500, 6)


def write(folder, kind):
    """Write the rows as a file of this kind; return its name."""
    path = f"{folder}/rows.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        table = pa.table({f"c{i}": X[:, i] for i in range(6)})
        __import__("pyarrow.parquet").parquet.write_table(table, path, row_group_size=64)
    elif kind == "csv":
        pytest.importorskip("pyarrow")
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([f"c{i}" for i in range(6)])
            writer.writerows(X.tolist())
    elif kind == "tsv":
        pytest.importorskip("pyarrow")
        np.savetxt(path, X, delimiter="\t", fmt="%.1f")
    elif kind == "jsonl":
        lines = [json.dumps({f"c{i}": value for i, value in enumerate(row)}) for row in X.tolist()]
        with open(path, "w") as file:
            file.write("\n\n".join(lines))
    elif kind == "zarr":
        zarr = pytest.importorskip("zarr")
        array = zarr.create_array(path, shape=X.shape, chunks=(50, 6), dtype="f8")
        array[:] = X
    return path


KINDS = ["npy", "parquet", "csv", "tsv", "jsonl", "zarr"]


def rows_of(listed):
    return np.concatenate([block for shard in listed for block in shard.read(0, shard.n_rows)])


@pytest.mark.parametrize("kind", KINDS)
def test_shards_hold_every_row_once_and_any_part_can_be_read(kind, tmp_path):
    listed = shards(write(tmp_path, kind), rows=130)
    assert len(listed) > 3
    assert repr(listed).startswith(f"<{len(listed)} shards of ")
    assert all(shard.n_rows <= 130 for shard in listed)
    assert listed.n_rows == len(X)
    np.testing.assert_array_equal(rows_of(listed), X)
    before = 0
    for shard in listed:
        part = np.concatenate([*shard.read(7, 41)])
        np.testing.assert_array_equal(part, X[before + 7 : before + 41])
        before += shard.n_rows


def test_row_groups_and_chunks_are_not_cut(tmp_path):
    listed = shards(write(tmp_path, "parquet"), rows=130)
    assert [shard.n_rows for shard in listed] == [128, 128, 128, 116]
    listed = shards(write(tmp_path, "zarr"), rows=130)
    assert [shard.n_rows for shard in listed] == [100] * 5


@pytest.mark.parametrize("kind", KINDS)
def test_shards_in_a_store_are_those_on_this_machine(kind, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    path, store = write(tmp_path, kind), fsspec.filesystem("memory")
    store.put(path, f"/data/{kind}/rows.{kind}", recursive=kind == "zarr")
    listed = shards(f"memory://data/{kind}/*.{kind}", rows=130)
    assert [shard.n_rows for shard in listed] == [s.n_rows for s in shards(path, rows=130)]
    assert all("memory://" in shard.name for shard in listed)
    np.testing.assert_array_equal(rows_of(listed), X)


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_shard_is_named(kind, tmp_path):
    path = write(tmp_path, kind)
    listed = shards(path, rows=130)
    newest = (
        path
        if kind != "zarr"
        else next(
            f"{folder}/{file}"
            for folder, _, files in os.walk(path)
            for file in files
            if file == "0"
        )
    )
    os.utime(newest, ns=(1, 1))
    model = OnlineNMF(2, random_state=0)
    with pytest.raises(ChangedShardError, match=r"rows\.\w+\[\d+:\d+\] has changed since"):
        model.fit_stream(listed, on_bad_shard="skip")
    assert not hasattr(model, "_learner")
    model.partial_fit(X)
    with pytest.raises(ChangedShardError, match=r"has changed since"):
        transform_shards(model, listed, str(tmp_path / "codes"))


def test_a_file_that_is_gone_is_a_bad_shard(tmp_path):
    path = write(tmp_path, "npy")
    listed = shards(path, rows=250)
    os.remove(path)
    with pytest.raises(InputError, match=r"rows.npy is not there any more"):
        OnlineNMF(2).fit_stream(listed)


def test_images_are_shards_of_whole_images(tmp_path):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for number in range(5):
        pixels = rng.integers(0, 255, (20, 20), dtype=np.uint8)
        image.fromarray(pixels).save(tmp_path / f"{number}.png")
    listed = shards(str(tmp_path), rows=100, patch=8, per_image=50)
    assert [shard.n_rows for shard in listed] == [100, 100, 50]
    rows = rows_of(listed)
    assert rows.shape == (250, 64)
    assert len(np.unique(rows, axis=0)) == 250
    np.testing.assert_array_equal(rows, rows_of(listed))


def test_columns_and_names(tmp_path):
    for kind in ("parquet", "csv", "jsonl"):
        listed = shards(write(tmp_path, kind), rows=200, columns=("c4", "c1"))
        np.testing.assert_array_equal(rows_of(listed), X[:, [4, 1]])


def test_the_digest_tells_order_and_content(tmp_path):
    listed = shards(write(tmp_path, "npy"), rows=130)
    assert listed.digest() == shards(write_again(tmp_path), rows=130).digest()
    assert listed.digest() != shards(str(tmp_path / "rows.npy"), rows=131).digest()
    mixed = listed.shuffled(3)
    assert mixed.digest() != listed.digest()
    assert sorted(s.name for s in mixed) == sorted(s.name for s in listed)
    assert listed[:2].n_rows == 260


def write_again(folder):
    """Return the same file, left as it is."""
    return str(folder / "rows.npy")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("none/*.npy", {}, "There is no"),
        ("rows.npy", {"rows": 0}, "rows must be a whole number"),
        ("rows.npy", {"colums": ()}, "shards has no .colums.; known are columns, drop"),
        ("rows.what", {}, "ending that is not known"),
    ],
)
def test_wrong_inputs_are_told_in_a_sentence(name, options, words, tmp_path):
    write(tmp_path, "npy")
    (tmp_path / "rows.what").touch()
    with pytest.raises((InputError, ValueError, TypeError), match=words):
        shards(str(tmp_path / name), **options)


@pytest.mark.parametrize("line", ["[1, 2", '{"c0": "x"}', "3", "[1]"])
def test_lines_of_json_that_hold_no_numbers_are_told_by_row(line, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"c0": 1, "c1": 2}}\n{line}\n')
    with pytest.raises(InputError, match=r"[Rr]ow 1"):
        rows_of(shards(str(path)))


@pytest.mark.parametrize("out", ["folder", "memory://codes"])
def test_codes_of_shards_are_those_of_the_rows(out, tmp_path):
    pytest.importorskip("fsspec")
    listed = shards(write(tmp_path, "npy"), rows=130)
    model = OnlineNMF(3, random_state=0).fit_stream(listed, rounds=Rounds(batch=100))
    folder = str(tmp_path / out) if out == "folder" else out
    files = transform_shards(model, listed, folder, engine="threads:2")
    import fsspec

    parts = []
    for file in files:
        with fsspec.open(file, "rb") as opened:
            parts.append(np.load(opened))
    np.testing.assert_array_equal(np.concatenate(parts), model.transform(X))
    with fsspec.open(f"{folder}/codes.json") as opened:
        index = json.load(opened)
    assert [entry["file"] for entry in index] == files
    assert sum(entry["rows"] for entry in index) == 500
    left = fsspec.filesystem("memory").glob("/codes/*") if out != "folder" else os.listdir(folder)
    assert len(left) == len(files) + 1
