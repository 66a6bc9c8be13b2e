"""The one online loop: all models but the factorization of walks learn through `learn`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from atomstream.coders import Codes
from atomstream.loop.algorithm import Algorithm
from atomstream.loop.explaining import CodingOptions
from atomstream.memory.base import Delta
from atomstream.memory.state import State
from atomstream.problem import Batch, Clock

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """The outcome of one step, for callbacks."""

    batch: Batch
    codes: Codes
    delta: Delta
    n_reseeded: int


def learn(
    batches: Iterable[Batch],
    state: State,
    algorithm: Algorithm,
    clock: Clock,
    rng: np.random.Generator,
    watch: Callable[[Progress], bool] | None = None,
    frozen: bool = False,
) -> bool:
    """Run over a stream of batches; atoms that nothing uses are re-seeded between batches.

    Parameters
    ----------
    batches : iterable of Batch
        Finite or not. A batch of mass 0 is no step.
    state, algorithm, clock, rng
        What changes, how, when, and the source of randomness.
    watch : callable, optional
        Called after every step with its `Progress`; a true answer ends the loop.
    frozen : bool, default=False
        Measure only: each batch is coded and measured for ``watch``, and nothing is learned.

    Returns
    -------
    bool
        Whether ``watch`` ended the loop.
    """
    for batch in batches:
        _log_idle_rows(batch)
        parts, done = (state, algorithm, clock, rng), None
        # A batch of mass 0 is no step: clock, memory and dictionary stay, but its rows have come.
        if batch.mass > 0:
            done = _measured(batch, *parts) if frozen else _learned(batch, *parts)
        # After the step: rows of a batch that was refused are not counted.
        clock.n_samples += batch.X.shape[0]
        if done is not None and watch is not None and watch(done):
            return True
    return False


def _measured(
    batch: Batch, state: State, algorithm: Algorithm, clock: Clock, rng: np.random.Generator
) -> Progress:
    """Code a batch and measure what it would add."""
    codes, delta, _ = algorithm.explain(
        batch, state.dictionary, CodingOptions(clock.tolerance, rng)
    )
    return Progress(batch, codes, delta, 0)


def _learned(
    batch: Batch, state: State, algorithm: Algorithm, clock: Clock, rng: np.random.Generator
) -> Progress:
    """Learn from a batch, and give atoms that nothing uses a new start."""
    codes, delta = algorithm.step(batch, state, clock, rng)
    # Between the steps: an update never raises the surrogate, a new atom may.
    n_reseeded = algorithm.reseed(batch, codes, state, rng)
    if n_reseeded:
        log.info("Step %d: %d atoms that nothing used were replaced.", clock.step, n_reseeded)
    return Progress(batch, codes, delta, n_reseeded)


def _log_idle_rows(batch: Batch) -> None:
    # Counting is a pass over the rows, and only a log that is read is worth it.
    if batch.weights is None or not log.isEnabledFor(logging.DEBUG):
        return
    n_idle = int((batch.weights == 0).sum())
    if n_idle:
        text = "%d of %d rows from row %d on have weight 0 or no observed entry; they do not count."
        log.debug(text, n_idle, len(batch.weights), batch.position)
