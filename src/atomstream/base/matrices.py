"""The kinds of arrays that functions take, and the border where data are held against themselves.

`checked_numbers` is called before anything else.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base.declared import find, loaded
from atomstream.base.extras import library

KINDS = "fiubO"  # of NumPy's types: real numbers, and objects, which may be some


class Shaped(Protocol):
    """A frame, a sparse matrix, a labelled array: whatever has a shape."""

    @property
    def shape(self) -> Any:
        """Lengths of the axes."""


Matrix: TypeAlias = "NDArray | sp.sparray"  # dense, or sparse in CSR format; rows are samples
# What people give: checked before use.
if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Samples: TypeAlias = ArrayLike | Shaped
else:

    class ArrayLike:
        """What `numpy.asarray` takes: `numpy.typing.ArrayLike`, under the name that help shows.

        That is a union of up to 1,691 characters, which signatures would spell out.
        """

    # The names of built-in types are shown without a module.
    ArrayLike.__module__ = "builtins"
    Samples = ArrayLike


def dense(X: Any) -> Any:
    """Return a sparse matrix as an array; what is no sparse matrix as it is."""
    return X.toarray() if sp.issparse(X) else X


def checked_numbers(X: Any, name: str = "X") -> Any:
    """Return data that hold real numbers, in parts that fit together; most kinds as they are.

    Lists become arrays, objects become float64, and what is missing becomes NaN: entries that are
    masked, null, None or NA. Sparse matrices become canonical CSR.

    Parameters
    ----------
    X : array-like, frame or sparse
    name : str, default="X"
        The name of the argument in messages.

    Raises
    ------
    ValueError
        For dates, durations, texts and complex numbers, lists of different lengths, and sparse
        matrices whose pointers or indices lead outside.
    TypeError
        For objects that are no numbers, and for what holds a table without being one: lazy frames,
        mappings.
    """
    # What nearly always comes is let through first; subclasses may be masked.
    if type(X) is np.ndarray and X.dtype.kind == "f":
        return X
    if sp.issparse(X):
        from atomstream.base.sparse_parts import checked_stored

        _check_kind(X.dtype, name)
        return checked_stored(X, name)
    if isinstance(X, np.ma.MaskedArray):
        _check_kind(X.dtype, name)
        X = _filled(X)
    if hasattr(X, "to_batches") or hasattr(X, "to_struct_array"):
        return _checked_arrow(X, name)
    is_array = hasattr(X, "shape") and (hasattr(X, "__array__") or hasattr(X, "columns"))
    if isinstance(X, Mapping) or not is_array:
        _refuse_unopened(X, name)
        X = X if hasattr(X, "shape") else _array(X, name)
    if hasattr(X, "columns"):
        for column, dtype in zip(X.columns, X.dtypes, strict=True):
            _check_kind(dtype, f"Column {column!r} of {name}")
        # Types of other libraries than pandas are known by what they become.
        _check_kind(np.asarray(X.head(1)).dtype, name)
    _check_kind(getattr(X, "dtype", None), name)
    if hasattr(X, "iloc"):
        X = _without_na(X)
    return _floats(X, name) if isinstance(X, np.ndarray) and X.dtype.kind == "O" else X


def checked_array(X: Any, name: str = "X", dtype: Any = None) -> NDArray:
    """Return numbers as a dense array, NaN where an entry is missing, whatever held them.

    Every function that computes with what a user hands over calls this or `checked_numbers` first:
    NumPy's own conversion reads what stands behind a mask.

    Parameters
    ----------
    X : array-like, frame or sparse
    name : str, default="X"
        The name of the argument in messages.
    dtype : data-type, optional
        By default that of the data; float64 for objects.

    Returns
    -------
    ndarray
        The data themselves where they are an array of this type.

    Raises
    ------
    ValueError, TypeError
        As `checked_numbers`.
    """
    X = dense(checked_numbers(X, name))
    if type(X) is not np.ndarray:
        # What is read late, or put together of columns, shows its masks and objects now; dask
        # loses masks on the way to an array, and keeps them when it computes.
        X = _read(X.compute() if hasattr(X, "compute") else X, name)
        X = checked_numbers(X, name)
    return np.asarray(X, dtype)


def column_names(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame of pandas or polars, or a table of pyarrow."""
    return list(frame.schema.names if hasattr(frame, "to_pydict") else frame.columns)


