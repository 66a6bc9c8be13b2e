"""Images from overlapping patches: cut, changed, and averaged where they overlap."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, checked_array, track
from atomstream.streams.cuts import check_center, patch_view, steps, take

TILE = 4096  # patches changed at a time

# Takes patches as rows, (n, height * width * n_channels), with their tops and their lefts. Returns
# the rows that replace them, and the weight of each, (n,), or None for weights of one.
Change = Callable[[NDArray, NDArray, NDArray], tuple[NDArray, NDArray | None]]


def strips(
    image: NDArray,
    size: int | tuple[int, int],
    stride: int,
    change: Change,
    n_channels: int | None = None,
) -> Iterator[tuple[slice, NDArray]]:
    """Yield the averages of changed patches, strip by strip from the top.

    Only the current strip and one tile of patches are in memory, so the image may be a memory map
    that is larger than memory.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, n_channels)
    size : int or (int, int)
        Height and width of a patch.
    stride : int
        Distance between neighbouring patches; the borders are always covered.
    change : callable
        See `Change`.
    n_channels : int, optional
        Number of channels of the changed patches; by default that of the image.

    Yields
    ------
    rows : slice
        Rows of the image.
    strip : ndarray of shape (n_rows, width, n_channels)
        float64 for images of float64, else float32; NaN where all patches have weight 0.
    """
    view = patch_view(image, size)
    height, width = view.shape[3:]
    n_channels = n_channels or view.shape[2]
    dtype = np.float64 if image.dtype == np.float64 else np.float32
    tops, lefts = steps(view.shape[0], stride), steps(view.shape[1], stride)
    per_band = max(1, TILE // len(lefts))
    total = np.zeros((0, image.shape[1], n_channels), dtype)
    count = np.zeros((0, image.shape[1]), dtype)
    first = 0
    bands = range(0, len(tops), per_band)
    for start in track(bands, len(bands), "coding patches"):
        band = tops[start : start + per_band]
        # The sums grow to the last row that the band reaches, and no further.
        n_new = int(band[-1]) + height - first - len(total)
        total, count = (
            np.concatenate([sums, np.zeros((n_new, *sums.shape[1:]), dtype)])
            for sums in (total, count)
        )
        down, right = np.repeat(band, len(lefts)), np.tile(lefts, len(band))
        for some in range(0, len(down), TILE):
            part = slice(some, some + TILE)
            rows, weights = change(
                take(view, down[part], right[part], None)[0], down[part], right[part]
            )
            changed = rows.reshape(-1, height, width, n_channels)
            _paste(total, count, down[part] - first, right[part], changed, weights)
        after = start + per_band
        # Rows above the next band are not touched again.
        end = int(tops[after]) if after < len(tops) else image.shape[0]
        n_done = end - first
        with np.errstate(invalid="ignore"):  # 0 / 0 where all weights are 0
            yield slice(first, end), total[:n_done] / count[:n_done, :, None]
        total, count, first = total[n_done:], count[n_done:], end


def whole(
    image: NDArray,
    size: int | tuple[int, int],
    stride: int,
    change: Change,
    finish: Callable[[NDArray], NDArray] = lambda strip: strip,
    out: NDArray | None = None,
) -> NDArray:
    """Return all strips as one array of the shape of the image, each passed through ``finish``.

    The strips are written to ``out`` if it is given.
    """
    check_stride(stride, size)
    result = out
    for rows, strip in strips(image, size, stride, change):
        done = finish(strip)
        result = np.empty(image.shape, done.dtype) if result is None else result
        result[rows] = done.reshape(-1, *image.shape[1:])
    return result  # type: ignore[return-value]


def check_stride(stride: object, size: int | tuple[int, int]) -> None:
    """Check that a distance between patches leaves no gaps."""
    most = size if isinstance(size, int | np.integer) else min(size)
    if (
        isinstance(stride, bool)
        or not isinstance(stride, int | np.integer)
        or not 1 <= stride <= most
    ):
        raise ValueError(f"stride must be from 1 to the patch's size, {most}, got {stride!r}.")


def _paste(
    total: NDArray,
    count: NDArray,
    tops: NDArray,
    lefts: NDArray,
    changed: NDArray,
    weights: NDArray | None,
) -> None:
    """Add patches to the sum of the image, in place.

    The positions of patches in one call differ, so for each offset no pixel occurs twice: plain
    fancy indexing would otherwise count it once.
    """
    if weights is not None:
        changed = changed * weights[:, None, None, None].astype(changed.dtype)
    # One pixel of all patches at a time: within it no two patches meet, so plain indexing adds all.
    for down in range(changed.shape[1]):
        for right in range(changed.shape[2]):
            pixels = (tops + down, lefts + right)
            total[pixels] += changed[:, down, right]
            count[pixels] += 1 if weights is None else weights


def reconstruct(
    model: Any,
    image: ArrayLike,
    size: int | tuple[int, int],
    *,
    stride: int = 1,
    center: str | None = None,
) -> NDArray:
    """Code every patch of an image, decode it, and average the decoded patches where they overlap.

    Besides the image, its sum and its counts, only one tile of patches is in memory.

    Parameters
    ----------
    model : fitted estimator
        With ``transform`` and ``inverse_transform`` on flattened patches.
    image : array of shape (height, width) or (height, width, n_channels)
    size : int or (int, int)
        Size of the patches the model has learned.
    stride : int, default=1
        Distance between neighbouring patches. A larger one is faster and shows more blocks. The
        borders are always covered.
    center : {"patch"}, optional
        As in `atomstream.streams.patches`: the mean of each patch is subtracted before coding and
        added again after.

    Returns
    -------
    ndarray of the shape of ``image``
        Floating point, in the units of the image.
    """
    check_center(center)
    image = checked_array(image, "image")
    patch_view(image, size)  # raises for data that are no image, or too small
    shape = getattr(model, "shape_in_", (-1,))

    def decoded(rows: NDArray, tops: NDArray, lefts: NDArray) -> tuple[NDArray, None]:
        """Return the reconstructions of patches."""
        means = rows.mean(axis=1, keepdims=True) if center == "patch" else 0
        samples = (rows - means).reshape(len(rows), *shape)  # models of tensors need their shape
        return model.inverse_transform(model.transform(samples)).reshape(rows.shape) + means, None

    return whole(image, size, stride, decoded)
