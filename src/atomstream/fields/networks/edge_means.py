"""Patches that differ, and means of the values that patches propose for pairs of nodes."""

import mmap
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

# Tables at least. They grow one at a time, so the old and the new version of all pairs are never in
# memory together.
SHARDS = 64
KEYS = 2**32 - 1  # most pairs in a shard, so that four bytes name one
# Places of a new table; share that may be filled; growth.
TABLE_SIZE, MAX_LOAD, GROWTH = 64, 0.88, 1.15
# Up to so many pairs of nodes every pair has its place, which needs no search: 200 MB at most, of
# which only the pages of visited pairs are taken.
MAX_PLACES = 2**24
PAGES = 2**14  # size from which on a table has memory pages of its own


class EdgeMeans:
    """Mean of the values proposed for each pair of nodes.

    Parameters
    ----------
    n_nodes : int
    weighted : bool, default=False
        Whether proposals have weights; otherwise they are counted.
    """

    def __init__(self, n_nodes: int, weighted: bool = False) -> None:
        self._n_nodes = n_nodes
        self._rows = max(1, min(-(-n_nodes // SHARDS), KEYS // n_nodes))  # of a shard
        self._kind = np.float64 if weighted else np.uint32
        self._shards: dict[int, _Table] = {}
        self._sums: Any = None
        self._counts: Any = None
        # A place for every pair costs memory and no search; beyond it, tables hold the visited
        # pairs alone.
        if n_nodes**2 <= MAX_PLACES:
            self._sums, self._counts = (
                _zeros(n_nodes**2, dtype) for dtype in (np.float64, self._kind)
            )

    def add(self, states: NDArray, patches: NDArray, weights: NDArray | None = None) -> None:
        """Add the proposals of patches.

        Parameters
        ----------
        states : ndarray of int64 of shape (n, k)
            Nodes of each patch.
        patches : ndarray of shape (n, k * k)
        weights : ndarray of shape (n,), optional
            Weights of the patches; ones by default.
        """
        k = states.shape[1]
        tails, heads = np.divmod(np.arange(k * k), k)
        self.add_pairs(states[:, tails], states[:, heads], patches, weights)

    def add_pairs(
        self, rows: NDArray, columns: NDArray, values: NDArray, weights: NDArray | None = None
    ) -> None:
        """Add proposals for pairs of nodes.

        Parameters
        ----------
        rows, columns, values : ndarray of shape (n, m)
        weights : ndarray of shape (n,), optional
            Weights of the m values of each row; ones by default.
        """
        # No table of all places: the network is large.
        if self._sums is None:
            self._add_to_tables(rows, columns, values, weights)
            return
        from atomstream.fields.networks.kernel_pairs import add_in_place

        each = np.ones(len(rows)) if weights is None else weights
        table = self._sums, self._counts
        add_in_place(table, self._n_nodes, (rows, columns, values), each)

    def _add_to_tables(
        self, rows: NDArray, columns: NDArray, patches: NDArray, weights: NDArray | None
    ) -> None:
        n_columns = rows.shape[1]
        shards, rows = np.divmod(rows, self._rows)
        keys = (rows * self._n_nodes + columns).astype(np.uint32).ravel()
        few = self._n_nodes // self._rows < 2**16
        shards = shards.astype(np.uint16 if few else np.int64).ravel()
        order = np.argsort(shards, kind="stable")  # a radix sort, because the numbers are short
        numbers, starts = np.unique(shards[order], return_index=True)
        ends = np.append(starts[1:], len(order))
        keys, values = keys[order], patches.ravel()[order].astype(np.float64, copy=False)
        spread = np.ones(1) if weights is None else np.repeat(weights, n_columns)[order]
        for number, start, end in zip(numbers.tolist(), starts, ends, strict=True):
            # Made when first visited: a chain may never leave a part of the network.
            if number not in self._shards:
                self._shards[number] = _Table(TABLE_SIZE, self._kind)
            own = spread if weights is None else spread[start:end]
            self._shards[number].add(keys[start:end], values[start:end], own)

    def drain(self) -> tuple[Any, Any]:
        """Return means and weights as two csr_arrays over the visited pairs, and forget them."""
        if self._sums is not None:
            return self._drained()
        n = sum(shard.filled for shard in self._shards.values())
        means, weights = np.empty(n), np.empty(n, self._kind)
        columns, indptr = np.empty(n, np.int32), np.zeros(self._n_nodes + 1, np.int64)
        begin = 0
        # one shard after the other, so that tables and result are never complete together
        for number in sorted(self._shards):
            keys, shard_means, shard_weights = self._shards.pop(number).drain()
            part = slice(begin, begin + len(keys))
            means[part], weights[part] = shard_means, shard_weights
            rows, columns[part] = np.divmod(keys, np.uint32(self._n_nodes))
            row = number * self._rows
            n_rows = min(self._rows, self._n_nodes - row)
            indptr[row + 1 : row + n_rows + 1] = np.bincount(rows, minlength=n_rows)
            begin = part.stop
        indptr = np.cumsum(indptr).astype(np.int32 if n < 2**31 else np.int64)
        shape = (self._n_nodes, self._n_nodes)
        parts = ((values, columns, indptr) for values in (means, weights))
        return tuple(sp.csr_array(part, shape) for part in parts)

    def _drained(self) -> tuple[Any, Any]:
        """Return what `drain` does where every pair has its place."""
        places = np.flatnonzero(self._counts)
        rows, columns = np.divmod(places, self._n_nodes)
        weights = self._counts[places]
        means = self._sums[places] / weights
        self._sums, self._counts = None, None
        shape = (self._n_nodes, self._n_nodes)
        ends = (columns.astype(np.int32), np.searchsorted(rows, np.arange(self._n_nodes + 1)))
        indptr = ends[1].astype(np.int32)
        return tuple(sp.csr_array((part, ends[0], indptr), shape) for part in (means, weights))


class _Table:
    """One growing hash table."""

    def __init__(self, n_places: int, kind: Any) -> None:
        from atomstream.fields.networks.kernel_pairs import FREE

        self.keys, self.sums, self.weights = (
            _zeros(n_places, dtype) for dtype in (np.uint32, np.float64, kind)
        )
        self.keys[:] = FREE
        self.filled = 0

    def add(self, keys: NDArray, values: NDArray, weights: NDArray) -> None:
        """Add proposals; the table grows when it is full."""
        from atomstream.fields.networks.kernel_pairs import add, move

        done = 0
        while done < len(keys):
            most = int(MAX_LOAD * len(self.keys))
            table = (self.keys, self.sums, self.weights)
            done, self.filled = add(table, self.filled, most, (keys, values, weights), done)
            if done < len(keys):
                # Slow growth, for old and new table are in memory together for a moment.
                larger = _Table(int(GROWTH * len(self.keys)) + 1, self.weights.dtype)
                move(self.keys, self.sums, self.weights, larger.keys, larger.sums, larger.weights)
                self.keys, self.sums, self.weights = larger.keys, larger.sums, larger.weights

    def drain(self) -> tuple[NDArray, NDArray, NDArray]:
        """Return the keys in order, with their means and weights."""
        from atomstream.fields.networks.kernel_pairs import FREE

        # Sorted, as a CSR array wants its columns.
        taken = np.flatnonzero(self.keys != FREE)
        taken = taken[np.argsort(self.keys[taken])]
        return self.keys[taken], self.sums[taken] / self.weights[taken], self.weights[taken]


def _zeros(n: int, dtype: DTypeLike) -> NDArray:
    """Return zeros; large arrays get memory pages of their own, which are freed at once."""
    if n < PAGES:
        return np.zeros(n, dtype)
    return np.frombuffer(mmap.mmap(-1, n * np.dtype(dtype).itemsize), dtype)


def distinct(patches: NDArray) -> tuple[NDArray, NDArray]:
    """Return the patches that differ, and which of them each patch is.

    Patches of one number are taken for one: the number is their sum with random weights, and
    checked.
    """
    # A random number for each patch: sorting numbers is much cheaper than sorting rows. Two patches
    # with the same number are so unlikely that they are only checked for.
    numbers = patches @ np.random.default_rng(0).random(patches.shape[1])
    _, first, places = np.unique(numbers, return_index=True, return_inverse=True)
    if not np.array_equal(patches[first][places], patches):
        found, places = np.unique(patches, axis=0, return_inverse=True)
        return found, places.ravel()
    return patches[first], places
