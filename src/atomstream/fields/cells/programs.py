"""Programs and usages back into AnnData, and as the tables that other tools read."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from atomstream.base import as_known, known_names, of_sum_one, order_of
from atomstream.exceptions import InputError
from atomstream.fields.cells.counts import Genes, batches, blocks, found_in, genes_of
from atomstream.fields.cells.files import BLOCK_CELLS


def annotate(
    data: Any, model: Any, genes: Genes, *, key: str = "programs", batch_key: str | None = None
) -> None:
    """Put usages into ``obsm`` and programs into ``varm`` of AnnData, in place.

    Parameters
    ----------
    data : AnnData
        All cells are coded, block by block. Data on disk keep what is added in memory.
    model : ConsensusNMF, OnlineNMF, BatchNMF
        Learned from ``batches(data, genes)``.
    genes : Genes
    key : str, default="programs"
        ``obsm[f"X_{key}"]`` holds the usages of each cell, of sum one, and ``obs[f"{key}_total"]``
        what they were divided by; ``varm[key]`` the programs, in units of the counts, and
        ``var[f"{key}_deviation"]`` the deviations of the genes, both NaN for genes that were not
        learned from; ``uns[key]`` the stability of the programs and the reason of the choice, where
        the model knows them.
    batch_key : str, optional
        For `BatchNMF`: as in `batches`.

    Raises
    ------
    ValueError
        For a model of other genes.
    """
    genes = found_in(data, _learned(model, genes))
    if batch_key is None:
        coded = [model.transform(as_known(model, block)) for block in batches(data, genes)]
    else:
        pairs = batches(data, genes, batch_key=batch_key)
        coded = [model.transform(as_known(model, block), batch=names) for block, names in pairs]
    usages = np.concatenate(coded)
    totals = usages.sum(axis=1, keepdims=True)
    programs = np.full((data.n_vars, usages.shape[1]), np.nan)
    deviation = np.full(data.n_vars, np.nan)
    deviation[genes.places] = genes.deviation
    # Learned in standard deviations, and given in counts.
    programs[genes.places] = (model.components_ * genes.deviation).T
    data.obsm[f"X_{key}"] = usages / np.where(totals > 0, totals, 1)
    data.obs[f"{key}_total"] = totals[:, 0]
    data.varm[key], data.var[f"{key}_deviation"] = programs, deviation
    if hasattr(model, "stability_"):
        data.uns[key] = {"stability": model.stability_, "reason": model.choice_.reason}


def top_genes(model: Any, genes: Genes, n_genes: int = 10) -> Any:
    """Return the genes that weigh most in each program as a table, the first one most.

    Parameters
    ----------
    model : ConsensusNMF, OnlineNMF
        Learned from ``batches(data, genes)``.
    genes : Genes
    n_genes : int, default=10

    Returns
    -------
    pandas.DataFrame of shape (n_genes, n_programs)
        Names, by weights in standard deviations, in which programs are learned.

    Raises
    ------
    ValueError
        For a model of other genes.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import OnlineNMF, cells
    >>> genes = cells.Genes(np.arange(3), np.array(["CD3E", "MS4A1", "LYZ"]), np.ones(3))
    >>> model = OnlineNMF.from_components([[0.1, 0.9, 0.2], [0.8, 0.3, 0.5]])
    >>> print(cells.top_genes(model, genes, 2).to_string())
      program_0 program_1
    0     MS4A1      CD3E
    1       LYZ       LYZ
    """
    genes = _learned(model, genes)
    order = np.argsort(-model.components_, axis=1, kind="stable")[:, :n_genes]
    columns = {f"program_{number}": genes.names[row] for number, row in enumerate(order)}
    import pandas as pd  # loaded where a frame is made

    return pd.DataFrame(columns)


def _learned(model: Any, genes: Genes) -> Genes:
    """Return genes in the order in which a model has learned from them, if it knows their names."""
    if model.components_.shape[1] != len(genes.places):
        raise ValueError(
            f"The model has {model.components_.shape[1]} features, genes has {len(genes.places)}; "
            "they must agree."
        )
    differs = "has other names than the features of the model"
    order = order_of(genes.names.tolist(), known_names(model), "genes", differs)
    known = genes.places, genes.names, genes.deviation
    return genes if order is None else Genes(*(each[order] for each in known))


MILLION = 1e6  # counts that a cell has in "transcripts per million"


def write_tables(
    folder: str | Path, data: Any, *, key: str = "programs", name: str = "atomstream"
) -> list[Path]:
    """Write usages and programs as the tables of the common pipeline of consensus NMF.

    Its functions that load and plot results read them. Beside usages and spectra these are, for all
    genes, spectra in transcripts per million and scores, the coefficients of usages in a regression
    of standardised transcripts. The cells are read once, block by block.

    Parameters
    ----------
    folder : path
        The output folder of the pipeline; a folder ``name`` is made in it, with
        ``<name>.usages.k_<k>.dt_0_5.consensus.txt`` (cells x programs), and
        ``<name>.spectra.k_<k>.dt_0_5.consensus.txt``,
        ``<name>.gene_spectra_score.k_<k>.dt_0_5.txt`` and
        ``<name>.gene_spectra_tpm.k_<k>.dt_0_5.txt`` (programs x genes), with tabs, and
        ``<name>.overdispersed_genes.txt``.
    data : AnnData
        Counts, after `annotate`.
    key : str, default="programs"
        As in `annotate`.
    name : str, default="atomstream"

    Returns
    -------
    list of pathlib.Path

    Raises
    ------
    InputError
        Where there is no such folder.
    ValueError
        For data that were not annotated.

    References
    ----------
    Kotliar et al. (2019), "Identifying gene expression programs of cell-type identity and cellular
    activity with single-cell RNA-Seq", eLife 8, e43803.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    if f"X_{key}" not in data.obsm:
        raise ValueError(f"data has no obsm['X_{key}']; call annotate first.")
    (folder / name).mkdir(exist_ok=True)
    shares = np.asarray(data.obsm[f"X_{key}"], dtype=np.float64)
    programs = np.asarray(data.varm[key])
    usages = shares * np.asarray(data.obs[f"{key}_total"])[:, None]
    learned = ~np.isnan(programs).any(axis=1)
    spectra = (programs[learned] / np.asarray(data.var[f"{key}_deviation"])[learned, None]).T
    scores, transcripts = _on_all_genes(data, usages, shares)
    k, numbers = usages.shape[1], [str(number + 1) for number in range(usages.shape[1])]
    genes = data.var_names
    tables = {
        f"usages.k_{k}.dt_0_5.consensus": (numbers, data.obs_names, usages),
        f"spectra.k_{k}.dt_0_5.consensus": (genes[learned], numbers, of_sum_one(spectra)),
        f"gene_spectra_score.k_{k}.dt_0_5": (genes, numbers, scores),
        f"gene_spectra_tpm.k_{k}.dt_0_5": (genes, numbers, transcripts),
    }
    written = [folder / name / f"{name}.{table}.txt" for table in tables]
    for path, (heads, names, values) in zip(written, tables.values(), strict=True):
        _write(path, list(heads), names, values)
    written.append(folder / name / f"{name}.overdispersed_genes.txt")
    written[-1].write_text("\n".join(genes[learned]), encoding="utf-8")
    return written


