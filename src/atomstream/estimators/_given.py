"""Data as users give them: containers, streams, masks, and weights of entries."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import length_hint
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import (
    NamedColumns,
    are_texts,
    checked_array,
    checked_numbers,
    dense,
    library,
    names_of,
)
from atomstream.exceptions import DataWarning, IncompatiblePartsError
from atomstream.losses import Entrywise, Squared
from atomstream.streams.on_disk import OnDisk, at_once

if TYPE_CHECKING:
    from atomstream.base.axes import Axes
    from atomstream.problem import Batch


def is_labelled(X: Any) -> bool:
    """Return whether data are an array of xarray."""
    return hasattr(X, "dims") and hasattr(X, "coords") and hasattr(X, "ndim")


def as_table(X: Any) -> Any:
    """Return data with labels in two axes as a frame, entries as rows, others as they are."""
    if isinstance(X, OnDisk) and X.names is not None:
        return X[:]
    return X.to_pandas() if is_labelled(X) and X.ndim == 2 else X


def like(X: Any, values: NDArray) -> Any:
    """Return values of the shape of some data in their container: with index, names, labels."""
    if is_labelled(X):
        return X.copy(data=values)
    return _framed(X, values, getattr(X, "columns", None))


def codes_of(X: Any, codes: NDArray, model: Any) -> Any:
    """Return the codes of data; those of an array of xarray keep the labels of its samples."""
    if not is_labelled(X):
        return codes
    first = X.dims[0]
    coords = {name: c for name, c in X.coords.items() if set(c.dims) <= {first}}
    names = model.get_feature_names_out()
    return _array(codes, [first, "component"], coords | {"component": names})


def samples_of(codes: Any, samples: NDArray, names: Any, axes: Axes | None) -> Any:
    """Return samples made of codes: labelled as these are, with the features learned from."""
    if not is_labelled(codes):
        return _framed(codes, samples, names)
    first = codes.dims[0]
    coords = {name: c for name, c in codes.coords.items() if set(c.dims) <= {first}}
    dims = [f"feature_{number}" for number in range(1, samples.ndim)]
    if axes is not None and axes.names and axes.labels:
        dims = list(axes.names)
        known = zip(dims, axes.labels, strict=True)
        coords |= {name: label for name, label in known if label is not None}
    return _array(samples, [first, *dims], coords)


def as_stream(batches: Any, n_batches: int | None) -> tuple[Iterator[Any], int | None]:
    """Return the first batches of a stream one by one, and their number at most, where known.

    Of the blocks of a dask array these are whole rows.

    Raises
    ------
    ValueError
        For a single array or table.
    """
    if hasattr(batches, "collect") and hasattr(batches, "collect_schema"):
        raise ValueError(
            "fit_stream needs an iterable of batches, got a lazy frame; give the frame's "
            "collect_batches()."
        )
    if type(batches).__name__ == "BlockView":
        blocks = batches  # a generator looks its names up when it is asked
        batches = (blocks[place] for place in range(blocks.shape[0]))
    if hasattr(batches, "shape"):
        raise ValueError(
            f"fit_stream needs an iterable of batches, got one array of shape {batches.shape}; "
            "wrap it in a list, cut it with atomstream.streams.batches, or for several passes call "
            "fit(streams.OnDisk(rows))."
        )
    known = n_batches if n_batches is not None else length_hint(batches) or None
    return islice(batches, n_batches), known


def rows_and_weights(item: Any, column: str | None, *, several: bool) -> tuple[Any, Any]:
    """Return the rows of an item of a stream, and their weights or None.

    Parameters
    ----------
    item : array-like, tuple (rows, weights), list of one array, or mapping
    column : str, optional
        The key of the rows in a mapping.
    several : bool
        Whether a sample may have several axes: only tensors of torch then tell a list of arrays
        from a batch that is a list of samples.
    """
    if isinstance(item, Mapping):
        if column not in item:
            keys = ", ".join(map(repr, item))
            raise ValueError(
                f"A batch is a mapping that holds {keys:.80}, and column is {column!r}; name the "
                "one with the rows."
            )
        return item[column], None
    if column is not None:
        raise ValueError(
            f"column={column!r} is for batches that are mappings, got {type(item).__name__}."
        )
    if isinstance(item, tuple) and len(item) == 2:
        return item
    if isinstance(item, list | tuple) and item and _is_part(item[0], several):
        if len(item) > 1:
            raise ValueError(
                f"A batch is a list of {len(item)} arrays, as a loader of a TensorDataset yields; "
                "give its rows alone, as in (batch[0] for batch in loader), or with weights as "
                "tuples (X, sample_weight)."
            )
        return item[0], None
    return item, None


def _is_part(part: Any, several: bool) -> bool:
    """Return whether the first of a list is a batch by itself, and no sample."""
    if several and not hasattr(part, "detach"):
        return False
    return len(getattr(part, "shape", ())) > 1


def blocks(X: Any) -> Iterator[Any]:
    """Yield whole chunks of rows of an array that is not in memory (HDF5, Zarr, dask)."""
    sizes = X.chunks[0] if X.chunks else 1
    chunk = max(sizes) if isinstance(sizes, tuple) else sizes
    step = at_once(math.prod(X.shape[1:]) * chunk) * chunk
    for start in range(0, X.shape[0], step):
        part = X[start : start + step]
        yield part if isinstance(part, NamedColumns) else checked_array(part)


def is_stored(X: Any) -> bool:
    """Return whether data are an array in chunks that are read when they are asked for."""
    shape: tuple[int, ...] = getattr(X, "shape", ())  # which a dataset of xarray lacks
    return hasattr(X, "chunks") and not is_labelled(X) and len(shape) > 1 and shape[0] > 0


def _framed(X: Any, values: NDArray, columns: Any) -> Any:
    """Return values as a frame if X is one, with its index."""
    if hasattr(X, "iloc"):
        return type(X)(values, index=X.index, columns=columns)
    if type(X).__module__.startswith("polars"):
        return type(X)(values, schema=None if columns is None else list(columns))
    return values


def _array(values: NDArray, dims: list[Any], coords: dict[Any, Any]) -> Any:
    return library("xarray", "Labelled arrays").DataArray(values, dims=dims, coords=coords)


def are_shards(batches: object) -> bool:
    """Return whether these are `atomstream.cluster.Shards`, which workers open by themselves."""
    return getattr(batches, "opened_by_workers", False)


def check_no_shards(batches: Any, **given: Any) -> None:
    """Refuse arguments that are for shards where something else is given."""
    wrong = [name for name, value in given.items() if value is not None]
    if wrong:
        raise TypeError(
            f"{wrong[0]} is for shards that workers open by themselves, got "
            f"{type(batches).__name__}; make them with atomstream.cluster.shards, or with Shards."
        )


# Of a stream whose entries have weights. Made spectra of 4, 7 and 14 atoms: from 14 on the error on
# hidden entries is within a tenth of what more lead to; with 7 it is up to a sixth above, and with
# 3 up to a hundred times.
FIRST_ROWS_PER_ATOM = 20
MAX_WEIGHT = 1e100  # sums of squares that it multiplies are finite


def with_nan_where_masked(X: Any, mask: Any, *, missing: bool) -> Any:
    """Return samples with NaN wherever a mask is false; frames stay frames, sparse become dense.

    Raises
    ------
    ValueError
        For a mask of another shape or of other values, and where entries are hidden though missing
        ones are not allowed.
    """
    if mask is None:
        return X
    X, seen = checked_numbers(X), checked_array(mask, "mask")
    if seen.shape != X.shape:
        raise ValueError(f"mask must be of shape {X.shape}, as X is, got {seen.shape}.")
    if not np.isin(seen, (0, 1)).all():
        raise ValueError(
            "mask must hold True where an entry was observed and False elsewhere, got other values."
        )
    seen = seen.astype(bool)
    if seen.all():
        return X
    if not missing:
        raise ValueError(f"mask hides {int((~seen).sum())} entries; say missing=True.")
    names = names_of(X)
    if hasattr(X, "iloc"):
        return X.where(seen)
    if is_labelled(X):
        return like(X, np.where(seen, X, np.nan))
    X = checked_array(X)
    X = np.where(seen, X, X.dtype.type(np.nan) if X.dtype.kind == "f" else np.nan)
    return NamedColumns(X, names) if names is not None and are_texts(names) else X


@dataclass(frozen=True)
class EntryWeights:
    """Weights of entries as they were given, beside those of their rows."""

    by_entry: Any
    by_row: Any = None

    def checked(self, shape: tuple[int, ...]) -> NDArray:
        """Return what each entry of data of this shape weighs, in float64."""
        weights = checked_weights("entry_weight", self.by_entry, shape)
        if self.by_row is None:
            return weights
        rows = np.broadcast_to(checked_weights("sample_weight", self.by_row), shape[:1])
        return weights * rows[:, None]


def checked_weights(name: str, given: Any, shape: tuple[int, ...] | None = None) -> NDArray:
    """Return weights as float64, of this shape if one is needed; refuse those out of range."""
    weights = checked_array(given, name, np.float64)
    if shape is not None and weights.shape != shape:
        raise ValueError(f"{name} must be of shape {shape}, as X is, got {weights.shape}.")
    low, high = weights.min(initial=np.inf), weights.max(initial=0)
    if not (np.isfinite(weights).all() and low >= 0):
        raise ValueError(f"{name} must be finite and not negative, got a minimum of {low}.")
    if high > MAX_WEIGHT:
        raise ValueError(f"{name} must be at most {MAX_WEIGHT:.0e}, got a maximum of {high}.")
    return weights


def relative_weights(X: Any, weights: NDArray) -> tuple[Any, NDArray, NDArray | None]:
    """Return rows, the largest weight of each, and the others over it; missing entries weigh 0."""
    X = dense(X)
    missing = np.isnan(X)
    weights = np.where(missing, 0, weights)
    tops = weights.max(axis=1)
    shares = weights / np.where(tops > 0, tops, 1)[:, None]
    # A row without weight may look as it likes: it counts as one that was seen.
    alike = (shares == 1).all(axis=1) | (tops == 0)
    if alike.all() and not missing.any():
        return X, tops, None
    # Weights of 0 and 1 are a mask, and learned from as one.
    mask = shares > 0 if ((shares == 0) | (shares == 1)).all() else shares.astype(X.dtype)
    return np.where(missing, X.dtype.type(0), X), tops, mask


def by_rows(X: Any, weights: NDArray | None) -> tuple[Any, NDArray | None]:
    """Return rows and a weight for each: of weights of entries the largest, and 0 as missing."""
    if weights is None or weights.ndim == 1:
        return X, weights
    X = dense(X)
    return np.where(weights > 0, X, X.dtype.type(np.nan)), relative_weights(X, weights)[1]


def check_weighs_entries(algorithm: Any) -> None:
    """Refuse an algorithm whose parts cannot weigh single entries."""
    coder, updater, loss = algorithm.coder, algorithm.updater, algorithm.objective.loss
    # Only what is a sum over entries can weigh them.
    weighable = loss == Squared() or (isinstance(loss, Entrywise) and loss.exponents is not None)
    if not (coder.weighs_entries and updater.weighs_entries and weighable):
        raise IncompatiblePartsError(
            "entry_weight needs a loss that is a sum over entries, and codes and atoms found by "
            f"parts that weigh entries, got {loss!r} with {type(coder).__name__} and "
            f"{type(updater).__name__}; give sample_weight, or a mask with missing=True."
        )


def warn_of_few_first_rows(first: Batch, n_atoms: int) -> None:
    """Warn where a stream whose entries have weights begins with few rows for atoms that move."""
    n_rows, enough = int((first.row_weights > 0).sum()), FIRST_ROWS_PER_ATOM * n_atoms
    if n_rows < enough:
        warnings.warn(
            f"The first batch has {n_rows} rows for {n_atoms} atoms. Where entries have "
            f"weights, atoms that begin with so few may end far from the best ones: give {enough} "
            "rows or more at first, and as many in each batch if you can.",
            DataWarning,
            stacklevel=6,  # the caller of partial_fit or fit_stream
        )
