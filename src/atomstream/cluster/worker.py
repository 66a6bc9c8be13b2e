"""Work on shards: their rows in batches, rows that are kept out, and the task of a slot."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import stacked_columns, threads
from atomstream.cluster.engines import facts
from atomstream.cluster.rounds import Job, RowRanges, ShardCursor, Span
from atomstream.cluster.shards import Shard, Shards
from atomstream.exceptions import BadShardError, ChangedShardError


@dataclass(frozen=True)
class Slot(Job):
    """What a slot is asked to do in a round.

    Attributes
    ----------
    round, number, hand
        As in `Job`.
    batch : int
        Rows of a step; no batch goes over the end of a shard.
    how : dict
        Arguments of the learner's ``learn_apart``; None where the slot is alone in its round.
    horizon : float
        Mass of a pass, in later passes.
    """

    batch: int
    how: dict[str, Any] | None
    horizon: float = np.inf


@dataclass(frozen=True)
class Payload:
    """What a worker sends back.

    Attributes
    ----------
    key : (int, int)
        Of its `Job`.
    part : bytes
        Pickled: of a slot, a `SlotResult` or `SerialResult` of `atomstream.loop.merging`.
    facts : dict
        Versions and processor of the worker.
    seconds : dict
        Spent on reading, coding and serialising.
    """

    key: tuple[int, int]
    part: bytes
    facts: dict[str, str]
    seconds: dict[str, float] = field(default_factory=dict)


def learn_slot(sent: bytes, slot: Slot) -> Payload:
    """Learn from the rows of a slot, from the state that was sent.

    Raises
    ------
    BadShardError
        For rows that cannot be read or learned from, naming their shard.
    ChangedShardError
        For a shard that is not what it was.
    """
    began = perf_counter()
    learner = pickle.loads(sent)
    opened = perf_counter()
    # Each worker is one of many.
    with threads(1), Reading(slot.hand, slot.batch).named() as reading:
        if slot.how is None:
            part = learner.learn_alone(iter(reading), horizon=slot.horizon)
        else:
            part = learner.learn_apart(iter(reading), horizon=slot.horizon, **slot.how)
    learned = perf_counter()
    packed = pickle.dumps(part, protocol=5)
    seconds = {
        "reading": reading.seconds,
        "coding": learned - opened - reading.seconds,
        "serialising": opened - began + perf_counter() - learned,
    }
    return Payload(slot.key, packed, facts(), seconds)


def packed(model: Any) -> bytes:
    """Return a model as bytes for the workers, without its callbacks and reports."""
    return pickle.dumps(bare(model), protocol=5)


def bare(model: Any) -> Any:
    """Return a copy of a model without its callbacks and reports."""
    twin = copy(model)
    for name in [name for name in vars(twin) if "_callback" in name or name == "rounds_report_"]:
        del vars(twin)[name]
    return twin


class Reading:
    """Rows in batches, and the time that reading them takes.

    Parameters
    ----------
    hand : tuple of Span
    size : int
        Rows of a batch, none of which goes over the end of a shard.
    """

    def __init__(self, hand: RowRanges, size: int) -> None:
        self._hand, self._size, self.seconds = hand, size, 0.0
        self._shard = hand[0].shard.name

    def __iter__(self) -> Iterator[Any]:
        """Yield batches of rows."""
        for span in self._hand:
            self._shard = span.shard.name
            batches = _batches_of(span, self._size)
            while True:
                began = perf_counter()
                batch = next(batches, None)
                self.seconds += perf_counter() - began
                if batch is None:
                    break
                yield batch

    @contextmanager
    def named(self) -> Iterator[Reading]:
        """Name the shard that is read in what is wrong with its rows."""
        try:
            yield self
        except (BadShardError, ChangedShardError):
            raise
        except ValueError as error:
            raise BadShardError(self._shard, str(error)) from None


def _batches_of(span: Span, size: int) -> Iterator[Any]:
    """Yield the rows of a span in batches of one size; the last may be smaller.

    Raises
    ------
    BadShardError
        Where the shard cannot be read.
    """
    held: list[Any] = []
    n_held = 0
    try:
        for block in span.shard.read(span.first, span.last):
            while block.shape[0]:
                part = block[: size - n_held]
                held.append(part)
                n_held, block = n_held + part.shape[0], block[part.shape[0] :]
                if n_held == size:
                    yield stacked_columns(held)
                    held, n_held = [], 0
    except ChangedShardError:
        raise
    except (ValueError, OSError) as error:
        raise BadShardError(span.shard.name, str(error)) from error
    if held:
        yield stacked_columns(held)


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
    # Blocks of neighbours, all of one size, so that no two of them overlap.
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
        return stacked_columns([*reading])


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
        # Rows are counted without those held out; reading goes over these and drops them.
        left = np.delete(np.arange(self.shard.n_rows), self.held)[first:last]
        at = left[0]
        for block in self.shard.read(at, left[-1] + 1):
            inside = np.arange(at, at + block.shape[0])
            yield block[~np.isin(inside, self.held)]
            at += block.shape[0]
