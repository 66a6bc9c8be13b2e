"""Masks and weights of single entries, as users give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base.matrices import checked_numbers
from atomstream.exceptions import IncompatiblePartsError
from atomstream.losses import Squared

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
    X, seen = checked_numbers(X), np.asarray(mask.toarray() if sp.issparse(mask) else mask)
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
    if hasattr(X, "iloc"):
        return X.where(seen)
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    return np.where(seen, X, X.dtype.type(np.nan) if X.dtype.kind == "f" else np.nan)


@dataclass(frozen=True)
class EntryWeights:
    """Weights of entries as they were given, beside those of their rows."""

    by_entry: Any
    by_row: Any = None

    def checked(self, shape: tuple[int, ...]) -> NDArray:
        """Return what each entry of data of this shape weighs, in float64."""
        weights = _checked("entry_weight", self.by_entry, shape)
        if self.by_row is None:
            return weights
        rows = np.broadcast_to(_checked("sample_weight", self.by_row, None), shape[:1])
        return weights * rows[:, None]


def _checked(name: str, given: Any, shape: tuple[int, ...] | None) -> NDArray:
    given = given.toarray() if sp.issparse(given) else given
    weights = np.asarray(checked_numbers(given, name), dtype=np.float64)
    if shape is not None and weights.shape != shape:
        raise ValueError(f"{name} must be of shape {shape}, as X is, got {weights.shape}.")
    low, high = weights.min(initial=0), weights.max(initial=0)
    if not (np.isfinite(weights).all() and low >= 0):
        raise ValueError(f"{name} must be finite and not negative, got a minimum of {low}.")
    if high > MAX_WEIGHT:
        raise ValueError(f"{name} must be at most {MAX_WEIGHT:.0e}, got a maximum of {high}.")
    return weights


def relative_weights(X: Any, weights: NDArray) -> tuple[Any, NDArray, NDArray | None]:
    """Return rows, the largest weight of each, and the others over it; missing entries weigh 0."""
    X = X.toarray() if sp.issparse(X) else X
    missing = np.isnan(X)
    weights = np.where(missing, 0, weights)
    tops = weights.max(axis=1)
    shares = weights / np.where(tops > 0, tops, 1)[:, None]
    # A row without weight may look as it likes: it counts as one that was seen.
    alike = (shares == 1).all(axis=1) | (tops == 0)
    if alike.all() and not missing.any():
        return X, tops, None
    # Weights of 0 and 1 are a mask, and learned from as one.
    mask = shares > 0 if np.isin(shares, (0, 1)).all() else shares.astype(X.dtype)
    return np.where(missing, X.dtype.type(0), X), tops, mask


def by_rows(X: Any, weights: NDArray | None) -> tuple[Any, NDArray | None]:
    """Return rows and a weight for each: of weights of entries the largest, and 0 as missing."""
    if weights is None or weights.ndim == 1:
        return X, weights
    X = X.toarray() if sp.issparse(X) else X
    return np.where(weights > 0, X, X.dtype.type(np.nan)), relative_weights(X, weights)[1]


def check_weighs_entries(algorithm: Any) -> None:
    """Refuse an algorithm whose parts cannot weigh single entries."""
    coder, updater, loss = algorithm.coder, algorithm.updater, algorithm.objective.loss
    if not (coder.weighs_entries and updater.weighs_entries and loss == Squared()):
        raise IncompatiblePartsError(
            "entry_weight needs the squared loss, and codes and atoms found by parts that weigh "
            f"entries, got {loss!r} with {type(coder).__name__} and {type(updater).__name__}; "
            "give sample_weight, or a mask with missing=True."
        )
