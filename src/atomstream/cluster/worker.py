"""The task of a slot: a pure function of a state, rows, and a seed; workers keep nothing."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from atomstream.cluster.engines import facts
from atomstream.cluster.rounds import Hand, Span
from atomstream.exceptions import BadShardError, ChangedShardError

__all__ = ["Payload", "Slot", "batches_of", "learn_slot", "packed"]


@dataclass(frozen=True)
class Slot:
    """What a slot is asked to do in a round.

    Attributes
    ----------
    round, number : int
        The key of its payload.
    hand : tuple of Span
        Its rows.
    batch : int
        Rows of a step; no batch goes over the end of a shard.
    how : dict
        Arguments of the model's ``_learn_apart``; None where the slot is alone in its round.
    horizon : float
        Mass of a pass, in later passes.
    """

    round: int
    number: int
    hand: Hand
    batch: int
    how: dict[str, Any] | None
    horizon: float = np.inf

    @property
    def key(self) -> tuple[int, int]:
        """What tells its payload from all others."""
        return self.round, self.number

    @property
    def shards(self) -> str:
        """Names of its shards, for messages."""
        return ", ".join(span.shard.name for span in self.hand)


@dataclass(frozen=True)
class Payload:
    """What a slot sends back.

    Attributes
    ----------
    key : (int, int)
        Round and slot.
    part : bytes
        A pickled `Part` or `Alone` of `atomstream.core.merging`.
    facts : dict
        Versions and processor of the worker.
    seconds : dict
        Spent on reading, coding and serialising.
    """

    key: tuple[int, int]
    part: bytes
    facts: dict[str, str]
    seconds: dict[str, float]


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
    model, reading = pickle.loads(sent), _Reading(slot)
    opened = perf_counter()
    try:
        if slot.how is None:
            part = model._learn_alone(iter(reading), horizon=slot.horizon)
        else:
            part = model._learn_apart(iter(reading), horizon=slot.horizon, **slot.how)
    except (BadShardError, ChangedShardError):
        raise
    except ValueError as error:
        raise BadShardError(reading.shard, str(error)) from None
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
    twin = copy(model)
    for name in [name for name in vars(twin) if "_callback" in name or name == "rounds_report_"]:
        del vars(twin)[name]
    return pickle.dumps(twin, protocol=5)


class _Reading:
    """The batches of a slot, and the time that reading them takes."""

    def __init__(self, slot: Slot) -> None:
        self._slot, self.seconds = slot, 0.0
        self.shard = slot.hand[0].shard.name

    def __iter__(self) -> Iterator[Any]:
        """Yield batches of rows."""
        for span in self._slot.hand:
            self.shard = span.shard.name
            batches = batches_of(span, self._slot.batch)
            while True:
                began = perf_counter()
                batch = next(batches, None)
                self.seconds += perf_counter() - began
                if batch is None:
                    break
                yield batch


def batches_of(span: Span, size: int) -> Iterator[Any]:
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
                    yield _joined(held)
                    held, n_held = [], 0
    except ChangedShardError:
        raise
    except (ValueError, OSError) as error:
        raise BadShardError(span.shard.name, str(error)) from error
    if held:
        yield _joined(held)


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
