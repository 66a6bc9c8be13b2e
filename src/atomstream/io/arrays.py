"""Arrays in files: .npy, .npz (dense, or sparse as scipy writes it), Matrix Market, Zarr, HDF5."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.core.extras import library
from atomstream.core.matrices import checked_numbers
from atomstream.exceptions import InputError
from atomstream.io import lines
from atomstream.io.budget import need, size_of
from atomstream.io.hdf5 import opened
from atomstream.io.source import Block, Source, check_numeric, files_of, numbered, row_blocks
from atomstream.streams import CubeRows

__all__ = ["hdf5", "matrix_market", "npy", "npz", "read_matrix_market", "zarr_array"]

MOST_HEAD = 1 << 16  # bytes of a line of a head
CHUNK = 1 << 20  # bytes that are searched at a time
DENSEST = (
    1100  # bytes that one byte of a ZIP archive can stand for (1,032 of deflate, and a little)
)

_Header = tuple[tuple[int, ...], bool, np.dtype]  # shape, whether by columns, type
Axes = Sequence[int] | None  # of the samples; None: the first one


class _Array(Source):
    """An array in files whose rows are samples: axes after the first are flattened.

    Parameters
    ----------
    axes : sequence of int, optional
        The axes of the array that were made the first one of ``shape``.
    """

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype,
        files: list[Path],
        axes: Axes = None,
    ) -> None:
        check_numeric(dtype, name)
        if len(shape) < 2:
            raise InputError(f"{name} has shape {shape}, needed is (n_samples, n_features).")
        if not all(shape):
            raise InputError(f"{name} is empty: its shape is {shape}.")
        self.name, self.files = name, files
        self.n_rows, self.n_features = int(shape[0]), int(np.prod(shape[1:]))
        self.shape = shape[1:] if len(shape) > 2 else None
        self.flattened = shape if len(shape) > 2 and axes is None else None


class Sliced(_Array):
    """An array with direct access to any rows: a memory map, a Zarr array, a sparse matrix.

    Parameters
    ----------
    array : array of two axes or more
    path : path
        Its name in messages.
    files : list of path
        What is read.
    axes : sequence of int, optional
        The axes of the samples of a dense array, if not the first one.
    """

    def __init__(self, array: Any, path: Path, files: list[Path], axes: Axes = None) -> None:
        shape, self.takes_axes = tuple(array.shape), not sp.issparse(array)
        if axes is not None and self.takes_axes:
            array = _as_rows(array, axes, str(path))
            shape = (len(array), *array.feature_shape)
        super().__init__(str(path), shape, np.dtype(array.dtype), files, axes)
        self._array, self._row_bytes = array, self.n_features * array.dtype.itemsize
        # Rows that are read as a whole, where the array is stored in chunks.
        self.chunk_rows = (getattr(array, "chunks", None) or (1,))[0]

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows."""
        for rows in row_blocks(self.n_rows or 0, start, self._row_bytes):
            part = self._array[rows]
            dense = None if sp.issparse(part) else np.asarray(part).reshape(-1, self.n_features)
            yield numbered(part if dense is None else dense, rows.start)


def _as_rows(array: Any, axes: Sequence[int], name: str) -> CubeRows:
    """Return an array as rows that run through some of its axes."""
    try:
        return CubeRows(array, axes)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None


def npy(path: Path, axes: Axes = None) -> Source:
    """Open a .npy file as a memory map."""
    with path.open("rb") as file:
        if file.read(6) != b"\x93NUMPY":  # numpy would offer to unpickle it
            raise InputError(f"{path} cannot be read: it is no .npy file.")
    if not isinstance(path, Path):
        return Sliced(_Ranges(path), path, [path], axes)
    return Sliced(np.load(path, mmap_mode="r", allow_pickle=False), path, [path], axes)