def _on_all_genes(data: Any, usages: NDArray, shares: NDArray) -> tuple[NDArray, NDArray]:
    """Return scores and spectra in transcripts per million, each (n_programs, n_genes)."""
    n_cells, k = usages.shape
    total, squares = np.zeros(data.n_vars), np.zeros(data.n_vars)
    by_usage, by_share = np.zeros((data.n_vars, k)), np.zeros((data.n_vars, k))
    start, is_gene = 0, genes_of(data)[0].astype(np.float64)
    for counts in blocks(data, BLOCK_CELLS):
        cells = slice(start, start + counts.shape[0])
        depth = counts @ is_gene
        rows = counts.multiply((MILLION / np.where(depth > 0, depth, 1))[:, None]).tocsr()
        total += np.asarray(rows.sum(axis=0)).ravel()
        squares += np.asarray(rows.multiply(rows).sum(axis=0)).ravel()
        by_usage += rows.T @ usages[cells]
        by_share += rows.T @ shares[cells]
        start = cells.stop
    mean = total / n_cells
    deviation = np.sqrt(np.maximum(squares / n_cells - mean**2, 0))
    # Sums of (x - mean) times usage, from the sums of x times usage.
    centred = by_usage - np.outer(mean, usages.sum(axis=0))
    centred /= np.where(deviation > 0, deviation, 1)[:, None]
    # Least squares of standardized genes on usages, by the normal equations.
    scores: NDArray = np.linalg.pinv(usages.T @ usages) @ centred.T
    # Least squares with the triangle R of the shares: R'R is their Gram matrix.
    triangle: NDArray = scipy.linalg.qr(shares, mode="economic")[1]
    sides = scipy.linalg.lstsq(triangle.T, by_share.T)[0]
    transcripts = np.array([scipy.optimize.nnls(triangle, side)[0] for side in sides.T]).T
    return scores, transcripts


def _write(path: Path, heads: Sequence[str], names: Iterable[str], values: NDArray) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["", *heads])
        writer.writerows([row, *cells] for row, cells in zip(names, values.tolist(), strict=True))
