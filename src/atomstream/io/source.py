"""The interface of inputs: blocks of rows, a fingerprint, and how much memory reading may take."""

import hashlib
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Matrix, checked_numbers, in_order, memory_there, order_of
from atomstream.exceptions import InputError, NetworkWarning

log = logging.getLogger(__name__)

BLOCK_BYTES = 1 << 22  # size of a block of rows: large enough for speed, small against memory
WHOLE = 1 << 26  # the digest of files up to this size reads all of them, else 64 places
PLACES = 64
MEMORY_SHARE = 0.5  # of the memory of the machine, unless told otherwise
UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")

# Bytes that one thing that is read may take; None is `MEMORY_SHARE` of what there is.
max_memory: ContextVar[int | None] = ContextVar("max_memory", default=None)


def need(n_bytes: float, what: str) -> None:
    """Refuse what needs more memory than reading may take.

    Parameters
    ----------
    n_bytes : float
        At its peak, about.
    what : str
        What needs it: the subject of a sentence.

    Raises
    ------
    InputError
    """
    if n_bytes > allowed():
        most = size_of(allowed()) + ", half of what there is" * (max_memory.get() is None)
        raise InputError(
            f"{what} needs about {size_of(n_bytes)} of memory, allowed are {most}; allow more with "
            "--max-memory where that is right."
        )


def allowed() -> float:
    """Return the bytes that one thing that is read may take."""
    told = max_memory.get()
    return MEMORY_SHARE * memory_there() if told is None else told


def size_of(n_bytes: float) -> str:
    """Return a number of bytes in words, such as "2.1 GB"."""
    for unit in UNITS:
        if n_bytes < 1000 or unit == UNITS[-1]:
            break
        n_bytes /= 1000
    return f"{n_bytes:.3g} {unit}"


class Input:
    """An input of a run: its name, and what changes when its content does.

    Attributes
    ----------
    name : str
        Name for messages.
    files : sequence of path
        What is read; empty for a stream that can be read only once.
    guesses : mapping of str to (value, str)
        What was guessed of options, and why.
    """

    name: str
    files: Sequence[Path] = ()
    guesses: Mapping[str, tuple[Any, str]] = {}

    def fingerprint(self) -> str | None:
        """Return a digest of the content; None for a stream that can be read only once."""
        return fingerprint(self.files) if self.files else None


class InputFile(Input):
    """One file as the input of a run.

    Parameters
    ----------
    path : path

    Raises
    ------
    InputError
        Where there is no such file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self.name = Path(path), str(path)
        self.files = [self.path]
        if not self.path.is_file():
            raise InputError(f"There is no {path}.")


def existing(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file or folder, which must be there."""
    found = Path(path)
    if not found.exists():
        raise InputError(f"There is no {path}.")
    return found


class Block(NamedTuple):
    """Rows that are read together.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_rows, n_features)
    ids : ndarray of int64 of shape (n_rows,)
        Id of each row within its input, the same in every pass.
    labels : tuple of ndarray of objects, each of shape (n_rows,)
        What the input calls each row, one array for each of `Source.row_names`.
    """

    X: Any
    ids: NDArray
    labels: tuple[NDArray, ...] = ()


