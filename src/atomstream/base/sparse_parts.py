"""Sparse matrices held against themselves: what is stored is canonical, or refused.

Compiled code believes what a sparse matrix says of itself: a column that does not exist is read,
and written, wherever it would stand in memory.
"""

from typing import Any

import numpy as np


def checked_stored(X: Any, name: str) -> Any:
    """Return a sparse matrix whose parts fit together as canonical CSR rows.

    Columns rise in every row, and each stands there once: parts of an entry are added up, and
    zeros are not stored. What has more than two axes stays COO. A canonical CSR matrix comes back
    as it is, and what was given is never changed.
    """
    if X.format == "coo":
        _check_coordinates(X, name)
        if X.ndim != 2:
            return X
        # Another matrix of the same parts: one that calls itself canonical would not be summed.
        X = type(X)((X.data, X.coords), shape=X.shape)
    elif X.format in ("csc", "bsr"):
        X = _within_bounds(X, name)
    X = _within_bounds(X if X.format == "csr" else X.tocsr(), name)
    if not _rises(X) or not X.data.all():
        X = X.copy()  # which knows nothing of itself yet
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def _within_bounds(X: Any, name: str) -> Any:
    """Return a CSR, CSC or BSR matrix without what is stored beyond its end; refuse faults."""
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


def _rises(X: Any) -> bool:
    """Return whether the columns of each row rise; what a matrix says of itself may be stale."""
    rises = X.indices[1:] > X.indices[:-1]
    begins = X.indptr[1:-1]
    # Where a row begins any column may follow; empty rows begin there too.
    rises[begins[(begins > 0) & (begins < len(X.indices))] - 1] = True
    return bool(rises.all())


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
    for axis, (places, length) in enumerate(zip(X.coords, X.shape, strict=True)):
        if len(places) != len(X.data):
            fault = f"{len(places)} places along axis {axis} for {len(X.data)} entries"
        elif len(places) and (places.min() < 0 or places.max() >= length):
            entry = int(((places < 0) | (places >= length)).argmax())
            fault = f"entry {entry} stands at {places[entry]} of {length} along axis {axis}"
        else:
            continue
        raise ValueError(f"{name} is a COO matrix that contradicts itself: {fault}.")
