"""Image files as a source of patches, drawn at random positions."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import library
from atomstream.exceptions import InputError
from atomstream.io.input_options import OF_IMAGES, InputOptions
from atomstream.io.outputs import ALPHA_FORMATS, DEEP_FORMATS, PLAIN, PixelFormat, image_format
from atomstream.io.source import Block, Source, need, reading
from atomstream.streams.cuts import patch_view, take

# Of red, green and blue in grey (ITU-R BT.601), with the four digits that saved restorers of colour
# have learned with: more digits would change what they restore.
LUMA = np.array([0.2989, 0.5870, 0.1140])
GREY = np.array([0.299, 0.587, 0.114], np.float32)  # as Pillow weighs them
DEEP = {"I": 65535, "I;16": 65535, "I;16B": 65535, "F": 1}  # white of grey modes above 8 bits
# Forms of 16 bits a channel of which Pillow keeps the high bytes alone, each with the form that
# keeps the low ones. Grey with alpha is read as four channels of bytes.
LOW_BYTES = {
    **{f"{name};16B": f"{name};16L" for name in ("RGB", "RGBA")},
    **{f"{name};16L": f"{name};16B" for name in ("RGB", "RGBA")},
    **{f"{name};16N": f"{name};16{'BL'[sys.byteorder == 'big']}" for name in ("RGB", "RGBA")},
    "LA;16B": "RGBA",
}
WITH_ALPHA = ("LA", "PA", "RGBA", "La", "RGBa")  # modes of Pillow
QUARTER_TURNS = (5, 6, 7, 8)  # orientations (EXIF) that exchange height and width
ORIENTATION = 0x0112  # tag of EXIF
GROUP_PIXELS = 1 << 25  # most pixels of a group of images whose patches are mixed
BLOCK_ROWS = 4096


class Pictures(Source):
    """Patches of image files.

    A pass visits the images in a new random order, one group of images at a time. Within a group
    all patches are mixed. Values are in [0, 1].

    Parameters
    ----------
    paths : list of path
    options : InputOptions
        ``patch``, ``grey`` (without it all images are read in colour if any has colour),
        ``per_image`` (all patches of an image that has fewer), ``center`` and ``seed``.
    """

    unit = "patch"
    uses = frozenset(OF_IMAGES)

    def __init__(self, paths: list[Path], options: InputOptions) -> None:
        size, grey = options.patch, options.grey
        library("PIL", "Images")  # before any file is looked at
        folder = getattr(paths[0], "parent", paths[0])
        self.name = str(paths[0]) if len(paths) == 1 else f"{folder} ({len(paths)} images)"
        self.paths = self.files = paths
        self._size, self._center, self._seed = size, options.center, options.seed
        heads = [_head(path) for path in paths]
        # Pixels as stored, and twice as floats of four bytes.
        for path, (height, width, color) in zip(paths, heads, strict=True):
            need(height * width * (3 if color and not grey else 1) * 9, str(path))
            if min(height, width) < size:
                raise InputError(
                    f"{path} is smaller than a patch of {size} x {size} pixels; choose a smaller "
                    "--patch."
                )
        heights, widths, colors = np.array(heads).T
        self.color = not grey and bool(colors.any())
        self._pixels, self._across = heights * widths, widths - size + 1
        self._places = (heights - size + 1) * self._across
        self._counts = np.minimum(self._places, options.per_image)
        self.n_rows = int(self._counts.sum())
        self.shape = (size, size, 3) if self.color else (size, size)
        self.n_features = int(np.prod(self.shape))

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of patches; the order depends only on seed and epoch."""
        row = 0
        for number, group in enumerate(self._groups(epoch)):
            n_rows = int(self._counts[group].sum())
            if row + n_rows > start:
                # A generator for each group: a resumed pass needs none of those before it.
                rng = np.random.default_rng((self._seed, epoch, 1, number))
                yield from self._mixed(group, rng, start - row)
            row += n_rows

    def place(self, number: int) -> str:
        """Return where a patch lies, by its id: the image, and its upper left pixel."""
        image, place = number >> 40, number % (1 << 40)  # as `_mixed` packs them
        row, column = divmod(place, self._across[image])
        return f"{Path(self.paths[image]).name}, row {row}, column {column}"

    def _groups(self, epoch: int) -> list[NDArray]:
        # Images of a group are in memory together, and their patches are mixed.
        order = np.random.default_rng((self._seed, epoch, 0)).permutation(len(self.paths))
        cuts = np.flatnonzero(np.diff(np.cumsum(self._pixels[order]) // GROUP_PIXELS)) + 1
        return np.split(order, cuts)

    def _mixed(self, group: NDArray, rng: np.random.Generator, start: int) -> Iterator[Block]:
        """Yield the mixed patches of a group of images, from patch ``start`` on."""
        # Without replacement: no patch comes twice in a pass.
        drawn = [rng.choice(self._places[i], self._counts[i], replace=False) for i in group]
        which = np.repeat(np.arange(len(group)), self._counts[group])
        order, places = rng.permutation(len(which)), np.concatenate(drawn)
        views = [patch_view(load_image(self.paths[i], color=self.color), self._size) for i in group]
        for first in range(max(start, 0), len(order), BLOCK_ROWS):
            rows = order[first : first + BLOCK_ROWS]
            X = np.empty((len(rows), self.n_features), np.float32)
            for k in np.unique(which[rows]):
                here = which[rows] == k
                tops, lefts = np.divmod(places[rows][here], views[k].shape[1])
                X[here] = take(views[k], tops, lefts, self._center)[0]
            yield Block(X, (group[which[rows]].astype(np.int64) << 40) + places[rows])


def _head(path: Path) -> tuple[int, int, bool]:
    """Return height and width of an image as it is seen, and whether it has colours."""
    with _opened(path) as image:
        is_grey = image.mode in ("1", "L", "LA", *DEEP) or _raw_mode(image) == "LA;16B"
        # Of TIFF, Pillow tells the size as it is seen.
        turned = image.format != "TIFF" and image.getexif().get(ORIENTATION) in QUARTER_TURNS
        height, width = (image.width, image.height) if turned else (image.height, image.width)
        return height, width, not is_grey


def is_color(path: Path) -> bool:
    """Return whether an image file has colours, as a palette has; only its header is read."""
    return _head(path)[2]


def pixel_format(path: Path) -> PixelFormat:
    """Return how an image file holds its pixels.

    Raises
    ------
    InputError
        For 16 bits a channel of a kind that Pillow reads in part.
    """
    with _opened(path) as image:
        raw = _raw_mode(image)
        if image.mode in DEEP:
            return PixelFormat(32 if image.mode == "F" else 16)
        if raw in LOW_BYTES:
            deep = _deep(path, raw)
            opaque = deep[:, :, -1] / np.float32(65535) if deep.shape[2] in (2, 4) else None
            return PixelFormat(16, opaque)
        if "16" in raw:
            raise InputError(
                f"{path} has 16 bits per channel as {raw}, which are read in part; save it as RGB."
            )
        if image.mode not in WITH_ALPHA and "transparency" not in image.info:
            return PLAIN
        levels = np.asarray(_turned(image).convert("RGBA"), dtype=np.float32)
        return PixelFormat(8, levels[:, :, 3] / 255)


def kept_format(out: Path, source: Path, *, color: bool) -> PixelFormat:
    """Return how an image file holds its pixels; InputError where the result could not."""
    kind, form = image_format(out), pixel_format(source)
    deep = ("PNG",) if color or form.alpha is not None else DEEP_FORMATS
    if form.bits > 8 and kind not in deep:
        lost = f"{form.bits} bits per channel"
    elif form.alpha is not None and kind not in ALPHA_FORMATS and (form.alpha < 1).any():
        lost = "an alpha channel"
    else:
        return form
    raise InputError(f"{source} has {lost}, and {out} would not; end it in .png.")


def load_image(path: Path, *, color: bool) -> NDArray:
    """Return an image in [0, 1], float32, (height, width, 3) or (height, width).

    It is turned as EXIF says, palettes become colours, and alpha is left out.
    """
    with _opened(path) as image:
        # Pixels as they are stored, as floats, and a copy on the way.
        need(image.width * image.height * (3 if color else 1) * 9, str(path))
        if image.mode in DEEP:
            grey = (np.asarray(_turned(image)) / DEEP[image.mode]).astype(np.float32)
            return np.repeat(grey[:, :, None], 3, axis=2) if color else grey
        if (raw := _raw_mode(image)) in LOW_BYTES:
            values = _deep(path, raw)[:, :, : 1 if raw == "LA;16B" else 3] / np.float32(65535)
            if color:
                return np.repeat(values, 3, axis=2) if values.shape[2] == 1 else values
            return values[:, :, 0] if values.shape[2] == 1 else values @ GREY
        turned = _turned(image)
        if "transparency" in image.info:  # to be left out with the alpha channel
            turned = turned.convert("RGBA")
        return np.asarray(turned.convert("RGB" if color else "L"), dtype=np.float32) / 255


def _raw_mode(image: Any) -> str:
    """Return the form in which a file holds the pixels of an image, in words of Pillow."""
    args = image.tile[0].args if image.tile else ""
    return str(args[0] if isinstance(args, tuple) and args else args)


def _turned(image: Any) -> Any:
    return library("PIL.ImageOps", "Images").exif_transpose(image)


def _deep(path: Path, raw: str) -> NDArray:
    """Return 16 bits of each channel, (height, width, n_channels), from two readings of a file."""
    high, low = (_bytes_of(path, raw, mode) for mode in (raw, LOW_BYTES[raw]))
    if raw == "LA;16B":
        high, low = low[:, :, ::2], low[:, :, 1::2]
    return high.astype(np.uint16) * 256 + low


def _bytes_of(path: Path, raw: str, mode: str) -> NDArray:
    """Return one byte of each channel."""
    with _opened(path) as image:
        image.tile = [
            tile._replace(args=mode if tile.args == raw else (mode, *tile.args[1:]))
            for tile in image.tile
        ]
        return np.asarray(_turned(image))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    # By its name, Pillow would map a TIFF into memory, and take its turned size for the stored one.
    opened = library("PIL.Image", "Images").open
    with reading(str(path)), path.open("rb") as file, opened(file) as image:
        yield image
