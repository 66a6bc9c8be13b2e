"""Counts of genes in cells, read in blocks: what varies more than its mean explains."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import check_count, checked_numbers, order_of
from atomstream.exceptions import InputError
from atomstream.fields.cells.files import BLOCK_CELLS, OF_GENES, check_logged, genes_among, read
from atomstream.io.column_names import chosen, dropped
from atomstream.io.input_options import InputOptions
from atomstream.io.source import Block, Source, files_of, log_guesses, numbered, reading

MOST_COUNT = 1e15  # beyond which sums of squares lose what tells counts apart
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

    Warns
    -----
    DataWarning
        Where ``X`` in memory was logged: ``log1p`` is in ``uns``, or its entries are not whole
        numbers and those of a layer or of ``raw`` are.
    """
    wanted = check_count("n_genes", n_genes)
    _tell_logged(data)
    mean, variance = _moments(data)
    is_gene, said = genes_of(data)
    log_guesses("The data", {"feature_types": (OF_GENES, said)} if said else {})
    seen = np.flatnonzero(is_gene & (mean > 0) & (variance > 0))
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
    _tell_logged(data)
    places = chosen(list(map(str, data.var_names)), columns, "The data")
    return _genes(data, np.array(places), _moments(data)[1])


def genes_of(data: Any) -> tuple[NDArray, str]:
    """Return which features are genes, and what is said of others, as `genes_among` does."""
    if "feature_types" not in data.var:
        return np.ones(data.n_vars, bool), ""
    return genes_among(np.asarray(data.var["feature_types"]).astype(str))


def _tell_logged(data: Any) -> None:
    """Warn of AnnData in memory whose ``X`` was logged; of others it is said as they are opened."""
    if isinstance(data.X, np.ndarray) or sp.issparse(data.X):
        layers = {f"layers[{name!r}]": data.layers[name] for name in data.layers}
        raw = {} if data.raw is None else {"raw.to_adata().X": data.raw.X}
        advice = "give AnnData with data.{0} as X"
        check_logged("the data", {"X": data.X, **layers, **raw}, "log1p" in data.uns, advice)


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
    key : str, optional
        As in `read`.
    """

    has_columns = True
    uses = frozenset({"key"})
    row_names = ("cell",)
    deviation: NDArray

    def __init__(
        self,
        path: Path,
        columns: Sequence[str] = (),
        drop: Sequence[str] = (),
        key: str | None = None,
    ) -> None:
        self._data = read(path, key)
        self._data.var_names_make_unique()
        if not columns and (said := genes_of(self._data)[1]):
            self.guesses = {"columns": (OF_GENES, said)}
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


def opened(path: Path, how: InputOptions) -> Cells:
    """Return the cells of a file, as the options of reading say."""
    return Cells(path, how.columns, how.drop, how.key)
