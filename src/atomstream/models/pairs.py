"""What patches say of the pairs of nodes they cover: means of all proposals, in memory of the pairs met."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["PairMeans"]

SHARDS = 64  # tables that grow one at a time, so that what is old and what is new never stand side by side
FEW, FULL, GROWTH = 64, 0.8, 1.3


class PairMeans:
    """Weighted mean of the values proposed for each pair of nodes.

    Parameters
    ----------
    n_nodes : int
    """

    def __init__(self, n_nodes: int) -> None:
        self._n_nodes = n_nodes
        self._rows = -(-n_nodes // SHARDS)  # of a shard
        self._shards = [_Table(FEW) for _ in range(-(-n_nodes // self._rows))]

    def add(
        self, states: NDArray, patches: NDArray, weights: NDArray | None = None, entries: NDArray | None = None
    ) -> None:
        """Take in the proposals of patches.

        Parameters
        ----------
        states : ndarray of int64 of shape (n, k)
            Nodes of each patch.
        patches : ndarray of shape (n, k * k)
        weights : ndarray of shape (n,), optional
            Of the patches; ones by default.
        entries : ndarray of bool of shape (k, k), optional
            Which entries of a patch are heard; all by default.
        """
        k = states.shape[1]
        tails, heads = np.nonzero(np.ones((k, k), bool) if entries is None else entries)
        patches = patches if entries is None else patches[:, entries.ravel()]
        keys = (states[:, tails] * self._n_nodes + states[:, heads]).reshape(-1)
        shards = (states // self._rows).astype(np.uint8)[:, tails].reshape(-1)
        order = np.argsort(shards, kind="stable")  # a radix sort, and as proposals come within each shard
        ends = np.cumsum(np.bincount(shards, minlength=len(self._shards)))
        values = patches.reshape(-1)[order].astype(np.float64, copy=False)
        spread = np.ones(len(keys)) if weights is None else np.repeat(weights, len(tails))[order]
        keys = keys.astype(np.uint64)[order]
        for shard, start, end in zip(self._shards, np.concatenate([[0], ends[:-1]]), ends, strict=True):
            if start < end:
                shard.add(keys[start:end], values[start:end], spread[start:end])

    def drain(self) -> tuple[Any, Any]:
        """Return means and weights as two csr_arrays over the pairs that were met, and forget them."""
        parts = []
        while self._shards:
            parts.append(self._shards.pop(0).drain())
        keys = np.concatenate([part[0] for part in parts]).astype(np.int64)
        rows = np.searchsorted(keys, np.arange(self._n_nodes + 1) * self._n_nodes)
        columns = (keys % self._n_nodes).astype(np.int32)
        del keys
        means, weights = (np.concatenate([part[which] for part in parts]) for which in (1, 2))
        shape = (self._n_nodes, self._n_nodes)
        return sp.csr_array((means, columns, rows), shape), sp.csr_array((weights, columns, rows), shape)


class _Table:
    """One growing table."""

    def __init__(self, n_places: int) -> None:
        from atomstream._kernels.pairs import FREE

        self.keys = np.full(n_places, FREE)
        self.sums, self.weights = np.zeros(n_places), np.zeros(n_places)
        self.filled = 0

    def add(self, keys: NDArray, values: NDArray, weights: NDArray) -> None:
        """Take in proposals, growing where there is no room."""
        from atomstream._kernels.pairs import add, move

        done = 0
        while done < len(keys):
            most = int(FULL * len(self.keys))
            done, self.filled = add(
                self.keys, self.sums, self.weights, self.filled, most, keys, values, weights, done
            )
            if done < len(keys):
                larger = _Table(int(GROWTH * len(self.keys)) + 1)
                move(self.keys, self.sums, self.weights, larger.keys, larger.sums, larger.weights)
                self.keys, self.sums, self.weights = larger.keys, larger.sums, larger.weights

    def drain(self) -> tuple[NDArray, NDArray, NDArray]:
        """Return keys in order, means, and weights."""
        from atomstream._kernels.pairs import FREE

        taken = np.flatnonzero(self.keys != FREE)
        taken = taken[np.argsort(self.keys[taken])]
        return self.keys[taken], self.sums[taken] / self.weights[taken], self.weights[taken]
