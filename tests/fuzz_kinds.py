"""What `fuzz.py` damages: small files of every kind that is read, and how each is read."""

import gzip
import hashlib
import io
import json
import re
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

import atomstream
from atomstream import cells
from atomstream.exceptions import InputError
from atomstream.fields.networks.edges import entries_of
from atomstream.fields.tensors.files import open_tensor
from atomstream.fields.text.documents import DocumentOptions, open_documents
from atomstream.fields.video.frames import as_frames
from atomstream.fields.walks.trips import read_states
from atomstream.files.archive import PREFIX
from atomstream.files.codec import read_model, write_model
from atomstream.io import open_inputs
from atomstream.io.series_table import read_series
from atomstream.runs.folder import RunFolder
from atomstream.watch.history import FIELDS, read_history

X = np.random.default_rng(0).random((7, 3)).round(3)


def json_lines():
    """Return rows as lines of JSON."""
    return "\n".join(json.dumps(row) for row in X.tolist()).encode()


SPARSE = sp.csr_array(X * (X > 0.5))
ARRAYS = {"data": "f8", "indices": "i4", "indptr": "i4", "shape": "i8"}
MEMBER = b"\0a member\0"


# -- files to damage


def saved(write, *arguments):
    file = io.BytesIO()
    write(file, *arguments)
    return file.getvalue()


def text(rows=X, header="a,b,c\n"):
    return (header + "\n".join(",".join(map(str, row)) for row in rows.tolist())).encode()


def image(kind):
    from PIL import Image

    pixels = Image.fromarray((np.random.default_rng(0).random((9, 8)) * 255).astype(np.uint8))
    return saved(lambda file: pixels.save(file, format=kind))


def parquet():
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(dict(zip("abc", X.T, strict=True)))
    return saved(lambda file: pq.write_table(table, file))


def hdf5():
    import h5py

    def write(file):
        with h5py.File(file, "w") as group:
            group.create_dataset("group/x", data=X, chunks=(2, 3), compression="gzip")
            group["about"] = "numbers"

    return saved(write)


def zarr():
    import zarr

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.zarr"
        zarr.create_array(str(path), data=X.reshape(7, 3, 1), chunks=(3, 3, 1))
        files = sorted(file for file in path.rglob("*") if file.is_file())
        named = [(str(file.relative_to(path)).encode(), file.read_bytes()) for file in files]
    return MEMBER.join(part for pair in named for part in pair)


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


def pages():
    from PIL import Image

    made = [Image.fromarray(np.full((4, 5), value, np.uint8)) for value in (3, 200, 90)]
    return saved(lambda f: made[0].save(f, format="tiff", save_all=True, append_images=made[1:]))


def models():
    rows = np.random.default_rng(0).random((30, 4))
    yield atomstream.OnlineNMF(2, random_state=0).fit(rows)
    yield atomstream.OnlineNMF(2, loss="kl", updater="majorise", random_state=0).fit(rows)
    yield atomstream.OnlineConvexMF(2, n_representatives=8, random_state=0).fit(sp.csr_array(rows))
    yield atomstream.OnlineCPDictionary(2, random_state=0).fit(rows.reshape(-1, 2, 2))
    yield atomstream.RandomWalkFactorization(2, random_state=0).fit([0, 1, 2, 1, 0, 2] * 9)
    network = atomstream.NetworkDictionary("path:3", 2, batch_size=9, random_state=0)
    yield network.fit(np.ones((5, 5)))


def model_file(model):
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder) / "m", model, {"seconds": 1.0})
        return (Path(folder) / "m").read_bytes()


# -- what is done with a file: an outcome, or an exception


def words(said):
    """What an error says, without its numbers and quotations."""
    return "Refused: " + re.sub(r"'.*?'|[\d.+-]+|x\.\w+", "", said)[:80]