class _Ranges:
    """An array in a .npy file of a store: rows are read as the bytes that they take.

    Parameters
    ----------
    place : Place
    """

    def __init__(self, place: Any) -> None:
        with place.open() as file:
            self.shape, fortran, self.dtype = _header(file)
            self._begin = file.tell()
        self._place = place
        if fortran or self.dtype.hasobject:
            raise InputError(f"{place} is stored by columns, needed are rows; write it in C order.")

    def __getitem__(self, index: slice | tuple[slice, ...]) -> NDArray:
        """Return a part; along the first axis only what is asked for is read."""
        first, *others = index if isinstance(index, tuple) else (index,)
        start, stop, _ = first.indices(self.shape[0])
        width = math.prod(self.shape[1:]) * self.dtype.itemsize
        with self._place.open() as file:
            file.seek(self._begin + start * width)
            data = file.read((stop - start) * width)
        part = np.frombuffer(data, self.dtype).reshape(-1, *self.shape[1:])
        return part[(slice(None), *others)]


def _header(file: Any) -> _Header:
    """Read the head of an array as NumPy writes it."""
    form = np.lib.format
    first = form.read_magic(file) == (1, 0)
    return (form.read_array_header_1_0 if first else form.read_array_header_2_0)(file)


def matrix_market(path: Path) -> Source:
    """Open a Matrix Market file, dense or sparse; it is read as a whole, as its order is free."""
    matrix = read_matrix_market(path)
    return Sliced(sp.csr_array(matrix) if sp.issparse(matrix) else matrix, path, [path])


def read_matrix_market(path: Path) -> Any:
    """Return the matrix of a Matrix Market file, plain or compressed (.gz).

    The parser of scipy crashes on numbers that end with a zero byte, or with the file. So zero
    bytes are refused, and a last line without its end gets one.
    """
    from scipy.io import mmread

    last, size = b"\n", 0
    with lines.opened(path) as file:
        while chunk := file.read(CHUNK):
            last, size = chunk[-1:], size + len(chunk)
            if b"\0" in chunk:
                raise InputError(f"{path} holds zero bytes, needed are lines of text.")
        file.seek(0)
        _check_claims(path, file, size)
        if last != b"\n":
            file.seek(0)
            return mmread(io.BytesIO(file.read() + b"\n"))
    return mmread(path)


def _check_claims(path: Path, file: Any, size: int) -> None:
    """Hold the numbers of rows and entries in the head of a Matrix Market file against it."""
    line = file.readline(MOST_HEAD)
    while line and (line.startswith(b"%") or not line.strip()):
        line = file.readline(MOST_HEAD)
    try:
        n_rows, n_columns, *counted = map(int, line.split())
        (n_entries,) = counted or [n_rows * n_columns]
    except ValueError:
        return  # the parser says what is wrong
    if min(n_rows, n_columns) < 1:  # on which the parser of scipy ends the process
        raise InputError(f"{path} is empty: it claims {n_rows} rows and {n_columns} columns.")
    # An entry takes two characters at least, and four with its row and column; of symmetric
    # matrices half of the entries are listed.
    if n_entries * (4 if counted else 1) > size + 1:
        raise InputError(f"{path} claims {n_entries} entries and has {size} bytes.")
    need(40 * n_entries + 16 * n_rows if counted else 16 * n_entries, str(path))


def zarr_array(path: Path, key: str | None, axes: Axes = None) -> Source:
    """Open a Zarr array, or the only array (or the one named ``key``) of a Zarr group."""
    storage = dict(getattr(path, "storage", ())) or None
    node = library("zarr", "Zarr stores").open(str(path), mode="r", storage_options=storage)
    array = node if hasattr(node, "dtype") else node[chosen(path, dict(node.arrays()), key)]
    need(2 * math.prod(array.chunks) * array.dtype.itemsize, f"A chunk of {path}")
    return Sliced(array, path, files_of(path) if isinstance(path, Path) else [path], axes)


