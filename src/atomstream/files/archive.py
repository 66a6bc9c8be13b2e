"""One file of arrays and JSON with a digest: the bytes of a saved model, and nothing about models.

    magic, 8 bytes | format, 4 | number of arrays, 4 | length of the header, 8 | SHA-256, 32
    header: JSON in UTF-8, {"arrays": [{"dtype", "shape"}, ...], "content": ...}
    the arrays, one after the other, in C order, little-endian

Numbers of the first line are little-endian; the digest is that of the whole file with zeros in its
own place. A reader checks the claimed sizes against the size of the file, then the digest, and only
then looks at the content. Nothing in a file is ever run.
"""

import hashlib
import json
import math
import os
import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from atomstream.exceptions import CorruptModelError, NewerFormatError, NotAModelError
from atomstream.io.files import whole_file

MAGIC = b"\x93ATOMS\r\n"  # not text, and broken by whatever translates line ends
FORMAT = 1
PREFIX = struct.Struct("<8sIIQ32s")
DTYPES = {"<f4", "<f8", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "|b1"}
# A consensus of 26 ranks with 100 replicates each has 24,000 arrays and a header of 5 MB.
MOST_ARRAYS = 1 << 15
MOST_HEADER = 1 << 23  # bytes; long lists are stored as arrays
CHUNK = 1 << 15


def write_archive(path: str | Path, content: Any, arrays: list[NDArray]) -> None:
    """Write JSON content and arrays, whole or not at all.

    Parameters
    ----------
    path : path
    content : what json can write
    arrays : list of ndarray
        Of numbers or bool.

    Raises
    ------
    TypeError
        For arrays of other things.
    """
    stored = [np.asarray(array, array.dtype.newbyteorder("<"), order="C") for array in arrays]
    for array in stored:
        if array.dtype.str not in DTYPES:
            raise TypeError(f"Arrays of {array.dtype} cannot be saved; give numbers.")
    table = [{"dtype": array.dtype.str, "shape": list(array.shape)} for array in stored]
    whole = {"arrays": table, "content": content}
    header = json.dumps(whole, allow_nan=False, separators=(",", ":")).encode()
    if len(header) > MOST_HEADER or len(stored) > MOST_ARRAYS:
        raise TypeError(
            f"The settings take {len(header)} bytes in {len(stored)} arrays; too many to be saved."
        )
    # The digest covers the prefix too, with zeros in its own place.
    blank = PREFIX.pack(MAGIC, FORMAT, len(stored), len(header), bytes(32))
    digest = hashlib.sha256(blank + header)
    for array in stored:
        # Little-endian, whatever this machine has.
        digest.update(_bytes(array))
    with whole_file(path) as file:
        file.write(PREFIX.pack(MAGIC, FORMAT, len(stored), len(header), digest.digest()))
        file.write(header)
        for array in stored:
            file.write(_bytes(array))


def read_archive(path: str | Path) -> tuple[Any, list[NDArray]]:
    """Return the JSON content and the arrays of a file.

    Raises
    ------
    NotAModelError, NewerFormatError, CorruptModelError
        Before anything of the size that the file claims is allocated; the caller puts the path in
        front of what they say.
    """
    with open(path, "rb") as file:
        size, prefix = os.fstat(file.fileno()).st_size, file.read(PREFIX.size)
        n_arrays, n_header = _sizes(prefix, size)
        # Before anything is parsed or any memory is spent on what the file claims.
        _check_digest(file, prefix)
        file.seek(PREFIX.size)
        content, table = _read_header(file.read(n_header))
        if any(math.prod(max(n, 1) for n in shape) > size for _, shape in table):
            raise CorruptModelError("claims an array larger than the file.")
        sizes = [math.prod(shape) * np.dtype(dtype).itemsize for dtype, shape in table]
        if len(table) != n_arrays or PREFIX.size + n_header + sum(sizes) != size:
            raise CorruptModelError(f"claims arrays of {sum(sizes)} bytes that it does not hold.")
        return content, [_read_array(file, dtype, shape) for dtype, shape in table]


def _sizes(prefix: bytes, size: int) -> tuple[int, int]:
    """Return the number of arrays and the length of the header that a file of this size claims."""
    if not prefix.startswith(MAGIC[: len(prefix)]) or not prefix:
        what = "is empty" if not prefix else "is another kind of file"
        raise NotAModelError(f"is no saved model of atomstream, nor a run: it {what}.")
    if len(prefix) < PREFIX.size:
        raise CorruptModelError(f"is cut off after {len(prefix)} bytes.")
    _, known, n_arrays, n_header, _ = PREFIX.unpack(prefix)
    if known != FORMAT:
        raise NewerFormatError(f"has format {known}, and this release reads format {FORMAT} only.")
    if n_arrays > MOST_ARRAYS or n_header > min(MOST_HEADER, size - PREFIX.size):
        said = f"claims {n_arrays} arrays and a header of {n_header} bytes in a file of {size}."
        raise CorruptModelError(said)
    return n_arrays, n_header


def _check_digest(file: BinaryIO, prefix: bytes) -> None:
    digest = hashlib.sha256(prefix[:-32] + bytes(32))  # it comes last, and counts as zeros
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    if digest.digest() != prefix[-32:]:
        raise CorruptModelError("is damaged: its digest is not that of its content.")


def _read_header(header: bytes) -> tuple[Any, list[tuple[str, list[int]]]]:
    try:
        whole = json.loads(header)
        table = [(entry["dtype"], entry["shape"]) for entry in whole["arrays"]]
        content = whole["content"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CorruptModelError(f"has a header that is not as it should be: {error!r}.") from None
    for dtype, shape in table:
        is_shape = isinstance(shape, list) and all(type(n) is int and 0 <= n < 2**63 for n in shape)
        known = isinstance(dtype, str) and dtype in DTYPES
        if not known or not is_shape or len(shape) > 16:
            raise CorruptModelError(
                f"claims an array of type {dtype!r:.40} and shape {shape!r:.80}."
            )
    return content, table


def _read_array(file: BinaryIO, dtype: str, shape: list[int]) -> NDArray:
    array = np.empty(shape, dtype)
    if file.readinto(_bytes(array)) != array.nbytes:  # type: ignore[attr-defined]
        raise CorruptModelError("was cut off while it was being read.")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _bytes(array: NDArray) -> memoryview:
    """Return the memory of an array in C order."""
    return array.reshape(-1).view(np.uint8).data
