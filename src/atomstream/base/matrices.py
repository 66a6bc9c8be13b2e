"""The kinds of arrays that functions take, and the border where data are held against themselves.

Compiled code believes what a sparse matrix says of itself: a column that does not exist is read,
and written, wherever it would stand in memory. So `checked_numbers` is called before anything else.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from atomstream.base.extras import library

KINDS = "fiubO"  # of NumPy's types: real numbers, and objects, which may be some


class Shaped(Protocol):
    """A frame, a sparse matrix, a labelled array: whatever has a shape."""

    @property
    def shape(self) -> Any:
        """Lengths of the axes."""


Matrix: TypeAlias = "NDArray | sp.sparray"  # dense, or sparse in CSR format; rows are samples
# What people give: checked before use.
Samples: TypeAlias = ArrayLike | Shaped


def dense(X: Any) -> Any:
    """Return a sparse matrix as an array; what is no sparse matrix as it is."""
    return X.toarray() if sp.issparse(X) else X


def checked_numbers(X: Any, name: str = "X") -> Any:
    """Return data that hold real numbers, in parts that fit together; most kinds as they are.

    Lists become arrays, objects become float64, and masked entries become NaN.

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
        _check_kind(X.dtype, name)
        return _checked_stored(X, name)
    if isinstance(X, np.ma.MaskedArray):
        _check_kind(X.dtype, name)
        # Of integers too: only floats can be NaN.
        X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
    if hasattr(X, "to_batches") or hasattr(X, "to_struct_array"):
        return _checked_arrow(X, name)
    if not hasattr(X, "shape"):
        _refuse_unopened(X, name)
        X = _array(X, name)
    if hasattr(X, "columns"):
        for column, dtype in zip(X.columns, X.dtypes, strict=True):
            _check_kind(dtype, f"Column {column!r} of {name}")
        # Types of other libraries than pandas are known by what they become.
        _check_kind(np.asarray(X.head(1)).dtype, name)
    _check_kind(getattr(X, "dtype", None), name)
    return _floats(X, name) if isinstance(X, np.ndarray) and X.dtype.kind == "O" else X


def _refuse_unopened(X: Any, name: str) -> None:
    """Refuse what holds a table without being one, saying how to get it."""
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError(
            f"{name} is a lazy frame; give {name}.collect(), or where that does not fit into "
            f"memory fit_stream({name}.collect_batches())."
        )
    if isinstance(X, Mapping):
        keys = ", ".join(map(repr, X))
        raise TypeError(
            f"{name} is a {type(X).__name__} that holds {keys:.80}; give one of them, or name it "
            "with column= in fit_stream."
        )


def _checked_arrow(X: Any, name: str) -> Any:
    """Return a table of pyarrow; a batch of records becomes one, so that its names are seen."""
    for field in X.schema:
        kind = np.dtype(field.type.to_pandas_dtype())
        if kind.kind not in "fiub":
            raise ValueError(
                f"Column {field.name!r} of {name} has the type {field.type}, needed are real "
                "numbers; convert it if that makes sense."
            )
    return X if hasattr(X, "to_batches") else library("pyarrow", "Tables").table(X)


def _array(X: Any, name: str) -> NDArray:
    try:
        return np.asarray(X)
    except ValueError:
        raise ValueError(
            f"{name} must be a table of numbers, got rows of different lengths."
        ) from None


def _floats(X: NDArray, name: str) -> NDArray:
    try:
        return X.astype(np.float64)
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


# -- sparse matrices


def _checked_stored(X: Any, name: str) -> Any:
    """Return a sparse matrix whose parts fit together; what is stored beyond its end is left out.

    Other formats than COO, CSR, CSC and BSR become CSR.
    """
    if X.format == "coo":
        _check_coordinates(X, name)
        return X
    if X.format not in ("csr", "csc", "bsr"):
        X = X.tocsr()
    n_major, n_minor = X.shape[-2:] if len(X.shape) > 1 else (1, X.shape[0])
    if X.format == "csc":
        n_major, n_minor = n_minor, n_major
    if X.format == "bsr":
        n_major, n_minor = n_major // X.blocksize[0], n_minor // X.blocksize[1]
    fault = _fault(X, n_major, n_minor)
    if fault:
        raise ValueError(f"{name} is a {X.format.upper()} matrix that contradicts itself: {fault}.")
    # Arrays may be longer than what is used; kernels read them whole.
    if len(X.indices) > X.indptr[-1] or len(X.data) > X.indptr[-1]:
        X = X.copy()
        X.prune()
    return X


def _fault(X: Any, n_major: int, n_minor: int) -> str:
    """Return what is wrong with pointers and indices, naming the row (CSC: column); "" if good."""
    pointers, indices = X.indptr, X.indices
    major, minor = ("column", "row") if X.format == "csc" else ("row", "column")
    if pointers.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        return f"its pointers are {pointers.dtype} and its indices {indices.dtype}"
    if pointers.shape != (n_major + 1,):
        return f"it has {pointers.size} pointers for {n_major} {major}s"
    # Comparisons, for differences of unsigned pointers wrap around.
    falls = pointers[1:] < pointers[:-1]
    if pointers[0] != 0 or falls.any():
        at = int(falls.argmax()) if falls.any() else 0
        return f"{major} {at} runs from entry {pointers[at]} to {pointers[at + 1]}"
    n_stored = int(pointers[-1])
    if n_stored > min(len(indices), len(X.data)):
        end = int(np.searchsorted(pointers, min(len(indices), len(X.data)), side="right")) - 1
        return (
            f"{major} {end} runs to entry {pointers[end + 1]} and {min(len(indices), len(X.data))} "
            "are stored"
        )
    used = indices[:n_stored]
    if n_stored and (used.min() < 0 or used.max() >= n_minor):
        place = int(((used < 0) | (used >= n_minor)).argmax())
        at = int(np.searchsorted(pointers, place, side="right")) - 1
        return f"{major} {at} has an entry in {minor} {used[place]} of {n_minor}"
    return ""


def _check_coordinates(X: Any, name: str) -> None:
    coordinates = X.coords if hasattr(X, "coords") else (X.row, X.col)
    for axis, (places, length) in enumerate(zip(coordinates, X.shape, strict=True)):
        if len(places) != len(X.data):
            fault = f"{len(places)} places along axis {axis} for {len(X.data)} entries"
        elif len(places) and (places.min() < 0 or places.max() >= length):
            entry = int(((places < 0) | (places >= length)).argmax())
            fault = f"entry {entry} stands at {places[entry]} of {length} along axis {axis}"
        else:
            continue
        raise ValueError(f"{name} is a COO matrix that contradicts itself: {fault}.")


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
