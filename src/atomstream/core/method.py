"""A named algorithm: what is minimised, the parts that do it, and one step of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from atomstream.coders import Coder, Codes
from atomstream.core.batch import Batch
from atomstream.core.clock import Clock
from atomstream.core.objective import Objective
from atomstream.core.state import State
from atomstream.exceptions import IncompatiblePartsError
from atomstream.memory.base import Delta, Statistics
from atomstream.updates.reseeding import Reseeding

__all__ = ["Method", "check_compatible", "step"]

Met = tuple[Batch, Codes]


class Updater(Protocol):
    """Improves the dictionary, given what the memory holds."""

    @property
    def fixed(self) -> int:
        """How many of the first atoms never change."""
        ...

    def update(
        self, state: State, objective: Objective, clock: Clock, met: Met | None = None
    ) -> None:
        """Make the dictionary better for the memory; ``met`` is the batch that was absorbed last, and its codes."""
        ...

    def value(self, state: State, objective: Objective) -> float:
        """Return what ``update`` makes smaller."""
        ...


@dataclass(frozen=True)
class Method:
    """A named algorithm: what is minimised, and the parts that do it batch by batch.

    A method that must walk the rows one by one offers the same `step` and `reseed` and has other
    parts.
    """

    objective: Objective
    coder: Coder
    statistics: Statistics
    updater: Updater
    reseeding: Reseeding | None = None

    def step(
        self, batch: Batch, state: State, clock: Clock, rng: np.random.Generator | None
    ) -> tuple[Codes, Delta]:
        """Make one step; see `step`."""
        return step(batch, state, self, clock, rng)

    def reseed(self, batch: Batch, codes: Codes, state: State, rng: np.random.Generator) -> int:
        """Give atoms that nothing uses a new start; return how many."""
        if self.reseeding is None:
            return 0
        return self.reseeding.reseed(batch, codes, state, self.objective, self.updater.fixed, rng)


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


def check_compatible(method: Method) -> None:
    """Refuse a method one of whose parts needs what another does not offer.

    Parts list their needs in ``needs``: for the loss and for the sets of codes and atoms, the names
    of attributes that must be there and true.
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
