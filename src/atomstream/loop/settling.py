"""Data at hand learned to the end: alternation between all codes and the dictionary."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import numpy as np

from atomstream.coders import Codes
from atomstream.loop.algorithm import Algorithm
from atomstream.loop.explaining import CodingOptions
from atomstream.loop.online import Progress
from atomstream.memory.state import State
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy, Clock

log = logging.getLogger(__name__)

MIN_GAIN = 3e-4  # share of the objective that a round gains at least, unless it is the last one
FINE_GAIN = 1e-5  # the same where entries have weights, under which rounds gain little for long
EXACT = 0.03  # share of the first objective: what is below counts as that, for it may end at zero
MAX_ROUNDS = 500  # rounds
UPDATES = 3  # of the dictionary in a round
ACCURACY = Accuracy(violation=1e-3, gap=1e-9)  # of codes
# Codes of more atoms than features are not unique. Where there are many, exact ones take ten times
# as long, for nothing.
ROUGH, MANY_ATOMS = Accuracy(violation=0.05, gap=1e-9), 64


def rounds(
    batches: Sequence[Batch],
    state: State,
    algorithm: Algorithm,
    clock: Clock,
    most: int = MAX_ROUNDS,
    gain: float | None = None,
) -> Iterator[Progress]:
    """Learn from all of the data in every round, until a round gains next to nothing.

    A round finds the codes of all rows, each from its last one, and gives the updater what these
    alone add up to: nothing of earlier codes is left in the memory. So no round raises the
    objective, unlike those of the online loop, and where a round changes nothing the codes and the
    dictionary are stationary. The last round gained little, which is not the same: under
    Kullback-Leibler rounds may creep where data can be fitted exactly.

    Parameters
    ----------
    batches : sequence of Batch
        The data, cut in blocks so that what a block needs stays small.
    state, algorithm, clock
        What changes, and how; the clock is only read.
    most : int, default=500
        Rounds at most.
    gain : float, optional
        Share of the objective, by default 3e-4, with weights of entries 1e-5: a round that
        gains less is the last one.

    Yields
    ------
    Progress
        After every round, with the last block.
    """
    n_components, n_features = state.dictionary.shape
    if gain is None:
        gain = FINE_GAIN if any(batch.has_entry_weights for batch in batches) else MIN_GAIN
    redundant = n_components > max(n_features, MANY_ATOMS) and algorithm.objective.loss.quadratic
    accuracy = ROUGH if redundant else ACCURACY
    codes: list[Codes | None] = [None] * len(batches)
    first = before = np.inf
    for number in range(1, most + 1):
        explained = [
            algorithm.explain(
                batch,
                state.dictionary,
                CodingOptions(accuracy, start=None if last is None else last.values),
            )
            for batch, last in zip(batches, codes, strict=True)
        ]
        codes, deltas = [found for found, *_ in explained], [delta for _, delta, _ in explained]
        latest = [item for *_, items in explained for item in items]
        delta = sum(deltas[1:], start=deltas[0])
        # A new memory in each round: all rows were coded anew, so nothing of it is past.
        state.memory = algorithm.statistics.start(
            n_components, n_features, algorithm.objective.loss
        )
        state.memory.absorb(delta, 1.0)
        # The sums are there, and the codes are what a round takes long for.
        for _ in range(UPDATES):
            algorithm.updater.update(state, algorithm.objective, clock, latest)
        yield Progress(latest[-1].batch, latest[-1].codes, delta, 0)
        # Of the dictionary before these updates: what they gained shows in the next round.
        now = delta.objective / delta.mass
        log.debug("Round %d over all rows: objective %.6g.", number, now)
        first = now if np.isinf(first) else first
        if np.isfinite(before) and before - now <= gain * max(abs(now), EXACT * abs(first)):
            log.info("Settled after %d rounds over all rows: objective %.6g.", number, now)
            return
        before = now