def checked_matrix(X: Any, name: str = "X") -> Any:
    """Return numbers as `checked_array` does, or as canonical CSR rows where they are sparse."""
    X = checked_numbers(X, name)
    return X if sp.issparse(X) else checked_array(X, name)


def complete_array(values: Any, name: str, dtype: Any = None) -> NDArray:
    """Return dates, names or places as an array, of which none may be missing.

    Raises
    ------
    ValueError
        Where an entry is masked, NaN, NaT, None or NA.
    """
    array = np.asarray(_read(without_mask(values), name))
    missing = array != array if array.dtype.kind in "fM" else _missing_objects(array)
    if np.any(missing):
        place = ", ".join(map(str, np.argwhere(missing)[0]))
        raise ValueError(f"{name} has a missing entry (at {place}, counted from 0); leave it out.")
    return array.astype(dtype or array.dtype, copy=False)


def without_mask(values: Any) -> Any:
    """Return names or labels as they are, or as a list with None for what is masked."""
    _refuse_foreign(values, "What was given")
    # Of pyarrow, whose own scalars equal no others.
    if hasattr(values, "to_pylist") and not hasattr(values, "columns"):
        return values.to_pylist()
    if isinstance(values, list | tuple) and any(map(np.ma.isMaskedArray, values)):
        return [without_mask(entry) for entry in values]
    return values.tolist() if np.ma.is_masked(values) else values


def is_missing(entry: Any) -> Any:
    """Return whether an entry among names or labels is none: None, NaN, NaT, NA or masked."""
    # Comparing NA with itself gives NA, which is neither true nor false.
    is_none = entry is None or entry is np.ma.masked or type(entry).__name__ == "NAType"
    return is_none or entry != entry


def _refuse_unopened(X: Any, name: str) -> None:
    """Refuse what holds a table without being one, saying how to get it."""
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError(
            f"{name} is a lazy frame; give {name}.collect(), or where that does not fit into "
            f"memory fit_stream({name}.collect_batches())."
        )
    if isinstance(X, Mapping) or hasattr(X, "keys"):
        keys = ", ".join(map(repr, X))
        raise TypeError(
            f"{name} is a {type(X).__name__} that holds {keys:.80}; give one of them, or name it "
            "with column= in fit_stream."
        )
    _refuse_foreign(X, name)


def _refuse_foreign(X: Any, name: str) -> None:
    """Refuse an object of another library that holds arrays and is none, saying what to give."""
    kind, library = type(X).__name__, type(X).__module__.partition(".")[0]
    if library == "builtins" or hasattr(X, "__array__"):
        return
    # Fields say what to give of the objects of their libraries; none is named here.
    place = find("instead", library)
    if place is not None:
        instead = loaded(place)(X)
        raise TypeError(f"{name} is of the type {kind}, needed is an array; {instead}.")
    if hasattr(X, "shape") and not hasattr(X, "dtype"):
        raise TypeError(f"{name} is of the type {kind}, which NumPy does not read as an array.")


def _read(X: Any, name: str) -> NDArray:
    """Return what NumPy makes of an object that says that it is an array."""
    try:
        return np.asanyarray(X)
    except (RuntimeError, TypeError) as error:  # such as of tensors of PyTorch
        kind = type(X).__name__
        raise TypeError(f"{name} is a {kind} that is not read as an array: {error}") from None


def _checked_arrow(X: Any, name: str) -> Any:
    """Return a table of pyarrow; a batch of records becomes one, so that its names are seen."""
    for field in X.schema:
        kind = np.dtype(field.type.to_pandas_dtype())
        # A column of nulls alone has no other type.
        if kind.kind not in "fiub" and str(field.type) != "null":
            raise ValueError(
                f"Column {field.name!r} of {name} has the type {field.type}, needed are real "
                "numbers; convert it if that makes sense."
            )
    return X if hasattr(X, "to_batches") else library("pyarrow", "Tables").table(X)


