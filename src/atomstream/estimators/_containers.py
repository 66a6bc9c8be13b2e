"""Results in the containers of the data they were made from: frames, and xarray's arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from atomstream.base.extras import library

if TYPE_CHECKING:
    from atomstream.domains.tensors import Axes

ENTRIES = 1 << 22  # that are read at a time of an array that is not in memory


def is_labelled(X: Any) -> bool:
    """Return whether data are an array of xarray."""
    return hasattr(X, "dims") and hasattr(X, "coords") and hasattr(X, "ndim")


def as_table(X: Any) -> Any:
    """Return data with labels in two axes as a frame, and others as they are."""
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


def check_stream(batches: Any) -> None:
    """Refuse a single array or table where a stream of batches is needed."""
    if hasattr(batches, "collect") and hasattr(batches, "collect_schema"):
        raise ValueError(
            "fit_stream needs an iterable of batches, got a lazy frame; give the frame's "
            "collect_batches()."
        )
    if type(batches).__name__ == "BlockView":
        raise ValueError(
            f"fit_stream needs an iterable of batches, got the view of the {batches.size} blocks "
            "of a dask array; give X.rechunk({1: -1}).blocks.ravel(), a list of blocks of whole "
            "rows."
        )
    if hasattr(batches, "shape"):
        raise ValueError(
            f"fit_stream needs an iterable of batches, got one array of shape {batches.shape}; "
            "wrap it in a list, or cut it with atomstream.streams.batches."
        )


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
    width = 1
    for size in X.shape[1:]:
        width *= size
    step = max(ENTRIES // max(width * chunk, 1), 1) * chunk
    for start in range(0, X.shape[0], step):
        yield X[start : start + step]


def is_stored(X: Any) -> bool:
    """Return whether data are an array in chunks that are read when they are asked for."""
    return hasattr(X, "chunks") and not is_labelled(X) and len(X.shape) > 1 and X.shape[0] > 0


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
