"""Streams: plain iterables of batches, with samples in rows.

A stream is a generator of arrays and knows nothing of learning. It may be endless; limit it with
`itertools.islice`. Any other iterable of arrays is a stream too.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from atomstream.base import ArrayLike, Matrix, checked_array, checked_numbers

__all__ = ["CubeRows", "OnDisk", "batches", "patches", "windows"]


class CubeRows:
    """An array of three axes or more as a table of rows, read when they are asked for.

    Some axes hold the samples, such as the two axes of the pixels of a spectral image; the others
    hold the features of a sample. Models and `batches` take it as any table. Codes of it are in the
    order of its rows, so ``codes.reshape(*rows.sample_shape, -1)`` puts them back into place.

    Parameters
    ----------
    cube : array of n axes
        NumPy array or memory map, HDF5 dataset, Zarr array or dask array: only the rows that are
        asked for are read.
    sample_axes : int or sequence of int
        The axes of the samples; negative ones count from the last. Rows run through them in this
        order, the last one named fastest.

    Attributes
    ----------
    shape : (int, int)
        Number of samples and of features.
    sample_shape, feature_shape : tuple of int
        Lengths of the axes of the samples, in the order given, and of the others, in the order of
        the cube.
    dtype : numpy.dtype

    Raises
    ------
    ValueError
        For axes that the cube does not have, that are named twice, or that leave none for the
        features.

    Examples
    --------
    >>> cube = np.arange(24.0).reshape(2, 3, 4)
    >>> rows = CubeRows(cube, (0, 1))
    >>> rows.shape, rows.sample_shape
    ((6, 4), (2, 3))
    >>> bool(np.all(rows[4] == cube[1, 1]))
    True
    """

    ndim = 2
    chunks = None  # of any size: blocks of rows need not fit chunks of the cube

    def __init__(self, cube: Any, sample_axes: int | Sequence[int]) -> None:
        cube = checked_numbers(cube, "cube")
        lengths = tuple(int(length) for length in cube.shape)
        self._cube, self._axes = cube, _sample_axes(lengths, sample_axes)
        others = [axis for axis in range(len(lengths)) if axis not in self._axes]
        self._order = (*self._axes, *others)
        self.sample_shape = tuple(lengths[axis] for axis in self._axes)
        self.feature_shape = tuple(lengths[axis] for axis in others)
        self.shape = (math.prod(self.sample_shape), math.prod(self.feature_shape))
        self.dtype = np.dtype(cube.dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NDArray:
        """Return some rows, chosen by an int, a slice, or an array of numbers or of bool."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                return self._joined(list(self._parts((), start, max(start, stop))))
        places = np.arange(len(self))[rows]
        if not places.ndim:
            return self[int(places) : int(places) + 1][0]
        if isinstance(self._cube, np.ndarray):
            at = np.unravel_index(places, self.sample_shape)
            return self._cube.transpose(self._order)[at].reshape(len(places), self.shape[1])
        return self._joined([self[place : place + 1] for place in places.tolist()])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        return np.asarray(self[:], dtype)

    def _joined(self, parts: list[NDArray]) -> NDArray:
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([np.empty((0, self.shape[1]), self.dtype), *parts])

    def _parts(self, before: tuple[int, ...], start: int, stop: int) -> Iterator[NDArray]:
        """Yield rows in whole slices of the cube, so that nothing else of it is read.

        Parameters
        ----------
        before : tuple of int
            Places along the first sample axes.
        start, stop : int
            Rows, counted from the first one there.
        """
        inner = math.prod(self.sample_shape[len(before) + 1 :])
        # Whole steps in the middle are read as one slab; what sticks out at both ends comes apart.
        first, last = -(-start // inner), stop // inner  # whole steps along the next axis
        if first > last:  # the rows lie within one step
            yield from self._parts((*before, last), start - last * inner, stop - last * inner)
            return
        if start < first * inner:
            yield from self._parts((*before, first - 1), start - (first - 1) * inner, inner)
        if first < last:
            yield self._slab(before, slice(first, last))
        if last * inner < stop:
            yield from self._parts((*before, last), 0, stop - last * inner)

    def _slab(self, before: tuple[int, ...], span: slice) -> NDArray:
        """Return the rows at fixed places of the first sample axes, and a span of the next one."""
        index = [slice(None)] * len(self._order)
        for axis, place in zip(self._axes, before, strict=False):
            index[axis] = slice(place, place + 1)
        index[self._axes[len(before)]] = span
        part = checked_array(self._cube[tuple(index)])
        return part.transpose(self._order).reshape(-1, self.shape[1])


class OnDisk:
    """Rows that stay where they are while a model learns: `fit` reads those of a batch at a time.

    Passes are those of the array in memory, to the bit. The rounds that end ``fit`` keep sums and
    no rows (`OnlineNMF.settle_stream`), and end near those in memory. In memory are the rows of a
    batch, and 16 bytes a row for the order of a pass; an array in chunks is read in order where the
    model has ``shuffle=False``.

    Parameters
    ----------
    rows : array of shape (n_samples, n_features)
        HDF5 dataset, Zarr array, memory map or `CubeRows`.

    Attributes
    ----------
    shape : (int, int)

    Examples
    --------
    >>> from atomstream import OnlineNMF
    >>> X = np.random.default_rng(0).random((300, 8))
    >>> model = OnlineNMF(3, random_state=0).fit(OnDisk(X))
    >>> model.components_.shape
    (3, 8)
    """

    def __init__(self, rows: Any) -> None:
        self._rows = checked_numbers(rows, "rows")
        self.shape = tuple(int(length) for length in self._rows.shape)

    def __getitem__(self, places: Any) -> NDArray:
        """Return the rows of a slice, or at places in any order, each at most once."""
        if isinstance(places, slice):
            return checked_array(self._rows[places])
        order = np.argsort(places)  # HDF5 reads places in rising order only
        return checked_array(self._rows[np.asarray(places)[order]])[np.argsort(order)]


def _sample_axes(lengths: tuple[int, ...], sample_axes: int | Sequence[int]) -> tuple[int, ...]:
    """Return the axes of the samples, counted from the first."""
    n_axes, given = len(lengths), np.ravel(np.asarray(sample_axes))
    if given.dtype.kind not in "iu" or not ((-n_axes <= given) & (given < n_axes)).all():
        raise ValueError(
            f"sample_axes must be whole numbers from {-n_axes} to {n_axes - 1} for an array of "
            f"shape {lengths}, got {sample_axes!r}."
        )
    axes = tuple(int(axis) % n_axes for axis in given)
    if not 0 < len(axes) < n_axes or len(set(axes)) < len(axes):
        raise ValueError(
            f"sample_axes must name each axis of the samples once and leave one for the features, "
            f"got {sample_axes!r} for an array of shape {lengths}."
        )
    return axes


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
