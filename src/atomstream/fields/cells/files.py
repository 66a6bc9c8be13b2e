"""Files of counts of genes in cells: AnnData, which stay on disk, and those of Cell Ranger."""

import math
import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import checked_numbers, library
from atomstream.exceptions import DataWarning, InputError
from atomstream.io.arrays import chosen, read_matrix_market
from atomstream.io.hdf5 import opened
from atomstream.io.source import existing, log, need, reading
from atomstream.io.texts import text_lines

BLOCK_CELLS = 4096  # cells
PARTS = ("obs", "var", "uns", "obsm", "varm", "obsp", "varp")  # of a store, beside the counts
ON_DISK = ("X/", "raw/X/", "layers/")  # of a store: what is read block by block
OF_GENES = "Gene Expression"  # what Cell Ranger calls the type of features that are genes
ENTRIES_JUDGED, CELLS_JUDGED = 100_000, 100  # first ones, by which counts are known


def read(path: str | Path, key: str | None = None) -> Any:
    """Open counts of genes in cells as AnnData.

    Features that Cell Ranger does not call genes, such as antibodies, are left out.

    Parameters
    ----------
    path : path
        An ``.h5ad`` file or a Zarr store of AnnData, whose matrix stays on disk (of a store layers
        are left there); a ``.h5`` file or a folder with ``matrix.mtx``, ``barcodes.tsv`` and
        ``features.tsv``, each perhaps with ``.gz`` and one prefix, as Cell Ranger writes them.
    key : str, optional
        Of AnnData the matrix to read: "X", the default, a layer such as "layers/counts", or
        "raw/X" with its own genes. Of Cell Ranger's files the type of features, by default "Gene
        Expression".

    Returns
    -------
    AnnData
        Cells in rows.

    Raises
    ------
    InputError
        For other paths and keys, and files that are damaged.
    MissingLibraryError
        Without anndata: ``pip install 'atomstream[cells]'``.

    Warns
    -----
    DataWarning
        Where ``X`` was logged, and no key was given.
    """
    path, anndata = existing(path), library("anndata", "AnnData files")
    with reading(str(path)):
        if path.is_dir():
            if any((path / name).is_file() for name in ("zarr.json", ".zgroup")):
                group = library("zarr", "Zarr stores").open_group(path, mode="r")
                return _stored(path, group, key, anndata)
            return _folder(path, key, anndata)
        if path.suffix == ".h5":
            with opened(path, contents=True) as file:
                _check_claims(path, file, key)
                return _cell_ranger(path, file, key, anndata)
        if path.suffix == ".h5ad":
            file = opened(path, contents=True)  # which stays open where a key is given
            _check_claims(path, file, key)
            if key is not None:
                return _stored(path, file, key, anndata)
            with file:
                _tell_logged(path, file)
            return _checked(path, anndata.read_h5ad(path, backed="r"))
    raise InputError(
        f"{path} must end in .h5ad or .h5, or be a Zarr store or a folder with matrix.mtx."
    )


def instead(data: Any) -> str:
    """Return what to give in place of AnnData, MuData, or a sparse matrix of AnnData on disk."""
    if hasattr(data, "mod"):
        first = next(iter(data.mod), "rna")
        return f"give one of its parts, such as mdata[{first!r}].X"
    if not hasattr(data, "obs_names"):
        return "give adata.X, of data on disk adata.to_memory().X, or rows in blocks to fit_stream"
    layer = next(iter(getattr(data, "layers", ())), None)
    other = "" if layer is None else f", or a layer such as adata.layers[{layer!r}]"
    if getattr(data, "isbacked", False):
        return f"give adata.to_memory().X{other}, or atomstream.cells.batches to fit_stream"
    return f"give adata.X{other}"


def check_logged(name: str, matrices: Mapping[str, Any], is_marked: bool, advice: str) -> None:
    """Warn where ``X`` holds no counts, though they lie beside it or it is marked as logged.

    Parameters
    ----------
    name : str
        What holds the matrices.
    matrices : mapping of str to array or sparse matrix
        ``X``, and others by their keys.
    is_marked : bool
        Whether something says that ``X`` was logged.
    advice : str
        What to do to learn from another matrix, with a place for its key.
    """
    if "X" not in matrices or _are_counts(matrices["X"]):
        return
    counts = [key for key in matrices if key != "X" and _are_counts(matrices[key])]
    if counts or is_marked:
        how = advice.format(counts[0]) if counts else "give them as they were before"
        was = "was logged (uns has 'log1p')" if is_marked else "does not hold whole numbers"
        warnings.warn(f"X of {name} {was}; to learn from counts {how}.", DataWarning, stacklevel=3)


def _are_counts(matrix: Any) -> bool:
    """Return whether the first entries of a matrix, which may be on disk, are whole numbers."""
    if sp.issparse(matrix):
        values = matrix.data[:ENTRIES_JUDGED]
    elif hasattr(matrix, "dtype"):
        values = np.asarray(matrix[:CELLS_JUDGED])
    else:
        values = matrix["data"][:ENTRIES_JUDGED]
    return np.array_equal(values, np.floor(values))


def genes_among(types: NDArray) -> tuple[NDArray, str]:
    """Return which features are genes by their types, and what is said of others.

    All are, where none is called so.
    """
    is_gene = types == OF_GENES
    others = ", ".join(np.unique(types[~is_gene])[:3])
    if is_gene.all() or not is_gene.any():
        return np.ones(len(types), bool), ""
    return is_gene, f"{(~is_gene).sum():,} features that are no genes left out ({others:.60})"


