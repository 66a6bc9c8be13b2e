"""``image denoise``, ``inpaint``, ``compress`` and ``decompress``: pictures by their patches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from atomstream.callbacks import LearningBar
from atomstream.cli.looking import print_facts
from atomstream.cli.options import PATH, as_json, count_option, path_option
from atomstream.cli.running import checked_aloud, warn
from atomstream.domains import images
from atomstream.domains.images.quality import SHORT
from atomstream.estimators.image import ImageDictionary
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file
from atomstream.io.images import is_color, load_image, not_kept
from atomstream.io.outputs import check_out, image_format, write_image
from atomstream.io.source import named
from atomstream.looks.look import look_of
from atomstream.runs.record import open_record
from atomstream.runs.task import checked, heard

ATOMS = 256
FEW = 64  # atoms that a picture is compressed with at first; more make a larger file

_picture = click.argument("picture", type=PATH)
_out = path_option("--out", "File to write.", required=True)
_LEARNED = [
    path_option(
        "--model",
        "A run on images or a saved ImageDictionary; by default one is learned from PICTURE.",
    ),
    count_option(
        "--atoms",
        "Number of atoms to learn (default: 256; to compress as few as the quality needs).",
        least=1,
    ),
    count_option("--patch", "Height and width of a patch, in pixels.", least=2, default=8),
    count_option("--seed", "Random seed.", least=0, default=0),
    click.option("--jobs", type=int, help="Threads for coding; -1 takes all (default: 1)."),
]


def _learned(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which dictionary is used."""
    for option in reversed(_LEARNED):
        command = option(command)
    return command


@click.command()
@_picture
@_out
@click.option(
    "--sigma",
    type=click.FloatRange(min=0),
    help="Standard deviation of the noise, in levels of 255; by default it is estimated.",
)
@_learned
@as_json
def denoise(picture: Path, out: Path, sigma: float | None, as_json: bool, **how: Any) -> int:
    """Remove the noise from PICTURE."""
    _check(out, picture, image=True)
    pixels = _pixels_kept(picture)
    model = _model(how, pixels)
    if sigma is not None:
        noise = sigma / 255
    else:
        noise = checked_aloud(picture, lambda: images.noise_level(pixels))
    write_image(out, checked_aloud(picture, lambda: model.denoise(pixels, noise)))
    return print_facts({"out": str(out), "sigma": round(255 * noise, 2)}, as_json)


@click.command()
@_picture
@path_option("--mask", "Image that is white where PICTURE is unknown.", required=True)
@_out
@_learned
@as_json
def inpaint(picture: Path, mask: Path, out: Path, as_json: bool, **how: Any) -> int:
    """Fill in the missing pixels of PICTURE."""
    _check(out, picture, image=True)
    pixels, white = _pixels_kept(picture), _pixels(mask, color=False) > 0.5
    if white.shape != pixels.shape[:2]:
        raise InputError(
            f"{mask} has {white.shape} pixels, {picture} has {pixels.shape[:2]}; they must agree."
        )
    model = _model(how, checked_aloud(mask, lambda: images.first_guess(pixels, white)))
    write_image(out, checked_aloud(picture, lambda: model.inpaint(pixels, white)))
    return print_facts({"out": str(out), "filled": round(float(white.mean()), 4)}, as_json)


@click.command()
@_picture
@_out
@click.option(
    "--quality", type=float, default=35.0, show_default=True, help="PSNR to reach, in decibels."
)
@click.option(
    "--dictionary/--no-dictionary", default=True, help="Whether the file holds the atoms."
)
@_learned
@as_json
def compress(
    picture: Path, out: Path, quality: float, dictionary: bool, as_json: bool, **how: Any
) -> int:
    """Write PICTURE as sparse codes into a file; a little is lost.

    This is a way to look at a dictionary and to ship it, not one to save space: with its dictionary
    the file of a photograph is mostly larger than JPEG's at the same quality, without it about as
    large. The size of a JPEG file that is as good is printed.
    """
    _check(out, picture)
    pixels = np.rint(255 * _pixels_kept(picture)).astype(np.uint8)
    if not dictionary and how["model"] is None:
        raise InputError(
            "--no-dictionary needs a --model: without its dictionary nobody could unpack the file."
        )
    data, reached = _compressed(picture, pixels, quality, dictionary, how)
    with whole_file(out) as file:
        file.write(data)
    facts = {
        "out": str(out),
        "bytes": len(data),
        "bits_per_pixel": round(8 * len(data) / (pixels.shape[0] * pixels.shape[1]), 4),
        "psnr": round(reached, 3),
        "jpeg_bytes": images.jpeg_size(pixels, reached),
    }
    return print_facts({name: fact for name, fact in facts.items() if fact is not None}, as_json)


