"""Arrays in files: .npy, .npz (dense, or sparse as scipy writes it), Matrix Market, Zarr, HDF5."""

import io
import math
import weakref
import zipfile
from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import checked_array, checked_numbers, library
from atomstream.exceptions import InputError
from atomstream.io import source
from atomstream.io.input_options import InputOptions

MOST_HEAD = 1 << 16  # bytes of a line of a head
CHUNK = 1 << 20  # bytes that are searched at a time
# Bytes that one byte of a ZIP archive can stand for: 1,032 of deflate, and a little.
DENSEST = 1100

PARTS = ("data", "indices", "indptr")  # of a sparse matrix of scipy
Axes = Sequence[int] | None  # of the samples; None: the first one


class _Array(source.Source):
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
        source.check_numeric(dtype, name)
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
    uses : set of str, default=frozenset()
    """

    def __init__(
        self,
        array: Any,
        path: Any,
        files: list[Path],
        axes: Axes = None,
        uses: Set[str] = frozenset(),
    ) -> None:
        shape, self.takes_axes, self.uses = tuple(array.shape), not sp.issparse(array), uses
        if axes is not None and self.takes_axes:
            array = _as_rows(array, axes, str(path))
            shape = (len(array), *array.feature_shape)
        super().__init__(str(path), shape, np.dtype(array.dtype), files, axes)
        self._array, self._row_bytes = array, self.n_features * array.dtype.itemsize
        self.mapped = array.nbytes if isinstance(array, np.memmap) else 0
        # Rows that are read as a whole, where the array is stored in chunks.
        self.chunk_rows = (getattr(array, "chunks", None) or (1,))[0]

    def _blocks(self, start: int, epoch: int) -> Iterator[source.Block]:
        """Yield blocks of rows."""
        for rows in source.row_blocks(self.n_rows or 0, start, self._row_bytes):
            part = self._array[rows]
            if not sp.issparse(part):
                part = checked_array(part, self.name).reshape(-1, self.n_features)
            yield source.numbered(part, rows.start)


def _as_rows(array: Any, axes: Sequence[int], name: str) -> Any:
    """Return an array as rows that run through some of its axes."""
    from atomstream.streams.on_disk import CubeRows  # few arrays name their axes

    try:
        return CubeRows(array, axes)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None


def npy(path: Path, options: InputOptions) -> source.Source:
    """Open a .npy file as a memory map."""
    with path.open("rb") as file:
        if file.read(6) != b"\x93NUMPY":  # numpy would offer to unpickle it
            raise InputError(f"{path} cannot be read: it is no .npy file.")
    if isinstance(path, Path):
        array: Any = np.load(path, mmap_mode="r", allow_pickle=False)
    else:
        array = _Stored(str(path), path.open())
    return Sliced(array, path, [path], options.sample_axes)


class _Stored:
    """An array as NumPy writes it, in an archive or a store: what is asked for is read.

    Parameters
    ----------
    name : str
        For messages.
    file : binary file
        Forward steps should be cheap in it.
    """

    def __init__(self, name: str, file: Any) -> None:
        form = np.lib.format
        first = form.read_magic(file) == (1, 0)
        read = form.read_array_header_1_0 if first else form.read_array_header_2_0
        self.shape, self._by_columns, self.dtype = read(file)
        self.size = math.prod(self.shape)
        self.is_table = self.dtype.kind in "fiub" and len(self.shape) >= 2
        self.name, self._file, self._begin = name, file, file.tell()
        self._lock = Lock()  # a pass that was given up may still be reading
        weakref.finalize(self, file.close)

    def __getitem__(self, index: slice | tuple[slice, ...]) -> NDArray:
        """Return a part; along the first axis only what is asked for is read."""
        if self._by_columns:
            return self.whole[index]
        first, *others = index if isinstance(index, tuple) else (index,)
        # Rows of an array stored by rows lie side by side: one seek and one read.
        start, stop, _ = first.indices(self.shape[0])
        width = math.prod(self.shape[1:])
        part = self._read(start * width, stop * width).reshape(-1, *self.shape[1:])
        return part[(slice(None), *others)]

    @cached_property
    def whole(self) -> NDArray:
        """The whole array."""
        source.need(2 * self.size * self.dtype.itemsize, self.name)
        items = self._read(0, self.size)
        return items.reshape(self.shape[::-1]).T if self._by_columns else items.reshape(self.shape)

    def _read(self, first: int, last: int) -> NDArray:
        n_bytes = (last - first) * self.dtype.itemsize
        with self._lock:
            self._file.seek(self._begin + first * self.dtype.itemsize)
            data = self._file.read(n_bytes)
        if len(data) != n_bytes:
            raise InputError(f"{self.name} is cut off.")
        return np.frombuffer(data, self.dtype)


def matrix_market(path: Path, _options: InputOptions) -> source.Source:
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
    from atomstream.io import texts  # here: other arrays are no text

    with texts.opened(path) as file:
        while chunk := file.read(CHUNK):
            last, size = chunk[-1:], size + len(chunk)
            if b"\0" in chunk:
                raise InputError(f"{path} holds zero bytes, needed are lines of text.")
        file.seek(0)
        _check_claims(path, file, size)
        # scipy's parser wants an end behind the last line too.
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
    source.need(40 * n_entries + 16 * n_rows if counted else 16 * n_entries, str(path))


def zarr_array(path: Path, options: InputOptions) -> source.Source:
    """Open a Zarr array, or the only array (or the one that is named) of a Zarr group."""
    storage = dict(getattr(path, "storage", ())) or None
    node = library("zarr", "Zarr stores").open(str(path), mode="r", storage_options=storage)
    uses = set() if hasattr(node, "dtype") else {"key"}
    array = node[chosen(path, dict(node.arrays()), options.key)] if uses else node
    source.need(2 * math.prod(array.chunks) * array.dtype.itemsize, f"A chunk of {path}")
    files = source.files_of(path) if isinstance(path, Path) else [path]
    return Sliced(array, path, files, options.sample_axes, uses)


def npz(path: Path, options: InputOptions) -> source.Source:
    """Open a .npz file: one of its dense arrays, or the sparse matrix that scipy wrote.

    An array whose axes of the samples are named is loaded as a whole.
    """
    found, axes = members(path), options.sample_axes
    if {*PARTS, "shape"} <= found.keys() and options.key is None:
        return _sparse(path, found)
    tables = {name: member for name, member in found.items() if member.is_table}
    member = tables[chosen(path, tables, options.key, options.n_axes)]
    array = member if axes is None else member.whole
    return Sliced(array, member.name, [path], axes, {"key"})


def members(path: Path) -> dict[str, _Stored]:
    """Return the arrays of an archive, whose claims are held against what it holds."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            member = found[name] = _Stored(f"{path}:{name}", archive.open(info))
            claimed = member.size * member.dtype.itemsize
            held = min(info.file_size, DENSEST * info.compress_size + CHUNK)
            # Before memory is spent: an archive of a few bytes may claim any size.
            if claimed > held:
                raise InputError(
                    f"{path} claims {source.size_of(claimed)} in {name!r} and holds at most "
                    f"{source.size_of(held)}."
                )
    return found


