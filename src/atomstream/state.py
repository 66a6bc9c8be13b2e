"""The three values that flow through the loop: what comes in, when, and what it changes."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.losses import squared_norms
from atomstream.memory import Memory, Usage
from atomstream.schedules import Harmonic, Schedule

__all__ = ["Accuracy", "Batch", "Clock", "State"]

EXACT = 1e-9  # a relative duality gap at which learning calls a code exact


@dataclass(frozen=True)
class Batch:
    """Samples that arrive together, and what is known of each.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,), or None
        Sample weights; None stands for ones.
    mask : ndarray of bool of shape (n_samples, n_features), or None
        True where an entry was observed; None where all were. What stands behind it is set to 0, and a row without
        any entry weighs 0. Refused by methods whose coder does not say that it ``handles_mask``.
    ids : ndarray of shape (n_samples,), or None
        What the caller calls each row (index of a frame, number in the stream); carried along, never computed with.
    labels : ndarray of int of shape (n_samples,), or None
        The atom that each row is known to belong to.
    position : int
        How many samples of the stream came before this batch.
    """

    X: Any
    weights: NDArray | None = None
    mask: NDArray | None = None
    ids: NDArray | None = None
    labels: NDArray | None = None
    position: int = 0

    def __post_init__(self) -> None:
        if self.mask is None:
            return
        known: dict[str, Any] = {"mask": None}
        if not self.mask.all():
            known = {"mask": self.mask, "X": np.where(self.mask, self.X, self.X.dtype.type(0))}
            seen = self.mask.any(axis=1)
            if not seen.all():
                known["weights"] = np.where(seen, 1.0 if self.weights is None else self.weights, 0.0)
        for name, value in known.items():
            object.__setattr__(self, name, value)

    def of(self, rows: slice) -> Batch:
        """Return some of the samples as a batch."""
        weights, mask = (None if part is None else part[rows] for part in (self.weights, self.mask))
        return Batch(self.X[rows], weights, mask)

    def complete(self, reconstruction: NDArray, rows: Any = slice(None)) -> Any:
        """Return the samples, or some of them, with a reconstruction of theirs in place of what is missing."""
        return self.X[rows] if self.mask is None else np.where(self.mask[rows], self.X[rows], reconstruction)

    @property
    def mass(self) -> float:
        """Sum of the sample weights."""
        return float(self.X.shape[0]) if self.weights is None else float(self.weights.sum())

    @cached_property
    def energy(self) -> NDArray:
        """Squared Euclidean length of each row, float64 of shape (n_samples,); computed once per batch."""
        return squared_norms(self.X)


class Accuracy(NamedTuple):
    r"""How exactly to code: a row is done as soon as one of the two is reached.

    Attributes
    ----------
    violation : float, default=0.0
        Largest violation of the optimality conditions, each over the length of its atom and of what the code leaves
        unexplained (at least the fourth root of the machine precision times the sample): without penalties the
        largest cosine between the remainder and an atom that could still reduce it. Cheap, and sensible far from the
        optimum, where certificates say little: what learning goes by.
    gap : float, default=0.0
        Certified relative duality gap, (objective - dual) / objective: what exact codes go by.
    """

    violation: float = 0.0
    gap: float = 0.0


@dataclass
class Clock:
    """Where the stream stands, how much the next batch weighs, and how exactly it is coded.

    Attributes
    ----------
    schedule : callable
        ``(step, mass, total) -> weight``.
    accuracy : float or callable
        Largest violation (see `Accuracy`) that the codes of a batch may have, or a function of the step, from 1.
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
    def tolerance(self) -> Accuracy:
        """How exactly the next batch is coded."""
        violation = self.accuracy(self.step + 1) if callable(self.accuracy) else self.accuracy
        return Accuracy(float(violation), EXACT)

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

    def merge(self, other: State, clock: Clock, other_clock: Clock) -> None:
        """Take in what another part of the stream left, coded with the same dictionary (law 9).

        Raises
        ------
        ValueError
            Unless both ran under the harmonic schedule and have the same atoms: under any other schedule the weight
            of a sample depends on what came after it.
        """
        for schedule in (clock.schedule, other_clock.schedule):
            if schedule != Harmonic():
                raise ValueError(f"Memories merge only under the harmonic schedule, got {schedule!r}.")
        if not np.array_equal(self.dictionary.atoms(), other.dictionary.atoms()):
            raise ValueError("Memories merge only if made with the same dictionary, got two that differ.")
        mass = clock.mass + other_clock.mass
        self.memory.merge(other.memory, other_clock.mass / mass)
        self.usage.merge(other.usage)
        clock.mass, clock.step = mass, clock.step + other_clock.step
        clock.n_samples += other_clock.n_samples
