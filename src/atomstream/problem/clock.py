"""The clock of a stream: its position, the weight of a batch and the accuracy of its codes."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

import numpy as np

from atomstream.base.saved_fields import count, number
from atomstream.schedules import Schedule

TIMELESS = "This schedule needs a time for each batch: call partial_fit(X, time=...)."
EXACT = 1e-9  # a relative duality gap at which learning calls a code exact
# Steps, by then of batches that are whole passes, after which codes may be violated by so much
# at most. So long the tolerance that falls with the root of the step is at its largest.
WHOLE_STEPS, WHOLE_VIOLATION = 25, 1e-3


class Accuracy(NamedTuple):
    r"""Accuracy of codes: a row is done as soon as one of the two is reached.

    Attributes
    ----------
    violation : float, default=0.0
        Largest violation of the optimality conditions, each over the length of its atom and of what
        the code leaves unexplained: without penalties the largest cosine between the remainder and
        an atom that could still reduce it. The square of that length counts as a twentieth of the
        l1 penalty at least, and as 1.5e-8 of the sample's own (1e-6 in float32). Cheap, and
        sensible far from the optimum, where certificates say little: what learning goes by.
    gap : float, default=0.0
        Certified relative duality gap, (objective - dual) / objective: what exact codes go by.
    """

    violation: float = 0.0
    gap: float = 0.0


@dataclass
class Clock:
    """The position in a stream, the weight of the next batch and the accuracy of its codes.

    Attributes
    ----------
    schedule : callable
        ``(step, mass, total) -> weight``.
    accuracy : float or callable
        Largest violation (see `Accuracy`) that the codes of a batch may have, or a function of the
        step, from 1.
    step : int
        Number of steps made.
    mass : float
        Mass of the samples that the memory stands for; never above ``horizon``.
    horizon : float
        In several passes over one data set the mass of one pass: later passes replace what earlier
        ones measured.
    weight : float
        Of the last batch.
    n_samples : int
        Number of samples so far.
    time : float, optional
        Time of the last batch, where the schedule goes by time.
    pace : float, optional
        Time per unit of mass that the batch at hand stands for.
    """

    SAVED: ClassVar = (
        *("schedule", "accuracy", count("step"), number("mass", at_least=0)),
        *(number("horizon", at_least=0), number("weight"), count("n_samples"), "time"),
    )

    schedule: Schedule
    accuracy: float | Callable[[int], float] = 0.1
    step: int = 0
    mass: float = 0.0
    horizon: float = np.inf
    weight: float = 0.0
    n_samples: int = 0
    time: float | None = None
    pace: float | None = None

    @property
    def tolerance(self) -> Accuracy:
        """Accuracy of the codes of the next batch."""
        violation = self.accuracy(self.step + 1) if callable(self.accuracy) else self.accuracy
        # A batch that is a whole pass comes to rest as far as its codes are exact, and no other
        # batch averages their errors out.
        if self.weight == 1 and self.mass == self.horizon and self.step >= WHOLE_STEPS:
            violation = min(violation, WHOLE_VIOLATION)
        return Accuracy(float(violation), EXACT)

    def arrive(self, time: Any, mass: float) -> None:
        """Note the time of the next batch, of this mass; None where the schedule needs none.

        Raises
        ------
        ValueError
            Where the schedule goes by time and there is none, or one that is not later than the
            last; and where it does not and there is one.
        """
        if not getattr(self.schedule, "timed", False):
            if time is not None:
                raise ValueError(
                    f"time={time!r:.40} needs a schedule that goes by time, as "
                    f"schedules.HalfLife(3600.0), got {self.schedule!r:.80}."
                )
            return
        if time is None:
            raise ValueError(TIMELESS)
        now = _seconds(time)
        if self.time is not None and now <= self.time:
            raise ValueError(
                f"time must be later than that of the batch before, got {now!r} after "
                f"{self.time!r}; join batches of one time."
            )
        if mass > 0:
            # What the first rows stand for is not known: they weigh alike.
            unknown = self.time is None or self.step == 0
            self.pace = 0.0 if unknown else (now - (self.time or 0.0)) / mass
            self.time = now

    def tick(self, mass: float) -> float:
        """Advance by a batch of this mass and return its weight, 1 for the first."""
        if self.pace is None and getattr(self.schedule, "timed", False):
            raise ValueError(TIMELESS)
        # Beyond the horizon, one pass, the mass stays: later passes replace what earlier ones
        # measured.
        step, total = self.step + 1, max(min(self.mass + mass, self.horizon), mass)
        # The first weight is 1, whatever the schedule: there is no past to keep.
        weight = 1.0 if step == 1 else self._weight(step, mass, total)
        # A weight of 0 would lose the batch, one above 1 would give the past a negative weight.
        if not 0 < weight <= 1:
            raise ValueError(
                f"The schedule gave the weight {weight!r} at step {step}; "
                "weights must lie in (0, 1]."
            )
        # Last, so that a schedule that raises leaves the clock as it was.
        self.step, self.mass, self.weight = step, total, weight
        return weight

    def _weight(self, step: int, mass: float, total: float) -> float:
        if not getattr(self.schedule, "timed", False):
            return float(self.schedule(step, mass, total))
        # The mean of all so far, until the time per sample is known.
        if not self.pace:
            return mass / total
        return float(self.schedule(step, mass * self.pace, total))


def _seconds(time: Any) -> float:
    """Return a time as a number: itself, or the seconds of a date."""
    if isinstance(time, datetime):
        # A date without a zone is read as UTC: where the program runs must change nothing.
        time = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    elif isinstance(time, np.datetime64):
        time = (time - np.datetime64(0, "s")) / np.timedelta64(1, "s")
    elif isinstance(time, bool) or not isinstance(time, int | float | np.number):
        raise ValueError(f"time must be a number or a date, got {time!r:.80}.")
    if not np.isfinite(time):
        raise ValueError(f"time must be finite, got {time!r}.")
    return float(time)