def _check_claims(path: Path, file: Any, key: str | None) -> None:
    """Hold what the arrays of an HDF5 file claim against the budget, before any is read."""
    # Without a key layers are read as a whole.
    on_disk = ON_DISK[: 2 if key is None else 3]

    def check(name: str, node: Any) -> None:
        """Refuse an array that lies elsewhere, and hold it against the budget."""
        if not hasattr(node, "dtype"):
            _check_links(path, node)
            return
        if node.external or node.is_virtual:
            raise InputError(f"{name!r} of {path} lies in other files; needed is one file.")
        stays = path.suffix == ".h5ad" and f"{name}/".startswith(on_disk)
        _check_claim(path, name, node, stays)

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


def _matrices(group: Any) -> dict[str, Any]:
    """Return the matrices of cells of a stored AnnData by their keys."""
    layers = (f"layers/{name}" for name in group.get("layers", ()))
    return {key: group[key] for key in ("X", *layers, "raw/X") if key in group}


def _tell_logged(path: Path, group: Any) -> None:
    advice = "give key='{0}' (on the command line --key {0})"
    check_logged(str(path), _matrices(group), "uns/log1p" in group, advice)


def _stored(path: Path, group: Any, key: str | None, anndata: Any) -> Any:
    """Return one matrix of a stored AnnData, which stays there, with what describes it."""
    if hasattr(group, "members"):  # of Zarr
        for name, node in group.members(max_depth=None):
            if hasattr(node, "dtype"):
                _check_claim(path, name, node, f"{name}/".startswith(ON_DISK))
    if key is None:
        _tell_logged(path, group)
    matrices = _matrices(group)
    counts = matrices[chosen(path, matrices, key or "X")]
    raw = "raw/" * (key == "raw/X")
    parts = {name: raw + name if name.startswith("var") else name for name in PARTS}
    if not hasattr(counts, "dtype"):
        counts = anndata.io.sparse_dataset(counts)
    found = {name: anndata.io.read_elem(group[at]) for name, at in parts.items() if at in group}
    return _checked(path, anndata.AnnData(counts, **found))


def _folder(path: Path, key: str | None, anndata: Any) -> Any:
    matrix, prefix = _matrix_of(path)
    cells = _one_of(path, prefix, "barcodes.tsv")
    features = _one_of(path, prefix, "features.tsv", "genes.tsv")
    counts = read_matrix_market(matrix).T
    names, columns = _fields(cells, counts.shape[0]), _fields(features, counts.shape[1])
    genes = [row[min(1, len(row) - 1)] for row in columns]
    types = [row[2] for row in columns if len(row) > 2]
    return _named(anndata, counts, ([row[0] for row in names], genes, types), path, key)


def _cell_ranger(path: Path, file: Any, key: str | None, anndata: Any) -> Any:
    if "matrix/features/name" not in file:
        raise InputError(f"{path} has no matrix/features/name, as Cell Ranger writes it.")
    part = file["matrix"]
    stored = tuple(part[name][:] for name in ("data", "indices", "indptr"))
    n_genes, n_cells = part["shape"][:]
    places = ("barcodes", "features/name", "features/feature_type")
    texts = [part[place][:] if place in part else () for place in places]
    names = [[name.decode() for name in found] for found in texts]
    # Columns of genes x cells are rows of cells x genes.
    counts = checked_numbers(sp.csr_matrix(stored, shape=(n_cells, n_genes)), str(path))
    return _named(anndata, counts, names, path, key)


def _named(anndata: Any, counts: Any, names: Sequence[list[str]], path: Path, key: Any) -> Any:
    """Return AnnData of the names of cells, and names and types of features."""
    cells, genes, types = names
    if counts.shape != (len(cells), len(genes)):
        raise InputError(
            f"{path} has {counts.shape[0]} x {counts.shape[1]} counts, {len(cells)} cells and "
            f"{len(genes)} genes; they must agree."
        )
    data = anndata.AnnData(sp.csr_matrix(counts))
    data.obs_names, data.var_names = cells, genes
    if len(types) == len(genes):
        data.var["feature_types"] = types
        data = _of_type(path, data, np.array(types), key)
    elif key is not None:
        raise InputError(f"{path} does not tell types of features, of which key={key!r} is one.")
    data.var_names_make_unique()
    return data


def _of_type(path: Path, data: Any, types: NDArray, key: str | None) -> Any:
    """Return the features of a type, by default genes."""
    if key is not None:
        return data[:, types == chosen(path, dict.fromkeys(types.tolist()), key)].copy()
    is_gene, said = genes_among(types)
    if said:
        log.info("%s: %s.", path, said)
    return data[:, is_gene].copy() if said else data


def _matrix_of(folder: Path) -> tuple[Path, str]:
    """Return the file of counts in a folder, and the prefix of its name."""
    name = "matrix.mtx"
    found = [file for end in (name, f"{name}.gz") for file in sorted(folder.glob(f"*{end}"))]
    found = [file for file in found if file.name.startswith(name)] or found
    prefixes = sorted({file.name[: file.name.rindex(name)] for file in found})
    if len(prefixes) > 1:
        raise InputError(
            f"{folder} has several files {name}, with the prefixes {', '.join(prefixes):.200}; "
            "needed is a folder for each."
        )
    if not found:
        raise InputError(f"{folder} has no {name}.")
    return found[0], prefixes[0]


def _one_of(folder: Path, prefix: str, *names: str) -> Path:
    for name in names:
        for found in (folder / f"{prefix}{name}", folder / f"{prefix}{name}.gz"):
            if found.is_file():
                return found
    raise InputError(f"{folder} has no {' and no '.join(prefix + name for name in names)}.")


def _fields(path: Path, n_rows: int) -> list[list[str]]:
    """Return the fields of the lines of a table with tabs, one line more than needed at most."""
    lines = islice(text_lines(path), n_rows + 1)
    return [line.rstrip("\r\n").split("\t") for line in lines]
