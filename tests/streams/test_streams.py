"""Cubes as rows: any axes, any kind of array, and nothing else read."""

import itertools
import math

import numpy as np
import pytest
from cases import of_fields
from numpy.testing import assert_array_equal

from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.streams import CubeRows, batches

CUBE = np.random.default_rng(0).random((5, 4, 3, 6))
AXES = [0, 2, -1, (0, 1), (1, 0), (2, 0), (0, 1, 2), (3, 1, 0), (-4, -3)]


class Counting:
    """An array that notes how many entries are read."""

    def __init__(self, values):
        self.values, self.shape, self.dtype, self.n_read = values, values.shape, values.dtype, 0

    def __getitem__(self, index):
        part = self.values[index]
        self.n_read += part.size
        return part


def flattened(cube, axes):
    """The rows of a cube, all at once."""
    axes = [axis % cube.ndim for axis in np.ravel(axes)]
    moved = np.moveaxis(cube, axes, range(len(axes)))
    return moved.reshape(math.prod(moved.shape[: len(axes)]), -1)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("kind", [np.asarray, Counting])
def test_rows_of_a_cube_are_those_of_the_reshaped_cube(axes, kind):
    expected, rows = flattened(CUBE, axes), CubeRows(kind(CUBE), axes)
    assert rows.shape == expected.shape
    assert math.prod(rows.sample_shape) == len(rows)
    assert_array_equal(np.asarray(rows), expected)
    for start, stop in itertools.combinations(range(0, len(rows) + 1, 3), 2):
        assert_array_equal(rows[start:stop], expected[start:stop])
    order = np.random.default_rng(1).permutation(len(rows))
    for chosen in (2, -1, slice(None, None, -1), order, order > 2, slice(3, 3), slice(4, 1)):
        assert_array_equal(rows[chosen], expected[chosen])
    for rng in (None, 0):
        assert_array_equal(
            np.concatenate([*batches(rows, 4, rng=rng)]),
            np.vstack([*batches(expected, 4, rng=rng)]),
        )


@pytest.mark.parametrize("axes", AXES)
def test_only_the_rows_asked_for_are_read(axes):
    cube = Counting(CUBE)
    rows = CubeRows(cube, axes)
    for start, stop in itertools.combinations(range(0, len(rows) + 1, 2), 2):
        cube.n_read = 0
        part = rows[start:stop]
        assert cube.n_read == part.size
    cube.n_read = 0
    for batch in batches(rows, 7):
        assert len(batch) <= 7
    assert cube.n_read == CUBE.size


def test_cubes_on_disk_are_rows(tmp_path):
    expected = flattened(CUBE, (0, 2))
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    with h5py.File(tmp_path / "cube.h5", "w") as file:
        stored = file.create_dataset("cube", data=CUBE, chunks=(2, 2, 2, 2))
        assert_array_equal(np.vstack([*batches(CubeRows(stored, (0, 2)), 4)]), expected)
        assert_array_equal(CubeRows(stored, (0, 2))[[5, 1]], expected[[5, 1]])
        model = OnlineNMF(2, n_epochs=1, random_state=0).fit(CubeRows(stored, (0, 2)))
        assert_array_equal(model.transform(CubeRows(stored, (0, 2))), model.transform(expected))
        assert_array_equal(
            model.components_, OnlineNMF(2, n_epochs=1, random_state=0).fit(expected).components_
        )
    stored = zarr.create_array(tmp_path / "cube.zarr", data=CUBE, chunks=(2, 2, 2, 2))
    assert_array_equal(CubeRows(stored, (0, 2))[1:8], expected[1:8])
    dask = pytest.importorskip("dask.array")
    assert_array_equal(CubeRows(dask.from_array(CUBE), (0, 2))[1:8], expected[1:8])


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ((0, 4), r"whole numbers from -4 to 3 for an array of shape \(5, 4, 3, 6\), got \(0, 4\)"),
        (0.5, "whole numbers from -4 to 3"),
        ((0, -4), "each axis of the samples once"),
        ((), "whole numbers|each axis of the samples once"),
        ((0, 1, 2, 3), "leave one for the features"),
    ],
)
def test_axes_that_cannot_be(axes, told):
    with pytest.raises(ValueError, match=told):
        CubeRows(CUBE, axes)


@pytest.mark.parametrize(
    "kind", [OnlineNMF, OnlineDictionaryLearning, *of_fields("rows_models").values()]
)
def test_models_of_rows_say_how_to_give_a_cube(kind):
    told = (
        rf"X has shape \(80, 80, 200\), and {kind.__name__} needs rows: streams.CubeRows\(X, "
        r"\(0, 1\)\) has 6,400 rows of 200 features, and streams.CubeRows\(X, 0\) has 80 of 16,000"
    )
    cube = np.zeros((80, 80, 200), np.float32)
    for call in (kind(2).fit, kind(2).partial_fit, lambda X: kind(2).fit_stream([X])):
        with pytest.raises(ValueError, match=told):
            call(cube)


def test_batches_of_frames_keep_the_names_of_their_columns():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).random((20, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for rng in (None, 0):
        parts = zip(batches(frame, 8, rng=rng), batches(X, 8, rng=rng), strict=True)
        for part, rows in parts:
            assert list(part.columns) == ["a", "b", "c"]
            np.testing.assert_array_equal(part, rows)
