"""The one online loop: code the batch, measure what it adds, absorb it, improve the dictionary.

Everything that learns in this library runs through `learn` and, where a batch is coded as a whole, `step`. What is
minimised and how are parts without data (`Method`); what changes is the `State` (dictionary, memory, usage) and the
`Clock`; what comes in is a `Batch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from atomstream.coders import Coder, Codes
from atomstream.exceptions import IncompatiblePartsError
from atomstream.memory import Delta
from atomstream.objective import Objective
from atomstream.reseeding import Reseeding
from atomstream.state import Batch, Clock, State
from atomstream.statistics import Statistics

__all__ = ["Batch", "Clock", "Method", "Progress", "State", "check_compatible", "learn", "step"]


Met = tuple[Batch, Codes]


class Updater(Protocol):
    """Improves the dictionary, given what the memory holds."""

    @property
    def fixed(self) -> int:
        """How many of the first atoms never change."""
        ...

    def update(self, state: State, objective: Objective, clock: Clock, met: Met | None = None) -> None:
        """Make the dictionary better for the memory; ``met`` is the batch that was absorbed last, and its codes."""
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
    state.usage.absorb(delta, state.memory.strength(state.dictionary))
    method.updater.update(state, method.objective, clock, (batch, codes))
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
            clock.n_samples += batch.X.shape[0]
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
