"""Tables whose rows are read when they are asked for: cubes, and what is not in memory."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import checked_array, checked_numbers

ENTRIES = 1 << 22  # that are read at a time of what is not in memory


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


def at_once(width: int) -> int:
    """Return how many rows of so many features are in memory at a time."""
    return max(ENTRIES // max(width, 1), 1)


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

    names: list[str] | None = None  # of the columns, where they have some

    def __init__(self, rows: Any) -> None:
        self._rows = checked_numbers(rows, "rows")
        self.shape = tuple(int(length) for length in self._rows.shape)

    def with_columns(self, names: Sequence[Any]) -> "OnDisk":
        """Return the rows in the columns with these names, where they know their own."""
        return self

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