def _compressed(
    picture: Path, pixels: NDArray, quality: float, dictionary: bool, how: dict[str, Any]
) -> tuple[bytes, float]:
    """Return a file and its quality; where atoms are learned, of as few as the quality needs."""
    # The dictionary, a byte per entry, is at most half the pixels.
    most = max(1, min(ATOMS, pixels.shape[0] * pixels.shape[1] // (2 * how["patch"] ** 2)))
    n_atoms = min(FEW, most) if how["model"] is None and how["atoms"] is None else most
    while True:
        complaints: list[str] = []
        model = _model(how, pixels, n_atoms)
        pack = partial(model.compress, include_dictionary=dictionary)
        with heard(complaints.append):
            data = checked(picture, partial(pack, pixels, quality))
        reached = images.psnr(pixels, model.decompress(data))
        if n_atoms == most or reached >= quality - SHORT:
            break
        n_atoms = min(2 * n_atoms, most)
    for sentence in complaints:
        warn(sentence)
    return data, reached


@click.command()
@click.argument("packed", type=PATH)
@_out
@path_option("--model", "Run or model that holds the atoms, where PACKED does not.")
@as_json
def decompress(packed: Path, out: Path, model: Path | None, as_json: bool) -> int:
    """Write the picture in PACKED as an image."""
    _check(out, packed, image=True)
    data = checked(packed, packed.read_bytes)
    reader = images.decompress if model is None else _loaded(model).decompress
    pixels = reader(data)
    write_image(out, pixels / images.white(pixels))
    return print_facts(
        {"out": str(out), "height": pixels.shape[0], "width": pixels.shape[1]}, as_json
    )


commands = [denoise, inpaint, compress, decompress]


def _model(how: dict[str, Any], pixels: NDArray, n_atoms: int = ATOMS) -> ImageDictionary:
    """Return the model in a file or run, or else one that is learned from the image itself."""
    if how["model"] is not None:
        return _loaded(how["model"]).set_params(n_jobs=how["jobs"])
    n_atoms = max(n_atoms, 1) if how["atoms"] is None else how["atoms"]
    model = ImageDictionary(n_atoms, how["patch"], n_jobs=how["jobs"], random_state=how["seed"])
    return checked("image", lambda: model.set_callbacks(LearningBar()).fit(pixels)).set_callbacks()


def _loaded(path: Path) -> ImageDictionary:
    """Return the dictionary of patches in a run or a model file."""
    if not path.exists():
        raise InputError(f"There is no {path}.")
    record = open_record(path)
    shape = look_of(record.model).patch_shape(record)
    if isinstance(record.model, ImageDictionary):
        return record.model
    with named(path):
        return ImageDictionary.from_learner(record.model, shape)


def _pixels_kept(path: Path) -> NDArray:
    """Return the pixels of a picture, and warn of what the result will not have of it."""
    pixels = _pixels(path)
    for part in not_kept(path):
        warn(f"{path} has {part}; the result does not.")
    return pixels


def _pixels(path: Path, color: bool | None = None) -> NDArray:
    """Return an image in [0, 1], in colour if it has some."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    return load_image(path, color=is_color(path) if color is None else color)


def _check(out: Path, source: Path, *, image: bool = False) -> None:
    """Raise InputError for a place where the result cannot go, before any work is done."""
    check_out(out, source)
    if image:
        image_format(out)
