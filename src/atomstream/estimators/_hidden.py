"""Errors on hidden entries of rows that a dictionary has not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.core.batch import Batch
from atomstream.core.clock import Accuracy
from atomstream.core.method import Method
from atomstream.penalties.base import weakened

__all__ = ["hidden_errors", "mean_errors"]

LEAST = 1e-9  # of the mean: what a column of zeros is predicted with where a loss needs more
ACCURACY = Accuracy(violation=1e-6, gap=1e-7)


def hidden_errors(
    batch: Batch, dictionary: Any, method: Method, columns: Sequence[NDArray]
) -> NDArray:
    """Return the sum of the losses of each row on all entries, each predicted from other columns.

    The columns of a part are hidden, codes are found on all others, and the entries of the part are
    compared with what the codes make of them. Neither the codes nor a dictionary that has not
    learned from these rows know them, so more atoms do not win by themselves.

    Returns
    -------
    ndarray of shape (n_rows,)
        Squared errors (not halved) under the squared loss.

    References
    ----------
    Owen, Perry (2009), "Bi-cross-validation of the SVD and the nonnegative matrix factorization":
    rows and columns are left out at once.
    """
    n_features = dictionary.shape[1]
    errors = np.zeros(batch.X.shape[0])
    for hidden in columns:
        seen = np.setdiff1d(np.arange(n_features), hidden)
        codes = weakened(method.objective.codes, len(seen) / n_features)
        objective = replace(method.objective, codes=codes)
        found = method.coder.encode(batch.on(seen), dictionary.on(seen), objective, ACCURACY)
        errors += objective.losses(batch.on(hidden), found.values, dictionary.on(hidden))
    return errors * (2.0 if method.objective.loss.quadratic else 1.0)


def mean_errors(batch: Batch, means: NDArray, method: Method) -> NDArray:
    """Return what `hidden_errors` are where each row is predicted by its row of ``means``."""
    loss = method.objective.loss
    X = batch.X.toarray() if not isinstance(batch.X, np.ndarray) else batch.X
    floor = LEAST * means.mean() + np.finfo(np.float64).tiny
    Y = np.maximum(means, floor) if loss.reconstruction == "positive" else means
    errors: NDArray = loss.value(X if batch.mask is None else np.where(batch.mask, X, Y), Y)
    return errors * (2.0 if loss.quadratic else 1.0)