def _missing_objects(X: NDArray) -> NDArray:
    """Return which entries are missing, of the shape of an array of objects; of others none."""
    if X.dtype.kind != "O":
        return np.zeros(X.shape, bool)
    return np.asarray(np.frompyfunc(is_missing, 1, 1)(X), bool)


def _filled(X: Any) -> Any:
    """Return a masked array with NaN behind its mask; one that hides nothing in its own type."""
    if not np.ma.is_masked(X):
        return np.asarray(X.data)
    if X.dtype.kind == "O":
        return np.where(X.mask, None, X.data)
    # Of integers too: only floats can be NaN.
    return X.astype(np.result_type(X.dtype, np.float32)).filled(np.nan)


def _without_na(X: Any) -> Any:
    """Return a frame or a series of pandas in types of NumPy, NaN where it says NA."""
    if not hasattr(X, "columns"):
        return _with_nan(X) if _may_hold_na(X.dtype) else X
    nullable = [place for place, dtype in enumerate(X.dtypes) if _may_hold_na(dtype)]
    if nullable:
        X = X.copy(deep=False)
    for place in nullable:
        X.isetitem(place, _with_nan(X.iloc[:, place]))
    return X


def _may_hold_na(dtype: Any) -> bool:
    """Return whether a column of pandas of this type may hold NA among numbers."""
    if isinstance(dtype, np.dtype):
        return dtype.kind == "O"
    return hasattr(dtype, "numpy_dtype") and dtype.numpy_dtype.kind in "fiub"


def _with_nan(column: Any) -> NDArray:
    """Return a column as floats, or as objects, with NaN for NA."""
    known = getattr(column.dtype, "numpy_dtype", column.dtype)
    kind = known if known in (np.float32, object) else np.float64
    return column.to_numpy(kind, na_value=np.nan)


def _array(X: Any, name: str) -> NDArray:
    if _holds_masks(X):
        X = [checked_numbers(part, name) for part in X]
    try:
        return np.asarray(X)
    except ValueError:
        raise ValueError(
            f"{name} must be a table of numbers, got rows of different lengths."
        ) from None


def _holds_masks(X: Any) -> bool:
    """Return whether lists hold masked arrays or entries, at any depth."""
    if not isinstance(X, list | tuple):
        return isinstance(X, np.ma.MaskedArray)
    kinds = set(map(type, X))  # few, of many entries
    return any(issubclass(kind, np.ma.MaskedArray) for kind in kinds) or (
        not kinds.isdisjoint((list, tuple)) and any(map(_holds_masks, X))
    )


def _floats(X: NDArray, name: str) -> NDArray:
    if not X.ndim and is_missing(X.item()):
        raise TypeError(f"{name} must hold real numbers, got {X.item()!r}.")
    try:
        return np.where(_missing_objects(X), np.nan, X).astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} must hold real numbers: {error}.") from None


def _check_kind(dtype: Any, name: str) -> None:
    kind = getattr(dtype, "kind", "f")
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: {name} has the type {dtype}; give real and imaginary "
            "parts as features."
        )
    if kind not in KINDS:
        raise ValueError(
            f"{name} has the type {dtype}, needed are real numbers; convert it if that makes sense."
        )


def stacked(parts: Sequence[Any]) -> Any:
    """Return rows below each other: CSR where some of them are sparse, else dense."""
    if len(parts) == 1:  # nothing to copy
        return parts[0]
    sparse = any(map(sp.issparse, parts))
    return sp.csr_array(sp.vstack(parts)) if sparse else np.concatenate(parts)


def unit(rows: NDArray) -> NDArray:
    """Return rows scaled to Euclidean length one; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def or_wider(dtype: Any) -> str:
    """Return the advice to give numbers in a wider type, where there is one to give them in."""
    return " or give them as float64" if np.dtype(dtype).itemsize < 8 else ""


def of_sum_one(rows: NDArray) -> NDArray:
    """Return rows scaled to the sum one; rows of zeros stay."""
    totals = rows.sum(axis=-1, keepdims=True)
    return np.divide(rows, totals, out=np.zeros_like(rows), where=totals > 0)
