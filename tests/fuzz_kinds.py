"""What `fuzz.py` damages: small files of every kind that is read, and how each is read."""

import gzip
import hashlib
import io
import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp
from cases import of_fields
from fuzz_files import ROWS, SPARSE, X, saved, text, words

import atomstream
from atomstream.files.archive import PREFIX
from atomstream.files.codec import read_model, write_model
from atomstream.io import open_inputs
from atomstream.io.series_table import read_series
from atomstream.runs.folder import RunFolder
from atomstream.watch.history import FIELDS, read_history


def json_lines():
    """Return rows as lines of JSON."""
    return "\n".join(json.dumps(row) for row in X.tolist()).encode()


# -- files to damage


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


# Models by their classes, and what each does after it was loaded; None for the work of rows.
MODELS = {
    "OnlineNMF": (lambda: atomstream.OnlineNMF(2, random_state=0).fit(ROWS), None),
    "OnlineNMF of another loss": (
        lambda: atomstream.OnlineNMF(2, loss="kl", updater="majorise", random_state=0).fit(ROWS),
        None,
    ),
    **of_fields("damaged_models"),
}


def model_file(model):
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder) / "m", model, {"seconds": 1.0})
        return (Path(folder) / "m").read_bytes()


def model_files():
    return [model_file(learned()) for learned, _ in MODELS.values()]


# -- what is done with a file: an outcome, or an exception


def rows_of(path, **more):
    source = open_inputs([str(path)], **more)[0]
    blocks = [block.X for block in source.blocks(0, 0)]
    n_rows = sum(X.shape[0] for X in blocks)
    assert all(X.shape[1] == source.n_features for X in blocks)
    assert source.n_rows in (None, n_rows)
    later = sum(block.X.shape[0] for block in source.blocks(n_rows // 2, 0))
    assert later == n_rows - n_rows // 2, (later, n_rows)
    for rows in blocks:
        assert rows.dtype.kind in "fiub"
        if sp.issparse(rows):
            rows.check_format(full_check=True)
    return n_rows, source.n_features


def patches_of(path):
    options = atomstream.io.inputs.InputOptions(patch=3, per_image=9)
    return rows_of(path, options=options)


def skipped_of(path):
    return rows_of(path, options=atomstream.io.inputs.InputOptions(on_bad_line="skip"))


def history_of(path):
    trace = read_history(path)
    return len(trace.n_samples), trace.seconds, trace.recent


def model_of(path):
    """Load a model whose digest is right, whatever it says, and let it do its work."""
    model, _ = read_model(path)
    n_features = getattr(model, "n_features_in_", 0)
    try:
        if works := MODELS.get(type(model).__name__, (None, None))[1]:
            return works(model)
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
    "run.toml": ("x", lambda: [b'inputs = ["x.csv"]\natoms = 2\nalpha = 0.5\n'], None, None),
    "inputs.json": ("x", lambda: [b'{"run": "a", "inputs": [{"fingerprint": "0"}]}'], None, None),
    "log.jsonl": ("x", lambda: [b'{"event": "begin", "time": "x"}\n{"event": 1}\n'], None, None),
    "model": ("m.atoms", model_files, model_of, digested),
    "damaged model": ("m.atoms", model_files, model_of, None),
    **of_fields("damaged"),
}
