"""The numbers that a loss takes: entries near zero, and entries out of scale."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import dense
from atomstream.estimators._given import by_rows
from atomstream.estimators._validation import first_place
from atomstream.exceptions import DataWarning
from atomstream.losses import Mahalanobis
from atomstream.problem import Batch, Objective

# The largest entry of data whose models are as accurate as those of the same data near 1, by the
# type of the data: for the squared loss, and for other losses.
ACCURATE = {
    np.dtype(np.float64): ((1e-40, 1e120), (1e-40, 1e140)),
    np.dtype(np.float32): ((1e-20, 1e16), (1e-7, 1e16)),
}
FLOOR_SHARE = (
    1e-8  # of a row's mean: what entries are raised to where the loss is infinite at zeros
)
MIN_MEAN = {np.dtype(np.float64): 1e-40, np.dtype(np.float32): 1e-30}  # of a row that is not empty
MAX_NEGATIVE = 0.1  # of the energy: what noise leaves below zero is less


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


def in_scale(batches: Iterator[Batch], objective: Objective, signed: str = "") -> Iterator[Batch]:
    """Yield the first batches of a run, looking at the size and the sign of their entries.

    Raises
    ------
    ValueError
        Where sums of squares are not finite.

    Warns
    -----
    DataWarning
        Where numbers are so small or large that accuracy is lost; and where much of the energy is
        of negative entries, and neither codes nor atoms are: ``signed`` says what would fit these.
    """
    loss, bounds = objective.loss, objective.codes.shape
    for batch in batches:
        values, dtype = batch.X.data if sp.issparse(batch.X) else batch.X, batch.X.dtype
        if signed and objective.codes.nonnegative and objective.atoms.nonnegative:
            _warn_of_negative_energy(values, signed)
        largest = float(max(values.max(initial=0), -values.min(initial=0)))
        most = float(np.finfo(dtype).max)
        # Squares are summed under the squared loss; others are of the first degree, more or less.
        if largest > (most**0.5 if loss.quadratic else most / 1e4):
            raise ValueError(
                f"X has entries of {largest:.2g}, whose sums are not finite in {dtype}; rescale "
                "the data or give them as float64."
            )
        low, high = ACCURATE[np.dtype(dtype)][0 if loss.quadratic else 1]
        if bounds is not None and bounds.low > 0:
            low, high = max(low, 1e3 * bounds.low), min(high, 0.1 * bounds.high)
        if loss.data == "positive" and largest == values.dtype.type(FLOOR_SHARE):
            warnings.warn(
                f"No row of X has a mean above {MIN_MEAN[dtype]:.0e}, so that all count as rows of "
                f"zeros under {loss!r}; multiply the data by a constant.",
                DataWarning,
                stacklevel=6,
            )
        elif 0 < largest < low or largest > high:
            warnings.warn(
                f"The largest entry of X is {largest:.2g}; outside of {low:.0e} to {high:.0e} "
                "accuracy is lost, so divide the data by a constant.",
                DataWarning,
                stacklevel=6,  # the caller of fit, fit_stream or partial_fit
            )
        yield batch


def _warn_of_negative_energy(values: NDArray, signed: str) -> None:
    """Warn where negative entries are more than noise."""
    if not values.min(initial=0) < 0:
        return
    # In units of the largest entry, so that squares are numbers.
    values = values / np.abs(values).max()
    share = float((np.minimum(values, 0) ** 2).sum() / (values**2).sum())
    if share > MAX_NEGATIVE:
        warnings.warn(
            f"Negative entries have {share:.0%} of the energy of X, which no nonnegative factors "
            f"fit; for data of both signs {signed}.",
            DataWarning,
            stacklevel=7,  # the caller of fit, fit_stream or partial_fit
        )
