"""Streams of patches drawn from arrays, memory maps, files and folders."""

from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.io import Feed, InputOptions, Pictures, Position, images_in
from atomstream.io.pixels import as_image, white
from atomstream.streams.cuts import patch_view, patches


class Drawn(NamedTuple):
    """Patches drawn at random positions.

    Attributes
    ----------
    shape : tuple of int
        Shape of a patch.
    n_rows : int
        Number of patches in the stream.
    batches : generator of ndarray of shape (at most batch_size, n_features)
        White is 1.
    """

    shape: tuple[int, ...]
    n_rows: int
    batches: Generator[NDArray]


def drawn_patches(
    images: Any,
    size: int,
    n_patches: int,
    batch_size: int,
    rng: np.random.Generator,
    color: bool | None = None,
) -> Drawn:
    """Return a stream of patches of one image or several.

    Parameters
    ----------
    images : array, path, or list of such
    size : int
        Height and width of a patch.
    n_patches, batch_size : int
    rng : numpy.random.Generator
    color : bool, optional
        Whether files are read in colour; by default they are if any of them has colour.

    Raises
    ------
    ValueError
        For data that are no image, images that are too small, and images of several kinds.
    """
    listed = list(images) if isinstance(images, list | tuple) else [images]
    if not listed:
        raise ValueError("images is an empty list; give at least one image.")
    if all(isinstance(image, str | Path) for image in listed):
        paths = [Path(name) for name in listed]
        files = [file for path in paths for file in (images_in(path) if path.is_dir() else [path])]
        seed, per_image = int(rng.integers(2**31)), -(-n_patches // len(files))
        how = InputOptions(patch=size, grey=color is False, per_image=per_image, seed=seed)
        source = Pictures(files, how)
        if color and not source.color:
            raise ValueError(f"{source.name} is grey, but the dictionary has colours.")
        pieces = Feed([source], batch_size).batches(Position())
        return Drawn(source.shape or (), source.n_rows or 0, (piece.X for piece in pieces))
    if any(isinstance(image, str | Path) for image in listed):
        raise ValueError("images must be all arrays or all paths, got both.")
    arrays = [as_image(image) for image in listed]
    if len({(image.shape[2:], white(image)) for image in arrays}) > 1:
        kinds = sorted({f"{image.dtype} {image.shape}" for image in arrays})
        raise ValueError(
            f"All images must have the same channels and type, got {', '.join(kinds)}."
        )
    for image in arrays:
        patch_view(image, size)  # raises if the image is too small
    cut = patches(arrays, size, batch_size, n_samples=n_patches, rng=rng)
    shape, scale = (size, size, *arrays[0].shape[2:]), white(arrays[0])
    return Drawn(shape, n_patches, (rows / rows.dtype.type(scale) for rows in cut))
