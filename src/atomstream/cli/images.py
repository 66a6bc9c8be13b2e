"""``image denoise``, ``inpaint``, ``compress`` and ``decompress``: what a dictionary of patches does to a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import atomstream
from atomstream.callbacks import LearningBar
from atomstream.cli.running import checked, heeded, warn
from atomstream.cli.using import check_out, picture_format, tell, write_picture
from atomstream.domains import images
from atomstream.estimators.image import ImageDictionary
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file
from atomstream.io.images import is_color, load_image, not_kept

# of a packed picture fewer: its dictionary, a byte per entry, is at most half of the pixels
ATOMS = 256


def denoise(image: Path, out: Path, sigma: float | None, how: dict[str, Any], as_json: bool) -> int:
    """Write an image without its noise."""
    _check(out, image, picture=True)
    pixels = _picture(image)
    model = _model(how, pixels)
    noise = checked(image, lambda: images.noise_level(pixels)) if sigma is None else sigma / 255
    write_picture(out, checked(image, lambda: model.denoise(pixels, noise)))
    tell({"out": str(out), "sigma": round(255 * noise, 2)}, as_json)
    return 0


def inpaint(image: Path, mask: Path, out: Path, how: dict[str, Any], as_json: bool) -> int:
    """Write an image with the pixels filled in that are white in the mask."""
    _check(out, image, picture=True)
    pixels, white = _picture(image), _pixels(mask, color=False) > 0.5
    if white.shape != pixels.shape[:2]:
        raise InputError(
            f"{mask} has {white.shape} pixels, {image} has {pixels.shape[:2]}; they must agree."
        )
    model = _model(how, checked(mask, lambda: images.first_guess(pixels, white)))
    write_picture(out, checked(image, lambda: model.inpaint(pixels, white)))
    tell({"out": str(out), "filled": round(float(white.mean()), 4)}, as_json)
    return 0


def compress(
    image: Path,
    out: Path,
    quality: float,
    include_dictionary: bool,
    how: dict[str, Any],
    as_json: bool,
) -> int:
    """Write an image as a small file, and say how small and how good it is."""
    _check(out, image)
    pixels = np.rint(255 * _picture(image)).astype(np.uint8)
    if not include_dictionary and how["model"] is None:
        raise InputError(
            "--no-dictionary needs a --model: without its dictionary nobody could unpack the file."
        )
    model = _model(
        how, pixels, min(ATOMS, pixels.shape[0] * pixels.shape[1] // (2 * how["patch"] ** 2))
    )
    data = heeded(
        image, lambda: model.compress(pixels, quality, include_dictionary=include_dictionary)
    )
    with whole_file(out) as file:
        file.write(data)
    facts = {
        "out": str(out),
        "bytes": len(data),
        "bits_per_pixel": round(8 * len(data) / (pixels.shape[0] * pixels.shape[1]), 4),
        "psnr": round(images.psnr(pixels, model.decompress(data)), 3),
    }
    tell(facts, as_json)
    return 0


def decompress(packed: Path, out: Path, model: Path | None, as_json: bool) -> int:
    """Write the picture in a small file as an image."""
    _check(out, packed, picture=True)
    data = checked(packed, packed.read_bytes)
    reader = images.decompress if model is None else _loaded(model).decompress
    pixels = reader(data)
    write_picture(out, pixels / images.white(pixels))
    tell({"out": str(out), "height": pixels.shape[0], "width": pixels.shape[1]}, as_json)
    return 0


def _model(how: dict[str, Any], pixels: NDArray, n_atoms: int = ATOMS) -> ImageDictionary:
    """Return the model in a file, or one of the atoms asked for, else ``n_atoms``, learned from the image itself."""
    if how["model"] is not None:
        return _loaded(how["model"]).set_params(n_jobs=how["jobs"])
    n_atoms = max(n_atoms, 1) if how["atoms"] is None else how["atoms"]
    model = ImageDictionary(n_atoms, how["patch"], n_jobs=how["jobs"], random_state=how["seed"])
    return checked("image", lambda: model.set_callbacks(LearningBar()).fit(pixels)).set_callbacks()


def _loaded(path: Path) -> Any:
    """Return the image dictionary in a file."""
    model = checked(path, lambda: atomstream.load(path))
    if not isinstance(model, ImageDictionary):
        raise InputError(f"{path} holds {type(model).__name__}, needed is ImageDictionary.")
    return model


def _picture(path: Path) -> NDArray:
    """Return the pixels of a picture; what of it the result will not have is told."""
    pixels = _pixels(path)
    for part in not_kept(path):
        warn(f"{path} has {part}; the result does not.")
    return pixels


def _pixels(path: Path, color: bool | None = None) -> NDArray:
    """Return an image in [0, 1], in colour if it has some."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    return load_image(path, color=is_color(path) if color is None else color)


def _check(out: Path, given: Path, *, picture: bool = False) -> None:
    """Refuse a place where the result cannot go, before any work is done."""
    check_out(out)
    if out.resolve() == given.resolve():
        raise InputError(f"{out} is the input itself; choose another --out.")
    if picture:
        picture_format(out)
