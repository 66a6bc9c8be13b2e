"""Inputs as rows of numbers: tables, arrays and images, read in blocks from any row on."""

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import fields
from pathlib import Path
from typing import Any

from atomstream.base import checked_numbers
from atomstream.base.declared import declared, loaded
from atomstream.exceptions import InputError
from atomstream.io.files import expanded
from atomstream.io.input_options import OF_IMAGES, OF_TEXT, InputOptions, TableOptions
from atomstream.io.source import Source, existing, reading

Reader = Callable[[Path, InputOptions], Any]  # returns a Source, or an array

# Readers by the endings of files; those of the package by their place, loaded when a file comes.
KINDS: dict[str, Reader | str] = {
    **dict.fromkeys((".csv", ".tsv", ".csv.gz", ".tsv.gz"), "delimited:DelimitedTable"),
    **dict.fromkeys((".jsonl", ".jsonl.gz"), "json_lines:JsonTable"),
    ".parquet": "parquet:ParquetTable",
    **dict.fromkeys((".arrow", ".feather"), "parquet:ArrowTable"),
    ".npy": "arrays:npy",
    ".npz": "arrays:npz",
    **dict.fromkeys((".mtx", ".mtx.gz"), "arrays:matrix_market"),
    **dict.fromkeys((".zarr", ".zarr.zip"), "arrays:zarr_array"),
    **dict.fromkeys((".h5", ".hdf5"), "hdf5:hdf5"),
}
ENDINGS = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".gif", ".pgm", ".ppm"}
STANDARD_INPUT = "-"
CHECKED = [each.name for each in fields(TableOptions) if each.name != "where_used"]
CHECKED += ["key", *OF_IMAGES]
# Rows that a model refuses are bad lines too, whatever they come from.
OF_ROWS = frozenset({"on_bad_line"})
OF_COLUMNS = frozenset({"columns", "drop"})  # what every table uses
CALLED = {"missing": "na"}  # options of TableOptions that have another name on the command line


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
        Of the options an array takes ``key`` and ``sample_axes``, and a source those in ``uses``.

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
    known = _readers()
    # The longest ending first: one's own ".gaia.csv" must not be read as ".csv".
    found = next((known[end] for end in sorted(known, key=len)[::-1] if name.endswith(end)), None)
    return _loaded(found) if isinstance(found, str) else found


def _readers() -> dict[str, Reader | str]:
    """Return all readers by the endings of files: those of fields, and what was registered."""
    return declared("readers") | KINDS


def _loaded(place: str) -> Any:
    """Return what lies at a place, in this folder where it names no other."""
    return loaded(place if place.startswith("atomstream.") else f"atomstream.io.{place}")


