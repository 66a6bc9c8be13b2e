"""Results in files: images, and codes as Parquet, CSV or sparse arrays."""

import csv
import io
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import library, printable
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file

Labels = Sequence[NDArray]  # what rows are called, an array of objects for each column of names
Write = Callable[[Labels, NDArray], None]
DEEP_FORMATS = ("PNG", "TIFF", "JPEG2000", "PPM")  # hold 16 bits of grey
ALPHA_FORMATS = ("PNG", "TIFF", "WEBP", "JPEG2000")
PNG_KINDS = {2: 4, 3: 2, 4: 6}  # grey with alpha, colours, colours with alpha
COMPUTED = ("=", "+", "-", "@")  # what spreadsheets take for the beginning of a formula


def check_out(out: Path, *inputs: str | Path) -> None:
    """Raise InputError for a place where no file can be written, or that is one of the inputs."""
    if out.is_dir():
        raise InputError(f"{out} cannot be written: it is a folder.")
    place = os.path.realpath(out)  # Path.resolve raises at a link to itself
    if not Path(place).parent.is_dir():
        raise InputError(f"{out} cannot be written: its folder is missing.")
    if any(place == os.path.realpath(name) for name in inputs):
        raise InputError(f"{out} is the input itself; choose another --out.")


def image_format(out: Path) -> str:
    """Return the format that the name of an image asks for."""
    kind = library("PIL.Image", "Images").registered_extensions().get(out.suffix.lower())
    if kind is None:
        raise InputError(f"{out} does not end like an image that can be written; end it in .png.")
    return kind


class PixelFormat(NamedTuple):
    """How a file holds pixels, beside their colours.

    Attributes
    ----------
    bits : {8, 16, 32}
        Of each channel; 32 bits of floating point are written as 16.
    alpha : ndarray of shape (height, width), or None
        How opaque pixels are, in [0, 1].
    """

    bits: int = 8
    alpha: NDArray | None = None


PLAIN = PixelFormat()


def write_image(out: Path, pixels: NDArray, form: PixelFormat = PLAIN) -> None:
    """Write an image in which white is 1, in this format."""
    kind = image_format(out)
    if form.alpha is not None and kind in ALPHA_FORMATS:
        pixels = np.dstack([pixels, form.alpha])
    top, dtype = (65535, np.uint16) if form.bits > 8 else (255, np.uint8)
    levels = (np.clip(pixels, 0, 1) * top).round().astype(dtype)
    with whole_file(out) as file:
        if levels.ndim > 2 and form.bits > 8:
            file.write(_png(levels))
        else:
            library("PIL.Image", "Images").fromarray(levels).save(file, format=kind)


def _png(levels: NDArray) -> bytes:
    """Return an image of several channels of 16 bits, which Pillow cannot write, as PNG."""
    height, width, n_channels = levels.shape
    row = levels.astype(">u2").reshape(height, -1).view(np.uint8)
    # Each row less the one above it (filter 2), which is easier to pack.
    rows = np.column_stack(
        [np.full(height, 2, np.uint8), np.diff(row, axis=0, prepend=row[:1] * 0)]
    )
    head = struct.pack(">IIBBBBB", width, height, 16, PNG_KINDS[n_channels], 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def write_table(out: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV below a line of names; texts that hold commas or quotes are quoted.

    Texts that a spreadsheet would compute ("=1+1") begin with an apostrophe, which it hides, and
    characters that cannot be seen are written as escapes: names come from data, and data from
    anywhere.
    """
    with whole_file(out) as file, _csv_writer(file, names) as writer:
        writer.writerows(map(_cell, row) for row in rows)


@contextmanager
def _csv_writer(file: BinaryIO, names: Iterable[str]) -> Iterator[Any]:
    """Write a line of names, and hand over what writes rows below it."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, names))
    yield writer
    text.flush()
    text.detach()


def _cell(value: Any) -> Any:
    """Return what stands for a value in a table that people may open as a spreadsheet."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    # An apostrophe makes it a text again; numbers with a sign are no formulas.
    return f"'{text}" if text[:1] in COMPUTED and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# Of a file, the columns of codes, and those in front of these, which name the rows.
Writer = Callable[[BinaryIO, Sequence[str], Sequence[str]], AbstractContextManager[Write]]


def check_columns(codes: Sequence[str], labels: Sequence[str]) -> None:
    """Raise InputError where two columns of a table of codes have one name."""
    for place, name in enumerate(labels):
        if name in codes or name in labels[:place]:
            raise InputError(
                f"Two columns of the output would be called {name!r:.40}; give another --id."
            )


def code_writer(out: Path) -> Writer:
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
def _parquet(file: BinaryIO, codes: Sequence[str], labels: Sequence[str]) -> Iterator[Write]:
    """Write a block as a table; the first one tells the types of the names of rows."""
    pa, pq = library("pyarrow", "Tables"), library("pyarrow.parquet", "Parquet files")
    numbers = [(name, pa.float64()) for name in codes]
    with ExitStack() as stack:
        to: Any = None

        def write(names: Labels, values: NDArray) -> None:
            """Write a block of rows, whose names keep the types of the first block."""
            nonlocal to
            named = [_arrow(part) for part in names]
            if to is None:
                # The first block fixes the types, as a Parquet file has one schema.
                kinds = zip(labels, [part.type for part in named], strict=True)
                to = stack.enter_context(pq.ParquetWriter(file, pa.schema([*kinds, *numbers])))
            try:
                named = [part.cast(to.schema.types[i]) for i, part in enumerate(named)]
            except pa.ArrowInvalid as error:
                raise InputError(
                    f"Names of rows change their type ({error:.100}); end --out in .csv."
                ) from None
            columns = [np.ascontiguousarray(column, np.float64) for column in values.T]
            to.write_table(pa.table([*named, *columns], schema=to.schema))

        yield write
        if to is None:  # a table without rows has its columns, too
            write([np.empty(0, object)] * len(labels), np.empty((0, len(codes))))


@contextmanager
def _csv(file: BinaryIO, codes: Sequence[str], labels: Sequence[str]) -> Iterator[Write]:
    with _csv_writer(file, [*labels, *codes]) as writer:

        def write(names: Labels, values: NDArray) -> None:
            """Write a block of rows as lines."""
            named = zip(*(map(_cell, part) for part in names), strict=True)
            rows = values.tolist()
            if names:
                rows = [[*name, *row] for name, row in zip(named, rows, strict=True)]
            writer.writerows(rows)

        yield write


@contextmanager
def _npz(file: BinaryIO, codes: Sequence[str], labels: Sequence[str]) -> Iterator[Write]:
    """Keep the codes, sparse, until all have come: their file begins with how many there are."""
    import scipy.sparse as sp  # here: every message passes through this module

    kept: list[Any] = [sp.csr_array((0, len(codes)))]
    yield lambda _, values: kept.append(sp.csr_array(values))
    sp.save_npz(file, sp.vstack(kept).tocsr())


WRITERS: dict[str, Writer] = {".parquet": _parquet, ".csv": _csv, ".npz": _npz}


def _arrow(values: NDArray) -> Any:
    """Return names of rows as an Arrow array; where all are missing, of texts."""
    pa = library("pyarrow", "Tables")
    try:
        found = pa.array(values.tolist())
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types
        found = pa.array([None if value is None else str(value) for value in values])
    return found.cast(pa.string()) if pa.types.is_null(found.type) else found
