"""Damage files, read them, and look for anything but rows or one sentence.

A script: ``python tests/fuzz.py --seconds 600`` (``make fuzz``); `tests/test_fuzz.py` runs a slice.
Small files of every kind that is read are cut, spliced and overwritten. A damaged file that leads
to an outcome that no other one has led to (another sentence, another number of rows) is damaged
further. Each case follows from the seed and its number: ``--first N --cases 1`` repeats one.
"""

import argparse
import gzip
import hashlib
import io
import json
import random
import re
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

import atomstream
from atomstream.domains.walks.trip_files import read_states
from atomstream.exceptions import InputError, ModelFileError
from atomstream.io import budget, open_inputs
from atomstream.io.archive import PREFIX
from atomstream.io.codec import read_model, write_model
from atomstream.io.documents import DocumentOptions, open_documents
from atomstream.io.edges import entries_of
from atomstream.io.series_table import read_series
from atomstream.io.tensors import open_tensor
from atomstream.io.video import open_video
from atomstream.runs.folder import RunFolder

REFUSED = (InputError, ModelFileError)
POOL = 60  # damaged files of each kind that are damaged further
SLOW = 20.0  # seconds that no case may take
X = np.random.default_rng(0).random((7, 3)).round(3)
TOKENS = [
    b"\n", b",", b"\0", b'"', b"-1", b"1e999", b"nan", b"inf", b"99999999999999999999", b"\xff\xfe",
    b"[" * 300, b"{", b"}", b"null", b"true", b"%", b"\r\n", b"\t", b";", b"=", b"0x1", b"1_000",
    b"\x7f\xff\xff\xff\xff\xff\xff\xff", b"\xff" * 8, b"\x00" * 8, b"(", b"2**40", "雪".encode(),
]  # fmt: skip


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


def models():
    rows = np.random.default_rng(0).random((30, 4))
    yield atomstream.OnlineNMF(2, random_state=0).fit(rows)
    yield atomstream.OnlineNMF(2, loss="kl", method="majorise", random_state=0).fit(rows)
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
    return rows_of(path, options=atomstream.io.inputs.InputOptions(skip=True))


def edges_of(path):
    try:
        return type(entries_of(str(path))).__name__
    except ValueError as error:  # what people read in Python, too
        raise InputError(str(error)) from error


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
        return words(error)


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


SPARSE = sp.csr_array(X * (X > 0.5))
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
    "parquet": ("x.parquet", lambda: [parquet()], rows_of, None),
    "hdf5": ("x.h5", lambda: [hdf5()], rows_of, None),
    "png": ("x.png", lambda: [image("png")], patches_of, None),
    "jpg": ("x.jpg", lambda: [image("jpeg")], patches_of, None),
    "tif": ("x.tif", lambda: [image("tiff")], patches_of, None),
    "tensor": ("x.npy", lambda: [saved(np.save, X.reshape(7, 3, 1))], tensor_of, None),
    "video": (
        "x.npy",
        lambda: [saved(np.save, np.zeros((3, 2, 2)))],
        lambda path: len(list(open_video(path).images(0))),
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


# -- damage


def damaged(data, rng, pool):
    """Return data that were cut, spliced, overwritten or made larger, one to four times."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        place = rng.randrange(len(data) + 1)
        how = rng.randrange(8)
        length = rng.choice((1, 1, 2, 4, 8, 30))
        if how == 0 and data:
            data[place % len(data)] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[place : place + length] = rng.randbytes(length)
        elif how == 2:
            del data[place : place + length]
        elif how == 3:
            data[place:place] = rng.choice(TOKENS)
        elif how == 4:
            token = rng.choice(TOKENS)
            data[place : place + len(token)] = token
        elif how == 5:
            data[place:place] = data[place : place + length] * rng.choice((1, 2, 50))
        elif how == 6:
            other = rng.choice(pool)
            data[place:] = other[rng.randrange(len(other) + 1) :]
        else:
            number = re.search(rb"\d+", bytes(data[place:]))
            if number:
                begin, end = (place + n for n in number.span())
                values = (b"0", b"1", b"-1", b"2", b"4294967296", b"9223372036854775807")
                data[begin:end] = rng.choice(values)
    return bytes(data[: 1 << 16])


def words(error):
    """What an error says, without its numbers and quotations."""
    return type(error).__name__ + re.sub(r"'.*?'|[\d.+-]+|x\.\w+", "", str(error))[:80]


class Fuzz:
    """Cases that follow from a seed.

    Parameters
    ----------
    seed : int
    kinds : sequence of str
    folder : path
    """

    def __init__(self, seed, kinds, folder):
        self.seed, self.kinds, self.folder = seed, list(kinds), Path(folder)
        self.pools = {kind: KINDS[kind][1]() for kind in self.kinds}
        self.seeds = {kind: len(pool) for kind, pool in self.pools.items()}
        self.outcomes = {kind: Counter() for kind in self.kinds}

    def case(self, number):
        """Run a case; return a complaint, or None."""
        rng = random.Random(self.seed * 2**40 + number)
        kind = self.kinds[number % len(self.kinds)]
        name, _, read, after = KINDS[kind]
        pool = self.pools[kind]
        data = damaged(rng.choice(pool), rng, pool)
        written = data if after is None else after(data)
        path = self.folder / name
        path.write_bytes(written)
        began = time.perf_counter()
        try:
            read = partial(run_of, kind) if read is None else read
            outcome = read(written if isinstance(read, partial) else path)
        except REFUSED as error:
            outcome = words(error)
        except BaseException as error:
            (self.folder / f"case-{number}-{name}").write_bytes(written)
            return f"case {number} ({kind}): {type(error).__name__}: {error!s:.300}"
        if time.perf_counter() - began > SLOW:
            return f"case {number} ({kind}) took {time.perf_counter() - began:.1f} s"
        found = self.outcomes[kind]
        if str(outcome) not in found and len(pool) < POOL:
            pool.append(data)
        found[str(outcome)] += 1
        return None


def main(arguments=None):
    """Run cases until the time is over; return how many went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--cases", type=int, default=2**40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS), help="separated by commas")
    parser.add_argument("--folder", default=None, help="where damaged files that went wrong stay")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    folder = Path(given.folder or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    budget.max_memory.set(10**8)
    names = [name for name in KINDS if name in given.kinds.split(",")]
    fuzz = Fuzz(given.seed, names, folder)
    end, number, wrong = time.monotonic() + given.seconds, given.first, []
    while time.monotonic() < end and number < given.first + given.cases:
        if number % 256 == 0:  # what a crash of the process leaves behind
            (folder / "number").write_text(str(number))
        if complaint := fuzz.case(number):
            wrong.append(complaint)
            print(complaint, flush=True)
        number += 1
    n_outcomes = sum(map(len, fuzz.outcomes.values()))
    found = [pair for counts in fuzz.outcomes.values() for pair in counts.items()]
    n_read = sum(n for outcome, n in found if outcome[0] in "('0123456789")
    print(
        f"{number - given.first:,} cases, {n_outcomes:,} different outcomes, {n_read:,} files that "
        f"could be read, {len(wrong)} wrong ({folder})"
    )
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main()))
