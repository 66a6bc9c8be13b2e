"""Rows that are never learned from: a small sample of the stream, to judge what was learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Holdout"]

MOST_ROWS = 256
MOST_BYTES = 1 << 23
ALL = 2**64 - 1


class Holdout:
    """A sample of fixed size of the rows of a stream, kept out of learning in every pass.

    Each row has a key that depends on what it is called and on the seed alone; the rows with the smallest keys are
    held. The longer the stream, the smaller the key must be to get in, so a long stream loses few rows to it.

    Parameters
    ----------
    share : float
        Of a short stream that is held; 0 holds nothing.
    seed : int

    Attributes
    ----------
    rows : ndarray or csr_array of shape (n_rows, n_features), or None
    keys : ndarray of uint64 of shape (n_rows,)
    n_held : int
        Rows that have been kept out of the first pass.
    """

    def __init__(self, share: float, seed: int) -> None:
        self.share, self.seed = share, seed
        self.rows: Any = None
        self.keys = np.empty(0, np.uint64)
        self.n_held = 0

    def split(self, X: Any, ids: NDArray, *, first_pass: bool) -> Any:
        """Return the rows to learn from; in the first pass those held out are kept, as long as there is room."""
        if not self.share:
            return X
        keys = _mixed(ids, self.seed)
        room = _room(X)
        bound = int(self.share * ALL)
        if len(self.keys) >= room:
            bound = min(bound, int(self.keys.max()))
        held = keys <= np.uint64(bound)
        if not held.any():
            return X
        if first_pass:
            self.n_held += int(held.sum())
            self._keep(X[held], keys[held], room)
        return X[~held]

    def _keep(self, rows: Any, keys: NDArray, room: int) -> None:
        all_keys = np.concatenate([self.keys, keys])
        kept = np.sort(np.argsort(all_keys, kind="stable")[:room])
        stack = sp.vstack if sp.issparse(rows) else np.concatenate
        both: Any = rows if self.rows is None else stack([self.rows, rows])
        self.rows, self.keys = (both.tocsr() if sp.issparse(both) else both)[kept], all_keys[kept]

    def notes(self) -> dict[str, Any]:
        """Return what a file keeps of it."""
        told: dict[str, Any] = {"keys": self.keys, "n_held": self.n_held}
        if sp.issparse(self.rows):
            X = self.rows
            return told | {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": list(X.shape)}
        return told | {"rows": self.rows}

    def restore(self, told: dict[str, Any]) -> None:
        """Take back what `notes` told."""
        self.keys, self.n_held = told["keys"], told["n_held"]
        if "indptr" in told:
            self.rows = sp.csr_array((told["data"], told["indices"], told["indptr"]), shape=tuple(told["shape"]))
        else:
            self.rows = told["rows"]


def _room(X: Any) -> int:
    """Return how many rows like these are held at most."""
    row = X.shape[1] * X.dtype.itemsize if not sp.issparse(X) else 12 * (X.nnz // max(X.shape[0], 1) + 1)
    return max(4, min(MOST_ROWS, MOST_BYTES // max(row, 1)))


def _mixed(ids: NDArray, seed: int) -> NDArray:
    """Return numbers that look random, one for each id: the finalizer of SplitMix64.

    References
    ----------
    Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators", OOPSLA.
    """
    key = ids.astype(np.uint64) + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) % 2**64)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))