def hdf5(path: Path, key: str | None, axes: Axes = None) -> Source:
    """Open the only dataset with two axes or more of an HDF5 file, or the one named ``key``."""
    tables: dict[str, Any] = {}

    def note(name: str, node: Any) -> None:
        """Keep a dataset of numbers."""
        if hasattr(node, "dtype") and node.dtype.kind in "fiub" and len(node.shape) > 1:
            tables[name] = node

    opened(path).visititems(note)
    array = tables[chosen(path, tables, key)]
    if array.external or array.is_virtual:
        raise InputError(f"{array.name!r} of {path} lies in other files; give these.")
    chunk = math.prod(array.chunks or ()) * array.dtype.itemsize
    need(2 * chunk, f"A chunk of {path}")
    return Sliced(array, path, [path], axes)


def check_archive(path: Path) -> None:
    """Hold what the arrays of a .npz file claim against what is there."""
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
    for name in names:
        member = _Member(path, name)
        need(2 * math.prod(member.shape) * member.dtype.itemsize, f"{name!r} of {path}")


def npz(path: Path, key: str | None, axes: Axes = None) -> Source:
    """Open a .npz file: one of its dense arrays, or the sparse matrix that scipy wrote.

    An array whose axes of the samples are named is loaded as a whole.
    """
    with zipfile.ZipFile(path) as archive:
        members = {name.removesuffix(".npy") for name in archive.namelist()}
    if {"data", "indices", "indptr", "shape"} <= members and key is None:
        return _sparse(path, members)
    opened = {name: _Member(path, name) for name in sorted(members)}
    tables = {name: member for name, member in opened.items() if member.is_table}
    member = tables[chosen(path, tables, key)]
    return _Streamed(path, member) if axes is None else Sliced(member.whole(), path, [path], axes)


def chosen(path: Path, arrays: dict[str, Any], key: str | None, n_axes: int = 0) -> str:
    """Return the name of an array: the key, or the only one with so many axes or more."""
    names = sorted(arrays)
    if key is not None and key not in names:
        raise InputError(
            f"{path} has no array called {key!r}; it has {', '.join(names) or 'none'}."
        )
    large = [name for name in names if len(arrays[name].shape) >= n_axes]
    if key is None and len(large) != 1:
        kind = " of three axes or more" if n_axes == 3 else ""
        raise InputError(
            f"{path} has {len(large)} arrays{kind} ({', '.join(large or names)}); choose one with "
            "--key."
        )
    return key or large[0]


class _Member:
    """An array in an archive, read from front to back in parts."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        with self._open() as (_, header):
            self.shape, self.fortran, self.dtype = header
        self._check_claims()
        self.is_table = self.dtype.kind in "fiub" and len(self.shape) >= 2

    def _check_claims(self) -> None:
        """Hold the size in the header against what the archive holds."""
        with zipfile.ZipFile(self.path) as archive:
            member = archive.getinfo(self._inside(archive))
        claimed = math.prod(self.shape) * self.dtype.itemsize
        held = min(member.file_size, DENSEST * member.compress_size + CHUNK)
        if claimed > held:
            raise InputError(
                f"{self.path} claims {size_of(claimed)} in {self.name!r} and holds at most "
                f"{size_of(held)}."
            )

    def _inside(self, archive: zipfile.ZipFile) -> str:
        return self.name if self.name in archive.namelist() else f"{self.name}.npy"

    @contextmanager
    def _open(self) -> Iterator[tuple[Any, _Header]]:
        """Open the array after its header, which comes along."""
        with zipfile.ZipFile(self.path) as archive, archive.open(self._inside(archive)) as file:
            yield file, _header(file)

    def whole(self) -> NDArray:
        """Return the whole array."""
        need(2 * math.prod(self.shape) * self.dtype.itemsize, f"{self.name!r} of {self.path}")
        with np.load(self.path, allow_pickle=False) as archive:
            return archive[self.name]

    def parts(self, start: int, counts: Iterator[int]) -> Iterator[NDArray]:
        """Yield parts of the flattened array, from ``start`` on, with ``counts`` items each."""
        with self._open() as (file, _):
            file.seek(start * self.dtype.itemsize, 1)
            for count in counts:
                data = file.read(count * self.dtype.itemsize)
                if len(data) != count * self.dtype.itemsize:
                    raise InputError(f"{self.path} is cut off within {self.name!r}.")
                yield np.frombuffer(data, self.dtype)


class _Streamed(_Array):
    """A dense array in an archive."""

    def __init__(self, path: Path, member: _Member) -> None:
        super().__init__(f"{path}:{member.name}", member.shape, member.dtype, [path])
        self._member, self.takes_axes = member, True

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows; an array stored by columns is loaded as a whole."""
        n_rows, width = self.n_rows or 0, self.n_features
        slices = list(row_blocks(n_rows, start, width * self._member.dtype.itemsize))
        if self._member.fortran:
            X = self._member.whole().reshape(n_rows, width)
            yield from (numbered(X[rows], rows.start) for rows in slices)
            return
        counts = ((rows.stop - rows.start) * width for rows in slices)
        for rows, part in zip(slices, self._member.parts(start * width, counts), strict=True):
            yield numbered(part.reshape(-1, width), rows.start)


