"""Axes of tensor samples: grouping, flattening to rows and back, names and labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import Matrix, Samples, checked_array, library, order_of


@dataclass(frozen=True)
class Axes:
    """The modes of samples, and the groups of modes that are one mode each while learning.

    Attributes
    ----------
    shape : tuple of int
        Sizes of the modes of a sample, (I_1, ..., I_n).
    groups : tuple of tuples of int
        A partition of the modes.
    names : tuple of str, or None
        Names of the modes in labelled data.
    labels : tuple of ndarray or None, or None
        Coordinates of the modes that have any.
    """

    shape: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    names: tuple[str, ...] | None = None
    labels: tuple[NDArray | None, ...] | None = None

    @classmethod
    def of(cls, X: Samples, groups: object) -> Self:
        """Return the axes of samples that are stacked along the first axis, in the given groups.

        Raises
        ------
        ValueError
            For data without a mode besides the samples, or of size 0, and for groups that are not
            a partition of the modes.
        """
        whole = tuple(np.shape(X)) if not hasattr(X, "shape") else tuple(X.shape)
        if len(whole) < 2 or 0 in whole[1:]:
            raise ValueError(
                f"X must be of shape (n_samples, I_1, ..., I_n) with n of at least 1, got {whole}; "
                "a single sample needs a first axis of length 1."
            )
        shape = whole[1:]
        names = labels = None
        if hasattr(X, "dims") and hasattr(X, "coords"):
            names = tuple(str(name) for name in X.dims[1:])
            labels = tuple(_label(X, name) for name in X.dims[1:])
        return cls(shape, _check_groups(groups, len(shape)), names, labels)

    @classmethod
    def of_groups(cls, sizes: Sequence[int], groups: Any) -> Self:
        """Return the axes of samples known by the sizes of their groups, of one mode each."""
        if groups is not None and any(np.size(group) > 1 for group in groups):
            raise ValueError(
                "reshape joins modes whose sizes do not follow from the loadings; call fit or "
                "partial_fit."
            )
        return cls(tuple(sizes), _check_groups(None, len(sizes)))

    def check_saved(self, **sizes: int) -> None:
        """Refuse modes read from a file that do not fit together: their number is that of names."""
        good = sorted(self.order) == list(range(len(self.shape)))
        good &= all(isinstance(size, int) and size > 0 for size in self.shape)
        if self.names is not None and self.labels is not None:
            good &= len(self.names) == len(self.shape) == len(self.labels)
            good &= all(
                label is None or np.shape(label) == (n,)
                for label, n in zip(self.labels, self.shape, strict=True)
            )
        if not good:
            raise ValueError("axes that do not fit together")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes of the groups."""
        return tuple(math.prod(self.shape[mode] for mode in group) for group in self.groups)

    @property
    def order(self) -> tuple[int, ...]:
        """The modes in the order of the groups."""
        return tuple(mode for group in self.groups for mode in group)

    def check_same(self, other: Axes) -> None:
        """Check that other samples have the same shape, names and groups."""
        if self.shape != other.shape:
            raise ValueError(
                f"X has samples of shape {other.shape}, but the model has learned from samples of "
                f"shape {self.shape}."
            )
        if self.names and other.names and self.names != other.names:
            raise ValueError(
                f"X has the axes {other.names} after the samples, but the model has learned with "
                f"{self.names}."
            )
        if self.groups != other.groups:
            raise ValueError(
                f"reshape is {other.groups}, but the model has learned with {self.groups}; call "
                "fit to start over."
            )

    def orders(self, found: Axes) -> tuple[list[int], list[NDArray | None]]:
        """Return which mode of other samples each one here is, and where its labels stand there.

        Modes are found by their names, and places along them by their labels, where both have some.

        Raises
        ------
        ValueError
            Where a mode has other labels that are texts.
        """
        modes = list(range(len(found.shape)))
        if not (self.names and self.labels and found.names and found.labels):
            return modes, [None] * len(modes)
        if sorted(self.names) == sorted(found.names):
            modes = [found.names.index(name) for name in self.names]
        known = zip(self.names, self.labels, (found.labels[mode] for mode in modes), strict=False)
        differs = "has other labels than were learned"
        listed = (
            (name, *(None if each is None else each.tolist() for each in both))
            for name, *both in known
        )
        return modes, [
            order_of(theirs, ours, f"The axis {name!r} of X", differs)
            for name, ours, theirs in listed
        ]

    def in_place(self, X: Any) -> Any:
        """Return samples of an array of xarray with modes and labels in the order of these."""
        modes, orders = self.orders(type(self).of(X, None))
        dims = [X.dims[1 + mode] for mode in modes]
        places = {dim: order for dim, order in zip(dims, orders, strict=False) if order is not None}
        return X.transpose(X.dims[0], *dims).isel(places)

    def flatten(self, X: Matrix) -> Any:
        """Return samples as rows, dense or CSR; no copy is made if the groups are in order."""
        if sp.issparse(X):
            return self._flatten_sparse(X)
        X = checked_array(X)
        if self.order != tuple(range(len(self.shape))):
            X = X.transpose(0, *(mode + 1 for mode in self.order))
        return X.reshape(X.shape[0], -1)

    def restore(self, rows: Any) -> Any:
        """Return rows in the shape of samples, sparse ones as a sparse array of several axes."""
        if sp.issparse(rows):
            rows = rows.tocoo()
            flat = np.unravel_index(rows.col, tuple(self.shape[mode] for mode in self.order))
            places = dict(zip(self.order, flat, strict=True))
            coords = (rows.row, *(places[mode] for mode in range(len(self.shape))))
            return sp.coo_array((rows.data, coords), shape=(rows.shape[0], *self.shape))
        X = rows.reshape(len(rows), *(self.shape[mode] for mode in self.order))
        # The inverse of the order in which modes were flattened.
        return X.transpose(0, *(place + 1 for place in np.argsort(self.order)))

    def index(self, column: int) -> tuple[int, ...]:
        """Return the place in a sample of an entry of its row."""
        flat = np.unravel_index(column, tuple(self.shape[mode] for mode in self.order))
        return tuple(int(flat[place]) for place in np.argsort(self.order))

    def place(self, column: int) -> str:
        """Return the words for it: the names of the modes, where they have any."""
        index = self.index(column)
        if self.names is None:
            return f"entry {index if len(index) > 1 else index[0]}"
        return ", ".join(f"{name} {at}" for name, at in zip(self.names, index, strict=True))

    def label(self, loadings: Sequence[NDArray]) -> list[Any]:
        """Return loading matrices as xarray arrays, with an axis for each mode of a group."""
        if self.names is None or self.labels is None:
            raise ValueError(
                "The model has not learned from labelled data; give an xarray.DataArray to fit."
            )
        xr = library("xarray", "Labelled arrays")
        found = []
        for matrix, group in zip(loadings, self.groups, strict=True):
            values = matrix.reshape(*(self.shape[mode] for mode in group), -1)
            dims = [self.names[mode] for mode in group]
            known = [mode for mode in group if self.labels[mode] is not None]
            coords = {self.names[mode]: self.labels[mode] for mode in known}
            found.append(xr.DataArray(values, dims=[*dims, "atom"], coords=coords))
        return found

    def _flatten_sparse(self, X: Any) -> Any:
        X = X.tocoo()
        coords = X.coords
        columns = np.ravel_multi_index(
            tuple(np.asarray(coords[mode + 1], np.int64) for mode in self.order),
            tuple(self.shape[mode] for mode in self.order),
        )
        size = math.prod(self.shape)
        return sp.csr_array(
            (X.data, (np.asarray(coords[0], np.int64), columns)), shape=(X.shape[0], size)
        )


def _check_groups(groups: Any, n_modes: int) -> tuple[tuple[int, ...], ...]:
    """Return groups of modes as tuples, each mode alone by default."""
    if groups is None:
        return tuple((mode,) for mode in range(n_modes))
    try:
        found = tuple(tuple(int(mode) for mode in group) for group in groups)
    except TypeError:
        found = ()
    if sorted(mode for group in found for mode in group) != list(range(n_modes)) or not all(found):
        raise ValueError(
            f"reshape must group the modes 0 to {n_modes - 1}, each once, as in [(0,), (1, 2)]; "
            f"got {groups!r}."
        )
    return found


def _label(X: Any, name: Any) -> NDArray | None:
    """Return the coordinates of an axis, dates as strings, or None."""
    if name not in X.coords:
        return None
    values = np.asarray(X.coords[name].values)
    return values if values.dtype.kind in "fiub" else values.astype(str).astype(object)
