"""Arrays, images and series cut into batches of rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from atomstream.base import ArrayLike, Matrix, checked_array, checked_numbers


def batches(
    X: Matrix, batch_size: int = 256, *, rng: np.random.Generator | int | None = None
) -> Iterator[Any]:
    """Yield batches of the rows of an array; only the rows of one batch are read or copied.

    Parameters
    ----------
    X : array, memory map, sparse array, frame or `CubeRows` of shape (n_samples, n_features)
    batch_size : int, default=256
    rng : numpy.random.Generator or int, optional
        Draws the order of the rows; by default it is that of the array.

    Yields
    ------
    array or frame of shape (at most batch_size, n_features)

    Examples
    --------
    >>> [len(batch) for batch in batches(np.zeros((10, 2)), 4)]
    [4, 4, 2]
    """
    _check_positive(batch_size=batch_size)
    X = checked_numbers(X)
    n_samples = X.shape[0]
    X = X.iloc if hasattr(X, "iloc") else X  # rows of frames keep the names of their columns
    order = None if rng is None else np.random.default_rng(rng).permutation(n_samples)
    for start in range(0, n_samples, batch_size):
        rows = slice(start, start + batch_size)
        yield X[rows] if order is None else _rows_at(X, order[rows])


def _rows_at(X: Any, places: NDArray) -> Any:
    """Return rows in this order; of what is stored in chunks they are read as they lie there."""
    rising = np.argsort(places)
    return X[places[rising]][np.argsort(rising)] if hasattr(X, "chunks") else X[places]


def patches(
    image: Any,
    size: int | tuple[int, int],
    batch_size: int = 256,
    *,
    n_samples: int | None = None,
    stride: int = 1,
    center: str | None = None,
    rng: np.random.Generator | int | None = None,
) -> Iterator[NDArray]:
    """Yield batches of square patches of images, each flattened to a row, channels last.

    Without ``rng`` all patches come once, row by row. With it patches are drawn at random
    positions, uniformly over all positions of all images. Only the patches of a batch are read, so
    the image may be a memory map that is larger than memory.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, n_channels), or a list of such
    size : int or (int, int)
        Height and width of a patch.
    batch_size : int, default=256
    n_samples : int, optional
        Number of patches; it needs ``rng``. With ``rng`` but without ``n_samples`` the stream is
        endless.
    stride : int, default=1
        Distance between neighbouring patches, without ``rng``.
    center : {"patch"}, optional
        "patch" subtracts the mean of each patch.
    rng : numpy.random.Generator or int, optional

    Yields
    ------
    ndarray of shape (at most batch_size, height * width * n_channels)
        float32 for images of integers or float32, else float64.

    Examples
    --------
    >>> image = np.arange(30.0).reshape(5, 6)
    >>> [batch.shape for batch in patches(image, 3, batch_size=10)]
    [(10, 9), (2, 9)]
    """
    images = image if isinstance(image, list | tuple) else [image]
    views = [patch_view(part, size) for part in images]
    _check_positive(batch_size=batch_size, stride=stride)
    check_center(center)
    if rng is None:
        if n_samples is not None:
            raise ValueError(f"n_samples={n_samples} needs rng: without it all patches come once.")
        places = (grid(view.shape, stride) for view in views)
        for view, (tops, lefts) in zip(views, places, strict=True):
            for start in range(0, len(tops), batch_size):
                part = slice(start, start + batch_size)
                yield take(view, tops[part], lefts[part], center)[0]
        return
    rng = np.random.default_rng(rng)
    counts = np.cumsum([view.shape[0] * view.shape[1] for view in views])
    left = np.inf if n_samples is None else n_samples
    while left > 0:
        drawn = rng.integers(counts[-1], size=int(min(batch_size, left)))
        which = np.searchsorted(counts, drawn, side="right")
        yield np.concatenate(
            [_drawn(view, drawn[which == i], center) for i, view in enumerate(views)]
            # Back into the order in which they were drawn, not image by image.
        )[np.argsort(np.argsort(which, kind="stable"), kind="stable")]
        left -= len(drawn)


def windows(
    series: ArrayLike,
    size: int,
    batch_size: int = 256,
    *,
    stride: int = 1,
    rng: np.random.Generator | int | None = None,
) -> Iterator[NDArray]:
    """Yield batches of windows of consecutive times, each flattened to a row, times first.

    Parameters
    ----------
    series : array of shape (n_times,) or (n_times, n_series)
    size : int
        Number of times in a window.
    batch_size : int, default=256
    stride : int, default=1
        Distance between the starts of neighbouring windows.
    rng : numpy.random.Generator or int, optional
        Draws the order of the windows; without it they come in the order of time.

    Yields
    ------
    ndarray of shape (at most batch_size, size * n_series)

    Examples
    --------
    >>> next(windows(np.arange(5), size=3))
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]])
    """
    series = checked_array(series, "series")
    _check_positive(size=size, batch_size=batch_size, stride=stride)
    if series.ndim not in (1, 2) or len(series) < size:
        raise ValueError(
            "series must be of shape (n_times,) or (n_times, n_series) with at least "
            f"size={size} times, got {series.shape}."
        )
    view = sliding_window_view(series, size, axis=0)[::stride]
    if view.ndim == 3:
        view = view.swapaxes(1, 2)
    for batch in batches(view, batch_size, rng=rng):
        yield batch.reshape(len(batch), -1)


def patch_view(image: ArrayLike, size: int | tuple[int, int]) -> NDArray:
    """Return all patches of an image as a view, without copies.

    Its shape is (n_tops, n_lefts, n_channels, height, width).
    """
    image = checked_array(image, "image")
    shape = (size, size) if isinstance(size, int | np.integer) else tuple(size)
    _check_positive(**{"size": min(shape)})
    if image.ndim not in (2, 3):
        raise ValueError(
            f"image must have 2 axes, or 3 with channels last, got shape {image.shape}."
        )
    if image.shape[0] < shape[0] or image.shape[1] < shape[1]:
        raise ValueError(
            f"image of shape {image.shape} is smaller than a patch of {shape}; choose a smaller "
            "size."
        )
    if image.ndim == 2:
        image = image[:, :, None]
    return sliding_window_view(image, shape, axis=(0, 1))


def grid(shape: tuple[int, ...], stride: int) -> tuple[NDArray, NDArray]:
    """Return tops and lefts of patches ``stride`` apart; the last ones reach the border."""
    tops, lefts = (steps(n, stride) for n in shape[:2])
    return np.repeat(tops, len(lefts)), np.tile(lefts, len(tops))


def steps(n: int, stride: int) -> NDArray:
    """Return every ``stride``-th of n positions, and the last one."""
    return np.union1d(np.arange(0, n, stride), [n - 1])


def take(
    view: NDArray, tops: NDArray, lefts: NDArray, center: str | None
) -> tuple[NDArray, NDArray]:
    """Return patches of a view as rows, optionally centred, and the means that were subtracted."""
    cut = view[tops, lefts].transpose(0, 2, 3, 1)
    dtype = np.float64 if cut.dtype == np.float64 else np.float32
    rows = np.ascontiguousarray(cut, dtype=dtype).reshape(len(tops), -1)
    if center is None:
        return rows, np.zeros((len(rows), 1), dtype)
    means = rows.mean(axis=1, keepdims=True)
    return rows - means, means


def check_center(center: str | None) -> None:
    """Check the name of a way of centring."""
    if center not in (None, "patch"):
        raise ValueError(f"center must be None or 'patch', got {center!r}.")


def _drawn(view: NDArray, drawn: NDArray, center: str | None) -> NDArray:
    """Return the patches that random numbers (of any range) select."""
    places = drawn % (view.shape[0] * view.shape[1])
    return take(view, places // view.shape[1], places % view.shape[1], center)[0]


def _check_positive(**values: int) -> None:
    for name, value in values.items():
        if not value >= 1:
            raise ValueError(f"{name} must be at least 1, got {value!r}.")