def _sparse(path: Path, members: set[str]) -> Source:
    """Open a sparse matrix of scipy: CSR rows are streamed, CSC is loaded and converted."""
    check_archive(path)
    with np.load(path, allow_pickle=False) as archive:
        shape = tuple(int(n) for n in archive["shape"])
        kind = archive["format"].item() if "format" in members else None
        kind = kind.decode() if isinstance(kind, bytes) else kind
        if len(shape) != 2:
            raise InputError(
                f"{path} is a sparse array of shape {shape}, needed is (n_samples, n_features)."
            )
        n_rows, n_columns = shape
        if kind is None:
            kind = "csr" if len(archive["indptr"]) == n_rows + 1 else "csc"
        if kind == "csr":
            return _SparseRows(path, shape, archive["indptr"])
        if kind != "csc":
            raise InputError(f"{path} is sparse in the format {kind!r}, needed is csr or csc.")
        need(16 * n_rows, str(path))
        parts = (archive["data"], archive["indices"], archive["indptr"])
        columns = sp.csc_array(parts, shape=(n_rows, n_columns))
        return Sliced(checked_numbers(columns, str(path)).tocsr(), path, [path])


class _SparseRows(_Array):
    """Sparse rows in an archive; only the pointers to the rows are in memory."""

    def __init__(self, path: Path, shape: tuple[int, ...], pointers: NDArray) -> None:
        self._values, self._columns = _Member(path, "data"), _Member(path, "indices")
        super().__init__(str(path), shape, self._values.dtype, [path])
        self._pointers = pointers.astype(np.int64)
        n_stored = self._columns.shape[0]
        ends_fit = not self._pointers[0] and self._pointers[-1] == n_stored
        if len(pointers) != shape[0] + 1 or not ends_fit or np.diff(self._pointers).min() < 0:
            raise InputError(
                f"{path} is not a valid sparse matrix: its pointers do not fit its {n_stored} "
                "entries."
            )

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows of about the same number of entries."""
        n_rows = self.n_rows or 0
        entry_bytes = self._values.dtype.itemsize + self._columns.dtype.itemsize
        mean = int(self._pointers[-1] // n_rows + 1) * entry_bytes
        slices = list(row_blocks(n_rows, start, mean))
        counts = [int(self._pointers[rows.stop] - self._pointers[rows.start]) for rows in slices]
        first = int(self._pointers[start]) if start < n_rows else 0
        streams = (member.parts(first, iter(counts)) for member in (self._values, self._columns))
        for rows, values, columns in zip(slices, *streams, strict=True):
            if len(columns) and not 0 <= columns.min() <= columns.max() < self.n_features:
                raise InputError(f"{self.name} has entries outside its {self.n_features} columns.")
            pointers = self._pointers[rows.start : rows.stop + 1] - self._pointers[rows.start]
            shape = (rows.stop - rows.start, self.n_features)
            yield numbered(sp.csr_array((values, columns, pointers), shape=shape), rows.start)
