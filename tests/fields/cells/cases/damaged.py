"""Files of counts of cells, damaged by `fuzz.py`, and how each is read."""

import io
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp
from fuzz_files import MEMBER, SPARSE, X, saved

from atomstream import cells
from atomstream.exceptions import InputError

ARRAYS = {"data": "f8", "indices": "i4", "indptr": "i4", "shape": "i8"}


def cell_ranger():
    import h5py

    def write(file):
        with h5py.File(file, "w") as group:
            for part in ("data", "indices", "indptr"):
                group[f"matrix/{part}"] = getattr(SPARSE, part)
            group["matrix/shape"] = SPARSE.shape[::-1]
            group["matrix/barcodes"] = np.array([f"c{n}" for n in range(len(X))], "S")
            group["matrix/features/name"] = np.array(["a", "b", "c"], "S")

    return saved(write)


def cell_folder():
    matrix = saved(scipy.io.mmwrite, SPARSE.T)
    names = [f"c{n}".encode() for n in range(len(X))], [b"1\ta", b"2\tb", b"3\tc"]
    return MEMBER.join([matrix, *(b"\n".join(part) + b"\n" for part in names)])


@cache
def h5ad():
    import anndata

    with tempfile.TemporaryDirectory() as folder:
        anndata.AnnData(sp.csr_matrix(SPARSE)).write_h5ad(Path(folder) / "x.h5ad")
        return (Path(folder) / "x.h5ad").read_bytes()


def cells_of(path):
    data = cells.read(path)
    try:
        genes = cells.overdispersed(data, 2)
        return tuple(block.sum() for block in cells.batches(data, genes))
    except ValueError as error:  # what people read in Python, too
        raise InputError(str(error)) from error
    finally:
        if data.isbacked:
            data.file.close()


def folder_of(path):
    """Read counts in a folder, as Cell Ranger writes it: the parts of the content are its files."""
    folder = path.parent / "cells"
    folder.mkdir(exist_ok=True)
    parts = path.read_bytes().split(MEMBER)
    for name, part in zip(("matrix.mtx", "barcodes.tsv", "features.tsv"), parts, strict=False):
        (folder / name).write_bytes(part)
    return cells_of(folder)


def in_h5ad(data):
    """Put damaged arrays into a healthy file."""
    import h5py

    file, parts = io.BytesIO(h5ad()), data.split(MEMBER)
    with h5py.File(file, "a") as group:
        for (name, dtype), part in zip(ARRAYS.items(), parts, strict=False):
            part = part[: len(part) // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize]
            if name == "shape":
                group["X"].attrs["shape"] = np.frombuffer(part, dtype)
                continue
            del group[f"X/{name}"]
            group[f"X/{name}"] = np.frombuffer(part, dtype)
    return file.getvalue()


CASES = {
    "cells": ("x.h5", lambda: [cell_ranger()], cells_of, None),
    "cells.folder": ("x", lambda: [cell_folder()], folder_of, None),
    "cells.h5ad": ("x.h5ad", lambda: [h5ad()], cells_of, None),
    "cells.h5ad, arrays": (
        "x.h5ad",
        lambda: [MEMBER.join(np.array(getattr(SPARSE, n), t).tobytes() for n, t in ARRAYS.items())],
        cells_of,
        in_h5ad,
    ),
}