def open_inputs(inputs: Sequence[str], options: InputOptions | None = None) -> list[Source]:
    """Return inputs as sources of rows; all images together are one source.

    Parameters
    ----------
    inputs : sequence of str
        Files, patterns such as ``data/*.parquet``, folders of images, or "-" for lines on standard
        input.
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
    if options.triples:
        return [_loaded("triple_files:TripleRows")(inputs, options)]
    if STANDARD_INPUT in inputs and len(inputs) > 1:
        raise InputError(
            "Standard input cannot be combined with other inputs, because it can be read only once."
        )
    sources: list[Source] = []
    images: list[Path] = []
    for name in expanded(inputs):
        opened = _open_one(name, options)
        if isinstance(opened, Source):
            sources.append(opened)
        else:
            images.extend(opened)
    _check_together(sources, images, options)
    return [_loaded("images:Pictures")(images, options)] if images else sources


def _open_one(name: str, options: InputOptions) -> Source | list[Path]:
    """Return an input as a source, or the image files that it stands for."""
    if name == STANDARD_INPUT:
        return _loaded("delimited:DelimitedTable")(None, options)
    if not name:
        raise InputError("The name of an input is empty.")
    path = existing(name)
    reader = reader_of(path)
    if reader is not None:
        if path.is_dir() and ".zarr" not in path.name:
            raise InputError(f"{path} is a folder, needed is a file.")
        return rows_of(path, reader, options)
    if path.is_dir():
        return images_in(path)
    if path.suffix.lower() in ENDINGS:
        return [path]
    raise InputError(
        f"{name} has an ending that is not known; known are "
        f"{', '.join([*_readers(), *sorted(ENDINGS)])} and folders of images."
    )


def _check_together(sources: list[Source], images: list[Path], options: InputOptions) -> None:
    """Check that inputs agree with each other and with the options."""
    for image in images[:1]:
        check_used(options, OF_ROWS | {*OF_IMAGES}, str(image))
    others = [*map(str, images), *(source.name for source in sources if not source.has_columns)]
    if options.naming.ids and others:
        raise InputError(f"--id names columns of tables, and {others[0]} is not a table.")
    if images and sources:
        raise InputError(
            f"Images and tables cannot be learned together: {images[0]} and {sources[0].name}."
        )


def check_used(options: TableOptions, uses: Set[str], name: str) -> None:
    """Refuse the options that a kind of input does not use."""
    known = {*uses, *options.where_used}
    if unused := [option for option in options.given(CHECKED) if option not in known]:
        raise InputError(refusal(unused[0], name))


def refusal(option: str, name: str) -> str:
    """Return the complaint about an option that a kind of input does not use."""
    if option in ("columns", "drop"):
        verb = "chooses" if option == "columns" else "leaves out"
        return f"--{option} {verb} columns of tables, and {name} is not a table."
    if option == "key":
        return f"--key names an array of a file that may hold several, and {name} is not one."
    if option == "center":
        return (
            f"--center subtracts the mean of each patch of an image, and {name} is none; to "
            "subtract the means of columns take --model dictionary --scale zscore."
        )
    if option in OF_IMAGES:
        return f"--{option.replace('_', '-')} is for images, and {name} is not one."
    flag, texts = CALLED.get(option, option).replace("_", "-"), " of text" * (option in OF_TEXT)
    return f"--{flag} is for tables{texts}, and {name} is not one."


def rows_of(place: Any, reader: Reader, options: InputOptions) -> Source:
    """Return what a reader makes of a file as a source of rows."""
    with reading(str(place)):
        rows = reader(place, options)
        if not isinstance(rows, Source):
            rows = checked_numbers(rows, str(place))
            rows = _loaded("arrays:Sliced")(rows, place, [place], options.sample_axes)
            rows.uses = {"key"}  # which is left to the function
        uses = rows.uses | OF_ROWS | (OF_COLUMNS if rows.has_columns else frozenset())
        check_used(options, uses, str(place))
        return rows


def axes_of(text: str | None) -> tuple[int, ...] | None:
    """Return the numbers of axes in a text such as "0,1"."""
    if text is None:
        return None
    numbers = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch(r"-?\d{1,2}", number) for number in numbers):
        raise InputError(f"--sample-axes is {text!r:.80}, needed are numbers of axes, such as 0,1.")
    return tuple(map(int, numbers))


def check_axes(sources: Sequence[Source], axes: object, n_rows: int | None = None) -> str | None:
    """Check that the axes of the samples of arrays are named where they have to be.

    Parameters
    ----------
    sources : sequence of Source
        What was opened.
    axes : object
        The axes that were named; None if none were.
    n_rows : int, optional
        Rows of all inputs, where ``sources`` are not all of them.

    Returns
    -------
    str or None
        A sentence that says how an array was flattened, where nothing named its axes.

    Raises
    ------
    InputError
        Where an array would be flattened to fewer rows than features, and for axes of what is not a
        dense array.
    """
    tables = [source for source in sources if not source.takes_axes]
    if axes is not None and tables:
        raise InputError(
            f"--sample-axes names axes of arrays, and {tables[0].name} is not a dense array."
        )
    source = next((source for source in sources if source.flattened is not None), None)
    if source is None or source.flattened is None:
        return None
    n_rows = sum(each.n_rows or 0 for each in sources) if n_rows is None else n_rows
    shape, width = source.flattened, source.n_features
    pixels = ",".join(map(str, range(len(shape) - 1)))
    if n_rows < width:
        raise InputError(
            f"{source.name} has shape {shape}: its first axis would give {n_rows:,} rows of "
            f"{width:,} features. Name the axes of the samples: --sample-axes {pixels} gives rows "
            f"of {shape[-1]:,} features, --sample-axes 0 flattens it all the same."
        )
    return (
        f"{source.name} has shape {shape}: the first axis was taken for the samples, and the "
        f"others were flattened to {width:,} features; --sample-axes names the axes of the samples."
    )


def images_in(folder: Path, *, deep: bool = True) -> list[Path]:
    """Return the image files in a folder, and in its subfolders if deep, sorted by name."""
    found = folder.rglob("*") if deep else folder.iterdir()
    images = sorted(path for path in found if path.suffix.lower() in ENDINGS and path.is_file())
    if not images:
        raise InputError(f"The folder {folder} holds no images ({', '.join(sorted(ENDINGS))}).")
    return images
