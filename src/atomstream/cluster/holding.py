"""Rows of shards that are kept out of learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.cluster.rounds import ShardCursor
from atomstream.cluster.shards import Shard, Shards
from atomstream.cluster.worker import Reading, joined

# Rows, and neighbouring ones together: each costs opening a shard.
MAX_HELD_ROWS, HELD_BLOCKS = 256, 16


def chosen_rows(shards: Shards, share: float, seed: int) -> NDArray:
    """Return numbers of rows to keep out, in the list of all shards: a few neighbours at a time.

    Parameters
    ----------
    shards : Shards
    share : float
        Of all rows; of a long list 256 rows are chosen.
    seed : int

    Returns
    -------
    ndarray of int64 of shape (n_places, n_neighbours)
        Places in any order.
    """
    n_rows = min(MAX_HELD_ROWS, int(share * shards.n_rows))
    size = max(n_rows // HELD_BLOCKS, 1)
    rng = np.random.default_rng(seed)
    places = rng.choice(shards.n_rows // size, n_rows // size, replace=False)
    return places[:, None] * size + np.arange(size)


def rows_at(shards: Shards, first: int, n_rows: int) -> Any:
    """Read so many rows, from this one of all shards on.

    Raises
    ------
    InputError
        Where they cannot be read.
    """
    with Reading(ShardCursor(shards, first, ()).take(n_rows), n_rows).named() as reading:
        return joined([*reading])


def without_rows(shards: Shards, rows: NDArray) -> Shards:
    """Return shards that read as if these rows were not there."""
    ends = np.cumsum([shard.n_rows for shard in shards])
    of, kept = np.searchsorted(ends, rows, side="right"), []
    for number, shard in enumerate(shards):
        inside = np.sort(rows[of == number]) - (ends[number] - shard.n_rows)
        kept.append(_Without(shard, tuple(inside.tolist())) if len(inside) else shard)
    return Shards(kept)


@dataclass(frozen=True)
class _Without:
    """A shard without some of its rows, in ascending order."""

    shard: Shard
    held: tuple[int, ...]

    @property
    def name(self) -> str:
        """Name of the whole."""
        return self.shard.name

    @property
    def n_rows(self) -> int:
        """Number of rows that are left."""
        return self.shard.n_rows - len(self.held)

    @property
    def version(self) -> str:
        """Version of the whole, and which rows are left out."""
        return f"{self.shard.version} without {self.held}"

    def read(self, first: int, last: int) -> Iterator[Any]:
        """Yield some of the rows that are left."""
        left = np.delete(np.arange(self.shard.n_rows), self.held)[first:last]
        at = left[0]
        for block in self.shard.read(at, left[-1] + 1):
            inside = np.arange(at, at + block.shape[0])
            yield block[~np.isin(inside, self.held)]
            at += block.shape[0]
