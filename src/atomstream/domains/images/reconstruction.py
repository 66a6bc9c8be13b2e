"""Images from overlapping patches: cut, changed, averaged; reconstructed, denoised, completed."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, checked_array, track
from atomstream.coders.pursuit import pursue
from atomstream.domains.images.pixels import of_type, white
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


# Found by measuring (docs/how-to/pictures.md); white is 1.
NOISE_GAIN = 1.1  # a patch is coded until its error is this often the noise
HOLES_ERROR = 0.02  # error of a pixel at which the code of a patch with holes ends


def split_means(rows: NDArray, n_channels: int) -> tuple[NDArray, NDArray]:
    """Return patches without the means of their channels, and these means.

    Parameters
    ----------
    rows : ndarray of shape (n, n_features)
        Channels last.
    n_channels : int

    Returns
    -------
    rows : ndarray of shape (n, n_features)
    means : ndarray of shape (n, 1, n_channels)
    """
    apart = rows.reshape(len(rows), -1, n_channels)
    means = apart.mean(axis=1, keepdims=True)
    return (apart - means).reshape(rows.shape), means


def add_means(rows: NDArray, means: NDArray) -> NDArray:
    """Return patches with the means of their channels, (n, 1, n_channels), put back."""
    return (rows.reshape(len(rows), -1, means.shape[2]) + means).reshape(rows.shape)


def denoise_image(
    image: NDArray, atoms: NDArray, noise: float, size: int, *, centred: bool
) -> NDArray:
    """Return an image without its noise; patches lie at every pixel.

    Parameters
    ----------
    image : ndarray of shape (height, width) or (height, width, n_channels)
    atoms : ndarray of shape (n_components, n_features)
    noise : float
        Standard deviation of the noise; white is 1.
    size : int
        Height and width of a patch.
    centred : bool
        Whether the means of the channels are taken off a patch before it is coded.
    """
    n_features = atoms.shape[1]
    # A patch is coded until its squared error is that of the noise, not further: the rest is noise.
    goal, unit = n_features * (NOISE_GAIN * noise) ** 2, white(image)

    def cleaned(rows: NDArray, tops: NDArray, lefts: NDArray) -> tuple[NDArray, NDArray]:
        """Return patches without what may be noise, and their weights."""
        rows = rows / rows.dtype.type(unit)
        means = np.zeros((len(rows), 1, 1), rows.dtype)
        if centred:
            rows, means = split_means(rows, n_features // size**2)
        codes = pursue(rows, atoms, goal, n_features // 2)
        # The noise that is left in a patch grows with the number of its atoms.
        weights = 1 / (1 + np.count_nonzero(codes, axis=1))
        return add_means((codes @ atoms).astype(rows.dtype), means), weights

    return whole(image, size, 1, cleaned, lambda strip: of_type(strip, image))


def complete_image(
    image: NDArray, observed: NDArray, atoms: NDArray, size: int, *, stride: int
) -> NDArray:
    """Return an image whose patches are coded by their observed pixels.

    Patches lose the mean of what is observed; flat atoms make up for what this mean misses. Where
    no patch holds an observed pixel the image stays as it is.

    Parameters
    ----------
    image : ndarray of shape (height, width) or (height, width, n_channels)
        With holes filled roughly.
    observed : ndarray of bool of shape (height, width, n_channels)
    atoms : ndarray of shape (n_components, n_features)
    size, stride : int
    """
    n_channels = observed.shape[2]
    # One flat atom per channel takes up what the mean of the observed pixels misses of the true
    # one.
    flat = np.repeat(np.eye(n_channels, dtype=atoms.dtype)[:, None], size**2, axis=1)
    atoms = np.concatenate([atoms, flat.reshape(n_channels, -1) / size])
    seen_view = patch_view(observed, size)

    def filled(rows: NDArray, tops: NDArray, lefts: NDArray) -> tuple[NDArray, NDArray]:
        """Return patches as their codes complete them, and how much of them is known."""
        seen = seen_view[tops, lefts].transpose(0, 2, 3, 1).reshape(len(rows), -1, n_channels)
        apart = rows.reshape(seen.shape)
        n_seen = seen.sum(axis=1, keepdims=True)
        means = (apart * seen).sum(axis=1, keepdims=True) / np.maximum(n_seen, 1)
        means = means.astype(rows.dtype)
        mask = seen.reshape(rows.shape)
        centred, goals = (apart - means).reshape(rows.shape), mask.sum(axis=1) * HOLES_ERROR**2
        codes = pursue(centred, atoms, goals, size**2 // 4, mask=mask)
        done = add_means((codes @ atoms).astype(rows.dtype), means)
        return done, mask.mean(axis=1) * (n_seen.min(axis=(1, 2)) > 0)

    made = whole(image, size, stride, filled)
    return np.where(np.isnan(made), image, made)
