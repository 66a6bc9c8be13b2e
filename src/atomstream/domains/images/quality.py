"""Compress an image to the quality asked for: what to aim at, and whether it is worth it."""

from __future__ import annotations

import warnings
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from atomstream.domains.images.compression import check_limits, compress, decompress
from atomstream.domains.images.pixels import psnr, white
from atomstream.exceptions import DataWarning

__all__ = ["SHORT", "check_worth", "compress_to", "reached_by"]

COARSEST, FINEST = -10.0, 70.0  # decibels that are aimed at to reach a quality
CLOSE = 0.1  # decibels from the quality asked for at which no closer one is looked for
MOST_AIMS = 12
GAIN = 0.7  # part of a gap that a finer aim may leave: where more is left, others are in vain
SHORT = 0.3  # decibels by which a file may miss its quality without a warning


def compress_to(
    image: NDArray, atoms: NDArray, quality: float, *, centred: bool, include_dictionary: bool
) -> bytes:
    """Return an image compressed to a quality, as the bytes of a file.

    Parameters
    ----------
    image : ndarray of shape (height, width) or (height, width, n_channels)
        At least as large as a patch.
    atoms : ndarray of shape (n_components, size, size[, n_channels])
    quality : float
        Peak signal-to-noise ratio to reach, in decibels.
    centred, include_dictionary : bool
        As in `atomstream.domains.images.compression.compress`.
    """
    check_limits(image, atoms, quality)
    quality = float(quality)
    aim: float | None = quality
    how = {"centred": centred, "include_dictionary": include_dictionary}
    files: list[bytes] = []
    found: list[tuple[float, float]] = []
    while aim is not None and len(files) < MOST_AIMS:
        files.append(compress(image, atoms, aim, **how))
        found.append((aim, reached_by(image, atoms, files[-1])))
        aim = _next_aim(found, quality)
    gaps = [abs(quality - reached) for _, reached in found]
    # Where the atoms allow no more, a finer aim makes a file larger and hardly better.
    enough = max(min(gaps), min(min(gaps) + CLOSE, SHORT))
    return min((file for file, gap in zip(files, gaps, strict=True) if gap <= enough), key=len)


def _next_aim(found: list[tuple[float, float]], quality: float) -> float | None:
    """Return what to aim at, from earlier aims and what they reached; None to look no further."""
    aim, reached = found[-1]
    gap = quality - reached
    if abs(gap) <= CLOSE:
        return None
    # What is reached does not always rise with the aim: near the quality first, then near the aim.
    for key in (itemgetter(1), itemgetter(0)):
        below = max((pair for pair in found if pair[1] < quality), default=None, key=key)
        above = min((pair for pair in found if pair[1] >= quality), default=None, key=key)
        if below and above:
            share = (quality - below[1]) / (above[1] - below[1])
            between = below[0] + min(max(share, 0.1), 0.9) * (above[0] - below[0])
            if all(between != tried for tried, _ in found):
                return between
    if below and above:
        return None
    if gap > 0 and len(found) > 1 and gap > GAIN * (quality - found[-2][1]):
        return None
    further = min(max(aim + (gap if gap > 0 else 2 * gap), COARSEST), FINEST)
    return None if further == aim else further


def reached_by(image: NDArray, atoms: NDArray, data: bytes) -> float:
    """Return the quality of a compressed image in decibels; what is clipped is not missed."""
    return psnr(np.clip(image, 0, image.dtype.type(white(image))), decompress(data, atoms))


def check_worth(image: NDArray, atoms: NDArray, data: bytes, quality: float) -> None:
    """Warn if a compressed image misses its quality, or is larger than the pixels."""
    reached = reached_by(image, atoms, data)
    if reached < quality - SHORT:
        warnings.warn(
            f"The compressed image reaches {reached:.1f} decibels instead of {quality:g}: its "
            f"{len(atoms)} atoms allow no more; learn more atoms, or learn them from this image.",
            DataWarning,
            stacklevel=3,
        )
    if len(data) > image.nbytes:
        warnings.warn(
            f"The compressed image has {len(data)} bytes, more than the {image.nbytes} of its "
            "pixels; learn fewer atoms, ask for less quality, or leave out the dictionary.",
            DataWarning,
            stacklevel=3,
        )
