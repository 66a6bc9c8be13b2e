"""Rows in the domain of a loss, which may be infinite at zeros."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import dense
from atomstream.estimators._given import by_rows
from atomstream.estimators._validation import FLOOR_SHARE, MIN_MEAN, first_place
from atomstream.losses import Mahalanobis


def in_domain(X: Any, loss: Any, weights: NDArray | None, place: Callable[[int, int], str]) -> Any:
    """Return rows that a loss takes, which may be infinite where an entry is 0.

    Under ``zeros="floor"`` what lies below 1e-8 of the mean of its row is raised to that: a zero,
    and a smaller entry than that, for it must not count more than a zero. Rows whose mean is below
    1e-40 (float32: 1e-30) count as rows of zeros, which are raised to 1e-8. Under
    ``zeros="refuse"`` nothing is raised: entries at which the loss is infinite are refused, and
    others are taken as they are.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
    loss : Loss
    weights : ndarray of shape (n_samples,) or (n_samples, n_features), or None
        Means are over the entries that are neither missing nor of weight 0.
    place : callable
        Returns the words for the entry of a row and a column, for messages.

    Raises
    ------
    ValueError
        For zeros where the loss says "refuse", and for another number of features than it has.
    """
    if isinstance(loss, Mahalanobis) and len(loss.A) != X.shape[1]:
        raise ValueError(f"Mahalanobis has a metric of {len(loss.A)} features, X has {X.shape[1]}.")
    if loss.data != "positive":
        return X
    X = dense(X)
    if loss.zeros == "refuse":
        check_domain(X, loss, weights, place)
        return X
    known, _ = by_rows(X, weights)
    sums, sizes = known.sum(axis=1, keepdims=True), X.shape[1]
    if np.isnan(sums).any():
        seen = ~np.isnan(known)
        sums = np.where(seen, known, 0).sum(axis=1, keepdims=True)
        sizes = np.maximum(seen.sum(axis=1, keepdims=True), 1)
    # Of a row of zeros the mean is no unit, and 1 stands for it.
    units = np.where(sums > MIN_MEAN[X.dtype] * sizes, sums / sizes, 1)
    raised = np.maximum(X, (FLOOR_SHARE * units).astype(X.dtype, copy=False))
    return X if np.array_equal(raised, X) else raised


def check_domain(
    X: Any, loss: Any, weights: NDArray | None, place: Callable[[int, int], str]
) -> None:
    """Refuse data at whose smallest entry a loss is infinite, where it refuses zeros."""
    if loss.data != "positive" or loss.zeros != "refuse":
        return
    X, _ = by_rows(dense(X), weights)
    least = np.fmin.reduce(X, axis=None, initial=1.0)
    with np.errstate(all="ignore"):
        if np.isfinite(loss.value(np.full((1, 1), least), np.ones((1, 1)))).all():
            return
    what, where = "zeros" if least == 0 else f"{least:.2g}", place(*first_place(X, least == X))
    raise ValueError(
        f"Input X contains {what} (first in {where}, counted from 0), where {loss!r} is infinite; "
        "say loss__zeros='floor'."
    )
