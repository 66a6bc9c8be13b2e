"""Inputs as rows of numbers: tables, arrays and images, read in batches, from any row on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from atomstream.exceptions import InputError
from atomstream.io import arrays, tables
from atomstream.io.feed import Feed, Position
from atomstream.io.images import ENDINGS, Pictures
from atomstream.io.source import Source, reading

__all__ = ["Feed", "Position", "Source", "Wanted", "images_in", "open_inputs"]


@dataclass(frozen=True)
class Wanted:
    """How inputs are to be read; each setting concerns the kinds of input that have a use for it.

    Parameters
    ----------
    columns : sequence of str
        Of tables: names, numbers from 1, or ranges of numbers.
    key : str, optional
        Which table of a ``.npz`` file or Zarr group.
    patch : int, default=12
        Height and width of the patches of images.
    grey : bool, default=False
        Whether images are turned into grey.
    per_image : int, default=20000
        Patches drawn from each image in a pass.
    center : {"patch"}, optional
        Whether patches lose their mean.
    seed : int, default=0
        Of the order of patches.
    """

    columns: Sequence[str] = ()
    key: str | None = None
    patch: int = 12
    grey: bool = False
    per_image: int = 20_000
    center: str | None = None
    seed: int = 0


KINDS: dict[str, Callable[[Path, Wanted], Source]] = {
    ".csv": lambda path, wanted: tables.Lines(path, wanted.columns),
    ".tsv": lambda path, wanted: tables.Lines(path, wanted.columns),
    ".csv.gz": lambda path, wanted: tables.Lines(path, wanted.columns),
    ".tsv.gz": lambda path, wanted: tables.Lines(path, wanted.columns),
    ".parquet": lambda path, wanted: tables.Parquet(path, wanted.columns),
    ".npy": lambda path, _: arrays.npy(path),
    ".npz": lambda path, wanted: arrays.npz(path, wanted.key),
    ".mtx": lambda path, _: arrays.matrix_market(path),
    ".mtx.gz": lambda path, _: arrays.matrix_market(path),
    ".zarr": lambda path, wanted: arrays.zarr_array(path, wanted.key),
    ".zarr.zip": lambda path, wanted: arrays.zarr_array(path, wanted.key),
}
STANDARD_INPUT = "-"


def open_inputs(inputs: Sequence[str], wanted: Wanted | None = None) -> list[Source]:
    """Open inputs as sources of rows; all images together are one.

    Parameters
    ----------
    inputs : sequence of str
        Files, folders of images, or "-" for lines on standard input.
    wanted : Wanted, optional

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        A sentence for each thing that can be wrong with an input.
    """
    wanted = wanted or Wanted()
    if not inputs:
        raise InputError(
            "No input was given; name files, a folder of images, or - for standard input."
        )
    if STANDARD_INPUT in inputs and len(inputs) > 1:
        raise InputError(
            "Standard input cannot be combined with other inputs: it cannot be gone back to."
        )
    sources: list[Source] = []
    images: list[Path] = []
    for name in inputs:
        if name == STANDARD_INPUT:
            sources.append(tables.Lines(None, wanted.columns))
            continue
        if not name:
            raise InputError("The name of an input is empty.")
        path = Path(name)
        ending = next((ending for ending in KINDS if path.name.lower().endswith(ending)), None)
        if not path.exists():
            raise InputError(f"There is no {name}.")
        if ending is not None:
            sources.append(_opened(path, KINDS[ending], wanted))
        elif path.is_dir():
            images.extend(images_in(path))
        elif path.suffix.lower() in ENDINGS:
            images.append(path)
        else:
            raise InputError(
                f"{name} ends like no input that is known; known are {', '.join([*KINDS, *sorted(ENDINGS)])} "
                "and folders of images."
            )
    tables_only = [
        source for source in sources if not isinstance(source, tables.Lines | tables.Parquet)
    ]
    if wanted.columns and (images or tables_only):
        raise InputError(
            f"--columns chooses columns of tables, {images[0] if images else tables_only[0].name} is none."
        )
    if images and sources:
        raise InputError(
            f"Images and tables cannot be learned together: {images[0]} and {sources[0].name}."
        )
    if images:
        return [
            Pictures(
                images,
                wanted.patch,
                grey=wanted.grey,
                per_image=wanted.per_image,
                center=wanted.center,
                seed=wanted.seed,
            )
        ]
    return sources


def _opened(path: Path, kind: Callable[[Path, Wanted], Source], wanted: Wanted) -> Source:
    if path.is_dir() and ".zarr" not in path.name:
        raise InputError(f"{path} is a folder, needed is a file.")
    with reading(str(path)):
        return kind(path, wanted)


def images_in(folder: Path) -> list[Path]:
    """Return the image files in a folder and below, in the order of their names."""
    images = sorted(
        path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file()
    )
    if not images:
        raise InputError(f"The folder {folder} holds no images ({', '.join(sorted(ENDINGS))}).")
    return images