def chosen(path: Path, arrays: dict[str, Any], key: str | None, n_axes: int = 0) -> str:
    """Return the name of an array: the key, or the only one with so many axes or more."""
    names = sorted(arrays)
    if key is not None:
        if key not in names:
            there = ", ".join(names) or "none"
            raise InputError(f"{path} has no array called {key!r:.80}; it has {there}.")
        return key
    large = [name for name in names if len(arrays[name].shape) >= n_axes]
    if len(large) != 1:
        kind = " of three axes or more" if n_axes == 3 else ""
        raise InputError(
            f"{path} has {len(large)} arrays{kind} ({', '.join(large or names)}); choose one with "
            "--key."
        )
    return large[0]


def _sparse(path: Path, members: dict[str, _Stored]) -> source.Source:
    """Open a sparse matrix of scipy: CSR rows are streamed, CSC is loaded and converted."""
    for member in members.values():
        source.need(2 * member.size * member.dtype.itemsize, member.name)
    shape = tuple(int(n) for n in members["shape"].whole)
    kind = members["format"].whole.item() if "format" in members else None
    kind = kind.decode() if isinstance(kind, bytes) else kind
    if len(shape) != 2:
        raise InputError(
            f"{path} is a sparse array of shape {shape}, needed is (n_samples, n_features)."
        )
    # Older files of scipy do not say; the number of pointers tells rows from columns.
    if kind is None:
        kind = "csr" if members["indptr"].size == shape[0] + 1 else "csc"
    if kind == "csr":
        return _SparseRows(path, shape, members)
    if kind != "csc":
        raise InputError(f"{path} is sparse in the format {kind!r}, needed is csr or csc.")
    source.need(16 * shape[0], str(path))
    columns = sp.csc_array(tuple(members[name].whole for name in PARTS), shape=shape)
    return Sliced(checked_numbers(columns, str(path)), path, [path])


class _SparseRows(_Array):
    """Sparse rows in an archive; only the pointers to the rows are in memory."""

    def __init__(self, path: Path, shape: tuple[int, ...], members: dict[str, _Stored]) -> None:
        self._values, self._columns, pointers = (members[name] for name in PARTS)
        super().__init__(str(path), shape, self._values.dtype, [path])
        self._pointers = pointers.whole.astype(np.int64)
        n_stored = self._columns.shape[0]
        ends_fit = not self._pointers[0] and self._pointers[-1] == n_stored
        if pointers.size != shape[0] + 1 or not ends_fit or np.diff(self._pointers).min() < 0:
            raise InputError(
                f"{path} is not a valid sparse matrix: its pointers do not fit its {n_stored} "
                "entries."
            )

    def _blocks(self, start: int, epoch: int) -> Iterator[source.Block]:
        """Yield blocks of rows of about the same number of entries."""
        n_rows = self.n_rows or 0
        entry_bytes = self._values.dtype.itemsize + self._columns.dtype.itemsize
        # Of a typical row, by which blocks are cut; a dense one makes a block larger.
        mean = int(self._pointers[-1] // n_rows + 1) * entry_bytes
        for rows in source.row_blocks(n_rows, start, mean):
            entries = slice(int(self._pointers[rows.start]), int(self._pointers[rows.stop]))
            values, columns = self._values[entries], self._columns[entries]
            if len(columns) and not 0 <= columns.min() <= columns.max() < self.n_features:
                raise InputError(f"{self.name} has entries outside its {self.n_features} columns.")
            pointers = self._pointers[rows.start : rows.stop + 1] - self._pointers[rows.start]
            shape = (rows.stop - rows.start, self.n_features)
            part = sp.csr_array((values, columns, pointers), shape=shape)
            yield source.numbered(part, rows.start)
