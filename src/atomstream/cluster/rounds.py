"""Rounds: how many rows each slot gets, which ones, and what a run of rounds came to."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from atomstream.base.parameters import Part, number, one_of, whole
from atomstream.cluster.shards import Shard, Shards


@dataclass(frozen=True)
class Rounds(Part):
    """How learning is cut into rounds; a part of what runs must share to have the same bits.

    Learning begins with steps on one slot after the other's rows. Then each round deals rows to all
    slots, and merges what they learned.

    Parameters
    ----------
    warmup : int, default=4096
        Rows that the model learns from before the first round with several slots.
    first : int, default=512
        Rows of each slot in the first round.
    growth : float, default=1.05
        By which the rows of a slot grow from round to round.
    most : int, default=65536
        Rows of a slot at most.
    batch : int, default=128
        Rows of a step at most: fewer than in serial learning, for a row counts for those of all
        slots. Under the squared loss steps are of 32 rows in the warm-up, and after a round that
        lowered the objective by more than a tenth, unless noise is more than a fifth of the
        variance of the first rows.
    mode : {"local", "frozen"}, default="local"
        "local": slots take steps of their own, and the states they end with are averaged.
        "frozen": they code their rows with the dictionary as it is, which is updated once a round.
    """

    warmup: int = 4096
    first: int = 512
    growth: float = 1.05
    most: int = 65_536
    batch: int = 128
    mode: str = "local"
    BOUNDS: ClassVar = {
        "warmup": whole(0),
        "first": whole(),
        "growth": number(1),
        "most": whole(),
        "batch": whole(),
        "mode": one_of("local", "frozen"),
    }

    def rows(self, number: int) -> int:
        """Return the rows of a slot in a round with several slots, from 0: whole batches."""
        # Capped, for a power of many rounds overflows.
        wanted = min(self.first * self.growth ** min(number, 1000), self.most)
        return max(round(wanted / self.batch), 1) * self.batch


class Position(NamedTuple):
    """Where a run of rounds stands.

    Attributes
    ----------
    round : int
        Number of rounds completed.
    shared : int
        How many of them had several slots.
    row : int
        Number of the next row in the list of shards, skipped ones included.
    gaining : int
        1 where the last round with several slots lowered the objective by more than a tenth, or 0.
    noisy : int
        1 where the rows that learning began with have so much noise that no step is small, or 0.
    """

    round: int = 0
    shared: int = 0
    row: int = 0
    gaining: int = 0
    noisy: int = 0


class Span(NamedTuple):
    """Some rows of a shard."""

    shard: Shard
    first: int
    last: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.last - self.first


RowRanges = tuple[Span, ...]  # the rows of a slot in a round


@dataclass(frozen=True)
class Job:
    """A task for a worker; the kinds of tasks add what else they need to know.

    Attributes
    ----------
    round, number : int
    hand : tuple of Span
        Its rows.
    """

    round: int
    number: int
    hand: RowRanges

    @property
    def key(self) -> tuple[int, int]:
        """Round and number, which tell its result from all others."""
        return self.round, self.number

    @property
    def n_rows(self) -> int:
        """Number of its rows."""
        return sum(span.n_rows for span in self.hand)

    @property
    def shards(self) -> str:
        """Names of its shards, for messages."""
        return ", ".join(span.shard.name for span in self.hand)


class ShardCursor:
    """The rows of shards from some row on, without those of skipped shards."""

    def __init__(self, shards: Shards, row: int, skipped: Collection[str]) -> None:
        self._spans: list[tuple[int, Span]] = []
        self.row, before = row, 0
        for shard in shards:
            first = max(row - before, 0)
            if shard.name not in skipped and first < shard.n_rows:
                self._spans.append((before, Span(shard, first, shard.n_rows)))
            before += shard.n_rows
        self._end = before
        self.left = sum(span.n_rows for _, span in self._spans)
        self._spans.reverse()

    def take(self, n_rows: int) -> RowRanges:
        """Return so many of the next rows, or all there are."""
        hand: list[Span] = []
        while n_rows > 0 and self._spans:
            before, span = self._spans.pop()
            taken = span._replace(last=min(span.last, span.first + n_rows))
            hand.append(taken)
            n_rows -= taken.n_rows
            self.left -= taken.n_rows
            self.row = before + taken.last
            if taken.last < span.last:
                self._spans.append((before, span._replace(first=taken.last)))
        if not self._spans:
            self.row = self._end
        return tuple(hand)


def plan(
    shards: Shards,
    at: Position,
    skipped: Collection[str],
    rounds: Rounds,
    slots: int,
    wanted_alone: int,
) -> tuple[list[RowRanges], Position]:
    """Return the rows of each slot in the next round, and where it ends; no hands at the end.

    Parameters
    ----------
    shards : Shards
    at : Position
    skipped : collection of str
        Names of shards to leave out.
    rounds : Rounds
    slots : int
    wanted_alone : int
        Rows to learn from before the first round with several slots.
    """
    deck = ShardCursor(shards, at.row, skipped)
    if wanted_alone > 0:
        hands, shared = [deck.take(wanted_alone)], at.shared
    else:
        n_rows = rounds.rows(at.shared)
        if deck.left < n_rows * slots:  # the last round is dealt evenly, in whole batches
            n_rows = math.ceil(deck.left / slots / rounds.batch) * rounds.batch
        hands, shared = [deck.take(n_rows) for _ in range(slots)], at.shared + 1
    hands = [hand for hand in hands if hand]
    return hands, at._replace(round=at.round + 1, shared=shared, row=deck.row)


@dataclass
class RoundsReport:
    """What a run of rounds came to.

    Attributes
    ----------
    n_rounds, n_rows : int
        Rounds played, and rows learned from in them.
    skipped : list of (name, reason)
        Shards that were left out.
    seconds : dict of str to float
        "reading" and "coding" as the workers spent them, added; "serialising" of states and
        results by all; of this process "unpacking" of results, "adding" (merges and updates) and
        "waiting" for the engine; "whole": from begin to end.
    bytes_sent, bytes_returned : int
        Sizes of states, once a round, and of results.
    n_repeated : int
        Tasks that were given out again.
    fall : float
        The share by which the mean objective of the last batches of the slots fell in the last
        round with several slots. Above a tenth learning is not settled.
    """

    n_rounds: int = 0
    n_rows: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    bytes_sent: int = 0
    bytes_returned: int = 0
    n_repeated: int = 0
    fall: float = math.nan

    def spend(self, what: str, seconds: float) -> None:
        """Count time."""
        self.seconds[what] = self.seconds.get(what, 0.0) + seconds

    @property
    def rows_per_second(self) -> float:
        """Rows learned from per second of the whole."""
        return self.n_rows / max(self.seconds.get("whole", 0.0), 1e-9)

    def waited_and_worked(self) -> tuple[float, float]:
        """Return the seconds waited for the engine, and those that workers read and coded."""
        spent = self.seconds
        return spent.get("waiting", 0.0), spent.get("reading", 0.0) + spent.get("coding", 0.0)

    def shares(self) -> dict[str, float]:
        """Return what share of the time of driver and workers each kind of work took."""
        kinds = {name: spent for name, spent in self.seconds.items() if name != "whole"}
        total = max(sum(kinds.values()), 1e-9)
        return {name: spent / total for name, spent in kinds.items()}