def rows_of(path, **more):
    source = open_inputs([str(path)], **more)[0]
    blocks = [block.X for block in source.blocks(0, 0)]
    n_rows = sum(X.shape[0] for X in blocks)
    assert all(X.shape[1] == source.n_features for X in blocks)
    assert source.n_rows in (None, n_rows)
    later = sum(block.X.shape[0] for block in source.blocks(n_rows // 2, 0))
    assert later == n_rows - n_rows // 2, (later, n_rows)
    for X in blocks:
        assert X.dtype.kind in "fiub"
        if sp.issparse(X):
            X.check_format(full_check=True)
    return n_rows, source.n_features


def patches_of(path):
    options = atomstream.io.inputs.InputOptions(patch=3, per_image=9)
    return rows_of(path, options=options)


def skipped_of(path):
    return rows_of(path, options=atomstream.io.inputs.InputOptions(on_bad_line="skip"))


def edges_of(path):
    try:
        return type(entries_of(str(path))).__name__
    except ValueError as error:  # what people read in Python, too
        raise InputError(str(error)) from error


def frames_of(path):
    try:
        return sum(frame.size for frame in as_frames(str(path)))
    except ValueError as error:  # what people read in Python, too
        raise InputError(str(error)) from error


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


def history_of(path):
    trace = read_history(path)
    return len(trace.n_samples), trace.seconds, trace.recent


def tensor_of(path):
    tensor = open_tensor(path)
    return sum(block.X.shape[0] for block in tensor.blocks(0, 0)), tensor.shape


def model_of(path):
    """Load a model whose digest is right, whatever it says, and let it do its work."""
    model, _ = read_model(path)
    n_features = getattr(model, "n_features_in_", 0)
    try:
        if isinstance(model, atomstream.RandomWalkFactorization):
            return model.embedding_.shape, model.partial_fit([0, 1]).n_steps_ >= 0
        if isinstance(model, atomstream.NetworkDictionary):
            return model.partial_fit(np.ones((5, 5))).components_.shape
        if not 0 < n_features < 100:
            return "large"
        shape = model.axes_.shape if hasattr(model, "axes_") else (n_features,)
        rows = np.ones((2, *shape))
        return model.transform(rows).shape, model.partial_fit(rows).n_steps_ >= 0
    except (ValueError, TypeError) as error:
        return words(str(error))


def digested(data):
    """Give a damaged model file the digest of its content: behind it the checks begin."""
    if len(data) < PREFIX.size:
        return data
    prefix = PREFIX.unpack(data[: PREFIX.size])
    blank = PREFIX.pack(*prefix[:-1], bytes(32)) + data[PREFIX.size :]
    return PREFIX.pack(*prefix[:-1], hashlib.sha256(blank).digest()) + data[PREFIX.size :]


def run_of(name, data):
    folder = Path(tempfile.gettempdir()) / f"atomstream-fuzz-{name}"
    folder.mkdir(exist_ok=True)
    files = {
        "run.toml": b'inputs = ["x.csv"]\natoms = 2\n',
        "inputs.json": json.dumps({"run": "a", "inputs": [{"name": "x", "fingerprint": "0"}]}),
        "log.jsonl": b'{"event": "begin"}\n',
    }
    for file, content in files.items():
        content = content.encode() if isinstance(content, str) else content
        (folder / file).write_bytes(data if file == name else content)
    run = RunFolder(folder)
    return type(run.settings()).__name__, len(run.log.events()), run.load() is None


def packed(data):
    """Compress damaged content: behind the checksums the readers begin."""
    return gzip.compress(data, 1)


def rezipped(data):
    """Write the members of an archive again, with the checksums of their damaged content."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number, part in enumerate(data.split(b"\x93NUMPY")[1:]):
            names = ("data", "indices", "indptr", "shape", "format")
            name = names[number] if number < len(names) else f"more-{number}"
            archive.writestr(f"{name}.npy", b"\x93NUMPY" + part)
    return file.getvalue()


def zipped(data):
    """Write the parts of damaged content as the members of an archive."""
    file, parts = io.BytesIO(), data.split(MEMBER)
    names = (part.decode("latin-1").replace("\0", "") or "x" for part in parts[::2])
    contents = dict(zip(names, parts[1::2], strict=False))
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return file.getvalue()


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


def members(matrix):
    """The arrays of a sparse matrix as scipy writes them, one after the other."""
    parts = (matrix.data, matrix.indices, matrix.indptr, np.array(matrix.shape))
    return b"".join(saved(np.save, part) for part in (*parts, np.array(matrix.format.encode())))


# Name of the file, content, how it is read, and what is done to it after it was damaged.
KINDS = {
    "csv": ("x.csv", lambda: [text(), text(X, "")], rows_of, None),
    "csv, skipping": ("x.csv", lambda: [text()], skipped_of, None),
    "csv.gz": ("x.csv.gz", lambda: [text()], rows_of, packed),
    "gzip": ("x.csv.gz", lambda: [packed(text())], rows_of, None),
    "npy": ("x.npy", lambda: [saved(np.save, X), saved(np.save, X.astype("f4"))], rows_of, None),
    "npz": ("x.npz", lambda: [saved(np.savez_compressed, X), saved(np.savez, X)], rows_of, None),
    "sparse": ("x.npz", lambda: [members(SPARSE), members(SPARSE.tocsc())], rows_of, rezipped),
    "mtx": (
        "x.mtx",
        lambda: [saved(scipy.io.mmwrite, SPARSE), saved(scipy.io.mmwrite, X)],
        rows_of,
        None,
    ),
    "mtx.gz": ("x.mtx.gz", lambda: [saved(scipy.io.mmwrite, SPARSE)], rows_of, packed),
    "jsonl": ("x.jsonl", lambda: [json_lines()], rows_of, None),
    "parquet": ("x.parquet", lambda: [parquet()], rows_of, None),
    "hdf5": ("x.h5", lambda: [hdf5()], rows_of, None),
    "png": ("x.png", lambda: [image("png")], patches_of, None),
    "jpg": ("x.jpg", lambda: [image("jpeg")], patches_of, None),
    "tif": ("x.tif", lambda: [image("tiff")], patches_of, None),
    "tensor": ("x.npy", lambda: [saved(np.save, X.reshape(7, 3, 1))], tensor_of, None),
    "video": ("x.npy", lambda: [saved(np.save, np.zeros((3, 2, 2)))], frames_of, None),
    "video.npz": ("x.npz", lambda: [saved(np.savez, np.zeros((3, 2, 2)))], frames_of, None),
    "video.zarr": ("x.zarr.zip", lambda: [zarr()], frames_of, zipped),
    "video.tif": ("x.tif", lambda: [pages()], frames_of, None),
    "cells": ("x.h5", lambda: [cell_ranger()], cells_of, None),
    "cells.folder": ("x", lambda: [cell_folder()], folder_of, None),
    "cells.h5ad": ("x.h5ad", lambda: [h5ad()], cells_of, None),
    "cells.h5ad, arrays": (
        "x.h5ad",
        lambda: [MEMBER.join(np.array(getattr(SPARSE, n), t).tobytes() for n, t in ARRAYS.items())],
        cells_of,
        in_h5ad,
    ),
    "history": (
        "x.jsonl",
        lambda: [b"{%s}\n" % b",".join(b'"%s": 1' % name.encode() for name in FIELDS)],
        history_of,
        None,
    ),
    "series": (
        "x.csv",
        lambda: [text(np.c_[np.arange(7), X], "t,a,b,c\n"), b"t,a\n2020-01,1\n2020-02,2\n"],
        lambda path: read_series(path).values.shape,
        None,
    ),
    "documents": (
        "x.jsonl",
        lambda: [b'{"text": "a rose"}\n{"text": "the sea"}\n'],
        lambda path: len(list(open_documents((str(path),), DocumentOptions())[0])),
        None,
    ),
    "table of documents": (
        "x.csv",
        lambda: [b'text,x\n"a, rose",1\nthe sea,2\n'],
        lambda path: len(list(open_documents((str(path),), DocumentOptions(column="text"))[0])),
        None,
    ),
    "edges": (
        "x.txt",
        lambda: [b"1 2 0.5\n2 3 1\n# no\n3 1\n"],
        edges_of,
        None,
    ),
    "states": (
        "x.txt",
        lambda: [b"a\nb\na\n"],
        lambda path: sum(map(len, read_states(path, 0))),
        None,
    ),
    "run.toml": ("x", lambda: [b'inputs = ["x.csv"]\natoms = 2\nalpha = 0.5\n'], None, None),
    "inputs.json": ("x", lambda: [b'{"run": "a", "inputs": [{"fingerprint": "0"}]}'], None, None),
    "log.jsonl": ("x", lambda: [b'{"event": "begin", "time": "x"}\n{"event": 1}\n'], None, None),
    "model": ("m.atoms", lambda: list(map(model_file, models())), model_of, digested),
    "damaged model": ("m.atoms", lambda: list(map(model_file, models())), model_of, None),
}