class Source(Input, ABC):
    """An input of rows of numbers.

    Attributes
    ----------
    name : str
        Name for messages.
    n_features : int
    n_rows : int or None
        Number of rows, if it is known without reading.
    names : list of str or None
        Names of the features, if the file has them, in their order in blocks.
    row_names : sequence of str
        Names of the columns that name rows, where blocks carry them.
    live : bool
        Whether it is a stream that can be read only once.
    waiting : bool
        Whether a live stream waits for its writer at this moment; true where it cannot tell.
    has_columns : bool
        Whether it is a table.
    uses : set of str
        Names of the options of `TableOptions` that it uses.
    shape : tuple of int or None
        Shape of one sample, if rows are flattened patches or images.
    flattened : tuple of int or None
        Shape of an array of several axes whose first axis was taken for the rows, because nothing
        said which axes hold them.
    mapped : int
        Bytes of the file that are read by mapping it into memory.
    takes_axes : bool
        Whether it is a dense array, of which `InputOptions` may name the axes of the rows.
    files : sequence of path
        What is read; empty for a stream that can be read only once.
    deviation : ndarray of shape (n_features,), optional
        What the columns are divided by as they are read, where they are.
    unit : str
        What a row is called.
    n_left_out : int
        Lines that were left out as it was opened.
    """

    n_features: int
    n_rows: int | None = None
    names: list[str] | None = None
    row_names: Sequence[str] = ()
    live: bool = False
    waiting: bool = True
    has_columns: bool = False
    uses: Set[str] = frozenset()
    shape: tuple[int, ...] | None = None
    flattened: tuple[int, ...] | None = None
    mapped: int = 0
    takes_axes: bool = False
    deviation: NDArray | None = None
    unit: str = "row"
    n_left_out: int = 0
    _order: NDArray | None = None  # of the columns as they are read, where blocks have another

    def take_columns(self, names: Sequence[str] | None, learned: str) -> None:
        """Let blocks have their columns in this order, where the source has names for them.

        Parameters
        ----------
        names : sequence of str, or None
            Where it is None columns stay where they are.
        learned : str
            What has these names, for messages, such as "the run learned from".

        Raises
        ------
        InputError
            One sentence, where names differ or come twice.
        """
        try:
            differs = f"has different names of columns than {learned}"
            order = order_of(self.names, names, self.name, differs)
        except ValueError as error:
            raise InputError(str(error)) from None
        if order is not None:
            self._order = order if self._order is None else self._order[order]
            self.names = list(names or ())

    def blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield the rows of a pass from row ``start`` on; sparse ones as canonical CSR.

        Raises
        ------
        InputError
            If the file turns out to be damaged.
        """
        with reading(self.name):
            for block in self._blocks(start, epoch):
                X = checked_numbers(block.X, self.name)
                yield block._replace(X=in_order(X, self._order))

    def place_of(self, row: int) -> str:
        """Return the words for where a row stands."""
        return f"row {row} of {self.name}, counted from 0"

    def about_rows(self) -> int | None:
        """Return about the number of rows, as far as it is known without reading all of them."""
        return self.n_rows

    @abstractmethod
    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield the rows of a pass from row ``start`` on."""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn any error of a parser into an InputError that names the input."""
    try:
        yield
    except (InputError, MemoryError, NetworkWarning):  # a warning that was made an error
        raise
    except Exception as error:
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise InputError(f"{name} cannot be read ({reason:.200}).") from error


@contextmanager
def naming_source(source: object) -> Iterator[None]:
    """Turn what a model complains about in the body into a sentence that names the source."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None


def log_guesses(name: str, guesses: Mapping[str, tuple[Any, str]]) -> None:
    """Write one record of what was guessed of an input."""
    if guesses:
        log.info("%s: %s.", name, "; ".join(why for _, why in guesses.values()))


def guesses_of(inputs: Sequence[Input]) -> dict[str, dict[str, str]]:
    """Return why options were guessed, by the names of inputs and of options."""
    return {
        each.name: {option: why for option, (_, why) in each.guesses.items()}
        for each in inputs
        if each.guesses
    }


def divide_alike(sources: Sequence[Source], deviation: NDArray | None) -> None:
    """Let all sources that divide their columns divide them by the same numbers."""
    for source in sources:
        if deviation is not None and source.deviation is not None:
            source.deviation = deviation


def row_blocks(n_rows: int, start: int, row_bytes: int) -> Iterator[slice]:
    """Yield slices of rows of about `BLOCK_BYTES` each."""
    size = max(1, BLOCK_BYTES // max(row_bytes, 1))
    for first in range(start, n_rows, size):
        yield slice(first, min(first + size, n_rows))


def numbered(X: Matrix, first: int, labels: tuple[NDArray, ...] = ()) -> Block:
    """Return a block of consecutive rows, numbered from ``first``."""
    return Block(X, np.arange(first, first + X.shape[0], dtype=np.int64), labels)


def files_of(path: Path) -> list[Path]:
    """Return the files of a folder and of those in it, or the file itself."""
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def check_numeric(dtype: np.dtype, name: str) -> None:
    """Check that an array holds real numbers."""
    if dtype.kind not in "fiub":
        raise InputError(f"{name} holds {dtype}, needed are numbers.")


def fingerprint(paths: Sequence[Path]) -> str:
    """Return a digest of names, sizes and content.

    Of files above 64 MiB only 64 places are read, including both ends.
    """
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            if size <= WHOLE:
                hashlib.file_digest(file, lambda: digest)
                continue
            length = WHOLE // PLACES
            for place in range(PLACES):
                # Places evenly spread, the beginning and the end among them.
                file.seek((size - length) * place // (PLACES - 1))
                digest.update(file.read(length))
    return digest.hexdigest()
