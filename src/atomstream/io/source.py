"""What every input offers: rows of numbers from any row on, block by block, and a mark to know it again."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.exceptions import InputError

__all__ = ["Block", "Source", "fingerprint", "reading", "row_blocks"]

BLOCK_BYTES = 1 << 22  # of a block of rows: large enough to read at speed, small against memory
WHOLE = 1 << 26  # files up to this size are digested whole, larger ones at 64 places
PLACES = 64


class Block(NamedTuple):
    """Rows that were read together.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_rows, n_features)
    ids : ndarray of int64 of shape (n_rows,)
        What names each row within its input, the same in every pass.
    """

    X: Any
    ids: NDArray


class Source(ABC):
    """Rows of numbers in a file.

    Attributes
    ----------
    name : str
        For messages.
    n_features : int
    n_rows : int or None
        Where it is known without reading.
    names : list of str or None
        Of the features, where the file has them.
    live : bool
        Whether it is a stream that cannot be gone back to.
    shape : tuple of int or None
        Of one sample, where rows are flattened patches or images.
    """

    name: str
    n_features: int
    n_rows: int | None = None
    names: list[str] | None = None
    live: bool = False
    shape: tuple[int, ...] | None = None

    def blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield the rows of a pass from row ``start`` on.

        Raises
        ------
        InputError
            Where the file turns out to be damaged.
        """
        with reading(self.name):
            yield from self._blocks(start, epoch)

    @abstractmethod
    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield the rows of a pass from row ``start`` on."""

    @abstractmethod
    def fingerprint(self) -> str | None:
        """Return what changes when the content does; None where there is no content to look at twice."""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn whatever a reader of foreign bytes stumbles over into a sentence that names the input."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        told = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise InputError(f"{name} cannot be read ({told:.200}).") from error


def row_blocks(n_rows: int, start: int, row_bytes: int) -> Iterator[slice]:
    """Yield slices of rows of about `BLOCK_BYTES` each."""
    size = max(1, BLOCK_BYTES // max(row_bytes, 1))
    for first in range(start, n_rows, size):
        yield slice(first, min(first + size, n_rows))


def numbered(X: Any, first: int) -> Block:
    """Return a block of rows that follow each other."""
    return Block(X, np.arange(first, first + X.shape[0], dtype=np.int64))


def check_numeric(dtype: np.dtype, name: str) -> None:
    """Refuse arrays of anything but real numbers."""
    if dtype.kind not in "fiub":
        raise InputError(f"{name} holds {dtype}, needed are numbers.")


def check_table(shape: tuple[int, ...], name: str) -> None:
    """Refuse arrays that are no rows of features."""
    if len(shape) < 2:
        raise InputError(f"{name} has shape {shape}, needed is (n_samples, n_features).")
    if not all(shape):
        raise InputError(f"{name} is empty: its shape is {shape}.")


def fingerprint(paths: list[Path]) -> str:
    """Return a digest of names, sizes and content; of files above 64 MiB, of 64 places, the ends included."""
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            if size <= WHOLE:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
                continue
            length = WHOLE // PLACES
            for place in range(PLACES):
                file.seek((size - length) * place // (PLACES - 1))
                digest.update(file.read(length))
    return digest.hexdigest()
