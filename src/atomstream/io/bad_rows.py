"""Rows that a model refuses: what ``--on-bad-line skip`` leaves out."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def bad_rows(X: Any, *, missing: bool, nonnegative: bool) -> NDArray:
    """Return which rows a model refuses; lines that could not be read are all missing.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_rows, n_features)
    missing : bool
        Whether the model takes missing entries; a row without any other is refused all the same.
    nonnegative : bool
        Whether it refuses negative ones.

    Returns
    -------
    ndarray of bool of shape (n_rows,)
        False for sparse rows, in which nothing is missing.
    """
    if sp.issparse(X):
        return np.zeros(X.shape[0], bool)
    unknown = np.isnan(X)
    bad: NDArray = unknown.all(axis=1) if missing else unknown.any(axis=1)
    bad |= np.isinf(X).any(axis=1)
    return bad | (X < 0).any(axis=1) if nonnegative else bad
