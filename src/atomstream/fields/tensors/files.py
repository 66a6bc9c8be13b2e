"""Tensors on disk as samples along one axis: arrays, coordinates of entries, labelled arrays."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import ArrayLike, library
from atomstream.exceptions import InputError
from atomstream.io import arrays, check_axes, open_inputs, reader_of, source
from atomstream.io.column_names import chosen
from atomstream.io.input_options import InputOptions
from atomstream.io.inputs import check_used

NETCDF3 = b"CDF"  # how files of NetCDF 3 begin
NETCDF4 = b"\x89HDF"  # and of NetCDF 4, which are HDF5 files
MOST_LABELS = 3  # that a message lists


@dataclass(frozen=True)
class _Wanted:
    """How a tensor is to be read; see `open_tensor`."""

    key: str | None
    axis: str
    columns: Sequence[str]
    known: Sequence[NDArray] | None


@dataclass(frozen=True)
class _Named:
    """The axes of a whole tensor: their names, and their labels where they have some."""

    names: tuple[str, ...]
    labels: tuple[NDArray | None, ...]


class Tensor(source.Source):
    """Samples that are tensors, each flattened to a row.

    Attributes
    ----------
    shape : tuple of int
        Of one sample.
    axes : tuple of str, or None
        Names of the axes of a sample, where the file has them.
    labels : tuple of ndarray or None, or None
        Labels along each axis of a sample.
    sample_labels : ndarray or None
        Labels of the samples.
    """

    shape: tuple[int, ...]

    def __init__(
        self, rows: source.Source, shape: tuple[int, ...], axis: int, named: _Named | None
    ) -> None:
        self.name, self.n_rows, self.n_features = rows.name, rows.n_rows, rows.n_features
        self.shape, self.files, self._rows = shape, rows.files, rows
        self.axes = None if named is None else _without(named.names, axis)
        self.labels = None if named is None else _without(named.labels, axis)
        self.sample_labels = None if named is None else named.labels[axis]

    def _blocks(self, start: int, epoch: int) -> Iterator[source.Block]:
        """Yield blocks of samples, dense or CSR."""
        return self._rows.blocks(start, epoch)


def open_tensor(
    path: str | Path,
    *,
    key: str | None = None,
    axis: str = "0",
    columns: Sequence[str] = (),
    known: Sequence[NDArray] | None = None,
) -> Tensor:
    """Open a tensor as samples along one of its axes.

    Parameters
    ----------
    path : path
        ``.npy`` (a memory map); ``.npz`` with a dense array, or with entries of a sparse one:
        ``coords`` of shape (n_axes, n_entries), ``data`` and ``shape``, as the package sparse
        saves them; ``.zarr`` (an array, a group, or what xarray wrote); ``.nc`` (NetCDF, through
        xarray); ``.parquet`` with a line for each entry.
    key : str, optional
        Which array of an archive, a group or a file of several.
    axis : str, default="0"
        The axis of the samples: its number, or its name where axes have names.
    columns : sequence of str, default=()
        Of a Parquet file: one for each axis, then the one of the values; by default all.
    known : sequence of ndarray, optional
        The labels of the axes of a sample, where these must be those of another tensor.

    Raises
    ------
    InputError
        A sentence for each thing that can be wrong with a tensor.
    """
    path = source.existing(path)
    ending = next((ending for ending in KINDS if path.name.lower().endswith(ending)), None)
    if ending is None and reader_of(path) is None:
        raise InputError(f"{path} ends like no tensor; known endings are {', '.join(KINDS)}.")
    if path.is_dir() and ".zarr" not in path.name:
        raise InputError(f"{path} is a folder, needed is a file.")
    if columns and ending != ".parquet":
        raise InputError(f"--columns chooses columns of Parquet files, {path} is none.")
    if ending == ".parquet":
        check_used(InputOptions(key=key), frozenset(), str(path))
    with source.reading(str(path)):
        return KINDS.get(ending or "", _rows)(path, _Wanted(key, axis, columns, known))


def _npz(path: Path, wanted: _Wanted) -> Tensor:
    """Open entries of a sparse array, or a dense one: streamed, or whole for another axis."""
    # The names under which the package sparse saves; an array that is asked for by name is one.
    members = arrays.members(path) if wanted.key is None else {}
    if {"coords", "data", "shape"} <= members.keys():
        return _coordinates(path, {name: it.whole for name, it in members.items()}, wanted)
    return _rows(path, wanted)


def _rows(path: Path, wanted: _Wanted) -> Tensor:
    """Open a file by the reader of rows that its ending has, such as one of the user."""
    options = InputOptions(key=wanted.key)
    rows = open_inputs([str(path)], options)[0]
    shape = (rows.n_rows or 0, *(rows.shape or (rows.n_features,)))
    # The first axis streams; for another one the array is read whole and turned.
    axis = _axis(path, shape, None, wanted.axis)
    if axis:
        rows = open_inputs([str(path)], replace(options, sample_axes=(axis,)))[0]
        check_axes([rows], axis)
    return Tensor(rows, _without(shape, axis), axis, None)


def _zarr(path: Path, wanted: _Wanted) -> Tensor:
    node = library("zarr", "Zarr stores").open(str(path), mode="r")
    if hasattr(node, "dtype"):
        check_used(InputOptions(key=wanted.key), frozenset(), str(path))
        return _dense(path, node, wanted)
    members = dict(node.arrays())
    # With names it was written by xarray, whose labels are wanted too.
    if any(_has_names(array) for array in members.values()):
        return _labelled(path, wanted, lambda xr: xr.open_zarr(str(path), chunks=None))
    return _dense(path, members[arrays.chosen(path, members, wanted.key, 3)], wanted)


def _has_names(array: Any) -> bool:
    """Return whether an array of a group names its axes, as xarray writes them."""
    named = getattr(array.metadata, "dimension_names", None)
    return bool(named) or "_ARRAY_DIMENSIONS" in array.attrs


def _netcdf(path: Path, wanted: _Wanted) -> Tensor:
    with path.open("rb") as file:
        head = file.read(len(NETCDF4))
    if not head.startswith((NETCDF3, NETCDF4)):
        raise InputError(f"{path} is no NetCDF file.")
    # Told here, for xarray would only say that no engine was found.
    if head == NETCDF4 and not (find_spec("h5netcdf") or find_spec("netCDF4")):
        raise InputError(f"{path} is NetCDF 4 and needs h5netcdf to be read: pip install h5netcdf.")
    return _labelled(path, wanted, lambda xr: xr.open_dataset(path))


def _labelled(path: Path, wanted: _Wanted, opened: Callable[[Any], Any]) -> Tensor:
    """Open a variable of what xarray reads, with the names and labels of its axes."""
    dataset = opened(library("xarray", "Arrays with named axes"))
    array = dataset[arrays.chosen(path, dict(dataset.data_vars), wanted.key, 3)]
    known, names = array.coords, array.dims
    labels = tuple(_label(known[name].values) if name in known else None for name in names)
    return _dense(path, array, wanted, _Named(tuple(map(str, names)), labels))


def _dense(path: Path, array: Any, wanted: _Wanted, named: _Named | None = None) -> Tensor:
    axis = _axis(path, tuple(array.shape), named, wanted.axis)
    rows = arrays.Sliced(array, path, source.files_of(path), (axis,))
    return Tensor(rows, _without(tuple(array.shape), axis), axis, named)


def _coordinates(path: Path, archive: dict[str, NDArray], wanted: _Wanted) -> Tensor:
    """Open the entries of a sparse array, as the package sparse saves them."""
    coords, data = archive["coords"], archive["data"]
    shape = tuple(int(size) for size in archive["shape"])
    # Entries that are not listed would be something else than zero.
    if "fill_value" in archive and archive["fill_value"] != 0:
        raise InputError(f"{path} has entries of {archive['fill_value']} that it does not list.")
    fits = coords.ndim == 2 and coords.dtype.kind in "iu" and data.ndim == 1
    if not fits or coords.shape != (len(shape), len(data)):
        raise InputError(
            f"{path} has coords of shape {coords.shape} and {data.size} entries; needed are whole "
            "numbers of shape (n_axes, n_entries)."
        )
    # Negative places would count from the end, and the tensor would be another one.
    outside = (coords < 0) | (coords >= np.array(shape, np.int64)[:, None])
    if outside.any():
        place = tuple(int(number) for number in coords[:, outside.any(axis=0).argmax()])
        raise InputError(f"{path} has an entry at {place}, outside its shape {shape}.")
    return _stored(path, coords.astype(np.int64), data, shape, wanted)


def _parquet(path: Path, wanted: _Wanted) -> Tensor:
    """Open a table with a line for each entry: its label on each axis, and its value."""
    pq = library("pyarrow.parquet", "Parquet files")
    found = pq.read_schema(path).names
    names = [found[place] for place in chosen(found, wanted.columns, str(path))]
    if len(names) < 4:
        raise InputError(
            f"{path} has the columns {', '.join(names)}; needed are one for each of three axes or "
            "more, and then one of values."
        )
    # The order of columns is the order of axes, and values come last.
    *ends, last = names
    table = pq.read_table(path, columns=names)
    values = table[last].to_numpy()
    source.check_numeric(values.dtype, f"Column {last!r} of {path}")
    known = list(wanted.known or ())
    axis = _axis(path, (0,) * len(ends), _Named(tuple(ends), ()), wanted.axis)
    coords, labels = [], []
    for number, name in enumerate(ends):
        if table[name].null_count:
            raise InputError(f"Column {name!r} of {path} has empty fields, needed are labels.")
        listed, places = np.unique(_label(table[name].to_numpy()), return_inverse=True)
        # Labels that were learned keep their places, however few of them a new file has.
        if known and number != axis:
            places = _matched(listed, known[0], f"Column {name!r} of {path}")[places]
            listed = known.pop(0)
        coords.append(places)
        labels.append(listed)
    shape = tuple(len(listed) for listed in labels)
    named = _Named(tuple(ends), tuple(labels))
    return _stored(path, np.array(coords), values, shape, wanted, named)


def _stored(
    path: Path,
    coords: NDArray,
    data: NDArray,
    shape: tuple[int, ...],
    wanted: _Wanted,
    named: _Named | None = None,
) -> Tensor:
    """Return listed entries as sparse rows; entries of one place are added up."""
    axis = _axis(path, shape, named, wanted.axis)
    source.check_numeric(data.dtype, str(path))
    inner = _without(shape, axis)
    if not all(shape):
        raise InputError(f"{path} is empty: its shape is {shape}.")
    # A sample as a row: all axes but that of the samples are flattened in order.
    columns = np.ravel_multi_index(_without(tuple(coords), axis), inner)
    size = int(np.prod(inner, dtype=np.int64))
    # Coordinates, their sorted copy, and the rows made of them.
    source.need(40 * len(data) + 16 * shape[axis], str(path))
    rows = sp.csr_array((data, (coords[axis], columns)), shape=(shape[axis], size))
    return Tensor(arrays.Sliced(rows, path, [path]), inner, axis, named)


def _axis(path: Path, shape: tuple[int, ...], named: _Named | None, axis: str) -> int:
    """Return the number of the axis of the samples."""
    if len(shape) < 3:
        raise InputError(
            f"{path} has shape {shape}, needed are three axes or more, one of them that of the "
            "samples; for a table use: atomstream learn"
        )
    names = named.names if named else ()
    # A name goes first: an axis may be called "0".
    if axis in names:
        return names.index(axis)
    if axis.isdecimal() and int(axis) < len(shape):
        return int(axis)
    listed = f" or {', '.join(names)}" if names else ""
    raise InputError(f"{path} has no axis {axis!r}; choose 0 to {len(shape) - 1}{listed}.")


def _label(values: ArrayLike) -> NDArray:
    """Return labels as numbers, or as texts."""
    values = np.asarray(values)
    return values if values.dtype.kind in "fiub" else values.astype(str).astype(object)


def _matched(listed: NDArray, known: NDArray, name: str) -> NDArray:
    """Return the place of each label among those that are known."""
    places = {label: place for place, label in enumerate(known.tolist())}
    strange = [str(label) for label in listed.tolist() if label not in places]
    if strange:
        few = ", ".join(strange[:MOST_LABELS])
        raise InputError(f"{name} holds labels that were not learned: {few}.")
    return np.array([places[label] for label in listed.tolist()])


def _without(items: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    return (*items[:axis], *items[axis + 1 :])


KINDS: dict[str, Callable[[Path, _Wanted], Tensor]] = {
    ".npy": _rows,
    ".npz": _npz,
    **dict.fromkeys((".zarr", ".zarr.zip"), _zarr),
    ".nc": _netcdf,
    ".parquet": _parquet,
}
