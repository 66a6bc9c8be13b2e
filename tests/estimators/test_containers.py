"""Frames and labelled arrays in, the same out; streams of what loaders and readers yield."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from given import Tensor
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import OnlineDictionaryLearning, OnlineNMF, load, save, streams

NAMES = list("abcdefgh")
ROWS = [f"row {i}" for i in range(40)]


def data(missing=False):
    rng = np.random.default_rng(0)
    X = rng.random((40, 3)) @ rng.random((3, 8))
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def frame(X):
    return pd.DataFrame(X, index=ROWS, columns=NAMES)


def labelled(X):
    coords = {"place": ROWS, "year": ("place", np.arange(40)), "band": np.linspace(1, 2, 8)}
    return xr.DataArray(X, dims=("place", "band"), coords=coords)


def model(**settings):
    return OnlineNMF(3, n_epochs=2, random_state=0, missing=True, **settings)


@pytest.mark.parametrize("scale", ["none", "std"])
@pytest.mark.parametrize("cls", [OnlineNMF, OnlineDictionaryLearning])
def test_a_frame_comes_back_as_a_frame(cls, scale):
    X = data(missing=True)
    settings = {"n_epochs": 2, "random_state": 0, "missing": True, "scale": scale}
    learned, plain = cls(3, **settings).fit(frame(X)), cls(3, **settings).fit(X)
    filled = learned.impute(frame(X))
    pd.testing.assert_frame_equal(filled, frame(plain.impute(X)))
    codes = learned.set_output(transform="pandas").transform(frame(X))
    made = learned.inverse_transform(codes)
    pd.testing.assert_frame_equal(made, frame(plain.inverse_transform(plain.transform(X))))


def test_a_frame_without_gaps_comes_back_too():
    learned = model().fit(frame(data()))
    pd.testing.assert_frame_equal(learned.impute(frame(data())), frame(data()))


def test_codes_as_an_array_give_an_array():
    learned = model().fit(frame(data()))
    assert type(learned.inverse_transform(learned.transform(frame(data())))) is np.ndarray


def test_a_frame_of_polars_comes_back_as_one():
    X = data(missing=True)
    given = pl.DataFrame(X, schema=NAMES)
    learned = model().set_output(transform="polars").fit(given)
    filled = learned.impute(given)
    assert filled.columns == NAMES
    assert_allclose(filled.to_numpy(), model().fit(X).impute(X), rtol=1e-10)
    assert learned.inverse_transform(learned.transform(given)).columns == NAMES


def test_xarray_in_xarray_out():
    X = data(missing=True)
    learned, plain = model().fit(labelled(X)), model().fit(X)
    codes = learned.transform(labelled(X))
    assert codes.dims == ("place", "component")
    assert list(codes.component.values) == ["onlinenmf0", "onlinenmf1", "onlinenmf2"]
    assert_array_equal(codes.year, np.arange(40))
    assert_allclose(codes, plain.transform(X), atol=1e-10)
    made = learned.inverse_transform(codes)
    assert made.dims == ("place", "band")
    assert_array_equal(made.band, np.linspace(1, 2, 8))
    assert list(made.place.values) == ROWS
    xr.testing.assert_allclose(learned.impute(labelled(X)), labelled(plain.impute(X)))


def test_names_of_an_axis_are_names_of_features():
    array = labelled(data()).assign_coords(band=NAMES)
    learned = model().fit(array)
    assert list(learned.feature_names_in_) == NAMES
    assert_array_equal(learned.transform(frame(data())), model().fit(data()).transform(data()))
    turned = array.isel(band=slice(None, None, -1))
    assert_array_equal(learned.transform(turned), learned.transform(array))
    with pytest.raises(ValueError, match="missing is 'h' and unexpected is 'i'"):
        learned.transform(array.assign_coords(band=list("abcdefgi")))


def test_set_output_goes_before_the_container_of_the_data():
    codes = model().set_output(transform="pandas").fit(labelled(data())).transform(labelled(data()))
    assert isinstance(codes, pd.DataFrame)
    assert_array_equal(codes, model().fit(data()).transform(data()))


def test_labels_are_kept_in_a_file(tmp_path):
    learned = model().fit(labelled(data()))
    save(learned, tmp_path / "m.atoms")
    again = load(tmp_path / "m.atoms")
    xr.testing.assert_identical(
        again.inverse_transform(again.transform(labelled(data()))),
        learned.inverse_transform(learned.transform(labelled(data()))),
    )
    learned.fit(data())
    codes = learned.transform(labelled(data()))
    assert learned.inverse_transform(codes).dims == ("place", "feature_1")


# -- streams


def parts(X):
    return [X[start : start + 10] for start in range(0, 40, 10)]


def learned_from(stream, **settings):
    return model().fit_stream(stream, **settings).components_


def test_lists_of_one_tensor_as_a_loader_yields_them():
    expected = learned_from(parts(data()))
    assert_array_equal(learned_from([Tensor(part)] for part in parts(data())), expected)
    assert_array_equal(learned_from([part] for part in parts(data())), expected)
    assert_array_equal(learned_from((part,) for part in parts(data())), expected)
    assert_array_equal(learned_from(part.tolist() for part in parts(data())), expected)
    with pytest.raises(ValueError, match="list of 2 arrays, as a loader of a TensorDataset yields"):
        learned_from([part, part[:, 0]] for part in parts(data()))


def test_lists_of_tensors_of_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.from_numpy(data())), batch_size=10)
    assert_array_equal(learned_from(loader), learned_from(parts(data())))


def test_mappings_need_the_name_of_their_rows():
    stream = [{"vector": part, "label": part[:, 0]} for part in parts(data())]
    assert_array_equal(learned_from(stream, column="vector"), learned_from(parts(data())))
    codes = list(model().fit(data()).transform_stream(stream, column="vector"))
    assert_array_equal(np.concatenate(codes), model().fit(data()).transform(data()))
    with pytest.raises(ValueError, match="holds 'vector', 'label', and column is None"):
        learned_from(stream)
    with pytest.raises(ValueError, match="and column is 'vectors'"):
        learned_from(stream, column="vectors")
    with pytest.raises(ValueError, match="column='vector' is for batches that are mappings"):
        learned_from(parts(data()), column="vector")
    for given in (stream[0], xr.Dataset({"vector": (("n", "d"), data())})):
        with pytest.raises(TypeError, match=r"holds 'vector'.*give one of them"):
            model().fit(given)


def test_lazy_frames_are_read_batch_by_batch():
    lazy = pl.DataFrame(data(), schema=NAMES).lazy()
    with pytest.raises(TypeError, match=r"give X.collect\(\), or .* fit_stream\(X.collect_batches"):
        model().fit(lazy)
    with pytest.raises(ValueError, match="got a lazy frame; give the frame's collect_batches"):
        model().fit_stream(lazy)
    if hasattr(lazy, "collect_batches"):
        batches = lazy.collect_batches(chunk_size=10, maintain_order=True)
        learned = model().fit_stream(batches)
        assert list(learned.feature_names_in_) == NAMES


def test_batches_of_records_keep_their_names():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pa.table(dict(zip(NAMES, data().T, strict=True)))
    reader = table.to_reader(10)
    learned = model().fit_stream(reader)
    assert list(learned.feature_names_in_) == NAMES
    assert_array_equal(learned.components_, learned_from(parts(data())))
    assert list(model().fit(table).feature_names_in_) == NAMES
    with pytest.raises(ValueError, match="Column 'name' of X has the type string"):
        model().fit(table.append_column("name", pa.array(ROWS)))


class Chunked:
    """Stands for an array that is not in memory; notes how many entries were read at once."""

    def __init__(self, values, chunks):
        self.values, self.chunks, self.shape = values, chunks, values.shape
        self.dtype, self.ndim, self.reads = values.dtype, values.ndim, []

    def __getitem__(self, rows):
        self.reads.append(len(self.values[rows]))
        return self.values[rows]

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("read as a whole")


@pytest.mark.parametrize("chunks", [(7, 8), ((7, 7, 7, 7, 7, 5), (8,)), None])
def test_stored_arrays_are_coded_a_few_chunks_at_a_time(chunks, monkeypatch):
    from atomstream.streams import on_disk

    monkeypatch.setattr(on_disk, "ENTRIES", 8 * 15)
    stored, learned = Chunked(data(), chunks), model().fit(data())
    # Law 5: a code does not depend on its batch companions, to 1e-10.
    assert_allclose(learned.transform(stored), learned.transform(data()), atol=1e-10)
    assert max(stored.reads) == (14 if chunks else 15)
    stored.reads.clear()
    sparse = learned.transform(stored, sparse_output=True)
    assert_allclose(sparse.toarray(), learned.transform(data()), atol=1e-10)
    assert len(learned.set_output(transform="pandas").transform(stored)) == 40
    assert_array_equal(
        learned_from(streams.batches(Chunked(data(), chunks), 10)), learned_from(parts(data()))
    )


def test_datasets_of_hdf5(tmp_path):
    import h5py

    with h5py.File(tmp_path / "x.h5", "w") as file:
        X = file.create_dataset("x", data=data(), chunks=(7, 8))
        assert_array_equal(model().fit(X).components_, model().fit(data()).components_)
        assert_array_equal(learned_from(streams.batches(X, 10)), learned_from(parts(data())))
        assert_allclose(model().fit(X).transform(X), model().fit(data()).transform(data()))
        with pytest.raises(TypeError, match="File that holds 'x'; give one of them"):
            model().fit(file)


def test_arrays_of_dask():
    dask = pytest.importorskip("dask.array", reason="dask is not installed")
    X = dask.from_array(data(), chunks=(7, 8))
    assert_array_equal(model().partial_fit(X).components_, model().partial_fit(data()).components_)
    assert_array_equal(learned_from(streams.batches(X, 10)), learned_from(parts(data())))
    assert_allclose(model().fit(X).transform(X), model().fit(data()).transform(data()))
    with pytest.raises(ValueError, match=r"cut it with atomstream.streams.batches"):
        model().fit_stream(X)
    blocks = dask.from_array(data(), chunks=(10, 4)).blocks  # of which two make whole rows
    assert_array_equal(learned_from(blocks), learned_from(parts(data())))
