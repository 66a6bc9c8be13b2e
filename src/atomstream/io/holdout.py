"""Rows that are not learned from: those that a model refuses, and a sample to judge by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base.fields import array, check_fields, count, field_names
from atomstream.base.matrices import Matrix

MOST_ROWS = 256
MOST_BYTES = 1 << 23
ALL = 2**64 - 1


class Holdout:
    """A sample of fixed size of the rows of a stream, kept out of learning in every pass.

    Each row has a key that depends on what it is called and on the seed alone; the rows with the
    smallest keys are held. The longer the stream, the smaller the key must be to get in, so a long
    stream loses few rows to it.

    Parameters
    ----------
    share : float
        Of a short stream that is held; 0 holds nothing.
    seed : int

    Attributes
    ----------
    rows : ndarray or csr_array of shape (n_rows, n_features), or None
    keys : ndarray of uint64 of shape (n_rows,)
    labels : ndarray of objects of shape (n_rows,), or None
        Names of the rows, where the inputs name them.
    n_held : int
        Rows that have been kept out of the first pass.
    """

    SAVED = (
        *(array("rows", "n d", optional=True), array("keys", "n", np.uint64)),
        *(array("labels", "n", "O", optional=True), count("n_held")),
    )

    def __init__(self, share: float, seed: int) -> None:
        self.share, self.seed = share, seed
        self.rows: Any = None
        self.keys = np.empty(0, np.uint64)
        self.labels: NDArray | None = None
        self.n_held = 0

    def choose(self, X: Matrix, ids: NDArray) -> NDArray:
        """Return which rows to keep out of learning, as bool of shape (n_rows,)."""
        if not self.share:
            return np.zeros(X.shape[0], bool)
        bound = int(self.share * ALL)
        if len(self.keys) >= _room(X):
            bound = min(bound, int(self.keys.max()))
        return _mixed(ids, self.seed) <= np.uint64(bound)

    def keep(self, X: Matrix, ids: NDArray, labels: Sequence[NDArray] = ()) -> None:
        """Take in rows that were chosen in the first pass, as long as there is room.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_rows, n_features)
        ids : ndarray of shape (n_rows,)
        labels : sequence of ndarray of shape (n_rows,), default=()
            What names the rows; always as many arrays.
        """
        self.n_held += X.shape[0]
        self._add(X, _mixed(ids, self.seed))
        kept = np.sort(np.argsort(self.keys, kind="stable")[: _room(X)])
        self.rows, self.keys = self.rows[kept], self.keys[kept]
        if labels:
            named = zip(*labels, strict=True)
            names = np.array([" ".join(map(str, name)) for name in named], object)
            before = names[:0] if self.labels is None else self.labels
            self.labels = np.concatenate([before, names])[kept]

    def take(self, X: Matrix, ids: NDArray) -> None:
        """Take in rows chosen elsewhere, as long as there is room; their ids are the keys."""
        room = max(_room(X) - len(self.keys), 0)
        self._add(X[:room], ids[:room].astype(np.uint64))
        self.n_held = len(self.keys)

    def _add(self, X: Matrix, keys: NDArray) -> None:
        parts = [X] if self.rows is None else [self.rows, X]
        sparse = any(sp.issparse(part) for part in parts)
        rows: Any = sp.csr_array(sp.vstack(parts)) if sparse else np.concatenate(parts)
        self.rows = rows.astype(np.float32 if rows.dtype == np.float32 else np.float64, copy=False)
        self.keys = np.concatenate([self.keys, keys])

    def notes(self) -> dict[str, Any]:
        """Return what a file keeps of it."""
        return {name: getattr(self, name) for name in field_names(self.SAVED)}

    def restore(self, told: dict[str, Any]) -> None:
        """Take back what `notes` told.

        Raises
        ------
        ValueError, KeyError
            For what `notes` cannot have told.
        """
        vars(self).update({name: told[name] for name in field_names(self.SAVED)})
        check_fields(self, self.SAVED, **({"n": 0} if self.rows is None else {}))


def _room(X: Matrix) -> int:
    """Return how many rows like these are held at most; they are drawn, so each counts as dense."""
    return max(4, min(MOST_ROWS, MOST_BYTES // (X.shape[1] * 8)))


def _mixed(ids: NDArray, seed: int) -> NDArray:
    """Return numbers that look random, one for each id: the finalizer of SplitMix64.

    References
    ----------
    Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators", OOPSLA.
    """
    key = ids.astype(np.uint64) + np.uint64(
        (seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) % 2**64
    )
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


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
