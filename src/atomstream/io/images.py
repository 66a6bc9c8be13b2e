"""Image files as a source of patches, drawn at random positions."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import library
from atomstream.exceptions import InputError
from atomstream.io.input_options import OF_IMAGES, InputOptions
from atomstream.io.source import Block, Source, need, reading
from atomstream.streams import patch_view, take

# Of red, green and blue in grey (ITU-R BT.601), with the four digits that saved ColorRestorers have
# learned with: more digits would change what they restore.
LUMA = np.array([0.2989, 0.5870, 0.1140])
DEEP = {"I": 65535, "I;16": 65535, "I;16B": 65535, "F": 1}  # white of grey modes above 8 bits
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
    """Return height and width of an image, and whether it has colours."""
    with _opened(path) as image:
        return image.height, image.width, image.mode not in ("1", "L", "LA", *DEEP)


def is_color(path: Path) -> bool:
    """Return whether an image file has colours; only its header is read."""
    return _head(path)[2]


def not_kept(path: Path) -> list[str]:
    """Return, in words, what is lost when an image is written again with 8 bits."""
    with _opened(path) as image:
        alpha = image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info
        # Pillow reads 16-bit RGB as 8-bit, so the mode alone does not say it
        deep = image.mode in DEEP or any("16" in str(tile.args) for tile in image.tile)
    return ["an alpha channel"] * alpha + ["more than 8 bits per channel"] * deep


def load_image(path: Path, *, color: bool) -> NDArray:
    """Return an image in [0, 1], float32, (height, width, 3) or (height, width)."""
    with _opened(path) as image:
        # Pixels as they are stored, as floats, and a copy on the way.
        need(image.width * image.height * (3 if color else 1) * 9, str(path))
        if image.mode in DEEP:
            grey = (np.asarray(image) / DEEP[image.mode]).astype(np.float32)
            return np.repeat(grey[:, :, None], 3, axis=2) if color else grey
        turned = library("PIL.ImageOps", "Images").exif_transpose(image)
        return np.asarray(turned.convert("RGB" if color else "L"), dtype=np.float32) / 255


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    opened = path if isinstance(path, Path) else path.open()
    with reading(str(path)), library("PIL.Image", "Images").open(opened) as image:
        yield image
