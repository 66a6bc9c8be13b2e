"""Errors on hidden entries: codes are found on some columns, and the others predicted from them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import dense
from atomstream.loop import Algorithm
from atomstream.penalties.base import weakened
from atomstream.problem import Accuracy, Batch

# Of the mean: what a column of zeros is predicted with where a loss needs more.
MIN_PREDICTION = 1e-9
ACCURACY = Accuracy(violation=1e-6, gap=1e-7)


class HiddenPart(NamedTuple):
    """Rows divided into the columns that codes are found on, and those that are predicted."""

    seen: NDArray
    hidden: NDArray
    rows_seen: Batch
    rows_hidden: Batch


def hidden_parts(batch: Batch, columns: Sequence[NDArray]) -> list[HiddenPart]:
    """Return the rows with each part of the columns hidden, for all dictionaries that follow."""
    everything = np.arange(batch.X.shape[1])
    divided = ((np.setdiff1d(everything, hidden), hidden) for hidden in columns)
    return [HiddenPart(*both, *map(batch.on, both)) for both in divided]


def hidden_errors(parts: Sequence[HiddenPart], dictionary: Any, algorithm: Algorithm) -> NDArray:
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
    total = np.zeros(parts[0].rows_hidden.X.shape[0])
    for both in parts:
        codes = weakened(algorithm.objective.codes, len(both.seen) / dictionary.shape[1])
        objective, there = replace(algorithm.objective, codes=codes), dictionary.on(both.seen)
        # The penalty counts as much as the features that the code is found on, as in cross-fitting.
        found = algorithm.coder.encode(both.rows_seen, there, objective, ACCURACY)
        there = dictionary.on(both.hidden)
        total += objective.losses(both.rows_hidden, found.values, there)
    return total * (2.0 if algorithm.objective.loss.quadratic else 1.0)


def mean_errors(batch: Batch, means: NDArray, algorithm: Algorithm) -> NDArray:
    """Return what `hidden_errors` are where each row is predicted by its row of ``means``."""
    loss = algorithm.objective.loss
    X = dense(batch.X)
    Y = means
    if loss.reconstruction == "positive":
        mean = float(means.sum()) / max(means.size, 1)  # no row may have been kept
        Y = np.maximum(means, MIN_PREDICTION * mean + np.finfo(np.float64).tiny)
    errors: NDArray = loss.value(X if batch.mask is None else np.where(batch.mask, X, Y), Y)
    return errors * (2.0 if loss.quadratic else 1.0)
