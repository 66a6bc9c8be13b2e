"""All that one run of learning changes, in one place: copied, saved and rolled back whole."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from operator import is_
from typing import Any, Self

import numpy as np

from atomstream.core.batch import Batch
from atomstream.core.clock import Clock
from atomstream.core.fields import check_fields, count, each, field_names, number, part
from atomstream.core.method import Method
from atomstream.core.reactive import Reactive
from atomstream.core.scaling import Scaling
from atomstream.core.state import State
from atomstream.losses import Loss

# What files hold of a run.
SAVED = (
    *(part("state", State, optional=True), part("clock", Clock)),
    *(part("rng", np.random.Generator), "loss"),
    *(count("n_reseeded"), number("batch_objective"), each(part("waiting", Batch))),
    *(part("scaling", Scaling, optional=True), part("reactive", Reactive, optional=True)),
)
NAMES = field_names(SAVED)


class RunState:
    """A run of learning: where the stream stands, and what was made of it so far.

    Attributes
    ----------
    clock : Clock
    rng : Generator
        The one source of randomness of the run.
    state : State
        Absent until a starting dictionary has been made.
    loss : Loss
        The loss that the memory was made for; absent as the state is.
    waiting : list of Batch
        Rows kept until there are enough for a starting dictionary; never changed in place.
    n_reseeded : int
        Atoms replaced because nothing used them.
    batch_objective : float
        Mean objective of the last batch, before the update it caused.
    scaling : Scaling
        The scale of the columns; absent where they have none.
    reactive : Reactive
        The second learner; absent where the schedule needs none.
    method : Method
        The parts that learn, as long as `is_current`.
    """

    clock: Clock
    rng: np.random.Generator
    state: State
    loss: Loss
    waiting: Sequence[Batch] = ()
    scaling: Scaling
    reactive: Reactive
    n_reseeded: int = 0
    batch_objective: float = np.nan
    method: Any
    _settings: list[Any] | None = None

    def __init__(self, clock: Clock, rng: np.random.Generator) -> None:
        self.clock = clock
        self.rng = rng

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> Self:
        """Return the run that `saved` returned, read from a file."""
        run = object.__new__(cls)
        vars(run).update({name: saved[name] for name in NAMES if name in saved})
        return run

    def saved(self) -> dict[str, Any]:
        """Return what files hold of the run, as far as it is there."""
        return {name: getattr(self, name) for name in NAMES if hasattr(self, name)}

    def validate(self, n_features: int) -> None:
        """Refuse parts read from a file that do not fit together."""
        sizes = {"r": self.state.dictionary.shape[0]} if self.has_state else {}
        check_fields(self, SAVED, d=n_features, **sizes)
        # A clock moves with atoms only, rows wait for atoms only, and a loss belongs to a memory.
        good = not self.waiting if self.has_state else self.clock.step == 0
        paired = "reactive" not in vars(self) or self.has_state
        if not good or not paired or self.has_state != hasattr(self, "loss"):
            raise ValueError("a clock, a loss, rows or a second learner that fit no state")

    @property
    def has_state(self) -> bool:
        """Whether a starting dictionary has been made."""
        return "state" in vars(self)

    @property
    def n_rows(self) -> int:
        """Number of rows that have come, those that wait included."""
        return self.clock.n_samples + sum(batch.X.shape[0] for batch in self.waiting)

    @property
    def dtype(self) -> Any:
        """Type of the numbers of the run; None before any came."""
        if self.has_state:
            return self.state.dictionary.dtype
        return self.waiting[0].X.dtype if self.waiting else None

    def is_current(self, settings: list[Any]) -> bool:
        """Return whether ``method`` was assembled from these very values."""
        return self._settings is not None and all(map(is_, settings, self._settings))

    def assemble(self, method: Method | Any, settings: list[Any]) -> None:
        """Learn with this method from now on; ``settings`` are the values it was assembled from."""
        self.method = method
        # A list or dict may change in place without its identity.
        changeable = any(isinstance(value, list | dict) for value in settings)
        self._settings = None if changeable else settings

    def start(self, state: State, loss: Loss) -> None:
        """Begin to learn from a starting dictionary."""
        self.state = state
        self.loss = loss

    def pair(self) -> Reactive | None:
        """Return the second learner, begun or dropped as the schedule asks for one or not."""
        if not getattr(self.clock.schedule, "paired", False):
            vars(self).pop("reactive", None)
        elif "reactive" not in vars(self):
            self.reactive = Reactive(self.state, self.clock)
        return vars(self).get("reactive")

    @property
    def states(self) -> list[State]:
        """The states that learn: that of the model, and that of a second learner."""
        if not self.has_state:
            return []
        return [self.state, *([self.reactive.state] if "reactive" in vars(self) else [])]

    def holders(self) -> tuple[Any, ...]:
        """Return the objects whose attributes a step replaces."""
        found = [self, self.clock]
        for state in self.states:
            found += [state, state.dictionary, state.memory, state.usage]
        if "reactive" in vars(self):
            found += [self.reactive, self.reactive.clock]
        return tuple(found)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the method, which the parameters stand for."""
        return {**vars(self), "method": None, "_settings": None}

    def __copy__(self) -> Self:
        """Return a run that goes on by itself; arrays are shared, for nothing writes into them."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin.clock = copy(self.clock)
        twin.rng = deepcopy(self.rng)
        twin._settings = None  # the method may be bound to the model that made it
        if self.has_state:
            twin.state = self.state.snapshot()
        if "reactive" in vars(self):
            twin.reactive = copy(self.reactive)
            twin.reactive.clock = copy(self.reactive.clock)
            twin.reactive.state = self.reactive.state.snapshot()
        return twin
