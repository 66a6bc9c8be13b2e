"""Parts of a model that learn from all shards, each by itself: no rounds, nothing to merge."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from atomstream.cluster.engines import facts
from atomstream.cluster.gathering import done
from atomstream.cluster.rounds import Job, Span
from atomstream.cluster.shards import Shards
from atomstream.cluster.worker import Payload, Reading


def learned_apart(learner: Any, n_parts: int, shards: Shards, engine: Any, batch: int) -> list[Any]:
    """Return what each part of a model has learned, in their order.

    Parameters
    ----------
    learner : object
        Can be pickled; ``learner.learn_part(number, batches)`` returns what a part has learned.
    n_parts : int
    shards : Shards
    engine : None, str, Executor, dask.distributed.Client or Engine
    batch : int
        Rows of a step; no batch goes over the end of a shard.
    """
    hand = tuple(Span(shard, 0, shard.n_rows) for shard in shards)
    parts = [_Part(0, number, hand, batch) for number in range(n_parts)]
    sent = pickle.dumps(learner, protocol=5)
    return [pickle.loads(found.part) for found in done(engine, _learn, sent, parts)]


@dataclass(frozen=True)
class _Part(Job):
    """The task of one part."""

    batch: int


def _learn(sent: bytes, part: _Part) -> Payload:
    """Let a part learn from all shards."""
    with Reading(part.hand, part.batch).named() as reading:
        learned = pickle.loads(sent).learn_part(part.number, iter(reading))
    return Payload(part.key, pickle.dumps(learned, protocol=5), facts())
