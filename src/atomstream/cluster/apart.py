"""Parts of a model that learn from all shards, each by itself: no rounds, nothing to merge."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from atomstream.cluster.engines import Engine, check_alike, facts, opened
from atomstream.cluster.gathering import gathered
from atomstream.cluster.rounds import Hand, RoundsReport, Span
from atomstream.cluster.shards import Shards
from atomstream.cluster.worker import Payload, batches_of, packed
from atomstream.exceptions import BadShardError

__all__ = ["learned_apart"]


def learned_apart(model: Any, n_parts: int, shards: Shards, engine: Any, batch: int) -> list[Any]:
    """Return what each part of a model has learned, in their order.

    Parameters
    ----------
    model : estimator
        ``model._learn_part(number, batches)`` returns what a part has learned.
    n_parts : int
    shards : Shards
    engine : None, str, Executor, dask.distributed.Client or Engine
    batch : int
        Rows of a step; no batch goes over the end of a shard.
    """
    engine = Engine.of(engine)
    hand = tuple(Span(shard, 0, shard.n_rows) for shard in shards)
    parts = [_Part(number, hand, batch) for number in range(n_parts)]
    timeout = engine.round_timeout
    with opened(engine.engine) as pool:
        learned = []
        for found in gathered(pool, _learn, packed(model), parts, timeout, RoundsReport()):
            check_alike(found.facts, engine)
            learned.append(pickle.loads(found.part))
    return learned


@dataclass(frozen=True)
class _Part:
    """The task of one part."""

    number: int
    hand: Hand
    batch: int

    @property
    def key(self) -> tuple[int, int]:
        """What tells its result from all others."""
        return 0, self.number

    @property
    def shards(self) -> str:
        """Names of all shards."""
        return ", ".join(span.shard.name for span in self.hand)


def _learn(sent: bytes, part: _Part) -> Payload:
    """Let a part learn from all shards."""
    at = [part.hand[0].shard.name]

    def batches() -> Any:
        """Yield the rows of all shards, and note which one is read."""
        for span in part.hand:
            at[0] = span.shard.name
            yield from batches_of(span, part.batch)

    try:
        learned = pickle.loads(sent)._learn_part(part.number, batches())
    except BadShardError:
        raise
    except ValueError as error:
        raise BadShardError(at[0], str(error)) from None
    return Payload(part.key, pickle.dumps(learned, protocol=5), facts(), {})
