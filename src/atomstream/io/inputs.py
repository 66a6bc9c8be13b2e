"""Inputs as rows of numbers: tables, arrays and images, read in blocks from any row on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atomstream.exceptions import InputError
from atomstream.io import arrays, tables
from atomstream.io.feed import Feed, Position
from atomstream.io.heads import UNNAMED, Naming
from atomstream.io.images import ENDINGS, Pictures
from atomstream.io.json_lines import JsonLines
from atomstream.io.parquet import Parquet
from atomstream.io.source import Source, reading

__all__ = [
    "Feed",
    "InputOptions",
    "Naming",
    "Position",
    "Source",
    "images_in",
    "open_inputs",
    "reader_of",
    "register_reader",
]


@dataclass(frozen=True)
class InputOptions:
    """Options for reading inputs; each one concerns only some kinds of input.

    Parameters
    ----------
    columns : sequence of str, default=()
        Columns of tables: names, numbers from 1, or ranges of numbers.
    key : str, optional
        Name of the array in a ``.npz`` or HDF5 file, or Zarr group.
    patch : int, default=12
        Height and width of the patches of images.
    grey : bool, default=False
        Whether images are converted to grey.
    per_image : int, default=20000
        Number of patches drawn from each image in a pass.
    center : {"patch"}, optional
        "patch" subtracts the mean of each patch.
    seed : int, default=0
        Random seed of the order of patches.
    decimal : {".", ","}, default="."
        Decimal sign of tables of text.
    skip : bool, default=False
        Whether a line of a table that cannot be read is a row of missing entries.
    naming : Naming, default=UNNAMED
        Columns of tables that name rows.
    """

    columns: Sequence[str] = ()
    key: str | None = None
    patch: int = 12
    grey: bool = False
    per_image: int = 20_000
    center: str | None = None
    seed: int = 0
    decimal: str = "."
    skip: bool = False
    naming: Naming = UNNAMED


Reader = Callable[[Path, InputOptions], Any]  # returns a Source, or an array


def _lines(path: Path | None, options: InputOptions) -> Source:
    return tables.Lines(
        path, options.columns, options.decimal, skip=options.skip, naming=options.naming
    )


KINDS: dict[str, Reader] = {
    ".csv": _lines,
    ".tsv": _lines,
    ".csv.gz": _lines,
    ".tsv.gz": _lines,
    ".jsonl": lambda path, options: JsonLines(path, options.columns),
    ".parquet": lambda path, options: Parquet(path, options.columns, options.naming),
    ".npy": lambda path, _: arrays.npy(path),
    ".npz": lambda path, options: arrays.npz(path, options.key),
    ".mtx": lambda path, _: arrays.matrix_market(path),
    ".mtx.gz": lambda path, _: arrays.matrix_market(path),
    ".zarr": lambda path, options: arrays.zarr_array(path, options.key),
    ".h5": lambda path, options: arrays.hdf5(path, options.key),
    ".hdf5": lambda path, options: arrays.hdf5(path, options.key),
    ".zarr.zip": lambda path, options: arrays.zarr_array(path, options.key),
}
STANDARD_INPUT = "-"


def register_reader(ending: str, reader: Reader) -> None:
    """Read files with this ending by a function, everywhere where rows of numbers are read.

    It holds until the process ends, and replaces the reader that the ending has had.

    Parameters
    ----------
    ending : str
        Ending of the names of the files with its dot, such as ".dat"; the longest ending that fits
        a name decides.
    reader : callable
        Takes a path and `InputOptions` and returns the rows: an array, a memory map or a sparse
        array of shape (n_samples, ...), or a `Source` where they do not fit into memory.

    Raises
    ------
    ValueError
        For an ending without a dot.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream.io import register_reader
    >>> register_reader(".f32", lambda path, _: np.fromfile(path, np.float32).reshape(-1, 16))
    """
    if not ending.startswith(".") or len(ending) < 2:
        raise ValueError(f"ending={ending!r} is not an ending of files; needed is e.g. '.dat'.")
    KINDS[ending.lower()] = reader


def reader_of(path: Path) -> Reader | None:
    """Return what reads files of rows with such a name; None if nothing does."""
    name = path.name.lower()
    # The longest ending first: one's own ".gaia.csv" must not be read as ".csv".
    return next((KINDS[end] for end in sorted(KINDS, key=len)[::-1] if name.endswith(end)), None)


def open_inputs(inputs: Sequence[str], options: InputOptions | None = None) -> list[Source]:
    """Return inputs as sources of rows; all images together are one source.

    Parameters
    ----------
    inputs : sequence of str
        Files, folders of images, or "-" for lines on standard input.
    options : InputOptions, optional

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If an input cannot be read; the message names it and says what to do.
    """
    options = options or InputOptions()
    if not inputs:
        raise InputError(
            "No input was given; name files, a folder of images, or - for standard input."
        )
    if STANDARD_INPUT in inputs and len(inputs) > 1:
        raise InputError(
            "Standard input cannot be combined with other inputs, because it can be read only once."
        )
    sources: list[Source] = []
    images: list[Path] = []
    for name in inputs:
        opened = _open_one(name, options)
        if isinstance(opened, Source):
            sources.append(opened)
        else:
            images.extend(opened)
    _check_together(sources, images, options)
    if not images:
        return sources
    return [
        Pictures(
            images,
            options.patch,
            grey=options.grey,
            per_image=options.per_image,
            center=options.center,
            seed=options.seed,
        )
    ]


def _open_one(name: str, options: InputOptions) -> Source | list[Path]:
    """Return an input as a source, or the image files that it stands for."""
    if name == STANDARD_INPUT:
        return _lines(None, options)
    if not name:
        raise InputError("The name of an input is empty.")
    path = Path(name)
    reader = reader_of(path)
    if not path.exists():
        raise InputError(f"There is no {name}.")
    if reader is not None:
        return _opened(path, reader, options)
    if path.is_dir():
        return images_in(path)
    if path.suffix.lower() in ENDINGS:
        return [path]
    raise InputError(
        f"{name} has an ending that is not known; known are "
        f"{', '.join([*KINDS, *sorted(ENDINGS)])} and folders of images."
    )


def _check_together(sources: list[Source], images: list[Path], options: InputOptions) -> None:
    """Check that inputs agree with each other and with the options."""
    without_columns = [source for source in sources if not source.has_columns]
    if options.columns and (images or without_columns):
        other = images[0] if images else without_columns[0].name
        raise InputError(f"--columns chooses columns of tables, and {other} is not a table.")
    asked = options.naming.ids
    if asked and (images or without_columns):
        other = images[0] if images else without_columns[0].name
        raise InputError(f"--id names columns of tables, and {other} is not a table.")
    if images and sources:
        raise InputError(
            f"Images and tables cannot be learned together: {images[0]} and {sources[0].name}."
        )


def _opened(path: Path, reader: Reader, options: InputOptions) -> Source:
    if path.is_dir() and ".zarr" not in path.name:
        raise InputError(f"{path} is a folder, needed is a file.")
    with reading(str(path)):
        rows = reader(path, options)
        return rows if isinstance(rows, Source) else arrays.Sliced(rows, path, [path])


def images_in(folder: Path) -> list[Path]:
    """Return the image files in a folder and its subfolders, sorted by name."""
    images = sorted(
        path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file()
    )
    if not images:
        raise InputError(f"The folder {folder} holds no images ({', '.join(sorted(ENDINGS))}).")
    return images
