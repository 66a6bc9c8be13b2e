"""What JPEG makes of an image, to compare with."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.core.extras import library
from atomstream.domains.images.pixels import psnr

__all__ = ["jpeg_size"]

BEST = 95  # above it Pillow's files grow without being better
SAMPLINGS = (0, 2)  # of colour: as fine as brightness, and half as fine in both directions


def jpeg_size(image: NDArray, quality: float) -> int | None:
    """Return the bytes of the smallest JPEG file that is as good as asked.

    Parameters
    ----------
    image : ndarray of uint8 of shape (height, width) or (height, width, 3)
    quality : float
        Peak signal-to-noise ratio in decibels.

    Returns
    -------
    int or None
        None where JPEG is not as good at its best.
    """
    samplings = SAMPLINGS if image.ndim == 3 else SAMPLINGS[:1]
    sizes = [_smallest(image, quality, sampling) for sampling in samplings]
    return min((size for size in sizes if size is not None), default=None)


def _smallest(image: NDArray, quality: float, sampling: int) -> int | None:
    """Return the bytes at the lowest setting that is good enough, found by halving."""
    if _written(image, BEST, sampling)[1] < quality:
        return None
    low, high = 0, BEST  # too coarse; good enough
    while high - low > 1:
        middle = (low + high) // 2
        good = _written(image, middle, sampling)[1] >= quality
        low, high = (low, middle) if good else (middle, high)
    return _written(image, high, sampling)[0]


def _written(image: NDArray, setting: int, sampling: int) -> tuple[int, float]:
    """Return the bytes and the quality of a file."""
    pillow: Any = library("PIL.Image", "Images")
    with io.BytesIO() as file:
        how = {"quality": setting, "subsampling": sampling, "optimize": True}
        pillow.fromarray(image).save(file, "JPEG", **how)
        size = file.tell()
        return size, psnr(image, np.asarray(pillow.open(file)))
