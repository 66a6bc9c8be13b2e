"""Counts of genes in cells, read in blocks: what varies more than its mean explains."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import check_count, checked_numbers, library, order_of
from atomstream.exceptions import InputError
from atomstream.io.arrays import read_matrix_market
from atomstream.io.column_names import chosen, dropped
from atomstream.io.hdf5 import opened
from atomstream.io.source import Block, Source, existing, files_of, need, numbered, reading
from atomstream.io.texts import text_lines

BLOCK_CELLS = 4096  # cells
MOST_COUNT = 1e15  # beyond which sums of squares lose what tells counts apart
PARTS = ("obs", "var", "uns", "obsm", "varm", "obsp", "varp")  # of a store, beside the counts
BINS, MIN_GENES_PER_BIN = 20, 20  # of genes with similar means, and genes in each


@dataclass(frozen=True)
class Genes:
    """Genes to learn from.

    Attributes
    ----------
    places : ndarray of int of shape (n_genes,)
        Their columns in the data, rising.
    names : ndarray of str of shape (n_genes,)
    deviation : ndarray of shape (n_genes,)
        Standard deviation of each over all cells.
    """

    places: NDArray
    names: NDArray
    deviation: NDArray


def read(path: str | Path) -> Any:
    """Open counts of genes in cells as AnnData.

    Parameters
    ----------
    path : path
        An ``.h5ad`` file or a Zarr store of AnnData, whose matrix stays on disk (of a store layers
        are left there); a ``.h5`` file or a folder with ``matrix.mtx``, ``barcodes.tsv`` and
        ``features.tsv``, each perhaps with ``.gz``, as Cell Ranger writes them.

    Returns
    -------
    AnnData
        Cells in rows.

    Raises
    ------
    InputError
        For other paths, and files that are damaged.
    MissingLibraryError
        Without anndata: ``pip install 'atomstream[cells]'``.
    """
    path, anndata = existing(path), library("anndata", "AnnData files")
    with reading(str(path)):
        if path.is_dir():
            stored = any((path / name).is_file() for name in ("zarr.json", ".zgroup"))
            return (_zarr if stored else _folder)(path, anndata)
        if path.suffix in (".h5ad", ".h5"):
            with opened(path, contents=True) as file:
                _check_claims(path, file)
                if path.suffix == ".h5":
                    return _cell_ranger(path, file, anndata)
            return _checked(path, anndata.read_h5ad(path, backed="r"))
    raise InputError(
        f"{path} must end in .h5ad or .h5, or be a Zarr store or a folder with matrix.mtx."
    )


def overdispersed(data: Any, n_genes: int = 2000) -> Genes:
    """Choose the genes that vary most for their mean, in one pass over the cells.

    Genes are put into at most 20 bins of similar means. In each bin the logarithms of variance over
    mean are centred by their median and divided by their median deviation; the largest win.

    Parameters
    ----------
    data : AnnData
        Nonnegative counts; may be on disk.
    n_genes : int, default=2000

    Returns
    -------
    Genes

    References
    ----------
    Zheng et al. (2017), "Massively parallel digital transcriptional profiling of single cells", the
    normalised dispersion, with medians.
    """
    wanted = check_count("n_genes", n_genes)
    mean, variance = _moments(data)
    seen = np.flatnonzero((mean > 0) & (variance > 0))
    if not len(seen):
        raise ValueError("No gene varies from cell to cell; are these counts?")
    dispersion = np.log(variance[seen] / mean[seen])
    # Genes are compared with those of similar means: dispersion falls with the mean by itself.
    score = np.empty(len(seen))
    n_bins = min(BINS, max(len(seen) // MIN_GENES_PER_BIN, 1))
    for members in np.array_split(np.argsort(mean[seen], kind="stable"), n_bins):
        centred = dispersion[members] - np.median(dispersion[members])
        # The median absolute deviation, which a few strongly varying genes do not move.
        spread = np.median(np.abs(centred))
        score[members] = centred / (spread if spread > 0 else 1.0)
    places = np.sort(seen[np.argsort(-score, kind="stable")[:wanted]])
    return _genes(data, places, variance)


def named(data: Any, columns: Sequence[str]) -> Genes:
    """Return genes by their names, or by their numbers from 1, in one pass over the cells."""
    places = chosen(list(map(str, data.var_names)), columns, "The data")
    return _genes(data, np.array(places), _moments(data)[1])


def found_in(data: Any, genes: Genes) -> Genes:
    """Return genes at their places in these data, where they are found by their names.

    Raises
    ------
    InputError
        Where the data lack some of them, or have one twice.
    """
    names: NDArray = np.asarray(data.var_names).astype(str)
    if np.array_equal(names[genes.places[genes.places < len(names)]], genes.names):
        return genes
    differs = "have other genes than were chosen"
    return replace(genes, places=_places(names.tolist(), genes.names.tolist(), "The data", differs))


def _places(names: list[str], wanted: Sequence[str], subject: str, differs: str) -> NDArray:
    """Return where genes stand among others."""
    these = set(wanted)
    found = [place for place, name in enumerate(names) if name in these]
    try:
        order = order_of([names[place] for place in found], wanted, subject, differs)
    except ValueError as error:
        raise InputError(str(error)) from None
    return np.array(found) if order is None else np.array(found)[order]


def _moments(data: Any) -> tuple[NDArray, NDArray]:
    """Return mean and variance of each gene over all cells."""
    total, squares = np.zeros(data.n_vars), np.zeros(data.n_vars)
    for block in blocks(data, BLOCK_CELLS):
        total += np.asarray(block.sum(axis=0)).ravel()
        squares += np.asarray(block.multiply(block).sum(axis=0)).ravel()
    mean = total / data.n_obs
    return mean, np.maximum(squares / data.n_obs - mean**2, 0)


def _genes(data: Any, places: NDArray, variance: NDArray) -> Genes:
    deviation = np.sqrt(variance[places])
    names = np.asarray(data.var_names)[places].astype(str)
    return Genes(places, names, np.where(deviation > 0, deviation, 1.0))


def batches(
    data: Any, genes: Genes, *, batch_size: int = 256, batch_key: str | None = None
) -> Iterator[Any]:
    """Yield the cells in blocks, each gene divided by its standard deviation, in float32.

    Parameters
    ----------
    data : AnnData
        May be on disk: blocks are read one after the other.
    genes : Genes
        Of these data or of others: they are found by their names.
    batch_size : int, default=256
        Cells in a block.
    batch_key : str, optional
        Column of ``data.obs`` that names the data set of each cell, for `BatchNMF`.

    Yields
    ------
    csr_array of shape (batch_size, n_genes)
        With ``batch_key`` a pair of that and the names of the data sets of these cells.
    """
    parts = scaled(data, genes, check_count("batch_size", batch_size))
    if batch_key is None:
        return parts
    names = np.asarray(data.obs[batch_key]).astype(str)
    cuts = range(batch_size, max(len(names), 1), batch_size)
    return zip(parts, np.split(names, cuts), strict=True)


def scaled(data: Any, genes: Genes, size: int, start: int = 0) -> Iterator[sp.csr_array]:
    """Yield the cells from one on in blocks, as `batches` does."""
    genes = found_in(data, genes)
    scale = sp.diags_array(1 / genes.deviation)
    # Whole batches a block, so that no batch reaches across two.
    for block in blocks(data, max(BLOCK_CELLS // size, 1) * size, start):
        rows = sp.csr_array(block[:, genes.places] @ scale, dtype=np.float32)
        for first in range(0, rows.shape[0], size):
            yield rows[first : first + size]


def blocks(data: Any, size: int, first: int = 0) -> Iterator[sp.csr_array]:
    """Yield rows of the matrix from one on, sparse, read from disk where it is there."""
    for start in range(first, data.n_obs, size):
        with reading("The data"):
            block = data.X[start : start + size]
        counts = sp.csr_array(checked_numbers(block, "The data"), dtype=np.float64)
        wrong = np.flatnonzero(~((counts.data >= 0) & (counts.data <= MOST_COUNT)))
        if len(wrong):
            place = int(wrong[0])
            cell = int(np.searchsorted(counts.indptr, place, side="right")) - 1
            raise InputError(
                f"Counts must lie between 0 and {MOST_COUNT:g}, got {counts.data[place]:g} of gene "
                f"{counts.indices[place]} in cell {start + cell}, both counted from 0."
            )
        yield counts


def _check_claims(path: Path, file: Any) -> None:
    """Hold what the arrays of an HDF5 file claim against the budget, before any is read."""

    def check(name: str, node: Any) -> None:
        """Refuse an array that lies elsewhere, and hold it against the budget."""
        if not hasattr(node, "dtype"):
            _check_links(path, node)
            return
        if node.external or node.is_virtual:
            raise InputError(f"{name!r} of {path} lies in other files; needed is one file.")
        on_disk = path.suffix == ".h5ad" and f"{name}/".startswith(("X/", "raw/X/"))
        _check_claim(path, name, node, on_disk)

    _check_links(path, file)
    file.visititems(check)


def _check_claim(path: Path, name: str, array: Any, on_disk: bool) -> None:
    """Hold one array against the budget; of the counts on disk only a block is in memory."""
    pointers = name.endswith("indptr")
    shape = (array.chunks or (0,)) if on_disk and not pointers else array.shape
    need(2.0 * math.prod(shape or ()) * array.dtype.itemsize, f"{name!r} of {path}")
    if pointers:
        rows = np.append(array[::BLOCK_CELLS], array[-1:]).astype(np.float64)
        need(16.0 * np.abs(np.diff(rows)).max(initial=0), f"A block of {name!r} of {path}")


def _check_links(path: Path, group: Any) -> None:
    for name in group:
        if hasattr(group.get(name, getlink=True), "filename"):
            raise InputError(f"{name!r} of {path} leads to another file; needed is one file.")


def _checked(path: Path, data: Any) -> Any:
    """Return AnnData whose counts have a row for each cell and a column for each gene."""
    if tuple(data.X.shape) != (data.n_obs, data.n_vars):
        raise InputError(
            f"{path} claims counts of shape {tuple(data.X.shape)} for {data.n_obs} cells and "
            f"{data.n_vars} genes."
        )
    return data


def _zarr(path: Path, anndata: Any) -> Any:
    group = library("zarr", "Zarr stores").open_group(path, mode="r")
    for name, node in group.members(max_depth=None):
        if hasattr(node, "dtype") and name.partition("/")[0] in ("X", *PARTS):
            _check_claim(path, name, node, name.startswith("X"))
    counts = group["X"]
    if not hasattr(counts, "dtype"):
        counts = anndata.io.sparse_dataset(counts)
    parts = {name: anndata.io.read_elem(group[name]) for name in PARTS if name in group}
    return _checked(path, anndata.AnnData(counts, **parts))


def _folder(path: Path, anndata: Any) -> Any:
    matrix = _one_of(path, "matrix.mtx")
    cells = _one_of(path, "barcodes.tsv")
    features = _one_of(path, "features.tsv", "genes.tsv")
    counts = read_matrix_market(matrix).T
    names = _first_columns(cells, 0, counts.shape[0])
    return _named(anndata, counts, names, _first_columns(features, 1, counts.shape[1]), path)


def _cell_ranger(path: Path, file: Any, anndata: Any) -> Any:
    if "matrix/features/name" not in file:
        raise InputError(f"{path} has no matrix/features/name, as Cell Ranger writes it.")
    part = file["matrix"]
    stored = tuple(part[name][:] for name in ("data", "indices", "indptr"))
    n_genes, n_cells = part["shape"][:]
    names = [part["features/name"][:], part["barcodes"][:]]
    genes, cells = ([name.decode() for name in found] for found in names)
    # Columns of genes x cells are rows of cells x genes.
    counts = checked_numbers(sp.csr_matrix(stored, shape=(n_cells, n_genes)), str(path))
    return _named(anndata, counts, cells, genes, path)


def _named(anndata: Any, counts: Any, cells: list[str], genes: list[str], path: Path) -> Any:
    if counts.shape != (len(cells), len(genes)):
        raise InputError(
            f"{path} has {counts.shape[0]} x {counts.shape[1]} counts, {len(cells)} cells and "
            f"{len(genes)} genes; they must agree."
        )
    data = anndata.AnnData(sp.csr_matrix(counts))
    data.obs_names, data.var_names = cells, genes
    data.var_names_make_unique()
    return data


def _one_of(folder: Path, *names: str) -> Path:
    for name in names:
        for found in (folder / name, folder / f"{name}.gz"):
            if found.is_file():
                return found
    raise InputError(f"{folder} has no {' and no '.join(names)}.")


def _first_columns(path: Path, column: int, n_rows: int) -> list[str]:
    """Return a column of a table with tabs, its only one where there is one.

    One row more than needed is read at most.
    """
    rows = [line.rstrip("\n").split("\t") for line in islice(text_lines(path), n_rows + 1)]
    return [row[min(column, len(row) - 1)] for row in rows]


ROWS = 512  # cells of a block


class Cells(Source):
    """Cells of a file as `atomstream.cells` reads them: each gene over its standard deviation.

    Codes need the deviations that atoms were learned with: set ``deviation`` for other cells.

    Parameters
    ----------
    path : pathlib.Path
    columns : sequence of str, default=()
        Names of genes, or their numbers from 1; by default the 2,000 that vary most for their mean.
    drop : sequence of str, default=()
        Genes that are left out.
    """

    has_columns = True
    row_names = ("cell",)
    deviation: NDArray

    def __init__(self, path: Path, columns: Sequence[str] = (), drop: Sequence[str] = ()) -> None:
        self._data = read(path)
        self._data.var_names_make_unique()
        with reading(str(path)):
            genes = named(self._data, columns) if columns else overdispersed(self._data)
            out = dropped(list(map(str, self._data.var_names)), drop, "The data")
            kept = ~np.isin(genes.places, out)
        self._choose(Genes(genes.places[kept], genes.names[kept], genes.deviation[kept]))
        self.name, self.files, self.n_rows = str(path), files_of(path), self._data.n_obs

    def take_columns(self, names: Sequence[str] | None, learned: str) -> None:
        """Take these genes in this order, where the cells have all of them."""
        if names is None or [*names] == self.names:
            return
        every, differs = list(map(str, self._data.var_names)), f"has different genes than {learned}"
        places = _places(every, names, self.name, differs)
        self._choose(_genes(self._data, places, _moments(self._data)[1]))

    def _choose(self, genes: Genes) -> None:
        self._genes, self.deviation = genes, genes.deviation
        self.names, self.n_features = genes.names.tolist(), len(genes.names)

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of cells."""
        cells = np.asarray(self._data.obs_names).astype(object)
        for X in scaled(self._data, replace(self._genes, deviation=self.deviation), ROWS, start):
            yield numbered(X, start, (cells[start : start + X.shape[0]],))
            start += X.shape[0]
