"""The one online loop: code the batch, measure what it adds, absorb it, improve the dictionary.

Everything that learns in this library runs through `learn` and, where a batch is coded as a whole, `step`. What is
minimised and how are parts without data (`Method`); what changes is the `State` (dictionary, memory, usage) and the
`Clock`; what comes in is a `Batch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from atomstream.coders import Coder, Codes
from atomstream.exceptions import IncompatiblePartsError
from atomstream.losses import squared_norms
from atomstream.memory import Memory, Usage
from atomstream.objective import Objective
from atomstream.reseeding import Reseeding
from atomstream.schedules import Schedule
from atomstream.statistics import Delta, Statistics

__all__ = ["Batch", "Clock", "Method", "Progress", "State", "check_compatible", "learn", "step"]


@dataclass(frozen=True)
class Batch:
    """Samples that arrive together, and what is known of each.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,), or None
        Sample weights; None stands for ones.
    mask : ndarray of bool of shape (n_samples, n_features), or None
        True where an entry was observed; None where all were. Refused by methods whose coder does not say that it
        ``handles_mask``.
    ids : ndarray of shape (n_samples,), or None
        What the caller calls each row (index of a frame, number in the stream); carried along, never computed with.
    position : int
        How many samples of the stream came before this batch.
    """

    X: Any
    weights: NDArray | None = None
    mask: NDArray | None = None
    ids: NDArray | None = None
    position: int = 0

    @property
    def mass(self) -> float:
        """Sum of the sample weights."""
        return float(self.X.shape[0]) if self.weights is None else float(self.weights.sum())

    @cached_property
    def energy(self) -> NDArray:
        """Squared Euclidean length of each row, float64 of shape (n_samples,); computed once per batch."""
        return squared_norms(self.X)


@dataclass
class Clock:
    """Where the stream stands, how much the next batch weighs, and how exactly it is coded.

    Attributes
    ----------
    schedule : callable
        ``(step, mass, total) -> weight``.
    accuracy : float or callable
        Residual (see `atomstream.coders.Codes`) to which batches are coded, or a function of the step, from 1.
    step : int
        Number of steps made.
    mass : float
        Mass of the samples that the memory stands for; never above ``horizon``.
    horizon : float
        In several passes over one data set the mass of one pass: later passes replace what earlier ones measured.
    weight : float
        Of the last batch.
    n_samples : int
        Number of samples met.
    """

    schedule: Schedule
    accuracy: float | Callable[[int], float] = 0.1
    step: int = 0
    mass: float = 0.0
    horizon: float = np.inf
    weight: float = 0.0
    n_samples: int = 0

    @property
    def tolerance(self) -> float:
        """Residual to which the next batch is coded."""
        return float(self.accuracy(self.step + 1) if callable(self.accuracy) else self.accuracy)

    def tick(self, mass: float) -> float:
        """Advance by one batch of this mass and return its weight; the first batch always weighs 1."""
        step, total = self.step + 1, max(min(self.mass + mass, self.horizon), mass)
        weight = 1.0 if step == 1 else float(self.schedule(step, mass, total))
        if not 0 < weight <= 1:
            raise ValueError(f"The schedule gave the weight {weight!r} at step {step}; weights must lie in (0, 1].")
        self.step, self.mass, self.weight = step, total, weight
        return weight


@dataclass
class State:
    """All that learning changes; each part replaces its arrays and never writes into them.

    Attributes
    ----------
    dictionary : Dictionary
        Rows, or anything else with atoms.
    memory : Memory
        What is kept of the stream.
    usage : Usage
        How much each atom was used.
    """

    dictionary: Any
    memory: Memory
    usage: Usage

    def snapshot(self) -> State:
        """Return a state that later steps do not change; costs nothing, for arrays are shared."""
        return State(copy(self.dictionary), copy(self.memory), copy(self.usage))

    def restore(self, snapshot: State) -> None:
        """Go back to a snapshot."""
        for name in ("dictionary", "memory", "usage"):
            vars(getattr(self, name)).update(vars(getattr(snapshot, name)))


class Updater(Protocol):
    """Improves the dictionary, given what the memory holds."""

    @property
    def fixed(self) -> int:
        """How many of the first atoms never change."""
        ...

    def update(self, state: State, objective: Objective, clock: Clock, rng: Any) -> None:
        """Make the dictionary better for the memory."""
        ...

    def value(self, state: State, objective: Objective) -> float:
        """Return what ``update`` makes smaller."""
        ...


@dataclass(frozen=True)
class Method:
    """A named algorithm: what is minimised, and the parts that do it batch by batch.

    A method that must walk the rows one by one offers the same `step` and `reseed` and has other parts.
    """

    objective: Objective
    coder: Coder
    statistics: Statistics
    updater: Updater
    reseeding: Reseeding | None = None

    def step(self, batch: Batch, state: State, clock: Clock, rng: np.random.Generator | None) -> tuple[Codes, Delta]:
        """Make one step; see `step`."""
        return step(batch, state, self, clock, rng)

    def reseed(self, batch: Batch, codes: Codes, state: State, rng: np.random.Generator) -> int:
        """Give atoms that nothing uses a new start; return how many."""
        if self.reseeding is None:
            return 0
        return self.reseeding.reseed(batch, codes, state, self.objective, self.updater.fixed, rng)


@dataclass(frozen=True)
class Progress:
    """What one step tells whoever watches."""

    batch: Batch
    codes: Codes
    delta: Delta
    n_reseeded: int


def step(
    batch: Batch, state: State, method: Method, clock: Clock, rng: np.random.Generator | None
) -> tuple[Codes, Delta]:
    """Code the batch, measure what it adds, absorb it, improve the dictionary."""
    codes = method.coder.encode(batch, state.dictionary, method.objective, clock.tolerance)
    delta = method.statistics.measure(batch, codes, state.dictionary, method.objective)
    state.memory.absorb(delta, clock.tick(delta.mass))
    state.usage.absorb(delta, state.memory.strength())
    method.updater.update(state, method.objective, clock, rng)
    return codes, delta


def learn(
    batches: Iterable[Batch],
    state: State,
    method: Method,
    clock: Clock,
    rng: np.random.Generator,
    watch: Callable[[Progress], bool] | None = None,
) -> None:
    """Run over a stream of batches; atoms that nothing uses are re-seeded between batches.

    Parameters
    ----------
    batches : iterable of Batch
        Finite or not. A batch of mass 0 is no step.
    state, method, clock, rng
        What changes, how, when, and the source of randomness.
    watch : callable, optional
        Called after every step with its `Progress`; a true answer ends the loop.
    """
    for batch in batches:
        if batch.mass == 0:
            continue
        if batch.mask is not None and not getattr(method.coder, "handles_mask", False):
            raise IncompatiblePartsError(f"{type(method.coder).__name__} needs complete rows, got missing entries.")
        codes, delta = method.step(batch, state, clock, rng)
        clock.n_samples += batch.X.shape[0]
        n_reseeded = method.reseed(batch, codes, state, rng)
        if watch is not None and watch(Progress(batch, codes, delta, n_reseeded)):
            return


def check_compatible(method: Method) -> None:
    """Refuse a method one of whose parts needs what another does not offer.

    Parts list their needs in ``needs``: for the loss and for the sets of codes and atoms, the names of attributes
    that must be there and true.
    """
    for job in ("coder", "statistics", "updater"):
        part = getattr(method, job)
        needs: dict[str, tuple[str, ...]] = getattr(part, "needs", {})
        for role, names in needs.items():
            offer = getattr(method.objective, role)
            missing = [name for name in names if not getattr(offer, name, None)]
            if missing:
                raise IncompatiblePartsError(
                    f"{type(part).__name__} needs {role} that are {' and '.join(missing)}, got {offer!r}; "
                    f"choose another {role} part or another {job}."
                )
