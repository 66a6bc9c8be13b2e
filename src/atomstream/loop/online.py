"""The online loop, its algorithm and its step; all but walks learn through `learn`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from atomstream.coders import Coder, Codes
from atomstream.exceptions import IncompatiblePartsError
from atomstream.loop.explaining import CodingOptions, Explainer, Explanation, Whole
from atomstream.memory import Delta, State, Statistics
from atomstream.problem import Accuracy, Batch, Clock, Objective
from atomstream.updates.base import Updater
from atomstream.updates.reseeding import Reseeding

# What has the attributes that parts need of another one, for messages.
WITH_ATTRIBUTE = {
    ("loss", "quadratic"): "loss='squared'",
    ("loss", "exponents"): "loss='kl' of OnlineNMF",
    ("loss", "trims"): "loss='trimmed' of OnlineNMF",
    ("loss", "fixed"): "loss='huber' of OnlineNMF",
    ("codes", "most_nonzero"): "codes=atomstream.penalties.TopK(5)",
    ("codes", "nonnegative"): "codes='nonnegative'",
    ("codes", "polyhedral"): "codes='box'",
    ("codes", "rowwise"): "codes='box'",
    ("codes", "convex"): "codes='unit_ball'",
    ("codes", "shape"): "codes='nonnegative'",
    ("atoms", "rowwise"): "atoms='unit_ball'",
    ("atoms", "nonnegative"): "atoms='nonnegative_ball'",
    ("atoms", "shape"): "atoms='nonnegative_ball'",
    ("atoms", "convex"): "atoms='unit_ball'",
}
ROUGH_STEPS, EXACT = 50, 1e-2  # of a stream with weights of entries, and violations after them


@dataclass(frozen=True)
class Algorithm:
    """A named algorithm: what is minimised, and the parts that do it batch by batch.

    One that must walk the rows one by one offers the same `step` and `reseed` and has other
    parts.

    Attributes
    ----------
    objective : Objective
    coder : Coder
    updater : Updater
        Declares the statistics and the memory that it learns from.
    reseeding : Reseeding, optional
        None leaves atoms that nothing uses as they are.
    missing : bool, default=False
        Whether entries of batches may be missing.
    explainer : Explainer
        How batches are coded and measured; by default each as a whole.
    """

    objective: Objective
    coder: Coder
    updater: Updater
    reseeding: Reseeding | None = None
    missing: bool = False
    explainer: Explainer = field(default_factory=Whole)

    @property
    def statistics(self) -> Statistics:
        """Statistics that the updater measures of a batch."""
        return self.updater.statistics

    def step(
        self, batch: Batch, state: State, clock: Clock, rng: np.random.Generator
    ) -> tuple[Codes, Delta]:
        """Code the batch, measure what it adds, absorb it, improve the dictionary."""
        # What can refuse the batch comes before the first change, and leaves the state as it was.
        how = CodingOptions(_accuracy(batch, self.objective, clock), rng)
        codes, delta, latest = self.explain(batch, state.dictionary, how)
        # Before the update: A and B hold this batch when D_t minimises the surrogate, eq. (3).
        absorb(delta, state, clock)
        self.updater.update(state, self.objective, clock, latest)
        return codes, delta

    def explain(self, batch: Batch, dictionary: Any, how: CodingOptions) -> Explanation:
        """Code a batch and measure what it adds; the dictionary and the memory stay."""
        return self.explainer.explain(batch, dictionary, self, how)

    def without_reseeding(self) -> Algorithm:
        """Return the algorithm as slots take it: atoms that nothing uses are left to the merge."""
        return replace(self, reseeding=None)

    def reseed(self, batch: Batch, codes: Codes, state: State, rng: np.random.Generator) -> int:
        """Give atoms that nothing uses a new start; return how many."""
        if self.reseeding is None:
            return 0
        return self.reseeding.reseed(batch, codes, state, self.objective, self.updater.fixed, rng)


def _accuracy(batch: Batch, objective: Objective, clock: Clock) -> Accuracy:
    """Return how exact the codes of a batch have to be: the clock's word, or more.

    Rows of unequal entries have most of their weight in few of these. Rough codes of them stop the
    atoms early, but before the atoms have settled they keep them out of poor minima.
    """
    accuracy = clock.tolerance
    if batch.has_entry_weights and objective.loss.quadratic and clock.step >= ROUGH_STEPS:
        return accuracy._replace(violation=min(accuracy.violation, EXACT))
    return accuracy


def absorb(delta: Delta, state: State, clock: Clock) -> None:
    """Take in what samples add, as one step of the clock; the dictionary stays as it is."""
    # The clock ticks first: a schedule that raises leaves the memory as it was.
    state.absorb(delta, clock.tick(delta.mass))
    # Before the update: energies belong to the atoms that the codes were made with.
    energy = state.memory.atom_energy(state.dictionary)
    spare = state.memory.spare(delta)
    state.usage.age(delta.mass, energy, state.dictionary.gram(), spare)


def check_compatible(algorithm: Algorithm) -> None:
    """Refuse an algorithm one of whose parts needs what another does not offer.

    Parts list what they need of the loss and of the sets of codes and atoms (`Needs`).
    """
    coder, updater, loss = algorithm.coder, algorithm.updater, algorithm.objective.loss
    if algorithm.missing and not coder.handles_mask:
        codes = algorithm.objective.codes
        other = "another coder" if codes.most_nonzero is None else f"alpha in place of {codes!r}"
        raise IncompatiblePartsError(
            f"{type(coder).__name__} needs complete rows, got missing=True; choose {other}."
        )
    if updater.folds > 1 and not loss.robust:
        raise IncompatiblePartsError(
            f"folds={updater.folds} needs a robust loss, got {loss!r}: others are infinite where "
            "codes predict nothing; choose folds=1."
        )
    for job in ("coder", "statistics", "updater"):
        part = getattr(algorithm, job)
        for role, names in part.needs.items():
            offer = getattr(algorithm.objective, role)
            # What is needed has to be true: a part may have the name and offer nothing under it.
            missing = [name for name in names if not getattr(offer, name, None)]
            if missing:
                kind = "a loss that is" if role == "loss" else f"{role} that are"
                words = " and ".join(missing).replace("most_nonzero", "limited in number")
                known = WITH_ATTRIBUTE.get((role, missing[-1]), f"another {role} part")
                raise IncompatiblePartsError(
                    f"{type(part).__name__} needs {kind} {words}, got {offer!r}; choose {known} "
                    f"or another {job}."
                )


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
