"""Entropy coding of whole numbers: folded, cut into planes of bytes, compressed by LZMA."""

from __future__ import annotations

import lzma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.exceptions import InputError

__all__ = ["differences", "folded", "squeezed", "sums", "unfolded", "unsqueezed"]

# The window is fixed here and not in the file, so a reader knows how much memory it will use.
FILTERS: Any = [
    {"id": lzma.FILTER_LZMA1, "preset": 9, "dict_size": 2**22, "lc": 1, "lp": 0, "pb": 0}
]


def squeezed(numbers: NDArray) -> bytes:
    """Return whole numbers from 0 to 65535 as bytes: all low bytes, then all high ones, by LZMA."""
    planes = np.ascontiguousarray(numbers, "<u2").reshape(-1, 1).view(np.uint8).T.tobytes()
    return lzma.compress(planes, lzma.FORMAT_RAW, filters=FILTERS)


def unsqueezed(data: bytes, n: int) -> NDArray:
    """Return n whole numbers as int64; no more than their bytes are unpacked.

    Raises
    ------
    InputError
        If the bytes are damaged or hold another number of values.
    """
    reader = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=FILTERS)
    try:
        planes = reader.decompress(data, 2 * n) if n else b""
    except lzma.LZMAError as error:
        raise InputError(f"The compressed image is damaged: {error}.") from None
    if len(planes) != 2 * n:
        raise InputError(
            f"The compressed image claims {2 * n} bytes in a section of {len(planes)}."
        )
    low, high = np.frombuffer(planes, np.uint8).reshape(2, n).astype(np.int64)
    return low + 256 * high


def folded(numbers: NDArray) -> NDArray:
    """Return 0, -1, 1, -2, 2 ... as 0, 1, 2, 3, 4 ...; numbers are from -32768 to 32767."""
    numbers = numbers.astype(np.int64)
    return np.where(numbers < 0, -2 * numbers - 1, 2 * numbers)


def unfolded(numbers: NDArray) -> NDArray:
    """Undo `folded`."""
    return np.where(numbers % 2, -(numbers + 1) // 2, numbers // 2)


def differences(table: NDArray) -> NDArray:
    """Return the difference of each entry to its left neighbour, or in the first column the upper.

    The table is of shape (n_rows, n_columns, n_channels).
    """
    change = table.astype(np.int64)
    change[:, 1:] -= table[:, :-1]
    change[1:, 0] -= table[:-1, 0]
    return change


def sums(change: NDArray) -> NDArray:
    """Undo `differences`."""
    table = change.copy()
    table[:, 0] = table[:, 0].cumsum(axis=0)
    return table.cumsum(axis=1)
