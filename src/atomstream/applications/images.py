"""Images through a dictionary of patches: reconstruction in the memory of the image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.streams import check_center, grid, patch_view, take

__all__ = ["psnr", "reconstruct"]

TILE = 4096  # patches coded at a time


def reconstruct(
    model: Any, image: Any, size: int | tuple[int, int], *, stride: int = 1, center: str | None = None
) -> NDArray:
    """Code every patch of an image, decode it, and average the decoded patches where they overlap.

    Patches stream through: beyond the image, its sum and its counts, only one tile of patches is in memory.

    Parameters
    ----------
    model : fitted estimator
        With ``transform`` and ``inverse_transform`` on flattened patches.
    image : array of shape (height, width) or (height, width, n_channels)
    size : int or (int, int)
        Size of the patches the model has learned.
    stride : int, default=1
        Distance between neighbouring patches; larger is faster and blockier. The borders are always covered.
    center : {"patch"}, optional
        As in `atomstream.streams.patches`: the mean is taken off each patch before coding and put back after.

    Returns
    -------
    ndarray of the shape of ``image``
        Floating point, in the units of the image.
    """
    check_center(center)
    image = np.asanyarray(image)
    view = patch_view(image, size)
    n_channels, height, width = view.shape[2:]
    if not 1 <= stride <= min(height, width):
        raise ValueError(f"stride must be from 1 to the patch's size, {min(height, width)}, got {stride!r}.")
    dtype = np.float64 if image.dtype == np.float64 else np.float32
    total = np.zeros((image.shape[0], image.shape[1], n_channels), dtype)
    count = np.zeros(image.shape[:2], np.int32)
    tops, lefts = grid(view.shape, stride)
    for start in range(0, len(tops), TILE):
        part = slice(start, start + TILE)
        rows, means = take(view, tops[part], lefts[part], center)
        decoded = model.inverse_transform(model.transform(rows)) + means
        _paste(total, count, tops[part], lefts[part], decoded.reshape(-1, height, width, n_channels))
    return (total / count[:, :, None]).reshape(image.shape)


def psnr(image: Any, reconstruction: Any, peak: float | None = None) -> float:
    """Return the peak signal-to-noise ratio in decibels, 20 log10(peak / root mean squared error).

    Parameters
    ----------
    image, reconstruction : array of one shape
    peak : float, optional
        The largest value the image could have; by default that of its type for integers, 1 for floats.
    """
    image, reconstruction = np.asarray(image), np.asarray(reconstruction)
    if image.shape != reconstruction.shape:
        raise ValueError(
            f"image and reconstruction must have one shape, got {image.shape} and {reconstruction.shape}."
        )
    if peak is None:
        peak = float(np.iinfo(image.dtype).max) if image.dtype.kind in "iu" else 1.0
    error = float(np.mean((image.astype(float) - reconstruction.astype(float)) ** 2))
    return float("inf") if error == 0 else 10 * float(np.log10(peak**2 / error))


def _paste(total: NDArray, count: NDArray, tops: NDArray, lefts: NDArray, decoded: NDArray) -> None:
    """Add patches to the sum of the image, in place; places in one call differ, so each offset hits a pixel once."""
    for down in range(decoded.shape[1]):
        for right in range(decoded.shape[2]):
            pixels = (tops + down, lefts + right)
            total[pixels] += decoded[:, down, right]
            count[pixels] += 1
