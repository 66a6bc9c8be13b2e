"""The one online loop: code the batch, measure what it adds, absorb it, improve the dictionary.

Everything that learns in this library runs through `step` and `learn`. What is minimised and how are parts without
data (`Method`); what changes is the `State` (dictionary and memory) and the `Clock`; what comes in is a `Batch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from atomstream.coders import Coder, Codes
from atomstream.dictionaries import Rows
from atomstream.exceptions import IncompatiblePartsError
from atomstream.memory import Aggregates
from atomstream.objective import Objective, squared_norms
from atomstream.reseeding import reseed
from atomstream.schedules import Schedule
from atomstream.statistics import GramDelta, GramSums

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
        True where an entry was observed; None where all were.
    ids : ndarray of shape (n_samples,), or None
        What the caller calls each row; carried along, never computed with.
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
    tolerance : float
        Residual (see `atomstream.coders.Codes`) to which a batch is coded.
    step : int
        Number of steps made.
    mass : float
        Mass of the samples that the memory stands for; never above ``horizon``.
    horizon : float
        In several passes over one data set the mass of one pass: later passes replace what earlier ones measured.
    n_samples : int
        Number of samples met.
    """

    schedule: Schedule
    tolerance: float = 0.1
    step: int = 0
    mass: float = 0.0
    horizon: float = np.inf
    n_samples: int = 0

    def tick(self, mass: float) -> float:
        """Advance by one batch of this mass and return its weight; the first batch always weighs 1."""
        step, total = self.step + 1, max(min(self.mass + mass, self.horizon), mass)
        weight = 1.0 if step == 1 else float(self.schedule(step, mass, total))
        if not 0 < weight <= 1:
            raise ValueError(f"The schedule gave the weight {weight!r} at step {step}; weights must lie in (0, 1].")
        self.step, self.mass = step, total
        return weight


@dataclass
class State:
    """All that learning changes: the dictionary (anything with ``atoms()``) and the memory of the stream."""

    dictionary: Rows
    memory: Aggregates


class Updater(Protocol):
    """Improves the dictionary in place, given what the memory holds."""

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
    """A named algorithm: what is minimised, and the parts that do it."""

    objective: Objective
    coder: Coder
    statistics: GramSums
    updater: Updater


@dataclass(frozen=True)
class Progress:
    """What one step tells whoever watches."""

    batch: Batch
    codes: Codes
    delta: GramDelta
    n_reseeded: int


def step(
    batch: Batch, state: State, method: Method, clock: Clock, rng: np.random.Generator | None
) -> tuple[Codes, GramDelta]:
    """Code the batch, measure what it adds, absorb it, improve the dictionary."""
    codes = method.coder.encode(batch, state.dictionary, method.objective, clock.tolerance)
    delta = method.statistics.measure(batch, codes, state.dictionary, method.objective)
    state.memory.absorb(delta, clock.tick(delta.mass))
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
        codes, delta = step(batch, state, method, clock, rng)
        clock.n_samples += batch.X.shape[0]
        n_reseeded = reseed(batch, codes, state, method, rng)
        if watch is not None and watch(Progress(batch, codes, delta, n_reseeded)):
            return


def check_compatible(method: Method) -> None:
    """Refuse a method one of whose parts needs what another does not offer.

    Coders and updaters list their needs in ``needs``: for the loss and for the sets of codes and atoms, the names
    of attributes that must be there and true.
    """
    for part in (method.coder, method.updater):
        needs: dict[str, tuple[str, ...]] = getattr(part, "needs", {})
        for role, names in needs.items():
            offer = getattr(method.objective, role)
            missing = [name for name in names if not getattr(offer, name, None)]
            if missing:
                raise IncompatiblePartsError(
                    f"{type(part).__name__} needs {role} that are {' and '.join(missing)}, got {offer!r}; "
                    f"choose another {role} part or another {'coder' if part is method.coder else 'update'}."
                )
