"""``image denoise`` and ``image inpaint``: pictures by their patches."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from numpy.typing import NDArray

from atomstream.cli.looking import print_facts
from atomstream.cli.options import PATH, as_json, count_option, path_option
from atomstream.cli.running import checked_aloud
from atomstream.exceptions import InputError
from atomstream.fields import images
from atomstream.fields.images.model import ImageDictionary
from atomstream.io import check_out, image_format, is_color, kept_format, load_image, write_image
from atomstream.io.outputs import PixelFormat
from atomstream.io.source import naming_source
from atomstream.looks.look import look_of
from atomstream.runs import as_input_error, callbacks_set, open_record
from atomstream.watch.callbacks import LearningBar

BITS = (
    "Bits of the values of a PICTURE of 16 bits per channel, 12 for many cameras; by default as "
    "many as its largest value needs."
)
_picture = click.argument("picture", type=PATH)
_out = path_option("--out", "File to write.", required=True)
_LEARNED = [
    path_option(
        "--model",
        "A run on images or a saved ImageDictionary; by default one is learned from PICTURE.",
    ),
    count_option("--atoms", "Number of atoms to learn.", least=1, default=256),
    count_option("--patch", "Height and width of a patch, in pixels.", least=2, default=8),
    count_option("--seed", "Random seed.", least=0, default=0),
    click.option("--bits", type=click.IntRange(8, 16), help=BITS),
    click.option("--jobs", type=int, help="Threads for coding; -1 takes all (default: 1)."),
]


def _learned(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which dictionary is used."""
    # Decorators apply from the last to the first: reversed, the help lists them in order.
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
def denoise(
    picture: Path, out: Path, sigma: float | None, bits: int | None, as_json: bool, **how: Any
) -> int:
    """Remove the noise from PICTURE."""
    pixels, white, form, facts = _pixels_kept(picture, out, bits, as_json)
    model = _model(pixels, **how)
    if sigma is not None:
        noise = sigma / 255
    else:
        noise = checked_aloud(picture, lambda: images.noise_level(pixels))
    write_image(out, white * checked_aloud(picture, lambda: model.denoise(pixels, noise)), form)
    return print_facts({"out": str(out), "sigma": round(255 * noise, 2), **facts}, as_json)


@click.command()
@_picture
@path_option("--mask", "Image that is white where PICTURE is unknown.", required=True)
@_out
@_learned
@as_json
def inpaint(
    picture: Path, mask: Path, out: Path, bits: int | None, as_json: bool, **how: Any
) -> int:
    """Fill in the missing pixels of PICTURE."""
    pixels, white, form, facts = _pixels_kept(picture, out, bits, as_json)
    holes = _pixels(mask, color=False) > 0.5
    if holes.shape != pixels.shape[:2]:
        raise InputError(
            f"{mask} has {holes.shape} pixels, {picture} has {pixels.shape[:2]}; they must agree."
        )
    # Learned from the picture with its holes filled roughly: patches that are whole are few where
    # holes are many.
    model = _model(checked_aloud(mask, lambda: images.first_guess(pixels, holes)), **how)
    write_image(out, white * checked_aloud(picture, lambda: model.inpaint(pixels, holes)), form)
    return print_facts({"out": str(out), "filled": round(float(holes.mean()), 4), **facts}, as_json)


def _model(
    pixels: NDArray, model: Path | None, atoms: int, patch: int, seed: int, jobs: int | None
) -> ImageDictionary:
    """Return the model in a file or run, or else one that is learned from the image itself."""
    if model is not None:
        return _loaded(model).set_params(n_jobs=jobs)
    made = ImageDictionary(atoms, patch, n_jobs=jobs, random_state=seed)
    with callbacks_set(made, LearningBar()):
        return as_input_error("image", lambda: made.fit(pixels))


def _loaded(path: Path) -> ImageDictionary:
    """Return the dictionary of patches in a run or a model file."""
    record = open_record(path)
    shape = look_of(record.model).files.patch_shape(record)
    # A run on patches by `learn` holds a bare dictionary, which has the atoms but not the methods.
    if isinstance(record.model, ImageDictionary):
        return record.model
    with naming_source(path):
        return ImageDictionary.from_learner(record.model, shape)


def _pixels_kept(
    path: Path, out: Path, bits: int | None, as_json: bool
) -> tuple[NDArray, float, PixelFormat, dict[str, Any]]:
    """Return the pixels of a picture over white, white, their format, and what to say of it."""
    check_out(out, path)
    image_format(out)
    pixels = _pixels(path)
    form = kept_format(out, path, color=pixels.ndim > 2)
    if form.bits != 16:
        if bits is not None:
            raise InputError(f"--bits is for 16 bits per channel, and {path} has {form.bits}.")
        return pixels, 1.0, form, {}
    largest, guess = round(65535 * float(pixels.max())), {}
    if bits is None:
        bits = min(max(8, largest.bit_length()), 16)
        why = f"largest value {largest} taken for one of {bits} bits; --bits says otherwise"
        guess = {"guesses": {str(path): {"bits": why}}} if bits < 16 and as_json else {}
        if bits < 16 and not as_json:
            click.echo(f"{path}: {why}.", err=True)
    white = (2**bits - 1) / 65535
    return pixels / white, white, form, {"bits": bits, **guess}


def _pixels(path: Path, color: bool | None = None) -> NDArray:
    """Return an image in [0, 1], in colour if it has some."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    return load_image(path, color=is_color(path) if color is None else color)
