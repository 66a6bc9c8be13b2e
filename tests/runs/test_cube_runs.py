"""Runs on arrays of three axes or more: which axes hold the samples is said, or told."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import atomstream
from atomstream.cli import main
from atomstream.cluster import shards
from atomstream.exceptions import DataWarning, InputError

CUBE = np.random.default_rng(0).random((12, 10, 8)).round(4)
COMMON = ("--atoms", 3, "--epochs", 2, "--batch-size", 32)


def run(*arguments):
    assert main([str(argument) for argument in arguments]) == 0


def write(folder, ending, cube):
    path = folder / f"cube{ending}"
    if ending == ".npy":
        np.save(path, cube)
    elif ending == ".npz":
        np.savez(path, cube=cube)
    elif ending == ".h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            file.create_dataset("exp/cube", data=cube, chunks=(5, 5, 4))
    else:
        pytest.importorskip("zarr").create_array(path, data=cube, chunks=(5, 5, 4))
    return path


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    """What a table of the pixels of the cube teaches, and its codes."""
    folder = tmp_path_factory.mktemp("flat")
    np.save(folder / "flat.npy", CUBE.reshape(-1, 8))
    run("learn", folder / "flat.npy", *COMMON, "--out", folder / "run")
    run("encode", folder / "run", folder / "flat.npy", "--out", folder / "codes.npz")
    return atomstream.load(folder / "run"), sp.load_npz(folder / "codes.npz").toarray()


@pytest.mark.parametrize(
    ("ending", "axes"),
    [(".npy", "0,1"), (".npz", "0,1"), (".zarr", "-3,-2"), (".h5", "0,1"), (".h5", "1,2")],
)
def test_axes_of_the_samples_are_named(tmp_path, flat, ending, axes):
    cube = CUBE if axes != "1,2" else np.moveaxis(CUBE, 2, 0)
    path, model, codes = write(tmp_path, ending, cube), *flat
    run("learn", path, f"--sample-axes={axes}", *COMMON, "--out", tmp_path / "run")
    assert_array_equal(atomstream.load(tmp_path / "run").components_, model.components_)
    run("encode", tmp_path / "run", path, "--out", tmp_path / "codes.npz")
    assert_array_equal(sp.load_npz(tmp_path / "codes.npz").toarray(), codes)
    (tmp_path / "rows.csv").write_text("\n".join(",".join(map(str, row)) for row in CUBE[0]))
    run("encode", tmp_path / "run", tmp_path / "rows.csv", "--out", tmp_path / "few.csv")


def test_a_cube_that_would_be_few_wide_rows_is_refused(tmp_path, capsys):
    path = write(tmp_path, ".npy", CUBE)
    told = (
        r"cube.npy has shape \(12, 10, 8\): its first axis would give 12 rows of 80 features. Name "
        "the axes of the samples: --sample-axes 0,1 gives rows of 8 features, --sample-axes 0 "
    )
    for more in ((), ("--slots", 2)):
        assert main([*map(str, ("learn", path, *COMMON, *more, "--out", tmp_path / "new"))]) == 2
        assert re.search(told, capsys.readouterr().err)
        assert not (tmp_path / "new").exists()
    run("learn", path, "--sample-axes", "0", *COMMON, "--out", tmp_path / "run")
    err = capsys.readouterr().err
    assert "axes" not in err
    assert atomstream.load(tmp_path / "run").n_features_in_ == 80


def test_images_of_more_rows_than_features_are_flattened_with_a_sentence(tmp_path, capsys):
    path = write(tmp_path, ".npy", np.random.default_rng(0).random((30, 4, 5)))
    told = "the first axis was taken for the samples, and the others were flattened to 20 features"
    for more in ((), ("--slots", 2)):
        folder = tmp_path / f"run{len(more)}"
        run("learn", path, *COMMON[:2], *more, "--out", folder)
        assert told in capsys.readouterr().err
        assert atomstream.load(folder).n_features_in_ == 20
    run("encode", tmp_path / "run0", path, "--out", tmp_path / "codes.npz")
    half = tmp_path / "half"
    half.mkdir()
    few = write(half, ".npy", np.random.default_rng(1).random((3, 4, 5)))
    run("encode", tmp_path / "run0", few, "--out", tmp_path / "few.npz")  # as it was learned
    assert "axis" not in capsys.readouterr().err


def test_shards_of_cubes_are_their_rows(tmp_path):
    path = write(tmp_path, ".zarr", CUBE)
    listed = shards(str(path), rows=50, sample_axes=(0, 1))
    rows = [block for shard in listed for block in shard.read(0, shard.n_rows)]
    assert_array_equal(np.concatenate(rows), CUBE.reshape(-1, 8))
    with pytest.raises(InputError, match="12 rows of 80 features"):
        shards(str(path))
    with pytest.warns(DataWarning, match="flattened to 6 features"):
        shards(str(write(tmp_path, ".npy", CUBE[:, :2, :3])))


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ("0,1,2", "cube.npy: sample_axes must name each axis of the samples once and leave one"),
        ("0,3", "cube.npy: sample_axes must be whole numbers from -3 to 2"),
        ("x", "--sample-axes is 'x', needed are numbers of axes, such as 0,1."),
    ],
)
def test_axes_that_cannot_be_are_refused(tmp_path, capsys, axes, told):
    path = write(tmp_path, ".npy", CUBE)
    words = ["learn", str(path), "--sample-axes", axes, "--out", str(tmp_path / "new")]
    assert main(words) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_tables_have_no_axes_to_name(tmp_path, capsys):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    words = ["learn", str(tmp_path / "x.csv"), "--sample-axes", "0", "--out", str(tmp_path / "new")]
    assert main(words) == 2
    assert "--sample-axes names axes of arrays, and" in capsys.readouterr().err


def test_a_run_on_a_cube_goes_on_with_its_axes(tmp_path):
    path = write(tmp_path, ".npy", CUBE)
    run("learn", path, "--sample-axes", "0,1", *COMMON[:2], "--epochs", 1, "--out", tmp_path / "a")
    run("resume", tmp_path / "a", "--epochs", 2)
    run("learn", path, "--sample-axes", "0,1", *COMMON[:2], "--epochs", 2, "--out", tmp_path / "b")
    one, two = (atomstream.load(tmp_path / name) for name in "ab")
    assert_array_equal(one.components_, two.components_)
    lines = (tmp_path / "a/run.toml").read_text()
    assert f"sample_axes = {json.dumps('0,1')}" in lines
