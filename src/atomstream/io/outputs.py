"""Results in files: images, and codes as Parquet, CSV or sparse arrays."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.core.extras import library
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file

__all__ = ["check_out", "code_writer", "image_format", "printable", "write_image", "write_table"]

Write = Callable[[NDArray], None]
COMPUTED = ("=", "+", "-", "@")  # what spreadsheets take for the beginning of a formula


def check_out(out: Path, *inputs: str | Path) -> None:
    """Raise InputError for a place where no file can be written, or that is one of the inputs."""
    if out.is_dir():
        raise InputError(f"{out} cannot be written: it is a folder.")
    if not out.resolve().parent.is_dir():
        raise InputError(f"{out} cannot be written: its folder is missing.")
    if any(out.resolve() == Path(name).resolve() for name in inputs):
        raise InputError(f"{out} is the input itself; choose another --out.")


def image_format(out: Path) -> str:
    """Return the format that the name of an image asks for."""
    kind = library("PIL.Image", "Images").registered_extensions().get(out.suffix.lower())
    if kind is None:
        raise InputError(f"{out} does not end like an image that can be written; end it in .png.")
    return kind


def write_image(out: Path, pixels: NDArray) -> None:
    """Write an image in which white is 1, with 8 bits per channel."""
    kind = image_format(out)
    image = library("PIL.Image", "Images").fromarray(
        (np.clip(pixels, 0, 1) * 255).round().astype(np.uint8)
    )
    with whole_file(out) as file:
        image.save(file, format=kind)


def write_table(out: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV below a line of names; texts that hold commas or quotes are quoted.

    Texts that a spreadsheet would compute ("=1+1") begin with an apostrophe, which it hides, and
    characters that cannot be seen are written as escapes: names come from data, and data from
    anywhere.
    """
    with whole_file(out) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(_cell, names))
        writer.writerows(map(_cell, row) for row in rows)
        text.flush()
        text.detach()


def printable(text: str) -> str:
    """Return a text in which characters that cannot be seen are escapes, of one backslash."""
    if text.isprintable():
        return text
    seen = (sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
    return "".join(seen)


def _cell(value: Any) -> Any:
    """Return what stands for a value in a table that people may open as a spreadsheet."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text[:1] in COMPUTED and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def code_writer(out: Path) -> Callable[[BinaryIO, int], AbstractContextManager[Write]]:
    """Return what writes codes, block by block, into a file with this ending.

    Raises
    ------
    InputError
        For other endings, listing those that are known.
    """
    for ending, writer in WRITERS.items():
        if out.name.endswith(ending):
            return writer
    raise InputError(f"{out} must end in one of {', '.join(WRITERS)}.")


@contextmanager
def _parquet(file: BinaryIO, n_atoms: int) -> Iterator[Write]:
    with library("pyarrow.parquet", "Parquet files").ParquetWriter(
        file, _schema(n_atoms)
    ) as writer:
        yield lambda codes: writer.write_table(_arrow(codes))


@contextmanager
def _csv(file: BinaryIO, n_atoms: int) -> Iterator[Write]:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(f"atom_{number}" for number in range(n_atoms))
    yield lambda codes: writer.writerows(codes.tolist())
    text.flush()
    text.detach()


@contextmanager
def _npz(file: BinaryIO, n_atoms: int) -> Iterator[Write]:
    """Keep the codes, sparse, until all have come: their file begins with how many there are."""
    kept: list[Any] = [sp.csr_array((0, n_atoms))]
    yield lambda codes: kept.append(sp.csr_array(codes))
    sp.save_npz(file, sp.vstack(kept).tocsr())


WRITERS: dict[str, Callable[[BinaryIO, int], AbstractContextManager[Write]]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".npz": _npz,
}


def _arrow(codes: NDArray) -> Any:
    columns = [np.ascontiguousarray(column, np.float64) for column in codes.T]
    return library("pyarrow", "Tables").table(columns, schema=_schema(codes.shape[1]))


def _schema(n_atoms: int) -> Any:
    pa = library("pyarrow", "Tables")
    return pa.schema([(f"atom_{number}", pa.float64()) for number in range(n_atoms)])
